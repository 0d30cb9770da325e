/* The law of sweeps between bounds, by every order, plain and over-relaxed: single normals near and
 * far (golden section 1; the faults C01 to C16 of programs in use), truncated multivariate normals
 * (golden section 2; C17 to C23), and the cone test: with mean 0 and x >= 0 in a cone x'Qx is
 * chi-square with D degrees of freedom, whatever Q is.
 *
 * Many chains run for several times their mixing time and are looked at in their last state alone,
 * so that draws are independent and standard errors need no autocorrelation.  About 900 scores
 * within 5 of them: a correct library fails one with a probability of 5e-4 for a fresh seed; the
 * seeds are fixed. */
#include "stat/golden_boxes.h"

static const uint64_t seed = 20261129;

typedef struct problem {
    const char *what;
    int64_t dim;
    const double *q, *mean; /* NULL: 0 */
    const double *lower, *upper;
    int64_t sweeps, chains;
} problem;

/* How it is swept. */
typedef struct way {
    gbs_type type;
    gbs_order order;
    double overrelax;
} way;

static const way ways[] = {
    {GBS_F64, GBS_ORDER_FORWARD, 0},
    {GBS_F32, GBS_ORDER_SYMMETRIC, 0},
    {GBS_F64, GBS_ORDER_BACKWARD, 0.8},
    {GBS_F32, GBS_ORDER_FORWARD, 0.8},
};

static gbs_isa widest(void)
{
    gbs_isa isa = GBS_ISA_NEON;
    while (!gbs_isa_available(isa))
        --isa;
    return isa;
}

/* [B, D] after the last sweep; the caller frees it.  Every draw is checked to lie inside. */
static double *last_state(const problem *p, const way *w)
{
    gbs_context *const ctx = new_context(widest());
    gbs_model_spec model_spec = spec_of(p->q, p->dim);
    model_spec.location_kind = p->mean != NULL ? GBS_LOCATION_MEAN : GBS_LOCATION_ZERO;
    model_spec.location = p->mean;
    model_spec.lower = p->lower;
    model_spec.upper = p->upper;
    gbs_model *const model = new_model(ctx, &model_spec);
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.type = w->type;
    spec.order = w->order;
    spec.overrelax = w->overrelax;
    spec.chains = p->chains;
    spec.seed = seed;
    gbs_sampler *const sampler = new_sampler(ctx, model, &spec);
    const int64_t count = p->chains * p->dim;
    double *const x = naive_new(count);
    /* over-relaxed chains forget sooner where the plain ones are slow */
    must(ctx, gbs_sampler_run(sampler,
                              w->overrelax > 0 && p->sweeps >= 300 ? p->sweeps / 3 : p->sweeps));
    must(ctx, gbs_sampler_get_state(sampler, x));
    if (w->type == GBS_F32) /* widened in place, from the end */
        for (int64_t k = count; k-- > 0;)
            x[k] = (double)((const float *)(const void *)x)[k];
    for (int64_t k = 0; k < count; ++k) {
        const double lower = p->lower != NULL ? p->lower[k % p->dim] : -(double)INFINITY;
        const double upper = p->upper != NULL ? p->upper[k % p->dim] : (double)INFINITY;
        if (!(x[k] >= lower && x[k] <= upper))
            fail_msg("%s: chain %lld, site %lld: %.17g is outside [%.17g, %.17g]", p->what,
                     (long long)(k / p->dim), (long long)(k % p->dim), x[k], lower, upper);
    }
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
    return x;
}

static void name_way(const char *what, const way *w, char name[96])
{
    snprintf(name, 96, "%s, %s %s, r = %g", what, type_name(w->type), order_name(w->order),
             w->overrelax);
}

/* ---- one normal ---- */

static void check_box(const box *of, const way *w, int64_t n)
{
    const double q = 1 / (of->s * of->s);
    /* the start is far off in units of the law: |r|^sweeps must forget it */
    const problem p = {of->what, 1, &q, &of->m, &of->lo, &of->hi, w->overrelax > 0 ? 80 : 1, n};
    char name[96];
    double *const x = last_state(&p, w);
    const moments r = moments_of(x, GBS_F64, n, of);
    const double step = w->type == GBS_F32 ? 0x1p-23 * fmax(fabs(of->mean), of->s) : 0;
    name_way(of->what, w, name);
    check_score(name, "mean", 0, r.mean, sqrt(r.variance / (double)n) + step / most_errors);
    if (!isnan(of->variance) && step < 0.1 * sqrt(of->variance))
        check_score(name, "variance", of->variance, r.variance,
                    sqrt((r.fourth - r.variance * r.variance) / (double)n) +
                        (of->variance * 1e-5 + step * step) / most_errors);
    if (!isnan(of->median) && step < 1e-4 * sqrt(of->variance))
        check_score(name, "share below the median", 0.5, r.below, 0.5 / sqrt((double)n));
    free(x);
}

