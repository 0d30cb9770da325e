/* Words to draws of a normal between two bounds, by inversion of its distribution function, in a
 * vocabulary (vocab_*.h): the same bits wherever it is built.  One uniform a draw, no rejection, no
 * branch: every lane runs the same operations, whatever its bounds.
 *
 * With Q the normal's upper tail and R(z) = Q(z) / phi(z) Mills' ratio, the survival function from
 * a on is Q(a + d) / Q(a) = e^-t, t = -ln of a mixture of the bounds' tails.  Nothing there
 * saturates or cancels however far out a is; inversion through Phi breaks at 5.4 standard
 * deviations in float and 8.3 in double.  A box around the mean is the same equation from 0 on,
 * with Q(0) = 1/2.  truncnorm_body.h has the steps; this file the functions they are made of.
 *
 * Coefficients: tools/fit_truncnorm_coefficients.py.  The bits are frozen with
 * GBS_TRUNCNORM_VERSION; tests/kat/truncated_normals.csv holds a sample of them. */
#ifndef GBS_RNG_TRUNCNORM_H
#define GBS_RNG_TRUNCNORM_H

#include "rng/normal.h"

/* Vectors that a caller takes through the steps side by side, at most. */
enum { GBS_MOST_ABREAST = 12 };

/* Is evaluating R's quotients of polynomials long enough to be a step of its own? */
enum { GBS_LONG_QUOTIENTS_f32 = 0, GBS_LONG_QUOTIENTS_f64 = 1 };

/* ---- float ---- */

/* A word and its complement as uniforms: neither is 0, and no 1 - u is ever formed. */
GBS_INLINE vf gbs_unit_f32(vw word)
{
    return vf_fma(vf_from_unsigned(word), vf_set1(0x1p-32f), vf_set1(0x1p-33f));
}

GBS_INLINE vw gbs_complement_f32(vw word)
{
    return vw_xor(word, vw_set1(0xFFFFFFFFu));
}

GBS_INLINE vw gbs_complement_where_f32(vfm mask, vw word)
{
    return vw_xor_where(mask, word, vw_set1(0xFFFFFFFFu));
}

GBS_INLINE vfm gbs_upper_half_f32(vw word)
{
    return vw_top_bit(word);
}

/* R(z) = above / below, z in [-1/16, 512 + 64]: relative error 2^-24.3 before rounding. */
GBS_INLINE void gbs_mills_f32(vf z, vf *above, vf *below)
{
    vf n = vf_set1(0x1.c2e5b8p-7f);
    n = vf_fma(n, z, vf_set1(0x1.fc5694p-4f));
    n = vf_fma(n, z, vf_set1(0x1.0c10a8p-1f));
    n = vf_fma(n, z, vf_set1(0x1.2eb0d6p+0f));
    *above = vf_fma(n, z, vf_set1(0x1.40d932p+0f));
    vf d = vf_set1(0x1.c2e5b6p-7f);
    d = vf_fma(d, z, vf_set1(0x1.fc56e8p-4f));
    d = vf_fma(d, z, vf_set1(0x1.13195ap-1f));
    d = vf_fma(d, z, vf_set1(0x1.4e9ce8p+0f));
    d = vf_fma(d, z, vf_set1(0x1.bdc556p+0f));
    *below = vf_fma(d, z, vf_set1(1.0f));
}

/* e^-x = power (1 + return value), x in [-1, 44]. */
GBS_INLINE vf gbs_exp_minus_f32(vf x, vf *power)
{
    const vf magic = vf_set1(0x1.8p23f + 127.0f);
    const vf shifted = vf_fma(x, vf_set1(-0x1.715476p+0f), magic); /* k + 127 in its low bits */
    const vf k = vf_sub(shifted, magic);
    const vf r = vf_nfma(k, vf_set1(0x1.7f7d1cp-20f), vf_nfms(k, vf_set1(0x1.62e4p-1f), x));
    vf p = vf_set1(0x1.6db45p-10f);
    p = vf_fma(p, r, vf_set1(0x1.123b72p-7f));
    p = vf_fma(p, r, vf_set1(0x1.55545ep-5f));
    p = vf_fma(p, r, vf_set1(0x1.55548ep-3f));
    p = vf_fma(p, r, vf_set1(0.5f));
    *power = vf_from_bits(vw_shl(vf_bits(shifted), 23));
    return vf_fma(vf_mul(r, r), p, r);
}

/* -ln(whole + part), whole 0 or 1 and the sum in [2^-64, 1.1]; exact for a small part of 1. */
GBS_INLINE vf gbs_minus_log_f32(vf whole, vf part)
{
    const vw scale = gbs_log_scale_f32(vf_add(whole, part));
    const vf shrink = vf_from_bits(vw_sub(vw_set1(0xC0000000u), scale)); /* -2 times 2^-e */
    const vf h = vf_fma(part, shrink, vf_fma(whole, shrink, vf_set1(2.0f)));
    return vf_mul(vf_set1(0.5f), gbs_minus_2_log_of_f32(scale, h));
}

