/* The AVX-512 vocabulary (F, DQ, VL, BW): 16 float or 8 double lanes.  See vocab_scalar.h. */
#ifndef GBS_RNG_VOCAB_AVX512_H
#define GBS_RNG_VOCAB_AVX512_H

#include <immintrin.h>
#include <stdint.h>

#ifndef GBS_INLINE
#define GBS_INLINE static inline
#endif

#define VF_LANES 16
#define VD_LANES 8
#define V_HALVES 2

typedef __m512 vf;
typedef __m512i vw;
typedef __m512d vd;
typedef __m512i vq;
typedef __mmask16 vfm;
typedef __mmask8 vdm;

GBS_INLINE vf vf_set1(float a) { return _mm512_set1_ps(a); }
GBS_INLINE vf vf_load(const float *p) { return _mm512_load_ps(p); }
GBS_INLINE void vf_store(float *p, vf a) { _mm512_store_ps(p, a); }
GBS_INLINE vf vf_add(vf a, vf b) { return _mm512_add_ps(a, b); }
GBS_INLINE vf vf_sub(vf a, vf b) { return _mm512_sub_ps(a, b); }
GBS_INLINE vf vf_mul(vf a, vf b) { return _mm512_mul_ps(a, b); }
GBS_INLINE vf vf_div(vf a, vf b) { return _mm512_div_ps(a, b); }
GBS_INLINE vf vf_fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }
GBS_INLINE vf vf_nfma(vf a, vf b, vf c) { return _mm512_fnmadd_ps(a, b, c); }
GBS_INLINE vf vf_fms(vf a, vf b, vf c) { return _mm512_fmsub_ps(a, b, c); }
GBS_INLINE vf vf_nfms(vf a, vf b, vf c) { return _mm512_fnmsub_ps(a, b, c); }
GBS_INLINE vf vf_sqrt(vf a) { return _mm512_sqrt_ps(a); }
GBS_INLINE vf vf_floor_at(vf a, float low) { return _mm512_max_ps(a, _mm512_set1_ps(low)); }
GBS_INLINE vw vf_bits(vf a) { return _mm512_castps_si512(a); }
GBS_INLINE vf vf_from_bits(vw a) { return _mm512_castsi512_ps(a); }
GBS_INLINE vf vf_from_unsigned(vw a) { return _mm512_cvtepu32_ps(a); }
GBS_INLINE vf vf_from_signed(vw a) { return _mm512_cvtepi32_ps(a); }
GBS_INLINE vf vf_select_by_bit30(vw mask, vf clear, vf set)
{
    const __mmask16 odd = _mm512_test_epi32_mask(mask, _mm512_set1_epi32(0x40000000));
    return _mm512_mask_blend_ps(odd, clear, set);
}
GBS_INLINE vf vf_keep(vf a) { return a; }
GBS_INLINE vf vf_min(vf a, vf b) { return _mm512_min_ps(a, b); }
GBS_INLINE vf vf_max(vf a, vf b) { return _mm512_max_ps(a, b); }
GBS_INLINE vf vf_neg(vf a) { return _mm512_xor_ps(a, _mm512_set1_ps(-0.0f)); }
GBS_INLINE vf vf_abs(vf a) { return _mm512_abs_ps(a); }
GBS_INLINE vfm vf_less(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
GBS_INLINE vfm vf_not_less(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_NLT_UQ); }
GBS_INLINE vfm vf_less_in(vfm mask, vf a, vf b)
{
    return _mm512_mask_cmp_ps_mask(mask, a, b, _CMP_LT_OQ);
}
GBS_INLINE vfm vf_not_less_in(vfm mask, vf a, vf b)
{
    return _mm512_mask_cmp_ps_mask(mask, a, b, _CMP_NLT_UQ);
}
GBS_INLINE vfm vf_equal(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
GBS_INLINE vf vf_select(vfm mask, vf clear, vf set) { return _mm512_mask_blend_ps(mask, clear, set); }
GBS_INLINE vf vf_negate_where(vfm mask, vf a)
{
    return _mm512_mask_xor_ps(a, mask, a, _mm512_set1_ps(-0.0f));
}
GBS_INLINE vf vf_select_minus(vfm mask, vf clear, vf set)
{
    return _mm512_mask_xor_ps(clear, mask, set, _mm512_set1_ps(-0.0f));
}
GBS_INLINE vfm vfm_and(vfm a, vfm b) { return _kand_mask16(a, b); }
GBS_INLINE int vfm_any(vfm a) { return a != 0; }
GBS_INLINE int vfm_all(vfm a) { return a == 0xFFFF; }
GBS_INLINE vfm vfm_not(vfm a) { return _knot_mask16(a); }
GBS_INLINE vfm vfm_or(vfm a, vfm b) { return _kor_mask16(a, b); }
GBS_INLINE vfm vfm_xor(vfm a, vfm b) { return _kxor_mask16(a, b); }

GBS_INLINE vw vw_set1(uint32_t a) { return _mm512_set1_epi32((int)a); }
GBS_INLINE vw vw_add(vw a, vw b) { return _mm512_add_epi32(a, b); }
GBS_INLINE vw vw_sub(vw a, vw b) { return _mm512_sub_epi32(a, b); }
GBS_INLINE vw vw_and(vw a, vw b) { return _mm512_and_si512(a, b); }
GBS_INLINE vw vw_or(vw a, vw b) { return _mm512_or_si512(a, b); }
GBS_INLINE vw vw_xor(vw a, vw b) { return _mm512_xor_si512(a, b); }
GBS_INLINE vw vw_shl(vw a, int n) { return _mm512_slli_epi32(a, (unsigned)n); }
GBS_INLINE vw vw_shr(vw a, int n) { return _mm512_srli_epi32(a, (unsigned)n); }
GBS_INLINE vw vw_select(vfm mask, vw clear, vw set)
{
    return _mm512_mask_blend_epi32(mask, clear, set);
}
GBS_INLINE vw vw_xor_where(vfm mask, vw a, vw b)
{
    return _mm512_mask_xor_epi32(a, mask, a, b);
}
GBS_INLINE vfm vw_top_bit(vw a) { return _mm512_movepi32_mask(a); }

GBS_INLINE vd vd_set1(double a) { return _mm512_set1_pd(a); }
GBS_INLINE vd vd_load(const double *p) { return _mm512_load_pd(p); }
GBS_INLINE void vd_store(double *p, vd a) { _mm512_store_pd(p, a); }
GBS_INLINE vd vd_add(vd a, vd b) { return _mm512_add_pd(a, b); }
GBS_INLINE vd vd_sub(vd a, vd b) { return _mm512_sub_pd(a, b); }
GBS_INLINE vd vd_mul(vd a, vd b) { return _mm512_mul_pd(a, b); }
GBS_INLINE vd vd_div(vd a, vd b) { return _mm512_div_pd(a, b); }
GBS_INLINE vd vd_fma(vd a, vd b, vd c) { return _mm512_fmadd_pd(a, b, c); }
GBS_INLINE vd vd_nfma(vd a, vd b, vd c) { return _mm512_fnmadd_pd(a, b, c); }
GBS_INLINE vd vd_fms(vd a, vd b, vd c) { return _mm512_fmsub_pd(a, b, c); }
GBS_INLINE vd vd_nfms(vd a, vd b, vd c) { return _mm512_fnmsub_pd(a, b, c); }
GBS_INLINE vd vd_sqrt(vd a) { return _mm512_sqrt_pd(a); }
GBS_INLINE vd vd_floor_at(vd a, double low) { return _mm512_max_pd(a, _mm512_set1_pd(low)); }
GBS_INLINE vq vd_bits(vd a) { return _mm512_castpd_si512(a); }
GBS_INLINE vd vd_from_bits(vq a) { return _mm512_castsi512_pd(a); }
GBS_INLINE vd vd_from_unsigned(vq a) { return _mm512_cvtepu64_pd(a); }
GBS_INLINE vd vd_from_signed(vq a) { return _mm512_cvtepi64_pd(a); }
GBS_INLINE vd vd_select_by_sign(vq mask, vd clear, vd set)
{
    return _mm512_mask_blend_pd(_mm512_movepi64_mask(mask), clear, set);
}

GBS_INLINE vd vd_min(vd a, vd b) { return _mm512_min_pd(a, b); }
GBS_INLINE vd vd_max(vd a, vd b) { return _mm512_max_pd(a, b); }
GBS_INLINE vd vd_neg(vd a) { return _mm512_xor_pd(a, _mm512_set1_pd(-0.0)); }
GBS_INLINE vd vd_abs(vd a) { return _mm512_abs_pd(a); }
GBS_INLINE vdm vd_less(vd a, vd b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
GBS_INLINE vdm vd_not_less(vd a, vd b) { return _mm512_cmp_pd_mask(a, b, _CMP_NLT_UQ); }
GBS_INLINE vdm vd_less_in(vdm mask, vd a, vd b)
{
    return _mm512_mask_cmp_pd_mask(mask, a, b, _CMP_LT_OQ);
}
GBS_INLINE vdm vd_not_less_in(vdm mask, vd a, vd b)
{
    return _mm512_mask_cmp_pd_mask(mask, a, b, _CMP_NLT_UQ);
}
GBS_INLINE vdm vd_equal(vd a, vd b) { return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ); }
GBS_INLINE vd vd_select(vdm mask, vd clear, vd set) { return _mm512_mask_blend_pd(mask, clear, set); }
GBS_INLINE vd vd_negate_where(vdm mask, vd a)
{
    return _mm512_mask_xor_pd(a, mask, a, _mm512_set1_pd(-0.0));
}
GBS_INLINE vd vd_select_minus(vdm mask, vd clear, vd set)
{
    return _mm512_mask_xor_pd(clear, mask, set, _mm512_set1_pd(-0.0));
}
GBS_INLINE vdm vdm_and(vdm a, vdm b) { return _kand_mask8(a, b); }
GBS_INLINE int vdm_any(vdm a) { return a != 0; }
GBS_INLINE int vdm_all(vdm a) { return a == 0xFF; }
GBS_INLINE vdm vdm_not(vdm a) { return _knot_mask8(a); }
GBS_INLINE vdm vdm_or(vdm a, vdm b) { return _kor_mask8(a, b); }
GBS_INLINE vdm vdm_xor(vdm a, vdm b) { return _kxor_mask8(a, b); }

GBS_INLINE vq vq_set1(uint64_t a) { return _mm512_set1_epi64((long long)a); }
GBS_INLINE vq vq_set1_low(uint32_t a) { return _mm512_set1_epi32((int)a); }
GBS_INLINE vq vq_iota(void) { return _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0); }
GBS_INLINE vq vq_add(vq a, vq b) { return _mm512_add_epi64(a, b); }
GBS_INLINE vq vq_sub(vq a, vq b) { return _mm512_sub_epi64(a, b); }
GBS_INLINE vq vq_and(vq a, vq b) { return _mm512_and_si512(a, b); }
GBS_INLINE vq vq_or(vq a, vq b) { return _mm512_or_si512(a, b); }
GBS_INLINE vq vq_xor(vq a, vq b) { return _mm512_xor_si512(a, b); }
GBS_INLINE vq vq_xor3(vq a, vq b, vq c) { return _mm512_ternarylogic_epi64(a, b, c, 0x96); }
GBS_INLINE vq vq_shl(vq a, int n) { return _mm512_slli_epi64(a, (unsigned)n); }
GBS_INLINE vq vq_shr(vq a, int n) { return _mm512_srli_epi64(a, (unsigned)n); }
GBS_INLINE vq vq_select(vdm mask, vq clear, vq set)
{
    return _mm512_mask_blend_epi64(mask, clear, set);
}
GBS_INLINE vq vq_xor_where(vdm mask, vq a, vq b)
{
    return _mm512_mask_xor_epi64(a, mask, a, b);
}
GBS_INLINE vdm vq_top_bit(vq a) { return _mm512_movepi64_mask(a); }
GBS_INLINE vq vq_mul_low(vq a, vq b) { return _mm512_mul_epu32(a, b); }

