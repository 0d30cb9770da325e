/* The law that whitened sweeps and sweeps under row constraints leave invariant.
 *
 *   cones    mean 0 and a cone, x >= 0 or A x >= 0, make x'Qx exactly chi-square with D degrees of
 *            freedom, whatever Q is: the radius and the direction of a Gaussian are independent
 *   values   moments of truncated normals by quadrature with 40 digits and more
 *   mixing   autocorrelation times of the whitened sweeps
 *
 * Chains are independent, and a score is that of the mean over chains of each chain's mean, its
 * error from their scatter, so that autocorrelation is counted. */
#define VERDICT_PLANNED 4000
#include "stat/verdict.h"

#include "exact/trial.h"

#include <stdlib.h>
#include <string.h>

static gbs_context *widest_context(void)
{
    gbs_isa isa = GBS_ISA_NEON;
    while (!gbs_isa_available(isa))
        --isa;
    return new_context(isa);
}

static int64_t many_chains(void)
{
    return quick() ? 64 : 512;
}

/* ---- models made of numbers that only they know ---- */

static uint64_t random_state;

static double random_normal(void)
{
    double sum = -6;
    for (int k = 0; k < 12; ++k) {
        random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        sum += (double)(random_state >> 11) * 0x1p-53;
    }
    return sum;
}

/* G G' / D + I / 10. */
static double *random_precision(int64_t n)
{
    double *const g = naive_new(n * n), *const q = naive_new(n * n);
    for (int64_t k = 0; k < n * n; ++k)
        g[k] = random_normal();
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j <= i; ++j) {
            double sum = i == j ? 0.1 : 0.0;
            for (int64_t k = 0; k < n; ++k)
                sum += g[i * n + k] * g[j * n + k] / (double)n;
            q[i * n + j] = q[j * n + i] = sum;
        }
    free(g);
    return q;
}

/* Rows whose cone holds a random direction. */
static double *random_cone(int64_t rows, int64_t n)
{
    double *const a = naive_new(rows * n), *const v = naive_new(n);
    for (int64_t i = 0; i < n; ++i)
        v[i] = random_normal();
    for (int64_t r = 0; r < rows; ++r) {
        double along = 0;
        for (int64_t i = 0; i < n; ++i) {
            a[r * n + i] = random_normal();
            along += a[r * n + i] * v[i];
        }
        for (int64_t i = 0; i < n && along < 0; ++i)
            a[r * n + i] = -a[r * n + i];
    }
    free(v);
    return a;
}

