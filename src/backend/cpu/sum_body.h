/* What a row's sum is made of, for sweep_body.h and bounded_body.h, which say what the names stand
 * for. */

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
