/* Words to standard normals by the Box-Muller maps of cuRAND (Box and Muller 1958), with our own
 * logarithm, sine and cosine, in a vocabulary (vocab_*.h): the same bits wherever it is built.
 *
 * The bound is 2 ulp of the result (or 1e-9 in float, 1e-17 in double, absolute), with u and the
 * angle taken as exact.  Rounding r = sqrt(l), the reduced angle x and x^2 each cost up to an ulp
 * of their own, so what they lost is kept and put back: rho = (l - r^2) / 2l, the rest of x, the
 * rest of x^2.  Without rho, 1 in 27,000 normals is beyond 2 ulp and the worst is 2.6; without
 * any, 1 in 180 and 4.0.  rho needs only an 8 per cent reciprocal, taken from the exponent.
 *
 * Coefficients: tools/fit_normal_coefficients.py.  The bits are frozen with
 * GBS_STREAM_NATIVE_VERSION; tests/kat/native_normals.csv holds a sample of them. */
#ifndef GBS_RNG_NORMAL_H
#define GBS_RNG_NORMAL_H

/* ---- float ---- */

/* e 2^23, so that u = 2^e (1 + f) with f in [-1/3, 1/3]. */
GBS_INLINE vw gbs_log_scale_f32(vf u)
{
    return vw_and(vw_sub(vf_bits(u), vw_set1(0x3F2AAAABu)), vw_set1(0xFF800000u));
}

/* -2 ln(2^e (1 + f)) with scale = e 2^23 and h = -2 f, which scales every term by a power of two
 * and saves a product. */
GBS_INLINE vf gbs_minus_2_log_of_f32(vw scale, vf h)
{
    vf p = vf_set1(0x1.1f428cp-11f);
    p = vf_fma(p, h, vf_set1(0x1.3b283ep-10f));
    p = vf_fma(p, h, vf_set1(0x1.1ea254p-9f));
    p = vf_fma(p, h, vf_set1(0x1.5032eap-8f));
    p = vf_fma(p, h, vf_set1(0x1.99d428p-7f));
    p = vf_fma(p, h, vf_set1(0x1.00148p-5f));
    p = vf_fma(p, h, vf_set1(0x1.5554fap-4f));
    p = vf_fma(p, h, vf_set1(0x1.ffffd6p-3f));
    const vf tail = vf_fma(vf_mul(h, h), p, h);
    return vf_fma(vf_from_signed(scale), vf_set1(-0x1.62e43p-23f), tail);
}

/* -2 ln u for u in [2^-33, 1]. */
GBS_INLINE vf gbs_minus_2_log_f32(vf u)
{
    const vw scale = gbs_log_scale_f32(u);
    const vf mantissa = vf_from_bits(vw_sub(vf_bits(u), scale));
    return gbs_minus_2_log_of_f32(scale, vf_fma(mantissa, vf_set1(-2.0f), vf_set1(2.0f)));
}

/* sqrt(l) times sine and cosine of (b + 1/2) 2^-32 turns; l is 0 or above 2^-126. */
GBS_INLINE void gbs_polar_f32(vf l, vw b, vf *first, vf *second)
{
    const vf r = vf_sqrt(l);
    const vf half_over_l = vf_from_bits(vw_sub(vw_set1(0x7E780000u), vf_bits(l)));
    const vf rho = vf_mul(vf_nfma(r, r, l), half_over_l);

    /* Quadrant (b + 2^29) >> 30, and within it
     * v 2^-32 quarter turns, v = (b << 2) + 2 as a signed word, in two exact floats. */
    const vw v = vw_add(vw_shl(b, 2), vw_set1(2u));
    const vf v_high = vf_from_signed(vw_and(v, vw_set1(0xFFFFFF80u)));
    const vf v_low = vf_from_signed(vw_and(v, vw_set1(0x7Fu)));
    const vf unit = vf_set1(0x1.921fb6p-32f);
    const vf x = vf_keep(vf_mul(v_high, unit));
    const vf x_rest = vf_fma(v_low, unit, vf_fms(v_high, unit, x));
    const vf y = vf_mul(x, x);
    const vf y_rest = vf_fms(x, x, y);

    /* r sin = r (x + t), t = x (unit's rest + rho + y S(y)) + rest of x */
    vf s = vf_set1(-0x1.994eb4p-13f);
    s = vf_fma(s, y, vf_set1(0x1.11076p-7f));
    s = vf_fma(s, y, vf_set1(-0x1.555546p-3f));
    s = vf_fma(s, y, vf_add(rho, vf_set1(-0x1.de12cap-26f)));
    const vf r_sin = vf_fma(r, x, vf_mul(r, vf_fma(x, s, x_rest)));

    /* r cos = r + r g, g = -y/2 + y^2 C(y) - rest of y / 2 - x times rest of x + rho */
    vf c = vf_set1(0x1.99eb9ep-16f);
    c = vf_fma(c, y, vf_set1(-0x1.6c0c34p-10f));
    c = vf_fma(c, y, vf_set1(0x1.55554ap-5f));
    const vf rests = vf_fma(y_rest, vf_set1(-0.5f), vf_nfma(x, x_rest, rho));
    const vf g = vf_fma(y, vf_set1(-0.5f), vf_fma(vf_mul(y, y), c, rests));
    const vf r_cos = vf_fma(r, g, r);

    /* k's top bits are the quadrant; the second normal's sign is that of the next quadrant */
    const vw k = vw_add(b, vw_set1(0x20000000u)), next = vw_add(b, vw_set1(0x60000000u));
    const vw sign = vw_set1(0x80000000u);
    const vf sin_part = vf_select_by_bit30(k, r_sin, r_cos);
    const vf cos_part = vf_select_by_bit30(k, r_cos, r_sin);
    *first = vf_from_bits(vw_xor(vf_bits(sin_part), vw_and(k, sign)));
    *second = vf_from_bits(vw_xor(vf_bits(cos_part), vw_and(next, sign)));
}

