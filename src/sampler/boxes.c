/* Sites between bounds (docs/truncation.md).  The model keeps bounds in double; here they are
 * rounded inward to the sampler's type, once.  A site whose box holds no number of that type is
 * held at the nearest one by equal bounds, between which every draw is that number. */
#include "sampler/boxes.h"
#include "model/bounds.h"
#include "model/condition.h"

#include <math.h>
#include <string.h>

/* ---- planning ---- */

static int64_t count_bounded(const gbs_model *model, gbs_type type)
{
    int64_t count = 0;
    for (int64_t i = 0; model->lower != NULL && i < model->dim; ++i)
        count += gbs_bounds_box(model, type, i).kind != GBS_BOX_FREE;
    return count;
}

static gbs_status check_given(gbs_context *ctx, const gbs_model *model, int64_t bounded,
                              const gbs_stream_spec *stream)
{
    if (bounded > 0 && stream->words == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "words: NULL, but the stream is given and %lld %s bounds",
                        (long long)bounded, gbs_plural(bounded, "site has", "sites have"));
    if (bounded < model->dim && stream->noise == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "noise: NULL, but the stream is given");
    return GBS_OK;
}

gbs_status gbs_boxes_check(gbs_context *ctx, const gbs_model *model, const gbs_sampler_spec *spec)
{
    /* whitened sweeps and row constraints have checks and kernels of their own */
    if (spec->method == GBS_METHOD_WHITENED || model->constraints != NULL)
        return GBS_OK;
    const int64_t bounded = count_bounded(model, spec->type);
    const gbs_stream kind = spec->stream.kind;
    if (kind == GBS_STREAM_GIVEN) {
        const gbs_status status = check_given(ctx, model, bounded, &spec->stream);
        if (status != GBS_OK)
            return status;
    }
    if (bounded == 0)
        return GBS_OK;
    if (spec->method == GBS_METHOD_EXACT)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "method: exact draws know no bounds, which %lld %s", (long long)bounded,
                        gbs_plural(bounded, "site has", "sites have"));
    if (spec->omega != 1.0)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "omega: %.17g, but sites with bounds cannot overshoot; overrelax can",
                        spec->omega);
    if (kind == GBS_STREAM_TORCH_CPU || kind == GBS_STREAM_TORCH_CUDA)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "stream: torch's streams are of normals, and %lld %s bounds, whose "
                        "draws take words",
                        (long long)bounded, gbs_plural(bounded, "site has", "sites have"));
    return GBS_OK;
}

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

gbs_status gbs_boxes_plan(gbs_sampler *sampler)
{
    const gbs_type type = sampler->type;
    const int64_t dim = sampler->dim;
    const size_t size = gbs_type_size(type);
    gbs_bounded_sites *const boxes = &sampler->boxes;
    gbs_status status = GBS_OK;
    if (count_bounded(sampler->model, type) == 0)
        return GBS_OK;
    boxes->bounded = gbs_sampler_take(sampler, "bounds", 1, dim, 1, &status);
    boxes->lower = gbs_sampler_take(sampler, "bounds", 1, dim, size, &status);
    boxes->upper = gbs_sampler_take(sampler, "bounds", 1, dim, size, &status);
    boxes->scale = gbs_sampler_take(sampler, "bounds", 1, dim, size, &status);
    boxes->overrelax = sampler->overrelax;
    boxes->beside = sqrt((1.0 - sampler->overrelax) * (1.0 + sampler->overrelax));
    for (int64_t i = 0; i < dim && status == GBS_OK; ++i) {
        const gbs_box box = gbs_bounds_box(sampler->model, type, i);
        boxes->bounded[i] = box.kind != GBS_BOX_FREE;
        store(type, boxes->lower, i, box.lower);
        store(type, boxes->upper, i, box.upper);
    }
    return status;
}

void gbs_boxes_end(gbs_sampler *sampler)
{
    const gbs_allocator *const allocator = &sampler->ctx->allocator;
    gbs_memory_give(allocator, sampler->boxes.bounded);
    gbs_memory_give(allocator, sampler->boxes.lower);
    gbs_memory_give(allocator, sampler->boxes.upper);
    gbs_memory_give(allocator, sampler->boxes.scale);
    gbs_memory_give(allocator, sampler->cells);
}

const gbs_bounded_block_kernels *gbs_boxes_kernels(const gbs_sampler *sampler, int wide)
{
    const gbs_bounded_kernels *const kernels = sampler->kernels->bounded;
    return wide ? &kernels->wide[sampler->type] : &kernels->narrow[sampler->type];
}

/* ---- states ---- */

