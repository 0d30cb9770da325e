/* The run: warm-up, then draws in blocks that are written and forgotten, so that memory does not
 * grow with their number.  Blocks are filled in slices of about a fifth of a second, between which
 * an interruption is noticed; neither changes a bit of the draws. */
#include "sample.h"

#include "interrupt.h"
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for a block of draws: 32 MiB, or one draw of all chains where that is more. */
enum { BLOCK_BYTES = 32 << 20 };

typedef struct block {
    int64_t capacity; /* draws */
    void *x;          /* [chains, n, dim] of the plan's type, n <= capacity */
    double *lp;       /* [chains, n]; NULL if nobody asks */
} block;

static size_t type_size(const sample_plan *plan)
{
    return plan->dtype == GBS_F32 ? sizeof(float) : sizeof(double);
}

static exit_code block_open(block *b, const sample_run *run, const gbs_results_writer *writer)
{
    const sample_plan *plan = run->plan;
    int64_t numbers;
    if (__builtin_mul_overflow(plan->chains, run->dim, &numbers))
        numbers = INT64_MAX; /* take refuses it */
    const int64_t warmup = plan_warmup_draws(plan);
    b->capacity = warmup > plan->draws ? warmup : plan->draws;
    if (writer) {
        const int64_t fit = BLOCK_BYTES / (int64_t)type_size(plan) / numbers;
        b->capacity = fit < 1 ? 1 : fit < b->capacity ? fit : b->capacity;
    }
    if (__builtin_mul_overflow(numbers, b->capacity, &numbers))
        numbers = INT64_MAX;
    char what[96];
    snprintf(what, sizeof what, "--chains %" PRId64 ", --draws %" PRId64, plan->chains,
             plan->draws);
    b->x = take(numbers, type_size(plan), what);
    if (!b->x)
        return EXIT_FILE;
    if (!writer || plan->format == GBS_RESULTS_NPY)
        return EXIT_FINE;
    b->lp = take(plan->chains * b->capacity, sizeof *b->lp, "log densities");
    return b->lp ? EXIT_FINE : EXIT_FILE;
}

int64_t run_kept(const sample_run *run)
{
    const sample_plan *plan = run->plan;
    const int64_t swept = gbs_sampler_next_sweep(run->sampler) - plan->warmup;
    return swept > 0 ? swept / plan->thin - plan->first_draw : 0;
}

/* After each slice: what the user may have waited for. */
static exit_code look_up(sample_run *run, progress *p, int64_t sweeps)
{
    progress_add(p, sweeps);
    const exit_code code = checkpoint_if_due(run);
    return code == EXIT_FINE && interrupted() ? EXIT_INTERRUPTED : code;
}

/* The most sweeps that may pass unwatched. */
static int64_t slice_of(const sample_run *run, const progress *p)
{
    const int64_t distance = checkpoint_distance(run);
    return p->slice < distance ? p->slice : distance;
}

/* Sweeps that are not kept. */
static exit_code advance(sample_run *run, int64_t sweeps, progress *p)
{
    exit_code code = EXIT_FINE;
    while (code == EXIT_FINE && sweeps > 0) {
        const int64_t slice = slice_of(run, p), now = sweeps < slice ? sweeps : slice;
        const gbs_status status = gbs_sampler_run(run->sampler, now);
        if (status != GBS_OK)
            return complain_status(run->ctx, status);
        sweeps -= now;
        code = look_up(run, p, now);
    }
    return code;
}

/* Draws in the making: the draws themselves, or those of the warm-up. */
typedef struct stage {
    bool warmup;
    int64_t from; /* sweep behind which the first one's sweeps begin */
    const block *to;
} stage;

/* Sweeps of the draw in hand that are done. */
static int64_t swept(const sample_run *run, const stage *s)
{
    return (gbs_sampler_next_sweep(run->sampler) - s->from) % run->plan->thin;
}

/* Where the draws from `filled` on go, of n that a block is to have. */
static gbs_sink sink_of(const sample_run *run, const stage *s, int64_t filled, int64_t n)
{
    gbs_sink sink = {.moments = run->moments};
    if (!run->moments) {
        sink.out = (char *)s->to->x + (size_t)(filled * run->dim) * type_size(run->plan);
        sink.chain_stride = n * run->dim;
        sink.draw_stride = run->dim;
        sink.site_stride = 1;
    }
    return sink;
}

/* Makes n draws; *filled tells how many it has got, whatever the result.  A draw of more sweeps
 * than a slice has is made of slices, and so is what is left of one that a checkpoint was written
 * in. */
