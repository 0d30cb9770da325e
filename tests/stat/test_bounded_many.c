/* The law of sweeps between bounds for many sites, by every order, plain and over-relaxed: orthants
 * of up to 1,000 sites and chains (golden section 2), how fast over-relaxed sweeps mix, and the
 * cone test: with mean 0 and x >= 0 in a cone x'Qx is chi-square with D degrees of freedom,
 * whatever Q is.  About 300 scores: a correct library fails one with a probability of 2e-4 for a
 * fresh seed; the seeds are fixed. */
#include "stat/bounded_law.h"

static void test_orthants(void **state)
{
    (void)state;
    static const struct {
        int64_t dim, sweeps, chains;
        double mean, variance, covariance;
    } rows[] = {{2, 60, 1 << 16, .897620130903, .401026436380, .107774772164},
                {3, 60, 1 << 16, .970504408850, .425673789350, .109450087824},
                {10, 120, 1 << 15, 1.233957892590, .494863177061, .107920427921},
                {50, 500, 1 << 10, 1.627700752675, .547538419736, .092374096471},
                {100, 900, 1 << 9, 1.793406439643, .556084463243, .084088413960}};
    double lower[100], upper[100], m[100];
    for (int k = 0; k < COUNT(rows); ++k) {
        const int64_t dim = rows[k].dim;
        double *const q = equicorrelated(dim, 0.5);
        char what[32];
        snprintf(what, sizeof what, "orthant of %d", (int)dim);
        for (int64_t i = 0; i < dim; ++i) {
            lower[i] = 0;
            upper[i] = (double)INFINITY;
            m[i] = rows[k].mean;
        }
        const expectation e[] = {{0, -1, m[0]},
                                 {dim - 1, -1, m[0]},
                                 {0, 0, rows[k].variance},
                                 {0, dim - 1, rows[k].covariance}};
        check_every_way((problem){what, dim, q, NULL, lower, upper, rows[k].sweeps, rows[k].chains},
                        m, e, COUNT(e));
        free(q);
    }
    printf("checked: equicorrelated orthants of 2 to 100 sites by %d ways\n", COUNT(ways));
}

/* 1,000 sites of correlation .5, all >= 0.  Plain sweeps would take thousands to forget a start, so
 * the chains begin as whitened sweeps leave them, independent draws of the law, and after 60 sweeps
 * of each kind the law must still be the one. */
static void test_large_orthant(void **state)
{
    (void)state;
    enum { DIM = 1000 };
    const int64_t chains = quick() ? 16 : 128;
    double *const q = equicorrelated(DIM, 0.5), *const lower = naive_new(DIM),
                  *const at = naive_new(DIM), *const x = naive_new(chains * DIM);
    const double m = 2.294536391874;
    for (int i = 0; i < DIM; ++i)
        at[i] = m;
    const expectation e[] = {{-1, -1, m},
                             {0, -1, m},
                             {DIM - 1, -1, m},
                             {0, 0, .556020858206},
                             {0, DIM - 1, .060846602061}};
    gbs_context *const ctx = new_context(widest());
    gbs_model_spec model_spec = spec_of(q, DIM);
    model_spec.lower = lower;
    gbs_model *const model = new_model(ctx, &model_spec);
    for (int kind = 0; kind < 3; ++kind) {
        gbs_sampler_spec spec = gbs_sampler_spec_default();
        spec.type = GBS_F64;
        spec.method = kind == 0 ? GBS_METHOD_WHITENED : GBS_METHOD_GIBBS;
        spec.overrelax = kind == 2 ? 0.8 : 0;
        spec.chains = chains;
        spec.seed = seed;
        spec.first_sweep = 1000 * kind;
        if (kind > 0) {
            spec.start = GBS_START_GIVEN;
            spec.initial = x;
            spec.initial_rows = chains;
        }
        gbs_sampler *const sampler = new_sampler(ctx, model, &spec);
        must(ctx, gbs_sampler_run(sampler, 60));
        must(ctx, gbs_sampler_get_state(sampler, x));
        gbs_sampler_destroy(sampler);
        for (int k = 0; k < COUNT(e); ++k) {
            double mean = 0, square = 0;
            char of[64];
            for (int64_t b = 0; b < chains; ++b) {
                const double d = sample_of(&e[k], x + b * DIM, DIM, at) - e[k].value;
                mean += d / (double)chains;
                square += d * d / (double)chains;
            }
            name_expectation(&e[k], of);
            check_score(kind == 0   ? "1,000 sites, whitened"
                        : kind == 1 ? "1,000 sites, plain"
                                    : "1,000 sites, r = .8",
                        of, 0, mean, sqrt(square / (double)chains));
        }
    }
    gbs_model_release(model);
    gbs_context_destroy(ctx);
    free(q);
    free(lower);
    free(at);
    free(x);
    printf("checked: an equicorrelated orthant of 1,000 sites, %lld chains, three ways\n",
           (long long)chains);
}

