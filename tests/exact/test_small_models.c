/* Models small enough to know the answer: sweeps and exact draws worked out by hand in dyadic
 * numbers, covariances that a sampler must have from its G and N alone, and the mean form far from
 * zero in float, its coefficients read off one by one.  Cases by number are faults seen in other
 * programs. */
#include "exact/affine.h"

#include <float.h>
#include <stdio.h>

/* ---- by hand ---- */

/* A = [0 1/2; 1/8 0], s = (1/2, 1/4). */
static const double q2[4] = {4, -2, -2, 16};
/* A = [0 1/2 -1/4; 1/8 0 1/4; -1/4 1 0], s = (1/2, 1/4, 1/2). */
static const double q3[9] = {4, -2, 1, -2, 16, -4, 1, -4, 4};
/* L = [2 0 0; -1 4 0; 1/2 -1/2 1]. */
static const double q3_exact[9] = {4, -2, 1, -2, 17, -2.5, 1, -2.5, 1.5};
static const int64_t visit[3] = {1, 2, 0};

typedef struct by_hand {
    const char *what;
    int64_t dim;
    const double *q;
    gbs_method method;
    gbs_order order;
    double w;
    gbs_location kind;
    double location[3], x[3], z[6], expected[3];
} by_hand;

static const by_hand cases[] = {
    {"2 x 2 forward",
     2,
     q2,
     GBS_METHOD_GIBBS,
     GBS_ORDER_FORWARD,
     1,
     GBS_LOCATION_ZERO,
     {0},
     {1, 2},
     {1, -1},
     {1.5, -0.0625}},
    {"2 x 2 backward",
     2,
     q2,
     GBS_METHOD_GIBBS,
     GBS_ORDER_BACKWARD,
     1,
     GBS_LOCATION_ZERO,
     {0},
     {1, 2},
     {1, -1},
     {0.4375, -0.125}},
    {"2 x 2 symmetric",
     2,
     q2,
     GBS_METHOD_GIBBS,
     GBS_ORDER_SYMMETRIC,
     1,
     GBS_LOCATION_ZERO,
     {0},
     {1, 2},
     {1, -1, 2, 4},
     {1.59375, 1.1875}},
    {"2 x 2 mean form",
     2,
     q2,
     GBS_METHOD_GIBBS,
     GBS_ORDER_FORWARD,
     1,
     GBS_LOCATION_MEAN,
     {8, -4},
     {1, 2},
     {1, -1},
     {11.5, -3.8125}},
    {"2 x 2 information form",
     2,
     q2,
     GBS_METHOD_GIBBS,
     GBS_ORDER_FORWARD,
     1,
     GBS_LOCATION_INFORMATION,
     {4, 32},
     {1, 2},
     {1, -1},
     {2.5, 2.0625}},
    {"2 x 2 offset form",
     2,
     q2,
     GBS_METHOD_GIBBS,
     GBS_ORDER_FORWARD,
     1,
     GBS_LOCATION_OFFSET,
     {1, 2},
     {1, 2},
     {1, -1},
     {2.5, 2.0625}},
    {"2 x 2 w = 1/2",
     2,
     q2,
     GBS_METHOD_GIBBS,
     GBS_ORDER_FORWARD,
     0.5,
     GBS_LOCATION_ZERO,
     {0},
     {1, 2},
     {0},
     {1, 1.0625}},
    {"2 x 2 w = 1/2 offset form",
     2,
     q2,
     GBS_METHOD_GIBBS,
     GBS_ORDER_FORWARD,
     0.5,
     GBS_LOCATION_OFFSET,
     {1, 2},
     {1, 2},
     {0},
     {1.5, 2.09375}},
    {"3 x 3 forward",
     3,
     q3,
     GBS_METHOD_GIBBS,
     GBS_ORDER_FORWARD,
     1,
     GBS_LOCATION_ZERO,
     {0},
     {1, 2, 4},
     {1, -1, 2},
     {0.5, 0.8125, 1.6875}},
    {"3 x 3 backward",
     3,
     q3,
     GBS_METHOD_GIBBS,
     GBS_ORDER_BACKWARD,
     1,
     GBS_LOCATION_ZERO,
     {0},
     {1, 2, 4},
     {1, -1, 2},
     {0.09375, 0.5625, 2.75}},
    {"3 x 3 in the order 1, 2, 0",
     3,
     q3,
     GBS_METHOD_GIBBS,
     GBS_ORDER_PERMUTED,
     1,
     GBS_LOCATION_ZERO,
     {0},
     {1, 2, 4},
     {1, -1, 2},
     {0.53125, 0.875, 1.625}},
    {"3 x 3 exact draw",
     3,
     q3_exact,
     GBS_METHOD_EXACT,
     GBS_ORDER_FORWARD,
     1,
     GBS_LOCATION_MEAN,
     {8, -4, 1},
     {0},
     {5, 2, 4},
     {10, -3, 5}},
};

