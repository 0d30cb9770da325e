/* The sampler: made from a plan, and read.  run.c runs it. */
#include "sampler/sampler_internal.h"
#include "sampler/constrained.h"
#include "sampler/on_device.h"
#include "model/bounds.h"
#include "sampler/boxes.h"
#include "sampler/plan.h"
#include "core/pool.h"

#include <math.h>
#include <string.h>

/* ---- making ---- */

void gbs_sampler_split(gbs_sampler *sampler)
{
    const int type = (int)sampler->type;
    const int64_t wide = sampler->kernels->wide[type].width,
                  narrow = sampler->kernels->narrow[type].width;
    const int64_t rest = sampler->chains % wide;
    if (sampler->few != NULL) {
        sampler->wide_blocks = 0;
        sampler->blocks = 1;
        sampler->padded_chains = sampler->few->chains;
        return;
    }
    sampler->wide_blocks = sampler->chains / wide + (2 * rest > wide ? 1 : 0);
    const int64_t covered = sampler->wide_blocks * wide;
    const int64_t left = sampler->chains > covered ? sampler->chains - covered : 0;
    const int64_t narrow_blocks = (left + narrow - 1) / narrow;
    sampler->blocks = sampler->wide_blocks + narrow_blocks;
    sampler->padded_chains = covered + narrow_blocks * narrow;
}

int gbs_sampler_is_constrained(const gbs_sampler *sampler)
{
    return sampler->method == GBS_METHOD_WHITENED ||
           (sampler->method == GBS_METHOD_GIBBS && sampler->model->constraints != NULL);
}

int32_t gbs_sampler_rows(const gbs_sampler *sampler, int wide)
{
    const gbs_kernels *const kernels = sampler->kernels;
    if (gbs_boxes_any(sampler))
        return gbs_boxes_kernels(sampler, wide)->rows;
    return wide ? kernels->wide[sampler->type].rows : kernels->narrow[sampler->type].rows;
}

int32_t gbs_sampler_most_rows(const gbs_sampler *sampler)
{
    const int32_t wide = gbs_sampler_rows(sampler, 1), narrow = gbs_sampler_rows(sampler, 0);
    return wide > narrow ? wide : narrow;
}

void *gbs_sampler_take(gbs_sampler *sampler, const char *what, int64_t rows, int64_t columns,
                       size_t size, gbs_status *status)
{
    int64_t count;
    void *memory = NULL;
    if (*status != GBS_OK)
        return NULL;
    if (!__builtin_mul_overflow(rows, columns, &count))
        memory = gbs_memory_take(&sampler->ctx->allocator, count, size);
    if (memory == NULL)
        *status = gbs_fail(sampler->ctx, GBS_ERROR_MEMORY,
                           "%s: no memory for %lld x %lld elements of %zu bytes", what,
                           (long long)rows, (long long)columns, size);
    return memory;
}

void *gbs_sampler_take_rooms(gbs_sampler *sampler, const char *what, int64_t rooms, int64_t rows,
                             int64_t columns, size_t size, int64_t *room, gbs_status *status)
{
    if (__builtin_mul_overflow(rows, columns, room) ||
        __builtin_add_overflow(*room, (int64_t)(GBS_POOL_GAP / size), room))
        *room = INT64_MAX; /* more than there is */
    return gbs_sampler_take(sampler, what, rooms, *room, size, status);
}

