/* Bounds of a model's sites, in double, and what they become in a sampler's type.  Private. */
#ifndef GBS_MODEL_BOUNDS_H
#define GBS_MODEL_BOUNDS_H

#include "model/model.h"

/* Checks and copies `lower` and `upper` [D], NULL for none; after gbs_condition_read, since equal
 * bounds fix a site and a fixed value must lie between its site's. */
gbs_status gbs_bounds_read(gbs_context *ctx, const double *lower, const double *upper,
                           gbs_model *model);

/* The least number of T that is not below `bound`; infinite only where all of T is below it. */
double gbs_bounds_up_to(gbs_type type, double bound);

/* What a site's bounds leave in T. */
typedef enum gbs_box_kind {
    GBS_BOX_FREE,  /* no bound, or a fixed site: fixed goes before bounds */
    GBS_BOX_HOLDS, /* lower <= upper, both in T or infinite, one of them finite */
    GBS_BOX_EMPTY  /* no number of T lies between the bounds: lower = upper = the nearest */
} gbs_box_kind;

typedef struct gbs_box {
    gbs_box_kind kind;
    double lower, upper; /* rounded inward to T, -infinity and infinity where there is none */
} gbs_box;

gbs_box gbs_bounds_box(const gbs_model *model, gbs_type type, int64_t site);

/* Counts into `boxes` the sites whose draws T cannot tell from their bounds, and notes the first.
 * Fails: MEMORY. */
gbs_status gbs_bounds_count_unresolved(gbs_context *ctx, const gbs_model *model, gbs_type type,
                                       gbs_boxes *boxes);

#endif
