/* Running a sampler.  A block of chains goes through all its sweeps before the next one, so that it
 * stays in cache, and blocks are shared out among the context's threads, the last of them in parts,
 * so that no thread waits long for another's last block; only torch's CPU generator, one sequence
 * over all chains, forces sweep by sweep. */
#include "core/pool.h"
#include "sampler/boxes.h"
#include "sampler/constrained.h"
#include "sampler/on_device.h"
#include "sampler/sampler_internal.h"

#include <assert.h>

/* Exact draws: x_i = rn_T(mu_i + y_i). */
static void add_mean(gbs_sampler *sampler, const gbs_block *block)
{
    const int64_t width = block->width, offset = gbs_block_offset(sampler, block);
    for (int64_t k = 0; k < sampler->dim; ++k) {
        const double mean = sampler->model->mean[sampler->pass[0].site[k]];
        for (int64_t at = offset + k * width; at < offset + (k + 1) * width; ++at)
            gbs_state_store(sampler, at,
                            mean + (sampler->type == GBS_F32
                                        ? (double)((const float *)sampler->state)[at]
                                        : ((const double *)sampler->state)[at]));
    }
}

/* The room beside a room of noise: NULL unless draws between bounds are over-relaxed. */
static void *cells_of(const gbs_sampler *sampler, const void *noise)
{
    if (sampler->cells == NULL)
        return NULL;
    return (char *)sampler->cells + ((const char *)noise - (const char *)sampler->noise);
}

/* A block's noise: drawn into room `number`, or already there. */
static void find_noise(const gbs_sampler *sampler, const gbs_block *block, int64_t ahead, int half,
                       int64_t number, gbs_pass_job *job)
{
    const size_t size = gbs_type_size(sampler->type);
    if (gbs_noise_is_sequential(sampler)) {
        const int64_t first = sampler->group * sampler->padded_chains + block->chain;
        job->z = (const char *)sampler->noise + (size_t)first * size;
        job->z_row = gbs_noise_row(sampler);
        return;
    }
    void *const to = (char *)sampler->noise + (size_t)(number * sampler->room) * size;
    if (gbs_boxes_any(sampler) && sampler->stream.kind == GBS_STREAM_NATIVE)
        gbs_boxes_draw_native(sampler, block,
                              gbs_stream_sweep(sampler, sampler->done + ahead, half), to,
                              cells_of(sampler, to));
    else
        gbs_noise_draw_block(sampler, block, ahead, half, 0, sampler->dim, to);
    job->z = to;
    job->z_row = block->z_width;
}

/* A block's pass, its noise drawn into room number `room`. */
static void set_pass(gbs_sampler *sampler, const gbs_block *block, int64_t ahead, int half,
                     int64_t room, gbs_pass_job *job)
{
    const gbs_pass_plan *const plan = &sampler->pass[half];
    const size_t size = gbs_type_size(sampler->type);
    const int64_t width = block->width;
    /* the second pass of a symmetric sweep starts at the last place and goes back */
    const int64_t first =
        gbs_block_offset(sampler, block) + (half == 0 ? 0 : (sampler->dim - 1) * width);
    job->dim = sampler->dim;
    job->panels = block->wide ? plan->wide_panels : plan->narrow_panels;
    job->site = plan->site;
    job->x = (char *)sampler->state + (size_t)first * size;
    job->x_step = half == 0 ? width : -width;
    job->relaxed = sampler->relaxed;
    find_noise(sampler, block, ahead, half, room, job);
}

/* Blocks of one width, site by site and together, their noise in rooms from `room` on. */
static void bounded_pass(gbs_sampler *sampler, const gbs_block *blocks, int count, int64_t ahead,
                         int half, int64_t room)
{
    gbs_bounded_job jobs[GBS_BOUNDED_TOGETHER];
    assert(count > 0);
    for (int k = 0; k < count; ++k) {
        set_pass(sampler, &blocks[k], ahead, half, room + k, &jobs[k].pass);
        jobs[k].sites = &sampler->boxes;
        jobs[k].cells = cells_of(sampler, jobs[k].pass.z);
    }
    gbs_boxes_kernels(sampler, blocks->wide)->sweep(jobs, count);
}

