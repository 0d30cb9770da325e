/* Site updates a second between bounds on the current GPU, by where the bounds lie: a sampler of
 * the CUDA backend, precision I + 1/(4 D), all sites with the same bounds or all kinds in turn.
 * Median of 5 runs, by the clock of the host, which waits for each.
 *
 *     gpu_bounded CUDA_LIBRARY [TYPE D B SWEEPS LOWER UPPER OVERRELAX] */
#define _POSIX_C_SOURCE 200809L
#include "gibbsite/gibbsite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 5, MIXED = 1 };

typedef struct row {
    gbs_type type;
    int64_t dim, chains, sweeps;
    double lower, upper, overrelax;
    int mixed; /* bounds of all kinds in turn, instead */
} row;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void need(gbs_context *ctx, gbs_status status)
{
    if (status == GBS_OK)
        return;
    printf("%s: %s\n", gbs_status_name(status), gbs_context_message(ctx));
    exit(1);
}

static gbs_model *model_of(gbs_context *ctx, const row *of)
{
    static const double low[] = {-1, 0, -INFINITY, 5, 40, -INFINITY},
                        high[] = {2, INFINITY, 0.5, INFINITY, 41, INFINITY};
    const size_t dim = (size_t)of->dim;
    double *const q = malloc(dim * dim * sizeof *q), *const lower = malloc(dim * sizeof *lower),
                  *const upper = malloc(dim * sizeof *upper);
    gbs_model_spec m = gbs_model_spec_default();
    gbs_model *model = NULL;
    for (size_t i = 0; i < dim; ++i) {
        for (size_t j = 0; j < dim; ++j)
            q[i * dim + j] = (i == j ? 1.0 : 0.0) + 0.25 / (double)dim;
        lower[i] = of->mixed ? low[i % 6] : of->lower;
        upper[i] = of->mixed ? high[i % 6] : of->upper;
    }
    m.dim = of->dim;
    m.matrix = q;
    m.lower = lower;
    m.upper = upper;
    need(ctx, gbs_model_create(ctx, &m, &model));
    free(q);
    free(lower);
    free(upper);
    return model;
}

static void time_row(gbs_context *ctx, const row *of)
{
    gbs_model *const model = model_of(ctx, of);
    gbs_sampler_spec s = gbs_sampler_spec_default();
    gbs_sampler *sampler = NULL;
    double seconds[REPEATS];
    s.type = of->type;
    s.chains = of->chains;
    s.seed = 1;
    s.overrelax = of->overrelax;
    need(ctx, gbs_sampler_create(ctx, model, &s, &sampler));
    need(ctx, gbs_sampler_run(sampler, of->sweeps));
    for (int k = 0; k < REPEATS; ++k) {
        const double begin = now();
        need(ctx, gbs_sampler_run(sampler, of->sweeps));
        seconds[k] = now() - begin;
    }
    qsort(seconds, REPEATS, sizeof *seconds, by_size);
    char bounds[64] = "all kinds in turn";
    if (!of->mixed)
        snprintf(bounds, sizeof bounds, "[%g, %g]", of->lower, of->upper);
    printf("%-18s %s D=%-5lld B=%-8lld S=%-4lld %-18s r=%g %10.3f ms %8.2f Gsites/s\n",
           gbs_sampler_kernel(sampler), of->type == GBS_F32 ? "f32" : "f64", (long long)of->dim,
           (long long)of->chains, (long long)of->sweeps, bounds, of->overrelax,
           1e3 * seconds[REPEATS / 2],
           1e-9 * (double)(of->dim * of->chains * of->sweeps) / seconds[REPEATS / 2]);
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
}

int main(int argc, char **argv)
{
    static const row rows[] = {
        {GBS_F32, 32, 1048576, 10, -1, 2, 0, 0},      {GBS_F32, 32, 1048576, 10, 0, INFINITY, 0, 0},
        {GBS_F32, 32, 1048576, 10, 40, 41, 0, 0},     {GBS_F32, 32, 1048576, 10, 0, 0, 0, MIXED},
        {GBS_F32, 32, 1048576, 5, -1, 2, 0.8, 0},     {GBS_F32, 32, 4096, 100, -1, 2, 0, 0},
        {GBS_F32, 8, 1048576, 20, 0, INFINITY, 0, 0}, {GBS_F32, 128, 262144, 5, 0, INFINITY, 0, 0},
        {GBS_F32, 512, 16384, 5, 0, INFINITY, 0, 0},  {GBS_F64, 32, 1048576, 5, -1, 2, 0, 0},
        {GBS_F64, 32, 1048576, 5, 0, INFINITY, 0, 0},
    };
    gbs_context_options options = gbs_context_options_default();
    gbs_context *ctx = NULL;
    char message[512] = "";
    options.backend = GBS_BACKEND_CUDA;
    options.cuda_library = argc > 1 ? argv[1] : NULL;
    options.message = message;
    options.message_bytes = sizeof message;
    if (gbs_context_create(&options, &ctx) != GBS_OK) {
        printf("%s\n", message);
        return 1;
    }
    if (argc == 9) {
        const row one = {strcmp(argv[2], "f64") == 0 ? GBS_F64 : GBS_F32,
                         atoll(argv[3]),
                         atoll(argv[4]),
                         atoll(argv[5]),
                         atof(argv[6]),
                         atof(argv[7]),
                         atof(argv[8]),
                         0};
        time_row(ctx, &one);
    } else {
        for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k)
            time_row(ctx, &rows[k]);
    }
    gbs_context_destroy(ctx);
    return 0;
}