/* The squared radius -2 ln u of a word. */
GBS_INLINE vf gbs_radius2_f32(vw a)
{
    const vf u = vf_fma(vf_from_unsigned(a), vf_set1(0x1p-32f), vf_set1(0x1p-33f));
    return vf_floor_at(gbs_minus_2_log_f32(u), 1e-20f);
}

/* Both normals of words (a, b). */
GBS_INLINE void gbs_normal_pair_f32(vw a, vw b, vf *first, vf *second)
{
    gbs_polar_f32(gbs_radius2_f32(a), b, first, second);
}

/* ---- double ---- */

/* -2 ln(1 + f) + 2 f, (1 + f)^2 in [1/2, 2]: s = f / (2 + f),
 * ln(1 + f) = f - (f^2/2 - s (f^2/2 + s^2 P(s^2))) as in FreeBSD's e_log.c. */
GBS_INLINE vd gbs_log_tail_f64(vd f)
{
    const vd s = vd_div(f, vd_add(f, vd_set1(2.0)));
    const vd z = vd_mul(s, s);
    vd p = vd_set1(0x1.2f05642bd77abp-2);
    p = vd_fma(p, z, vd_set1(0x1.39a1baa5608d0p-2));
    p = vd_fma(p, z, vd_set1(0x1.74663ee932abdp-2));
    p = vd_fma(p, z, vd_set1(0x1.c71c520958dbfp-2));
    p = vd_fma(p, z, vd_set1(0x1.24924941f12b1p-1));
    p = vd_fma(p, z, vd_set1(0x1.999999997fdb7p-1));
    p = vd_fma(p, z, vd_set1(0x1.5555555555592p+0));
    const vd f2 = vd_mul(f, f);
    return vd_nfma(s, vd_fma(z, p, f2), f2);
}

/* -2 ln u = high + low for u in [2^-54, 1]: u = 2^e (1 + f). */
GBS_INLINE vd gbs_minus_2_log_f64(vd u, vd *low)
{
    const vq bits = vd_bits(u);
    /* (e + 1023) 2^52 plus the bits of (1 + f) / sqrt(1/2); e + 1023 becomes a double within the
     * mantissa of 2^52 */
    const vq sqrt_half = vq_set1(0x3FE6A09E667F3BCDu);
    const vq shifted = vq_add(bits, vq_sub(vq_set1(0x3FF0000000000000u), sqrt_half));
    const vq mantissa = vq_and(shifted, vq_set1(0x000FFFFFFFFFFFFFu));
    const vd f = vd_sub(vd_from_bits(vq_add(mantissa, sqrt_half)), vd_set1(1.0));
    const vd e = vd_sub(vd_from_bits(vq_or(vq_shr(shifted, 52), vq_set1(0x4330000000000000u))),
                        vd_set1(0x1p52 + 1023.0));
    const vd tail = gbs_log_tail_f64(f);
    const vd whole = vd_mul(e, vd_set1(-0x1.62e42fefa38p+0)); /* exact: 42 bits times 6 */
    const vd double_f = vd_add(f, f);
    const vd head = vd_sub(whole, double_f);
    const vd head_rest = vd_sub(vd_sub(whole, head), double_f);
    const vd rest = vd_fma(e, vd_set1(-0x1.ef35793c7673p-44), tail);
    const vd high = vd_add(head, rest);
    *low = vd_add(vd_add(vd_sub(head, high), rest), head_rest);
    return high;
}

/* sin and cos - 1 of x + x_rest, |x| <= pi/4, in two parts each: sin = x + *sin_rest,
 * cos = 1 + return value; relative_rest is added to both as a factor 1 + relative_rest. */
