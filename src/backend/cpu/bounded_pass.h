/* One pass over a block of chains of a model with bounds, or JOBS of them side by side, for one
 * type, width and instruction set: the canonical order of sweep_body.h, over the same panels.  A
 * bounded site's sum is the mean of its draw, and since a draw is some 300 dependent operations,
 * which only many vectors of chains hide, the group's sums wait in memory while its sites are drawn
 * one after the other, of all blocks together. */

#define BODY_JOIN(a, b) a##_in_##b
#define BODY_EXPAND(a, b) BODY_JOIN(a, b)
#define BODY(name) BODY_EXPAND(name, SWEEP)
#define WIDTH (VECTORS * V_LANES)

#include "backend/cpu/sum_body.h"

GBS_INLINE V BODY(number)(const void *array, int64_t site)
{
    return V_(set1)(((const T *)array)[site]);
}

GBS_INLINE W BODY(word)(const T *from)
{
    W word;
    memcpy(&word, from, sizeof word);
    return word;
}

/* Where a site's vectors lie: vector u of the jobs side by side is vector u % VECTORS of job
 * u / VECTORS. */
typedef struct BODY(places) {
    const T *m[JOBS]; /* means [WIDTH] */
    T *x[JOBS];
    int vectors;
} BODY(places);

GBS_INLINE V BODY(mean)(const BODY(places) * at, int u)
{
    return V_(load)(at->m[u / VECTORS] + u % VECTORS * V_LANES);
}

GBS_INLINE T *BODY(state)(const BODY(places) * at, int u)
{
    return at->x[u / VECTORS] + u % VECTORS * V_LANES;
}

/* Vector u's row of `noise`, a job's z or cells. */
GBS_INLINE const T *BODY(noise)(const gbs_bounded_job *job, const void *noise, int64_t site, int u)
{
    return (const T *)noise + site * job->pass.z_row + u % VECTORS * V_LANES;
}

/* A plain draw. */
static __attribute__((noinline)) void BODY(draw)(const gbs_bounded_job *jobs, int64_t site,
                                                 const BODY(places) * at)
{
    const gbs_bounded_sites *const sites = jobs->sites;
    const int vectors = at->vectors;
    const V s = BODY(number)(sites->scale, site);
    const V lo = BODY(number)(sites->lower, site), hi = BODY(number)(sites->upper, site);
    TYPED(gbs_draw) draw[JOBS * VECTORS];
    V d[JOBS * VECTORS];
    NO_UNROLL for (int u = 0; u < vectors; ++u)
    {
        const gbs_bounded_job *const job = &jobs[u / VECTORS];
        const T *const word = BODY(noise)(job, job->pass.z, site, u);
        TYPED(gbs_truncnorm_box)(&draw[u], BODY(mean)(at, u), s, lo, hi, BODY(word)(word));
    }
    TYPED(mixtures_abreast)(draw, vectors);
    TYPED(invert_abreast)(draw, d, vectors);
    NO_UNROLL for (int u = 0; u < vectors; ++u)
        V_(store)(BODY(state)(at, u),
                  TYPED(gbs_truncnorm_place)(&draw[u], BODY(mean)(at, u), s, lo, hi, d[u]));
}

