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
    double *precision;     /* [D, D], symmetric to the bit */
    double *factor;        /* [D, D] lower Cholesky factor L, Q = L L'; zeros above the diagonal */
    double *location;      /* [D] as given, widened; zeros for ZERO */
    double *mean;          /* [D] mean of the law */
    double *fixed;         /* [D] values of fixed sites, NaN at free ones; NULL: none is fixed */
    double *lower, *upper; /* [D] bounds of all sites, in double; both NULL: none has any */
    gbs_constraints *constraints; /* with what it points to in one block; NULL: none */
    _Atomic(double *) sd;         /* [D], published at the first gbs_model_sd; NULL before */
    /* Published at the first checkpoint; 0 before.  gbs_model_hashes */
    atomic_uint_fast64_t precision_hash, location_hash;
    double asymmetry; /* as in gbs_spectrum */
    int64_t asymmetry_row, asymmetry_column;
};

/* Hashes of the frozen precision, and of the location and its form: what a checkpoint knows its
 * model by.  Computed at the first call (in D^2 steps) and kept. */
void gbs_model_hashes(const gbs_model *model, uint64_t *precision, uint64_t *location);

/* Goes on with constraints, as a model keeps them. */
uint64_t gbs_constraints_hash(uint64_t hash, const gbs_constraints *rows);

#endif