static gbs_status take_memory(gbs_sampler *sampler)
{
    const size_t size = gbs_type_size(sampler->type);
    const int64_t dim = sampler->dim, workers = gbs_pool_workers(sampler->ctx->pool);
    /* starts are drawn in the first room */
    const int64_t width = gbs_sampler_block(sampler, 0).z_width;
    const int64_t lanes = !gbs_noise_is_sequential(sampler) ? width
                          : sampler->padded_chains > width  ? sampler->padded_chains
                                                            : width;
    const int64_t together = sampler->together > 0 ? sampler->together : 1;
    const int64_t rooms = sampler->few != NULL               ? 2
                          : gbs_noise_is_sequential(sampler) ? 1
                                                             : workers * together;
    gbs_status status = GBS_OK;
    sampler->place = gbs_sampler_take(sampler, "order", 1, dim, sizeof(int64_t), &status);
    for (int half = 0; half < sampler->passes; ++half)
        sampler->pass[half].site =
            gbs_sampler_take(sampler, "order", 1, dim, sizeof(int64_t), &status);
    sampler->state = gbs_sampler_take(sampler, "state", sampler->padded_chains, dim, size, &status);
    sampler->noise =
        gbs_sampler_take_rooms(sampler, "noise", rooms, lanes, dim, size, &sampler->room, &status);
    if (gbs_boxes_any(sampler) && sampler->overrelax > 0)
        sampler->cells = gbs_sampler_take(sampler, "noise", rooms, sampler->room, size, &status);
    if (sampler->few != NULL)
        sampler->sums =
            gbs_sampler_take_rooms(sampler, "sums", workers, sampler->few->chains,
                                   sampler->few->rows, size, &sampler->sums_room, &status);
    if (sampler->tiled)
        sampler->sums = gbs_sampler_take_rooms(sampler, "sums", workers, together * width,
                                               sampler->kernels->tiles[sampler->type].rows, size,
                                               &sampler->sums_room, &status);
    sampler->staging =
        gbs_sampler_take(sampler, "draws for the callback", sampler->chains, dim, size, &status);
    return status;
}

static gbs_status start_stream(gbs_sampler *sampler)
{
    const gbs_stream_spec *const stream = &sampler->stream;
    gbs_status status = GBS_OK;
    if (stream->kind == GBS_STREAM_TORCH_CPU) {
        sampler->torch_cpu =
            gbs_memory_take(&sampler->ctx->allocator, 1, sizeof *sampler->torch_cpu);
        if (sampler->torch_cpu == NULL)
            return gbs_fail_memory(sampler->ctx, "torch generator", 1, sizeof *sampler->torch_cpu);
        gbs_torch_cpu_seed(sampler->torch_cpu, sampler->seed);
        if (stream->torch_state != NULL)
            status = gbs_torch_cpu_set_state(sampler->torch_cpu, stream->torch_state);
    }
    if (stream->kind == GBS_STREAM_TORCH_CUDA) {
        sampler->torch_cuda.seed = sampler->seed;
        sampler->torch_cuda.multiprocessors = stream->cuda_multiprocessors;
        sampler->torch_cuda.threads_per_multiprocessor = stream->cuda_threads_per_multiprocessor;
        if (stream->torch_state != NULL)
            status = gbs_torch_cuda_set_state(&sampler->torch_cuda, stream->torch_state);
    }
    sampler->stream.torch_state = NULL;
    if (status != GBS_OK)
        return gbs_fail(sampler->ctx, status, "torch_state: not a state of this generator");
    return GBS_OK;
}

/* x_i = rn_T(fma(spread_i, z_i, mu_i)), z from purpose 1, sweep 0; spread NULL means z unused. */
static void start_block(gbs_sampler *sampler, const gbs_block *block, const double *spread)
{
    const double *const mean = sampler->model->mean;
    const int64_t width = block->width, offset = gbs_block_offset(sampler, block);
    if (spread != NULL) {
        gbs_noise_draw_native(sampler, block, GBS_PURPOSE_START, 0, 0, sampler->dim,
                              sampler->noise);
    }
    for (int64_t i = 0; i < sampler->dim; ++i)
        for (int64_t lane = 0; lane < width; ++lane) {
            const int64_t at = i * block->z_width + lane;
            const double z = spread == NULL ? 0.0
                             : sampler->type == GBS_F32
                                 ? (double)((const float *)sampler->noise)[at]
                                 : ((const double *)sampler->noise)[at];
            gbs_state_store(sampler, offset + sampler->place[i] * width + lane,
                            spread == NULL ? mean[i] : fma(2.0 * spread[i], z, mean[i]));
        }
}

static int fits(const gbs_sampler *sampler, double value)
{
    return isfinite(sampler->type == GBS_F32 ? (double)(float)value : value);
}

