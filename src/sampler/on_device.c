/* Samplers on a device.  Draws stay there until a batch of them is full, so that one launch makes
 * many sweeps and one copy brings many draws.  Noise that the device cannot make, the caller's and
 * torch's CPU generator's, is sent ahead of the sweeps in pieces. */
#include "model/condition.h"
#include "sampler/on_device_internal.h"

/* Draws kept on the device between copies, and noise sent ahead: this much, or one of them. */
#define KEPT_BYTES ((int64_t)16 << 20)
#define NOISE_BYTES ((int64_t)64 << 20)
#define MOST_AT_ONCE 4096
#define PAGE ((size_t)4096)

static size_t state_bytes(const gbs_sampler *sampler)
{
    return (size_t)(sampler->chains * sampler->dim) * gbs_type_size(sampler->type);
}

/* Does noise go through the device's memory, which holds noise_passes of it?  Sweeps between
 * bounds, within rows and whitened make their own in any order of visit. */
static int is_buffered(const gbs_sampler *sampler)
{
    if (gbs_boxes_any(sampler) || sampler->constrained != NULL)
        return gbs_device_is_fed(sampler);
    return gbs_device_is_fed(sampler) || sampler->method == GBS_METHOD_EXACT ||
           sampler->order == GBS_ORDER_PERMUTED;
}

/* ---- between places and sites ---- */

/* x [B, D] by place, to sites of the caller's strides. */
static void to_sites(const gbs_sampler *sampler, const void *x, void *to, int64_t chain_stride,
                     int64_t site_stride)
{
    const struct gbs_on_device *const device = sampler->on_device;
    const int64_t dim = sampler->dim;
    for (int64_t chain = 0; chain < sampler->chains; ++chain)
        if (device->place == NULL)
            gbs_device_copy(sampler->type, x, chain * dim, 1, to, chain * chain_stride, site_stride,
                            dim);
        else
            for (int64_t i = 0; i < dim; ++i)
                gbs_device_copy(sampler->type, x, chain * dim + device->place[i], 1, to,
                                chain * chain_stride + i * site_stride, 1, 1);
    for (int64_t i = 0; device->values != NULL && i < dim; ++i)
        for (int64_t chain = 0; gbs_device_is_elsewhere(device, i) && chain < sampler->chains;
             ++chain)
            gbs_device_store(sampler->type, to, chain * chain_stride + i * site_stride,
                             device->values[i]);
}

static void to_places(const gbs_sampler *sampler, const void *x, void *to)
{
    const struct gbs_on_device *const device = sampler->on_device;
    const int64_t dim = sampler->dim;
    for (int64_t chain = 0; chain < sampler->chains; ++chain)
        for (int64_t i = 0; i < dim; ++i)
            if (gbs_device_is_elsewhere(device, i))
                gbs_device_store(sampler->type, to, chain * dim + gbs_device_place_of(device, i),
                                 0.0);
            else if (gbs_boxes_is_held(sampler, i))
                gbs_device_copy(sampler->type, sampler->boxes.lower, i, 1, to,
                                chain * dim + gbs_device_place_of(device, i), 1, 1);
            else if (sampler->constrained != NULL && gbs_model_is_fixed(sampler->model, i))
                gbs_device_store(sampler->type, to, chain * dim + gbs_device_place_of(device, i),
                                 sampler->model->fixed[i]);
            else
                gbs_device_copy(sampler->type, x, chain * dim + i, 1, to,
                                chain * dim + gbs_device_place_of(device, i), 1, 1);
}

/* ---- making ---- */

static int64_t at_once(int64_t bytes, size_t each)
{
    const int64_t fit = bytes / (int64_t)each;
    return fit < 1 ? 1 : fit > MOST_AT_ONCE ? MOST_AT_ONCE : fit;
}

/* The blocks that the CPU's kernels would work on hold the starts; they are needed no more. */
static gbs_status move_state(gbs_sampler *sampler)
{
    const gbs_allocator *const allocator = &sampler->ctx->allocator;
    gbs_state_gather(sampler, sampler->staging, sampler->dim, 1);
    gbs_memory_give(allocator, sampler->state);
    gbs_memory_give(allocator, sampler->noise);
    sampler->state = sampler->noise = NULL;
    return gbs_on_device_set_state(sampler, sampler->staging);
}