void gbs_sampler_pass(gbs_sampler *sampler, const gbs_block *block, int64_t ahead, int half,
                      int64_t room)
{
    if (sampler->constrained != NULL) {
        gbs_constrained_pass(sampler, block, ahead, half, room);
        return;
    }
    if (gbs_boxes_any(sampler)) {
        bounded_pass(sampler, block, 1, ahead, half, room);
        return;
    }
    gbs_pass_job job;
    set_pass(sampler, block, ahead, half, room, &job);
    if (sampler->method == GBS_METHOD_EXACT) {
        block->kernels->solve(&job);
        add_mean(sampler, block);
    } else {
        block->kernels->sweep(&job);
    }
}

/* ---- units of work: a bundle of wide blocks that go together, or a block ---- */

typedef struct unit {
    int64_t first, count; /* blocks */
    int bundle;
} unit;

static int64_t bundles_of(const gbs_sampler *sampler)
{
    return sampler->together > 0
               ? (sampler->wide_blocks + sampler->together - 1) / sampler->together
               : 0;
}

static int64_t units_of(const gbs_sampler *sampler)
{
    return sampler->together > 0 ? bundles_of(sampler) + sampler->blocks - sampler->wide_blocks
                                 : sampler->blocks;
}

static unit unit_at(const gbs_sampler *sampler, int64_t index)
{
    const int64_t bundles = bundles_of(sampler);
    if (index >= bundles)
        return (unit){sampler->together > 0 ? sampler->wide_blocks + index - bundles : index, 1, 0};
    const int64_t first = index * sampler->together, left = sampler->wide_blocks - first;
    return (unit){first, left < sampler->together ? left : sampler->together, 1};
}

static void unit_pass(gbs_sampler *sampler, const unit *u, int64_t ahead, int half, int32_t worker)
{
    const int64_t rooms = sampler->together > 0 ? sampler->together : 1; /* of each worker */
    if (!u->bundle) {
        const gbs_block block = gbs_sampler_block(sampler, u->first);
        gbs_sampler_pass(sampler, &block, ahead, half, worker * rooms);
        return;
    }
    gbs_block blocks[GBS_FORM_TOGETHER];
    for (int64_t k = 0; k < u->count; ++k)
        blocks[k] = gbs_sampler_block(sampler, u->first + k);
    if (!sampler->tiled) {
        bounded_pass(sampler, blocks, (int)u->count, ahead, half, worker * rooms);
        return;
    }
    gbs_pass_job jobs[GBS_FORM_TOGETHER];
    for (int64_t k = 0; k < u->count; ++k)
        set_pass(sampler, &blocks[k], ahead, half, worker * rooms + k, &jobs[k]);
    gbs_run_tiles(sampler, &sampler->pass[half], jobs, u->count, worker);
}

void gbs_run_keep(const gbs_run_job *job, const gbs_block *block, int64_t draw)
{
    const gbs_sampler *const sampler = job->sampler;
    const gbs_sink *const sink = &job->sink;
    const int64_t number = job->first_draw + draw;
    if (sink->out != NULL)
        gbs_block_gather(sampler, block,
                         (char *)sink->out + (ptrdiff_t)(number * sink->draw_stride) *
                                                 (ptrdiff_t)gbs_type_size(sampler->type),
                         sink->chain_stride, sink->site_stride);
    if (sink->moments != NULL)
        gbs_block_accumulate(sampler, block, job->moments_before + number + 1, sink->moments);
    if (sink->callback != NULL)
        gbs_block_gather(sampler, block, sampler->staging, sampler->dim, 1);
}

/* A unit's share of draw `draw` of the job. */
static void keep_unit(const gbs_run_job *job, const unit *u, int64_t draw)
{
    for (int64_t k = 0; k < u->count; ++k) {
        const gbs_block block = gbs_sampler_block(job->sampler, u->first + k);
        gbs_run_keep(job, &block, draw);
    }
}

