/* One pass over a block of chains of a model with bounds, for one type, width and instruction set:
 * the canonical order of sweep_body.h, over the same panels.  A bounded site's sum is the mean of
 * its draw, and since a draw is some 300 dependent operations, which only several vectors of chains
 * hide, the group's sums wait in memory while its sites are drawn one after the other. */

#define BODY_JOIN(a, b) a##_in_##b
#define BODY_EXPAND(a, b) BODY_JOIN(a, b)
#define BODY(name) BODY_EXPAND(name, SWEEP)
#define WIDTH (VECTORS * V_LANES)

#include "backend/cpu/sum_body.h"

GBS_INLINE V BODY(number)(const void *array, int64_t site)
{
    return V_(set1)(((const T *)array)[site]);
}

GBS_INLINE W BODY(word)(const void *row, int64_t vector)
{
    W word;
    memcpy(&word, (const T *)row + vector * V_LANES, sizeof word);
    return word;
}

/* A plain draw at a site whose mean is m [WIDTH]. */
static __attribute__((noinline)) void BODY(draw)(const gbs_bounded_job *job, int64_t site,
                                                 const T *m, T *x)
{
    const gbs_bounded_sites *const sites = job->sites;
    const T *const words = (const T *)job->pass.z + site * job->pass.z_row;
    const V s = BODY(number)(sites->scale, site);
    const V lo = BODY(number)(sites->lower, site), hi = BODY(number)(sites->upper, site);
    TYPED(gbs_draw) draw[VECTORS];
    V d[VECTORS];
    NO_UNROLL for (int u = 0; u < VECTORS; ++u) TYPED(gbs_truncnorm_box)(
        &draw[u], V_(load)(m + u * V_LANES), s, lo, hi, BODY(word)(words, u));
    TYPED(mixtures_abreast)(draw, VECTORS);
    TYPED(invert_abreast)(draw, d, VECTORS);
    NO_UNROLL for (int u = 0; u < VECTORS; ++u)
        V_(store)(x + u * V_LANES,
                  TYPED(gbs_truncnorm_place)(&draw[u], V_(load)(m + u * V_LANES), s, lo, hi, d[u]));
}

/* An over-relaxed one, from x. */
static __attribute__((noinline)) void BODY(overrelax)(const gbs_bounded_job *job, int64_t site,
                                                      const T *m, T *x)
{
    const gbs_bounded_sites *const sites = job->sites;
    const T *const z = (const T *)job->pass.z + site * job->pass.z_row;
    const T *const words = (const T *)job->cells + site * job->pass.z_row;
    const V r = V_(set1)((T)sites->overrelax), beside = V_(set1)((T)sites->beside);
    const V s = BODY(number)(sites->scale, site);
    const V lo = BODY(number)(sites->lower, site), hi = BODY(number)(sites->upper, site);
    TYPED(gbs_draw) draw[VECTORS], standard;
    TYPED(gbs_shares) shares[VECTORS];
    V d[VECTORS];
    TYPED(gbs_overrelax_standard)(&standard);
    NO_UNROLL for (int u = 0; u < VECTORS; ++u) TYPED(gbs_truncnorm_box)(
        &draw[u], V_(load)(m + u * V_LANES), s, lo, hi, BODY(word)(words, u));
    NO_UNROLL for (int u = 0; u < VECTORS; ++u) TYPED(gbs_truncnorm_ratios)(&draw[u]);
    NO_UNROLL for (int u = 0; u < VECTORS; ++u)
    {
        TYPED(gbs_truncnorm_densities)(&draw[u]);
        TYPED(gbs_truncnorm_derivatives)(&draw[u]);
    }
    NO_UNROLL for (int u = 0; u < VECTORS; ++u) d[u] = TYPED(gbs_overrelax_distance)(
        &draw[u], V_(load)(m + u * V_LANES), s, lo, hi, V_(load)(x + u * V_LANES));
    NO_UNROLL for (int u = 0; u < VECTORS; ++u) shares[u] =
        TYPED(gbs_overrelax_masses)(&draw[u], d[u]);
    NO_UNROLL for (int u = 0; u < VECTORS; ++u) d[u] =
        TYPED(gbs_overrelax_size)(standard, shares[u]);
    NO_UNROLL for (int u = 0; u < VECTORS; ++u) shares[u] =
        TYPED(gbs_overrelax_move)(&draw[u], shares[u], d[u], V_(load)(z + u * V_LANES), r, beside);
    NO_UNROLL for (int u = 0; u < VECTORS; ++u)
        TYPED(gbs_truncnorm_mixture_of)(&draw[u], shares[u].u, shares[u].v);
    TYPED(invert_abreast)(draw, d, VECTORS);
    NO_UNROLL for (int u = 0; u < VECTORS; ++u)
        V_(store)(x + u * V_LANES,
                  TYPED(gbs_truncnorm_place)(&draw[u], V_(load)(m + u * V_LANES), s, lo, hi, d[u]));
}

