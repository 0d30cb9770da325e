/* The equation of truncnorm_body.h in float: a guess, and one of Halley's steps. */

/* d, 3 per cent off at most. */
GBS_INLINE vf gbs_truncnorm_begin_f32(gbs_draw_f32 *draw)
{
    draw->t = gbs_minus_log_f32(draw->whole, draw->part);
    return gbs_truncnorm_guess_f32(draw->r, draw->d1, draw->t);
}

/* Good enough. */
GBS_INLINE vf gbs_truncnorm_approach_f32(const gbs_draw_f32 *draw, vf d)
{
    (void)draw;
    return d;
}

/* R(a + d) and R(a + d) / R(a). */
GBS_INLINE void gbs_truncnorm_ahead_f32(const gbs_draw_f32 *draw, vf d, vf *r, vf *ratio)
{
    vf above, below;
    gbs_mills_f32(vf_add(draw->start, d), &above, &below);
    const vf inverse = vf_div(vf_set1(1.0f), vf_mul(below, draw->above));
    *r = vf_mul(above, vf_mul(draw->above, inverse));
    *ratio = vf_mul(above, vf_mul(draw->below, inverse));
}

/* The step, on g(d) = ln Q(a) / Q(a + d) - t, whose derivative is 1 / R(a + d). */
GBS_INLINE vf gbs_truncnorm_refine_f32(const gbs_draw_f32 *draw, vf d, vf r, vf ratio)
{
    const vf one = vf_set1(1.0f), half = vf_set1(0.5f);
    const vf rate = vf_fma(d, half, draw->start);
    const vf g = vf_add(vf_fms(d, rate, draw->t), gbs_minus_log_f32(vf_set1(0.0f), ratio));
    const vf bend = vf_mul(vf_mul(g, half), vf_nfma(vf_add(draw->start, d), r, one));
    const vf stretch = vf_fma(bend, vf_add(bend, one), one); /* 1 / (1 - bend) */
    return vf_nfma(vf_mul(g, r), stretch, d);
}

/* d of the kind and size at hand. */
GBS_INLINE vf gbs_truncnorm_choose_f32(const gbs_draw_f32 *draw, vf d)
{
    d = vf_select(vf_less(draw->t, SMALL), d, gbs_truncnorm_series_f32(draw, draw->t));
    return vf_select(vf_less(draw->start, FARTHEST), gbs_truncnorm_far_f32(draw, draw->t), d);
}
