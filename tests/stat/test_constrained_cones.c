/* Whitened sweeps and sweeps under row constraints by what needs no golden value:
 *
 *   cones    mean 0 and a cone, x >= 0 or A x >= 0, make x'Qx exactly chi-square with D degrees of
 *            freedom, whatever Q is: the radius and the direction of a Gaussian are independent
 *   mixing   autocorrelation times of the whitened sweeps */
#include "stat/constrained_law.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cones),
        cmocka_unit_test(test_mixing),
        cmocka_unit_test(test_verdicts_planned),
    };
    return cmocka_run_group_tests(tests, open_context, stop);
}