int gbs_boxes_is_held(const gbs_sampler *sampler, int64_t site)
{
    return gbs_boxes_any(sampler) && at(sampler->type, sampler->boxes.lower, site) ==
                                         at(sampler->type, sampler->boxes.upper, site);
}

static gbs_status check_value(const gbs_sampler *sampler, const char *what, int64_t chain,
                              int64_t site, double value)
{
    const double lower = at(sampler->type, sampler->boxes.lower, site),
                 upper = at(sampler->type, sampler->boxes.upper, site);
    const int below = value < lower;
    if ((!below && value <= upper) || lower == upper)
        return GBS_OK;
    return gbs_fail(sampler->ctx, GBS_ERROR_ARGUMENT,
                    "%s: chain %lld, site %lld is %.17g, %s its %s bound %.17g", what,
                    (long long)chain, (long long)site, value, below ? "below" : "above",
                    below ? "lower" : "upper", below ? lower : upper);
}

gbs_status gbs_boxes_check_state(const gbs_sampler *sampler, const char *what, const void *x,
                                 int64_t rows)
{
    gbs_status status = GBS_OK;
    if (!gbs_boxes_any(sampler))
        return GBS_OK;
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t i = 0; i < sampler->dim && status == GBS_OK; ++i)
            if (sampler->boxes.bounded[i])
                status = check_value(sampler, what, row, i,
                                     at(sampler->type, x, row * sampler->dim + i));
    return status;
}

static void hold_block(gbs_sampler *sampler, const gbs_block *block, int64_t site,
                       const gbs_box *box)
{
    const int64_t first = gbs_block_offset(sampler, block) + sampler->place[site] * block->width;
    for (int64_t to = first; to < first + block->width; ++to) {
        const double x = at(sampler->type, sampler->state, to);
        if (x < box->lower || x > box->upper)
            gbs_state_store(sampler, to, x < box->lower ? box->lower : box->upper);
    }
}

void gbs_boxes_hold_state(gbs_sampler *sampler)
{
    for (int64_t i = 0; sampler->model->lower != NULL && i < sampler->dim; ++i) {
        const gbs_box box = gbs_bounds_box(sampler->model, sampler->type, i);
        for (int64_t index = 0; box.kind != GBS_BOX_FREE && index < sampler->blocks; ++index) {
            const gbs_block block = gbs_sampler_block(sampler, index);
            hold_block(sampler, &block, i, &box);
        }
    }
}

/* ---- the native stream ---- */

/* Sites that share a counter go together. */
enum { SHARED = 4 };

/* Is there a site with bounds, or one without, among those that share `first`'s counter? */
static int has(const gbs_sampler *sampler, int64_t first, int bounded)
{
    const int64_t left = sampler->dim - first, count = left < SHARED ? left : SHARED;
    return memchr(sampler->boxes.bounded + first, bounded, (size_t)count) != NULL;
}

/* The next stretch of sites from *first on whose counters have one; how many, 0 at the end. */
static int64_t stretch(const gbs_sampler *sampler, int64_t *first, int bounded)
{
    while (*first < sampler->dim && !has(sampler, *first, bounded))
        *first += SHARED;
    int64_t end = *first;
    while (end < sampler->dim && has(sampler, end, bounded))
        end += SHARED;
    return (end < sampler->dim ? end : sampler->dim) - *first;
}

static void draw_words(const gbs_sampler *sampler, const gbs_block *block, int32_t purpose,
                       uint64_t sweep, void *to)
{
    int64_t count;
    for (int64_t first = 0; (count = stretch(sampler, &first, 1)) > 0; first += count) {
        const gbs_words_job job = {
            .like = gbs_noise_job(sampler, block, purpose, sweep, first, count, to),
            .wanted = sampler->boxes.bounded,
        };
        gbs_boxes_kernels(sampler, block->wide)->words(&job);
    }
}

void gbs_boxes_draw_native(const gbs_sampler *sampler, const gbs_block *block, uint64_t sweep,
                           void *to, void *cells)
{
    int64_t count;
    if (sampler->overrelax > 0) { /* every site takes its normal */
        gbs_noise_draw_native(sampler, block, GBS_PURPOSE_SITE, sweep, 0, sampler->dim, to);
        draw_words(sampler, block, GBS_PURPOSE_CELL, sweep, cells);
        return;
    }
    for (int64_t first = 0; (count = stretch(sampler, &first, 0)) > 0; first += count)
        gbs_noise_draw_native(sampler, block, GBS_PURPOSE_SITE, sweep, first, count, to);
    draw_words(sampler, block, GBS_PURPOSE_TRUNCATED, sweep, to);
}