/* 1 / x to 0.8 per cent, 1 / sqrt(x) to 0.2 per cent, x normal: an exponent turned round and one
 * of Newton's steps.  For first guesses, where a division would cost 16 cycles. */
GBS_INLINE vf gbs_rough_inverse_f32(vf x)
{
    const vf y = vf_from_bits(vw_sub(vw_set1(0x7EF311C7u), vf_bits(x)));
    return vf_mul(y, vf_nfma(x, y, vf_set1(2.0f)));
}

GBS_INLINE vf gbs_rough_inverse_root_f32(vf x)
{
    const vf y = vf_from_bits(vw_sub(vw_set1(0x5F3759DFu), vw_shr(vf_bits(x), 1)));
    return vf_mul(y, vf_nfma(vf_mul(vf_mul(x, vf_set1(0.5f)), y), y, vf_set1(1.5f)));
}

/* For the first steps in double, several of whose vectors go in one of these: to 2^-14. */
GBS_INLINE void gbs_rough_mills_f32(vf z, vf *above, vf *below)
{
    vf n = vf_set1(0x1.7b02e2p-3f);
    n = vf_fma(n, z, vf_set1(0x1.854458p-1f));
    *above = vf_fma(n, z, vf_set1(0x1.40ddf6p+0f));
    vf d = vf_set1(0x1.7afc92p-3f);
    d = vf_fma(d, z, vf_set1(0x1.861740p-1f));
    d = vf_fma(d, z, vf_set1(0x1.67ffe6p+0f));
    *below = vf_fma(d, z, vf_set1(1.0f));
}

/* -ln x, x normal. */
GBS_INLINE vf gbs_rough_minus_log_f32(vf x)
{
    /* (e + 127) 2^23 plus the bits of (1 + f) / sqrt(1/2) */
    const vw above_root = vw_set1(0x3F800000u - 0x3F3504F3u);
    const vw e = vw_shr(vw_add(vf_bits(x), above_root), 23);
    const vf shrink = vf_from_bits(vw_shl(vw_sub(vw_set1(254), e), 23)); /* 2^-e */
    const vf turns =
        vf_sub(vf_from_bits(vw_or(e, vw_set1(0x4B000000u))), vf_set1(0x1p23f + 127.0f));
    const vf f = vf_fma(x, shrink, vf_set1(-1.0f));
    vf p = vf_set1(-0x1.72bf7cp-3f);
    p = vf_fma(p, f, vf_set1(0x1.168ff8p-2f));
    p = vf_fma(p, f, vf_set1(-0x1.57feb6p-2f));
    p = vf_fma(p, f, vf_set1(0x1.ff5f2cp-2f));
    p = vf_fma(p, f, vf_set1(-0x1.fffc70p-1f));
    return vf_fma(turns, vf_set1(-0x1.62e430p-1f), vf_mul(f, p));
}

/* Half the distance from x to its neighbour away from 0; 0 for subnormal x. */
GBS_INLINE vf gbs_half_step_f32(vf x)
{
    return vf_mul(vf_from_bits(vw_and(vf_bits(x), vw_set1(0x7F800000u))), vf_set1(0x1p-24f));
}

/* ---- double ---- */

GBS_INLINE vd gbs_unit_f64(vq word)
{
    return vd_fma(vd_from_unsigned(word), vd_set1(0x1p-53), vd_set1(0x1p-54));
}

GBS_INLINE vq gbs_complement_f64(vq word)
{
    return vq_xor(word, vq_set1(0x1FFFFFFFFFFFFFu));
}

GBS_INLINE vq gbs_complement_where_f64(vdm mask, vq word)
{
    return vq_xor_where(mask, word, vq_set1(0x1FFFFFFFFFFFFFu));
}

GBS_INLINE vdm gbs_upper_half_f64(vq word)
{
    return vq_top_bit(vq_shl(word, 11));
}

