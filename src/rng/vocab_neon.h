/* The NEON vocabulary of 64-bit Arm: 4 float or 2 double lanes.  See vocab_scalar.h.  Every such
 * processor has it, with fused multiply-adds and conversions of 64-bit words. */
#ifndef GBS_RNG_VOCAB_NEON_H
#define GBS_RNG_VOCAB_NEON_H

#include <arm_neon.h>
#include <stdint.h>

#ifndef GBS_INLINE
#define GBS_INLINE static inline
#endif

#define VF_LANES 4
#define VD_LANES 2
#define V_HALVES 2

typedef float32x4_t vf;
typedef uint32x4_t vw;
typedef float64x2_t vd;
typedef uint64x2_t vq;
typedef uint32x4_t vfm; /* all bits of a lane, or none */
typedef uint64x2_t vdm;

GBS_INLINE vf vf_set1(float a) { return vdupq_n_f32(a); }
GBS_INLINE vf vf_load(const float *p) { return vld1q_f32(p); }
GBS_INLINE void vf_store(float *p, vf a) { vst1q_f32(p, a); }
GBS_INLINE vf vf_add(vf a, vf b) { return vaddq_f32(a, b); }
GBS_INLINE vf vf_sub(vf a, vf b) { return vsubq_f32(a, b); }
GBS_INLINE vf vf_mul(vf a, vf b) { return vmulq_f32(a, b); }
GBS_INLINE vf vf_div(vf a, vf b) { return vdivq_f32(a, b); }
GBS_INLINE vf vf_fma(vf a, vf b, vf c) { return vfmaq_f32(c, a, b); }
GBS_INLINE vf vf_nfma(vf a, vf b, vf c) { return vfmsq_f32(c, a, b); }
GBS_INLINE vf vf_fms(vf a, vf b, vf c) { return vfmaq_f32(vnegq_f32(c), a, b); }
GBS_INLINE vf vf_nfms(vf a, vf b, vf c) { return vfmsq_f32(vnegq_f32(c), a, b); }
GBS_INLINE vf vf_sqrt(vf a) { return vsqrtq_f32(a); }
GBS_INLINE vf vf_floor_at(vf a, float low)
{
    const vf floor = vdupq_n_f32(low);
    return vbslq_f32(vcltq_f32(a, floor), floor, a);
}
GBS_INLINE vw vf_bits(vf a) { return vreinterpretq_u32_f32(a); }
GBS_INLINE vf vf_from_bits(vw a) { return vreinterpretq_f32_u32(a); }
GBS_INLINE vf vf_from_unsigned(vw a) { return vcvtq_f32_u32(a); }
GBS_INLINE vf vf_from_signed(vw a) { return vcvtq_f32_s32(vreinterpretq_s32_u32(a)); }
GBS_INLINE vf vf_select_by_bit30(vw mask, vf clear, vf set)
{
    return vbslq_f32(vtstq_u32(mask, vdupq_n_u32(0x40000000u)), set, clear);
}
GBS_INLINE vf vf_keep(vf a) { return a; }
GBS_INLINE vf vf_min(vf a, vf b) { return vbslq_f32(vcltq_f32(a, b), a, b); }
GBS_INLINE vf vf_max(vf a, vf b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
GBS_INLINE vf vf_neg(vf a) { return vnegq_f32(a); }
GBS_INLINE vf vf_abs(vf a) { return vabsq_f32(a); }
GBS_INLINE vfm vf_less(vf a, vf b) { return vcltq_f32(a, b); }
GBS_INLINE vfm vf_not_less(vf a, vf b)
{
    return vmvnq_u32(vcltq_f32(a, b));
}
GBS_INLINE vfm vf_equal(vf a, vf b) { return vceqq_f32(a, b); }
GBS_INLINE vf vf_select(vfm mask, vf clear, vf set) { return vbslq_f32(mask, set, clear); }
GBS_INLINE vf vf_negate_where(vfm mask, vf a)
{
    return vf_from_bits(veorq_u32(vf_bits(a), vandq_u32(mask, vdupq_n_u32(0x80000000u))));
}
GBS_INLINE vf vf_select_minus(vfm mask, vf clear, vf set)
{
    return vf_select(mask, clear, vf_neg(set));
}
GBS_INLINE vfm vfm_and(vfm a, vfm b) { return vandq_u32(a, b); }
GBS_INLINE vfm vf_less_in(vfm mask, vf a, vf b)
{
    return vfm_and(mask, vf_less(a, b));
}
GBS_INLINE vfm vf_not_less_in(vfm mask, vf a, vf b)
{
    return vfm_and(mask, vf_not_less(a, b));
}
GBS_INLINE int vfm_any(vfm a) { return vmaxvq_u32(a) != 0; }
GBS_INLINE int vfm_all(vfm a) { return vminvq_u32(a) != 0; }
GBS_INLINE vfm vfm_not(vfm a) { return vmvnq_u32(a); }
GBS_INLINE vfm vfm_or(vfm a, vfm b) { return vorrq_u32(a, b); }
GBS_INLINE vfm vfm_xor(vfm a, vfm b) { return veorq_u32(a, b); }

GBS_INLINE vw vw_set1(uint32_t a) { return vdupq_n_u32(a); }
GBS_INLINE vw vw_add(vw a, vw b) { return vaddq_u32(a, b); }
GBS_INLINE vw vw_sub(vw a, vw b) { return vsubq_u32(a, b); }
GBS_INLINE vw vw_and(vw a, vw b) { return vandq_u32(a, b); }
GBS_INLINE vw vw_or(vw a, vw b) { return vorrq_u32(a, b); }
GBS_INLINE vw vw_xor(vw a, vw b) { return veorq_u32(a, b); }
GBS_INLINE vw vw_shl(vw a, int n) { return vshlq_u32(a, vdupq_n_s32(n)); }
GBS_INLINE vw vw_shr(vw a, int n) { return vshlq_u32(a, vdupq_n_s32(-n)); }
GBS_INLINE vw vw_select(vfm mask, vw clear, vw set) { return vbslq_u32(mask, set, clear); }
GBS_INLINE vw vw_xor_where(vfm mask, vw a, vw b) { return veorq_u32(a, vandq_u32(mask, b)); }
GBS_INLINE vfm vw_top_bit(vw a) { return vcltzq_s32(vreinterpretq_s32_u32(a)); }

GBS_INLINE vd vd_set1(double a) { return vdupq_n_f64(a); }
GBS_INLINE vd vd_load(const double *p) { return vld1q_f64(p); }
GBS_INLINE void vd_store(double *p, vd a) { vst1q_f64(p, a); }
GBS_INLINE vd vd_add(vd a, vd b) { return vaddq_f64(a, b); }
GBS_INLINE vd vd_sub(vd a, vd b) { return vsubq_f64(a, b); }
GBS_INLINE vd vd_mul(vd a, vd b) { return vmulq_f64(a, b); }
GBS_INLINE vd vd_div(vd a, vd b) { return vdivq_f64(a, b); }
GBS_INLINE vd vd_fma(vd a, vd b, vd c) { return vfmaq_f64(c, a, b); }
GBS_INLINE vd vd_nfma(vd a, vd b, vd c) { return vfmsq_f64(c, a, b); }
GBS_INLINE vd vd_fms(vd a, vd b, vd c) { return vfmaq_f64(vnegq_f64(c), a, b); }
GBS_INLINE vd vd_nfms(vd a, vd b, vd c) { return vfmsq_f64(vnegq_f64(c), a, b); }
GBS_INLINE vd vd_sqrt(vd a) { return vsqrtq_f64(a); }
GBS_INLINE vd vd_floor_at(vd a, double low)
{
    const vd floor = vdupq_n_f64(low);
    return vbslq_f64(vcltq_f64(a, floor), floor, a);
}
GBS_INLINE vq vd_bits(vd a) { return vreinterpretq_u64_f64(a); }
GBS_INLINE vd vd_from_bits(vq a) { return vreinterpretq_f64_u64(a); }
GBS_INLINE vd vd_from_unsigned(vq a) { return vcvtq_f64_u64(a); }
GBS_INLINE vd vd_from_signed(vq a) { return vcvtq_f64_s64(vreinterpretq_s64_u64(a)); }
GBS_INLINE vd vd_select_by_sign(vq mask, vd clear, vd set)
{
    return vbslq_f64(vcltzq_s64(vreinterpretq_s64_u64(mask)), set, clear);
}
GBS_INLINE vd vd_min(vd a, vd b) { return vbslq_f64(vcltq_f64(a, b), a, b); }
GBS_INLINE vd vd_max(vd a, vd b) { return vbslq_f64(vcgtq_f64(a, b), a, b); }
GBS_INLINE vd vd_neg(vd a) { return vnegq_f64(a); }
GBS_INLINE vd vd_abs(vd a) { return vabsq_f64(a); }
GBS_INLINE vdm vd_less(vd a, vd b) { return vcltq_f64(a, b); }
GBS_INLINE vdm vd_not_less(vd a, vd b)
{
    return vreinterpretq_u64_u32(vmvnq_u32(vreinterpretq_u32_u64(vcltq_f64(a, b))));
}
GBS_INLINE vdm vd_equal(vd a, vd b) { return vceqq_f64(a, b); }
GBS_INLINE vd vd_select(vdm mask, vd clear, vd set) { return vbslq_f64(mask, set, clear); }
GBS_INLINE vd vd_negate_where(vdm mask, vd a)
{
    return vd_from_bits(veorq_u64(vd_bits(a), vandq_u64(mask, vdupq_n_u64(UINT64_C(1) << 63))));
}
GBS_INLINE vd vd_select_minus(vdm mask, vd clear, vd set)
{
    return vd_select(mask, clear, vd_neg(set));
}
GBS_INLINE vdm vdm_and(vdm a, vdm b) { return vandq_u64(a, b); }
GBS_INLINE vdm vd_less_in(vdm mask, vd a, vd b)
{
    return vdm_and(mask, vd_less(a, b));
}
GBS_INLINE vdm vd_not_less_in(vdm mask, vd a, vd b)
{
    return vdm_and(mask, vd_not_less(a, b));
}
GBS_INLINE int vdm_any(vdm a) { return vmaxvq_u32(vreinterpretq_u32_u64(a)) != 0; }
GBS_INLINE int vdm_all(vdm a) { return vminvq_u32(vreinterpretq_u32_u64(a)) != 0; }
GBS_INLINE vdm vdm_not(vdm a) { return vreinterpretq_u64_u32(vmvnq_u32(vreinterpretq_u32_u64(a))); }
GBS_INLINE vdm vdm_or(vdm a, vdm b) { return vorrq_u64(a, b); }
GBS_INLINE vdm vdm_xor(vdm a, vdm b) { return veorq_u64(a, b); }

GBS_INLINE vq vq_set1(uint64_t a) { return vdupq_n_u64(a); }
GBS_INLINE vq vq_set1_low(uint32_t a) { return vreinterpretq_u64_u32(vdupq_n_u32(a)); }
GBS_INLINE vq vq_iota(void) { return vcombine_u64(vcreate_u64(0), vcreate_u64(1)); }
GBS_INLINE vq vq_add(vq a, vq b) { return vaddq_u64(a, b); }
GBS_INLINE vq vq_sub(vq a, vq b) { return vsubq_u64(a, b); }
GBS_INLINE vq vq_and(vq a, vq b) { return vandq_u64(a, b); }
GBS_INLINE vq vq_or(vq a, vq b) { return vorrq_u64(a, b); }
GBS_INLINE vq vq_xor(vq a, vq b) { return veorq_u64(a, b); }
GBS_INLINE vq vq_xor3(vq a, vq b, vq c) { return veorq_u64(veorq_u64(a, b), c); }
GBS_INLINE vq vq_shl(vq a, int n) { return vshlq_u64(a, vdupq_n_s64(n)); }
GBS_INLINE vq vq_shr(vq a, int n) { return vshlq_u64(a, vdupq_n_s64(-n)); }
GBS_INLINE vq vq_select(vdm mask, vq clear, vq set) { return vbslq_u64(mask, set, clear); }
GBS_INLINE vq vq_xor_where(vdm mask, vq a, vq b) { return veorq_u64(a, vandq_u64(mask, b)); }
GBS_INLINE vdm vq_top_bit(vq a) { return vcltzq_s64(vreinterpretq_s64_u64(a)); }
GBS_INLINE vq vq_mul_low(vq a, vq b) { return vmull_u32(vmovn_u64(a), vmovn_u64(b)); }

GBS_INLINE vf vf_from_doubles(const vd halves[V_HALVES])
{
    return vcvt_high_f32_f64(vcvt_f32_f64(halves[0]), halves[1]);
}
GBS_INLINE void vf_to_doubles(vf a, vd halves[V_HALVES])
{
    halves[0] = vcvt_f64_f32(vget_low_f32(a));
    halves[1] = vcvt_high_f64_f32(a);
}

/* Half h holds lanes h, h + 2: its lane i is the vw's lane 2 i + h. */
GBS_INLINE vw vw_join(const vq halves[V_HALVES])
{
    return vtrn1q_u32(vreinterpretq_u32_u64(halves[0]), vreinterpretq_u32_u64(halves[1]));
}

GBS_INLINE void vq_store_pairs(uint64_t *p, vq a, vq b)
{
    vst1q_u64(p, vzip1q_u64(a, b));
    vst1q_u64(p + 2, vzip2q_u64(a, b));
}
GBS_INLINE void vw_store_fours(uint32_t *p, const vq word[4])
{
    const vw low = vw_join(word), high = vw_join(word + 2); /* lane i: words 2 i and 2 i + 1 */
    vst1q_u32(p, vcombine_u32(vget_low_u32(low), vget_low_u32(high)));
    vst1q_u32(p + 4, vcombine_u32(vget_high_u32(low), vget_high_u32(high)));
}

#endif