typedef struct chain {
    const char *what;
    int64_t dim;
    double end, inner, off, upper;
    int64_t sweeps, chains;
    int count;
    expectation e[9];
} chain;

/* A mean and what is centred at it: expectations of means come first in each list. */
static void check_chain(const chain *of, const way *w)
{
    double *const q = tridiagonal(of->dim, of->end, of->inner, of->off);
    double *const lower = naive_new(of->dim), *const upper = naive_new(of->dim),
                  *const m = naive_new(of->dim);
    if (strstr(of->what, "sparse") != NULL)
        q[of->dim * of->dim - 1] = of->inner; /* which starts so, but ends as it goes on */
    for (int64_t i = 0; i < of->dim; ++i)
        upper[i] = of->upper;
    for (int k = 0; k < of->count; ++k)
        if (of->e[k].j < 0 && of->e[k].i >= 0)
            m[of->e[k].i] = of->e[k].value;
    const problem p = {of->what, of->dim, q,          NULL,
                       lower,    upper,   of->sweeps, quick() ? of->chains / 8 : of->chains};
    check_expectations(&p, w, m, of->e, of->count);
    free(q);
    free(lower);
    free(upper);
    free(m);
}

static void test_chains(void **state)
{
    (void)state;
    static const chain chains[] = {
        {"tmvtnorm's sparse example",
         1000,
         .5625,
         .625,
         -.1875,
         2,
         40,
         1 << 10,
         8,
         {{0, -1, .880301563548},
          {1, -1, .912305685991},
          {499, -1, .914229870573},
          {999, -1, .862687089702},
          {500, -1, .914229870573},
          {0, 0, .301456708855},
          {499, 499, .303205346036},
          {499, 500, .017207269897}}},
        {"AR(1) .5, x >= 0",
         50,
         1,
         1.25,
         -.5,
         INFINITY,
         80,
         1 << 14,
         6,
         {{0, -1, 1.0820757710},
          {24, -1, 1.2593602345},
          {25, -1, 1.2593602345},
          {0, 0, .5663161176},
          {24, 24, .6393301126},
          {24, 25, .1956596908}}},
        {"AR(1) .9, x >= 0",
         50,
         1,
         1.81,
         -.9,
         INFINITY,
         600,
         1 << 10,
         6,
         {{0, -1, 2.5200161944},
          {24, -1, 3.1777539417},
          {25, -1, 3.1777539417},
          {0, 0, 2.3458266263},
          {24, 24, 2.5189538143},
          {24, 25, 2.0341251826}}},
        {"RW1 + .005 I, x >= 0",
         64,
         1.005,
         2.005,
         -1,
         INFINITY,
         1200,
         1 << 9,
         7,
         {{0, -1, 4.2229274974},
          {31, -1, 3.8086831093},
          {32, -1, 3.8086831093},
          {-1, -1, 3.9218505751},
          {0, 0, 6.0117879089},
          {31, 31, 3.3924263653},
          {31, 32, 2.9364193752}}},
        {"RW1 + .05 I, x >= 0",
         8,
         1.05,
         2.05,
         -1,
         INFINITY,
         300,
         1 << 14,
         3,
         {{3, -1, 2.07236950}, {-1, -1, 2.11298085}, {3, 3, 5.56942846 - 2.07236950 * 2.07236950}}},
    };
    for (int k = 0; k < COUNT(chains); ++k)
        for (int w = 0; w < COUNT(ways); ++w)
            if (chains[k].dim < 1000 || ways[w].order != GBS_ORDER_SYMMETRIC)
                check_chain(&chains[k], &ways[w]);
    printf("checked: five chains of 8 to 1,000 sites by %d ways\n", COUNT(ways));
}

/* AR(1) of .99 and more mix in too many sweeps for a test; over-relaxed sweeps make it. */
static void test_slow_chain(void **state)
{
    (void)state;
    static const chain slow = {"AR(1) .99, x >= 0",
                               50,
                               1,
                               1.9801,
                               -.99,
                               INFINITY,
                               7500,
                               1 << 9,
                               6,
                               {{0, -1, 7.8716460812},
                                {24, -1, 8.4949412296},
                                {25, -1, 8.4949412296},
                                {0, 0, 19.4936557333},
                                {24, 24, 17.0745689746},
                                {24, 25, 16.5804800730}}};
    const way w = {GBS_F64, GBS_ORDER_FORWARD, 0.95};
    check_chain(&slow, &w);
    printf("checked: AR(1) of .99, over-relaxed by .95\n");
}

