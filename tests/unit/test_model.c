/* The model: what it keeps and computes, the same on every instruction set and in every thread,
 * and that it gives back all memory whichever request fails.  Cases by number are faults seen in
 * other programs. */
#define _POSIX_C_SOURCE 200809L
#include "model/model.h"
#include "unit/counting.h"
#include "unit/matrices.h"
#include "unit/model_fixture.h"

#include <float.h>
#include <pthread.h>

static void assert_array(const char *what, const double *expected, const double *got, int64_t n,
                         double relative)
{
    for (int64_t i = 0; i < n; ++i)
        assert_near(what, i, expected[i], got[i], relative * fabs(expected[i]));
}

/* Case C36: a precision is not a covariance, and rows are not mixed. */
static void test_precision_and_covariance(void **state)
{
    gbs_context *const ctx = *state;
    const double precision[4] = {1, 0, 0, 0.01}, covariance[4] = {0.01, 0.1, 0.1, 100};
    const double inverse[4] = {101.01010101010101, -0.10101010101010101, -0.10101010101010101,
                               0.010101010101010101};
    const double mean[2] = {100, -100}, sd_a[2] = {1, 10}, sd_b[2] = {0.1, 10};
    double sd[2];

    gbs_model_spec spec = spec_of(precision, 2);
    gbs_model *model = new_model(ctx, &spec);
    assert_int_equal(gbs_model_sd(ctx, model, sd), GBS_OK);
    assert_array("sd of diag(1, 0.01)", sd_a, sd, 2, 2 * DBL_EPSILON);
    assert_int_equal(gbs_model_dim(model), 2);
    assert_int_equal(gbs_model_location_kind(model), GBS_LOCATION_ZERO);
    assert_true(gbs_model_mean(model)[0] == 0 && gbs_model_location(model)[1] == 0);
    gbs_model_release(model);

    spec = spec_of(covariance, 2);
    spec.matrix_kind = GBS_MATRIX_COVARIANCE;
    spec.location_kind = GBS_LOCATION_MEAN;
    spec.location = mean;
    model = new_model(ctx, &spec);
    assert_int_equal(gbs_model_sd(ctx, model, sd), GBS_OK);
    /* A handful of roundings, none amplified: 1 - r^2 = 0.99. */
    assert_array("Q", inverse, gbs_model_precision(model), 4, 8 * DBL_EPSILON);
    assert_array("sd of the covariance", sd_b, sd, 2, 8 * DBL_EPSILON);
    assert_array("mean", mean, gbs_model_mean(model), 2, 0);
    gbs_model_release(model);
    printf("checked: variances (1, 100) from a precision, (0.01, 100) from a covariance\n");
}

/* Case C39: a scale stays with its coordinate. */
static void test_scales_stay(void **state)
{
    gbs_context *const ctx = *state;
    static const double scale[3][2] = {{1, 1}, {4, 1}, {1, 4}};
    for (int c = 0; c < 3; ++c) {
        const double covariance[4] = {scale[c][0], 0, 0, scale[c][1]};
        gbs_model_spec spec = spec_of(covariance, 2);
        spec.matrix_kind = GBS_MATRIX_COVARIANCE;
        gbs_model *const model = new_model(ctx, &spec);
        double sd[2];
        assert_int_equal(gbs_model_sd(ctx, model, sd), GBS_OK);
        for (int i = 0; i < 2; ++i) {
            assert_near("Q_ii", i, 1 / scale[c][i], gbs_model_precision(model)[3 * i], 0);
            assert_near("sd", i, sqrt(scale[c][i]), sd[i], 0);
            assert_near("L_ii", i, 1 / sqrt(scale[c][i]), model->factor[3 * i], 0);
        }
        gbs_model_release(model);
    }
    printf("checked: diagonal covariances (1,1), (4,1), (1,4) scale their own coordinate\n");
}