GBS_INLINE vf vf_from_doubles(const vd halves[V_HALVES])
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(halves[0])),
                              _mm512_cvtpd_ps(halves[1]), 1);
}
GBS_INLINE void vf_to_doubles(vf a, vd halves[V_HALVES])
{
    halves[0] = _mm512_cvtps_pd(_mm512_castps512_ps256(a));
    halves[1] = _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1));
}

/* Half h holds lanes h, h + 2, h + 4, ...: its lane i is the vw's lane 2 i + h. */
GBS_INLINE vw vw_join(const vq halves[V_HALVES])
{
    return _mm512_mask_shuffle_epi32(halves[0], 0xAAAA, halves[1], _MM_PERM_CCAA);
}

/* Both values of each lane in turn: a0 b0 a1 b1 ... */
GBS_INLINE void vq_interleave(vq a, vq b, vq out[2])
{
    out[0] = _mm512_permutex2var_epi64(a, _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0), b);
    out[1] = _mm512_permutex2var_epi64(a, _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4), b);
}

GBS_INLINE void vq_store_pairs(uint64_t *p, vq a, vq b)
{
    vq pairs[2];
    vq_interleave(a, b, pairs);
    _mm512_storeu_si512(p, pairs[0]);
    _mm512_storeu_si512((p + 8), pairs[1]);
}
GBS_INLINE void vw_store_fours(uint32_t *p, const vq word[4])
{
    const vq low = vq_set1(0xFFFFFFFFu);
    vq pairs[2];
    vq_interleave(vq_or(vq_and(word[0], low), vq_shl(word[1], 32)),
                  vq_or(vq_and(word[2], low), vq_shl(word[3], 32)), pairs);
    _mm512_storeu_si512(p, pairs[0]);
    _mm512_storeu_si512((p + 16), pairs[1]);
}

#endif
