/* Sweeps in one call: G models of one size, B chains each, over arrays that the caller keeps.  The
 * work is a sampler's, on a sampler without a model: each group's coefficients are packed straight
 * from its rows as given, then blocks of chains go through all their sweeps, shared out among the
 * context's threads.  Torch's CPU
 * generator, one sequence over all groups, forces sweep by sweep instead: every group's state and
 * coefficients are then held at once. */
#include "sampler/sampler_internal.h"
#include "sampler/plan.h"
#include "sampler/rows.h"
#include "sampler/sweep_boxes.h"
#include "core/pool.h"

#include <string.h>

gbs_sweep_spec gbs_sweep_spec_default(void)
{
    gbs_sweep_spec spec;
    memset(&spec, 0, sizeof spec);
    spec.type = GBS_F32;
    spec.groups = 1;
    spec.sweeps = 1;
    spec.omega = 1.0;
    return spec;
}

uint64_t gbs_sweep_torch_cuda_advance(const gbs_sweep_spec *spec)
{
    if (spec == NULL)
        return 0;
    const gbs_torch_cuda generator = {
        .multiprocessors = spec->cuda_multiprocessors,
        .threads_per_multiprocessor = spec->cuda_threads_per_multiprocessor,
    };
    const uint64_t passes = spec->order == GBS_ORDER_SYMMETRIC ? 2 : 1;
    return gbs_torch_cuda_advance(&generator, spec->type, spec->groups * spec->chains) *
           (uint64_t)spec->dim * (uint64_t)spec->sweeps * passes;
}

/* ---- checks ---- */

static int64_t passes_of(const gbs_sweep_spec *spec)
{
    return spec->order == GBS_ORDER_SYMMETRIC ? 2 : 1;
}

static gbs_status check_shape(gbs_context *ctx, const gbs_sweep_spec *spec)
{
    int64_t chains, elements;
    if (spec->groups < 1 || spec->chains < 1 || spec->dim < 1)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "groups: %lld, chains: %lld, dim: %lld; each must be at least 1",
                        (long long)spec->groups, (long long)spec->chains, (long long)spec->dim);
    if (__builtin_mul_overflow(spec->groups, spec->chains, &chains) ||
        __builtin_mul_overflow(chains, spec->dim, &elements))
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "x: %lld x %lld x %lld elements are too many",
                        (long long)spec->groups, (long long)spec->chains, (long long)spec->dim);
    if (spec->precision_row_stride < spec->dim)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "precision_row_stride: %lld, but rows have %lld elements",
                        (long long)spec->precision_row_stride, (long long)spec->dim);
    if (spec->sweeps < 0 || spec->keep_every < 0)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "sweeps: %lld, keep_every: %lld; neither may be negative",
                        (long long)spec->sweeps, (long long)spec->keep_every);
    return GBS_OK;
}

static gbs_status check_arrays(gbs_context *ctx, const gbs_sweep_spec *spec)
{
    const char *missing = NULL;
    if (spec->precision == NULL)
        missing = "precision";
    else if (spec->x == NULL)
        missing = "x";
    else if (spec->out == NULL)
        missing = "out";
    else if (spec->location_kind != GBS_LOCATION_ZERO && spec->location == NULL)
        missing = "location";
    else if (spec->keep_every > 0 && spec->keep_every <= spec->sweeps && spec->kept == NULL)
        missing = "kept";
    else if (spec->stream == GBS_STREAM_TORCH_CPU && spec->torch_state == NULL)
        missing = "torch_state";
    if (missing != NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "%s: NULL%s", missing,
                        strcmp(missing, "torch_state") == 0 &&
                                (spec->lower != NULL || spec->upper != NULL)
                            ? "; but sites with bounds take the native or the given stream"
                            : "");
    const int64_t extent[3] = {spec->groups, spec->chains, spec->dim};
    for (int k = 0; k < 3; ++k) {
        if (extent[k] > 1 && spec->out_stride[k] == 0)
            return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                            "out_stride[%d]: 0, but there are %lld along it", k,
                            (long long)extent[k]);
        if (extent[k] > 1 && spec->out == spec->x && spec->out_stride[k] != spec->x_stride[k])
            return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                            "out_stride[%d]: %lld, but x_stride[%d] is %lld and out is x", k,
                            (long long)spec->out_stride[k], k, (long long)spec->x_stride[k]);
    }
    if (spec->location_kind < GBS_LOCATION_ZERO || spec->location_kind > GBS_LOCATION_OFFSET)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "location_kind: %d is not known",
                        (int)spec->location_kind);
    if (spec->order == GBS_ORDER_PERMUTED)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT,
                        "order: one-call sweeps go forward, backward or both ways");
    return GBS_OK;
}

