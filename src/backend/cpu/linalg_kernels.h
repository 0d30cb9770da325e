/* The inner loops of the dense linear algebra, once per instruction set, and the blocked
 * algorithms over them.  Every entry is one chain of fused multiply-adds in ascending k
 * (numerics contract, section 9): a loop may be vectorised over entries, blocked and
 * interleaved, and a partial sum stored (it is a double already), without changing a bit.
 * Private. */
#ifndef GBS_BACKEND_CPU_LINALG_KERNELS_H
#define GBS_BACKEND_CPU_LINALG_KERNELS_H

#include "core/internal.h"

#include <stddef.h>

/* Depth of a block of k, and the largest register tile of any instruction set. */
#define GBS_LINALG_DEPTH 64
#define GBS_LINALG_MAX_ROWS 8
#define GBS_LINALG_MAX_COLUMNS 24

/* One operand of a tile: element (row, k) is at[row * row_step + k * depth_step]. */
typedef struct gbs_linalg_operand {
    const double *at;
    ptrdiff_t row_step;
    ptrdiff_t depth_step;
} gbs_linalg_operand;

/* A panel is [depth, columns] doubles, packed, aligned to GBS_ALIGNMENT; ld is the distance
 * between rows of a matrix. */
typedef struct gbs_linalg_kernels {
    const char *name;
    int rows, columns; /* of the register tile */
    /* c[i, j] = fma(+-a[i, k], panel[k, j], c[i, j]), k = 0 .. depth-1 */
    void (*add)(int64_t depth, gbs_linalg_operand a, const double *panel, double *c, ptrdiff_t ld);
    void (*subtract)(int64_t depth, gbs_linalg_operand a, const double *panel, double *c,
                     ptrdiff_t ld);
    /* panel = l^-1 panel, l lower triangular [n, n], n <= GBS_LINALG_DEPTH */
    void (*solve_panel)(int64_t n, const double *l, ptrdiff_t ld, double *panel);
    /* Lower factor in place of an [n, n] block; -1, or the first row whose pivot is not above
     * floor[row].  Touches nothing above the diagonal. */
    int64_t (*factor)(int64_t n, double *a, ptrdiff_t ld, const double *floor, double *pivot);
    void (*axpy)(int64_t n, double alpha, const double *x, double *y); /* y = fma(alpha, x, y) */
    void (*add_squares)(int64_t n, const double *x, double *y);        /* y = fma(x, x, y) */
    void (*solve_forward)(int64_t n, const double *l, ptrdiff_t ld, double *x);
    void (*solve_backward)(int64_t n, const double *l, ptrdiff_t ld, double *x);
} gbs_linalg_kernels;

/* Each exists where its instruction set does; the fma build on x86-64 alone. */
extern const gbs_linalg_kernels gbs_linalg_scalar, gbs_linalg_scalar_fma, gbs_linalg_avx2,
    gbs_linalg_avx512, gbs_linalg_neon;

/* SCALAR gives the build with the fma instruction where the processor has it, else the plain
 * one; AUTO the widest.  An instruction set that is not available gives SCALAR's. */
const gbs_linalg_kernels *gbs_linalg_kernels_for(gbs_isa isa);

/* The index-th set of kernels this machine can run, NULL past the last: for tests. */
const gbs_linalg_kernels *gbs_linalg_kernels_at(int index);

/* The algorithms of model/linalg.h over one set of kernels. */
int64_t gbs_blocked_cholesky(const gbs_linalg_kernels *kernels, double *a, int64_t n,
                             double *pivot);
void gbs_blocked_inverse_factor(const gbs_linalg_kernels *kernels, const double *l, int64_t n,
                                double *m);
void gbs_blocked_gram(const gbs_linalg_kernels *kernels, const double *m, int64_t n, double *out);

#endif