/* Q = [[2, -1], [-1, 2]], inverse [[2, 1], [1, 2]] / 3, and (1, 0) as mean, b and m. */
static void test_location_forms(void **state)
{
    gbs_context *const ctx = *state;
    static const double matrix[4] = {2, -1, -1, 2}, given[2] = {1, 0};
    static const float given_f32[2] = {1, 0};
    static const double mean[4][2] = {{0, 0}, {1, 0}, {2. / 3, 1. / 3}, {4. / 3, 2. / 3}};
    for (int kind = GBS_LOCATION_MEAN; kind <= GBS_LOCATION_OFFSET; ++kind)
        for (int type = GBS_F32; type <= GBS_F64; ++type) {
            gbs_model_spec spec = spec_of(matrix, 2);
            spec.location_kind = (gbs_location)kind;
            spec.location_type = (gbs_type)type;
            spec.location = type == GBS_F32 ? (const void *)given_f32 : given;
            gbs_model *const model = new_model(ctx, &spec);
            assert_int_equal(gbs_model_location_kind(model), kind);
            assert_array("location", given, gbs_model_location(model), 2, 0);
            assert_array("mean of the law", mean[kind], gbs_model_mean(model), 2, 8 * DBL_EPSILON);
            gbs_model_release(model);
        }
    printf("checked: means (1, 0), (2/3, 1/3) and (4/3, 2/3) by mean, information and offset\n");
}

/* Case C29, the 10 x 10 lattice of Fox and Parker, and one site. */
static void test_known_variances(void **state)
{
    gbs_context *const ctx = *state;
    static const int edges[14][2] = {{1, 2}, {3, 4}, {5, 6}, {3, 7}, {6, 7}, {1, 8}, {2, 8},
                                     {4, 8}, {5, 8}, {6, 8}, {1, 9}, {2, 9}, {4, 9}, {7, 9}};
    static const double variance[9] = {0.102788, 0.102788, 0.102105, 0.103236, 0.101887,
                                       0.102940, 0.103170, 0.104967, 0.104111};
    double q[81] = {0}, sd[100];
    for (int i = 0; i < 9; ++i)
        q[i * 9 + i] = 10;
    for (int e = 0; e < 14; ++e) {
        const int i = edges[e][0] - 1, j = edges[e][1] - 1;
        q[i * 9 + j] = q[j * 9 + i] = 1;
    }
    gbs_model_spec spec = spec_of(q, 9);
    gbs_model *model = new_model(ctx, &spec);
    assert_int_equal(gbs_model_sd(ctx, model, sd), GBS_OK);
    for (int i = 0; i < 9; ++i)
        assert_near("variance of C29", i, variance[i], sd[i] * sd[i], 5.1e-7);
    gbs_model_release(model);

    double *const grid = lattice(10, 10, 1, 1e-4);
    spec = spec_of(grid, 100);
    model = new_model(ctx, &spec);
    assert_int_equal(gbs_model_sd(ctx, model, sd), GBS_OK);
    double trace = 0;
    for (int i = 0; i < 100; ++i)
        trace += sd[i] * sd[i];
    /* 100 roundings in units of the condition number of the scaled matrix, 36001. */
    const double bound = 100 * DBL_EPSILON * 36001;
    assert_near("trace of the lattice", 0, 10067.283942, trace, 5e-7 + bound * 10067);
    assert_near("variance of its corner", 0, 101.2855059176, sd[0] * sd[0], 5e-11 + bound * 101);
    assert_near("variance at (5,5)", 55, 100.4201961746, sd[55] * sd[55], 5e-11 + bound * 100);
    gbs_model_release(model);
    free(grid);

    const double one = 4;
    spec = spec_of(&one, 1);
    model = new_model(ctx, &spec);
    assert_int_equal(gbs_model_sd(ctx, model, sd), GBS_OK);
    assert_near("sd of one site", 0, 0.5, sd[0], 0);
    gbs_model_release(model);
    printf("checked: marginal variances of C29, of the 10 x 10 lattice and of one site\n");
}

/* Standard deviations that double holds and variances that it does not.  Q is made of multiples of
 * 1e-310, which is rounded to 2^-1074, and so are the pivots: 5e-14 of it each. */