static void test_boxes(void **state)
{
    (void)state;
    const int64_t n = quick() ? 1 << 13 : 1 << 16;
    for (int k = 0; k < BOXES; ++k)
        for (int w = 0; w < COUNT(ways); ++w)
            check_box(&boxes[k], &ways[w], n);
    printf("checked: %d boxes by %d ways, %lld draws each: mean, variance, median\n", BOXES,
           COUNT(ways), (long long)n);
}

/* C06, C08, C09: nothing on or beyond a bound that is far away, all different where the type has
 * the numbers. */
static void test_no_outliers(void **state)
{
    (void)state;
    static const double sds[] = {0.02, 0.002, 0.001, 1e-10};
    const double lower = -2, upper = 2, zero = 0, none = (double)INFINITY;
    const int64_t n = quick() ? 1 << 16 : 1 << 18;
    for (int w = 0; w < COUNT(ways); ++w)
        for (int k = 0; k < COUNT(sds); ++k) {
            const double q = 1 / (sds[k] * sds[k]);
            const problem p = {"C09", 1, &q, NULL, &lower, &upper, ways[w].overrelax > 0 ? 20 : 1,
                               n};
            double *const x = last_state(&p, &ways[w]), fourth = 0;
            char name[96];
            for (int64_t i = 0; i < n; ++i) {
                const double z = x[i] / sds[k];
                if (!(fabs(z) < 7))
                    fail_msg("C09, sd %g: a draw at %g standard deviations", sds[k], z);
                fourth += z * z * z * z / (double)n;
            }
            name_way("C09", &ways[w], name);
            check_score(name, "kurtosis", 3, fourth, sqrt(96.0 / (double)n));
            free(x);
        }
    const double mean8 = -1, q8 = 1 / (0.123 * 0.123), mean6 = 1.1, q6 = 1 / (0.005 * 0.005);
    const double lower6 = -1, upper6 = 1;
    for (int w = 0; w < COUNT(ways); ++w) {
        const problem p8 = {"C08", 1, &q8, &mean8, &zero, &none, 100, 100};
        double *x = last_state(&p8, &ways[w]);
        for (int i = 0; i < 100; ++i)
            for (int j = 0; j < i; ++j)
                assert_true(x[i] != x[j]);
        free(x);
        const problem p6 = {"C06", 1, &q6, &mean6, &lower6, &upper6, 100, 1000};
        x = last_state(&p6, &ways[w]);
        double mean = 0;
        for (int i = 0; i < 1000; ++i)
            mean += x[i] / 1000;
        char name[96];
        name_way("C06", &ways[w], name);
        check_score(name, "mean", 0.999751234657, mean, 0.00024815628 / sqrt(1000.0));
        free(x);
    }
    printf("checked: C06, C08 and C09 by %d ways\n", COUNT(ways));
}

/* ---- truncated multivariate normals ---- */

typedef struct expectation {
    int64_t i, j; /* j < 0: the mean of site i */
    double value;
} expectation;

/* float rounds coefficients and states: what that moves is far below these errors */
static void check_expectations(const problem *p, const way *w, const double *mean_at,
                               const expectation *e, int count)
{
    char name[96], of[64];
    double *const x = last_state(p, w);
    name_way(p->what, w, name);
    for (int k = 0; k < count; ++k) {
        double sum = 0, square = 0;
        for (int64_t b = 0; b < p->chains; ++b) {
            const double *const row = x + b * p->dim;
            const double d =
                e[k].j < 0 ? row[e[k].i] - e[k].value
                           : (row[e[k].i] - mean_at[e[k].i]) * (row[e[k].j] - mean_at[e[k].j]) -
                                 e[k].value;
            sum += d / (double)p->chains;
            square += d * d / (double)p->chains;
        }
        snprintf(of, sizeof of, e[k].j < 0 ? "mean of site %d" : "covariance of sites %d and %d",
                 (int)e[k].i, (int)e[k].j);
        check_score(name, of, 0, sum, sqrt(square / (double)p->chains));
    }
    free(x);
}

static void check_every_way(problem p, const double *mean_at, const expectation *e, int count)
{
    if (quick())
        p.chains /= 16;
    for (int w = 0; w < COUNT(ways); ++w)
        check_expectations(&p, &ways[w], mean_at, e, count);
}

