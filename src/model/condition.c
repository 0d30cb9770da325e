/* A model given some of its sites.  Partition the sites into free ones F and fixed ones C with
 * values v: x_F given x_C = v is Gaussian with precision Q_FF and mean mu_F - Q_FF^-1 Q_FC (v -
 * mu_C) (Rue and Held 2005, theorem 2.5).  The model keeps its size: rows and columns of C lose
 * what couples them to F, so that every sweep order, kernel and factorisation serves as it is, and
 * what they coupled goes into the location, in double, before anything is rounded to T. */
#include "model/condition.h"
#include "model/linalg.h"

#include <math.h>
#include <string.h>

gbs_status gbs_condition_read(gbs_context *ctx, const double *fixed, gbs_model *model)
{
    const int64_t n = model->dim;
    if (fixed == NULL)
        return GBS_OK;
    model->fixed = gbs_memory_take(&model->allocator, n, sizeof *model->fixed);
    if (model->fixed == NULL)
        return gbs_fail_memory(ctx, "fixed sites", n, sizeof *model->fixed);
    for (int64_t i = 0; i < n; ++i)
        if (isinf(fixed[i]))
            return gbs_fail(ctx, GBS_ERROR_NOT_FINITE,
                            "fixed: site %lld is %g; a finite number is needed, or NaN for a free "
                            "site",
                            (long long)i, fixed[i]);
    for (int64_t i = 0; i < n; ++i)
        model->fixed[i] = isnan(fixed[i]) ? (double)NAN : fixed[i]; /* one NaN, for its hash */
    return GBS_OK;
}

/* What the fixed sites bring to row i: sum over C of Q_ij (v_j - mu_j), ascending, fused; the
 * information and offset forms speak of x itself, not of its distance from mu. */
static double pull(const gbs_model *model, int64_t i)
{
    const int about_mean = model->location_kind == GBS_LOCATION_MEAN;
    const double *const row = model->precision + i * model->dim;
    double sum = 0;
    for (int64_t j = 0; j < model->dim; ++j)
        if (!isnan(model->fixed[j]))
            sum = fma(row[j], model->fixed[j] - (about_mean ? model->location[j] : 0.0), sum);
    return sum;
}

/* The location of the law given C; the mean form waits for the factor, its pull kept in mean. */
static void move_location(gbs_model *model)
{
    for (int64_t i = 0; i < model->dim; ++i) {
        const double diagonal = model->precision[i * model->dim + i];
        const double sum = isnan(model->fixed[i]) ? pull(model, i) : 0.0;
        switch (model->location_kind) {
        case GBS_LOCATION_INFORMATION: model->mean[i] = model->location[i] - sum; break;
        case GBS_LOCATION_OFFSET: model->mean[i] = model->location[i] - sum / diagonal; break;
        case GBS_LOCATION_ZERO:
        case GBS_LOCATION_MEAN: model->mean[i] = sum; break;
        }
    }
    if (model->location_kind == GBS_LOCATION_INFORMATION ||
        model->location_kind == GBS_LOCATION_OFFSET)
        memcpy(model->location, model->mean, (size_t)model->dim * sizeof *model->mean);
}

void gbs_condition_decouple(gbs_model *model)
{
    const int64_t n = model->dim;
    if (model->fixed == NULL)
        return;
    move_location(model);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
            if (i != j && (!isnan(model->fixed[i]) || !isnan(model->fixed[j])))
                model->precision[i * n + j] = 0.0;
}

/* The mean form: mu_F - Q_FF^-1 pull, which the factor of the decoupled matrix solves for. */
static void settle_mean_form(gbs_model *model)
{
    const int64_t n = model->dim;
    gbs_solve_forward(model->factor, n, model->mean);
    gbs_solve_backward(model->factor, n, model->mean);
    for (int64_t i = 0; i < n; ++i)
        model->location[i] -= model->mean[i];
    model->location_kind = GBS_LOCATION_MEAN;
}

/* A fixed site's location is whatever makes its value its mean. */
static void settle_fixed(gbs_model *model)
{
    for (int64_t i = 0; i < model->dim; ++i)
        if (!isnan(model->fixed[i]))
            model->location[i] = model->location_kind == GBS_LOCATION_INFORMATION
                                     ? model->fixed[i] * model->precision[i * model->dim + i]
                                     : model->fixed[i];
}

void gbs_condition_settle(gbs_model *model)
{
    if (model->fixed == NULL)
        return;
    if (model->location_kind == GBS_LOCATION_ZERO || model->location_kind == GBS_LOCATION_MEAN)
        settle_mean_form(model);
    settle_fixed(model);
}

void gbs_condition_hold(const gbs_model *model, double *x, const double *values)
{
    for (int64_t i = 0; model->fixed != NULL && i < model->dim; ++i)
        if (!isnan(model->fixed[i]))
            x[i] = values != NULL ? values[i] : 0.0;
}