/* The same job as a sampler's, all groups' chains together. */
static gbs_sampler_spec sampler_spec_of(const gbs_sweep_spec *spec)
{
    gbs_sampler_spec like = gbs_sampler_spec_default();
    like.type = spec->type;
    if (__builtin_mul_overflow(spec->groups, spec->chains, &like.chains))
        like.chains = INT64_MAX; /* refused as beyond the stream's chains */
    like.first_chain = spec->first_chain;
    like.first_sweep = spec->first_sweep;
    like.seed = spec->seed;
    like.order = spec->order;
    like.omega = spec->omega;
    like.overrelax = spec->overrelax;
    like.stream.kind = spec->stream;
    like.stream.noise = spec->noise;
    like.stream.words = spec->words;
    like.stream.noise_type = spec->type;
    like.stream.noise_sweeps = INT64_MAX;
    like.stream.cuda_multiprocessors = spec->cuda_multiprocessors;
    like.stream.cuda_threads_per_multiprocessor = spec->cuda_threads_per_multiprocessor;
    return like;
}

static gbs_status check(gbs_context *ctx, const gbs_sweep_spec *spec, const gbs_sampler_spec *like)
{
    gbs_status status = check_shape(ctx, spec);
    if (status == GBS_OK)
        status = check_arrays(ctx, spec);
    if (status == GBS_OK)
        status = gbs_plan_check(ctx, spec->dim, like);
    if (status == GBS_OK && spec->stream == GBS_STREAM_TORCH_CUDA && spec->torch_offset % 4 != 0)
        return gbs_fail(ctx, GBS_ERROR_STATE, "torch_offset: %llu is no multiple of 4",
                        (unsigned long long)spec->torch_offset);
    return status;
}

/* ---- memory ---- */

typedef struct sweep_call {
    const gbs_sweep_spec *spec;
    gbs_sampler work;                       /* no model; at one group */
    gbs_sweep_boxes boxes;                  /* of all groups */
    int64_t panel_sets;                     /* groups whose panels are held at once */
    int64_t wide_elements, narrow_elements; /* of one set of panels; 0 if no block reads them */
    void *panels;                           /* [panel_sets][passes][wide, then narrow] */
    void *scratch;                          /* rows while they are packed, for each thread */
    size_t scratch_bytes, state_bytes;      /* of one thread's room */
    int64_t sweep;                          /* sweep by sweep: the pass that is due */
    int half;
} sweep_call;

/* One set of coefficients serves all groups. */
static int shared_model(const gbs_sweep_spec *spec)
{
    return spec->precision_group_stride == 0 && spec->bounds_group_stride == 0 &&
           (spec->location_kind == GBS_LOCATION_ZERO || spec->location_group_stride == 0);
}

static gbs_status take_memory(sweep_call *call)
{
    gbs_sampler *const work = &call->work;
    const int sequential = gbs_noise_is_sequential(work);
    const size_t size = gbs_type_size(work->type);
    const int64_t dim = work->dim;
    const int64_t width = work->wide_blocks > 0 ? work->kernels->wide[work->type].width
                                                : work->kernels->narrow[work->type].width;
    const int64_t workers = gbs_pool_workers(work->ctx->pool);
    const int64_t lanes = sequential ? work->groups * work->padded_chains : width;
    const int64_t rooms = sequential ? 1 : workers;
    gbs_status status = GBS_OK;
    call->panel_sets = shared_model(call->spec)  ? 1
                       : sequential              ? work->groups
                       : work->groups >= workers ? workers
                                                 : 1;
    gbs_sweep_boxes_take(work, call->spec, call->panel_sets, &call->boxes, &status);
    const int64_t scratch = gbs_sampler_most_rows(work);
    call->scratch_bytes = (size_t)(scratch * dim) * size;
    work->place = gbs_sampler_take(work, "order", 1, dim, sizeof(int64_t), &status);
    for (int half = 0; half < work->passes; ++half)
        work->pass[half].site = gbs_sampler_take(work, "order", 1, dim, sizeof(int64_t), &status);
    work->state =
        gbs_sampler_take_rooms(work, "state", rooms, lanes, dim, size, &work->room, &status);
    call->state_bytes = (size_t)work->room * size;
    work->noise = gbs_sampler_take(work, "noise", rooms, work->room, size, &status);
    if (call->boxes.any && work->overrelax > 0)
        work->cells = gbs_sampler_take(work, "noise", rooms, work->room, size, &status);
    if (sequential && work->groups > 1)
        work->line = gbs_sampler_take(work, "noise", work->groups, work->chains, size, &status);
    call->scratch = gbs_sampler_take(work, "coefficients", scratch * workers, dim, size, &status);
    call->panels = gbs_sampler_take(work, "coefficients", call->panel_sets * work->passes,
                                    call->wide_elements + call->narrow_elements, size, &status);
    return status;
}