static void test_large_deviations(void **state)
{
    gbs_context *const ctx = *state;
    const double unit = 1e-310, plain[4] = {unit, 0, 0, 1};
    const double coupled[9] = {2 * unit, -unit, 0, -unit, 2 * unit, 0, 0, 0, 4};
    const double bound = 4 * 0x1p-1074 / unit;
    double sd[3], x[2];
    gbs_model_spec spec = spec_of(plain, 2);
    gbs_model *model = new_model(ctx, &spec);
    assert_int_equal(gbs_model_sd(ctx, model, sd), GBS_OK);
    assert_near("sd", 0, 1e155, sd[0], bound * 1e155);
    assert_near("sd", 1, 1, sd[1], 0);
    gbs_sampler_spec s = gbs_sampler_spec_default(); /* which starts at 2 sd z */
    gbs_sampler *sampler = NULL;
    s.chains = 1;
    assert_int_equal(gbs_sampler_create(ctx, model, &s, &sampler), GBS_OK);
    assert_int_equal(gbs_sampler_get_state(sampler, x), GBS_OK);
    double z[2];
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
    const double identity[4] = {1, 0, 0, 1};
    spec = spec_of(identity, 2);
    model = new_model(ctx, &spec);
    assert_int_equal(gbs_sampler_create(ctx, model, &s, &sampler), GBS_OK);
    assert_int_equal(gbs_sampler_get_state(sampler, z), GBS_OK);
    assert_near("start", 0, z[0] * 1e155, x[0], bound * fabs(z[0] * 1e155));
    assert_near("start", 1, z[1], x[1], 0);
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);

    spec = spec_of(coupled, 3);
    model = new_model(ctx, &spec);
    assert_int_equal(gbs_model_sd(ctx, model, sd), GBS_OK);
    for (int i = 0; i < 2; ++i)
        assert_near("coupled sd", i, sqrt(2.0 / 3) * 1e155, sd[i], bound * 1e155);
    assert_near("coupled sd", 2, 0.5, sd[2], 0);
    gbs_model_release(model);
    printf("checked: standard deviations of 1e155, alone and coupled, and a start by them\n");
}

static void test_stride_and_float(void **state)
{
    gbs_context *const ctx = *state;
    enum { N = 20, STRIDE = 23 };
    double *const q = lattice(4, 5, 0.9, 0.1);
    double wide[N * STRIDE];
    float narrow[N * STRIDE];
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < STRIDE; ++j) {
            wide[i * STRIDE + j] = j < N ? (double)(float)q[i * N + j] : NAN;
            narrow[i * STRIDE + j] = j < N ? (float)q[i * N + j] : NAN;
        }
    gbs_model_spec spec = spec_of(wide, N);
    spec.row_stride = STRIDE;
    gbs_model *const from_double = new_model(ctx, &spec);
    spec.matrix = narrow;
    spec.matrix_type = GBS_F32;
    gbs_model *const from_float = new_model(ctx, &spec);
    const double *const a = gbs_model_precision(from_double);
    const double *const b = gbs_model_precision(from_float);
    for (int i = 0; i < N * N; ++i) {
        assert_near("Q by stride", i, (double)(float)q[i], a[i], 0);
        assert_near("Q from float", i, a[i], b[i], 0);
    }
    assert_memory_equal(from_double->factor, from_float->factor, N * N * sizeof(double));
    gbs_model_release(from_double);
    gbs_model_release(from_float);
    free(q);
    printf("checked: rows %d apart with NaN between, in double and widened from float\n", STRIDE);
}

/* Against the definition, summed in long double; rows apart, more than one group of them. */
static void test_log_density(void **state)
{
    gbs_context *const ctx = *state;
    enum { N = 30, ROWS = 19, STRIDE = 31 };
    double *const q = lattice(5, 6, 0.95, 0.05);
    double mean[N], x[ROWS * STRIDE], got[ROWS], zero;
    float narrow[ROWS * STRIDE];
    uint64_t seed = 4;
    for (int i = 0; i < N; ++i)
        mean[i] = next_signed(&seed);
    for (int i = 0; i < ROWS * STRIDE; ++i)
        x[i] = narrow[i] = (float)(3 * next_signed(&seed));
    gbs_model_spec spec = spec_of(q, N);
    spec.location_kind = GBS_LOCATION_MEAN;
    spec.location = mean;
    gbs_model *const model = new_model(ctx, &spec);
    for (int type = GBS_F32; type <= GBS_F64; ++type) {
        const void *const given = type == GBS_F32 ? (const void *)narrow : x;
        assert_int_equal(
            gbs_model_log_density(ctx, model, (gbs_type)type, given, ROWS, STRIDE, got), GBS_OK);
        for (int r = 0; r < ROWS; ++r) {
            long double form = 0;
            for (int i = 0; i < N; ++i)
                for (int j = 0; j < N; ++j)
                    form += (long double)q[i * N + j] * ((long double)x[r * STRIDE + i] - mean[i]) *
                            ((long double)x[r * STRIDE + j] - mean[j]);
            const double expected = (double)(-form / 2);
            /* Factorisation and product: N roundings each of a sum of positive squares. */
            assert_near("log density", r, expected, got[r], 4 * N * DBL_EPSILON * fabs(expected));
        }
    }
    assert_int_equal(gbs_model_log_density(ctx, model, GBS_F64, mean, 1, 0, &zero), GBS_OK);
    assert_true(zero == 0 && !signbit(zero));
    gbs_model_release(model);
    free(q);
    printf("checked: %d log densities in both types within %.2g relative; 0 at the mean\n", ROWS,
           4 * N * DBL_EPSILON);
}

