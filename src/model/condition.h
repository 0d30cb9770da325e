/* Sites held at values, within gbs_model_create.  Private. */
#ifndef GBS_MODEL_CONDITION_H
#define GBS_MODEL_CONDITION_H

#include "model/model.h"

/* Copies `fixed` [D], NaN for a free site; NULL for none. */
gbs_status gbs_condition_read(gbs_context *ctx, const double *fixed, gbs_model *model);

/* Between symmetry and factorisation: what couples fixed sites to others leaves the matrix, and
 * what can go into the location without the factor goes there.  After it: the mean form, and the
 * fixed sites' own location. */
void gbs_condition_decouple(gbs_model *model);
void gbs_condition_settle(gbs_model *model);

/* Puts values[i], or 0 for NULL, at the fixed sites of x [D]. */
void gbs_condition_hold(const gbs_model *model, double *x, const double *values);

static inline int gbs_model_is_fixed(const gbs_model *model, int64_t site)
{
    return model->fixed != NULL && model->fixed[site] == model->fixed[site];
}

#endif