static void give_memory(sweep_call *call)
{
    gbs_sampler *const work = &call->work;
    const gbs_allocator *const allocator = &work->ctx->allocator;
    void *const blocks[] = {work->place,   work->pass[0].site, work->pass[1].site, work->state,
                            work->noise,   work->line,         work->cells,        call->panels,
                            call->scratch, work->torch_cpu};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; ++k)
        gbs_memory_give(allocator, blocks[k]);
    gbs_sweep_boxes_end(allocator, &call->boxes);
}

static gbs_status start_stream(sweep_call *call)
{
    gbs_sampler *const work = &call->work;
    const gbs_sweep_spec *const spec = call->spec;
    gbs_status status = GBS_OK;
    work->torch_cuda.seed = spec->seed;
    work->torch_cuda.offset = spec->torch_offset;
    work->torch_cuda.multiprocessors = spec->cuda_multiprocessors;
    work->torch_cuda.threads_per_multiprocessor = spec->cuda_threads_per_multiprocessor;
    if (spec->stream != GBS_STREAM_TORCH_CPU)
        return GBS_OK;
    work->torch_cpu =
        gbs_sampler_take(work, "torch generator", 1, 1, sizeof *work->torch_cpu, &status);
    if (status == GBS_OK && gbs_torch_cpu_set_state(work->torch_cpu, spec->torch_state) != GBS_OK)
        status = gbs_fail(work->ctx, GBS_ERROR_STATE,
                          "torch_state: not a state of torch's CPU generator");
    return status;
}

/* ---- coefficients ---- */

static gbs_rows rows_of(const sweep_call *call, int64_t group)
{
    const gbs_sweep_spec *const spec = call->spec;
    const size_t size = gbs_type_size(spec->type);
    const gbs_rows rows = {
        .type = spec->type,
        .dim = spec->dim,
        .omega = spec->overrelax > 0 ? 1.0 + spec->overrelax : spec->omega,
        .bounded = call->work.boxes.bounded,
        .matrix_type = spec->type,
        .matrix = (const char *)spec->precision +
                  (ptrdiff_t)(group * spec->precision_group_stride) * (ptrdiff_t)size,
        .row_stride = spec->precision_row_stride,
        .location_kind = spec->location_kind,
        .location = spec->location_kind == GBS_LOCATION_ZERO
                        ? NULL
                        : (const char *)spec->location +
                              (ptrdiff_t)(group * spec->location_group_stride) * (ptrdiff_t)size,
    };
    return rows;
}

/* Where the panels of set `set`, pass `half` are. */
static void point_panels(sweep_call *call, int64_t set, int half)
{
    gbs_sampler *const work = &call->work;
    const int64_t one = call->wide_elements + call->narrow_elements;
    const size_t size = gbs_type_size(work->type);
    char *const at = (char *)call->panels + (size_t)((set * work->passes + half) * one) * size;
    work->pass[half].wide_panels = at;
    work->pass[half].narrow_panels = at + (size_t)call->wide_elements * size;
}

static void pack(sweep_call *call, int64_t group, int64_t set)
{
    gbs_sampler *const work = &call->work;
    gbs_sweep_boxes_enter(&call->boxes, group, set, work);
    const gbs_rows rows = rows_of(call, group);
    gbs_sweep_boxes_scale(&rows, work);
    for (int half = 0; half < work->passes; ++half) {
        gbs_pass_plan *const pass = &work->pass[half];
        point_panels(call, set, half);
        if (call->wide_elements > 0)
            gbs_panels_pack(&rows, pass->site, gbs_sampler_rows(work, 1), call->scratch,
                            pass->wide_panels);
        if (call->narrow_elements > 0)
            gbs_panels_pack(&rows, pass->site, gbs_sampler_rows(work, 0), call->scratch,
                            pass->narrow_panels);
    }
}

