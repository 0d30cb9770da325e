/* The scalar vocabulary: one lane.  philox.h, normal.h and sweep_body.h are written once, in
 * the words below; each instruction set supplies a header like this one.  This one defines the
 * bits: the others must agree with it.
 *
 *   vf  float lanes        vw  uint32_t lanes, as many as vf
 *   vd  double lanes       vq  uint64_t lanes, as many as vd
 *
 *   vfm, vdm  masks, one truth value a lane of vf or vd
 *
 * Every operation is exact or rounded once, to nearest even.  min and max give their second
 * argument where the two are equal or either is NaN. */
#ifndef GBS_RNG_VOCAB_SCALAR_H
#define GBS_RNG_VOCAB_SCALAR_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef GBS_INLINE
#define GBS_INLINE static inline
#endif

#define VF_LANES 1
#define VD_LANES 1
#define V_HALVES 1 /* vq vectors that hold the lanes of one vw */

typedef float vf;
typedef uint32_t vw;
typedef double vd;
typedef uint64_t vq;
typedef int vfm;
typedef int vdm;

/* float */
GBS_INLINE vf vf_set1(float a) { return a; }
GBS_INLINE vf vf_load(const float *p) { return *p; }
GBS_INLINE void vf_store(float *p, vf a) { *p = a; }
GBS_INLINE vf vf_add(vf a, vf b) { return a + b; }
GBS_INLINE vf vf_sub(vf a, vf b) { return a - b; }
GBS_INLINE vf vf_mul(vf a, vf b) { return a * b; }
GBS_INLINE vf vf_div(vf a, vf b) { return a / b; }
GBS_INLINE vf vf_fma(vf a, vf b, vf c) { return fmaf(a, b, c); }   /* a b + c */
GBS_INLINE vf vf_nfma(vf a, vf b, vf c) { return fmaf(-a, b, c); } /* c - a b */
GBS_INLINE vf vf_fms(vf a, vf b, vf c) { return fmaf(a, b, -c); }    /* a b - c */
GBS_INLINE vf vf_nfms(vf a, vf b, vf c) { return fmaf(-a, b, -c); }  /* -a b - c */
GBS_INLINE vf vf_sqrt(vf a) { return sqrtf(a); }
GBS_INLINE vf vf_floor_at(vf a, float low) { return a < low ? low : a; }
GBS_INLINE vw vf_bits(vf a)
{
    vw w;
    memcpy(&w, &a, sizeof w);
    return w;
}
GBS_INLINE vf vf_from_bits(vw a)
{
    vf f;
    memcpy(&f, &a, sizeof f);
    return f;
}
GBS_INLINE vf vf_from_unsigned(vw a) { return (float)a; }
GBS_INLINE vf vf_from_signed(vw a) { return (float)(int32_t)a; }
GBS_INLINE vf vf_select_by_bit30(vw mask, vf clear, vf set)
{
    return mask & 0x40000000u ? set : clear;
}
/* A value that serves several operations, where a compiler would rather compute it twice. */
GBS_INLINE vf vf_keep(vf a) { return a; }
GBS_INLINE vf vf_min(vf a, vf b) { return a < b ? a : b; }
GBS_INLINE vf vf_max(vf a, vf b) { return a > b ? a : b; }
GBS_INLINE vf vf_neg(vf a) { return -a; }
GBS_INLINE vf vf_abs(vf a) { return fabsf(a); }
GBS_INLINE vfm vf_less(vf a, vf b) { return a < b; }
GBS_INLINE vfm vf_not_less(vf a, vf b) { return !(a < b); }
GBS_INLINE vfm vf_less_in(vfm mask, vf a, vf b) { return mask & (a < b); }
GBS_INLINE vfm vf_not_less_in(vfm mask, vf a, vf b) { return mask & !(a < b); }
GBS_INLINE vfm vf_equal(vf a, vf b) { return a == b; }
GBS_INLINE vf vf_select(vfm mask, vf clear, vf set) { return mask ? set : clear; }
GBS_INLINE vf vf_negate_where(vfm mask, vf a) { return mask ? -a : a; }
GBS_INLINE vf vf_select_minus(vfm mask, vf clear, vf set) { return mask ? -set : clear; }
GBS_INLINE vfm vfm_and(vfm a, vfm b) { return a & b; }
GBS_INLINE int vfm_any(vfm a) { return a; }
GBS_INLINE int vfm_all(vfm a) { return a; }
GBS_INLINE vfm vfm_not(vfm a) { return a ^ 1; }
GBS_INLINE vfm vfm_or(vfm a, vfm b) { return a | b; }
GBS_INLINE vfm vfm_xor(vfm a, vfm b) { return a ^ b; }

/* 32-bit words */
GBS_INLINE vw vw_set1(uint32_t a) { return a; }
GBS_INLINE vw vw_add(vw a, vw b) { return a + b; }
GBS_INLINE vw vw_sub(vw a, vw b) { return a - b; }
GBS_INLINE vw vw_and(vw a, vw b) { return a & b; }
GBS_INLINE vw vw_or(vw a, vw b) { return a | b; }
GBS_INLINE vw vw_xor(vw a, vw b) { return a ^ b; }
GBS_INLINE vw vw_shl(vw a, int n) { return a << n; }
GBS_INLINE vw vw_shr(vw a, int n) { return a >> n; }
GBS_INLINE vw vw_select(vfm mask, vw clear, vw set) { return mask ? set : clear; }
GBS_INLINE vw vw_xor_where(vfm mask, vw a, vw b) { return mask ? a ^ b : a; }
GBS_INLINE vfm vw_top_bit(vw a) { return (int)(a >> 31); }

