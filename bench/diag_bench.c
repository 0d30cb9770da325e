/* Our side of bench/diag_posterior.R, which drives it: makes draws, and times all columns of the
 * summary over variables held in memory, as R holds them.  Files are doubles
 * [variable, chain, draw], in R array(draw, chain, variable).
 *
 *     diag_bench make PHI VARIABLES CHAINS DRAWS FILE    AR(1) chains, started in their law
 *     diag_bench time FILE VARIABLES CHAINS DRAWS THREADS OUT.csv
 *             prints seconds of CPU time and of the clock; writes a row of columns a variable */
#define _POSIX_C_SOURCE 200809L
#include "gibbsite/gibbsite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t next_word(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double next_normal(uint64_t *state)
{
    const double u = ((double)(next_word(state) >> 11) + 0.5) / 9007199254740992.0;
    const double v = ((double)(next_word(state) >> 11) + 0.5) / 9007199254740992.0;
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static int make(double phi, int64_t rows, int64_t draws, const char *path)
{
    FILE *const file = fopen(path, "wb");
    double *const x = malloc((size_t)draws * sizeof *x);
    if (file == NULL || x == NULL)
        return 1;
    uint64_t state = 1;
    int failed = 0;
    for (int64_t row = 0; row < rows; row++) {
        double last = next_normal(&state);
        for (int64_t t = 0; t < draws; t++) {
            x[t] = last;
            last = phi * last + sqrt(1 - phi * phi) * next_normal(&state);
        }
        failed |= fwrite(x, sizeof *x, (size_t)draws, file) != (size_t)draws;
    }
    free(x);
    return failed | (fclose(file) != 0);
}

static int write_columns(const gbs_summary *s, int64_t variables, const char *path)
{
    FILE *const file = fopen(path, "w");
    if (file == NULL)
        return 1;
    for (const gbs_summary *end = s + variables; s < end; s++)
        fprintf(file, "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", s->mean,
                s->sd, s->mcse_mean, s->mcse_sd, s->q5, s->median, s->q95, s->ess_bulk, s->ess_tail,
                s->rhat);
    return fclose(file) != 0;
}

static int time_summary(const char *path, int64_t variables, int64_t chains, int64_t draws,
                        int32_t threads, const char *out)
{
    const int64_t size = chains * draws, count = variables * size;
    double *const x = malloc((size_t)count * sizeof *x);
    gbs_summary *const s = calloc((size_t)variables, sizeof *s);
    gbs_context_options options = gbs_context_options_default();
    options.threads = threads;
    gbs_context *ctx = NULL;
    FILE *const file = fopen(path, "rb");
    if (x == NULL || s == NULL || file == NULL ||
        fread(x, sizeof *x, (size_t)count, file) != (size_t)count ||
        gbs_context_create(&options, &ctx) != GBS_OK)
        return 1;
    fclose(file);
    const gbs_draws first = {x, chains, draws, draws, 1};
    const double start = now(CLOCK_MONOTONIC), cpu_start = now(CLOCK_PROCESS_CPUTIME_ID);
    const gbs_status status = gbs_diag_summaries(ctx, &first, variables, size, NULL, s, NULL);
    printf("%.9g %.9g\n", now(CLOCK_PROCESS_CPUTIME_ID) - cpu_start, now(CLOCK_MONOTONIC) - start);
    const int failed = status != GBS_OK || write_columns(s, variables, out);
    gbs_context_destroy(ctx);
    free(s);
    free(x);
    return failed;
}

int main(int argc, char **argv)
{
    if (argc == 7 && strcmp(argv[1], "make") == 0)
        return make(atof(argv[2]), atoll(argv[3]) * atoll(argv[4]), atoll(argv[5]), argv[6]);
    if (argc == 8 && strcmp(argv[1], "time") == 0)
        return time_summary(argv[2], atoll(argv[3]), atoll(argv[4]), atoll(argv[5]), atoi(argv[6]),
                            argv[7]);
    fputs("usage: see the head of bench/diag_bench.c\n", stderr);
    return 2;
}
