/* What can be said of a model before a run: the ends of its spectrum and how slowly a Gibbs
 * sampler mixes at worst, tau_max = 1 / lambda_min(D^-1/2 Q D^-1/2).  The small ends are taken
 * as large ones of the inverse, applied through the Cholesky factor: its error is relative to
 * Q_ii, so that tau_max rounding units are lost and not a whole condition number (Demmel and
 * Veselic 1992). */
#include "model/bounds.h"
#include "model/model.h"
#include "model/condition.h"
#include "model/lanczos.h"
#include "backend/cpu/linalg_kernels.h"

#include <math.h>
#include <string.h>

/* The rows of Q and of its factor between their first and last numbers that are not 0, which alone
 * are gone through: a banded matrix costs its band. */
typedef struct view {
    const gbs_model *model;
    const gbs_linalg_kernels *kernels;
    const double *root;         /* [D] sqrt(Q_ii) */
    const int64_t *from, *upto; /* [D] of row i of Q; the factor's starts at from[i] too */
    int banded;
} view;

/* Returns how many numbers lie between the first of each row and its diagonal. */
static int64_t find_profile(const gbs_model *model, int64_t *from, int64_t *upto)
{
    int64_t inside = 0;
    for (int64_t i = 0; i < model->dim; ++i) {
        const double *const row = model->precision + i * model->dim;
        for (from[i] = 0; from[i] < i && row[from[i]] == 0;)
            ++from[i];
        for (upto[i] = model->dim; upto[i] > i + 1 && row[upto[i] - 1] == 0;)
            --upto[i];
        inside += i - from[i];
    }
    return inside;
}

/* y = Q x by columns, which by symmetry are rows: contiguous. */
static void apply_precision(const void *self, const double *restrict x, double *restrict y)
{
    const view *const a = self;
    const int64_t n = a->model->dim;
    memset(y, 0, (size_t)n * sizeof *y);
    for (int64_t j = 0; j < n; ++j) {
        const int64_t from = a->from[j];
        a->kernels->axpy(a->upto[j] - from, x[j], a->model->precision + j * n + from, y + from);
    }
}

static void solve(const view *a, double *y)
{
    const int64_t n = a->model->dim;
    const double *const l = a->model->factor;
    if (!a->banded) {
        a->kernels->solve_forward(n, l, n, y);
        a->kernels->solve_backward(n, l, n, y);
        return;
    }
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t k = a->from[i]; k < i; ++k)
            y[i] = fma(-l[i * n + k], y[k], y[i]);
        y[i] /= l[i * n + i];
    }
    for (int64_t i = n - 1; i >= 0; --i) {
        const int64_t from = a->from[i];
        y[i] /= l[i * n + i];
        a->kernels->axpy(i - from, -y[i], l + i * n + from, y + from);
    }
}

static void apply_covariance(const void *self, const double *restrict x, double *restrict y)
{
    const view *const a = self;
    memcpy(y, x, (size_t)a->model->dim * sizeof *y);
    solve(a, y);
}

/* y = D^1/2 Q^-1 D^1/2 x */
static void apply_scaled_covariance(const void *self, const double *restrict x, double *restrict y)
{
    const view *const a = self;
    for (int64_t i = 0; i < a->model->dim; ++i)
        y[i] = a->root[i] * x[i];
    solve(a, y);
    for (int64_t i = 0; i < a->model->dim; ++i)
        y[i] *= a->root[i];
}

/* Of eight rows at a time the factor's long rows are gone through eight times as fast. */
enum { BANDED = 8 };

/* Every draw is rounded to a float h or less from the next one, which adds h^2 / 12 to a variance
 * of 1 / Q_ii given the others.  Between bounds or rows the mean says little of where draws are. */
static void judge_mean(const gbs_model *model, gbs_spectrum *found)
{
    for (int64_t i = 0; i < model->dim && model->constraints == NULL; ++i) {
        const float mean = (float)fabs(model->mean[i]);
        const double precision = model->precision[i * model->dim + i];
        if (gbs_model_is_fixed(model, i) || !isfinite(mean) ||
            (double)mean * sqrt(precision) <= 1 ||
            gbs_bounds_box(model, GBS_F32, i).kind != GBS_BOX_FREE)
            continue;
        const double h = (double)nextafterf(mean, INFINITY) - (double)mean;
        const double error = h * h * precision / 12;
        if (error > found->f32_covariance_error) {
            found->f32_covariance_error = error;
            found->f32_site = i;
        }
    }
}

static gbs_status find_ends(gbs_context *ctx, const gbs_model *model, double *root,
                            int64_t *profile, gbs_spectrum *found)
{
    const int64_t inside = find_profile(model, profile, profile + model->dim);
    const view a = {.model = model,
                    .kernels = gbs_linalg_kernels_for(ctx->isa),
                    .root = root,
                    .from = profile,
                    .upto = profile + model->dim,
                    .banded = inside <= model->dim * (model->dim / 2 / BANDED)};
    for (int64_t i = 0; i < model->dim; ++i)
        root[i] = sqrt(model->precision[i * model->dim + i]);
    int64_t free_sites = 0;
    for (int64_t i = 0; i < model->dim; ++i)
        free_sites += !gbs_model_is_fixed(model, i);
    /* fixed sites stand apart in the precision; with nothing else there they speak for themselves
     */
    const double *const apart = free_sites > 0 ? model->fixed : NULL;
    const int64_t n = model->dim;
    double of_inverse = 0;
    gbs_status status = gbs_lanczos_largest(ctx, &(gbs_operator){n, apply_precision, &a, apart},
                                            &found->eigenvalue_max);
    if (status == GBS_OK)
        status =
            gbs_lanczos_largest(ctx, &(gbs_operator){n, apply_covariance, &a, apart}, &of_inverse);
    if (status == GBS_OK)
        status = gbs_lanczos_largest(ctx, &(gbs_operator){n, apply_scaled_covariance, &a, apart},
                                     &found->tau_max);
    found->eigenvalue_min = 1 / of_inverse;
    found->condition = found->eigenvalue_max * of_inverse;
    found->f32_covariance_error = 0x1p-24 * found->tau_max;
    found->f32_site = -1;
    judge_mean(model, found);
    return status;
}

gbs_status gbs_model_spectrum(gbs_context *ctx, const gbs_model *model, gbs_spectrum *out)
{
    if (ctx == NULL || model == NULL || out == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "%s: NULL", model == NULL ? "model" : "out");
    double *const root = gbs_memory_take(&ctx->allocator, model->dim, sizeof *root);
    int64_t *const profile = gbs_memory_take(&ctx->allocator, model->dim, 2 * sizeof *profile);
    if (root == NULL || profile == NULL) {
        gbs_memory_give(&ctx->allocator, root);
        gbs_memory_give(&ctx->allocator, profile);
        return gbs_fail_memory(ctx, "spectrum", model->dim, 2 * sizeof *profile);
    }
    gbs_spectrum found = {.asymmetry = model->asymmetry,
                          .asymmetry_row = model->asymmetry_row,
                          .asymmetry_column = model->asymmetry_column};
    fenv_t saved;
    gbs_float_enter(&saved);
    const gbs_status status = find_ends(ctx, model, root, profile, &found);
    gbs_float_leave(&saved);
    gbs_memory_give(&ctx->allocator, root);
    gbs_memory_give(&ctx->allocator, profile);
    if (status == GBS_OK)
        *out = found;
    return status;
}