static gbs_status take_staging(gbs_sampler *sampler)
{
    struct gbs_on_device *const device = sampler->on_device;
    const size_t bytes = (size_t)device->kept_draws * state_bytes(sampler);
    device->staging_bytes = (bytes + PAGE - 1) / PAGE * PAGE;
    const int64_t all = (int64_t)(device->staging_bytes + PAGE);
    device->block = gbs_memory_take(&sampler->ctx->allocator, all, 1);
    if (device->block == NULL)
        return gbs_fail_memory(sampler->ctx, "draws from the device", all, 1);
    device->staging = (void *)(((uintptr_t)device->block + PAGE - 1) / PAGE * PAGE);
    return GBS_OK;
}

gbs_status gbs_on_device_start(gbs_sampler *sampler)
{
    gbs_context *const ctx = sampler->ctx;
    struct gbs_on_device *const device = gbs_memory_take(&ctx->allocator, 1, sizeof *device);
    if (device == NULL)
        return gbs_fail_memory(ctx, "sampler", 1, sizeof *device);
    sampler->on_device = device;
    device->functions = ctx->device_functions;
    device->place = sampler->order == GBS_ORDER_PERMUTED ? sampler->place : NULL;
    device->values = sampler->relaxed && !gbs_boxes_any(sampler) ? sampler->model->fixed : NULL;
    device->kept_draws = at_once(KEPT_BYTES, state_bytes(sampler));
    device->noise_passes =
        at_once(NOISE_BYTES / sampler->passes, state_bytes(sampler)) * sampler->passes;
    gbs_status status = take_staging(sampler);
    if (status == GBS_OK)
        status = gbs_on_device_plan(sampler);
    if (status == GBS_OK)
        status = move_state(sampler);
    return status;
}

void gbs_on_device_end(gbs_sampler *sampler)
{
    struct gbs_on_device *const device = sampler->on_device;
    if (device == NULL)
        return;
    device->functions->end(device->sampler);
    gbs_memory_give(&sampler->ctx->allocator, device->block);
    gbs_memory_give(&sampler->ctx->allocator, device);
    sampler->on_device = NULL;
}

/* ---- noise made here ---- */

/* One site's given numbers, [B]: words where it is drawn between bounds. */
static void copy_given(const gbs_sampler *sampler, int64_t pass, int64_t site, void *z)
{
    const gbs_stream_spec *const stream = &sampler->stream;
    const int64_t from = (pass * sampler->dim + site) * sampler->chains;
    if (gbs_device_takes_words(sampler, site)) {
        gbs_noise_copy_words(sampler, from, sampler->chains, z);
        return;
    }
    for (int64_t chain = 0; chain < sampler->chains; ++chain)
        gbs_device_store(sampler->type, z, chain,
                         stream->noise_type == GBS_F32
                             ? (double)((const float *)stream->noise)[from + chain]
                             : ((const double *)stream->noise)[from + chain]);
}

/* One site's noise, [B]. */
static void make_noise(gbs_sampler *sampler, int64_t pass, int64_t site, void *z)
{
    if (sampler->stream.kind == GBS_STREAM_GIVEN)
        copy_given(sampler, pass, site, z);
    else if (sampler->type == GBS_F32)
        gbs_torch_cpu_randn_f32(sampler->torch_cpu, sampler->chains, z, 1);
    else
        gbs_torch_cpu_randn_f64(sampler->torch_cpu, sampler->chains, z, 1);
}

/* Sends the noise of the next sweeps.  A torch generator is called in the order of visit. */
static gbs_status feed(gbs_sampler *sampler, int64_t sweeps)
{
    struct gbs_on_device *const device = sampler->on_device;
    const size_t row = (size_t)sampler->chains * gbs_type_size(sampler->type);
    const int exact = sampler->method == GBS_METHOD_EXACT;
    gbs_status status = GBS_OK;
    for (int64_t pass = 0; pass < sweeps * sampler->passes && status == GBS_OK; ++pass) {
        const int64_t *const visited = sampler->pass[pass % sampler->passes].site;
        for (int64_t call = 0; call < sampler->dim; ++call) {
            const int64_t site = exact ? call : visited[call];
            make_noise(sampler, sampler->done * sampler->passes + pass, site,
                       (char *)device->staging + (size_t)gbs_device_place_of(device, site) * row);
        }
        status = device->functions->put_noise(device->sampler, pass, device->staging,
                                              gbs_device_message_of(sampler));
    }
    return status;
}