/* All chains of a ragged batch start alike and take the same noise. */
static void run_by_hand(gbs_context *ctx, gbs_model *model, const by_hand *c, gbs_type type,
                        int64_t chains)
{
    double noise[6 * 21], x[3 * 21], initial[3];
    for (int64_t k = 0; k < 2 * c->dim * chains; ++k)
        noise[k] = c->z[k / chains];
    for (int64_t i = 0; i < c->dim; ++i)
        put_element(type, initial, i, c->x[i]);
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.type = type;
    spec.method = c->method;
    spec.chains = chains;
    spec.order = c->order;
    spec.permutation = c->order == GBS_ORDER_PERMUTED ? visit : NULL;
    spec.omega = c->w;
    if (c->method == GBS_METHOD_GIBBS) {
        spec.start = GBS_START_GIVEN;
        spec.initial = initial;
        spec.initial_rows = 1;
    }
    spec.stream.kind = GBS_STREAM_GIVEN;
    spec.stream.noise = noise;
    spec.stream.noise_sweeps = passes_of(c->order);
    gbs_sampler *const sampler = new_sampler(ctx, model, &spec);
    must(ctx, gbs_sampler_run(sampler, 1));
    must(ctx, gbs_sampler_get_state(sampler, x));
    for (int64_t at = 0; at < chains * c->dim; ++at)
        if (element(type, x, at) != c->expected[at % c->dim])
            fail_msg("%s, %s %s, chain %lld, site %lld: expected %a, got %a, bound 0", c->what,
                     gbs_isa_name(gbs_context_isa(ctx)), type_name(type), (long long)(at / c->dim),
                     (long long)(at % c->dim), c->expected[at % c->dim], element(type, x, at));
    gbs_sampler_destroy(sampler);
}

static void test_by_hand(void **state)
{
    const machine *const m = *state;
    for (int k = 0; k < COUNT(cases); ++k)
        for (int isa = 0; isa < m->count; ++isa) {
            const by_hand *const c = &cases[k];
            gbs_model *const model = model_of(m->ctx[isa], c->dim, c->q, c->kind, c->location);
            for (gbs_type type = GBS_F32; type <= GBS_F64; ++type)
                for (int64_t chains = 1; chains <= 21; chains += 4)
                    run_by_hand(m->ctx[isa], model, c, type, chains);
            gbs_model_release(model);
        }
    printf("checked: %d sweeps and draws worked out by hand, both types, 1 to 21 chains, exactly\n",
           COUNT(cases));
}

/* ---- case C39: each coordinate keeps its own noise when variances change ---- */

static void draw_pair(gbs_context *ctx, const double covariance[4], gbs_method method, double *x)
{
    gbs_model_spec model_spec = spec_of(covariance, 2);
    model_spec.matrix_kind = GBS_MATRIX_COVARIANCE;
    gbs_model *const model = new_model(ctx, &model_spec);
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.method = method;
    spec.seed = 39;
    gbs_sampler *const sampler = new_sampler(ctx, model, &spec);
    must(ctx, gbs_sampler_run(sampler, 1));
    must(ctx, gbs_sampler_get_state(sampler, x));
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
}

