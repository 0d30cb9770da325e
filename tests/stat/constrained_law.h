/* Chains of whitened sweeps and of sweeps under row constraints: what the tests of their laws
 * share. Chains are independent, and a score is that of the mean over chains of each chain's mean,
 * its error from their scatter, so that autocorrelation is counted. */
#ifndef GBS_TEST_CONSTRAINED_LAW_H
#define GBS_TEST_CONSTRAINED_LAW_H

#define VERDICT_PLANNED 4000
#include "stat/verdict.h"

#include "exact/trial.h"

#include <stdlib.h>
#include <string.h>

static const double inf = (double)INFINITY;

static inline gbs_context *widest_context(void)
{
    gbs_isa isa = GBS_ISA_NEON;
    while (!gbs_isa_available(isa))
        --isa;
    return new_context(isa);
}

static inline int64_t many_chains(void)
{
    return quick() ? 64 : 512;
}

static inline double *constant(int64_t n, double value)
{
    double *const x = naive_new(n);
    for (int64_t i = 0; i < n; ++i)
        x[i] = value;
    return x;
}

/* Unit variances, correlation rho. */
static inline double *equicorrelated(int64_t n, double rho)
{
    double *const s = constant(n * n, rho);
    for (int64_t i = 0; i < n; ++i)
        s[i * n + i] = 1;
    return s;
}

/* `ends` and `inside` on the diagonal, `off` beside it. */
static inline double *tridiagonal(int64_t n, double first, double inside, double last, double off)
{
    double *const q = naive_new(n * n);
    for (int64_t i = 0; i < n; ++i) {
        q[i * n + i] = i == 0 ? first : i == n - 1 ? last : inside;
        if (i > 0)
            q[i * n + i - 1] = q[(i - 1) * n + i] = off;
    }
    return q;
}

static inline double *random_walk(int64_t n, double k)
{
    return tridiagonal(n, 1 + k, 2 + k, 1 + k, -1);
}

/* ---- runs ---- */

typedef struct runner {
    gbs_context *ctx;
    gbs_model *model;
    gbs_type type;
    int64_t chains, dim, functions;
    /* functions [chains][functions] of a state, and their sums over draws */
    void (*measure)(struct runner *run, const void *x, double *out);
    double *value, *sum;
} runner;

static inline int take_draw(void *user, int64_t draw, const void *x)
{
    runner *const run = user;
    (void)draw;
    run->measure(run, x, run->value);
    for (int64_t k = 0; k < run->chains * run->functions; ++k)
        run->sum[k] += run->value[k];
    return 0;
}

/* Starts at `start` [D], or where the library starts. */
static inline gbs_sampler *sampler_of(const runner *run, gbs_method method, const double *start)
{
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    gbs_sampler *sampler = NULL;
    float *const narrow = malloc((size_t)run->dim * sizeof *narrow);
    assert_non_null(narrow);
    spec.type = run->type;
    spec.method = method;
    spec.chains = run->chains;
    spec.seed = 20240229;
    if (start != NULL) {
        for (int64_t i = 0; i < run->dim; ++i)
            narrow[i] = (float)start[i];
        spec.start = GBS_START_GIVEN;
        spec.initial = run->type == GBS_F32 ? (const void *)narrow : (const void *)start;
        spec.initial_rows = 1;
    }
    if (gbs_sampler_create(run->ctx, run->model, &spec, &sampler) != GBS_OK)
        fail_msg("expected a sampler, got: %s", gbs_context_message(run->ctx));
    free(narrow);
    return sampler;
}

/* Each chain's mean of each function. */
static inline void run_chains(runner *run, gbs_method method, const double *start, int64_t warmup,
                              int64_t draws)
{
    run->value = naive_new(run->chains * run->functions);
    run->sum = naive_new(run->chains * run->functions);
    gbs_sampler *const sampler = sampler_of(run, method, start);
    const gbs_sink sink = {.callback = take_draw, .user = run};
    must(run->ctx, gbs_sampler_run(sampler, warmup));
    must(run->ctx, gbs_sampler_sample(sampler, draws, 1, &sink));
    for (int64_t k = 0; k < run->chains * run->functions; ++k)
        run->sum[k] /= (double)draws;
    gbs_sampler_destroy(sampler);
}

static inline void end_run(runner *run)
{
    free(run->value);
    free(run->sum);
}

/* Function f against its expectation. */
static inline void score(const runner *run, int64_t f, double expected, verdict *v)
{
    double mean = 0, square = 0;
    for (int64_t c = 0; c < run->chains; ++c)
        mean += run->sum[c * run->functions + f] / (double)run->chains;
    for (int64_t c = 0; c < run->chains; ++c)
        square += pow(run->sum[c * run->functions + f] - mean, 2);
    const double n = (double)run->chains;
    verdict_add(v, expected, mean, sqrt(square / (n - 1) / n));
}

static inline int open_context(void **state)
{
    *state = widest_context();
    return 0;
}

#endif