static exit_code fill(sample_run *run, const stage *s, int64_t n, progress *p, int64_t *filled)
{
    exit_code code = EXIT_FINE;
    for (*filled = 0; code == EXIT_FINE && *filled < n;) {
        int64_t thin = run->plan->thin, now = slice_of(run, p) / thin;
        if (now < 1 || swept(run, s) > 0) {
            code = advance(run, thin - 1 - swept(run, s), p);
            if (code != EXIT_FINE)
                return code;
            thin = now = 1;
        }
        now = now < n - *filled ? now : n - *filled;
        const gbs_sink sink = sink_of(run, s, *filled, n);
        const gbs_status status = gbs_sampler_sample(run->sampler, now, thin, &sink);
        if (status != GBS_OK)
            return complain_status(run->ctx, status);
        *filled += now;
        code = look_up(run, p, now * thin);
    }
    return code;
}

/* Makes [chains, n, dim] of a block whose chains were given room for `room` draws. */
static void close_ranks(const sample_run *run, const block *b, int64_t room, int64_t n)
{
    const size_t draw = (size_t)run->dim * type_size(run->plan);
    for (int64_t c = 1; n < room && c < run->plan->chains; c++)
        memmove((char *)b->x + (size_t)(c * n) * draw,
                (const char *)b->x + (size_t)(c * room) * draw, (size_t)n * draw);
}

static exit_code write_block(sample_run *run, const stage *s, gbs_results_writer *writer,
                             int64_t first, int64_t n)
{
    const sample_plan *plan = run->plan;
    const block *b = s->to;
    gbs_io_error error;
    if (b->lp) {
        const gbs_status status = gbs_model_log_density(run->ctx, run->model, (gbs_type)plan->dtype,
                                                        b->x, plan->chains * n, 0, b->lp);
        if (status != GBS_OK)
            return complain_status(run->ctx, status);
    }
    const gbs_io_status status =
        s->warmup ? gbs_results_write_warmup(writer, first, n, b->x, b->lp, &error)
                  : gbs_results_write(writer, first, n, b->x, b->lp, &error);
    if (status != GBS_IO_OK)
        return complain((exit_code)gbs_io_exit_code(status), "%s", error.message);
    return EXIT_FINE;
}

/* One block: n draws, or as many as there are when the run is interrupted, if they are to be
 * kept. */
static exit_code make_block(sample_run *run, const stage *s, gbs_results_writer *writer,
                            int64_t done, int64_t n, progress *p)
{
    int64_t filled;
    exit_code code = fill(run, s, n, p, &filled);
    const bool part = code == EXIT_INTERRUPTED && run->plan->keep_partial && filled > 0;
    if (!writer || (code != EXIT_FINE && !part))
        return code;
    close_ranks(run, s->to, n, filled);
    const exit_code written = write_block(run, s, writer, done, filled);
    return written == EXIT_FINE ? code : written;
}

static exit_code make_draws(sample_run *run, const stage *s, gbs_results_writer *writer,
                            int64_t draws, progress *p)
{
    exit_code code = EXIT_FINE;
    for (int64_t done = 0; code == EXIT_FINE && done < draws;) {
        const int64_t left = draws - done;
        const int64_t n = left < s->to->capacity ? left : s->to->capacity;
        code = make_block(run, s, writer, done, n, p);
        done += n;
    }
    return code;
}

static exit_code warm_up(sample_run *run, const block *b, gbs_results_writer *writer, progress *p)
{
    const stage s = {.warmup = true, .from = 0, .to = b};
    const exit_code code = make_draws(run, &s, writer, plan_warmup_draws(run->plan), p);
    if (code != EXIT_FINE)
        return code;
    return advance(run, run->plan->warmup - gbs_sampler_next_sweep(run->sampler), p);
}

exit_code run_draw(sample_run *run, gbs_results_writer *writer, void **kept)
{
    const sample_plan *plan = run->plan;
    block b = {.capacity = plan->draws};
    progress p;
    *kept = NULL;
    exit_code code = run->moments ? EXIT_FINE : block_open(&b, run, writer);
    progress_start(&p, plan_sweeps(plan), plan->quiet);
    if (code == EXIT_FINE)
        code = warm_up(run, &b, writer, &p);
    const stage s = {.warmup = false, .from = plan->warmup, .to = &b};
    if (code == EXIT_FINE)
        code = make_draws(run, &s, run->moments ? NULL : writer, plan->draws, &p);
    progress_end(&p);
    free(b.lp);
    if (code == EXIT_FINE && !writer)
        *kept = b.x;
    else
        free(b.x);
    return code;
}