static double *constant(int64_t n, double value)
{
    double *const x = naive_new(n);
    for (int64_t i = 0; i < n; ++i)
        x[i] = value;
    return x;
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

static int take_draw(void *user, int64_t draw, const void *x)
{
    runner *const run = user;
    (void)draw;
    run->measure(run, x, run->value);
    for (int64_t k = 0; k < run->chains * run->functions; ++k)
        run->sum[k] += run->value[k];
    return 0;
}

/* Starts at `start` [D], or where the library starts. */
static gbs_sampler *sampler_of(const runner *run, gbs_method method, const double *start)
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
static void run_chains(runner *run, gbs_method method, const double *start, int64_t warmup,
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

static void end_run(runner *run)
{
    free(run->value);
    free(run->sum);
}

/* Function f against its expectation. */
static void score(const runner *run, int64_t f, double expected, verdict *v)
{
    double mean = 0, square = 0;
    for (int64_t c = 0; c < run->chains; ++c)
        mean += run->sum[c * run->functions + f] / (double)run->chains;
    for (int64_t c = 0; c < run->chains; ++c)
        square += pow(run->sum[c * run->functions + f] - mean, 2);
    const double n = (double)run->chains;
    verdict_add(v, expected, mean, sqrt(square / (n - 1) / n));
}

/* ---- cones ---- */

/* q = x'Qx, and (q - D)^2 / (2 D). */
static void measure_radius(runner *run, const void *x, double *out)
{
    double *const density = malloc((size_t)run->chains * sizeof *density);
    assert_non_null(density);
    must(run->ctx,
         gbs_model_log_density(run->ctx, run->model, run->type, x, run->chains, 0, density));
    for (int64_t c = 0; c < run->chains; ++c) {
        const double q = -2 * density[c], d = (double)run->dim;
        out[2 * c] = q;
        out[2 * c + 1] = (q - d) * (q - d) / (2 * d);
    }
    free(density);
}

/* A point inside; scaled, so that x'Qx = D, for cones, which it stays in. */
static int no_solver(gbs_context *ctx, gbs_model *model, double *x)
{
    double density;
    const int64_t n = gbs_model_dim(model);
    const gbs_status status = gbs_model_interior(ctx, model, x);
    if (status == GBS_ERROR_UNAVAILABLE) {
        printf("skipped: %s\n", gbs_context_message(ctx));
        return 1;
    }
    must(ctx, status);
    must(ctx, gbs_model_log_density(ctx, model, GBS_F64, x, 1, 0, &density));
    for (int64_t i = 0; i < n; ++i)
        x[i] *= sqrt((double)n / (-2 * density));
    return 0;
}

static void run_cone(gbs_context *ctx, const double *q, int64_t n, const double *a, int64_t rows,
                     gbs_method method, verdict *radius, verdict *spread)
{
    gbs_model_spec spec = spec_of(q, n);
    double *const zero = constant(n > rows ? n : rows, 0), *const x = constant(n, 1);
    if (a == NULL)
        spec.lower = zero;
    else
        spec.constraints = (gbs_constraints){.rows = rows, .matrix = a, .lower = zero};
    gbs_model *const model = new_model(ctx, &spec);
    if (a == NULL || !no_solver(ctx, model, x))
        for (int type = 0; type < 2; ++type) {
            runner run = {.ctx = ctx,
                          .model = model,
                          .type = (gbs_type)type,
                          .chains = many_chains() / (n < 50 ? 1 : 4),
                          .dim = n,
                          .functions = 2,
                          .measure = measure_radius};
            run_chains(&run, method, x, 300, 30);
            score(&run, 0, (double)n, radius);
            score(&run, 1, 1, spread);
            end_run(&run);
        }
    free(zero);
    free(x);
    gbs_model_release(model);
}

static void test_cones(void **state)
{
    static const int64_t dims[20] = {2,  3,  4,  5,  6,  8,  10, 12,  15,  16,
                                     20, 24, 32, 40, 50, 64, 80, 100, 150, 200};
    gbs_context *const ctx = *state;
    for (int method = 0; method < 2; ++method) {
        const int whitened = method == 1;
        verdict radius = verdict_start(whitened ? "whitened, x'Qx" : "plain, x'Qx");
        verdict spread = verdict_start(whitened ? "whitened, (x'Qx - D)^2" : "plain, (x'Qx - D)^2");
        random_state = 7;
        for (int k = 0; k < (quick() ? 8 : 20); ++k) {
            const int64_t n = dims[k], rows = 1 + n * (1 + k % 3) / 2;
            double *const q = random_precision(n), *const a = random_cone(rows, n);
            const gbs_method by = whitened ? GBS_METHOD_WHITENED : GBS_METHOD_GIBBS;
            run_cone(ctx, q, n, NULL, 0, by, &radius, &spread);
            run_cone(ctx, q, n, a, rows, by, &radius, &spread);
            printf("D %lld, %lld rows: worst so far %.2f, %.2f\n", (long long)n, (long long)rows,
                   radius.worst, spread.worst);
            free(q);
            free(a);
        }
        verdict_end(&radius);
        verdict_end(&spread);
    }
}

/* ---- values ---- */

enum { MOST_SITES = 1000, MOST_MOMENTS = 10 };

/* E x_i with j < 0, else the covariance of x_i and x_j. */
typedef struct moment {
    int64_t i, j;
    double value;
} moment;

/* Behind the last all is 0. */
static int is_moment(const moment *m)
{
    return m->i != 0 || m->j != 0 || m->value != 0;
}

typedef struct value_case {
    const char *what;
    int64_t dim;
    gbs_matrix kind;
    double *matrix, *mean; /* mean NULL: zeros */
    double lower, upper;   /* the same for every site */
    int64_t rows;          /* beside the box */
    double a[12], row_lower[3], row_upper[3];
    double start;
    int double_alone;
    int slow; /* site by site: left out */
    moment moments[MOST_MOMENTS];
} value_case;

typedef struct value_run {
    runner base;
    const value_case *c;
} value_run;

static double mean_at(const value_case *c, int64_t site)
{
    for (int k = 0; k < MOST_MOMENTS; ++k)
        if (c->moments[k].j < 0 && c->moments[k].i == site)
            return c->moments[k].value;
    fail_msg("%s: no mean of site %lld", c->what, (long long)site);
    return 0;
}

static double state_at(const runner *run, const void *x, int64_t chain, int64_t site)
{
    const int64_t at = chain * run->dim + site;
    return run->type == GBS_F32 ? (double)((const float *)x)[at] : ((const double *)x)[at];
}

static void measure_moments(runner *run, const void *x, double *out)
{
    const value_case *const c = ((const value_run *)(const void *)run)->c;
    for (int64_t chain = 0; chain < run->chains; ++chain)
        for (int64_t f = 0; f < run->functions; ++f) {
            const moment *const m = &c->moments[f];
            double value = state_at(run, x, chain, m->i);
            if (m->j >= 0)
                value =
                    (value - mean_at(c, m->i)) * (state_at(run, x, chain, m->j) - mean_at(c, m->j));
            out[chain * run->functions + f] = value;
        }
}

/* The case's box as rows of its own, beside its rows: the same law by another way. */
static gbs_constraints rows_of(const value_case *c, int box_too, double *room)
{
    const int64_t n = c->dim, own = c->rows, rows = own + (box_too ? n : 0);
    double *const a = room, *const lower = a + rows * n, *const upper = lower + rows;
    memset(a, 0, (size_t)(rows * n) * sizeof *a);
    memcpy(a, c->a, (size_t)(own * n) * sizeof *a);
    memcpy(lower, c->row_lower, (size_t)own * sizeof *lower);
    memcpy(upper, c->row_upper, (size_t)own * sizeof *upper);
    for (int64_t i = 0; own + i < rows; ++i) {
        a[(own + i) * n + i] = 1;
        lower[own + i] = c->lower;
        upper[own + i] = c->upper;
    }
    return (gbs_constraints){.rows = rows, .matrix = a, .lower = lower, .upper = upper};
}

static void run_values(gbs_context *ctx, const value_case *c, gbs_method method, int box_as_rows,
                       verdict *v)
{
    const int64_t n = c->dim;
    double *const lower = constant(n, c->lower), *const upper = constant(n, c->upper),
                  *const start = constant(n, c->start),
                  *const room = naive_new((c->rows + n) * (n + 2));
    gbs_model_spec spec = spec_of(c->matrix, n);
    spec.matrix_kind = c->kind;
    spec.location_kind = c->mean == NULL ? GBS_LOCATION_ZERO : GBS_LOCATION_MEAN;
    spec.location = c->mean;
    spec.lower = box_as_rows ? NULL : lower;
    spec.upper = box_as_rows ? NULL : upper;
    spec.constraints = rows_of(c, box_as_rows, room);
    gbs_model *const model = new_model(ctx, &spec);
    for (int type = c->double_alone; type < 2; ++type) {
        value_run run = {{.ctx = ctx,
                          .model = model,
                          .type = (gbs_type)type,
                          .chains = many_chains() / (n < 200 ? 1 : 8),
                          .dim = n,
                          .measure = measure_moments},
                         c};
        while (run.base.functions < MOST_MOMENTS && is_moment(&c->moments[run.base.functions]))
            run.base.functions++;
        run_chains(&run.base, method, start, n < 200 ? 500 : 100, n < 200 ? 500 : 100);
        for (int64_t f = 0; f < run.base.functions; ++f)
            score(&run.base, f, c->moments[f].value, v);
        end_run(&run.base);
    }
    gbs_model_release(model);
    free(lower);
    free(upper);
    free(start);
    free(room);
}

/* Unit variances, correlation rho. */
static double *equicorrelated(int64_t n, double rho)
{
    double *const s = constant(n * n, rho);
    for (int64_t i = 0; i < n; ++i)
        s[i * n + i] = 1;
    return s;
}

static double *copy_of(const double *from, int64_t count)
{
    double *const to = naive_new(count);
    memcpy(to, from, (size_t)count * sizeof *to);
    return to;
}

/* `ends` and `inside` on the diagonal, `off` beside it. */
static double *tridiagonal(int64_t n, double first, double inside, double last, double off)
{
    double *const q = naive_new(n * n);
    for (int64_t i = 0; i < n; ++i) {
        q[i * n + i] = i == 0 ? first : i == n - 1 ? last : inside;
        if (i > 0)
            q[i * n + i - 1] = q[(i - 1) * n + i] = off;
    }
    return q;
}

static double *random_walk(int64_t n, double k)
{
    return tridiagonal(n, 1 + k, 2 + k, 1 + k, -1);
}

static double *autoregression(int64_t n, double phi)
{
    return tridiagonal(n, 1, 1 + phi * phi, 1, -phi);
}

/* Whitened, and where the model has rows or they stand for its box, site by site too. */
static void check_case(gbs_context *ctx, value_case c)
{
    verdict v = verdict_start(c.what);
    run_values(ctx, &c, GBS_METHOD_WHITENED, 0, &v);
    if (c.dim < 64) {
        run_values(ctx, &c, GBS_METHOD_WHITENED, 1, &v);
        if (!c.slow)
            run_values(ctx, &c, GBS_METHOD_GIBBS, 1, &v);
    }
    if (c.rows > 0)
        run_values(ctx, &c, GBS_METHOD_GIBBS, 0, &v);
    verdict_end(&v);
    free(c.matrix);
    free(c.mean);
}

static const double inf = (double)INFINITY;

static void test_boxes(void **state)
{
    static const double manjunath[9] = {1, .6, .3, .6, 1, .2, .3, .2, 2}, halves[3] = {.5, .5, .5};
    static const double reordered[4] = {0.1, -0.19, -0.19, 0.4},
                        swapped[4] = {0.4, -0.19, -0.19, 0.1};
    check_case(*state, (value_case){"Manjunath and Wilhelm", 3, GBS_MATRIX_COVARIANCE,
                                    copy_of(manjunath, 9), copy_of(halves, 3), -inf, 1,
                                    .moments = {{0, -1, -.152414542},
                                                {1, -1, -.126129680},
                                                {2, -1, -.404914674},
                                                {0, 0, .522424919},
                                                {0, 1, .220486591},
                                                {0, 2, .077433052},
                                                {1, 1, .515885112},
                                                {1, 2, .039505744},
                                                {2, 2, .946339061}}});
    check_case(*state, (value_case){"equicorrelated .8, [-4, -1]^4", 4, GBS_MATRIX_COVARIANCE,
                                    equicorrelated(4, .8), NULL, -4, -1, .start = -2,
                                    .moments = {{0, -1, -1.776817226921},
                                                {3, -1, -1.776817226921},
                                                {0, 0, .256941605351},
                                                {0, 3, .111510562148}}});
    check_case(*state,
               (value_case){"C17", 2, GBS_MATRIX_COVARIANCE, copy_of(reordered, 4), NULL, 0, 1,
                            .start = .1, .moments = {{0, -1, .062403}, {1, -1, .124805}}});
    check_case(*state,
               (value_case){"C17 swapped", 2, GBS_MATRIX_COVARIANCE, copy_of(swapped, 4), NULL, 0,
                            1, .start = .1, .moments = {{0, -1, .124805}, {1, -1, .062403}}});
}

static void test_orthants(void **state)
{
    static const struct {
        int64_t n;
        double mean, variance, covariance;
    } known[] = {{2, .897620130903, .401026436380, .107774772164},
                 {3, .970504408850, .425673789350, .109450087824},
                 {10, 1.233957892590, .494863177061, .107920427921},
                 {50, 1.627700752675, .547538419736, .092374096471},
                 {100, 1.793406439643, .556084463243, .084088413960},
                 {1000, 2.294536391874, .556020858206, .060846602061}};
    for (int k = 0; k < (quick() ? 4 : COUNT(known)); ++k)
        check_case(*state,
                   (value_case){"equicorrelated .5 orthant", known[k].n, GBS_MATRIX_COVARIANCE,
                                equicorrelated(known[k].n, .5), NULL, 0, inf, .start = 1,
                                .moments = {{0, -1, known[k].mean},
                                            {known[k].n - 1, -1, known[k].mean},
                                            {0, 0, known[k].variance},
                                            {0, known[k].n - 1, known[k].covariance}}});
}

static void test_chains(void **state)
{
    static const struct {
        double phi, first, middle, var_first, var_middle, beside;
    } known[] = {{.5, 1.0820757710, 1.2593602345, .5663161176, .6393301126, .1956596908},
                 {.9, 2.5200161944, 3.1777539417, 2.3458266263, 2.5189538143, 2.0341251826},
                 {.99, 7.8716460812, 8.4949412296, 19.4936557333, 17.0745689746, 16.5804800730}};
    for (int k = 0; k < COUNT(known); ++k)
        check_case(*state, (value_case){"AR(1) that stays positive", 50, GBS_MATRIX_PRECISION,
                                        autoregression(50, known[k].phi), NULL, 0, inf, .start = 2,
                                        .slow = known[k].phi > .95,
                                        .moments = {{0, -1, known[k].first},
                                                    {24, -1, known[k].middle},
                                                    {0, 0, known[k].var_first},
                                                    {24, 24, known[k].var_middle}}});
    check_case(*state, (value_case){"RW1 + .005 I, x >= 0", 64, GBS_MATRIX_PRECISION,
                                    random_walk(64, .005), NULL, 0, inf, .start = 3,
                                    .moments = {{0, -1, 4.2229274974},
                                                {31, -1, 3.8086831093},
                                                {0, 0, 6.0117879089},
                                                {31, 31, 3.3924263653}}});
    if (!quick())
        check_case(*state, (value_case){"sparse example of tmvtnorm", 1000, GBS_MATRIX_PRECISION,
                                        tridiagonal(1000, .5625, .625, .5625, -.1875), NULL, 0, 2,
                                        .start = 1,
                                        .moments = {{0, -1, .880301563548},
                                                    {499, -1, .914229870573},
                                                    {0, 0, .301456708855},
                                                    {499, 499, .303205346036}}});
}

static void test_rows(void **state)
{
    static const double stiff[16] = {0.05, -0.03, 0,           0,         -0.03,      0.06,
                                     0,    0,     0,           0,         1336227.01, -1336226.98,
                                     0,    0,     -1336226.98, 1336227.07};
    static const double far[4] = {-0.08, -0.51, -17.52, 16.37};
    check_case(*state, (value_case){"C19", 4, GBS_MATRIX_COVARIANCE, copy_of(stiff, 16),
                                    copy_of(far, 4), 0, inf, .start = .1, .double_alone = 1,
                                    .moments = {{0, -1, 0.071053},
                                                {1, -1, 0.059147},
                                                {2, -1, 0.085968},
                                                {3, -1, 0.085968}}});
    check_case(
        *state,
        (value_case){
            "a rotated square",
            2,
            GBS_MATRIX_COVARIANCE,
            tridiagonal(2, 10, 0, 1, 0),
            NULL,
            -inf,
            inf,
            2,
            {1, 1, 1, -1},
            {-2, -2},
            {2, 2},
            .moments = {
                {0, -1, 0}, {1, -1, 0}, {0, 0, .742365305228}, {0, 1, 0}, {1, 1, .442840693457}}});
    check_case(*state, (value_case){"C22",
                                    2,
                                    GBS_MATRIX_PRECISION,
                                    equicorrelated(2, 0),
                                    NULL,
                                    -inf,
                                    inf,
                                    3,
                                    {1, 1, 1, -1, .5, -1},
                                    {-1, -.5, -1},
                                    {1, 1.5, .5},
                                    .moments = {{0, -1, 0.0859031298},
                                                {1, -1, -0.0037936554},
                                                {0, 0, 0.1307118180},
                                                {0, 1, 0.0445253458},
                                                {1, 1, 0.0839238750}}});
}

/* ---- mixing ---- */

enum { MIX_SITES = 64, MIX_CHAINS = 16, MIX_DRAWS = 2000 };

/* Draws of the mean, the middle site and x'Qx, [3][MIX_CHAINS][MIX_DRAWS]. */
typedef struct mixing {
    gbs_context *ctx;
    gbs_model *model;
    double *values;
} mixing;

static int take_functions(void *user, int64_t draw, const void *state)
{
    const mixing *const m = user;
    const double *const x = state;
    double density[MIX_CHAINS];
    must(m->ctx, gbs_model_log_density(m->ctx, m->model, GBS_F64, x, MIX_CHAINS, 0, density));
    for (int64_t c = 0; c < MIX_CHAINS; ++c) {
        double sum = 0;
        for (int64_t i = 0; i < MIX_SITES; ++i)
            sum += x[c * MIX_SITES + i];
        const double value[3] = {sum / (double)MIX_SITES, x[c * MIX_SITES + MIX_SITES / 2],
                                 -2 * density[c]};
        for (int64_t f = 0; f < 3; ++f)
            m->values[(f * MIX_CHAINS + c) * MIX_DRAWS + draw] = value[f];
    }
    return 0;
}

/* The largest of their integrated autocorrelation times under whitened sweeps. */
static double slowest(gbs_context *ctx, double *matrix, gbs_matrix kind, double upper)
{
    double *const low = constant(MIX_SITES, 0), *const high = constant(MIX_SITES, upper),
                  *const start = constant(MIX_SITES, .2);
    gbs_model_spec spec = spec_of(matrix, MIX_SITES);
    spec.matrix_kind = kind;
    spec.lower = low;
    spec.upper = high;
    mixing m = {ctx, new_model(ctx, &spec), naive_new(3 * MIX_CHAINS * MIX_DRAWS)};
    const runner run = {
        .ctx = ctx, .model = m.model, .type = GBS_F64, .chains = MIX_CHAINS, .dim = MIX_SITES};
    gbs_sampler *const sampler = sampler_of(&run, GBS_METHOD_WHITENED, start);
    const gbs_sink sink = {.callback = take_functions, .user = &m};
    must(ctx, gbs_sampler_run(sampler, 500));
    must(ctx, gbs_sampler_sample(sampler, MIX_DRAWS, 1, &sink));
    void *const workspace = malloc(gbs_diag_workspace(MIX_CHAINS, MIX_DRAWS));
    assert_non_null(workspace);
    double worst = 0;
    for (int64_t f = 0; f < 3; ++f) {
        const gbs_draws draws = {m.values + f * MIX_CHAINS * MIX_DRAWS, MIX_CHAINS, MIX_DRAWS,
                                 MIX_DRAWS, 1};
        const double time = MIX_CHAINS * MIX_DRAWS / gbs_diag_ess_mean(&draws, workspace);
        worst = time > worst ? time : worst;
    }
    gbs_sampler_destroy(sampler);
    gbs_model_release(m.model);
    free(workspace);
    free(m.values);
    free(low);
    free(high);
    free(start);
    free(matrix);
    return worst;
}

/* Plain sweeps take 112 and 147 for the first two, and about 1 for the tight box. */
static void test_mixing(void **state)
{
    const double walk = slowest(*state, random_walk(MIX_SITES, .005), GBS_MATRIX_PRECISION, inf);
    const double orthant =
        slowest(*state, equicorrelated(MIX_SITES, .9), GBS_MATRIX_COVARIANCE, inf);
    const double tight = slowest(*state, random_walk(MIX_SITES, .05), GBS_MATRIX_PRECISION, .3);
    printf("checked: RW1 + .005 I, x >= 0: %.2f, expected about 1, bound 3\n", walk);
    printf("checked: equicorrelated .9 orthant: %.2f, expected about 1, bound 3\n", orthant);
    printf("checked: RW1 + .05 I on [0, .3]: %.2f, expected about 12, bound 24\n", tight);
    assert_true(walk <= 3 && orthant <= 3 && tight <= 24);
}

static int open_context(void **state)
{
    *state = widest_context();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cones),    cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_orthants), cmocka_unit_test(test_chains),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_mixing),     cmocka_unit_test(test_verdicts_planned),
    };
    return cmocka_run_group_tests(tests, open_context, stop);
}
