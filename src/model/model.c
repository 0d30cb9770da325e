/* Creation, sharing and release of a model.  Everything is checked and copied here; afterwards
 * nothing changes but the reference count and the standard deviations, published once. */
#include "model/model.h"
#include "model/bounds.h"
#include "model/condition.h"
#include "model/constraints.h"
#include "model/linalg.h"
#include "model/validate.h"

#include <math.h>
#include <string.h>

gbs_model_spec gbs_model_spec_default(void)
{
    const gbs_model_spec spec = {
        .matrix_kind = GBS_MATRIX_PRECISION,
        .matrix_type = GBS_F64,
        .location_kind = GBS_LOCATION_ZERO,
        .location_type = GBS_F64,
    };
    return spec;
}

static void destroy(gbs_model *model)
{
    if (model == NULL)
        return;
    const gbs_allocator allocator = model->allocator;
    gbs_memory_give(&allocator, model->precision);
    gbs_memory_give(&allocator, model->factor);
    gbs_memory_give(&allocator, model->location);
    gbs_memory_give(&allocator, model->mean);
    gbs_memory_give(&allocator, model->fixed);
    gbs_memory_give(&allocator, model->lower);
    gbs_memory_give(&allocator, model->upper);
    gbs_memory_give(&allocator, model->constraints);
    gbs_memory_give(&allocator, atomic_load_explicit(&model->sd, memory_order_relaxed));
    gbs_memory_give(&allocator, model);
}

static gbs_status allocate(gbs_context *ctx, const gbs_model_spec *spec, gbs_model **out)
{
    const gbs_allocator *const allocator = &ctx->allocator;
    const int64_t n = spec->dim;
    gbs_model *const model = *out = gbs_memory_take(allocator, 1, sizeof **out);
    if (model == NULL)
        return gbs_fail_memory(ctx, "model", 1, sizeof *model);
    model->allocator = *allocator;
    atomic_init(&model->references, 1);
    atomic_init(&model->sd, NULL);
    atomic_init(&model->precision_hash, 0);
    atomic_init(&model->location_hash, 0);
    model->dim = n;
    model->location_kind = spec->location_kind;
    model->precision = gbs_memory_take(allocator, n * n, sizeof(double));
    model->factor = gbs_memory_take(allocator, n * n, sizeof(double));
    if (model->precision == NULL || model->factor == NULL)
        return gbs_fail_memory(ctx, "matrix", n * n, sizeof(double));
    model->location = gbs_memory_take(allocator, n, sizeof(double));
    model->mean = gbs_memory_take(allocator, n, sizeof(double));
    if (model->location == NULL || model->mean == NULL)
        return gbs_fail_memory(ctx, "location", n, sizeof(double));
    return GBS_OK;
}

static gbs_status check_inverse(gbs_context *ctx, const double *q, int64_t n)
{
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j <= i; ++j)
            if (!isfinite(q[i * n + j]))
                return gbs_fail(
                    ctx, GBS_ERROR_NOT_FINITE,
                    "covariance: Q[%lld,%lld] of its inverse is beyond the range of double",
                    (long long)i, (long long)j);
    return GBS_OK;
}

/* Replaces the covariance in model->precision by its inverse. */
static gbs_status invert(gbs_context *ctx, gbs_matrix_label label, gbs_model *model)
{
    const int64_t n = model->dim;
    const gbs_status status = gbs_validate_positive(ctx, label, model->precision, n, model->factor);
    if (status != GBS_OK)
        return status;
    double *const work = gbs_memory_take(&ctx->allocator, n * n, sizeof *work);
    if (work == NULL)
        return gbs_fail_memory(ctx, "inverse of the covariance", n * n, sizeof *work);
    gbs_inverse_from_factor(model->factor, n, ctx->isa, work, model->precision);
    gbs_memory_give(&ctx->allocator, work);
    return check_inverse(ctx, model->precision, n);
}

static gbs_status freeze_matrix(gbs_context *ctx, gbs_matrix_label label, gbs_model *model)
{
    gbs_asymmetry worst;
    gbs_status status = gbs_validate_diagonal(ctx, label, model->precision, model->dim);
    if (status == GBS_OK)
        status = gbs_validate_symmetry(ctx, label, model->precision, model->dim, &worst);
    if (status != GBS_OK)
        return status;
    model->asymmetry = worst.size;
    model->asymmetry_row = worst.row;
    model->asymmetry_column = worst.column;
    if (label.letter == 'C') {
        status = invert(ctx, label, model);
        if (status != GBS_OK)
            return status;
        label = (gbs_matrix_label){"inverse of the covariance", 'Q', GBS_F64};
        status = gbs_validate_diagonal(ctx, label, model->precision, model->dim);
        if (status != GBS_OK)
            return status;
    }
    gbs_condition_decouple(model);
    status = gbs_validate_positive(ctx, label, model->precision, model->dim, model->factor);
    if (status == GBS_OK)
        gbs_condition_settle(model);
    return status;
}

