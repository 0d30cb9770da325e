/* The checks a model passes before it is frozen.  Each writes a message that names the
 * entry and the number.  Private. */
#ifndef GBS_MODEL_VALIDATE_H
#define GBS_MODEL_VALIDATE_H

#include "core/internal.h"

/* What a matrix is called in messages, and the type whose rounding it carries. */
typedef struct gbs_matrix_label {
    const char *word; /* "precision" */
    char letter;      /* 'Q' */
    gbs_type type;
} gbs_matrix_label;

typedef struct gbs_asymmetry {
    double size;         /* largest |Q_ij - Q_ji| / sqrt(Q_ii Q_jj) */
    int64_t row, column; /* where; -1, -1 if none */
} gbs_asymmetry;

gbs_status gbs_validate_spec(gbs_context *ctx, const gbs_model_spec *spec);

/* Widened copies, every entry finite. */
gbs_status gbs_validate_matrix(gbs_context *ctx, gbs_matrix_label label, const gbs_model_spec *spec,
                               double *q);
gbs_status gbs_validate_vector(gbs_context *ctx, const char *word, gbs_type type, const void *given,
                               int64_t n, double *out);

gbs_status gbs_validate_diagonal(gbs_context *ctx, gbs_matrix_label label, const double *q,
                                 int64_t n);

/* Averages the pairs that differ within the tolerance. */
gbs_status gbs_validate_symmetry(gbs_context *ctx, gbs_matrix_label label, double *q, int64_t n,
                                 gbs_asymmetry *worst);

/* Factorises q into `factor`; explains where that fails. */
gbs_status gbs_validate_positive(gbs_context *ctx, gbs_matrix_label label, const double *q,
                                 int64_t n, double *factor);

/* The message for the pivot that failed: singular, with its null vector, or indefinite.
 * `factor` is as gbs_cholesky left it; its row `site` is overwritten. */
gbs_status gbs_explain_pivot(gbs_context *ctx, gbs_matrix_label label, const double *q, int64_t n,
                             double *factor, int64_t site, double pivot);

#endif