/* ---- running ---- */

static gbs_status run_piece(gbs_sampler *sampler, int64_t sweeps, int64_t keep_every,
                            int64_t keep_from)
{
    struct gbs_on_device *const device = sampler->on_device;
    const gbs_device_run run = {
        .sweeps = sweeps,
        .first_sweep = sampler->first_sweep + sampler->done,
        .torch_offset = sampler->torch_cuda.offset,
        .keep_every = keep_every,
        .keep_from = keep_from,
    };
    gbs_status status = gbs_device_is_fed(sampler) ? feed(sampler, sweeps) : GBS_OK;
    if (status == GBS_OK)
        status = device->functions->run(device->sampler, &run, gbs_device_message_of(sampler));
    if (status != GBS_OK)
        return status;
    gbs_noise_advance(sampler, sweeps);
    sampler->done += sweeps;
    return GBS_OK;
}

/* Advances by `sweeps`, whole draws of keep_every where that is not 0, in pieces that the noise on
 * the device is enough for. */
static gbs_status advance(gbs_sampler *sampler, int64_t sweeps, int64_t keep_every)
{
    const int64_t most =
        is_buffered(sampler) ? sampler->on_device->noise_passes / sampler->passes : INT64_MAX;
    gbs_status status = GBS_OK;
    int64_t kept = 0, into = 0; /* whole draws, and sweeps of the next one */
    while (sweeps > 0 && status == GBS_OK) {
        int64_t piece = sweeps < most ? sweeps : most, every = keep_every;
        if (keep_every > most) { /* a draw takes several pieces, and the last is kept */
            const int64_t left = keep_every - into;
            piece = left < most ? left : most;
            every = piece == left ? piece : 0;
            into = piece == left ? 0 : into + piece;
        } else if (keep_every > 0) {
            piece = piece / keep_every * keep_every;
        }
        status = run_piece(sampler, piece, every, kept);
        kept += every > 0 ? piece / every : 0;
        sweeps -= piece;
    }
    return status;
}

gbs_status gbs_on_device_run(gbs_sampler *sampler, int64_t sweeps)
{
    return advance(sampler, sweeps, 0);
}

/* ---- draws ---- */

static gbs_status bring(const gbs_sampler *sampler, int64_t count)
{
    struct gbs_on_device *const device = sampler->on_device;
    return device->functions->get(device->sampler, 0, count, device->staging,
                                  gbs_device_message_of(sampler));
}

static const void *brought(const gbs_sampler *sampler, int64_t draw)
{
    return (const char *)sampler->on_device->staging + (size_t)draw * state_bytes(sampler);
}

/* Moments that are on this sampler's device, so that draws need not leave it. */
static int stay(const gbs_sampler *sampler, const gbs_moments *moments)
{
    return moments->device != NULL && sampler->on_device->values == NULL &&
           moments->device_functions == sampler->on_device->functions &&
           moments->device_ordinal == sampler->ctx->device_ordinal;
}

/* A fixed site's value as T holds it. */
static double held_value(const gbs_sampler *sampler, int64_t site)
{
    const double value = sampler->on_device->values[site];
    return sampler->type == GBS_F32 ? (double)(float)value : value;
}

static void accumulate_here(const gbs_sampler *sampler, gbs_moments *moments, const void *x)
{
    const double n = (double)++moments->count;
    for (int64_t chain = 0; chain < sampler->chains; ++chain)
        for (int64_t i = 0; i < sampler->dim; ++i) {
            const int64_t from = chain * sampler->dim + gbs_device_place_of(sampler->on_device, i),
                          to = chain * sampler->dim + i;
            const double there = sampler->type == GBS_F32 ? (double)((const float *)x)[from]
                                                          : ((const double *)x)[from];
            gbs_welford(
                n, gbs_device_is_elsewhere(sampler->on_device, i) ? held_value(sampler, i) : there,
                &moments->mean[to], &moments->m2[to]);
        }
}