/* Mean of the law: as given, or Q^-1 b with b as given or b_i = Q_ii m_i. */
static gbs_status freeze_mean(gbs_context *ctx, gbs_model *model)
{
    const int64_t n = model->dim;
    double *const mean = model->mean;
    memcpy(mean, model->location, (size_t)n * sizeof *mean);
    if (model->location_kind == GBS_LOCATION_OFFSET)
        for (int64_t i = 0; i < n; ++i)
            mean[i] *= model->precision[i * n + i];
    if (model->location_kind == GBS_LOCATION_INFORMATION ||
        model->location_kind == GBS_LOCATION_OFFSET) {
        gbs_solve_forward(model->factor, n, mean);
        gbs_solve_backward(model->factor, n, mean);
        gbs_condition_hold(model, mean, model->fixed);
    }
    for (int64_t i = 0; i < n; ++i)
        if (!isfinite(mean[i]))
            return gbs_fail(ctx, GBS_ERROR_NOT_FINITE,
                            "location: the mean it gives site %lld is beyond the range of double",
                            (long long)i);
    return GBS_OK;
}

static gbs_status freeze(gbs_context *ctx, const gbs_model_spec *spec, gbs_model *model)
{
    static const char *const location_word[] = {"location", "mean", "information", "offset"};
    const gbs_matrix_label label = spec->matrix_kind == GBS_MATRIX_COVARIANCE
                                       ? (gbs_matrix_label){"covariance", 'C', spec->matrix_type}
                                       : (gbs_matrix_label){"precision", 'Q', spec->matrix_type};
    gbs_status status = gbs_validate_matrix(ctx, label, spec, model->precision);
    if (status == GBS_OK && spec->location != NULL)
        status = gbs_validate_vector(ctx, location_word[spec->location_kind], spec->location_type,
                                     spec->location, spec->dim, model->location);
    if (status == GBS_OK)
        status = gbs_condition_read(ctx, spec->fixed, model);
    if (status == GBS_OK)
        status = gbs_bounds_read(ctx, spec->lower, spec->upper, model);
    if (status == GBS_OK)
        status = gbs_constraints_read(ctx, &spec->constraints, model);
    if (status == GBS_OK)
        status = freeze_matrix(ctx, label, model);
    return status == GBS_OK ? freeze_mean(ctx, model) : status;
}

gbs_status gbs_model_create(gbs_context *ctx, const gbs_model_spec *spec, gbs_model **out)
{
    if (out == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "out: NULL");
    *out = NULL;
    if (ctx == NULL)
        return GBS_ERROR_ARGUMENT;
    gbs_status status = gbs_validate_spec(ctx, spec);
    if (status != GBS_OK)
        return status;
    gbs_model *model;
    status = allocate(ctx, spec, &model);
    if (status == GBS_OK) {
        fenv_t saved;
        gbs_float_enter(&saved);
        status = freeze(ctx, spec, model);
        gbs_float_leave(&saved);
    }
    if (status == GBS_OK)
        *out = model;
    else
        destroy(model);
    return status;
}

void gbs_model_retain(gbs_model *model)
{
    if (model != NULL)
        atomic_fetch_add_explicit(&model->references, 1, memory_order_relaxed);
}

/* Acquire and release: what other threads did with the model is over before it is freed. */
void gbs_model_release(gbs_model *model)
{
    if (model != NULL &&
        atomic_fetch_sub_explicit(&model->references, 1, memory_order_acq_rel) == 1)
        destroy(model);
}

int64_t gbs_model_dim(const gbs_model *model)
{
    return model->dim;
}

gbs_location gbs_model_location_kind(const gbs_model *model)
{
    return model->location_kind;
}

const double *gbs_model_precision(const gbs_model *model)
{
    return model->precision;
}

const double *gbs_model_fixed(const gbs_model *model)
{
    return model->fixed;
}

const double *gbs_model_lower(const gbs_model *model)
{
    return model->lower;
}

const double *gbs_model_upper(const gbs_model *model)
{
    return model->upper;
}

const gbs_constraints *gbs_model_constraints(const gbs_model *model)
{
    return model->constraints;
}

const double *gbs_model_location(const gbs_model *model)
{
    return model->location;
}

const double *gbs_model_mean(const gbs_model *model)
{
    return model->mean;
}