static void test_variance_keeps_noise(void **state)
{
    const machine *const m = *state;
    static const double covariances[3][4] = {{1, 0, 0, 1}, {4, 0, 0, 1}, {1, 0, 0, 4}};
    for (int isa = 0; isa < m->count; ++isa)
        for (gbs_method method = GBS_METHOD_GIBBS; method <= GBS_METHOD_EXACT; ++method) {
            double x[3][2];
            for (int k = 0; k < 3; ++k)
                draw_pair(m->ctx[isa], covariances[k], method, x[k]);
            const double expected[3][2] = {
                {x[0][0], x[0][1]}, {2 * x[0][0], x[0][1]}, {x[0][0], 2 * x[0][1]}};
            for (int k = 0; k < 6; ++k)
                if (x[k / 2][k % 2] != expected[k / 2][k % 2])
                    fail_msg("variances (%g, %g): expected (%a, %a), got (%a, %a), bound 0",
                             covariances[k / 2][0], covariances[k / 2][3], expected[k / 2][0],
                             expected[k / 2][1], x[k / 2][0], x[k / 2][1]);
        }
    printf("checked: C39: variances (1, 1), (4, 1), (1, 4) give (a, b), (2a, b), (a, 2b)\n");
}

/* ---- covariances by G and N ---- */

/* The stationary covariance of x' = G x + N z, by doubling: S_2n = S_n + G^n S_n G^n'. */
static void stationary(int64_t dim, int64_t columns, const double *g, const double *n, double *s)
{
    long double *const power = wide_new(dim * dim), *const turned = wide_new(dim * dim);
    long double *const sum = wide_new(dim * dim), *const left = wide_new(dim * dim);
    long double *const noise = wide_new(dim * columns), *const step = wide_new(dim * dim);
    for (int64_t k = 0; k < dim * dim; ++k)
        power[k] = (long double)g[k];
    for (int64_t k = 0; k < dim * columns; ++k)
        noise[k] = (long double)n[k];
    wide_product(noise, noise, dim, columns, dim, sum);
    for (int doubling = 0; doubling < 40; ++doubling) {
        wide_product(power, sum, dim, dim, dim, left);
        wide_product(left, power, dim, dim, dim, step);
        for (int64_t k = 0; k < dim * dim; ++k)
            sum[k] += step[k];
        for (int64_t i = 0; i < dim; ++i)
            for (int64_t j = 0; j < dim; ++j)
                turned[i * dim + j] = power[j * dim + i];
        wide_product(power, turned, dim, dim, dim, left);
        memcpy(power, left, (size_t)(dim * dim) * sizeof *power);
    }
    for (int64_t k = 0; k < dim * dim; ++k)
        s[k] = (double)sum[k];
    free(power);
    free(turned);
    free(sum);
    free(left);
    free(noise);
    free(step);
}

/* Case C36: a precision is not a covariance, and scales stay with their coordinates. */
static void test_scales(void **state)
{
    const machine *const m = *state;
    static const double diagonal[4] = {1, 0, 0, 0.01};
    static const double covariance[4] = {0.01, 0.1, 0.1, 100}, mu[2] = {100, -100};
    const double precision[4] = {100 / 0.99, -0.1 / 0.99, -0.1 / 0.99, 0.01 / 0.99};
    const sweep_options how = {GBS_F64, GBS_ORDER_FORWARD, 1, NULL};
    for (int isa = 0; isa < m->count; ++isa)
        for (int k = 0; k < 3; ++k) {
            gbs_model_spec spec = spec_of(k == 0 ? diagonal : k == 1 ? precision : covariance, 2);
            const double expected[2][4] = {{1, 0, 0, 100}, {0.01, 0.1, 0.1, 100}};
            double s[4], sd[2];
            if (k == 2)
                spec.matrix_kind = GBS_MATRIX_COVARIANCE;
            if (k > 0) {
                spec.location_kind = GBS_LOCATION_MEAN;
                spec.location = mu;
            }
            gbs_model *const model = new_model(m->ctx[isa], &spec);
            affine_map map = read_affine(m->ctx[isa], model, &how);
            stationary(2, 2, map.g, map.n, s);
            must(m->ctx[isa], gbs_model_sd(m->ctx[isa], model, sd));
            for (int at = 0; at < 4;
                 ++at) /* G near 100 is read to 1e-14, S amplifies by 1 / 0.99 */
                assert_near("covariance", at, expected[k > 0][at], s[at], 1e-11);
            for (int at = 0; at < 2; ++at) {
                assert_near("sd", at, sqrt(expected[k > 0][3 * at]), sd[at], 1e-13);
                assert_near("mean", at, k > 0 ? mu[at] : 0, gbs_model_mean(model)[at], 0);
            }
            free_affine(&map);
            gbs_model_release(model);
        }
    printf("checked: C36: variances (1, 100) from precision diag(1, 0.01); (0.01, 100), covariance "
           "0.1, means (100, -100) from precision and from covariance\n");
}

