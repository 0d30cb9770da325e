/* backend/constrained.h for one type and block width; included by constrained_kernels_body.h, which
 * says what T, V and the other names stand for.  VECTORS vectors of chains go side by side, so that
 * a coefficient is read once for all of them and a draw's long chain of operations has company. */

#define BODY_JOIN(a, b) a##_##b
#define BODY_EXPAND(a, b) BODY_JOIN(a, b)
#define BODY(name) BODY_EXPAND(name, SHAPE)
#define EACH UNROLL for (int u = 0; u < VECTORS; ++u)
#define AT(row) ((row) + u * V_LANES)

/* ---- rows ---- */

static void BODY(rows_begin)(const gbs_constrained_job *job)
{
    const gbs_row_lists *const rows = job->rows;
    const T *const value = rows->entry_value;
    for (int64_t r = 0; r < rows->rows; ++r) {
        V sum[VECTORS];
        EACH sum[u] = V_(set1)(0);
        for (int64_t e = rows->entry_start[r]; e < rows->entry_start[r + 1]; ++e) {
            const T *const x = (const T *)job->x + rows->entry_place[e] * job->x_row;
            const V a = V_(set1)(value[e]);
            EACH sum[u] = V_(fma)(a, V_(load)(AT(x)), sum[u]);
        }
        T *const to = (T *)job->sums + r * WIDTH;
        EACH V_(store)(AT(to), sum[u]);
    }
}

/* How far `value` may go until it meets its bounds, one finite or both, one of which a step down
 * meets and the other a step up. */
ALWAYS_INLINE void BODY(narrow)(V low[VECTORS], V up[VECTORS], const T bound[2], T inverse,
                                const V value[VECTORS])
{
    const V by = V_(set1)(inverse);
    UNROLL for (int k = 0; k < 2; ++k)
    {
        V way[VECTORS];
        if (bound[k] == (k == 0 ? (T)-INFINITY : (T)INFINITY))
            continue;
        EACH way[u] = V_(mul)(V_(sub)(V_(set1)(bound[k]), value[u]), by);
        if ((inverse < 0) == (k == 0)) {
            EACH up[u] = V_(min)(way[u], up[u]);
        } else {
            EACH low[u] = V_(max)(way[u], low[u]);
        }
    }
}

ALWAYS_INLINE int64_t BODY(first_move)(const gbs_row_lists *rows, int64_t i)
{
    return rows->rows > 0 ? rows->move_start[i] : 0;
}

static void BODY(rows_narrow)(const gbs_constrained_job *job, int64_t i, V low[VECTORS],
                              V up[VECTORS])
{
    const gbs_row_lists *const rows = job->rows;
    const T *const bounds = rows->bounds, *const inverse = rows->move_inverse;
    const int64_t first = BODY(first_move)(rows, i), end = BODY(first_move)(rows, i + 1);
    for (int64_t e = first; e < end; ++e) {
        const int64_t r = rows->move_row[e];
        const T *const from = (const T *)job->sums + r * WIDTH;
        V sum[VECTORS];
        EACH sum[u] = V_(load)(AT(from));
        BODY(narrow)(low, up, bounds + 2 * r, inverse[e], sum);
    }
}

static void BODY(rows_move)(const gbs_constrained_job *job, int64_t i, const V step[VECTORS])
{
    const gbs_row_lists *const rows = job->rows;
    const T *const change = rows->move_change;
    const int64_t first = BODY(first_move)(rows, i), end = BODY(first_move)(rows, i + 1);
    for (int64_t e = first; e < end; ++e) {
        T *const sum = (T *)job->sums + rows->move_row[e] * WIDTH;
        const V by = V_(set1)(change[e]);
        EACH V_(store)(AT(sum), V_(fma)(by, step[u], V_(load)(AT(sum))));
    }
}

/* A sum on the wrong side of its bound, by rounding or a long way, gives an interval that leads
 * back inside.  One that several such sums have closed holds `here` again, so that the chain can
 * stay where it is.  Zero has one sign. */
ALWAYS_INLINE void BODY(open)(V low[VECTORS], V up[VECTORS], const V here[VECTORS])
{
    const V zero = V_(set1)(0);
    EACH
    {
        const V lower = V_(add)(low[u], zero), upper = V_(add)(up[u], zero);
        low[u] = V_(select)(V_(less)(lower, upper), V_(min)(lower, here[u]), lower);
        up[u] = V_(select)(V_(less)(lower, upper), V_(max)(upper, here[u]), upper);
    }
}