/* Q of a covariance, by the model itself. */
static void test_small_problems(void **state)
{
    (void)state;
    const double none = -(double)INFINITY;
    /* S = [1 .6 .3; .6 1 .2; .3 .2 2] inverted; x <= 1 */
    const double det =
        1 * (1 * 2 - 0.2 * 0.2) - 0.6 * (0.6 * 2 - 0.2 * 0.3) + 0.3 * (0.6 * 0.2 - 1 * 0.3);
    const double mw[9] = {(2 - 0.04) / det,        (0.06 - 1.2) / det, (0.12 - 0.3) / det,
                          (0.06 - 1.2) / det,      (2 - 0.09) / det,   (0.18 - 0.2) / det,
                          (0.6 * 0.2 - 0.3) / det, (0.18 - 0.2) / det, (1 - 0.36) / det};
    const double half[3] = {0.5, 0.5, 0.5}, below[3] = {none, none, none}, ones[3] = {1, 1, 1};
    const double m[3] = {-.152414542, -.126129680, -.404914674};
    const expectation mw_values[] = {{0, -1, m[0]},      {1, -1, m[1]},      {2, -1, m[2]},
                                     {0, 0, .522424919}, {0, 1, .220486591}, {0, 2, .077433052},
                                     {1, 1, .515885112}, {1, 2, .039505744}, {2, 2, .946339061}};
    check_every_way((problem){"Manjunath-Wilhelm", 3, mw, half, below, ones, 60, 1 << 15}, m,
                    mw_values, COUNT(mw_values));

    const double two[4] = {3.0 / 8, -2.0 / 8, -2.0 / 8, 4.0 / 8}, mu2[2] = {1, 2};
    const double upper2[2] = {1, 0}, m2[2] = {-1.321794657, -.900543514};
    const expectation two_values[] = {{0, -1, m2[0]},
                                      {1, -1, m2[1]},
                                      {0, 0, 1.952978421},
                                      {0, 1, .281096842},
                                      {1, 1, .573921332}};
    check_every_way((problem){"mu (1, 2), x <= (1, 0)", 2, two, mu2, below, upper2, 60, 1 << 15},
                    m2, two_values, COUNT(two_values));

    double *const eight = equicorrelated(4, 0.8);
    const double lower4[4] = {-4, -4, -4, -4}, upper4[4] = {-1, -1, -1, -1}, at = -1.776817226921;
    const double m4[4] = {at, at, at, at};
    const expectation four_values[] = {
        {0, -1, at}, {3, -1, at}, {1, 1, .256941605351}, {0, 3, .111510562148}};
    check_every_way(
        (problem){"equicorrelated .8, [-4, -1]^4", 4, eight, NULL, lower4, upper4, 200, 1 << 15},
        m4, four_values, COUNT(four_values));
    free(eight);
    printf("checked: three small truncated normals by %d ways\n", COUNT(ways));
}

/* C17: covariance [.1 -.19; -.19 .4], box [0, 1]^2, and the two variables swapped.
 * C19: two independent pairs, one of them all but singular.
 * C20: D = 3, mean (10, -10, 0), unit covariance, box mean +- 1.
 * C23, without its row: x_1 held at 1 by equal bounds. */
