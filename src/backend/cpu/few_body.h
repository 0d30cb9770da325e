/* The three steps of a panel of rows for CHAINS chains (backend.h, gbs_few_job): the canonical
 * order of docs/reproducibility.md, one accumulator a row and chain.  A row's sum waits in memory,
 * exactly, between steps.
 *
 * About the diagonal a vector has rows that take the value and rows that do not: both are computed
 * and chosen between, since adding 0 times a value is not the same as leaving it out. */

#define ROWS (VECTORS * V_LANES)
#define FEW(idea) FEW_NAME(idea, T_NAME, CHAINS)

static void FEW(add)(const void *columns, int64_t places, const void *x, int64_t x_step, void *sums)
{
    const T *restrict a = columns;
    const T *restrict value = x;
    T *restrict const to = sums;
    V sum[CHAINS][VECTORS];
    UNROLL for (int c = 0; c < CHAINS; ++c) UNROLL for (int v = 0; v < VECTORS; ++v) sum[c][v] =
        V_(load)(to + c * ROWS + v * V_LANES);
    for (int64_t k = 0; k < places; ++k, a += ROWS, value += x_step) {
        V column[VECTORS];
        UNROLL for (int v = 0; v < VECTORS; ++v)
            __builtin_prefetch((const char *)(a + v * V_LANES) + FEW_AHEAD);
        UNROLL for (int v = 0; v < VECTORS; ++v) column[v] = V_(load)(a + v * V_LANES);
        UNROLL for (int c = 0; c < CHAINS; ++c)
        {
            const V xk = V_(set1)(value[c]);
            UNROLL for (int v = 0; v < VECTORS; ++v) sum[c][v] = V_(fma)(column[v], xk, sum[c][v]);
        }
    }
    UNROLL for (int c = 0; c < CHAINS; ++c) UNROLL for (int v = 0; v < VECTORS; ++v)
        V_(store)(to + c * ROWS + v * V_LANES, sum[c][v]);
}

/* sum of a vector of rows += column * x, in lanes from `lane` on where `from`, else in those before
 * it. */
ALWAYS_INLINE void FEW(part)(const T *column, V x, int64_t lane, const int from, T *sums)
{
    const V old = V_(load)(sums), new = V_(fma)(V_(load)(column), x, old);
    W mask;
    memcpy(&mask, FEW_MASK(lane), sizeof mask);
    const W change = W_(and)(W_(xor)(V_(bits)(old), V_(bits)(new)), mask);
    V_(store)(sums, V_(from_bits)(W_(xor)(V_(bits)(from ? old : new), change)));
}

ALWAYS_INLINE void FEW(whole)(const T *column, V x, int64_t first, int64_t end, T *sums)
{
    for (int64_t r = first; r < end; r += V_LANES)
        V_(store)(sums + r, V_(fma)(V_(load)(column + r), x, V_(load)(sums + r)));
}

static void FEW(begin)(const gbs_few_job *job)
{
    const T *const s = job->panel, *const centre = s + ROWS, *const square = job->square;
    const T *const x = job->x;
    T *const sums = job->sums;
    for (int c = 0; c < CHAINS; ++c)
        for (int64_t r = 0; r < ROWS; ++r)
            sums[c * ROWS + r] = 0;
    for (int64_t r = 0; r < job->rows; ++r) {
        const T *const z = (const T *)job->z + job->site[r] * job->z_row;
        for (int c = 0; c < CHAINS; ++c) {
            T sum = FMA(s[r], z[c], centre[r]);
            if (job->relaxed)
                sum = FMA(square[r * ROWS + r], x[r * job->x_step + c], sum);
            sums[c * ROWS + r] = sum;
        }
    }
    for (int64_t k = 1; k < job->rows; ++k)
        for (int c = 0; c < CHAINS; ++c) {
            const V xk = V_(set1)(x[k * job->x_step + c]);
            const int64_t cut = k / V_LANES * V_LANES; /* rows before k take it */
            FEW(whole)(square + k * ROWS, xk, 0, cut, sums + c * ROWS);
            if (cut < k)
                FEW(part)(square + k * ROWS + cut, xk, k - cut, 0, sums + c * ROWS + cut);
        }
}

static void FEW(finish)(const gbs_few_job *job)
{
    const T *const square = job->square;
    T *const x = job->x, *const sums = job->sums;
    for (int64_t q = 0; q < job->rows; ++q)
        for (int c = 0; c < CHAINS; ++c) {
            const T xq = sums[c * ROWS + q];
            x[q * job->x_step + c] = xq;
            const V all = V_(set1)(xq);
            const int64_t cut = (q + 1) / V_LANES * V_LANES; /* rows behind q take it */
            const int64_t whole = cut < q + 1 ? cut + V_LANES : cut;
            if (cut < q + 1)
                FEW(part)(square + q * ROWS + cut, all, q + 1 - cut, 1, sums + c * ROWS + cut);
            FEW(whole)(square + q * ROWS, all, whole, ROWS, sums + c * ROWS);
        }
}

#undef ROWS
#undef FEW
#undef CHAINS
#undef VECTORS