static gbs_status accumulate(gbs_sampler *sampler, gbs_moments *moments, int64_t count)
{
    if (!stay(sampler, moments)) {
        for (int64_t draw = 0; draw < count; ++draw)
            accumulate_here(sampler, moments, brought(sampler, draw));
        return GBS_OK;
    }
    const gbs_status status = sampler->on_device->functions->accumulate(
        sampler->on_device->sampler, moments->device, 0, count, moments->count,
        gbs_device_message_of(sampler));
    if (status == GBS_OK)
        moments->count += count;
    return status;
}

static gbs_status hand_over(gbs_sampler *sampler, int64_t draw, const gbs_sink *sink,
                            fenv_t *callers)
{
    to_sites(sampler, brought(sampler, 0), sampler->staging, sampler->dim, 1);
    gbs_float_leave(callers);
    const int stop = sink->callback(sink->user, draw, sampler->staging);
    gbs_float_enter(callers);
    if (stop != 0)
        return gbs_fail(sampler->ctx, GBS_STOPPED, "the callback stopped after draw %lld",
                        (long long)draw);
    return GBS_OK;
}

/* `count` draws at once, the first being number `draw`. */
static gbs_status sample_batch(gbs_sampler *sampler, int64_t draw, int64_t count, int64_t thin,
                               const gbs_sink *sink, fenv_t *callers)
{
    const size_t size = gbs_type_size(sampler->type);
    const int leave = sink->out != NULL || sink->callback != NULL ||
                      (sink->moments != NULL && !stay(sampler, sink->moments));
    gbs_status status = advance(sampler, count * thin, thin);
    if (status == GBS_OK && leave)
        status = bring(sampler, count);
    if (status == GBS_OK && sink->moments != NULL)
        status = accumulate(sampler, sink->moments, count);
    if (status != GBS_OK)
        return status;
    for (int64_t k = 0; sink->out != NULL && k < count; ++k)
        to_sites(sampler, brought(sampler, k),
                 (char *)sink->out + (ptrdiff_t)((draw + k) * sink->draw_stride) * (ptrdiff_t)size,
                 sink->chain_stride, sink->site_stride);
    return sink->callback != NULL ? hand_over(sampler, draw, sink, callers) : GBS_OK;
}

gbs_status gbs_on_device_sample(gbs_sampler *sampler, int64_t draws, int64_t thin,
                                const gbs_sink *sink, fenv_t *callers)
{
    gbs_status status = GBS_OK;
    if (sink->moments != NULL)
        status = stay(sampler, sink->moments)
                     ? gbs_moments_to_device(sink->moments, gbs_device_message_of(sampler))
                     : gbs_moments_to_host(sink->moments, gbs_device_message_of(sampler));
    /* a callback may stop after any draw, and the state is then that draw's */
    const int64_t most = sink->callback != NULL ? 1 : sampler->on_device->kept_draws;
    for (int64_t draw = 0; draw < draws && status == GBS_OK;) {
        const int64_t count = draws - draw < most ? draws - draw : most;
        status = sample_batch(sampler, draw, count, thin, sink, callers);
        draw += count;
    }
    return status;
}

/* ---- state ---- */

gbs_status gbs_on_device_get_state(const gbs_sampler *sampler, void *x)
{
    const gbs_status status = bring(sampler, 0);
    if (status == GBS_OK)
        to_sites(sampler, sampler->on_device->staging, x, sampler->dim, 1);
    return status;
}

gbs_status gbs_on_device_set_state(gbs_sampler *sampler, const void *x)
{
    struct gbs_on_device *const device = sampler->on_device;
    to_places(sampler, x, device->staging);
    return device->functions->put_state(device->sampler, device->staging,
                                        gbs_device_message_of(sampler));
}

const char *gbs_on_device_kernel(const gbs_sampler *sampler)
{
    return sampler->on_device->functions->kernel(sampler->on_device->sampler);
}
