/* The frozen model as the sampler sees it: everything in double.  Private. */
#ifndef GBS_MODEL_MODEL_H
#define GBS_MODEL_MODEL_H

#include "core/internal.h"

#include <stdatomic.h>

struct gbs_model {
    gbs_allocator allocator; /* a copy: a model may outlive its context */
    atomic_int_fast64_t references;
    int64_t dim;
    gbs_location location_kind;
    double *precision;    /* [D, D], symmetric to the bit */
    double *factor;       /* [D, D] lower Cholesky factor L, Q = L L'; zeros above the diagonal */
    double *location;     /* [D] as given, widened; zeros for ZERO */
    double *mean;         /* [D] mean of the law */
    _Atomic(double *) sd; /* [D], published at the first gbs_model_sd; NULL before */
    double asymmetry;     /* as in gbs_spectrum */
    int64_t asymmetry_row, asymmetry_column;
};

#endif
