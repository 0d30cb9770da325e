/* Sweeps between bounds on one core, for bench/compare_bounded.py:
 *
 *     bounded_rates NUMBER [rates]
 *
 * prints a line `model,name,D,updates a second,sweeps for an independent draw of the mean,mean,
 * outside` for each type and way (plain, over-relaxed, whitened) of model NUMBER, 0 to 11.  Rates
 * are the median of 7 runs of many chains; autocorrelation times, left out with `rates`, come from
 * 64 chains of 2,000 draws of the mean over all sites. */
#define _POSIX_C_SOURCE 200809L
#include "gibbsite/gibbsite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 7, CHAINS = 1024, WATCHED = 64, DRAWS = 2000, WARMUP = 2000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void must(gbs_context *ctx, gbs_status status)
{
    if (status == GBS_OK)
        return;
    fprintf(stderr, "%s\n", gbs_context_message(ctx));
    exit(1);
}

/* (1 - rho) I + rho 11' inverted, rho = 1/2. */
static double *orthant(int64_t dim)
{
    double *const q = malloc((size_t)(dim * dim) * sizeof *q);
    for (int64_t i = 0; i < dim; ++i)
        for (int64_t j = 0; j < dim; ++j)
            q[i * dim + j] = (i == j ? 2.0 : 0.0) - 2.0 / (double)(dim + 1);
    return q;
}

/* tmvtnorm's sparse example: .5625, then .625 on the diagonal, -.1875 beside it. */
static double *chain(int64_t dim)
{
    double *const q = calloc((size_t)(dim * dim), sizeof *q);
    for (int64_t i = 0; i < dim; ++i) {
        q[i * dim + i] = i == 0 ? .5625 : .625;
        if (i > 0)
            q[i * dim + i - 1] = q[(i - 1) * dim + i] = -.1875;
    }
    return q;
}

static double rate(gbs_context *ctx, gbs_model *model, const gbs_sampler_spec *like)
{
    gbs_sampler_spec spec = *like;
    gbs_sampler *sampler;
    const int64_t dim = gbs_model_dim(model);
    const int64_t sweeps = 1 + 4000000 / (dim * dim + 256 * dim);
    double seconds[RUNS];
    spec.chains = CHAINS;
    must(ctx, gbs_sampler_create(ctx, model, &spec, &sampler));
    must(ctx, gbs_sampler_run(sampler, 20));
    for (int run = 0; run < RUNS; ++run) {
        const double start = now();
        must(ctx, gbs_sampler_run(sampler, sweeps));
        seconds[run] = now() - start;
    }
    gbs_sampler_destroy(sampler);
    qsort(seconds, RUNS, sizeof *seconds, by_size);
    return (double)(sweeps * CHAINS * dim) / seconds[RUNS / 2];
}

typedef struct watch {
    gbs_type type;
    int64_t dim;
    double lower, upper;
    double *means; /* [WATCHED, DRAWS] */
    int64_t outside;
} watch;

static int look(void *user, int64_t draw, const void *x)
{
    watch *const w = user;
    for (int64_t c = 0; c < WATCHED; ++c) {
        double sum = 0;
        for (int64_t k = c * w->dim; k < (c + 1) * w->dim; ++k) {
            const double v =
                w->type == GBS_F32 ? (double)((const float *)x)[k] : ((const double *)x)[k];
            sum += v;
            w->outside += !(v >= w->lower && v <= w->upper);
        }
        w->means[c * DRAWS + draw] = sum / (double)w->dim;
    }
    return 0;
}

