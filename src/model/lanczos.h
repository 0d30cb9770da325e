/* The largest eigenvalue of a symmetric positive definite operator.  Private. */
#ifndef GBS_MODEL_LANCZOS_H
#define GBS_MODEL_LANCZOS_H

#include "core/internal.h"

typedef struct gbs_operator {
    int64_t dim;
    void (*apply)(const void *self, const double *restrict x, double *restrict y); /* y = A x */
    const void *self;
    /* [dim], NaN but at coordinates that the operator keeps apart from the others and that are left
     * out; NULL: none is */
    const double *apart;
} gbs_operator;

/* Relative error at most GBS_LANCZOS_TOLERANCE, or what 16 D steps leave, and what `apply` itself
 * commits.  The start is always the same, and so is the result.  Fails: MEMORY. */
#define GBS_LANCZOS_TOLERANCE 1e-9
gbs_status gbs_lanczos_largest(gbs_context *ctx, const gbs_operator *op, double *largest);

#endif
