/* One pass over a block of chains, for one type, width and instruction set: the canonical order
 * of docs/reproducibility.md, one accumulator a row, fused.
 *
 * ROWS rows share each load of x, and their sums run side by side, which hides the latency of
 * the multiply-add.  Within a row the order is untouched: its old values at the group's later
 * places come before those further on, its new values at the group's earlier places after those
 * further back. */

#define BODY_JOIN(a, b) a##_in_##b
#define BODY_EXPAND(a, b) BODY_JOIN(a, b)
#define BODY(name) BODY_EXPAND(name, SWEEP)

#include "backend/cpu/sum_body.h"

/* Starts the sums of the `rows` places from p on; a sweep's take their old values at each other's
 * places. */
ALWAYS_INLINE const T *BODY(begin)(V sum[ROWS][VECTORS], const int rows, const gbs_pass_job *job,
                                   const T *panels, int64_t p, const int solving)
{
    const T *const here = (const T *)job->x + p * job->x_step;
    UNROLL for (int r = 0; r < rows; ++r)
    {
        const T *const z = (const T *)job->z + job->site[p + r] * job->z_row;
        if (solving) {
            UNROLL for (int u = 0; u < VECTORS; ++u) sum[r][u] = V_(load)(z + u * V_LANES);
            panels += 1;
            continue;
        }
        const V s = V_(set1)(panels[0]), c = V_(set1)(panels[1]);
        UNROLL for (int u = 0; u < VECTORS; ++u) sum[r][u] =
            V_(fma)(s, V_(load)(z + u * V_LANES), c);
        panels += 2;
        if (job->relaxed) {
            const V a = V_(set1)(*panels++);
            UNROLL for (int u = 0; u < VECTORS; ++u) sum[r][u] =
                V_(fma)(a, V_(load)(here + r * job->x_step + u * V_LANES), sum[r][u]);
        }
    }
    if (!solving) {
        UNROLL for (int r = 0; r < rows; ++r)
        {
            UNROLL for (int q = r + 1; q < rows; ++q)
            {
                const V a = V_(set1)(*panels++);
                UNROLL for (int u = 0; u < VECTORS; ++u) sum[r][u] =
                    V_(fma)(a, V_(load)(here + q * job->x_step + u * V_LANES), sum[r][u]);
            }
        }
    }
    return panels;
}

/* Makes them final, one after the other; solving divides by `head`. */
ALWAYS_INLINE const T *BODY(end)(V sum[ROWS][VECTORS], const int rows, const gbs_pass_job *job,
                                 const T *panels, int64_t p, const T *head, const int solving)
{
    T *const here = (T *)job->x + p * job->x_step;
    UNROLL for (int q = 0; q < rows; ++q)
    {
        UNROLL for (int u = 0; u < VECTORS; ++u)
        {
            if (solving)
                sum[q][u] = V_(div)(sum[q][u], V_(set1)(head[q]));
            V_(store)(here + q * job->x_step + u * V_LANES, sum[q][u]);
        }
        UNROLL for (int r = 1; r < rows; ++r)
        {
            if (r <= q)
                continue;
            const V a = V_(set1)(*panels++);
            UNROLL for (int u = 0; u < VECTORS; ++u) sum[r][u] = V_(fma)(a, sum[q][u], sum[r][u]);
        }
    }
    return panels;
}

/* Updates the `rows` places from p on; returns where the next group's panels start. */
ALWAYS_INLINE const T *BODY(group)(const gbs_pass_job *job, const T *panels, int64_t p,
                                   const int rows, const int solving)
{
    const T *const head = panels, *const x = job->x;
    V sum[ROWS][VECTORS];
    panels = BODY(begin)(sum, rows, job, panels, p, solving);
    if (!solving)
        panels = BODY(accumulate)(sum, rows, panels, x + (p + rows) * job->x_step, job->x_step,
                                  job->dim - p - rows);
    panels = BODY(accumulate)(sum, rows, panels, x, job->x_step, p);
    return BODY(end)(sum, rows, job, panels, p, head, solving);
}

