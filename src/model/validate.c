/* Checks of a model's input, in the order of the numerics contract, section 1: ranges, finite,
 * diagonal, symmetry, positive definite. */
#include "model/validate.h"
#include "model/linalg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Beyond these, D * D or a byte offset would overflow; no machine holds such a matrix. */
#define MAX_DIM ((int64_t)1 << 30)
#define MAX_ELEMENTS ((int64_t)(PTRDIFF_MAX / 8))

static gbs_status check_kinds(gbs_context *ctx, const gbs_model_spec *spec)
{
    if (spec->matrix_kind != GBS_MATRIX_PRECISION && spec->matrix_kind != GBS_MATRIX_COVARIANCE)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "matrix_kind: %d is not a gbs_matrix",
                        (int)spec->matrix_kind);
    if (spec->matrix_type != GBS_F32 && spec->matrix_type != GBS_F64)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "matrix_type: %d is not a gbs_type",
                        (int)spec->matrix_type);
    if (spec->location_kind < GBS_LOCATION_ZERO || spec->location_kind > GBS_LOCATION_OFFSET)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "location_kind: %d is not a gbs_location",
                        (int)spec->location_kind);
    if (spec->location_type != GBS_F32 && spec->location_type != GBS_F64)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "location_type: %d is not a gbs_type",
                        (int)spec->location_type);
    return GBS_OK;
}

gbs_status gbs_validate_spec(gbs_context *ctx, const gbs_model_spec *spec)
{
    if (spec == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "spec: NULL");
    const gbs_status status = check_kinds(ctx, spec);
    if (status != GBS_OK)
        return status;
    if (spec->dim < 1 || spec->dim > MAX_DIM)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "dim: %lld is not in 1 .. %lld",
                        (long long)spec->dim, (long long)MAX_DIM);
    if (spec->matrix == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "matrix: NULL");
    if (spec->row_stride != 0 && spec->row_stride < spec->dim)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "row_stride: %lld is neither 0 nor at least dim, %lld",
                        (long long)spec->row_stride, (long long)spec->dim);
    if (spec->row_stride > MAX_ELEMENTS / spec->dim)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "row_stride: %lld rows of %lld elements overflow",
                        (long long)spec->dim, (long long)spec->row_stride);
    if (spec->location_kind == GBS_LOCATION_ZERO && spec->location != NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "location: given, but location_kind says ZERO; choose its form");
    if (spec->location_kind != GBS_LOCATION_ZERO && spec->location == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "location: NULL");
    return GBS_OK;
}

static const char *not_finite_word(double x)
{
    return isnan(x) ? "NaN" : x > 0 ? "infinite" : "minus infinity";
}

/* Widens n elements; returns the first that is not finite, or -1. */
static int64_t widen(gbs_type type, const void *from, int64_t n, double *restrict to)
{
    if (type == GBS_F64) {
        memcpy(to, from, (size_t)n * sizeof *to);
    } else {
        const float *const f = from;
        for (int64_t i = 0; i < n; ++i)
            to[i] = f[i];
    }
    for (int64_t i = 0; i < n; ++i)
        if (!isfinite(to[i]))
            return i;
    return -1;
}

gbs_status gbs_validate_matrix(gbs_context *ctx, gbs_matrix_label label, const gbs_model_spec *spec,
                               double *q)
{
    const int64_t n = spec->dim, stride = spec->row_stride != 0 ? spec->row_stride : n;
    const size_t row_bytes = (size_t)stride * gbs_type_size(spec->matrix_type);
    for (int64_t i = 0; i < n; ++i) {
        const char *const row = (const char *)spec->matrix + (size_t)i * row_bytes;
        const int64_t j = widen(spec->matrix_type, row, n, q + i * n);
        if (j >= 0)
            return gbs_fail(ctx, GBS_ERROR_NOT_FINITE, "%s: %c[%lld,%lld] is %s", label.word,
                            label.letter, (long long)i, (long long)j,
                            not_finite_word(q[i * n + j]));
    }
    return GBS_OK;
}

gbs_status gbs_validate_vector(gbs_context *ctx, const char *word, gbs_type type, const void *given,
                               int64_t n, double *out)
{
    const int64_t i = widen(type, given, n, out);
    if (i < 0)
        return GBS_OK;
    return gbs_fail(ctx, GBS_ERROR_NOT_FINITE, "%s: site %lld is %s", word, (long long)i,
                    not_finite_word(out[i]));
}

