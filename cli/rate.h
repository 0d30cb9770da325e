/* The Gibbs rate: how fast one systematic sweep forgets where it started. */
#ifndef GIBBSITE_CLI_RATE_H
#define GIBBSITE_CLI_RATE_H

#include "cli.h"

/* The largest size for which LAPACK is called without being asked for: about 3 s there with
 * OpenBLAS on one 2020s core, 14 s with the reference BLAS. */
enum { RATE_LARGEST = 2048 };

/* From 1 - rate below this on no number of sweeps is given: the matrix itself is rounded. */
#define RATE_NEAREST 1e-12

/* Spectral radius of G = (D + wL)^-1 ((1 - w) D - wU) for the precision q [n, n] = L + D + U, a
 * forward sweep's effect on the mean, for any Q; and how far rounding may have moved it. */
exit_code general_gibbs_rate(const double *q, int64_t n, double omega, double *rate, double *error);

/* Does the error leave two digits of the sweeps to forget, 1 / (1 - rate)? */
bool rate_is_certain(double rate, double error);

#endif
