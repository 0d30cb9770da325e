/* Site updates a second between bounds on the current GPU, by where the bounds lie, whitened, and
 * within rows: a sampler of the CUDA backend, precision I + 1/(4 D), all sites with the same bounds
 * or all kinds in turn; rows x_i <= x_i+1, two entries each, or D dense ones.  Median of 5 runs, by
 * the clock of the host, which waits for each.
 *
 *     gpu_bounded CUDA_LIBRARY [TYPE D B SWEEPS LOWER UPPER OVERRELAX [METHOD [ROWS]]]
 *
 * METHOD gibbs or whitened, ROWS none, ordered or dense. */
#define _POSIX_C_SOURCE 200809L
#include "gibbsite/gibbsite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 5, MIXED = 1 };

typedef enum row_form { NO_ROWS, ORDERED, DENSE } row_form;

static const char *const row_names[] = {"", ", ordered", ", dense rows"};

typedef struct row {
    gbs_type type;
    int64_t dim, chains, sweeps;
    double lower, upper, overrelax;
    int mixed; /* bounds of all kinds in turn, instead */
    gbs_method method;
    row_form rows;
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
    double *const a = calloc(dim * dim, sizeof *a), *const least = calloc(dim, sizeof *least);
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
    for (size_t r = 0; r < dim; ++r)
        for (size_t i = 0; i < dim; ++i)
            a[r * dim + i] = of->rows == DENSE ? (i == r ? 1.0 : 0.0) + 1.0 / (double)dim
                             : i == r + 1      ? 1.0
                             : i == r          ? -1.0
                                               : 0.0;
    if (of->rows != NO_ROWS)
        m.constraints = (gbs_constraints){
            .rows = of->rows == DENSE ? of->dim : of->dim - 1, .matrix = a, .lower = least};
    need(ctx, gbs_model_create(ctx, &m, &model));
    free(q);
    free(lower);
    free(upper);
    free(a);
    free(least);
    return model;
}

/* A start within the rows: ascending, from -1 to 1 or, for dense rows, 0 to 1. */
static void *start_of(const row *of)
{
    double *const x = malloc((size_t)of->dim * sizeof *x);
    for (int64_t i = 0; i < of->dim; ++i) {
        const double up = (double)i / (double)of->dim, value = of->rows == DENSE ? up : 2 * up - 1;
        if (of->type == GBS_F32)
            ((float *)(void *)x)[i] = (float)value;
        else
            x[i] = value;
    }
    return x;
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
    s.method = of->method;
    void *const start = start_of(of);
    if (of->rows != NO_ROWS) {
        s.start = GBS_START_GIVEN;
        s.initial = start;
        s.initial_rows = 1;
    }
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
        snprintf(bounds, sizeof bounds, "[%g, %g]%s", of->lower, of->upper, row_names[of->rows]);
    printf("%-18s %s D=%-5lld B=%-8lld S=%-4lld %-23s r=%g %10.3f ms %8.2f Gsites/s\n",
           gbs_sampler_kernel(sampler), of->type == GBS_F32 ? "f32" : "f64", (long long)of->dim,
           (long long)of->chains, (long long)of->sweeps, bounds, of->overrelax,
           1e3 * seconds[REPEATS / 2],
           1e-9 * (double)(of->dim * of->chains * of->sweeps) / seconds[REPEATS / 2]);
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
    free(start);
}

#define WHITENED(type, dim, chains, sweeps, lower, rows)                                           \
    {                                                                                              \
        type, dim, chains, sweeps, lower, INFINITY, 0, 0, GBS_METHOD_WHITENED, rows                \
    }
#define WITHIN(type, dim, chains, sweeps, lower, rows)                                             \
    {                                                                                              \
        type, dim, chains, sweeps, lower, INFINITY, 0, 0, GBS_METHOD_GIBBS, rows                   \
    }

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    static const row rows[] = {
        {GBS_F32, 32, 1048576, 10, -1, 2, 0, 0, 0, 0},
        {GBS_F32, 32, 1048576, 10, 0, INFINITY, 0, 0, 0, 0},
        {GBS_F32, 32, 1048576, 10, 40, 41, 0, 0, 0, 0},
        {GBS_F32, 32, 1048576, 10, 0, 0, 0, MIXED, 0, 0},
        {GBS_F32, 32, 1048576, 5, -1, 2, 0.8, 0, 0, 0},
        {GBS_F32, 32, 4096, 100, -1, 2, 0, 0, 0, 0},
        {GBS_F32, 8, 1048576, 20, 0, INFINITY, 0, 0, 0, 0},
        {GBS_F32, 128, 262144, 5, 0, INFINITY, 0, 0, 0, 0},
        {GBS_F32, 512, 16384, 5, 0, INFINITY, 0, 0, 0, 0},
        {GBS_F64, 32, 1048576, 5, -1, 2, 0, 0, 0, 0},
        {GBS_F64, 32, 1048576, 5, 0, INFINITY, 0, 0, 0, 0},
        WHITENED(GBS_F32, 32, 1048576, 10, 0, NO_ROWS),
        WHITENED(GBS_F32, 64, 1048576, 5, 0, NO_ROWS),
        WHITENED(GBS_F32, 32, 4096, 100, 0, NO_ROWS),
        WHITENED(GBS_F32, 64, 4096, 100, 0, NO_ROWS),
        WHITENED(GBS_F64, 32, 1048576, 5, 0, NO_ROWS),
        WHITENED(GBS_F32, 32, 1048576, 5, -INFINITY, DENSE),
        WHITENED(GBS_F32, 512, 16384, 2, 0, NO_ROWS),
        WITHIN(GBS_F32, 32, 1048576, 10, -INFINITY, ORDERED),
        WITHIN(GBS_F32, 64, 1048576, 5, -INFINITY, ORDERED),
        WITHIN(GBS_F32, 32, 4096, 100, -INFINITY, ORDERED),
        WITHIN(GBS_F32, 64, 4096, 100, -INFINITY, ORDERED),
        WITHIN(GBS_F64, 32, 1048576, 5, -INFINITY, ORDERED),
        WITHIN(GBS_F32, 32, 1048576, 5, -INFINITY, DENSE),
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
    if (argc >= 9) {
        const row one = {strcmp(argv[2], "f64") == 0 ? GBS_F64 : GBS_F32,
                         atoll(argv[3]),
                         atoll(argv[4]),
                         atoll(argv[5]),
                         atof(argv[6]),
                         atof(argv[7]),
                         atof(argv[8]),
                         0,
                         argc > 9 && strcmp(argv[9], "whitened") == 0 ? GBS_METHOD_WHITENED
                                                                      : GBS_METHOD_GIBBS,
                         argc > 10 && strcmp(argv[10], "ordered") == 0 ? ORDERED
                         : argc > 10 && strcmp(argv[10], "dense") == 0 ? DENSE
                                                                       : NO_ROWS};
        time_row(ctx, &one);
    } else {
        for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k)
            time_row(ctx, &rows[k]);
    }
    gbs_context_destroy(ctx);
    return 0;
}