/* Cases C60 and C86: a ring of five, and what sharing one noise vector between the two halves of a
 * symmetric sweep would do, which the reading must be able to see. */
static void test_ring(void **state)
{
    const machine *const m = *state;
    static const double flawed[6] = {0.639433, 0.555027, 0.553720, 0.537520, 0.462708, 0.359310};
    static const int64_t permutation[5] = {3, 0, 4, 1, 2};
    double q[25] = {0}, s[25];
    for (int64_t i = 0; i < 5; ++i) {
        q[i * 6] = 3;
        q[i * 5 + (i + 1) % 5] = q[((i + 1) % 5) * 5 + i] = -1;
    }
    gbs_context *const ctx = m->ctx[m->count - 1];
    gbs_model *const model = model_of(ctx, 5, q, GBS_LOCATION_ZERO, NULL);
    for (gbs_order order = GBS_ORDER_FORWARD; order <= GBS_ORDER_PERMUTED; ++order) {
        const sweep_options how = {GBS_F64, order, 1, permutation};
        affine_map map = read_affine(ctx, model, &how);
        stationary(5, map.passes * 5, map.g, map.n, s);
        for (int64_t i = 0; i < 5; ++i) {
            assert_near("variance", i, 5.0 / 11, s[i * 6], 1e-14);
            assert_near("covariance, neighbours", i, 2.0 / 11, s[i * 5 + (i + 1) % 5], 1e-14);
            assert_near("covariance, two apart", i, 1.0 / 11, s[i * 5 + (i + 2) % 5], 1e-14);
        }
        if (order == GBS_ORDER_SYMMETRIC) {
            double shared[25];
            for (int64_t i = 0; i < 5; ++i)
                for (int64_t j = 0; j < 5; ++j)
                    shared[i * 5 + j] = map.n[i * 10 + j] + map.n[i * 10 + 5 + j];
            stationary(5, 5, map.g, shared, s);
            for (int64_t i = 0; i < 6; ++i)
                assert_near("variances with shared noise", i, flawed[i], i < 5 ? s[i * 6] : s[1],
                            5.1e-7);
        }
        free_affine(&map);
    }
    gbs_model_release(model);
    printf("checked: C60, C86: ring of five: 5/11, 2/11, 1/11 in every order; one noise vector in "
           "both halves would have given 0.639433 ... 0.462708\n");
}

/* ---- the mean form in float, far from zero ---- */

enum { SIDE = 10, SITES = SIDE * SIDE };

/* The value of site i after a sweep that visits it first, from each of 1 + SITES starts: c_i, and
 * A_ij where c is 0.  Nothing is lost: one product by 1, the others by 0. */
static void read_row(gbs_context *ctx, gbs_model *model, double w, int64_t i, float *out)
{
    int64_t order[SITES];
    static float x[(1 + SITES) * SITES];
    static const float no_noise[(1 + SITES) * SITES];
    memset(x, 0, sizeof x);
    for (int64_t p = 0; p < SITES; ++p) {
        order[p] = p == 0 ? i : p <= i ? p - 1 : p;
        x[(1 + p) * SITES + p] = 1;
    }
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.type = GBS_F32;
    spec.chains = spec.initial_rows = 1 + SITES;
    spec.order = GBS_ORDER_PERMUTED;
    spec.permutation = order;
    spec.omega = w;
    spec.start = GBS_START_GIVEN;
    spec.initial = x;
    spec.stream.kind = GBS_STREAM_GIVEN;
    spec.stream.noise_type = GBS_F32;
    spec.stream.noise = no_noise;
    spec.stream.noise_sweeps = 1;
    gbs_sampler *const sampler = new_sampler(ctx, model, &spec);
    must(ctx, gbs_sampler_run(sampler, 1));
    must(ctx, gbs_sampler_get_state(sampler, x));
    for (int64_t chain = 0; chain <= SITES; ++chain)
        out[chain] = x[chain * SITES + i];
    gbs_sampler_destroy(sampler);
}