/* ---- running ---- */

static ptrdiff_t group_bytes(const gbs_sweep_spec *spec, int64_t stride, int64_t group)
{
    return (ptrdiff_t)(group * stride) * (ptrdiff_t)gbs_type_size(spec->type);
}

static void read_block(sweep_call *call, const gbs_block *block)
{
    const gbs_sweep_spec *const spec = call->spec;
    const void *const x =
        (const char *)spec->x + group_bytes(spec, spec->x_stride[0], call->work.group);
    gbs_block_scatter(&call->work, block, x, spec->x_stride[1], spec->x_stride[2]);
}

static void write_block(const sweep_call *call, const gbs_block *block)
{
    const gbs_sweep_spec *const spec = call->spec;
    void *const out = (char *)spec->out + group_bytes(spec, spec->out_stride[0], call->work.group);
    gbs_block_gather(&call->work, block, out, spec->out_stride[1], spec->out_stride[2]);
}

/* After `done` sweeps. */
static void keep_block(const sweep_call *call, const gbs_block *block, int64_t done)
{
    const gbs_sweep_spec *const spec = call->spec;
    if (spec->keep_every == 0 || done % spec->keep_every != 0)
        return;
    const int64_t draw = done / spec->keep_every - 1;
    const int64_t chain = (draw * spec->groups + call->work.group) * spec->chains;
    gbs_block_gather(&call->work, block, (char *)spec->kept + group_bytes(spec, spec->dim, chain),
                     spec->dim, 1);
}

/* The call as one thread works on it: at one group, with room of its own. */
static sweep_call worker_call(const sweep_call *call, int64_t group, int32_t worker)
{
    sweep_call mine = *call;
    mine.work.group = group;
    mine.scratch = (char *)mine.scratch + (size_t)worker * call->scratch_bytes;
    if (mine.work.one_block)
        mine.work.state = (char *)mine.work.state + (size_t)worker * call->state_bytes;
    return mine;
}

/* A block through all its sweeps; the worker's call has the panels. */
static void sweep_block(sweep_call *mine, int64_t index, int32_t worker)
{
    const gbs_block block = gbs_sampler_block(&mine->work, index);
    read_block(mine, &block);
    for (int64_t sweep = 0; sweep < mine->spec->sweeps; ++sweep) {
        for (int half = 0; half < mine->work.passes; ++half)
            gbs_sampler_pass(&mine->work, &block, sweep, half, worker);
        keep_block(mine, &block, sweep + 1);
    }
    write_block(mine, &block);
}

/* A block of any group, where one set of panels serves. */
static void run_block(void *data, int64_t index, int32_t worker)
{
    const sweep_call *const call = data;
    sweep_call mine = worker_call(call, call->work.group + index / call->work.blocks, worker);
    sweep_block(&mine, index % call->work.blocks, worker);
}

/* A group with panels of its own, packed into the worker's room. */
static void run_group(void *data, int64_t group, int32_t worker)
{
    sweep_call mine = worker_call(data, group, worker);
    pack(&mine, group, worker);
    for (int64_t index = 0; index < mine.work.blocks; ++index)
        sweep_block(&mine, index, worker);
}

/* Threads share out the groups where each has a set of panels, else the blocks. */
static void run_by_block(sweep_call *call)
{
    gbs_sampler *const work = &call->work;
    gbs_pool *const pool = work->ctx->pool;
    if (call->panel_sets > 1) {
        gbs_pool_run(pool, work->groups, run_group, call);
        return;
    }
    if (shared_model(call->spec)) {
        pack(call, 0, 0);
        gbs_pool_run(pool, work->groups * work->blocks, run_block, call);
        return;
    }
    for (work->group = 0; work->group < work->groups; ++work->group) {
        pack(call, work->group, 0);
        gbs_pool_run(pool, work->blocks, run_block, call);
    }
}

/* The same step for every block of every group. */
typedef void (*block_step)(sweep_call *mine, const gbs_block *block, int32_t worker);

typedef struct step_job {
    const sweep_call *call;
    block_step step;
} step_job;

