/* The AVX2 and FMA vocabulary: 8 float or 4 double lanes.  See vocab_scalar.h.  AVX2 converts
 * only signed 32-bit words, so the other conversions put halves into mantissas. */
#ifndef GBS_RNG_VOCAB_AVX2_H
#define GBS_RNG_VOCAB_AVX2_H

#include <immintrin.h>
#include <stdint.h>

#ifndef GBS_INLINE
#define GBS_INLINE static inline
#endif

#define VF_LANES 8
#define VD_LANES 4
#define V_HALVES 2

typedef __m256 vf;
typedef __m256i vw;
typedef __m256d vd;
typedef __m256i vq;
typedef __m256 vfm; /* all bits of a lane, or none; of a mask from words only the top bit counts */
typedef __m256d vdm;

GBS_INLINE vf vf_set1(float a) { return _mm256_set1_ps(a); }
GBS_INLINE vf vf_load(const float *p) { return _mm256_load_ps(p); }
GBS_INLINE void vf_store(float *p, vf a) { _mm256_store_ps(p, a); }
GBS_INLINE vf vf_add(vf a, vf b) { return _mm256_add_ps(a, b); }
GBS_INLINE vf vf_sub(vf a, vf b) { return _mm256_sub_ps(a, b); }
GBS_INLINE vf vf_mul(vf a, vf b) { return _mm256_mul_ps(a, b); }
GBS_INLINE vf vf_div(vf a, vf b) { return _mm256_div_ps(a, b); }
GBS_INLINE vf vf_fma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }
GBS_INLINE vf vf_nfma(vf a, vf b, vf c) { return _mm256_fnmadd_ps(a, b, c); }
GBS_INLINE vf vf_fms(vf a, vf b, vf c) { return _mm256_fmsub_ps(a, b, c); }
GBS_INLINE vf vf_nfms(vf a, vf b, vf c) { return _mm256_fnmsub_ps(a, b, c); }
GBS_INLINE vf vf_sqrt(vf a) { return _mm256_sqrt_ps(a); }
GBS_INLINE vf vf_floor_at(vf a, float low) { return _mm256_max_ps(a, _mm256_set1_ps(low)); }
GBS_INLINE vw vf_bits(vf a) { return _mm256_castps_si256(a); }
GBS_INLINE vf vf_from_bits(vw a) { return _mm256_castsi256_ps(a); }
GBS_INLINE vf vf_from_signed(vw a) { return _mm256_cvtepi32_ps(a); }
GBS_INLINE vf vf_from_unsigned(vw a)
{
    /* high 16 bits and low 16 bits are exact; one rounding in the sum */
    const vf high = _mm256_cvtepi32_ps(_mm256_srli_epi32(a, 16));
    const vf low = _mm256_cvtepi32_ps(_mm256_and_si256(a, _mm256_set1_epi32(0xFFFF)));
    return _mm256_fmadd_ps(high, _mm256_set1_ps(65536.0f), low);
}
GBS_INLINE vf vf_select_by_bit30(vw mask, vf clear, vf set)
{
    return _mm256_blendv_ps(clear, set, _mm256_castsi256_ps(_mm256_slli_epi32(mask, 1)));
}
GBS_INLINE vf vf_keep(vf a) { return a; }
GBS_INLINE vf vf_min(vf a, vf b) { return _mm256_min_ps(a, b); }
GBS_INLINE vf vf_max(vf a, vf b) { return _mm256_max_ps(a, b); }
GBS_INLINE vf vf_neg(vf a) { return _mm256_xor_ps(a, _mm256_set1_ps(-0.0f)); }
GBS_INLINE vf vf_abs(vf a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
GBS_INLINE vfm vf_less(vf a, vf b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
GBS_INLINE vfm vf_not_less(vf a, vf b) { return _mm256_cmp_ps(a, b, _CMP_NLT_UQ); }
GBS_INLINE vfm vf_equal(vf a, vf b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
GBS_INLINE vf vf_select(vfm mask, vf clear, vf set) { return _mm256_blendv_ps(clear, set, mask); }
GBS_INLINE vf vf_negate_where(vfm mask, vf a)
{
    return _mm256_xor_ps(a, _mm256_and_ps(mask, _mm256_set1_ps(-0.0f)));
}
GBS_INLINE vf vf_select_minus(vfm mask, vf clear, vf set)
{
    return vf_select(mask, clear, vf_neg(set));
}
GBS_INLINE vfm vfm_and(vfm a, vfm b) { return _mm256_and_ps(a, b); }
GBS_INLINE vfm vf_less_in(vfm mask, vf a, vf b)
{
    return vfm_and(mask, vf_less(a, b));
}
GBS_INLINE vfm vf_not_less_in(vfm mask, vf a, vf b)
{
    return vfm_and(mask, vf_not_less(a, b));
}
GBS_INLINE int vfm_any(vfm a) { return _mm256_movemask_ps(a) != 0; }
GBS_INLINE int vfm_all(vfm a) { return _mm256_movemask_ps(a) == 0xFF; }
GBS_INLINE vfm vfm_not(vfm a)
{
    return _mm256_xor_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(-1)));
}
GBS_INLINE vfm vfm_or(vfm a, vfm b) { return _mm256_or_ps(a, b); }
GBS_INLINE vfm vfm_xor(vfm a, vfm b) { return _mm256_xor_ps(a, b); }

GBS_INLINE vw vw_set1(uint32_t a) { return _mm256_set1_epi32((int)a); }
GBS_INLINE vw vw_add(vw a, vw b) { return _mm256_add_epi32(a, b); }
GBS_INLINE vw vw_sub(vw a, vw b) { return _mm256_sub_epi32(a, b); }
GBS_INLINE vw vw_and(vw a, vw b) { return _mm256_and_si256(a, b); }
GBS_INLINE vw vw_or(vw a, vw b) { return _mm256_or_si256(a, b); }
GBS_INLINE vw vw_xor(vw a, vw b) { return _mm256_xor_si256(a, b); }
GBS_INLINE vw vw_shl(vw a, int n) { return _mm256_slli_epi32(a, n); }
GBS_INLINE vw vw_shr(vw a, int n) { return _mm256_srli_epi32(a, n); }
GBS_INLINE vw vw_select(vfm mask, vw clear, vw set)
{
    return _mm256_castps_si256(
        _mm256_blendv_ps(_mm256_castsi256_ps(clear), _mm256_castsi256_ps(set), mask));
}
GBS_INLINE vw vw_xor_where(vfm mask, vw a, vw b)
{
    return vw_select(mask, a, vw_xor(a, b));
}
GBS_INLINE vfm vw_top_bit(vw a) { return _mm256_castsi256_ps(a); }

GBS_INLINE vd vd_set1(double a) { return _mm256_set1_pd(a); }
GBS_INLINE vd vd_load(const double *p) { return _mm256_load_pd(p); }
GBS_INLINE void vd_store(double *p, vd a) { _mm256_store_pd(p, a); }
GBS_INLINE vd vd_add(vd a, vd b) { return _mm256_add_pd(a, b); }
GBS_INLINE vd vd_sub(vd a, vd b) { return _mm256_sub_pd(a, b); }
GBS_INLINE vd vd_mul(vd a, vd b) { return _mm256_mul_pd(a, b); }
GBS_INLINE vd vd_div(vd a, vd b) { return _mm256_div_pd(a, b); }
GBS_INLINE vd vd_fma(vd a, vd b, vd c) { return _mm256_fmadd_pd(a, b, c); }
GBS_INLINE vd vd_nfma(vd a, vd b, vd c) { return _mm256_fnmadd_pd(a, b, c); }
GBS_INLINE vd vd_fms(vd a, vd b, vd c) { return _mm256_fmsub_pd(a, b, c); }
GBS_INLINE vd vd_nfms(vd a, vd b, vd c) { return _mm256_fnmsub_pd(a, b, c); }
GBS_INLINE vd vd_sqrt(vd a) { return _mm256_sqrt_pd(a); }
GBS_INLINE vd vd_floor_at(vd a, double low) { return _mm256_max_pd(a, _mm256_set1_pd(low)); }
GBS_INLINE vq vd_bits(vd a) { return _mm256_castpd_si256(a); }
GBS_INLINE vd vd_from_bits(vq a) { return _mm256_castsi256_pd(a); }
GBS_INLINE vd vd_min(vd a, vd b) { return _mm256_min_pd(a, b); }
GBS_INLINE vd vd_max(vd a, vd b) { return _mm256_max_pd(a, b); }
GBS_INLINE vd vd_neg(vd a) { return _mm256_xor_pd(a, _mm256_set1_pd(-0.0)); }
GBS_INLINE vd vd_abs(vd a) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a); }
GBS_INLINE vdm vd_less(vd a, vd b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
GBS_INLINE vdm vd_not_less(vd a, vd b) { return _mm256_cmp_pd(a, b, _CMP_NLT_UQ); }
GBS_INLINE vdm vd_equal(vd a, vd b) { return _mm256_cmp_pd(a, b, _CMP_EQ_OQ); }
GBS_INLINE vd vd_select(vdm mask, vd clear, vd set) { return _mm256_blendv_pd(clear, set, mask); }
GBS_INLINE vd vd_negate_where(vdm mask, vd a)
{
    return _mm256_xor_pd(a, _mm256_and_pd(mask, _mm256_set1_pd(-0.0)));
}
GBS_INLINE vd vd_select_minus(vdm mask, vd clear, vd set)
{
    return vd_select(mask, clear, vd_neg(set));
}
GBS_INLINE vdm vdm_and(vdm a, vdm b) { return _mm256_and_pd(a, b); }
GBS_INLINE vdm vd_less_in(vdm mask, vd a, vd b)
{
    return vdm_and(mask, vd_less(a, b));
}
GBS_INLINE vdm vd_not_less_in(vdm mask, vd a, vd b)
{
    return vdm_and(mask, vd_not_less(a, b));
}
GBS_INLINE int vdm_any(vdm a) { return _mm256_movemask_pd(a) != 0; }
GBS_INLINE int vdm_all(vdm a) { return _mm256_movemask_pd(a) == 0xF; }
GBS_INLINE vdm vdm_not(vdm a)
{
    return _mm256_xor_pd(a, _mm256_castsi256_pd(_mm256_set1_epi32(-1)));
}
GBS_INLINE vdm vdm_or(vdm a, vdm b) { return _mm256_or_pd(a, b); }
GBS_INLINE vdm vdm_xor(vdm a, vdm b) { return _mm256_xor_pd(a, b); }
GBS_INLINE vq vq_set1(uint64_t a) { return _mm256_set1_epi64x((long long)a); }
GBS_INLINE vq vq_set1_low(uint32_t a) { return _mm256_set1_epi32((int)a); }
GBS_INLINE vq vq_iota(void) { return _mm256_set_epi64x(3, 2, 1, 0); }
GBS_INLINE vq vq_add(vq a, vq b) { return _mm256_add_epi64(a, b); }
GBS_INLINE vq vq_sub(vq a, vq b) { return _mm256_sub_epi64(a, b); }
GBS_INLINE vq vq_and(vq a, vq b) { return _mm256_and_si256(a, b); }
GBS_INLINE vq vq_or(vq a, vq b) { return _mm256_or_si256(a, b); }
GBS_INLINE vq vq_xor(vq a, vq b) { return _mm256_xor_si256(a, b); }
GBS_INLINE vq vq_xor3(vq a, vq b, vq c) { return _mm256_xor_si256(_mm256_xor_si256(a, b), c); }
GBS_INLINE vq vq_shl(vq a, int n) { return _mm256_slli_epi64(a, n); }
GBS_INLINE vq vq_shr(vq a, int n) { return _mm256_srli_epi64(a, n); }
GBS_INLINE vq vq_select(vdm mask, vq clear, vq set)
{
    return _mm256_castpd_si256(
        _mm256_blendv_pd(_mm256_castsi256_pd(clear), _mm256_castsi256_pd(set), mask));
}
GBS_INLINE vq vq_xor_where(vdm mask, vq a, vq b)
{
    return vq_select(mask, a, vq_xor(a, b));
}
GBS_INLINE vdm vq_top_bit(vq a) { return _mm256_castsi256_pd(a); }
GBS_INLINE vq vq_mul_low(vq a, vq b) { return _mm256_mul_epu32(a, b); }

/* high 2^32 + low, from the doubles 2^84 + high 2^32 and 2^52 + low; `offset` takes the two
 * powers away again.  Exact for results of at most 53 bits. */
GBS_INLINE vd vd_from_halves(vq high, vq low, double offset)
{
    const vd a = vd_from_bits(vq_or(high, vq_set1(0x4530000000000000u)));
    const vd b = vd_from_bits(vq_or(low, vq_set1(0x4330000000000000u)));
    return vd_add(vd_sub(a, vd_set1(offset)), b);
}
GBS_INLINE vd vd_from_unsigned(vq a)
{
    return vd_from_halves(vq_shr(a, 32), vq_and(a, vq_set1(0xFFFFFFFFu)), 0x1.00000001p+84);
}
GBS_INLINE vd vd_from_signed(vq a)
{
    const vq high = vq_xor(vq_shr(a, 32), vq_set1(0x80000000u)); /* 2^63 too large */
    return vd_from_halves(high, vq_and(a, vq_set1(0xFFFFFFFFu)), 0x1.00000801p+84);
}
GBS_INLINE vd vd_select_by_sign(vq mask, vd clear, vd set)
{
    return _mm256_blendv_pd(clear, set, _mm256_castsi256_pd(mask));
}

GBS_INLINE vf vf_from_doubles(const vd halves[V_HALVES])
{
    return _mm256_set_m128(_mm256_cvtpd_ps(halves[1]), _mm256_cvtpd_ps(halves[0]));
}
GBS_INLINE void vf_to_doubles(vf a, vd halves[V_HALVES])
{
    halves[0] = _mm256_cvtps_pd(_mm256_castps256_ps128(a));
    halves[1] = _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1));
}

