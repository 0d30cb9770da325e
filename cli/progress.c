/* Time is looked at only here and never enters a draw: slices end where the user may want to stop
 * the run or see how far it is. */
#define _POSIX_C_SOURCE 200809L
#include "progress.h"

#include "io/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void progress_start(progress *p, int64_t total, bool quiet)
{
    const double t = now();
    *p = (progress){.wanted = !quiet && isatty(STDERR_FILENO),
                    .total = total,
                    .started = t,
                    .printed = t,
                    .slice_began = t,
                    .slice = 1};
}

static void print_line(progress *p, double t)
{
    const double rate = (double)p->done / (t - p->started);
    fprintf(stderr, "\r%" PRId64 " of %" PRId64 " %s, %.3g a second, %.0f s left \033[K", p->done,
            p->total, gbs_plural(p->total, "sweep", "sweeps"), rate,
            (double)(p->total - p->done) / rate);
    fflush(stderr);
    p->printed = t;
    p->shown = true;
}

void progress_add(progress *p, int64_t sweeps)
{
    const double t = now(), took = t - p->slice_began;
    p->done += sweeps;
    p->slice_began = t;
    /* A slice of a tenth to a fifth of a second: doubled or halved until it is one. */
    if (took < 0.1 && sweeps >= p->slice && p->slice < INT64_MAX / 2)
        p->slice *= 2;
    else if (took > 0.2 && p->slice > 1)
        p->slice /= 2;
    if (p->wanted && t - p->started > 1 && t - p->printed > 0.2)
        print_line(p, t);
}

void progress_end(progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}
