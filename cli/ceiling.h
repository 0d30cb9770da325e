/* What this machine could do at most, measured: the arithmetic that a sweep is made of, alone. */
#ifndef GIBBSITE_CLI_CEILING_H
#define GIBBSITE_CLI_CEILING_H

#include "cli.h"

/* A second's worth of an instruction set on a number of threads, all running. */
typedef struct ceiling {
    double normals; /* of the native stream */
    double fmas;    /* multiply-adds, one lane each, that do not wait for each other */
} ceiling;

/* Runs each for about `seconds`. */
exit_code ceiling_measure(gbs_isa isa, gbs_type type, int32_t threads, double seconds,
                          ceiling *found);

/* Seconds that count.  On one thread its own CPU time, which neighbours on a busy machine do not
 * enter; for several the wall clock, for a thread that waits for another counts too. */
double clock_seconds(int32_t threads);

#endif
