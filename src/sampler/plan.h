/* The steps of planning a sampler, in the order in which create takes them.  Each writes the
 * context's message when it fails; what it allocated is the sampler's to free. */
#ifndef GBS_SAMPLER_PLAN_H
#define GBS_SAMPLER_PLAN_H

#include "sampler/rows.h"
#include "sampler/sampler_internal.h"

gbs_status gbs_plan_check(gbs_context *ctx, int64_t dim, const gbs_sampler_spec *spec);
gbs_status gbs_plan_order(gbs_sampler *sampler, const gbs_sampler_spec *spec);
gbs_status gbs_plan_coefficients(gbs_sampler *sampler, double omega);

/* Do all coefficients fit in T? */
gbs_status gbs_plan_check_rows(const gbs_sampler *sampler, const gbs_rows *rows);

/* NOT_FINITE: site i's `what`, with site j if that is another, does not fit in T. */
gbs_status gbs_plan_refuse(const gbs_sampler *sampler, const char *what, int64_t i, int64_t j,
                           double exact);

/* Where the coefficients' rows come from. */
gbs_rows gbs_plan_rows(const gbs_sampler *sampler, double omega);

/* x [rows, dim] all finite, else NOT_FINITE naming chain and site. */
gbs_status gbs_state_check(gbs_context *ctx, const char *what, gbs_type type, const void *x,
                           int64_t rows, int64_t dim);

#endif
