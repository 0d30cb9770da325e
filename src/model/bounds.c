/* Bounds of a model's sites.  They are kept in double, as given; a sampler rounds them inward to
 * its type, so that no draw leaves the bounds that the user gave.  A site whose bounds are equal is
 * a fixed one (condition.c), and from then on no bounded one. */
#include "model/bounds.h"
#include "model/condition.h"

#include <float.h>
#include <math.h>
#include <string.h>

static gbs_status check_pair(gbs_context *ctx, int64_t site, double lower, double upper)
{
    if (isnan(lower) || isnan(upper))
        return gbs_fail(ctx, GBS_ERROR_NOT_FINITE, "%s: site %lld is NaN",
                        isnan(lower) ? "lower" : "upper", (long long)site);
    if (lower > upper)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "lower: site %lld: %.17g is above upper, %.17g",
                        (long long)site, lower, upper);
    if (lower == (double)INFINITY || upper == -(double)INFINITY)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "%s: site %lld is %g, which leaves it no number to take",
                        lower > 0 ? "lower" : "upper", (long long)site, lower > 0 ? lower : upper);
    return GBS_OK;
}

static gbs_status check_fixed(gbs_context *ctx, int64_t site, double value, double lower,
                              double upper)
{
    if (value < lower)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "fixed: site %lld is %.17g, below its lower bound %.17g", (long long)site,
                        value, lower);
    if (value > upper)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "fixed: site %lld is %.17g, above its upper bound %.17g", (long long)site,
                        value, upper);
    return GBS_OK;
}

static gbs_status take(gbs_context *ctx, const char *what, gbs_model *model, double **out)
{
    *out = gbs_memory_take(&model->allocator, model->dim, sizeof **out);
    return *out != NULL ? GBS_OK : gbs_fail_memory(ctx, what, model->dim, sizeof **out);
}

/* Sites with equal bounds join the fixed ones. */
static gbs_status fix_equal(gbs_context *ctx, gbs_model *model)
{
    const int64_t n = model->dim;
    for (int64_t i = 0; i < n; ++i) {
        if (model->lower[i] < model->upper[i])
            continue;
        if (model->fixed == NULL) {
            const gbs_status status = take(ctx, "fixed sites", model, &model->fixed);
            if (status != GBS_OK)
                return status;
            for (int64_t j = 0; j < n; ++j)
                model->fixed[j] = (double)NAN;
        }
        model->fixed[i] = model->lower[i];
    }
    return GBS_OK;
}

gbs_status gbs_bounds_read(gbs_context *ctx, const double *lower, const double *upper,
                           gbs_model *model)
{
    int bounded = 0;
    for (int64_t i = 0; i < model->dim; ++i) {
        const double lo = lower != NULL ? lower[i] : -(double)INFINITY;
        const double hi = upper != NULL ? upper[i] : (double)INFINITY;
        gbs_status status = check_pair(ctx, i, lo, hi);
        if (status == GBS_OK && gbs_model_is_fixed(model, i))
            status = check_fixed(ctx, i, model->fixed[i], lo, hi);
        if (status != GBS_OK)
            return status;
        bounded |= isfinite(lo) || isfinite(hi);
    }
    if (!bounded)
        return GBS_OK;
    gbs_status status = take(ctx, "bounds", model, &model->lower);
    if (status == GBS_OK)
        status = take(ctx, "bounds", model, &model->upper);
    for (int64_t i = 0; i < model->dim && status == GBS_OK; ++i) {
        /* one zero, for their hash */
        model->lower[i] = lower != NULL ? lower[i] + 0.0 : -(double)INFINITY;
        model->upper[i] = upper != NULL ? upper[i] + 0.0 : (double)INFINITY;
    }
    return status == GBS_OK ? fix_equal(ctx, model) : status;
}

/* ---- in a type ---- */

static double largest(gbs_type type)
{
    return type == GBS_F32 ? (double)FLT_MAX : DBL_MAX;
}

double gbs_bounds_up_to(gbs_type type, double bound)
{
    if (type == GBS_F64)
        return bound;
    const float near = (float)bound;
    return (double)near < bound ? (double)nextafterf(near, INFINITY) : (double)near;
}

/* An empty box lies between two neighbours of T, or beyond its largest number. */
static double nearest(gbs_type type, double lower, double upper)
{
    const double most = largest(type);
    if (lower > most || upper < -most)
        return lower > most ? most : -most;
    const double above = gbs_bounds_up_to(type, lower), below = -gbs_bounds_up_to(type, -upper);
    return above - upper <= lower - below ? above : below;
}

gbs_box gbs_bounds_box(const gbs_model *model, gbs_type type, int64_t site)
{
    gbs_box box = {GBS_BOX_FREE, -(double)INFINITY, (double)INFINITY};
    if (model->lower == NULL || gbs_model_is_fixed(model, site))
        return box;
    /* a lower bound below all of T is none, and one above all of it leaves nothing */
    const double lower = model->lower[site], upper = model->upper[site], most = largest(type);
    if (lower < -most && upper > most)
        return box;
    box.kind = GBS_BOX_HOLDS;
    if (lower >= -most)
        box.lower = gbs_bounds_up_to(type, lower);
    if (upper <= most)
        box.upper = -gbs_bounds_up_to(type, -upper);
    if (lower > most || upper < -most || box.lower > box.upper) {
        box.kind = GBS_BOX_EMPTY;
        box.lower = box.upper = nearest(type, lower, upper);
    }
    return box;
}

/* Equal bounds fix a site; if T does not hold their number, no draw lies between them.  (Beyond its
 * largest number, samplers refuse a fixed value.) */
static int is_fixed_outside(const gbs_model *model, gbs_type type, int64_t site)
{
    if (model->lower == NULL || model->lower[site] != model->upper[site])
        return 0;
    const double value = model->lower[site];
    return fabs(value) <= largest(type) && gbs_bounds_up_to(type, value) != value;
}

gbs_status gbs_model_boxes(gbs_context *ctx, const gbs_model *model, gbs_type type, gbs_boxes *out)
{
    if (ctx == NULL || model == NULL || out == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "boxes: context, model and out must not be NULL");
    if (type != GBS_F32 && type != GBS_F64)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "type: %d is neither GBS_F32 nor GBS_F64",
                        (int)type);
    gbs_boxes boxes = {.empty_site = -1, .unresolved_site = -1};
    for (int64_t i = 0; i < model->dim; ++i) {
        const gbs_box box = gbs_bounds_box(model, type, i);
        boxes.bounded += box.kind != GBS_BOX_FREE;
        const int empty = box.kind == GBS_BOX_EMPTY || is_fixed_outside(model, type, i);
        if (empty && boxes.empty++ == 0)
            boxes.empty_site = i;
    }
    const gbs_status status =
        boxes.bounded > 0 ? gbs_bounds_count_unresolved(ctx, model, type, &boxes) : GBS_OK;
    if (status == GBS_OK)
        *out = boxes;
    return status;
}