/* double */
GBS_INLINE vd vd_set1(double a) { return a; }
GBS_INLINE vd vd_load(const double *p) { return *p; }
GBS_INLINE void vd_store(double *p, vd a) { *p = a; }
GBS_INLINE vd vd_add(vd a, vd b) { return a + b; }
GBS_INLINE vd vd_sub(vd a, vd b) { return a - b; }
GBS_INLINE vd vd_mul(vd a, vd b) { return a * b; }
GBS_INLINE vd vd_div(vd a, vd b) { return a / b; }
GBS_INLINE vd vd_fma(vd a, vd b, vd c) { return fma(a, b, c); }
GBS_INLINE vd vd_nfma(vd a, vd b, vd c) { return fma(-a, b, c); }
GBS_INLINE vd vd_fms(vd a, vd b, vd c) { return fma(a, b, -c); }
GBS_INLINE vd vd_nfms(vd a, vd b, vd c) { return fma(-a, b, -c); }  /* -a b - c */
GBS_INLINE vd vd_sqrt(vd a) { return sqrt(a); }
GBS_INLINE vd vd_floor_at(vd a, double low) { return a < low ? low : a; }
GBS_INLINE vq vd_bits(vd a)
{
    vq q;
    memcpy(&q, &a, sizeof q);
    return q;
}
GBS_INLINE vd vd_from_bits(vq a)
{
    vd d;
    memcpy(&d, &a, sizeof d);
    return d;
}
/* Both conversions are exact where they are used: at most 53 significant bits. */
GBS_INLINE vd vd_from_unsigned(vq a) { return (double)a; }
GBS_INLINE vd vd_from_signed(vq a) { return (double)(int64_t)a; }
GBS_INLINE vd vd_select_by_sign(vq mask, vd clear, vd set) { return mask >> 63 ? set : clear; }
GBS_INLINE vd vd_min(vd a, vd b) { return a < b ? a : b; }
GBS_INLINE vd vd_max(vd a, vd b) { return a > b ? a : b; }
GBS_INLINE vd vd_neg(vd a) { return -a; }
GBS_INLINE vd vd_abs(vd a) { return fabs(a); }
GBS_INLINE vdm vd_less(vd a, vd b) { return a < b; }
GBS_INLINE vdm vd_not_less(vd a, vd b) { return !(a < b); }
GBS_INLINE vdm vd_less_in(vdm mask, vd a, vd b) { return mask & (a < b); }
GBS_INLINE vdm vd_not_less_in(vdm mask, vd a, vd b) { return mask & !(a < b); }
GBS_INLINE vdm vd_equal(vd a, vd b) { return a == b; }
GBS_INLINE vd vd_select(vdm mask, vd clear, vd set) { return mask ? set : clear; }
GBS_INLINE vd vd_negate_where(vdm mask, vd a) { return mask ? -a : a; }
GBS_INLINE vd vd_select_minus(vdm mask, vd clear, vd set) { return mask ? -set : clear; }
GBS_INLINE vdm vdm_and(vdm a, vdm b) { return a & b; }
GBS_INLINE int vdm_any(vdm a) { return a; }
GBS_INLINE int vdm_all(vdm a) { return a; }
GBS_INLINE vdm vdm_not(vdm a) { return a ^ 1; }
GBS_INLINE vdm vdm_or(vdm a, vdm b) { return a | b; }
GBS_INLINE vdm vdm_xor(vdm a, vdm b) { return a ^ b; }

/* 64-bit words */
GBS_INLINE vq vq_set1(uint64_t a) { return a; }
GBS_INLINE vq vq_set1_low(uint32_t a) { return a; } /* the high half may be anything */
GBS_INLINE vq vq_iota(void) { return 0; }
GBS_INLINE vq vq_add(vq a, vq b) { return a + b; }
GBS_INLINE vq vq_sub(vq a, vq b) { return a - b; }
GBS_INLINE vq vq_and(vq a, vq b) { return a & b; }
GBS_INLINE vq vq_or(vq a, vq b) { return a | b; }
GBS_INLINE vq vq_xor(vq a, vq b) { return a ^ b; }
GBS_INLINE vq vq_xor3(vq a, vq b, vq c) { return a ^ b ^ c; }
GBS_INLINE vq vq_shl(vq a, int n) { return a << n; }
GBS_INLINE vq vq_shr(vq a, int n) { return a >> n; }
GBS_INLINE vq vq_select(vdm mask, vq clear, vq set) { return mask ? set : clear; }
GBS_INLINE vq vq_xor_where(vdm mask, vq a, vq b) { return mask ? a ^ b : a; }
GBS_INLINE vdm vq_top_bit(vq a) { return (int)(a >> 63); }
/* The 64-bit product of the low halves; the high halves are ignored. */
GBS_INLINE vq vq_mul_low(vq a, vq b) { return (uint64_t)(uint32_t)a * (uint32_t)b; }

/* The floats nearest to the lanes of V_HALVES vectors, in turn, and floats as doubles. */
GBS_INLINE vf vf_from_doubles(const vd halves[V_HALVES]) { return (float)halves[0]; }
GBS_INLINE void vf_to_doubles(vf a, vd halves[V_HALVES]) { halves[0] = (double)a; }

/* The vw whose lane V_HALVES i + h is the low half of lane i of halves[h]. */
GBS_INLINE vw vw_join(const vq halves[V_HALVES]) { return (vw)halves[0]; }

/* The four words of each lane after one another, and the two values of each lane. */
GBS_INLINE void vw_store_fours(uint32_t *p, const vq word[4])
{
    for (int k = 0; k < 4; ++k)
        p[k] = (uint32_t)word[k];
}
GBS_INLINE void vq_store_pairs(uint64_t *p, vq a, vq b)
{
    p[0] = a;
    p[1] = b;
}

#endif