/* Starts the sums of the `rows` places from p on, and takes their old values at each other's
 * places; a bounded site's noise, which is no normal, is not read. */
ALWAYS_INLINE const T *BODY(begin)(V sum[ROWS][VECTORS], const int rows, const gbs_bounded_job *job,
                                   const T *panels, int64_t p)
{
    const gbs_pass_job *const pass = &job->pass;
    const T *const here = (const T *)pass->x + p * pass->x_step;
    UNROLL for (int r = 0; r < rows; ++r)
    {
        const int64_t site = pass->site[p + r];
        const T *const z = (const T *)pass->z + site * pass->z_row;
        const V s = V_(set1)(panels[0]), c = V_(set1)(panels[1]);
        const int bounded = job->sites->bounded[site];
        UNROLL for (int u = 0; u < VECTORS; ++u) sum[r][u] =
            bounded ? c : V_(fma)(s, V_(load)(z + u * V_LANES), c);
        panels += 2;
        if (pass->relaxed) {
            const V a = V_(set1)(*panels++);
            UNROLL for (int u = 0; u < VECTORS; ++u) sum[r][u] =
                V_(fma)(a, V_(load)(here + r * pass->x_step + u * V_LANES), sum[r][u]);
        }
    }
    UNROLL for (int r = 0; r < rows; ++r) UNROLL for (int q = r + 1; q < rows; ++q)
    {
        const V a = V_(set1)(*panels++);
        UNROLL for (int u = 0; u < VECTORS; ++u) sum[r][u] =
            V_(fma)(a, V_(load)(here + q * pass->x_step + u * V_LANES), sum[r][u]);
    }
    return panels;
}

/* Makes them final, one after the other. */
static const T *BODY(end)(T *sum, int rows, const gbs_bounded_job *job, const T *panels, int64_t p)
{
    const gbs_pass_job *const pass = &job->pass;
    for (int q = 0; q < rows; ++q) {
        const int64_t site = pass->site[p + q];
        T *const x = (T *)pass->x + (p + q) * pass->x_step, *const m = sum + q * WIDTH;
        if (!job->sites->bounded[site])
            UNROLL for (int u = 0; u < VECTORS; ++u)
                V_(store)(x + u * V_LANES, V_(load)(m + u * V_LANES));
        else if (job->sites->overrelax > 0)
            BODY(overrelax)(job, site, m, x);
        else
            BODY(draw)(job, site, m, x);
        for (int r = q + 1; r < rows; ++r) {
            const V a = V_(set1)(*panels++);
            T *const to = sum + r * WIDTH;
            UNROLL for (int u = 0; u < VECTORS; ++u)
                V_(store)(to + u * V_LANES,
                          V_(fma)(a, V_(load)(x + u * V_LANES), V_(load)(to + u * V_LANES)));
        }
    }
    return panels;
}

/* Updates the `rows` places from p on; returns where the next group's panels start. */
ALWAYS_INLINE const T *BODY(group)(const gbs_bounded_job *job, const T *panels, int64_t p,
                                   const int rows)
{
    const gbs_pass_job *const pass = &job->pass;
    const T *const x = pass->x;
    _Alignas(GBS_ALIGNMENT) T waiting[ROWS * WIDTH];
    V sum[ROWS][VECTORS];
    panels = BODY(begin)(sum, rows, job, panels, p);
    panels = BODY(accumulate)(sum, rows, panels, x + (p + rows) * pass->x_step, pass->x_step,
                              pass->dim - p - rows);
    panels = BODY(accumulate)(sum, rows, panels, x, pass->x_step, p);
    UNROLL for (int r = 0; r < rows; ++r) UNROLL for (int u = 0; u < VECTORS; ++u)
        V_(store)(waiting + r * WIDTH + u * V_LANES, sum[r][u]);
    return BODY(end)(waiting, rows, job, panels, p);
}

static void SWEEP(const gbs_bounded_job *job)
{
    const T *panels = job->pass.panels;
    const int64_t dim = job->pass.dim;
    int64_t p = 0;
    for (; p + ROWS <= dim; p += ROWS)
        panels = BODY(group)(job, panels, p, ROWS);
#if ROWS > 1
    switch (dim - p) {
#if ROWS > 4
    case 7: BODY(group)(job, panels, p, 7); break;
    case 6: BODY(group)(job, panels, p, 6); break;
    case 5: BODY(group)(job, panels, p, 5); break;
    case 4: BODY(group)(job, panels, p, 4); break;
#endif
    case 3: BODY(group)(job, panels, p, 3); break;
    case 2: BODY(group)(job, panels, p, 2); break;
    case 1: BODY(group)(job, panels, p, 1); break;
    default: break;
    }
#endif
}

#undef BODY_JOIN
#undef BODY_EXPAND
#undef BODY
#undef WIDTH
#undef VECTORS
#undef ROWS
#undef SWEEP