static void step_task(void *data, int64_t index, int32_t worker)
{
    const step_job *const job = data;
    const int64_t group = index / job->call->work.blocks;
    sweep_call mine = worker_call(job->call, group, worker);
    const gbs_block block = gbs_sampler_block(&mine.work, index % mine.work.blocks);
    for (int half = 0; half < mine.work.passes; ++half)
        point_panels(&mine, mine.panel_sets > 1 ? group : 0, half);
    job->step(&mine, &block, worker);
}

static void every_block(const sweep_call *call, block_step step)
{
    step_job job = {call, step};
    gbs_pool_run(call->work.ctx->pool, call->work.groups * call->work.blocks, step_task, &job);
}

static void step_read(sweep_call *mine, const gbs_block *block, int32_t worker)
{
    (void)worker;
    read_block(mine, block);
}

static void step_pass(sweep_call *mine, const gbs_block *block, int32_t worker)
{
    gbs_sampler_pass(&mine->work, block, mine->sweep, mine->half, worker);
    if (mine->half == mine->work.passes - 1)
        keep_block(mine, block, mine->sweep + 1);
}

static void step_write(sweep_call *mine, const gbs_block *block, int32_t worker)
{
    (void)worker;
    write_block(mine, block);
}

static void pack_set(void *data, int64_t set, int32_t worker)
{
    sweep_call mine = worker_call(data, set, worker);
    pack(&mine, set, set);
}

static void run_together(sweep_call *call)
{
    gbs_pool_run(call->work.ctx->pool, call->panel_sets, pack_set, call);
    every_block(call, step_read);
    for (call->sweep = 0; call->sweep < call->spec->sweeps; ++call->sweep)
        for (call->half = 0; call->half < call->work.passes; ++call->half) {
            gbs_noise_draw_pass(&call->work, call->half, call->work.noise);
            every_block(call, step_pass);
        }
    every_block(call, step_write);
    gbs_torch_cpu_get_state(call->work.torch_cpu, call->spec->torch_state);
}

static void set_up(sweep_call *call, gbs_context *ctx, const gbs_sampler_spec *like)
{
    const gbs_sweep_spec *const spec = call->spec;
    gbs_sampler *const work = &call->work;
    work->ctx = ctx;
    work->type = spec->type;
    work->dim = spec->dim;
    work->groups = spec->groups;
    work->chains = spec->chains;
    work->first_chain = spec->first_chain;
    work->first_sweep = spec->first_sweep;
    work->seed = spec->seed;
    work->overrelax = spec->overrelax;
    work->relaxed = spec->omega != 1.0 || spec->overrelax > 0.0;
    work->kernels = gbs_cpu_kernels(ctx->isa);
    work->passes = (int)passes_of(spec);
    work->stream = like->stream;
    work->one_block = !gbs_noise_is_sequential(work);
    gbs_sampler_split(work);
    const gbs_rows rows = rows_of(call, 0);
    call->wide_elements = work->wide_blocks > 0 ? gbs_panel_elements(&rows) : 0;
    call->narrow_elements = work->wide_blocks < work->blocks ? gbs_panel_elements(&rows) : 0;
}

gbs_status gbs_sweep(gbs_context *ctx, const gbs_sweep_spec *spec)
{
    if (ctx == NULL || spec == NULL)
        return gbs_fail(ctx, GBS_ERROR_ARGUMENT, "sweep: context and spec must not be NULL");
    const gbs_sampler_spec like = sampler_spec_of(spec);
    gbs_status status = check(ctx, spec, &like);
    if (status != GBS_OK)
        return status;
    sweep_call call;
    memset(&call, 0, sizeof call);
    call.spec = spec;
    status = gbs_sweep_boxes_check(ctx, spec, &call.boxes);
    if (status != GBS_OK)
        return status;
    set_up(&call, ctx, &like);
    status = gbs_noise_check(&call.work, spec->sweeps);
    if (status == GBS_OK)
        status = take_memory(&call);
    if (status == GBS_OK)
        status = start_stream(&call);
    if (status == GBS_OK)
        status = gbs_plan_order(&call.work, &like);
    if (status == GBS_OK) {
        fenv_t saved;
        gbs_float_enter(&saved);
        if (call.work.one_block)
            run_by_block(&call);
        else
            run_together(&call);
        gbs_float_leave(&saved);
    }
    give_memory(&call);
    return status;
}
