/* Few chains of many sites: threads share out panels of rows.
 *
 * A panel adds up the old values behind it, then the new ones before it, then makes its own final.
 * Panels are taken in ascending order by whichever thread is free, pass after pass, and each waits,
 * place by place, until what it reads is final; since a panel's work is a whole row of the matrix
 * and only its last step needs the panel before it, threads hardly ever wait, and no barrier is
 * needed.  Nothing is overwritten too early: panel j of a pass is final only after all of the
 * panels before it in the pass, which read its old values, and in the order of visit all panels
 * behind it have been final in the pass before.
 *
 * A pass is numbered through: its tasks are `chunks` of noise, `panels`, and one that keeps the
 * state if a draw ends there.  Noise has two rooms, for even and odd passes. */
#include "core/pool.h"
#include "sampler/rows.h"
#include "sampler/sampler_internal.h"

/* Sites of a chunk of noise. */
#define CHUNK 512

typedef struct few_run {
    const gbs_run_job *job;
    gbs_sampler *sampler;
    gbs_block block;
    int64_t panels, chunks;
    int64_t z_row;
    _Atomic int64_t final;    /* panels, over all passes */
    _Atomic int64_t drawn[2]; /* chunks, over all even passes and all odd ones */
    _Atomic int64_t kept;     /* draws */
} few_run;

static int ends_draw(const few_run *run, int64_t pass)
{
    return (pass + 1) % (run->job->thin * run->sampler->passes) == 0;
}

/* Draws that end before `pass`. */
static int64_t draws_before(const few_run *run, int64_t pass)
{
    return pass / (run->job->thin * run->sampler->passes);
}

static char *noise_of(const few_run *run, int64_t pass)
{
    return (char *)run->sampler->noise +
           (size_t)(pass % 2 * run->sampler->room) * gbs_type_size(run->sampler->type);
}

static void draw_chunk(few_run *run, int64_t pass, int64_t chunk)
{
    gbs_sampler *const sampler = run->sampler;
    const int64_t first = chunk * CHUNK, left = sampler->dim - first;
    const int half = (int)(pass % sampler->passes);
    void *const to = noise_of(run, pass);
    /* the pass before last has read what is overwritten here */
    gbs_pool_wait(&run->final, (pass - 1) * run->panels);
    if (gbs_noise_is_sequential(sampler)) {
        gbs_pool_wait(&run->drawn[(pass + 1) % 2], (pass + 1) / 2);
        gbs_noise_draw_pass(sampler, half, to);
    } else if (run->chunks == 1) {
        gbs_noise_draw_block(sampler, &run->block, pass / sampler->passes, half, 0, sampler->dim,
                             to);
    } else {
        gbs_noise_draw_block(sampler, &run->block, pass / sampler->passes, half, first,
                             left < CHUNK ? left : CHUNK, to);
    }
    atomic_fetch_add_explicit(&run->drawn[pass % 2], 1, memory_order_release);
}

/* Adds what places first .. end - 1 give, as their panels become final; `before` of these were
 * final when the pass whose values are wanted began. */
static void add_places(few_run *run, const gbs_pass_plan *plan, int64_t panel, int64_t first,
                       int64_t end, int64_t before, const gbs_few_job *rows, const void *x)
{
    const gbs_few_kernels *const few = run->sampler->few;
    const size_t size = gbs_type_size(run->sampler->type);
    const int64_t group = few->rows;
    const char *const columns =
        (const char *)plan->few_panels +
        (size_t)(panel * gbs_few_panel_step(run->sampler->dim, group) + 2 * group) * size;
    while (first < end) {
        const int64_t ready =
            (gbs_pool_wait(&run->final, before + first / group + 1) - before) * group;
        const int64_t stop = ready < end ? ready : end;
        few->add(columns + (size_t)(first * group) * size, stop - first,
                 (const char *)x + (ptrdiff_t)(first * rows->x_step) * (ptrdiff_t)size,
                 rows->x_step, rows->sums);
        first = stop;
    }
}

static void sweep_panel(few_run *run, int64_t pass, int64_t panel, int32_t worker)
{
    const gbs_sampler *const sampler = run->sampler;
    const gbs_few_kernels *const few = sampler->few;
    const int half = (int)(pass % sampler->passes);
    const gbs_pass_plan *const plan = &sampler->pass[half];
    const size_t size = gbs_type_size(sampler->type);
    const int64_t dim = sampler->dim, group = few->rows, first = panel * group;
    const int64_t left = dim - first, end = first + (left < group ? left : group);
    char *const x =
        (char *)sampler->state + (size_t)(half == 0 ? 0 : (dim - 1) * run->block.width) * size;
    const char *const starts =
        (const char *)plan->few_panels + (size_t)(panel * gbs_few_panel_step(dim, group)) * size;
    const int64_t step = half == 0 ? run->block.width : -run->block.width;
    const gbs_few_job job = {
        .rows = end - first,
        .panel = starts,
        .square = starts + (size_t)((2 + first) * group) * size,
        .site = plan->site + first,
        .x = x + (ptrdiff_t)(first * step) * (ptrdiff_t)size,
        .x_step = step,
        .z = noise_of(run, pass),
        .z_row = run->z_row,
        .relaxed = sampler->relaxed,
        .sums = (char *)sampler->sums + (size_t)(worker * sampler->sums_room) * size,
    };
    /* in a pass the other way the panels cut the places elsewhere: all must be final */
    const int64_t before = pass * run->panels, last = before - run->panels;
    gbs_pool_wait(&run->drawn[pass % 2], (pass / 2 + 1) * run->chunks);
    gbs_pool_wait(&run->kept, draws_before(run, pass));
    gbs_pool_wait(&run->final, sampler->passes == 2 ? before : last + panel + 1);
    few->begin(&job);
    add_places(run, plan, panel, end, dim, last, &job, x);
    add_places(run, plan, panel, 0, first, before, &job, x);
    few->finish(&job);
    atomic_store_explicit(&run->final, before + panel + 1, memory_order_release);
}

static void keep_state(few_run *run, int64_t pass)
{
    if (!ends_draw(run, pass))
        return;
    gbs_pool_wait(&run->final, (pass + 1) * run->panels);
    gbs_run_keep(run->job, &run->block, draws_before(run, pass));
    atomic_fetch_add_explicit(&run->kept, 1, memory_order_release);
}

static void do_task(void *data, int64_t index, int32_t worker)
{
    few_run *const run = data;
    const int64_t tasks = run->chunks + run->panels + 1, pass = index / tasks;
    const int64_t task = index % tasks;
    if (task < run->chunks)
        draw_chunk(run, pass, task);
    else if (task < run->chunks + run->panels)
        sweep_panel(run, pass, task - run->chunks, worker);
    else
        keep_state(run, pass);
}

void gbs_run_few(const gbs_run_job *job)
{
    gbs_sampler *const sampler = job->sampler;
    const int native = sampler->stream.kind == GBS_STREAM_NATIVE;
    few_run run = {
        .job = job,
        .sampler = sampler,
        .block = gbs_sampler_block(sampler, 0),
        .panels = (sampler->dim + sampler->few->rows - 1) / sampler->few->rows,
        .chunks = native ? (sampler->dim + CHUNK - 1) / CHUNK : 1,
    };
    run.z_row = gbs_noise_is_sequential(sampler) ? gbs_noise_row(sampler) : run.block.z_width;
    const int64_t passes = job->draws * job->thin * sampler->passes;
    gbs_pool_run(sampler->ctx->pool, passes * (run.chunks + run.panels + 1), do_task, &run);
}