typedef struct everything {
    double *precision, *factor, *mean, *sd, density[2];
} everything;

static everything compute_all(gbs_isa isa, const double *covariance, int64_t n)
{
    gbs_context *const ctx = new_context(isa);
    gbs_model_spec spec = spec_of(covariance, n);
    spec.matrix_kind = GBS_MATRIX_COVARIANCE;
    spec.location_kind = GBS_LOCATION_INFORMATION;
    spec.location = covariance + n;
    gbs_model *const model = new_model(ctx, &spec);
    everything all = {new_matrix(n), new_matrix(n), new_matrix(n), new_matrix(n), {0}};
    memcpy(all.precision, model->precision, (size_t)(n * n) * sizeof(double));
    memcpy(all.factor, model->factor, (size_t)(n * n) * sizeof(double));
    memcpy(all.mean, model->mean, (size_t)n * sizeof(double));
    assert_int_equal(gbs_model_sd(ctx, model, all.sd), GBS_OK);
    assert_int_equal(gbs_model_log_density(ctx, model, GBS_F64, covariance, 2, 0, all.density),
                     GBS_OK);
    gbs_context_destroy(ctx); /* a model outlives its context */
    assert_int_equal(gbs_model_dim(model), n);
    gbs_model_release(model);
    return all;
}

static void free_all(everything *all)
{
    free(all->precision);
    free(all->factor);
    free(all->mean);
    free(all->sd);
}

static void test_same_bits(void **state)
{
    (void)state;
    const int64_t n = 131;
    double *const covariance = random_matrix(n, 31);
    everything expected = compute_all(GBS_ISA_SCALAR, covariance, n);
    for (gbs_isa isa = GBS_ISA_AUTO; isa <= GBS_ISA_NEON; ++isa) {
        if (!gbs_isa_available(isa))
            continue;
        everything got = compute_all(isa, covariance, n);
        assert_memory_equal(expected.precision, got.precision, (size_t)(n * n) * sizeof(double));
        assert_memory_equal(expected.factor, got.factor, (size_t)(n * n) * sizeof(double));
        assert_memory_equal(expected.mean, got.mean, (size_t)n * sizeof(double));
        assert_memory_equal(expected.sd, got.sd, (size_t)n * sizeof(double));
        assert_memory_equal(expected.density, got.density, sizeof got.density);
        free_all(&got);
        printf("checked: %s gives scalar's bits in Q, L, mean, sd and log density\n",
               gbs_isa_name(isa));
    }
    free_all(&expected);
    free(covariance);
}

#if defined(__x86_64__)
#include <xmmintrin.h>

/* A caller whose process flushes subnormals and rounds upwards gets the same bits, and its own
 * settings back. */
static void test_floating_environment(void **state)
{
    (void)state;
    const int64_t n = 40;
    double *const covariance = random_matrix(n, 3);
    covariance[1] = covariance[n] = 0x1p-1070;
    everything expected = compute_all(GBS_ISA_AUTO, covariance, n);
    const unsigned int before = _mm_getcsr(), odd = before | 0x8040 | 0x4000;
    _mm_setcsr(odd);
    everything got = compute_all(GBS_ISA_AUTO, covariance, n);
    const unsigned int after = _mm_getcsr();
    _mm_setcsr(before);
    assert_int_equal(after & ~0x3fu, odd & ~0x3fu);
    assert_memory_equal(expected.precision, got.precision, (size_t)(n * n) * sizeof(double));
    assert_memory_equal(expected.factor, got.factor, (size_t)(n * n) * sizeof(double));
    assert_memory_equal(expected.mean, got.mean, (size_t)n * sizeof(double));
    assert_memory_equal(expected.sd, got.sd, (size_t)n * sizeof(double));
    assert_memory_equal(expected.density, got.density, sizeof got.density);
    free_all(&expected);
    free_all(&got);
    free(covariance);
    printf("checked: flush-to-zero and rounding upwards around the calls change nothing\n");
}
#else
static void test_floating_environment(void **state)
{
    (void)state;
    printf("skipped: sets the x86 control register\n");
}
#endif

