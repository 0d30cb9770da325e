/* Blocked Cholesky, triangular inverse and its Gram matrix.  Right-looking: when a block of k
 * is finished, all later entries take it at once.  An entry therefore still receives its k in
 * ascending order, one fused step each, and waits in memory, exactly, between blocks. */
#include "backend/cpu/linalg_kernels.h"

#include <string.h>

/* Buffers of one call, on the stack: about 18 KiB. */
typedef struct buffers {
    _Alignas(GBS_ALIGNMENT) double panel[GBS_LINALG_DEPTH * GBS_LINALG_MAX_COLUMNS];
    _Alignas(GBS_ALIGNMENT) double operand[GBS_LINALG_DEPTH * GBS_LINALG_MAX_ROWS];
    _Alignas(GBS_ALIGNMENT) double tile[GBS_LINALG_MAX_ROWS * GBS_LINALG_MAX_COLUMNS];
} buffers;

typedef void tile_function(int64_t depth, gbs_linalg_operand a, const double *panel, double *c,
                           ptrdiff_t ld);

/* The rectangle c[0 .. rows-1, 0 .. columns-1] that takes a times the panel.  Of row i only
 * columns j <= i + diagonal belong to it. */
typedef struct target {
    double *c;
    ptrdiff_t ld;
    int64_t rows, columns, diagonal;
} target;

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How many columns of the target's row i there are. */
static size_t row_bytes(const target *to, int64_t i)
{
    const int64_t count = smaller(to->columns, i + to->diagonal + 1);
    return count > 0 ? (size_t)count * sizeof *to->c : 0;
}

/* A tile cut by an edge or the diagonal: computed aside, so that nothing else is touched. */
static void edge_tile(const gbs_linalg_kernels *kernels, tile_function *apply, int64_t depth,
                      gbs_linalg_operand a, const target *to, int64_t top, buffers *work)
{
    const int64_t rows = smaller(kernels->rows, to->rows - top);
    const gbs_linalg_operand copy = {work->operand, 1, kernels->rows};
    if (rows < kernels->rows) {
        memset(work->operand, 0, sizeof work->operand);
        for (int64_t i = 0; i < rows; ++i)
            for (int64_t k = 0; k < depth; ++k)
                work->operand[k * kernels->rows + i] = a.at[i * a.row_step + k * a.depth_step];
    }
    memset(work->tile, 0, sizeof work->tile);
    for (int64_t i = 0; i < rows; ++i)
        memcpy(work->tile + i * kernels->columns, to->c + (top + i) * to->ld,
               row_bytes(to, top + i));
    apply(depth, rows < kernels->rows ? copy : a, work->panel, work->tile, kernels->columns);
    for (int64_t i = 0; i < rows; ++i)
        memcpy(to->c + (top + i) * to->ld, work->tile + i * kernels->columns,
               row_bytes(to, top + i));
}

/* c = fma(+-a, panel, c) over the whole target, tile by tile. */
static void update(const gbs_linalg_kernels *kernels, tile_function *apply, int64_t depth,
                   gbs_linalg_operand a, const target *to, buffers *work)
{
    for (int64_t top = 0; top < to->rows; top += kernels->rows) {
        const gbs_linalg_operand rows = {a.at + top * a.row_step, a.row_step, a.depth_step};
        if (to->columns == kernels->columns && to->rows - top >= kernels->rows &&
            top + to->diagonal >= kernels->columns - 1)
            apply(depth, rows, work->panel, to->c + top * to->ld, to->ld);
        else
            edge_tile(kernels, apply, depth, rows, to, top, work);
    }
}

/* Panel [depth, columns] from or to a matrix: panel[k, j] is x[k * depth_step + j * step].
 * Columns beyond `columns` hold zeros. */
static void pack(const gbs_linalg_kernels *kernels, const double *x, ptrdiff_t depth_step,
                 ptrdiff_t step, int64_t depth, int64_t columns, double *panel)
{
    const int64_t width = kernels->columns;
    if (columns < width)
        memset(panel, 0, (size_t)(depth * width) * sizeof *panel);
    for (int64_t k = 0; k < depth; ++k)
        for (int64_t j = 0; j < columns; ++j)
            panel[k * width + j] = x[k * depth_step + j * step];
}

static void unpack(const gbs_linalg_kernels *kernels, const double *panel, int64_t depth,
                   int64_t columns, double *x, ptrdiff_t depth_step, ptrdiff_t step)
{
    for (int64_t k = 0; k < depth; ++k)
        for (int64_t j = 0; j < columns; ++j)
            x[k * depth_step + j * step] = panel[k * kernels->columns + j];
}

/* The diagonal shrinks as the factorisation goes, and pivots are judged against Q_ii as
 * given: it is kept just above the diagonal until row i is judged.  The last one has no such
 * place. */
