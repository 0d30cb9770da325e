/* What this machine could do at most, measured: the arithmetic that a sweep is made of, alone, and
 * reading a matrix, alone. */
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

/* Bytes a second of reading `bytes` bytes over and over, each thread a part of its own; for about
 * `seconds`. */
exit_code ceiling_reading(gbs_isa isa, int32_t threads, double seconds, size_t bytes,
                          double *bytes_a_second);

/* Seconds that count.  On one thread its own CPU time, which neighbours on a busy machine do not
 * enter; for several the wall clock, for a thread that waits for another counts too. */
double clock_seconds(int32_t threads);

#endif
