/* The Gibbs rate: how fast one systematic sweep forgets where it started. */
#ifndef GIBBSITE_CLI_RATE_H
#define GIBBSITE_CLI_RATE_H

#include "cli.h"

/* The largest size whose rate is computed without being asked for: about 3 s there with OpenBLAS
 * on one 2020s core, 14 s with the reference BLAS. */
enum { RATE_LARGEST = 2048 };

/* Spectral radius of G = (D + wL)^-1 ((1 - w) D - wU) for the precision q [n, n] = L + D + U, a
 * forward sweep's effect on the mean, for any Q; NAN if LAPACK did not converge.  Rounding may move
 * 1 - rate by about 1e-15, and by more where dgeev has a G far from normal. */
exit_code general_gibbs_rate(const double *q, int64_t n, double omega, double *rate);

#endif
