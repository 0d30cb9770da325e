/* Row constraints as a sampler's kernels read them (backend/constrained.h).  Private. */
#ifndef GBS_SAMPLER_ROW_LISTS_H
#define GBS_SAMPLER_ROW_LISTS_H

#include "backend/constrained.h"
#include "sampler/sampler_internal.h"

/* Directions: the sites, or with `inverse_factor` (M = L^-1, [D, D]) the rows of M, which are the
 * columns of W = L^-T.  Fixed sites' directions move nothing.  A direction that changes a row by no
 * more than rounding is taken to be parallel to it.
 * Fails: MEMORY, NOT_FINITE, ARGUMENT (no number of T between a row's bounds: the message names
 * it).  What was allocated is given back by gbs_row_lists_end in either case. */
gbs_status gbs_row_lists_make(const gbs_sampler *sampler, const double *inverse_factor,
                              gbs_row_lists *out);
void gbs_row_lists_end(const gbs_allocator *allocator, gbs_row_lists *lists);

/* A state x [n, D] of type T keeps the model's boxes and rows, rows to the rounding of their sums;
 * else ARGUMENT, naming `what`, the chain and what it breaks. */
gbs_status gbs_row_lists_check(gbs_context *ctx, const gbs_model *model, gbs_type type,
                               const char *what, const void *x, int64_t n);

#endif
