/* The progress line of long runs: sweeps done, rate, time left; on a terminal only. */
#ifndef GIBBSITE_CLI_PROGRESS_H
#define GIBBSITE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    bool wanted, shown;
    int64_t done, total;
    double started, printed; /* seconds */
    double slice_began;
    int64_t slice; /* sweeps that take about a fifth of a second */
} progress;

void progress_start(progress *p, int64_t total, bool quiet);
/* Counts sweeps that were just run as one slice, and learns how large the next should be. */
void progress_add(progress *p, int64_t sweeps);
void progress_end(progress *p); /* removes the line */

#endif