/* A unit through the job's sweeps from .. end - 1. */
static void run_sweeps(const gbs_run_job *job, int64_t index, int64_t from, int64_t end,
                       int32_t worker)
{
    gbs_sampler *const sampler = job->sampler;
    const unit u = unit_at(sampler, index);
    for (int64_t ahead = from; ahead < end; ++ahead) {
        for (int half = 0; half < sampler->passes; ++half)
            unit_pass(sampler, &u, ahead, half, worker);
        if ((ahead + 1) % job->thin == 0)
            keep_unit(job, &u, ahead / job->thin);
    }
}

/* ---- every unit by itself: most of them whole, then the last ones, each in `parts` ---- */

enum { PARTS = 16 };

typedef struct units_run {
    const gbs_run_job *job;
    int64_t units, sweeps, whole, cut, parts;
    _Atomic int64_t done[2 * GBS_THREADS_MAX]; /* [cut] parts that a unit has behind it */
} units_run;

static void run_place(const units_run *run, int64_t place, int64_t from, int64_t end,
                      int32_t worker)
{
    const gbs_pool *const pool = run->job->sampler->ctx->pool;
    run_sweeps(run->job, gbs_pool_spread(pool, run->units, place), from, end, worker);
}

/* First parts come before second ones, so that a unit's part before this one was taken `cut` tasks
 * ago, and is hardly ever waited for. */
static void run_part(units_run *run, int64_t task, int32_t worker)
{
    const int64_t part = task / run->cut, number = task % run->cut;
    gbs_pool_wait(&run->done[number], part);
    run_place(run, run->whole + number, part * run->sweeps / run->parts,
              (part + 1) * run->sweeps / run->parts, worker);
    atomic_store_explicit(&run->done[number], part + 1, memory_order_release);
}

static void run_task(void *data, int64_t index, int32_t worker)
{
    units_run *const run = data;
    if (index < run->whole)
        run_place(run, index, 0, run->sweeps, worker);
    else
        run_part(run, index - run->whole, worker);
}

/* With no more units than threads nothing is won by parts: a unit's sweeps wait for each other. */
static void run_apart(const gbs_run_job *job)
{
    gbs_pool *const pool = job->sampler->ctx->pool;
    const int64_t units = units_of(job->sampler), threads = gbs_pool_threads(pool);
    units_run run; /* filled by hand: most of it is room that is not used */
    run.job = job;
    run.units = units;
    run.sweeps = job->draws * job->thin;
    run.cut = threads == 1 || units <= threads ? 0 : units < 2 * threads ? units : 2 * threads;
    run.whole = units - run.cut;
    run.parts = run.sweeps < PARTS ? run.sweeps : PARTS;
    for (int64_t k = 0; k < run.cut; ++k)
        atomic_init(&run.done[k], 0);
    gbs_pool_run(pool, run.whole + run.cut * run.parts, run_task, &run);
}

static void run_unit_pass(void *data, int64_t index, int32_t worker)
{
    const gbs_run_job *const job = data;
    const unit u = unit_at(job->sampler, index);
    unit_pass(job->sampler, &u, job->ahead, job->half, worker);
    if (job->ends_draw)
        keep_unit(job, &u, job->ahead / job->thin);
}

static void run_together(gbs_run_job *job)
{
    gbs_sampler *const sampler = job->sampler;
    for (job->ahead = 0; job->ahead < job->draws * job->thin; ++job->ahead)
        for (job->half = 0; job->half < sampler->passes; ++job->half) {
            job->ends_draw = job->half == sampler->passes - 1 && (job->ahead + 1) % job->thin == 0;
            gbs_noise_draw_pass(sampler, job->half, sampler->noise);
            gbs_pool_run(sampler->ctx->pool, units_of(sampler), run_unit_pass, job);
        }
}

static void advance(gbs_run_job *job)
{
    gbs_sampler *const sampler = job->sampler;
    const int64_t sweeps = job->draws * job->thin;
    if (sampler->few != NULL)
        gbs_run_few(job);
    else if (gbs_noise_is_sequential(sampler))
        run_together(job);
    else
        run_apart(job);
    gbs_noise_advance(sampler, sweeps);
    sampler->done += sweeps;
    job->first_draw += job->draws;
}