/* Everything that takes memory, one request refused at a time, until none is. */
static gbs_status use_memory(gbs_context *ctx, const double *covariance, int64_t n)
{
    gbs_model_spec spec = spec_of(covariance, n);
    spec.matrix_kind = GBS_MATRIX_COVARIANCE;
    gbs_model *model = (gbs_model *)ctx;
    gbs_status status = gbs_model_create(ctx, &spec, &model);
    if (status != GBS_OK)
        assert_null(model);
    double sd[8] = {7}, density[1];
    gbs_spectrum spectrum;
    if (status == GBS_OK) {
        status = gbs_model_sd(ctx, model, sd);
        assert_true(status == GBS_OK || sd[0] == 7);
    }
    if (status == GBS_OK)
        status = gbs_model_log_density(ctx, model, GBS_F64, covariance, 1, 0, density);
    if (status == GBS_OK)
        status = gbs_model_spectrum(ctx, model, &spectrum);
    if (status == GBS_OK) {
        double rate = 7;
        status = gbs_model_gibbs_rate(ctx, model, &spectrum, 1, &rate);
        assert_true(status == GBS_OK || rate == 7);
    }
    gbs_model_release(model);
    return status;
}

static void test_refused_memory(void **state)
{
    (void)state;
    double *const covariance = random_matrix(8, 1);
    int64_t k = 0;
    for (gbs_status status = GBS_ERROR_MEMORY; status != GBS_OK; ++k) {
        counting count = {0, 0, -1};
        const gbs_context_options options = counting_options(&count);
        gbs_context *ctx;
        assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
        count.refuse = count.taken + k;
        status = use_memory(ctx, covariance, 8);
        if (status != GBS_OK && status != GBS_ERROR_MEMORY)
            fail_msg("request %lld refused: expected MEMORY, got %s", (long long)k,
                     gbs_status_name(status));
        assert_true(status == GBS_OK || strstr(gbs_context_message(ctx), "no memory") != NULL);
        gbs_context_destroy(ctx);
        if (count.taken != count.given)
            fail_msg("request %lld refused: expected no leak, got %lld blocks", (long long)k,
                     (long long)(count.taken - count.given));
    }
    /* create 6, sd 2, log density 1, spectrum 2 + 3 * 5, Gibbs rate 1 */
    assert_int_equal(k - 1, 27);
    printf("checked: each of %lld requests refused once: MEMORY, NULL, no leak\n",
           (long long)(k - 1));
    free(covariance);
}

typedef struct reader {
    gbs_model *model;
    double sd[60];
    gbs_status status;
} reader;

static void *read_sd(void *argument)
{
    reader *const r = argument;
    gbs_context *ctx = NULL;
    r->status = gbs_context_create(NULL, &ctx);
    if (r->status == GBS_OK)
        r->status = gbs_model_sd(ctx, r->model, r->sd);
    gbs_model_release(r->model);
    gbs_context_destroy(ctx);
    return NULL;
}

/* One model in several threads and contexts: the lazy standard deviations, the references. */
static void test_threads(void **state)
{
    gbs_context *const ctx = *state;
    enum { THREADS = 4, ROUNDS = 50 };
    double *const q = lattice(6, 10, 0.9, 0);
    for (int round = 0; round < ROUNDS; ++round) {
        const gbs_model_spec spec = spec_of(q, 60);
        gbs_model *const model = new_model(ctx, &spec);
        pthread_t thread[THREADS];
        reader r[THREADS];
        for (int t = 0; t < THREADS; ++t) {
            gbs_model_retain(model);
            r[t] = (reader){.model = model};
            assert_int_equal(pthread_create(&thread[t], NULL, read_sd, &r[t]), 0);
        }
        gbs_model_release(model);
        for (int t = 0; t < THREADS; ++t) {
            pthread_join(thread[t], NULL);
            assert_int_equal(r[t].status, GBS_OK);
            assert_memory_equal(r[t].sd, r[0].sd, sizeof r[0].sd);
        }
    }
    free(q);
    printf("checked: %d threads read one model's standard deviations, %d times\n", THREADS, ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_precision_and_covariance),
        cmocka_unit_test(test_scales_stay),
        cmocka_unit_test(test_location_forms),
        cmocka_unit_test(test_known_variances),
        cmocka_unit_test(test_large_deviations),
        cmocka_unit_test(test_stride_and_float),
        cmocka_unit_test(test_log_density),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_floating_environment),
        cmocka_unit_test(test_refused_memory),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