/* The next site from `site` on whose diagonal entry is not above zero; n if none. */
static int64_t next_bad_diagonal(const double *q, int64_t n, int64_t site)
{
    while (site < n && q[site * n + site] > 0)
        ++site;
    return site;
}

/* " (3 such sites: 27, 47, 50)", or nothing for one. */
static void list_bad_diagonal(const double *q, int64_t n, char *out, size_t size)
{
    enum { LISTED = 8 };
    char sites[LISTED * 24] = "";
    size_t used = 0;
    int64_t count = 0;
    for (int64_t i = next_bad_diagonal(q, n, 0); i < n; i = next_bad_diagonal(q, n, i + 1))
        if (++count <= LISTED)
            used += (size_t)snprintf(sites + used, sizeof sites - used, "%s%lld",
                                     count > 1 ? ", " : "", (long long)i);
    if (count > 1)
        snprintf(out, size, " (%lld such sites: %s%s)", (long long)count, sites,
                 count > LISTED ? ", ..." : "");
}

gbs_status gbs_validate_diagonal(gbs_context *ctx, gbs_matrix_label label, const double *q,
                                 int64_t n)
{
    const int64_t first = next_bad_diagonal(q, n, 0);
    if (first == n)
        return GBS_OK;
    char all[256] = "";
    list_bad_diagonal(q, n, all, sizeof all);
    const double value = q[first * n + first];
    const char *const meaning = label.letter == 'C' ? "a variance must be above zero"
                                : value < 0         ? "a precision must be above zero"
                                                    : "the model is improper there, as at a site "
                                                      "without neighbours";
    return gbs_fail(ctx, GBS_ERROR_NOT_POSITIVE_DEFINITE,
                    "%s: site %lld has %c[%lld,%lld] = %.9g: %s%s", label.word, (long long)first,
                    label.letter, (long long)first, (long long)first, value, meaning, all);
}

/* The pair that is furthest apart for its scale, which is two roots since the product of two
 * diagonal entries may overflow. */
static gbs_asymmetry find_asymmetry(const double *q, int64_t n)
{
    gbs_asymmetry worst = {0, -1, -1};
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < i; ++j) {
            if (q[i * n + j] == q[j * n + i])
                continue;
            const double size =
                fabs(q[i * n + j] - q[j * n + i]) / (sqrt(q[i * n + i]) * sqrt(q[j * n + j]));
            if (size > worst.size)
                worst = (gbs_asymmetry){size, i, j};
        }
    return worst;
}

gbs_status gbs_validate_symmetry(gbs_context *ctx, gbs_matrix_label label, double *q, int64_t n,
                                 gbs_asymmetry *worst)
{
    const double tolerance = label.type == GBS_F32 ? 1e-4 : 1e-8;
    *worst = find_asymmetry(q, n);
    if (worst->size > tolerance) {
        const int64_t i = worst->row, j = worst->column;
        const double lower = q[i * n + j], upper = q[j * n + i];
        return gbs_fail(ctx, GBS_ERROR_NOT_SYMMETRIC,
                        "%s: row %lld is not symmetric: %c[%lld,%lld] = %.9g, %c[%lld,%lld] = "
                        "%.9g; they differ by %.3g, allowed is %.3g",
                        label.word, (long long)i, label.letter, (long long)i, (long long)j, lower,
                        label.letter, (long long)j, (long long)i, upper, fabs(lower - upper),
                        tolerance * fabs(lower - upper) / worst->size);
    }
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < i; ++j) {
            const double lower = q[i * n + j], upper = q[j * n + i];
            /* Equal halves stay, so that the largest doubles do not overflow; zeros of both
             * signs do not. */
            if (lower != upper || lower == 0)
                q[i * n + j] = q[j * n + i] = (lower + upper) / 2;
        }
    return GBS_OK;
}

gbs_status gbs_validate_positive(gbs_context *ctx, gbs_matrix_label label, const double *q,
                                 int64_t n, double *factor)
{
    double pivot;
    memcpy(factor, q, (size_t)n * (size_t)n * sizeof *factor);
    const int64_t site = gbs_cholesky(factor, n, ctx->isa, &pivot);
    return site < 0 ? GBS_OK : gbs_explain_pivot(ctx, label, q, n, factor, site, pivot);
}