ALWAYS_INLINE void BODY(unbounded)(V low[VECTORS], V up[VECTORS])
{
    EACH low[u] = V_(set1)((T)-INFINITY);
    EACH up[u] = V_(set1)((T)INFINITY);
}

/* ---- words ---- */

static void BODY(words)(const gbs_normals_job *job, const uint8_t *kind)
{
    const gbs_philox_key key = gbs_philox_schedule(job->seed);
    for (int u = 0; u < VECTORS; ++u) {
        gbs_philox_fixed fixed[WORD_VECTORS];
        for (int h = 0; h < WORD_VECTORS; ++h)
            fixed[h] = fix_chains(job, &key, job->chain + u * V_LANES + h, WORD_VECTORS - 1);
        for (int64_t k = 0; k < job->sites; k += CHUNK) {
            W words[CHUNK];
            const int64_t count = chunk_at(job, k);
            TYPED(words)(&key, fixed, job->first_site + k, count, words, (int64_t)sizeof *words);
            for (int64_t i = 0; i < count; ++i)
                if (kind[job->first_site + k + i] == GBS_STEP_HELD)
                    memcpy((T *)job->z + (k + i) * job->z_row + u * V_LANES, &words[i],
                           sizeof words[i]);
        }
    }
}

/* ---- whitened ---- */

/* y = (L' (x - mu))_i of the state as it is. */
ALWAYS_INLINE void BODY(whiten)(const gbs_constrained_job *job, const T *factor, int64_t i,
                                V y[VECTORS])
{
    const T *const mean = job->panels;
    const T *x = (const T *)job->x + i * job->x_row;
    EACH y[u] = V_(set1)(0);
    for (int64_t j = i; j < job->dim; ++j, x += job->x_row) {
        const V l = V_(set1)(factor[j - i]), m = V_(set1)(mean[j]);
        EACH y[u] = V_(fma)(l, V_(sub)(V_(load)(AT(x)), m), y[u]);
    }
}

/* Places from .. to - 1 move along `column`, say what they leave to the next step, or both. */
ALWAYS_INLINE void BODY(stretch)(const gbs_constrained_job *job, int64_t from, int64_t to,
                                 const T *column, const V step[VECTORS], const T *inverse,
                                 V low[VECTORS], V up[VECTORS])
{
    const T *bounds = (const T *)job->bounds + 2 * from;
    T *x = (T *)job->x + from * job->x_row;
    for (int64_t j = from; j < to; ++j, x += job->x_row, bounds += 2) {
        V value[VECTORS];
        EACH value[u] = V_(load)(AT(x));
        if (column != NULL) {
            const V w = V_(set1)(column[j]), lo = V_(set1)(bounds[0]), hi = V_(set1)(bounds[1]);
            EACH value[u] = V_(fma)(w, step[u], value[u]);
            EACH value[u] = V_(min)(V_(max)(value[u], lo), hi);
            EACH V_(store)(AT(x), value[u]);
        }
        if (inverse != NULL)
            BODY(narrow)(low, up, bounds, inverse[j], value);
    }
}

/* One walk over the sites: places 0 .. moved - 1 take the step before, and 0 .. asked - 1 are asked
 * for the next one. */
static void BODY(walk)(const gbs_constrained_job *job, const T *column, int64_t moved,
                       const V step[VECTORS], const T *inverse, int64_t asked, V low[VECTORS],
                       V up[VECTORS])
{
    const int64_t both = moved < asked ? moved : asked;
    V l[VECTORS], h[VECTORS];
    BODY(unbounded)(l, h);
    BODY(stretch)(job, 0, both, column, step, inverse, l, h);
    BODY(stretch)(job, both, moved, column, step, NULL, l, h);
    BODY(stretch)(job, both, asked, NULL, step, inverse, l, h);
    EACH low[u] = l[u];
    EACH up[u] = h[u];
}