/* Half h holds lanes h, h + 2, h + 4, ...: its lane i is the vw's lane 2 i + h. */
GBS_INLINE vw vw_join(const vq halves[V_HALVES])
{
    return _mm256_blend_epi32(halves[0], _mm256_slli_epi64(halves[1], 32), 0xAA);
}

/* Both values of each lane in turn: a0 b0 a1 b1 ... */
GBS_INLINE void vq_interleave(vq a, vq b, vq out[2])
{
    const vq low = _mm256_unpacklo_epi64(a, b), high = _mm256_unpackhi_epi64(a, b);
    out[0] = _mm256_permute2x128_si256(low, high, 0x20);
    out[1] = _mm256_permute2x128_si256(low, high, 0x31);
}

GBS_INLINE void vq_store_pairs(uint64_t *p, vq a, vq b)
{
    vq pairs[2];
    vq_interleave(a, b, pairs);
    _mm256_storeu_si256((__m256i *)p, pairs[0]);
    _mm256_storeu_si256((__m256i *)(p + 4), pairs[1]);
}
GBS_INLINE void vw_store_fours(uint32_t *p, const vq word[4])
{
    const vq low = vq_set1(0xFFFFFFFFu);
    vq pairs[2];
    vq_interleave(vq_or(vq_and(word[0], low), vq_shl(word[1], 32)),
                  vq_or(vq_and(word[2], low), vq_shl(word[3], 32)), pairs);
    _mm256_storeu_si256((__m256i *)p, pairs[0]);
    _mm256_storeu_si256((__m256i *)(p + 8), pairs[1]);
}

#endif