/* Whole groups, then the rest one shape at a time, so that every shape stays in registers. */
ALWAYS_INLINE void BODY(pass)(const gbs_pass_job *job, const int solving)
{
    const T *panels = job->panels;
    int64_t p = 0;
    for (; p + ROWS <= job->dim; p += ROWS)
        panels = BODY(group)(job, panels, p, ROWS, solving);
#if ROWS > 1
    switch (job->dim - p) {
#if ROWS > 4
    case 7: BODY(group)(job, panels, p, 7, solving); break;
    case 6: BODY(group)(job, panels, p, 6, solving); break;
    case 5: BODY(group)(job, panels, p, 5, solving); break;
    case 4: BODY(group)(job, panels, p, 4, solving); break;
#endif
    case 3: BODY(group)(job, panels, p, 3, solving); break;
    case 2: BODY(group)(job, panels, p, 2, solving); break;
    case 1: BODY(group)(job, panels, p, 1, solving); break;
    default: break;
    }
#endif
}

static void SWEEP(const gbs_pass_job *job)
{
    BODY(pass)(job, 0);
}

static void SOLVE(const gbs_pass_job *job)
{
    BODY(pass)(job, 1);
}

#ifdef TILE
/* ---- a panel of rows in steps (gbs_tile_job): its groups' sums wait in memory between them ----
 */

#define WIDTH (VECTORS * V_LANES)

ALWAYS_INLINE void BODY(read)(V sum[ROWS][VECTORS], const int rows, const T *from)
{
    UNROLL for (int r = 0; r < rows; ++r) UNROLL for (int u = 0; u < VECTORS; ++u) sum[r][u] =
        V_(load)(from + r * WIDTH + u * V_LANES);
}

ALWAYS_INLINE void BODY(write)(V sum[ROWS][VECTORS], const int rows, T *to)
{
    UNROLL for (int r = 0; r < rows; ++r) UNROLL for (int u = 0; u < VECTORS; ++u)
        V_(store)(to + r * WIDTH + u * V_LANES, sum[r][u]);
}

/* Asks for the group's share of what the next step reads: it comes from afar, and is small beside
 * what is computed meanwhile. */
ALWAYS_INLINE void BODY(ahead)(const gbs_tile_job *job, int64_t q, const int rows)
{
    const int64_t bytes = job->places * WIDTH * (int64_t)sizeof(T);
    const char *const next = job->next;
    for (int64_t at = bytes * q / job->rows; at < bytes * (q + rows) / job->rows; at += 64)
        __builtin_prefetch(next + at, 0, 2);
}

/* What a step does with the group of `rows` rows, `q` rows into the panel. */
ALWAYS_INLINE const T *BODY(step)(const gbs_tile_job *job, const T *panels, int64_t q,
                                  const int rows, const int step)
{
    const gbs_pass_job *const pass = job->pass;
    const int64_t p = job->first + q;
    const T *const x = pass->x;
    T *const sums = (T *)job->sums + q * WIDTH;
    V sum[ROWS][VECTORS];
    if (step == 0)
        panels = BODY(begin)(sum, rows, pass, panels, p, 0);
    else
        BODY(read)(sum, rows, sums);
    if (step == 0) /* old values at the panel's later places */
        panels = BODY(accumulate)(sum, rows, panels, x + (p + rows) * pass->x_step, pass->x_step,
                                  job->rows - q - rows);
    else if (step == 1) {
        BODY(ahead)(job, q, rows);
        panels = BODY(accumulate)(sum, rows, panels, x + job->from * pass->x_step, pass->x_step,
                                  job->places);
    } else /* new values at its earlier ones */
        panels =
            BODY(accumulate)(sum, rows, panels, x + job->first * pass->x_step, pass->x_step, q);
    if (step == 2)
        return BODY(end)(sum, rows, pass, panels, p, NULL, 0);
    BODY(write)(sum, rows, sums);
    return panels;
}

ALWAYS_INLINE void BODY(panel)(const gbs_tile_job *job, const int step)
{
    const T *panels = job->coefficients;
    int64_t q = 0;
    for (; q + ROWS <= job->rows; q += ROWS)
        panels = BODY(step)(job, panels, q, ROWS, step);
#if ROWS > 1
    switch (job->rows - q) {
    case 3: BODY(step)(job, panels, q, 3, step); break;
    case 2: BODY(step)(job, panels, q, 2, step); break;
    case 1: BODY(step)(job, panels, q, 1, step); break;
    default: break;
    }
#endif
}

static void TILE(begin)(const gbs_tile_job *job)
{
    BODY(panel)(job, 0);
}

static void TILE(add)(const gbs_tile_job *job)
{
    BODY(panel)(job, 1);
}

static void TILE(finish)(const gbs_tile_job *job)
{
    BODY(panel)(job, 2);
}
#undef WIDTH
#undef TILE
#endif

#undef BODY_JOIN
#undef BODY_EXPAND
#undef BODY
#undef VECTORS
#undef ROWS
#undef SWEEP
#undef SOLVE