static void test_cases(void **state)
{
    (void)state;
    const double d17 = 0.1 * 0.4 - 0.19 * 0.19, zeros[4] = {0, 0, 0, 0}, inf = (double)INFINITY;
    const double ones[2] = {1, 1}, infs[4] = {inf, inf, inf, inf};
    for (int swapped = 0; swapped < 2; ++swapped) {
        const double q[4] = {(swapped ? 0.1 : 0.4) / d17, 0.19 / d17, 0.19 / d17,
                             (swapped ? 0.4 : 0.1) / d17};
        const double m[2] = {swapped ? 0.124805 : 0.062403, swapped ? 0.062403 : 0.124805};
        const expectation e[] = {{0, -1, m[0]},
                                 {1, -1, m[1]},
                                 {0, 1, -0.0011328},
                                 {0, 0, swapped ? 0.0107782 : 0.0026946}};
        check_every_way((problem){"C17", 2, q, NULL, zeros, ones, 400, 1 << 14}, m, e, COUNT(e));
    }

    /* Both blocks inverted by hand: the second has determinant a b - c^2 with a = 1336227.01, b =
     * a + .06, c = a - .03, which is .06 a + .06 a - .0009. */
    const double d1 = 0.05 * 0.06 - 0.03 * 0.03, a = 1336227.01, d2 = 0.12 * a - 0.0009;
    const double q19[16] = {
        0.06 / d1,       0.03 / d1,       0, 0, 0.03 / d1,       0.05 / d1, 0, 0, 0, 0,
        (a + 0.06) / d2, (a - 0.03) / d2, 0, 0, (a - 0.03) / d2, a / d2};
    const double mu19[4] = {-0.08, -0.51, -17.52, 16.37};
    const double m19[4] = {0.071053, 0.059147, 0.085968, 0.085968};
    const expectation e19[] = {{0, -1, m19[0]},    {1, -1, m19[1]},    {2, -1, m19[2]},
                               {3, -1, m19[3]},    {0, 0, 0.00413249}, {1, 1, 0.00307788},
                               {2, 2, 0.0067011},  {3, 3, 0.0067011},  {0, 1, -0.00017030},
                               {2, 3, -0.00034471}};
    const problem p19 = {"C19", 4, q19, mu19, zeros, infs, 400, quick() ? 1 << 10 : 1 << 14};
    check_expectations(&p19, &ways[0], m19, e19, COUNT(e19)); /* float cannot hold this Q */
    check_expectations(&p19, &ways[2], m19, e19, COUNT(e19));

    const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, mu20[3] = {10, -10, 0};
    const double lower20[3] = {9, -11, -1}, upper20[3] = {11, -9, 1}, v = 0.291125094772793;
    const expectation e20[] = {{0, -1, 10}, {1, -1, -10}, {2, -1, 0}, {0, 0, v},
                               {1, 1, v},   {2, 2, v},    {0, 1, 0},  {1, 2, 0}};
    check_every_way((problem){"C20", 3, unit, mu20, lower20, upper20, 80, 1 << 15}, mu20, e20,
                    COUNT(e20));

    const double lower23[3] = {1, -1, -1}, upper23[3] = {1, 1, 1}, mu23[3] = {0, 0, 0};
    const expectation e23[] = {{0, 0, 1}, {1, -1, 0}, {1, 1, v}, {2, 2, v}, {1, 2, 0}};
    check_every_way((problem){"C23", 3, unit, NULL, lower23, upper23, 80, 1 << 15}, mu23, e23 + 1,
                    COUNT(e23) - 1);
    printf("checked: C17, C19, C20 and C23 by %d ways\n", COUNT(ways));
}

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

typedef struct chain {
    const char *what;
    int64_t dim;
    double end, inner, off, upper;
    int64_t sweeps, chains;
    int count;
    expectation e[6];
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
        if (of->e[k].j < 0)
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
         6,
         {{0, -1, .880301563548},
          {1, -1, .912305685991},
          {499, -1, .914229870573},
          {999, -1, .862687089702},
          {0, 0, .301456708855},
          {499, 499, .303205346036}}},
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
         3,
         {{0, -1, 2.5200161944}, {24, -1, 3.1777539417}, {24, 24, 2.5189538143}}},
        {"RW1 + .005 I, x >= 0",
         64,
         1.005,
         2.005,
         -1,
         INFINITY,
         1200,
         1 << 9,
         3,
         {{0, -1, 4.2229274974}, {31, -1, 3.8086831093}, {31, 31, 3.3924263653}}},
        {"RW1 + .05 I, x >= 0",
         8,
         1.05,
         2.05,
         -1,
         INFINITY,
         300,
         1 << 14,
         1,
         {{3, -1, 2.07236950}}},
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
    static const chain slow = {
        "AR(1) .99, x >= 0",
        50,
        1,
        1.9801,
        -.99,
        INFINITY,
        7500,
        1 << 9,
        3,
        {{0, -1, 7.8716460812}, {24, -1, 8.4949412296}, {24, 24, 17.0745689746}}};
    const way w = {GBS_F64, GBS_ORDER_FORWARD, 0.95};
    check_chain(&slow, &w);
    printf("checked: AR(1) of .99, over-relaxed by .95\n");
}

/* Sweeps for an independent draw of the mean, where 14 were measured (docs/bounds.md) and 116
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
        cmocka_unit_test(test_boxes),          cmocka_unit_test(test_no_outliers),
        cmocka_unit_test(test_small_problems), cmocka_unit_test(test_cases),
        cmocka_unit_test(test_orthants),       cmocka_unit_test(test_chains),
        cmocka_unit_test(test_slow_chain),     cmocka_unit_test(test_mixing),
        cmocka_unit_test(test_cones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