gbs_status gbs_sampler_run(gbs_sampler *sampler, int64_t sweeps)
{
    if (sampler == NULL)
        return GBS_ERROR_ARGUMENT;
    if (sweeps < 0)
        return gbs_fail(sampler->ctx, GBS_ERROR_ARGUMENT, "sweeps: %lld is negative",
                        (long long)sweeps);
    gbs_status status = gbs_noise_check(sampler, sweeps);
    if (status != GBS_OK)
        return status;
    gbs_run_job job = {.sampler = sampler, .draws = 1, .thin = sweeps};
    fenv_t saved;
    gbs_float_enter(&saved);
    if (sampler->on_device != NULL)
        status = gbs_on_device_run(sampler, sweeps);
    else
        advance(&job);
    gbs_float_leave(&saved);
    return status;
}

static gbs_status check_sink(const gbs_sampler *sampler, int64_t draws, int64_t thin,
                             const gbs_sink *sink)
{
    gbs_context *const ctx = sampler->ctx;
    int64_t sweeps;
    if (sink == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "sink: NULL");
    if (draws < 0 || thin < 1 || __builtin_mul_overflow(draws, thin, &sweeps))
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "draws: %lld, thin: %lld; at least 0 and 1, and together below 2^63",
                        (long long)draws, (long long)thin);
    if (sampler->method == GBS_METHOD_EXACT && thin != 1)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "thin: %lld, but exact draws are independent: only 1", (long long)thin);
    const gbs_moments *const moments = sink->moments;
    if (moments != NULL && (moments->chains != sampler->chains || moments->dim != sampler->dim))
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "moments: [%lld, %lld], but the sampler has [%lld, %lld]",
                        (long long)moments->chains, (long long)moments->dim,
                        (long long)sampler->chains, (long long)sampler->dim);
    return gbs_noise_check(sampler, sweeps);
}

/* Draw by draw, since the caller sees each; out of our floating-point environment, in its own. */
static gbs_status sample_with_callback(gbs_run_job *job, int64_t draws, fenv_t *saved)
{
    gbs_sampler *const sampler = job->sampler;
    gbs_status status = GBS_OK;
    job->draws = 1;
    for (int64_t draw = 0; draw < draws && status == GBS_OK; ++draw) {
        advance(job);
        if (job->sink.moments != NULL)
            job->sink.moments->count++;
        gbs_float_leave(saved);
        if (job->sink.callback(job->sink.user, draw, sampler->staging) != 0)
            status = gbs_fail(sampler->ctx, GBS_STOPPED, "the callback stopped after draw %lld",
                              (long long)draw);
        gbs_float_enter(saved);
    }
    return status;
}

gbs_status gbs_sampler_sample(gbs_sampler *sampler, int64_t draws, int64_t thin,
                              const gbs_sink *sink)
{
    if (sampler == NULL)
        return GBS_ERROR_ARGUMENT;
    gbs_status status = check_sink(sampler, draws, thin, sink);
    if (status != GBS_OK)
        return status;
    gbs_run_job job = {.sampler = sampler, .draws = draws, .thin = thin, .sink = *sink};
    gbs_sink *const to = &job.sink;
    if (to->out != NULL && to->chain_stride == 0 && to->draw_stride == 0 && to->site_stride == 0) {
        to->site_stride = 1;
        to->draw_stride = sampler->dim;
        to->chain_stride = draws * sampler->dim;
    }
    job.moments_before = to->moments != NULL ? to->moments->count : 0;
    if (to->moments != NULL && sampler->on_device == NULL)
        status = gbs_moments_to_host(
            to->moments, (gbs_device_message){sampler->ctx->message, GBS_MESSAGE_BYTES});
    if (status != GBS_OK)
        return status;
    fenv_t saved;
    gbs_float_enter(&saved);
    if (sampler->on_device != NULL) {
        status = gbs_on_device_sample(sampler, draws, thin, to, &saved);
    } else if (to->callback != NULL) {
        status = sample_with_callback(&job, draws, &saved);
    } else {
        advance(&job);
        if (to->moments != NULL)
            to->moments->count += draws;
    }
    gbs_float_leave(&saved);
    return status;
}