GBS_INLINE vd gbs_sincos_parts_f64(vd x, vd x_rest, vd relative_rest, vd *sin_rest)
{
    const vd y = vd_mul(x, x);
    const vd y_rest = vd_fms(x, x, y);
    vd s = vd_set1(0x1.5d932fc3e8054p-33);
    s = vd_fma(s, y, vd_set1(-0x1.ae5e66d6a51bfp-26));
    s = vd_fma(s, y, vd_set1(0x1.71de357876c86p-19));
    s = vd_fma(s, y, vd_set1(-0x1.a01a019c126e1p-13));
    s = vd_fma(s, y, vd_set1(0x1.111111110f881p-7));
    s = vd_fma(s, y, vd_set1(-0x1.5555555555549p-3));
    s = vd_fma(s, y, relative_rest);
    *sin_rest = vd_fma(x, s, x_rest);
    vd c = vd_set1(-0x1.8fa49c1bdf56cp-37);
    c = vd_fma(c, y, vd_set1(0x1.1ee9d7b94c234p-29));
    c = vd_fma(c, y, vd_set1(-0x1.27e4f7eacbf7cp-22));
    c = vd_fma(c, y, vd_set1(0x1.a01a019c845abp-16));
    c = vd_fma(c, y, vd_set1(-0x1.6c16c16c14f92p-10));
    c = vd_fma(c, y, vd_set1(0x1.555555555554bp-5));
    const vd rests = vd_fma(y_rest, vd_set1(-0.5), vd_nfma(x, x_rest, relative_rest));
    return vd_fma(y, vd_set1(-0.5), vd_fma(vd_mul(y, y), c, rests));
}

/* v 2^-64 quarter turns, |v| <= 2^63, at most 53 significant bits, as x + *rest radians. */
GBS_INLINE vd gbs_quarter_turns_f64(vq v, vd *rest)
{
    const vd unit = vd_set1(0x1.921fb54442d18p-64);
    const vd turns = vd_from_signed(v);
    const vd x = vd_mul(turns, unit);
    *rest = vd_fma(x, vd_set1(0x1.678afae35cdd1p-55), vd_fms(turns, unit, x));
    return x;
}

/* sqrt(l + l_low) times sine and cosine of turn 2^-64 turns, at most 53 significant bits of it
 * within its quadrant; l is 0 or above 2^-1022. */
GBS_INLINE void gbs_polar_f64(vd l, vd l_low, vq turn, vd *first, vd *second)
{
    const vd r = vd_sqrt(l);
    const vd half_over_l = vd_from_bits(vq_sub(vq_set1(0x7FCF000000000000u), vd_bits(l)));
    const vd rho = vd_mul(vd_add(vd_nfma(r, r, l), l_low), half_over_l);

    vd x_rest, sin_rest;
    const vd x = gbs_quarter_turns_f64(vq_shl(turn, 2), &x_rest);
    const vd g = gbs_sincos_parts_f64(x, x_rest, rho, &sin_rest);
    const vd r_sin = vd_fma(r, x, vd_mul(r, sin_rest));
    const vd r_cos = vd_fma(r, g, r);

    const vq k = vq_add(turn, vq_set1(0x2000000000000000u));
    const vq odd = vq_shl(k, 1);
    const vq sign = vq_set1(0x8000000000000000u);
    const vd sin_part = vd_select_by_sign(odd, r_sin, r_cos);
    const vd cos_part = vd_select_by_sign(odd, r_cos, r_sin);
    *first = vd_from_bits(vq_xor(vd_bits(sin_part), vq_and(k, sign)));
    *second = vd_from_bits(vq_xor(vd_bits(cos_part), vq_and(vq_xor(k, odd), sign)));
}

/* The squared radius -2 ln u of a 53-bit integer, in two parts. */
GBS_INLINE vd gbs_radius2_f64(vq a, vd *low)
{
    const vd u = vd_fma(vd_from_unsigned(a), vd_set1(0x1p-53), vd_set1(0x1p-54));
    return vd_floor_at(gbs_minus_2_log_f64(u, low), 1e-20);
}

/* The angle (b + 1/2) 2^-53 turns of a 53-bit integer. */
GBS_INLINE vq gbs_turn_f64(vq b)
{
    return vq_or(vq_shl(b, 11), vq_set1(1u << 10));
}

/* Both normals of the 53-bit integers a and b. */
GBS_INLINE void gbs_normal_pair_f64(vq a, vq b, vd *first, vd *second)
{
    vd low;
    const vd l = gbs_radius2_f64(a, &low);
    gbs_polar_f64(l, low, gbs_turn_f64(b), first, second);
}

/* The 53-bit integer of two words (low halves): low ^ high << 21. */
GBS_INLINE vq gbs_word53(vq low, vq high)
{
    const vq mask = vq_set1(0xFFFFFFFFu);
    return vq_xor(vq_and(low, mask), vq_shl(vq_and(high, mask), 21));
}

#endif