/* Sweeps for an independent draw of the mean, where 14 were measured (docs/bounds.md) and 119
 * without over-relaxation.  The time comes from a window of about 6 times itself, so that its
 * relative error is sqrt(2 (2 * 6 * 14 + 1) / n) over n draws. */
static void test_mixing(void **state)
{
    (void)state;
    enum { DIM = 64, CHAINS = 64 };
    const int64_t draws = quick() ? 1000 : 8000;
    double lower[DIM] = {0};
    double *const q = tridiagonal(DIM, 1.005, 2.005, -1);
    float *const x = calloc((size_t)(CHAINS * draws * DIM), sizeof *x);
    double *const means = naive_new(CHAINS * draws);
    gbs_context *const ctx = new_context(widest());
    gbs_model_spec model_spec = spec_of(q, DIM);
    model_spec.lower = lower;
    gbs_model *const model = new_model(ctx, &model_spec);
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.type = GBS_F32;
    spec.overrelax = 0.8;
    spec.chains = CHAINS;
    spec.seed = seed;
    gbs_sampler *const sampler = new_sampler(ctx, model, &spec);
    const gbs_sink sink = {.out = x};
    must(ctx, gbs_sampler_run(sampler, 500));
    must(ctx, gbs_sampler_sample(sampler, draws, 1, &sink));
    for (int64_t k = 0; k < CHAINS * draws; ++k)
        for (int i = 0; i < DIM; ++i)
            means[k] += (double)x[k * DIM + i] / (double)DIM;
    const gbs_draws of = {means, CHAINS, draws, draws, 1};
    void *const workspace = malloc(gbs_diag_workspace(CHAINS, draws));
    const double n = (double)(CHAINS * draws), time = n / gbs_diag_ess_mean(&of, workspace);
    check_score("r = .8", "autocorrelation time of the mean", 14, time,
                14 * (sqrt(2 * (2 * 6 * 14 + 1) / n) + 0.5 / 14 / most_errors));
    printf("checked: over-relaxed by .8 the mean takes %.1f sweeps for an independent draw\n",
           time);
    free(workspace);
    free(means);
    free(x);
    free(q);
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
}

/* ---- the cone test ---- */

/* x'Qx / 2 is a gamma variable: mean D, variance 2 D, and the fourth central moment 12 D (D + 4).
 */
static void check_cone(int64_t dim, uint64_t number, const way *w)
{
    const int64_t chains = quick() ? 256 : dim > 64 ? 1 << 9 : 1 << 12;
    double *const q = dense_precision(dim, number), *const lower = naive_new(dim),
                  *const upper = naive_new(dim);
    char name[96], what[32];
    double mean = 0, variance = 0;
    snprintf(what, sizeof what, "cone of %d", (int)dim);
    for (int64_t i = 0; i < dim; ++i) { /* any orthant is a cone */
        const int up = next_word(&number) % 2 == 0;
        lower[i] = up ? 0 : -(double)INFINITY;
        upper[i] = up ? (double)INFINITY : 0;
    }
    const problem p = {what, dim, q, NULL, lower, upper, 80, chains};
    double *const x = last_state(&p, w);
    for (int64_t b = 0; b < chains; ++b) {
        double energy = 0;
        for (int64_t i = 0; i < dim; ++i)
            for (int64_t j = 0; j < dim; ++j)
                energy += x[b * dim + i] * q[i * dim + j] * x[b * dim + j];
        const double d = energy - (double)dim;
        mean += d / (double)chains;
        variance += d * d / (double)chains;
    }
    const double n = (double)chains, k = (double)dim;
    name_way(what, w, name);
    check_score(name, "mean of x'Qx", 0, mean, sqrt(2 * k / n));
    check_score(name, "variance of x'Qx", 2 * k, variance,
                sqrt((12 * k * (k + 4) - 4 * k * k) / n));
    free(x);
    free(q);
    free(lower);
    free(upper);
}

static void test_cones(void **state)
{
    (void)state;
    static const int64_t dims[20] = {1,  2,  3,  4,  5,  6,  8,  10, 13,  16,
                                     20, 25, 32, 40, 50, 64, 80, 99, 150, 200};
    for (int k = 0; k < COUNT(dims); ++k)
        for (int w = 0; w < COUNT(ways); ++w)
            check_cone(dims[k], (uint64_t)k + 1, &ways[w]);
    printf("checked: 20 cones of 1 to 200 sites by %d ways\n", COUNT(ways));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orthants), cmocka_unit_test(test_large_orthant),
        cmocka_unit_test(test_chains),   cmocka_unit_test(test_slow_chain),
        cmocka_unit_test(test_mixing),   cmocka_unit_test(test_cones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