static void keep_diagonal(double *a, int64_t n)
{
    for (int64_t i = 0; i + 1 < n; ++i)
        a[i * n + i + 1] = a[i * n + i];
}

static int64_t factor_block(const gbs_linalg_kernels *kernels, double *a, int64_t n, int64_t first,
                            int64_t depth, double last, double *pivot)
{
    double floor[GBS_LINALG_DEPTH];
    for (int64_t i = 0; i < depth; ++i) {
        const int64_t site = first + i;
        const double kept = site + 1 < n ? a[site * n + site + 1] : last;
        floor[i] = (double)n * 0x1p-52 * kept;
    }
    const int64_t failed = kernels->factor(depth, a + first * n + first, n, floor, pivot);
    return failed < 0 ? -1 : first + failed;
}

int64_t gbs_blocked_cholesky(const gbs_linalg_kernels *kernels, double *a, int64_t n, double *pivot)
{
    buffers work;
    const double last = a[n * n - 1];
    int64_t failed = -1;
    keep_diagonal(a, n);
    for (int64_t first = 0; first < n && failed < 0; first += GBS_LINALG_DEPTH) {
        const int64_t depth = smaller(GBS_LINALG_DEPTH, n - first), below = first + depth;
        failed = factor_block(kernels, a, n, first, depth, last, pivot);
        if (failed >= 0 || below == n)
            continue;
        /* From the last panel up, so that every row below a panel is already solved. */
        const int64_t panels = (n - below + kernels->columns - 1) / kernels->columns;
        for (int64_t p = panels - 1; p >= 0; --p) {
            const int64_t top = below + p * kernels->columns;
            const int64_t columns = smaller(kernels->columns, n - top);
            double *const rows = a + top * n + first;
            pack(kernels, rows, 1, n, depth, columns, work.panel);
            kernels->solve_panel(depth, a + first * n + first, n, work.panel);
            unpack(kernels, work.panel, depth, columns, rows, 1, n);
            update(kernels, kernels->subtract, depth, (gbs_linalg_operand){rows, n, 1},
                   &(target){a + top * n + top, n, n - top, columns, 0}, &work);
        }
    }
    for (int64_t i = 0; i < n; ++i)
        memset(a + i * n + i + 1, 0, (size_t)(n - 1 - i) * sizeof *a);
    return failed;
}

/* M = L^-1: forward solves of all unit vectors together.  Skipping the k above a column's one
 * is exact: those y_k are +0, and fma(-l, +0, +0) is +0. */
void gbs_blocked_inverse_factor(const gbs_linalg_kernels *kernels, const double *l, int64_t n,
                                double *m)
{
    buffers work;
    memset(m, 0, (size_t)n * (size_t)n * sizeof *m);
    for (int64_t i = 0; i < n; ++i)
        m[i * n + i] = 1;
    for (int64_t first = 0; first < n; first += GBS_LINALG_DEPTH) {
        const int64_t depth = smaller(GBS_LINALG_DEPTH, n - first), below = first + depth;
        for (int64_t left = 0; left < below; left += kernels->columns) {
            const int64_t columns = smaller(kernels->columns, below - left);
            double *const rows = m + first * n + left;
            pack(kernels, rows, n, 1, depth, columns, work.panel);
            kernels->solve_panel(depth, l + first * n + first, n, work.panel);
            unpack(kernels, work.panel, depth, columns, rows, n, 1);
            update(kernels, kernels->subtract, depth,
                   (gbs_linalg_operand){l + below * n + first, n, 1},
                   &(target){m + below * n + left, n, n - below, columns, n}, &work);
        }
    }
}

/* out = M'M, both halves.  Rows of M enter in ascending order; its zeros above the diagonal
 * leave the sums, still +0, as they are. */
void gbs_blocked_gram(const gbs_linalg_kernels *kernels, const double *m, int64_t n, double *out)
{
    buffers work;
    memset(out, 0, (size_t)n * (size_t)n * sizeof *out);
    for (int64_t first = 0; first < n; first += GBS_LINALG_DEPTH) {
        const int64_t depth = smaller(GBS_LINALG_DEPTH, n - first), below = first + depth;
        const double *const rows = m + first * n;
        for (int64_t left = 0; left < below; left += kernels->columns) {
            const int64_t columns = smaller(kernels->columns, below - left);
            pack(kernels, rows + left, n, 1, depth, columns, work.panel);
            update(kernels, kernels->add, depth, (gbs_linalg_operand){rows + left, 1, n},
                   &(target){out + left * n + left, n, below - left, columns, 0}, &work);
        }
    }
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < i; ++j)
            out[j * n + i] = out[i * n + j];
}
