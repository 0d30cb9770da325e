/* Bounds of one-call sweeps.  They come in the type of the arrays, so that nothing is rounded here;
 * a caller that rounds does so inward. */
#include "sampler/sweep_boxes.h"

#include <math.h>

static double at(gbs_type type, const void *array, int64_t index)
{
    return type == GBS_F32 ? (double)((const float *)array)[index] : ((const double *)array)[index];
}

static void store(gbs_type type, void *array, int64_t index, double value)
{
    if (type == GBS_F32)
        ((float *)array)[index] = (float)value;
    else
        ((double *)array)[index] = value;
}

static double lower_of(const gbs_sweep_spec *spec, int64_t group, int64_t site)
{
    if (spec->lower == NULL)
        return -(double)INFINITY;
    return at(spec->type, spec->lower, group * spec->bounds_group_stride + site);
}

static double upper_of(const gbs_sweep_spec *spec, int64_t group, int64_t site)
{
    if (spec->upper == NULL)
        return (double)INFINITY;
    return at(spec->type, spec->upper, group * spec->bounds_group_stride + site);
}

static int is_bounded(double lower, double upper)
{
    return isfinite(lower) || isfinite(upper);
}

/* ---- checks ---- */

static gbs_status check_pair(gbs_context *ctx, int64_t group, int64_t site, double lower,
                             double upper)
{
    const int bad = isnan(lower) || lower == (double)INFINITY;
    if (isnan(lower) || isnan(upper))
        return gbs_fail(ctx, GBS_ERROR_NOT_FINITE, "%s: group %lld, site %lld is NaN",
                        bad ? "lower" : "upper", (long long)group, (long long)site);
    if (lower > upper)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "lower: group %lld, site %lld: %.17g is above upper, %.17g",
                        (long long)group, (long long)site, lower, upper);
    if (bad || upper == -(double)INFINITY)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "%s: group %lld, site %lld is %g, which leaves it no number to take",
                        bad ? "lower" : "upper", (long long)group, (long long)site,
                        bad ? lower : upper);
    return GBS_OK;
}

static gbs_status check_x(gbs_context *ctx, const gbs_sweep_spec *spec, int64_t group,
                          int64_t chain)
{
    for (int64_t i = 0; i < spec->dim; ++i) {
        const double lower = lower_of(spec, group, i), upper = upper_of(spec, group, i);
        const double x =
            at(spec->type, spec->x,
               group * spec->x_stride[0] + chain * spec->x_stride[1] + i * spec->x_stride[2]);
        if (is_bounded(lower, upper) && !(x >= lower && x <= upper))
            return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                            "x: group %lld, chain %lld, site %lld is %.17g, not between its bounds "
                            "%.17g and %.17g",
                            (long long)group, (long long)chain, (long long)i, x, lower, upper);
    }
    return GBS_OK;
}

static gbs_status check_options(gbs_context *ctx, const gbs_sweep_spec *spec, int64_t bounded,
                                int64_t sites)
{
    if (spec->stream == GBS_STREAM_GIVEN && bounded < sites && spec->noise == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "noise: NULL, but the stream is given");
    if (bounded == 0)
        return GBS_OK;
    if (spec->omega != 1.0)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "omega: %.17g, but sites with bounds cannot overshoot; overrelax can",
                        spec->omega);
    if (spec->stream == GBS_STREAM_TORCH_CPU || spec->stream == GBS_STREAM_TORCH_CUDA)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "stream: torch's streams are of normals, and draws between bounds take "
                        "words");
    if (spec->stream == GBS_STREAM_GIVEN && spec->words == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "words: NULL, but the stream is given and sites have bounds");
    return GBS_OK;
}

gbs_status gbs_sweep_boxes_check(gbs_context *ctx, const gbs_sweep_spec *spec,
                                 gbs_sweep_boxes *boxes)
{
    int64_t bounded = 0;
    *boxes = (gbs_sweep_boxes){.sets = spec->bounds_group_stride == 0 ? 1 : spec->groups};
    for (int64_t set = 0; set < boxes->sets; ++set)
        for (int64_t i = 0; i < spec->dim && (spec->lower != NULL || spec->upper != NULL); ++i) {
            const double lower = lower_of(spec, set, i), upper = upper_of(spec, set, i);
            const gbs_status status = check_pair(ctx, set, i, lower, upper);
            if (status != GBS_OK)
                return status;
            bounded += is_bounded(lower, upper);
        }
    gbs_status status = check_options(ctx, spec, bounded, boxes->sets * spec->dim);
    boxes->any = bounded > 0;
    for (int64_t chain = 0; chain < spec->groups * spec->chains && boxes->any; ++chain)
        if (status == GBS_OK)
            status = check_x(ctx, spec, chain / spec->chains, chain % spec->chains);
    return status;
}

/* ---- memory ---- */

void gbs_sweep_boxes_take(gbs_sampler *work, const gbs_sweep_spec *spec, int64_t panel_sets,
                          gbs_sweep_boxes *boxes, gbs_status *status)
{
    const size_t size = gbs_type_size(spec->type);
    const int64_t dim = spec->dim;
    if (!boxes->any)
        return;
    boxes->bounded = gbs_sampler_take(work, "bounds", boxes->sets, dim, 1, status);
    boxes->lower = gbs_sampler_take(work, "bounds", boxes->sets, dim, size, status);
    boxes->upper = gbs_sampler_take(work, "bounds", boxes->sets, dim, size, status);
    boxes->scale = gbs_sampler_take(work, "bounds", panel_sets, dim, size, status);
    for (int64_t k = 0; k < boxes->sets * dim && *status == GBS_OK; ++k) {
        const double lower = lower_of(spec, k / dim, k % dim),
                     upper = upper_of(spec, k / dim, k % dim);
        boxes->bounded[k] = (uint8_t)is_bounded(lower, upper);
        store(spec->type, boxes->lower, k, lower);
        store(spec->type, boxes->upper, k, upper);
    }
    if (*status == GBS_OK)
        gbs_sweep_boxes_enter(boxes, 0, 0, work);
}

void gbs_sweep_boxes_end(const gbs_allocator *allocator, gbs_sweep_boxes *boxes)
{
    gbs_memory_give(allocator, boxes->bounded);
    gbs_memory_give(allocator, boxes->lower);
    gbs_memory_give(allocator, boxes->upper);
    gbs_memory_give(allocator, boxes->scale);
}

/* ---- running ---- */

void gbs_sweep_boxes_enter(const gbs_sweep_boxes *boxes, int64_t group, int64_t set,
                           gbs_sampler *work)
{
    const size_t size = gbs_type_size(work->type);
    const int64_t first = boxes->sets == 1 ? 0 : group * work->dim;
    if (!boxes->any)
        return;
    work->boxes = (gbs_bounded_sites){
        .bounded = boxes->bounded + first,
        .lower = (char *)boxes->lower + (size_t)first * size,
        .upper = (char *)boxes->upper + (size_t)first * size,
        .scale = (char *)boxes->scale + (size_t)(set * work->dim) * size,
        .overrelax = work->overrelax,
        .beside = sqrt((1.0 - work->overrelax) * (1.0 + work->overrelax)),
    };
}

void gbs_sweep_boxes_scale(const gbs_rows *rows, gbs_sampler *work)
{
    for (int64_t i = 0; work->boxes.scale != NULL && i < work->dim; ++i)
        store(work->type, work->boxes.scale, i, gbs_rows_scale(rows, i));
}
