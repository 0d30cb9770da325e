/* Dense linear algebra whose results enter draws: in double, fused, every sum in one stated
 * order, so the same bits on every instruction set.  LAPACK would be faster and would give
 * other bits on other processors.  All matrices are [n, n] row-major, contiguous. */
#ifndef GBS_MODEL_LINALG_H
#define GBS_MODEL_LINALG_H

#include "core/internal.h"

/* Lower factor in place of the lower triangle; the strict upper one is zeroed at the end.
 * r = Q_ij; r = fma(-L_ik, L_jk, r), k = 0 .. j-1; L_ij = r / L_jj, L_jj = sqrt(r); that last
 * r is the pivot.  Returns -1 if every pivot is above n 2^-52 Q_ii, else the first site that
 * fails, its pivot in *pivot; rows before it are then L's. */
int64_t gbs_cholesky(double *a, int64_t n, gbs_isa isa, double *pivot);

/* x = L^-1 b and x = L'^-1 b, in place. */
void gbs_solve_forward(const double *l, int64_t n, double *x);
void gbs_solve_backward(const double *l, int64_t n, double *x);

/* L^-1, lower, the strict upper part zeros.  `out` [n, n]. */
void gbs_inverse_factor(const double *l, int64_t n, gbs_isa isa, double *out);

/* (L L')^-1, both halves, from M = L^-1: entry (i, j) = sum over k = max(i,j) .. n-1 of
 * M_ki M_kj, ascending, fused, from 0.  `work` and `out` [n, n]. */
void gbs_inverse_from_factor(const double *l, int64_t n, gbs_isa isa, double *work, double *out);

/* Its diagonal alone, the same bits.  `work` [n, n], `out` [n]. */
void gbs_inverse_diagonal(const double *l, int64_t n, gbs_isa isa, double *work, double *out);

#endif
