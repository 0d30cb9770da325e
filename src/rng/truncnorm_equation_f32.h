/* The equation of truncnorm_body.h in float: a guess, and one of Halley's steps. */

/* A guess of d, 3 per cent off at most: the root of h d + h^2 k d^2 / 2 = t with h = 1 / r and k
 * running from -R'(a), right for small t, to r^2, right for large t. */
GBS_INLINE vf gbs_truncnorm_guess(vf r, vf d1, vf t)
{
    const vf one = vf_set1(1.0f), r2 = vf_mul(r, r), twice = vf_add(t, t);
    const vf blend = gbs_rough_inverse_f32(vf_fma(t, vf_set1(0x1.4p-4f), one));
    const vf k = vf_fma(vf_sub(d1, r2), blend, r2);
    const vf square = vf_fma(twice, k, one);
    const vf root = vf_mul(square, gbs_rough_inverse_root_f32(square));
    return vf_mul(vf_mul(twice, r), gbs_rough_inverse_f32(vf_add(root, one)));
}

enum { GBS_FIRST_VECTORS_f32 = 1 };

typedef struct gbs_first_f32 {
    vf d;
} gbs_first_f32;

GBS_INLINE void gbs_first_level_f32(gbs_first_f32 *first, gbs_draw_f32 *draw, int vectors)
{
    (void)vectors;
    vf whole;
    const vf part = gbs_truncnorm_parts_f32(draw, &whole);
    draw->level = gbs_minus_log_f32(whole, part);
    first->d = gbs_truncnorm_guess(draw->r, gbs_truncnorm_derivatives_f32(draw).d1, draw->level);
}

/* The guess is good enough. */
GBS_INLINE void gbs_first_guess_f32(gbs_first_f32 *first)
{
    (void)first;
}

GBS_INLINE void gbs_first_ratio_f32(gbs_first_f32 *first)
{
    (void)first;
}

GBS_INLINE void gbs_first_step_f32(const gbs_first_f32 *first, vf *d, int vectors)
{
    (void)vectors;
    *d = first->d;
}

/* R(a + d) as a quotient. */
GBS_INLINE void gbs_truncnorm_ahead_f32(const gbs_draw_f32 *draw, vf d, vf *above, vf *below)
{
    gbs_mills_f32(vf_add(draw->start, d), above, below);
}

/* From that R(a + d), and R(a + d) / R(a). */
GBS_INLINE void gbs_truncnorm_compare_f32(const gbs_draw_f32 *draw, vf d, vf *r, vf *ratio)
{
    (void)d;
    const vf above = *r, inverse = vf_div(vf_set1(1.0f), vf_mul(*ratio, draw->above));
    *r = vf_mul(above, vf_mul(draw->above, inverse));
    *ratio = vf_mul(above, vf_mul(draw->below, inverse));
}

/* The step, on g(d) = ln Q(a) / Q(a + d) - t, whose derivative is 1 / R(a + d). */
GBS_INLINE vf gbs_truncnorm_refine_f32(const gbs_draw_f32 *draw, vf d, vf r, vf ratio)
{
    const vf one = vf_set1(1.0f), half = vf_set1(0.5f);
    const vf rate = vf_fma(d, half, draw->start);
    const vf g = vf_add(vf_fms(d, rate, draw->level), gbs_minus_log_f32(vf_set1(0.0f), ratio));
    const vf bend = vf_mul(vf_mul(g, half), vf_nfma(vf_add(draw->start, d), r, one));
    const vf stretch = vf_fma(bend, vf_add(bend, one), one); /* 1 / (1 - bend) */
    return vf_nfma(vf_mul(g, r), stretch, d);
}

/* d of the kind and size at hand. */
GBS_INLINE vf gbs_truncnorm_choose_f32(const gbs_draw_f32 *draw, vf d)
{
    d = vf_select(vf_less(draw->level, SMALL), d, gbs_truncnorm_series_f32(draw, draw->level));
    return vf_select(vf_less(draw->start, FARTHEST), gbs_truncnorm_far_f32(draw, draw->level), d);
}
