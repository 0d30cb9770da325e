/* Marginal standard deviations and log densities, both from the Cholesky factor: S = M'M with
 * M = L^-1, and d'Qd = |L'd|^2, which cannot come out negative. */
#include "model/model.h"
#include "model/condition.h"
#include "model/linalg.h"
#include "backend/cpu/linalg_kernels.h"

#include <math.h>
#include <string.h>

/* Site i's standard deviation from M = L^-1 where the square of it is beyond double's range. */
static double scaled_sd(const double *m, int64_t n, int64_t i)
{
    double sum = 0;
    for (int64_t k = i; k < n; ++k) {
        const double small = m[k * n + i] * 0x1p-600;
        sum = fma(small, small, sum);
    }
    return sqrt(sum) * 0x1p600;
}

static gbs_status compute_sd(gbs_context *ctx, const gbs_model *model, double *sd)
{
    const int64_t n = model->dim;
    double *const work = gbs_memory_take(&ctx->allocator, n * n, sizeof *work);
    if (work == NULL)
        return gbs_fail_memory(ctx, "standard deviations", n * n, sizeof *work);
    fenv_t saved;
    gbs_float_enter(&saved);
    gbs_inverse_diagonal(model->factor, n, ctx->isa, work, sd);
    for (int64_t i = 0; i < n; ++i)
        sd[i] = isfinite(sd[i]) ? sqrt(sd[i]) : scaled_sd(work, n, i);
    gbs_condition_hold(model, sd, NULL);
    gbs_float_leave(&saved);
    gbs_memory_give(&ctx->allocator, work);
    return GBS_OK;
}

gbs_status gbs_model_sd(gbs_context *ctx, const gbs_model *model, double *sd)
{
    if (ctx == NULL || model == NULL || sd == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "%s: NULL", model == NULL ? "model" : "sd");
    /* The one field that is filled in later: threads that race here find the same bits, and
     * the first to publish wins. */
    _Atomic(double *) *const slot = &((gbs_model *)model)->sd;
    double *kept = atomic_load_explicit(slot, memory_order_acquire);
    if (kept == NULL) {
        double *const fresh = gbs_memory_take(&model->allocator, model->dim, sizeof *fresh);
        if (fresh == NULL)
            return gbs_fail_memory(ctx, "standard deviations", model->dim, sizeof *fresh);
        const gbs_status status = compute_sd(ctx, model, fresh);
        if (status != GBS_OK) {
            gbs_memory_give(&model->allocator, fresh);
            return status;
        }
        if (atomic_compare_exchange_strong_explicit(slot, &kept, fresh, memory_order_acq_rel,
                                                    memory_order_acquire))
            kept = fresh;
        else
            gbs_memory_give(&model->allocator, fresh);
    }
    memcpy(sd, kept, (size_t)model->dim * sizeof *sd);
    return GBS_OK;
}

/* Rows of x taken together, so that each row of L serves them all from cache. */
#define GROUP 8

typedef struct density_work {
    double *apart; /* [GROUP, D] x - mu */
    double *image; /* [GROUP, D] L'(x - mu) */
} density_work;

static void load_row(const gbs_model *model, gbs_type type, const void *x, int64_t offset,
                     double *apart)
{
    for (int64_t i = 0; i < model->dim; ++i) {
        const double value = type == GBS_F32 ? (double)((const float *)x)[offset + i]
                                             : ((const double *)x)[offset + i];
        apart[i] = value - model->mean[i];
    }
    gbs_condition_hold(model, apart, NULL); /* in float a fixed site is a rounding off its value */
}

static void density_of_group(const gbs_linalg_kernels *kernels, const gbs_model *model,
                             int64_t rows, const density_work *work, double *out)
{
    const int64_t n = model->dim;
    memset(work->image, 0, (size_t)(rows * n) * sizeof *work->image);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t r = 0; r < rows; ++r)
            kernels->axpy(i + 1, work->apart[r * n + i], model->factor + i * n,
                          work->image + r * n);
    for (int64_t r = 0; r < rows; ++r) {
        double sum = 0;
        for (int64_t i = 0; i < n; ++i)
            sum = fma(work->image[r * n + i], work->image[r * n + i], sum);
        out[r] = 0 - sum / 2;
    }
}

static gbs_status check_density(gbs_context *ctx, const gbs_model *model, gbs_type type,
                                const void *x, int64_t n, int64_t row_stride, const double *out)
{
    if (model == NULL || (n > 0 && (x == NULL || out == NULL)))
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "%s: NULL",
                        model == NULL ? "model"
                        : x == NULL   ? "x"
                                      : "out");
    if (type != GBS_F32 && type != GBS_F64)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "type: %d is not a gbs_type", (int)type);
    if (n < 0)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "n: %lld is negative", (long long)n);
    if (row_stride != 0 && row_stride < model->dim)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "row_stride: %lld is neither 0 nor at least dim, %lld",
                        (long long)row_stride, (long long)model->dim);
    return GBS_OK;
}

gbs_status gbs_model_log_density(gbs_context *ctx, const gbs_model *model, gbs_type type,
                                 const void *x, int64_t n, int64_t row_stride, double *out)
{
    if (ctx == NULL)
        return GBS_ERROR_ARGUMENT;
    const gbs_status status = check_density(ctx, model, type, x, n, row_stride, out);
    if (status != GBS_OK)
        return status;
    const int64_t dim = model->dim, stride = row_stride != 0 ? row_stride : dim;
    double *const memory = gbs_memory_take(&ctx->allocator, dim, 2 * GROUP * sizeof *memory);
    if (memory == NULL)
        return gbs_fail_memory(ctx, "log density", dim, 2 * GROUP * sizeof *memory);
    const density_work work = {memory, memory + GROUP * dim};
    fenv_t saved;
    gbs_float_enter(&saved);
    for (int64_t first = 0; first < n; first += GROUP) {
        const int64_t rows = n - first < GROUP ? n - first : GROUP;
        for (int64_t r = 0; r < rows; ++r)
            load_row(model, type, x, (first + r) * stride, work.apart + r * dim);
        density_of_group(gbs_linalg_kernels_for(ctx->isa), model, rows, &work, out + first);
    }
    gbs_float_leave(&saved);
    gbs_memory_give(&ctx->allocator, memory);
    return GBS_OK;
}