/* An over-relaxed one, from x. */
static __attribute__((noinline)) void BODY(overrelax)(const gbs_bounded_job *jobs, int64_t site,
                                                      const BODY(places) * at)
{
    const gbs_bounded_sites *const sites = jobs->sites;
    const int vectors = at->vectors;
    const V r = V_(set1)((T)sites->overrelax), beside = V_(set1)((T)sites->beside);
    const V s = BODY(number)(sites->scale, site);
    const V lo = BODY(number)(sites->lower, site), hi = BODY(number)(sites->upper, site);
    TYPED(gbs_draw) draw[JOBS * VECTORS], standard;
    TYPED(gbs_quotients) quotients[JOBS * VECTORS];
    TYPED(gbs_shares) shares[JOBS * VECTORS];
    V d[JOBS * VECTORS];
    TYPED(gbs_overrelax_standard)(&standard);
    NO_UNROLL for (int u = 0; u < vectors; ++u)
    {
        const gbs_bounded_job *const job = &jobs[u / VECTORS];
        const T *const word = BODY(noise)(job, job->cells, site, u);
        TYPED(gbs_truncnorm_box)(&draw[u], BODY(mean)(at, u), s, lo, hi, BODY(word)(word));
    }
    NO_UNROLL for (int u = 0; u < vectors; ++u)
        TYPED(gbs_truncnorm_quotients)(&draw[u], &quotients[u]);
    NO_UNROLL for (int u = 0; u < vectors; ++u)
    {
        TYPED(gbs_truncnorm_ratios)(&draw[u], &quotients[u]);
        TYPED(gbs_truncnorm_densities)(&draw[u]);
    }
    NO_UNROLL for (int u = 0; u < vectors; ++u) d[u] = TYPED(gbs_overrelax_distance)(
        &draw[u], BODY(mean)(at, u), s, lo, hi, V_(load)(BODY(state)(at, u)));
    NO_UNROLL for (int u = 0; u < vectors; ++u) shares[u] =
        TYPED(gbs_overrelax_masses)(&draw[u], d[u]);
    NO_UNROLL for (int u = 0; u < vectors; ++u) d[u] =
        TYPED(gbs_overrelax_size)(standard, shares[u]);
    NO_UNROLL for (int u = 0; u < vectors; ++u)
    {
        const gbs_bounded_job *const job = &jobs[u / VECTORS];
        const V z = V_(load)(BODY(noise)(job, job->pass.z, site, u));
        shares[u] = TYPED(gbs_overrelax_move)(&draw[u], shares[u], d[u], z, r, beside);
    }
    NO_UNROLL for (int u = 0; u < vectors; ++u)
        TYPED(gbs_truncnorm_mixture_of)(&draw[u], shares[u].u, shares[u].v);
    TYPED(invert_abreast)(draw, d, vectors);
    NO_UNROLL for (int u = 0; u < vectors; ++u)
        V_(store)(BODY(state)(at, u),
                  TYPED(gbs_truncnorm_place)(&draw[u], BODY(mean)(at, u), s, lo, hi, d[u]));
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

/* A site's values, of as many jobs, at place p: sum [jobs][ROWS][WIDTH], of which row q is its. */
GBS_INLINE void BODY(site)(const gbs_bounded_job *jobs, int count, const T *sum, int q, int64_t p)
{
    const int64_t site = jobs->pass.site[p];
    BODY(places) at = {.vectors = count * VECTORS};
    for (int k = 0; k < count; ++k) {
        at.m[k] = sum + (k * ROWS + q) * WIDTH;
        at.x[k] = (T *)jobs[k].pass.x + p * jobs->pass.x_step;
    }
    if (!jobs->sites->bounded[site])
        NO_UNROLL for (int u = 0; u < at.vectors; ++u)
            V_(store)(BODY(state)(&at, u), BODY(mean)(&at, u));
    else if (jobs->sites->overrelax > 0)
        BODY(overrelax)(jobs, site, &at);
    else
        BODY(draw)(jobs, site, &at);
}

/* Makes the sums final, one row after the other. */
static const T *BODY(end)(T *sum, int rows, const gbs_bounded_job *jobs, int count, const T *panels,
                          int64_t p)
{
    for (int q = 0; q < rows; ++q) {
        BODY(site)(jobs, count, sum, q, p + q);
        for (int r = q + 1; r < rows; ++r) {
            const V a = V_(set1)(*panels++);
            for (int k = 0; k < count; ++k) {
                const T *const x = (const T *)jobs[k].pass.x + (p + q) * jobs->pass.x_step;
                T *const to = sum + (k * ROWS + r) * WIDTH;
                UNROLL for (int u = 0; u < VECTORS; ++u)
                    V_(store)(to + u * V_LANES,
                              V_(fma)(a, V_(load)(x + u * V_LANES), V_(load)(to + u * V_LANES)));
            }
        }
    }
    return panels;
}

/* The sums of the `rows` places from p on, into `waiting`; returns where their last panels start.
 */
ALWAYS_INLINE const T *BODY(sums)(const gbs_bounded_job *job, const T *panels, int64_t p,
                                  const int rows, T *waiting)
{
    const gbs_pass_job *const pass = &job->pass;
    const T *const x = pass->x;
    V sum[ROWS][VECTORS];
    panels = BODY(begin)(sum, rows, job, panels, p);
    panels = BODY(accumulate)(sum, rows, panels, x + (p + rows) * pass->x_step, pass->x_step,
                              pass->dim - p - rows);
    panels = BODY(accumulate)(sum, rows, panels, x, pass->x_step, p);
    UNROLL for (int r = 0; r < rows; ++r) UNROLL for (int u = 0; u < VECTORS; ++u)
        V_(store)(waiting + r * WIDTH + u * V_LANES, sum[r][u]);
    return panels;
}

/* Updates the `rows` places from p on; returns where the next group's panels start. */
ALWAYS_INLINE const T *BODY(group)(const gbs_bounded_job *jobs, int count, const T *panels,
                                   int64_t p, const int rows)
{
    _Alignas(GBS_ALIGNMENT) T waiting[JOBS * ROWS * WIDTH];
    const T *last = panels;
    for (int k = 0; k < count; ++k)
        last = BODY(sums)(&jobs[k], panels, p, rows, waiting + k * ROWS * WIDTH);
    return BODY(end)(waiting, rows, jobs, count, last, p);
}

static void SWEEP(const gbs_bounded_job *jobs, int count)
{
    const T *panels = jobs->pass.panels;
    const int64_t dim = jobs->pass.dim;
    int64_t p = 0;
    for (; p + ROWS <= dim; p += ROWS)
        panels = BODY(group)(jobs, count, panels, p, ROWS);
#if ROWS > 1
    switch (dim - p) {
#if ROWS > 4
    case 7: BODY(group)(jobs, count, panels, p, 7); break;
    case 6: BODY(group)(jobs, count, panels, p, 6); break;
    case 5: BODY(group)(jobs, count, panels, p, 5); break;
    case 4: BODY(group)(jobs, count, panels, p, 4); break;
#endif
    case 3: BODY(group)(jobs, count, panels, p, 3); break;
    case 2: BODY(group)(jobs, count, panels, p, 2); break;
    case 1: BODY(group)(jobs, count, panels, p, 1); break;
    default: break;
    }
#endif
}

#undef BODY_JOIN
#undef BODY_EXPAND
#undef BODY
#undef WIDTH
#undef VECTORS
#undef JOBS
#undef ROWS
#undef SWEEP