/* No normal is beyond 9, so that a start of mean +- 18 sd must fit in T. */
static gbs_status check_start(const gbs_sampler *sampler, const double *spread)
{
    const gbs_model *const model = sampler->model;
    const char *const type = sampler->type == GBS_F32 ? "float" : "double";
    for (int64_t i = 0; i < sampler->dim; ++i) {
        const double mean = model->mean[i];
        if (!fits(sampler, mean))
            return gbs_fail(sampler->ctx, GBS_ERROR_NOT_FINITE,
                            "mean: site %lld: %.17g does not fit in %s", (long long)i, mean, type);
        if (spread != NULL && !fits(sampler, fabs(mean) + 18.0 * spread[i]))
            return gbs_fail(sampler->ctx, GBS_ERROR_NOT_FINITE,
                            "precision: site %lld, where Q[%lld,%lld] = %.9g, has the standard "
                            "deviation %.9g: a start 18 of them from its mean, %.9g, does not fit "
                            "in %s",
                            (long long)i, (long long)i, (long long)i,
                            model->precision[i * model->dim + i], spread[i], mean, type);
    }
    return GBS_OK;
}

static gbs_status start_chains(gbs_sampler *sampler, const gbs_sampler_spec *spec)
{
    const gbs_start start = sampler->method == GBS_METHOD_EXACT ? GBS_START_MEAN : spec->start;
    if (start == GBS_START_OVERDISPERSED && sampler->model->constraints != NULL)
        return gbs_constrained_start(sampler);
    if (start == GBS_START_GIVEN) {
        const gbs_status within =
            gbs_boxes_check_state(sampler, "initial", spec->initial, spec->initial_rows);
        if (within != GBS_OK)
            return within;
        gbs_state_scatter(sampler, spec->initial, spec->initial_rows == 1 ? 0 : sampler->dim, 1);
    }
    if (start == GBS_START_GIVEN || start == GBS_START_ZERO || start == GBS_START_LATER)
        return GBS_OK; /* memory starts as zeros */
    gbs_status status = GBS_OK;
    double *spread = NULL;
    if (start == GBS_START_OVERDISPERSED) {
        spread = gbs_sampler_take(sampler, "standard deviations", 1, sampler->dim, sizeof(double),
                                  &status);
        if (status == GBS_OK)
            status = gbs_model_sd(sampler->ctx, sampler->model, spread);
    }
    if (status == GBS_OK)
        status = check_start(sampler, spread);
    for (int64_t index = 0; index < sampler->blocks && status == GBS_OK; ++index) {
        const gbs_block block = gbs_sampler_block(sampler, index);
        start_block(sampler, &block, spread);
    }
    gbs_memory_give(&sampler->ctx->allocator, spread);
    return status;
}

static gbs_status plan(gbs_sampler *sampler, const gbs_sampler_spec *spec)
{
    gbs_status status = take_memory(sampler);
    if (status == GBS_OK)
        status = gbs_plan_order(sampler, spec);
    if (status == GBS_OK)
        status = gbs_sampler_is_constrained(sampler)
                     ? gbs_constrained_plan(sampler, sampler->omega)
                     : gbs_plan_coefficients(sampler, sampler->omega);
    if (status == GBS_OK)
        status = start_stream(sampler);
    if (status == GBS_OK)
        status = start_chains(sampler, spec);
    if (status == GBS_OK)
        gbs_state_hold_fixed(sampler);
    if (status == GBS_OK && (sampler->constrained == NULL || spec->start != GBS_START_GIVEN))
        gbs_boxes_hold_state(sampler); /* a given one is checked instead */
    if (status == GBS_OK && sampler->constrained != NULL && !sampler->stateless)
        status = gbs_constrained_check_start(sampler);
    if (status == GBS_OK && sampler->ctx->device != NULL)
        status = gbs_on_device_start(sampler);
    return status;
}

/* Given noise is finite in T, or a draw would not be. */
static gbs_status check_noise(gbs_context *ctx, const gbs_model *model,
                              const gbs_sampler_spec *spec)
{
    const gbs_stream_spec *const stream = &spec->stream;
    const int64_t dim = model->dim;
    int64_t each, count;
    if (stream->kind != GBS_STREAM_GIVEN)
        return GBS_OK;
    if (__builtin_mul_overflow(dim, spec->chains, &each) ||
        __builtin_mul_overflow(each, stream->noise_sweeps, &count))
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "noise: %lld x %lld x %lld numbers are too many",
                        (long long)stream->noise_sweeps, (long long)dim, (long long)spec->chains);
    for (int64_t at = 0; at < count; ++at) {
        if (gbs_bounds_box(model, spec->type, at % each / spec->chains).kind != GBS_BOX_FREE) {
            at += spec->chains - 1; /* words, and these cannot be wrong */
            continue;
        }
        const double z = stream->noise_type == GBS_F32 ? (double)((const float *)stream->noise)[at]
                                                       : ((const double *)stream->noise)[at];
        if (!isfinite(spec->type == GBS_F32 ? (double)(float)z : z))
            return gbs_fail(ctx, GBS_ERROR_NOT_FINITE,
                            "noise: sweep %lld, site %lld, chain %lld is %g, not finite in %s",
                            (long long)(at / each), (long long)(at % each / spec->chains),
                            (long long)(at % spec->chains), z,
                            spec->type == GBS_F32 ? "float" : "double");
    }
    return GBS_OK;
}

