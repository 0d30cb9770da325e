/* Row constraints lower <= A x <= upper, within gbs_model_create.  Private. */
#ifndef GBS_MODEL_CONSTRAINTS_H
#define GBS_MODEL_CONSTRAINTS_H

#include "model/model.h"

/* Checks and copies them, by their entries, without zeros; after gbs_bounds_read, since fixed sites
 * may settle a row. */
gbs_status gbs_constraints_read(gbs_context *ctx, const gbs_constraints *given, gbs_model *model);

#endif
