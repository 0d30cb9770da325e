/* Checkpoints of a run: when one is due, and what goes into it.  The clock may decide when; that
 * changes no draw, for every checkpoint stands for the same run. */
#define _POSIX_C_SOURCE 200809L
#include "sample.h"

#include "io/checkpoint_file.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Without --every. */
enum { SECONDS_APART = 60 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

exit_code checkpoint_write(sample_run *run)
{
    const sample_plan *plan = run->plan;
    const gbs_checkpoint_counts counts = {
        .warmup = plan->warmup, .thin = plan->thin, .draws = plan->first_draw + run_kept(run)};
    gbs_io_error error;
    if (!run->checkpoint)
        return EXIT_FINE;
    const gbs_status status = gbs_checkpoint_write(run->sampler, run->moments, &counts,
                                                   run->checkpoint, run->checkpoint_size);
    if (status != GBS_OK)
        return complain_status(run->ctx, status);
    const gbs_io_status saved =
        gbs_checkpoint_save(plan->checkpoint, run->checkpoint, run->checkpoint_size, &error);
    if (saved != GBS_IO_OK)
        return complain((exit_code)gbs_io_exit_code(saved), "%s", error.message);
    run->checkpoint_time = now();
    return EXIT_FINE;
}

exit_code checkpoint_open(sample_run *run)
{
    if (!run->plan->checkpoint)
        return EXIT_FINE;
    const gbs_status status =
        gbs_checkpoint_size(run->sampler, run->moments, &run->checkpoint_size);
    if (status != GBS_OK)
        return complain_status(run->ctx, status);
    run->checkpoint = take((int64_t)run->checkpoint_size, 1, "checkpoint");
    return run->checkpoint ? checkpoint_write(run) : EXIT_FILE;
}

int64_t checkpoint_distance(const sample_run *run)
{
    const int64_t every = run->plan->every;
    if (!run->checkpoint || !every)
        return INT64_MAX;
    return every - gbs_sampler_next_sweep(run->sampler) % every;
}

exit_code checkpoint_if_due(sample_run *run)
{
    if (!run->checkpoint)
        return EXIT_FINE;
    const int64_t every = run->plan->every;
    const bool due = every ? gbs_sampler_next_sweep(run->sampler) % every == 0
                           : now() - run->checkpoint_time > (double)SECONDS_APART;
    return due ? checkpoint_write(run) : EXIT_FINE;
}

exit_code checkpoint_restore(sample_run *run)
{
    static const char prefix[] = "checkpoint: ";
    const sample_plan *plan = run->plan;
    if (!plan->resume)
        return EXIT_FINE;
    const gbs_status status =
        gbs_checkpoint_read(run->sampler, run->moments, plan->resume_bytes, plan->resume_size);
    if (status == GBS_OK)
        return EXIT_FINE;
    const char *message = gbs_context_message(run->ctx);
    if (!strncmp(message, prefix, sizeof prefix - 1))
        message += sizeof prefix - 1;
    return complain(EXIT_BAD_INPUT, "%s: %s", plan->resume, message);
}