gbs_status gbs_sampler_create(gbs_context *ctx, gbs_model *model, const gbs_sampler_spec *spec,
                              gbs_sampler **out)
{
    if (out != NULL)
        *out = NULL;
    if (ctx == NULL || model == NULL || spec == NULL || out == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "sampler: context, model, spec and out must not be NULL");
    gbs_status status = gbs_plan_check(ctx, model->dim, spec);
    if (status == GBS_OK)
        status = gbs_constrained_check(ctx, model, spec);
    if (status == GBS_OK)
        status = gbs_boxes_check(ctx, model, spec);
    if (status == GBS_OK)
        status = check_noise(ctx, model, spec);
    if (status != GBS_OK)
        return status;
    gbs_sampler *const sampler = gbs_memory_take(&ctx->allocator, 1, sizeof *sampler);
    if (sampler == NULL)
        return gbs_fail_memory(ctx, "sampler", 1, sizeof *sampler);
    sampler->ctx = ctx;
    sampler->model = model;
    gbs_model_retain(model);
    sampler->type = spec->type;
    sampler->method = spec->method;
    sampler->dim = model->dim;
    sampler->chains = spec->chains;
    sampler->first_chain = spec->first_chain;
    sampler->first_sweep = spec->first_sweep;
    sampler->seed = spec->seed;
    sampler->order = spec->order;
    sampler->overrelax = spec->overrelax;
    sampler->omega = spec->overrelax > 0 ? 1.0 + spec->overrelax : spec->omega;
    sampler->relaxed = sampler->omega != 1.0;
    sampler->kernels = gbs_cpu_kernels(ctx->isa);
    sampler->passes = spec->order == GBS_ORDER_SYMMETRIC ? 2 : 1;
    sampler->stream = spec->stream;
    sampler->groups = 1;
    sampler->stateless = spec->start == GBS_START_LATER;
    if (!gbs_sampler_is_constrained(sampler))
        status = gbs_boxes_plan(sampler);
    if (status != GBS_OK) {
        gbs_sampler_destroy(sampler);
        return status;
    }
    /* constrained draws go a block at a time, draws between bounds a few blocks */
    const int forms = sampler->method == GBS_METHOD_GIBBS && ctx->device == NULL &&
                      !gbs_sampler_is_constrained(sampler) && !gbs_boxes_any(sampler);
    if (forms)
        sampler->few =
            gbs_form_few(ctx, sampler->kernels, sampler->type, sampler->chains, sampler->dim);
    gbs_sampler_split(sampler);
    if (forms)
        sampler->together = gbs_form_tiles(ctx, sampler->type, sampler->wide_blocks, sampler->dim);
    sampler->tiled = sampler->together > 0;
    if (gbs_boxes_any(sampler) && ctx->device == NULL)
        sampler->together = gbs_form_bounded(ctx, sampler->wide_blocks, sampler->dim);

    fenv_t saved;
    gbs_float_enter(&saved);
    status = plan(sampler, spec);
    gbs_float_leave(&saved);
    if (status != GBS_OK) {
        gbs_sampler_destroy(sampler);
        return status;
    }
    *out = sampler;
    return GBS_OK;
}