/* What the mean of all sites does: sweeps for an independent draw, and its own mean. */
static double mix(gbs_context *ctx, gbs_model *model, const gbs_sampler_spec *like, watch *w,
                  double *mean)
{
    gbs_sampler_spec spec = *like;
    gbs_sampler *sampler;
    const gbs_sink sink = {.callback = look, .user = w};
    const gbs_draws draws = {w->means, WATCHED, DRAWS, DRAWS, 1};
    spec.chains = WATCHED;
    must(ctx, gbs_sampler_create(ctx, model, &spec, &sampler));
    must(ctx, gbs_sampler_run(sampler, WARMUP));
    must(ctx, gbs_sampler_sample(sampler, DRAWS, 1, &sink));
    gbs_sampler_destroy(sampler);
    void *const workspace = malloc(gbs_diag_workspace(WATCHED, DRAWS));
    const double ess = gbs_diag_ess_mean(&draws, workspace);
    free(workspace);
    *mean = 0;
    for (int k = 0; k < WATCHED * DRAWS; ++k)
        *mean += w->means[k] / (WATCHED * DRAWS);
    return (double)(WATCHED * DRAWS) / ess;
}

static void run(gbs_context *ctx, const char *name, int64_t dim, double *q, double low, double high,
                int watched)
{
    double *const lower = malloc((size_t)dim * sizeof *lower), *const upper = malloc((size_t)dim *
                                                                                     sizeof *upper);
    gbs_model_spec m = gbs_model_spec_default();
    gbs_model *model;
    for (int64_t i = 0; i < dim; ++i) {
        lower[i] = low;
        upper[i] = high;
    }
    m.dim = dim;
    m.matrix = q;
    m.lower = lower;
    m.upper = upper;
    must(ctx, gbs_model_create(ctx, &m, &model));
    for (int type = GBS_F32; type <= GBS_F64; ++type)
        for (int way = 0; way < 3; ++way) {
            static const char *const names[] = {"", " r=.8", " whitened"};
            watch w = {(gbs_type)type, dim, low, high, NULL, 0};
            double mean = NAN, tau = NAN;
            gbs_sampler_spec spec = gbs_sampler_spec_default();
            spec.type = (gbs_type)type;
            spec.seed = 1;
            spec.overrelax = way == 1 ? 0.8 : 0;
            spec.method = way == 2 ? GBS_METHOD_WHITENED : GBS_METHOD_GIBBS;
            w.means = malloc(WATCHED * DRAWS * sizeof *w.means);
            const double updates = rate(ctx, model, &spec);
            if (watched)
                tau = mix(ctx, model, &spec, &w, &mean);
            printf("%s,gibbsite %s%s,%lld,%.0f,%.3g,%.9g,%lld\n", name,
                   type == GBS_F32 ? "float" : "double", names[way], (long long)dim, updates, tau,
                   mean, (long long)w.outside);
            free(w.means);
        }
    gbs_model_release(model);
    free(lower);
    free(upper);
    free(q);
}

/* One site, unit variance. */
static void run_tail(gbs_context *ctx, double low, double high, int watched)
{
    char name[64];
    double *const one = malloc(sizeof *one);
    *one = 1;
    snprintf(name, sizeof name, "tail [%g %g]", low, high);
    run(ctx, name, 1, one, low, high, watched);
}

int main(int argc, char **argv)
{
    static const int64_t dims[] = {8, 32, 128, 512};
    static const double tails[][2] = {{7, 8}, {8.5, INFINITY}, {10, 11}};
    const int number = argc > 1 ? atoi(argv[1]) : -1, watched = argc < 3;
    gbs_context *ctx;
    if (number < 0 || number > 11 || gbs_context_create(NULL, &ctx) != GBS_OK)
        return 1;
    if (number == 0 && watched)
        fprintf(stderr, "one core, %s, %d chains\n", gbs_isa_name(gbs_context_isa(ctx)), CHAINS);
    const int64_t dim = dims[number % 4];
    if (number < 4)
        run(ctx, "orthant .5", dim, orthant(dim), 0, (double)INFINITY, watched && dim < 512);
    else if (number < 8)
        run(ctx, "box [-.5 1]", dim, orthant(dim), -0.5, 1, 0);
    else if (number == 8)
        run(ctx, "sparse example as dense", 1000, chain(1000), 0, 2, 0);
    else
        run_tail(ctx, tails[number - 9][0], tails[number - 9][1], watched);
    gbs_context_destroy(ctx);
    return 0;
}