/* The mean of the rounded sweep, (I - A)^-1 c, and its largest distance from mu. */
static double mean_error(const long double *inverse, const double *c, double mu)
{
    double worst = 0;
    for (int64_t i = 0; i < SITES; ++i) {
        long double mean = 0;
        for (int64_t j = 0; j < SITES; ++j)
            mean += inverse[i * SITES + j] * (long double)c[j];
        worst = fmax(worst, fabs((double)(mean - (long double)mu)));
    }
    return worst;
}

static void check_far_mean(gbs_context *ctx, double w)
{
    static const double mu = 1000;
    double *const q = lattice(SIDE, SIDE, 1, 1e-4);
    double location[SITES], c[SITES], unrounded[SITES];
    for (int64_t i = 0; i < SITES; ++i)
        location[i] = mu;
    gbs_model *const centred = model_of(ctx, SITES, q, GBS_LOCATION_ZERO, NULL);
    gbs_model *const far = model_of(ctx, SITES, q, GBS_LOCATION_MEAN, location);
    long double *const system = wide_new(SITES * SITES);
    double own[SITES];
    for (int64_t i = 0; i < SITES; ++i) {
        float row[1 + SITES];
        long double t = (long double)mu;
        double size = mu;
        read_row(ctx, centred, w, i, row);
        assert_true(row[0] == 0);
        for (int64_t j = 0; j < SITES; ++j) {
            system[i * SITES + j] = (i == j ? 1 : 0) - (long double)row[1 + j];
            size += mu * fabs((double)row[1 + j]);
            t -= (long double)mu * (i == j ? 1 - (long double)w
                                           : -(long double)w * (long double)q[i * SITES + j] /
                                                 (long double)q[i * SITES + i]);
        }
        read_row(ctx, far, w, i, row);
        c[i] = (double)row[0];
        unrounded[i] = (double)(float)t;
        /* c is rounded once to float, after D fused steps in double */
        own[i] = fabs(c[i]) * (double)FLT_EPSILON / 2 + (double)SITES * 0x1p-53 * size;
    }
    long double *const inverse = wide_inverse(system, SITES);
    double bound = 0;
    for (int64_t i = 0; i < SITES; ++i) {
        double row = 0;
        for (int64_t j = 0; j < SITES; ++j)
            row += fabs((double)inverse[i * SITES + j]) * own[j];
        bound = fmax(bound, row);
    }
    const double error = mean_error(inverse, c, mu), fault = mean_error(inverse, unrounded, mu);
    printf("checked: float, mean form at mu = 1000, sd 10, w = %g: the rounded sweep's own mean is "
           "off by %.2g, bound %.2g; with c from the unrounded Q it would be off by %.2g\n",
           w, error, bound, fault);
    if (!(error <= bound))
        fail_msg("expected mean 1000, error %g, bound %g", error, bound);
    assert_true(fault > 10 * bound);
    free(system);
    free(inverse);
    free(q);
    gbs_model_release(centred);
    gbs_model_release(far);
}

static void test_far_mean(void **state)
{
    const machine *const m = *state;
    check_far_mean(m->ctx[m->count - 1], 1);
    check_far_mean(m->ctx[m->count - 1], 1.3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),  cmocka_unit_test(test_variance_keeps_noise),
        cmocka_unit_test(test_scales),   cmocka_unit_test(test_ring),
        cmocka_unit_test(test_far_mean),
    };
    return cmocka_run_group_tests(tests, start_machine, stop_machine);
}
