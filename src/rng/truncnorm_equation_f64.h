/* The equation of truncnorm_body.h in double: a guess and one of Halley's steps in float with
 * functions of 14 bits, and a step of the fourth order in double.
 *
 * The last step has no logarithm: with p = e^-t, 1 + e = Q(a + d) / (Q(a) p) is a quotient of
 * polynomials times e^-(a d + d^2/2), and ln(1 + e), a distance along t, is a few terms of e.
 * Along t the number z = a + d has the derivative R, R has -R d1 and d1 has -R d2, with
 * d1 = 1 - z R and d2 = R - z d1. */

enum { GBS_FIRST_VECTORS_f64 = V_HALVES };

/* The first solution, of as many vectors as one of floats holds. */
typedef struct gbs_first_f64 {
    vf a, r, t, d, ratio;
} gbs_first_f64;

/* With fewer vectors than that the last ones are the first again. */
GBS_INLINE void gbs_first_level_f64(gbs_first_f64 *first, gbs_draw_f64 *draw, int vectors)
{
    vd a[V_HALVES], r[V_HALVES], p[V_HALVES];
    for (int h = 0; h < V_HALVES; ++h) {
        gbs_draw_f64 *const of = &draw[h < vectors ? h : 0];
        of->level =
            vd_select(vd_less(of->lost, vd_set1(0.5)), of->kept, vd_sub(vd_set1(1.0), of->lost));
        a[h] = of->start;
        r[h] = of->r;
        p[h] = of->level;
    }
    first->a = vf_from_doubles(a);
    first->r = vf_from_doubles(r);
    first->t = gbs_rough_minus_log_f32(vf_from_doubles(p));
}

GBS_INLINE void gbs_first_guess_f64(gbs_first_f64 *first)
{
    const vf d1 = vf_nfma(first->a, first->r, vf_set1(1.0f));
    first->d = gbs_truncnorm_guess(first->r, d1, first->t);
}

/* R(a + d) / R(a). */
GBS_INLINE void gbs_first_ratio_f64(gbs_first_f64 *first)
{
    vf above, below;
    gbs_rough_mills_f32(vf_add(first->a, first->d), &above, &below);
    const vf both = vf_mul(below, first->r), rough = gbs_rough_inverse_f32(both);
    first->ratio = vf_mul(above, vf_mul(rough, vf_nfma(both, rough, vf_set1(2.0f))));
}

/* Halley's step, on g(d) = ln Q(a) / Q(a + d) - t, whose derivative is 1 / R(a + d). */
GBS_INLINE void gbs_first_step_f64(const gbs_first_f64 *first, vd *d, int vectors)
{
    const vf one = vf_set1(1.0f), half = vf_set1(0.5f);
    const vf r = vf_mul(first->ratio, first->r), z = vf_add(first->a, first->d);
    const vf rise = vf_fms(first->d, vf_fma(first->d, half, first->a), first->t);
    const vf g = vf_add(rise, gbs_rough_minus_log_f32(first->ratio));
    const vf bend = vf_mul(vf_mul(g, half), vf_nfma(z, r, one));
    const vf stretch = vf_fma(bend, vf_add(bend, one), one); /* 1 / (1 - bend) */
    vd to[V_HALVES];
    vf_to_doubles(vf_nfma(vf_mul(g, r), stretch, first->d), to);
    for (int h = 0; h < V_HALVES; ++h)
        if (h < vectors)
            d[h] = to[h];
}

/* R(a + d) as a quotient. */
GBS_INLINE void gbs_truncnorm_ahead_f64(const gbs_draw_f64 *draw, vd d, vd *above, vd *below)
{
    gbs_mills_f64(vd_add(draw->start, d), above, below);
}

/* From that R(a + d), and e. */
GBS_INLINE void gbs_truncnorm_compare_f64(const gbs_draw_f64 *draw, vd d, vd *r, vd *e)
{
    const vd above = *r, below = *e, first = vd_mul(draw->above, draw->level);
    const vd inverse = vd_div(vd_set1(1.0), vd_mul(below, first));
    vd power;
    const vd rise = gbs_exp_minus_f64(vd_mul(d, vd_fma(d, vd_set1(0.5), draw->start)), &power);
    const vd y = vd_mul(vd_mul(above, vd_mul(draw->below, inverse)), power);
    *r = vd_mul(above, vd_mul(first, inverse));
    *e = vd_fma(y, rise, vd_sub(y, vd_set1(1.0)));
}

GBS_INLINE vd gbs_truncnorm_refine_f64(const gbs_draw_f64 *draw, vd d, vd r, vd e)
{
    const vd one = vd_set1(1.0), half = vd_set1(0.5), z = vd_add(draw->start, d);
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
    const vdm small = vd_less(vd_set1(1.0 - 0x1p-10), draw->level),
              near = vd_less(draw->start, FARTHEST);
    if (vdm_any(vdm_or(small, vdm_not(near)))) {
        vd whole;
        const vd part = gbs_truncnorm_parts_f64(draw, &whole);
        const vd t = gbs_minus_log_f64(whole, part);
        d = vd_select(small, d, gbs_truncnorm_series_f64(draw, t));
        d = vd_select(near, gbs_truncnorm_far_f64(draw, t), d);
    }
    return d;
}
