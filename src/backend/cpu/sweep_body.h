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

/* sum[r] += a x for `places` places in a row; the rows' coefficients follow each other. */
ALWAYS_INLINE const T *BODY(accumulate)(V sum[ROWS][VECTORS], const int rows, const T *panels,
                                        const T *x, int64_t x_step, int64_t places)
{
    for (int64_t k = 0; k < places; ++k, x += x_step, panels += rows) {
        V values[VECTORS];
        UNROLL for (int u = 0; u < VECTORS; ++u) values[u] = V_(load)(x + u * V_LANES);
        UNROLL for (int r = 0; r < rows; ++r)
        {
            const V a = V_(set1)(panels[r]);
            UNROLL for (int u = 0; u < VECTORS; ++u) sum[r][u] = V_(fma)(a, values[u], sum[r][u]);
        }
    }
    return panels;
}

/* Updates the `rows` places from p on; returns where the next group's panels start. */
ALWAYS_INLINE const T *BODY(group)(const gbs_pass_job *job, const T *panels, int64_t p,
                                   const int rows, const int solving)
{
    T *const here = (T *)job->x + p * job->x_step;
    const T *const head = panels;
    V sum[ROWS][VECTORS];

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
        panels = BODY(accumulate)(sum, rows, panels, here + rows * job->x_step, job->x_step,
                                  job->dim - p - rows);
    }
    panels = BODY(accumulate)(sum, rows, panels, job->x, job->x_step, p);

    UNROLL for (int q = 0; q < rows; ++q)
    {
        UNROLL for (int u = 0; u < VECTORS; ++u)
        {
            if (solving)
                sum[q][u] = V_(div)(sum[q][u], V_(set1)(head[q]));
            V_(store)(here + q * job->x_step + u * V_LANES, sum[q][u]);
        }
        UNROLL for (int r = q + 1; r < rows; ++r)
        {
            const V a = V_(set1)(*panels++);
            UNROLL for (int u = 0; u < VECTORS; ++u) sum[r][u] = V_(fma)(a, sum[q][u], sum[r][u]);
        }
    }
    return panels;
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

#undef BODY_JOIN
#undef BODY_EXPAND
#undef BODY
#undef VECTORS
#undef ROWS
#undef SWEEP
#undef SOLVE