void gbs_sampler_destroy(gbs_sampler *sampler)
{
    if (sampler == NULL)
        return;
    const gbs_allocator *const allocator = &sampler->ctx->allocator;
    gbs_on_device_end(sampler);
    gbs_constrained_end(sampler);
    for (int half = 0; half < 2; ++half) {
        gbs_memory_give(allocator, sampler->pass[half].site);
        gbs_memory_give(allocator, sampler->pass[half].wide_panels);
        gbs_memory_give(allocator, sampler->pass[half].narrow_panels);
        gbs_memory_give(allocator, sampler->pass[half].few_panels);
        gbs_memory_give(allocator, sampler->pass[half].tile_panels);
    }
    gbs_boxes_end(sampler);
    gbs_memory_give(allocator, sampler->place);
    gbs_memory_give(allocator, sampler->torch_cpu);
    gbs_memory_give(allocator, sampler->state);
    gbs_memory_give(allocator, sampler->noise);
    gbs_memory_give(allocator, sampler->sums);
    gbs_memory_give(allocator, sampler->staging);
    gbs_model_release(sampler->model);
    gbs_memory_give(allocator, sampler);
}

/* ---- reading ---- */

gbs_status gbs_sampler_get_state(const gbs_sampler *sampler, void *x)
{
    if (sampler == NULL)
        return GBS_ERROR_ARGUMENT;
    if (x == NULL)
        return gbs_fail(sampler->ctx, GBS_ERROR_ARGUMENT, "x: NULL");
    if (sampler->on_device != NULL)
        return gbs_on_device_get_state(sampler, x);
    gbs_state_gather(sampler, x, sampler->dim, 1);
    return GBS_OK;
}

static gbs_status put_state(gbs_sampler *sampler, const void *x)
{
    if (sampler->on_device != NULL)
        return gbs_on_device_set_state(sampler, x);
    gbs_state_scatter(sampler, x, sampler->dim, 1);
    gbs_boxes_hold_state(sampler);
    if (sampler->constrained != NULL) /* its sweeps leave fixed sites as they are */
        gbs_state_hold_fixed(sampler);
    return GBS_OK;
}

gbs_status gbs_sampler_set_state(gbs_sampler *sampler, const void *x)
{
    if (sampler == NULL)
        return GBS_ERROR_ARGUMENT;
    if (x == NULL)
        return gbs_fail(sampler->ctx, GBS_ERROR_ARGUMENT, "x: NULL");
    gbs_status status =
        gbs_state_check(sampler->ctx, "x", sampler->type, x, sampler->chains, sampler->dim);
    if (status == GBS_OK && sampler->constrained != NULL)
        status = gbs_constrained_check_state(sampler->ctx, sampler->model, sampler->type, "x", x,
                                             sampler->chains);
    if (status == GBS_OK)
        status = gbs_boxes_check_state(sampler, "x", x, sampler->chains);
    if (status == GBS_OK)
        status = put_state(sampler, x);
    if (status == GBS_OK)
        sampler->stateless = 0;
    return status;
}

int64_t gbs_sampler_next_sweep(const gbs_sampler *sampler)
{
    return sampler->first_sweep + sampler->done;
}

gbs_status gbs_sampler_get_torch_state(const gbs_sampler *sampler, void *state, size_t bytes)
{
    if (sampler == NULL)
        return GBS_ERROR_ARGUMENT;
    const int cpu = sampler->stream.kind == GBS_STREAM_TORCH_CPU;
    if (state == NULL || (!cpu && sampler->stream.kind != GBS_STREAM_TORCH_CUDA))
        return gbs_fail(sampler->ctx, GBS_ERROR_ARGUMENT,
                        "state: NULL, or the sampler does not draw from a torch stream");
    const size_t needed = cpu ? GBS_TORCH_CPU_STATE_BYTES : GBS_TORCH_CUDA_STATE_BYTES;
    if (bytes != needed)
        return gbs_fail(sampler->ctx, GBS_ERROR_ARGUMENT,
                        "bytes: %zu, but this stream's states have %zu", bytes, needed);
    if (cpu)
        gbs_torch_cpu_get_state(sampler->torch_cpu, state);
    else
        gbs_torch_cuda_get_state(&sampler->torch_cuda, state);
    return GBS_OK;
}

const char *gbs_sampler_kernel(const gbs_sampler *sampler)
{
    if (sampler->on_device != NULL)
        return gbs_on_device_kernel(sampler);
    if (sampler->constrained != NULL)
        return gbs_constrained_kernel(sampler);
    const char *const *const names = sampler->few != NULL     ? sampler->kernels->few_name
                                     : gbs_boxes_any(sampler) ? sampler->kernels->bounded->name
                                     : sampler->tiled         ? sampler->kernels->tile_name
                                                              : sampler->kernels->sweep_name;
    return names[sampler->type];
}
