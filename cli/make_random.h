/* A random symmetric positive definite matrix of a given condition number. */
#ifndef GIBBSITE_CLI_MAKE_RANDOM_H
#define GIBBSITE_CLI_MAKE_RANDOM_H

#include "cli.h"

/* Fills the lower triangle of q [n, n], row-major, with eigenvalues cond^(i / (n - 1)): 1 the
 * smallest, cond the largest.  The same bits on every machine. */
exit_code random_precision(int64_t n, double cond, uint64_t seed, double *q);

#endif