static void BODY(whitened)(const gbs_constrained_job *job)
{
    const int64_t dim = job->dim;
    const T *panel = (const T *)job->panels + dim, *column = NULL;
    V step[VECTORS];
    int64_t moved = 0;
    BODY(rows_begin)(job);
    EACH step[u] = V_(set1)(0);
    for (int64_t i = 0; i < dim; panel += dim + i + 2, ++i) {
        const T *const noise = (const T *)job->noise + i * job->noise_row;
        const T *const inverse = panel + dim + 1;
        const int held = job->kind[i] == GBS_STEP_HELD;
        V y[VECTORS], low[VECTORS], up[VECTORS];
        if (job->kind[i] == GBS_STEP_NONE)
            continue;
        BODY(walk)(job, column, moved, step, inverse, held ? i + 1 : 0, low, up);
        BODY(whiten)(job, panel, i, y);
        if (held) {
            BODY(rows_narrow)(job, i, low, up);
            EACH step[u] = V_(set1)(0);
            BODY(open)(low, up, step);
            EACH y[u] = V_(neg)(y[u]);
            TYPED(draw)(VECTORS, y, V_(set1)(1), low, up, noise, step);
        } else {
            EACH step[u] = V_(sub)(V_(load)(AT(noise)), y[u]);
        }
        BODY(rows_move)(job, i, step);
        column = panel + dim - i;
        moved = i + 1;
    }
    V low[VECTORS], up[VECTORS];
    BODY(walk)(job, column, moved, step, NULL, 0, low, up);
}

/* ---- site by site ---- */

/* sum += a x over `places` places from x on. */
ALWAYS_INLINE const T *BODY(add)(V sum[VECTORS], const T *panel, const T *x, int64_t x_step,
                                 int64_t places)
{
    for (int64_t k = 0; k < places; ++k, x += x_step, ++panel) {
        const V a = V_(set1)(*panel);
        EACH sum[u] = V_(fma)(a, V_(load)(AT(x)), sum[u]);
    }
    return panel;
}

/* x_i between its bounds and those that the rows leave it. */
ALWAYS_INLINE void BODY(hold)(const gbs_constrained_job *job, int64_t site, const T *bound,
                              const T *x, V low[VECTORS], V up[VECTORS])
{
    V here[VECTORS];
    BODY(unbounded)(low, up);
    BODY(rows_narrow)(job, site, low, up);
    EACH here[u] = V_(add)(V_(load)(AT(x)), V_(set1)(0));
    EACH low[u] = V_(max)(V_(add)(here[u], low[u]), V_(set1)(bound[0]));
    EACH up[u] = V_(min)(V_(add)(here[u], up[u]), V_(set1)(bound[1]));
    BODY(open)(low, up, here);
}

static void BODY(sweep)(const gbs_constrained_job *job)
{
    const int64_t dim = job->dim, last = job->backward ? dim - 1 : 0;
    const int64_t x_step = job->backward ? -job->x_row : job->x_row;
    T *const x = (T *)job->x + last * job->x_row;
    const T *panel = job->panels;
    BODY(rows_begin)(job);
    for (int64_t p = 0; p < dim; ++p) {
        const int64_t site = job->site[p], place = job->backward ? dim - 1 - p : p;
        const T *const noise = (const T *)job->noise + site * job->noise_row;
        T *const here = x + p * x_step;
        const V s = V_(set1)(panel[0]), c = V_(set1)(panel[1]);
        V next[VECTORS], low[VECTORS], up[VECTORS];
        EACH next[u] = c;
        if (job->kind[site] == GBS_STEP_FREE)
            EACH next[u] = V_(fma)(s, V_(load)(AT(noise)), c);
        panel = BODY(add)(next, panel + 2, here + x_step, x_step, dim - p - 1);
        panel = BODY(add)(next, panel, x, x_step, p);
        if (job->kind[site] == GBS_STEP_NONE)
            continue;
        if (job->kind[site] == GBS_STEP_HELD) {
            BODY(hold)(job, site, (const T *)job->bounds + 2 * place, here, low, up);
            TYPED(draw)(VECTORS, next, s, low, up, noise, next);
        }
        EACH low[u] = V_(sub)(next[u], V_(load)(AT(here)));
        EACH V_(store)(AT(here), next[u]);
        BODY(rows_move)(job, site, low);
    }
}

#undef AT
#undef EACH
#undef BODY
#undef BODY_EXPAND
#undef BODY_JOIN