/* z in [-1/256, 2^24 + 64]: relative error 2^-45.8 before rounding. */
GBS_INLINE void gbs_mills_f64(vd z, vd *above, vd *below)
{
    vd n = vd_set1(0x1.cabe7a3999bb6p-16);
    n = vd_fma(n, z, vd_set1(0x1.36c038ac71ac8p-11));
    n = vd_fma(n, z, vd_set1(0x1.9f059fcbf6204p-8));
    n = vd_fma(n, z, vd_set1(0x1.5d36f25bbe2e3p-5));
    n = vd_fma(n, z, vd_set1(0x1.90fbdc04d45fep-3));
    n = vd_fma(n, z, vd_set1(0x1.4089c910615ebp-1));
    n = vd_fma(n, z, vd_set1(0x1.5d0bce895ed23p+0));
    n = vd_fma(n, z, vd_set1(0x1.dd78bc99c30cap+0));
    *above = vd_fma(n, z, vd_set1(0x1.40d931ff6272ep+0));
    vd d = vd_set1(0x1.cabe7a3999b33p-16);
    d = vd_fma(d, z, vd_set1(0x1.36c038ac73a22p-11));
    d = vd_fma(d, z, vd_set1(0x1.a0d05e45e2ccfp-8));
    d = vd_fma(d, z, vd_set1(0x1.6211f342f9ffap-5));
    d = vd_fma(d, z, vd_set1(0x1.9dd75cd49812ep-3));
    d = vd_fma(d, z, vd_set1(0x1.55c1dab7b01ffp-1));
    d = vd_fma(d, z, vd_set1(0x1.8bff096c15709p+0));
    d = vd_fma(d, z, vd_set1(0x1.34b8745c9d182p+1));
    d = vd_fma(d, z, vd_set1(0x1.249ce354ffaa4p+1));
    *below = vd_fma(d, z, vd_set1(1.0));
}

/* x <= 90. */
GBS_INLINE vd gbs_exp_minus_f64(vd x, vd *power)
{
    const vd magic = vd_set1(0x1.8p52 + 1023.0);
    const vd shifted = vd_fma(x, vd_set1(-0x1.71547652b82fep+0), magic);
    const vd k = vd_sub(shifted, magic);
    const vd r =
        vd_nfma(k, vd_set1(0x1.ef35793c7673p-45), vd_nfms(k, vd_set1(0x1.62e42fefa38p-1), x));
    vd p = vd_set1(0x1.73080c92604b6p-19);
    p = vd_fma(p, r, vd_set1(0x1.a174afb672acbp-16));
    p = vd_fma(p, r, vd_set1(0x1.a0196df634ee2p-13));
    p = vd_fma(p, r, vd_set1(0x1.6c1635a502313p-10));
    p = vd_fma(p, r, vd_set1(0x1.1111112fb880cp-7));
    p = vd_fma(p, r, vd_set1(0x1.55555581adcbbp-5));
    p = vd_fma(p, r, vd_set1(0x1.555555554c8c7p-3));
    p = vd_fma(p, r, vd_set1(0x1.ffffffffee91dp-2));
    *power = vd_from_bits(vq_shl(vd_bits(shifted), 52));
    return vd_fma(vd_mul(r, r), p, r);
}

/* whole + part = 2^e (1 + f), f in [sqrt(1/2) - 1, sqrt(2) - 1]: f and e. */
GBS_INLINE vd gbs_log_parts_f64(vd whole, vd part, vd *turns)
{
    /* (e + 1023) 2^52 plus the bits of (1 + f) / sqrt(1/2) */
    const vq above_root = vq_set1(0x3FF0000000000000u - 0x3FE6A09E667F3BCDu);
    const vq e = vq_shr(vq_add(vd_bits(vd_add(whole, part)), above_root), 52);
    const vd shrink = vd_from_bits(vq_shl(vq_sub(vq_set1(2046), e), 52)); /* 2^-e */
    *turns = vd_sub(vd_from_bits(vq_or(e, vq_set1(0x4330000000000000u))), vd_set1(0x1p52 + 1023.0));
    return vd_fma(part, shrink, vd_fma(whole, shrink, vd_set1(-1.0)));
}

GBS_INLINE vd gbs_minus_log_f64(vd whole, vd part)
{
    vd turns;
    const vd f = gbs_log_parts_f64(whole, part, &turns);
    const vd rest = vd_fma(turns, vd_set1(-0x1.ef35793c7673p-44), gbs_log_tail_f64(f));
    const vd twice = vd_fma(turns, vd_set1(-0x1.62e42fefa38p+0), vd_fma(f, vd_set1(-2.0), rest));
    return vd_mul(vd_set1(0.5), twice);
}

GBS_INLINE vd gbs_half_step_f64(vd x)
{
    return vd_mul(vd_from_bits(vq_and(vd_bits(x), vq_set1(0x7FF0000000000000u))), vd_set1(0x1p-53));
}

/* ---- the steps, in both types ---- */

#define V vf
#define M vfm
#define W vw
#define V_(operation) vf_##operation
#define M_(operation) vfm_##operation
#define NAME(idea) gbs_##idea##_f32
#define CONSTANT(single, twice) vf_set1(single##f)
#define EQUATION "rng/truncnorm_equation_f32.h"
#include "rng/truncnorm_body.h"

#define V vd
#define M vdm
#define W vq
#define V_(operation) vd_##operation
#define M_(operation) vdm_##operation
#define NAME(idea) gbs_##idea##_f64
#define CONSTANT(single, twice) vd_set1(twice)
#define EQUATION "rng/truncnorm_equation_f64.h"
#include "rng/truncnorm_body.h"

#endif
