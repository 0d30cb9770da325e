/* The equation of truncnorm_body.h in double: a guess, one of Halley's steps with functions of 14
 * bits, and one of the fourth order with the whole ones.
 *
 * The last step has no logarithm: with p = e^-t, 1 + e = Q(a + d) / (Q(a) p) is a quotient of
 * polynomials times e^-(a d + d^2/2), and ln(1 + e), a distance along t, is a few terms of e.
 * Along t the number z = a + d has the derivative R, R has -R d1 and d1 has -R d2, with
 * d1 = 1 - z R and d2 = R - z d1. */

/* d, 3 per cent off at most. */
GBS_INLINE vd gbs_truncnorm_begin_f64(gbs_draw_f64 *draw)
{
    draw->t = gbs_rough_minus_log_f64(draw->whole, draw->part);
    return gbs_truncnorm_guess_f64(draw->r, draw->d1, draw->t);
}

/* Halley's step, on g(d) = ln Q(a) / Q(a + d) - t, whose derivative is 1 / R(a + d). */
GBS_INLINE vd gbs_truncnorm_approach_f64(const gbs_draw_f64 *draw, vd d)
{
    const vd one = vd_set1(1.0), half = vd_set1(0.5), z = vd_add(draw->start, d);
    vd above, below;
    gbs_rough_mills_f64(z, &above, &below);
    const vd both = vd_mul(below, draw->above), rough = gbs_rough_inverse_f64(both);
    const vd inverse = vd_mul(rough, vd_nfma(both, rough, vd_set1(2.0)));
    const vd r = vd_mul(above, vd_mul(draw->above, inverse));
    const vd ratio = vd_mul(above, vd_mul(draw->below, inverse));
    const vd g = vd_add(vd_fms(d, vd_fma(d, half, draw->start), draw->t),
                        gbs_rough_minus_log_f64(vd_set1(0.0), ratio));
    const vd bend = vd_mul(vd_mul(g, half), vd_nfma(z, r, one));
    const vd stretch = vd_fma(bend, vd_add(bend, one), one); /* 1 / (1 - bend) */
    return vd_nfma(vd_mul(g, r), stretch, d);
}

/* R(a + d) and R(a + d) / (R(a) p). */
GBS_INLINE void gbs_truncnorm_ahead_f64(const gbs_draw_f64 *draw, vd d, vd *r, vd *ratio)
{
    vd above, below;
    gbs_mills_f64(vd_add(draw->start, d), &above, &below);
    const vd p = vd_add(draw->whole, draw->part), first = vd_mul(draw->above, p);
    const vd inverse = vd_div(vd_set1(1.0), vd_mul(below, first));
    *r = vd_mul(above, vd_mul(first, inverse));
    *ratio = vd_mul(above, vd_mul(draw->below, inverse));
}

GBS_INLINE vd gbs_truncnorm_refine_f64(const gbs_draw_f64 *draw, vd d, vd r, vd ratio)
{
    const vd one = vd_set1(1.0), half = vd_set1(0.5), z = vd_add(draw->start, d);
    vd power;
    const vd rise = gbs_exp_minus_f64(vd_mul(d, vd_fma(d, half, draw->start)), &power);
    const vd y = vd_mul(ratio, power), e = vd_fma(y, rise, vd_sub(y, one));
    const vd d1 = vd_nfma(z, r, one), d2 = vd_nfma(z, d1, r);
    const vd q = vd_fma(r, d2, vd_mul(d1, d1));
    /* d + r (e - e^2 (1 + d1) / 2 + e^3 (1/3 + d1/2 + q/6)) */
    vd sum =
        vd_fma(q, vd_set1(0x1.5555555555555p-3), vd_fma(d1, half, vd_set1(0x1.5555555555555p-2)));
    sum = vd_nfma(sum, e, vd_fma(d1, half, half));
    sum = vd_nfma(sum, e, one);
    return vd_fma(vd_mul(e, r), sum, d);
}

/* d of the kind and size at hand: few vectors have a lane for the two that want all digits of t. */
GBS_INLINE vd gbs_truncnorm_choose_f64(const gbs_draw_f64 *draw, vd d)
{
    const vdm small = vd_less(draw->t, SMALL), near = vd_less(draw->start, FARTHEST);
    if (vdm_any(vdm_or(small, vdm_not(near)))) {
        const vd t = gbs_minus_log_f64(draw->whole, draw->part);
        d = vd_select(small, d, gbs_truncnorm_series_f64(draw, t));
        d = vd_select(near, gbs_truncnorm_far_f64(draw, t), d);
    }
    return d;
}
