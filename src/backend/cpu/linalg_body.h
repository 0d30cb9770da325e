/* The inner loops themselves, included once per instruction set.  The including file defines
 * the vocabulary: vec, WIDTH doubles in a vec, ROWS x VECS the register tile, LOAD, STORE
 * (aligned or not), SPREAD, FMA(a, b, c) = a b + c and FNMA(a, b, c) = -a b + c, each rounded
 * once, DIV, and KERNELS, the name of the table.  A lane is an entry; no sum is split. */
#include "backend/cpu/linalg_kernels.h"

#include <math.h>

#define COLUMNS (VECS * WIDTH)

_Static_assert(ROWS <= GBS_LINALG_MAX_ROWS && COLUMNS <= GBS_LINALG_MAX_COLUMNS,
               "the drivers' buffers hold the largest tile");
_Static_assert(GBS_LINALG_DEPTH % ROWS == 0, "whole tiles fill a block");

/* The tile stays in registers for the whole depth; `negate` is a constant at every call. */
static inline __attribute__((always_inline)) void tile(int negate, int64_t depth,
                                                       gbs_linalg_operand a,
                                                       const double *restrict panel,
                                                       double *restrict c, ptrdiff_t ld)
{
    vec sum[ROWS][VECS];
    for (int i = 0; i < ROWS; ++i)
        for (int v = 0; v < VECS; ++v)
            sum[i][v] = LOAD(c + i * ld + v * WIDTH);
    for (int64_t k = 0; k < depth; ++k) {
        vec b[VECS];
        for (int v = 0; v < VECS; ++v)
            b[v] = LOAD(panel + v * WIDTH);
        for (int i = 0; i < ROWS; ++i) {
            const vec f = SPREAD(a.at[i * a.row_step]);
            for (int v = 0; v < VECS; ++v)
                sum[i][v] = negate ? FNMA(f, b[v], sum[i][v]) : FMA(f, b[v], sum[i][v]);
        }
        panel += COLUMNS;
        a.at += a.depth_step;
    }
    for (int i = 0; i < ROWS; ++i)
        for (int v = 0; v < VECS; ++v)
            STORE(c + i * ld + v * WIDTH, sum[i][v]);
}

static void add(int64_t depth, gbs_linalg_operand a, const double *panel, double *c, ptrdiff_t ld)
{
    tile(0, depth, a, panel, c, ld);
}

static void subtract(int64_t depth, gbs_linalg_operand a, const double *panel, double *c,
                     ptrdiff_t ld)
{
    tile(1, depth, a, panel, c, ld);
}

/* Row j of the panel, from k = first on: fused steps against the rows before it, then the
 * division. */
static void solve_row(int64_t first, int64_t j, const double *l, double *panel)
{
    double *const row = panel + j * COLUMNS;
    for (int v = 0; v < VECS; ++v) {
        vec r = LOAD(row + v * WIDTH);
        for (int64_t k = first; k < j; ++k)
            r = FNMA(SPREAD(l[k]), LOAD(panel + k * COLUMNS + v * WIDTH), r);
        STORE(row + v * WIDTH, DIV(r, SPREAD(l[j])));
    }
}

static void solve_panel(int64_t n, const double *l, ptrdiff_t ld, double *panel)
{
    for (int64_t top = 0; top < n; top += ROWS) {
        const int whole = n - top >= ROWS;
        const int64_t end = whole ? top + ROWS : n;
        if (whole)
            tile(1, top, (gbs_linalg_operand){l + top * ld, ld, 1}, panel, panel + top * COLUMNS,
                 COLUMNS);
        for (int64_t j = top; j < end; ++j)
            solve_row(whole ? top : 0, j, l + j * ld, panel);
    }
}

static void axpy(int64_t n, double alpha, const double *restrict x, double *restrict y)
{
    const vec f = SPREAD(alpha);
    int64_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH)
        STORE(y + i, FMA(f, LOAD(x + i), LOAD(y + i)));
    for (; i < n; ++i)
        y[i] = __builtin_fma(alpha, x[i], y[i]);
}

static void add_squares(int64_t n, const double *restrict x, double *restrict y)
{
    int64_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        const vec f = LOAD(x + i);
        STORE(y + i, FMA(f, f, LOAD(y + i)));
    }
    for (; i < n; ++i)
        y[i] = __builtin_fma(x[i], x[i], y[i]);
}

/* Right-looking: column j is finished, then taken from the rest.  `!(>)` also refuses NaN. */
static int64_t factor(int64_t n, double *a, ptrdiff_t ld, const double *floor, double *pivot)
{
    double column[GBS_LINALG_DEPTH];
    for (int64_t j = 0; j < n; ++j) {
        const double r = a[j * ld + j];
        if (!(r > floor[j])) {
            *pivot = r;
            return j;
        }
        const double root = sqrt(r);
        a[j * ld + j] = root;
        for (int64_t i = j + 1; i < n; ++i)
            column[i] = a[i * ld + j] /= root;
        for (int64_t i = j + 1; i < n; ++i)
            axpy(i - j, -column[i], column + j + 1, a + i * ld + j + 1);
    }
    return -1;
}

/* Eight rows at a time hide the latency of their eight separate chains. */
static void solve_forward(int64_t n, const double *l, ptrdiff_t ld, double *x)
{
    enum { GROUP = 8 };
    for (int64_t top = 0; top < n; top += GROUP) {
        const int64_t end = n - top < GROUP ? n : top + GROUP;
        int64_t done = 0;
        if (end - top == GROUP) {
            const double *const row = l + top * ld;
            double r[GROUP];
            for (int i = 0; i < GROUP; ++i)
                r[i] = x[top + i];
            for (; done < top; ++done)
                for (int i = 0; i < GROUP; ++i)
                    r[i] = __builtin_fma(-row[i * ld + done], x[done], r[i]);
            for (int i = 0; i < GROUP; ++i)
                x[top + i] = r[i];
        }
        for (int64_t i = top; i < end; ++i) {
            double r = x[i];
            for (int64_t k = done; k < i; ++k)
                r = __builtin_fma(-l[i * ld + k], x[k], r);
            x[i] = r / l[i * ld + i];
        }
    }
}

/* As x_i becomes final, row i of L, contiguous, takes it from all x_k above. */
static void solve_backward(int64_t n, const double *l, ptrdiff_t ld, double *x)
{
    for (int64_t i = n - 1; i >= 0; --i) {
        x[i] /= l[i * ld + i];
        axpy(i, -x[i], l + i * ld, x);
    }
}

const gbs_linalg_kernels KERNELS = {
    .name = KERNELS_NAME,
    .rows = ROWS,
    .columns = COLUMNS,
    .add = add,
    .subtract = subtract,
    .solve_panel = solve_panel,
    .factor = factor,
    .axpy = axpy,
    .add_squares = add_squares,
    .solve_forward = solve_forward,
    .solve_backward = solve_backward,
};
