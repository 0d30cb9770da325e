/* What a sampler refuses at creation, and in which words: every argument by name and number, the
 * limits of the streams, coefficients that do not fit their type. */
#include "unit/sampler_fixture.h"

static const int64_t many = INT64_C(1) << 40; /* chains */
static const int64_t ages = INT64_C(1) << 48; /* sweeps */

static void test_null(void **state)
{
    fixture *const f = *state;
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    gbs_sampler *sampler = (gbs_sampler *)f;
    assert_int_equal(gbs_sampler_create(NULL, f->model, &spec, &sampler), GBS_ERROR_ARGUMENT);
    assert_null(sampler);
    assert_said(f, GBS_ERROR_ARGUMENT, "must not be NULL",
                gbs_sampler_create(f->ctx, NULL, &spec, &sampler));
    assert_said(f, GBS_ERROR_ARGUMENT, "must not be NULL",
                gbs_sampler_create(f->ctx, f->model, NULL, &sampler));
    assert_said(f, GBS_ERROR_ARGUMENT, "must not be NULL",
                gbs_sampler_create(f->ctx, f->model, &spec, NULL));
    gbs_sampler_destroy(NULL);
    double x[3];
    assert_int_equal(gbs_sampler_run(NULL, 1), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_sampler_get_state(NULL, x), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_sampler_set_state(NULL, x), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_sampler_sample(NULL, 1, 1, NULL), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_sampler_get_torch_state(NULL, x, 16), GBS_ERROR_ARGUMENT);
}

static void test_default(void **state)
{
    fixture *const f = *state;
    const gbs_sampler_spec spec = gbs_sampler_spec_default();
    assert_int_equal(spec.type, GBS_F64);
    assert_int_equal(spec.method, GBS_METHOD_GIBBS);
    assert_int_equal(spec.chains, 1);
    assert_int_equal(spec.order, GBS_ORDER_FORWARD);
    assert_true(spec.omega == 1);
    assert_int_equal(spec.start, GBS_START_OVERDISPERSED);
    assert_int_equal(spec.stream.kind, GBS_STREAM_NATIVE);
    gbs_sampler *const sampler = make_sampler(f, &spec);
    assert_int_equal(gbs_sampler_next_sweep(sampler), 0);
    gbs_sampler_destroy(sampler);
    printf("checked: the default is one double chain, forward Gibbs, overdispersed, native\n");
}

static void test_counts(void **state)
{
    const fixture *const f = *state;
    const gbs_sampler_spec good = gbs_sampler_spec_default();
    gbs_sampler_spec spec = good;
    spec.type = (gbs_type)2;
    assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "type: 2");
    spec = good;
    spec.chains = 0;
    assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "chains: 0");
    spec.chains = -5;
    assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "chains: -5");
    spec = good;
    spec.first_chain = -1;
    assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "first_chain: -1");
    spec = good;
    spec.first_sweep = -2;
    assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "first_sweep: -2");
}

static void test_limits(void **state)
{
    const fixture *const f = *state;
    const gbs_sampler_spec good = gbs_sampler_spec_default();
    gbs_sampler_spec spec = good;
    spec.first_chain = many;
    assert_refused(f, &spec, GBS_ERROR_LIMIT, "from number 1099511627776");
    spec.first_chain = many - 1;
    spec.chains = 2;
    assert_refused(f, &spec, GBS_ERROR_LIMIT, "chains: 2 from number 1099511627775");
    spec.first_chain = 1;
    spec.chains = INT64_MAX;
    assert_refused(f, &spec, GBS_ERROR_LIMIT, "chains: 9223372036854775807 from number 1");
    spec = good;
    spec.first_sweep = ages;
    assert_refused(f, &spec, GBS_ERROR_LIMIT, "first_sweep: 281474976710656");
    spec.first_sweep = ages / 2;
    spec.order = GBS_ORDER_SYMMETRIC;
    assert_refused(f, &spec, GBS_ERROR_LIMIT, "first_sweep: 140737488355328");
    spec = good;
    spec.first_chain = many - 1;
    spec.first_sweep = ages - 1;
    gbs_sampler_destroy(make_sampler(f, &spec));
    spec.first_sweep = ages / 2 - 1;
    spec.order = GBS_ORDER_SYMMETRIC;
    gbs_sampler_destroy(make_sampler(f, &spec));
    printf("checked: the last chain and the last sweep are taken\n");
}

static void test_method(void **state)
{
    const fixture *const f = *state;
    const gbs_sampler_spec good = gbs_sampler_spec_default();
    static const struct {
        double omega;
        const char *words;
    } omegas[] = {{0, "omega: 0"},
                  {2, "omega: 2"},
                  {-1, "omega: -1"},
                  {NAN, "omega: "},
                  {INFINITY, "omega: inf"}};
    gbs_sampler_spec spec = good;
    spec.method = (gbs_method)3;
    assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "method: 3");
    spec = good;
    spec.order = (gbs_order)4;
    assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "order: 4");
    spec = good;
    spec.start = (gbs_start)-1;
    assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "start: -1");
    for (size_t k = 0; k < sizeof omegas / sizeof *omegas; ++k) {
        spec = good;
        spec.omega = omegas[k].omega;
        assert_refused(f, &spec, GBS_ERROR_ARGUMENT, omegas[k].words);
    }
    for (int k = 0; k < 4; ++k) {
        spec = good;
        spec.method = GBS_METHOD_EXACT;
        spec.order = k == 0 ? GBS_ORDER_BACKWARD : k == 1 ? GBS_ORDER_SYMMETRIC : spec.order;
        spec.omega = k == 2 ? 1.5 : 1;
        spec.start = k == 3 ? GBS_START_ZERO : spec.start;
        assert_refused(f, &spec, GBS_ERROR_ARGUMENT,
                       k == 0   ? "order is 1"
                       : k == 1 ? "order is 2"
                       : k == 2 ? "omega 1.5"
                                : "start 1");
    }
}

static void test_initial(void **state)
{
    const fixture *const f = *state;
    double x[6] = {0, 1, 2, 3, NAN, 5};
    float narrow[3] = {0, 1, -INFINITY};
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.chains = 2;
    spec.start = GBS_START_GIVEN;
    assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "initial: NULL");
    spec.initial = x;
    assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "initial_rows: 0");
    spec.initial_rows = 3;
    assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "initial_rows: 3");
    spec.initial_rows = 2;
    assert_refused(f, &spec, GBS_ERROR_NOT_FINITE, "initial: chain 1, site 1");
    spec.type = GBS_F32;
    spec.initial = narrow;
    spec.initial_rows = 1;
    assert_refused(f, &spec, GBS_ERROR_NOT_FINITE, "initial: chain 0, site 2");
}

static void test_permutation(void **state)
{
    const fixture *const f = *state;
    static const int64_t outside[3] = {0, 3, 1}, below[3] = {0, 1, -1}, twice[3] = {2, 0, 2};
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.order = GBS_ORDER_PERMUTED;
    assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "permutation: NULL");
    spec.permutation = outside;
    assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "permutation: entry 1 is 3");
    spec.permutation = below;
    assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "permutation: entry 2 is -1");
    spec.permutation = twice;
    assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "permutation: site 2 is at places 0 and 2");
}

static void test_given_stream(void **state)
{
    const fixture *const f = *state;
    static const double z[3];
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.stream.kind = (gbs_stream)4;
    assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "stream: 4");
    spec.stream.kind = GBS_STREAM_GIVEN;
    spec.stream.noise_sweeps = 1;
    assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "noise: NULL");
    spec.stream.noise = z;
    spec.stream.noise_sweeps = -3;
    assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "noise_sweeps: -3");
    spec.stream.noise_sweeps = 1;
    spec.stream.noise_type = (gbs_type)7;
    assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "noise_type: 7");

    /* [2 sweeps][3 sites][2 chains]; 1e300 is finite, but not in float */
    double noise[12] = {0};
    spec.stream.noise = noise;
    spec.stream.noise_type = GBS_F64;
    spec.stream.noise_sweeps = 2;
    spec.chains = 2;
    noise[6 + 3] = NAN;
    assert_refused(f, &spec, GBS_ERROR_NOT_FINITE, "noise: sweep 1, site 1, chain 1 is nan");
    noise[6 + 3] = 1e300;
    spec.type = GBS_F32;
    assert_refused(f, &spec, GBS_ERROR_NOT_FINITE,
                   "noise: sweep 1, site 1, chain 1 is 1e+300, not finite in float");
}

static void test_torch_streams(void **state)
{
    const fixture *const f = *state;
    unsigned char zeros[GBS_TORCH_CPU_STATE_BYTES] = {0};
    gbs_sampler_spec good = gbs_sampler_spec_default(), spec;
    for (gbs_stream kind = GBS_STREAM_TORCH_CPU; kind <= GBS_STREAM_TORCH_CUDA; ++kind) {
        good.stream.kind = kind;
        good.stream.cuda_multiprocessors = 132;
        good.stream.cuda_threads_per_multiprocessor = 2048;
        spec = good;
        spec.first_chain = 12;
        assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "first_chain: 12");
        spec = good;
        spec.first_sweep = 34;
        assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "first_sweep: 34");
        spec = good;
        spec.stream.torch_state = zeros;
        spec.stream.torch_state_bytes = 17;
        assert_refused(f, &spec, GBS_ERROR_STATE, "torch_state: 17 bytes");
    }
    spec = good;
    spec.stream.kind = GBS_STREAM_TORCH_CPU;
    spec.stream.torch_state = zeros;
    spec.stream.torch_state_bytes = GBS_TORCH_CPU_STATE_BYTES;
    assert_refused(f, &spec, GBS_ERROR_STATE, "torch_state: not a state");
    spec = good;
    spec.stream.cuda_multiprocessors = 0;
    assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "cuda_multiprocessors: 0");
    spec = good;
    spec.stream.cuda_threads_per_multiprocessor = 255;
    assert_refused(f, &spec, GBS_ERROR_ARGUMENT, "cuda_threads_per_multiprocessor: 255");
    spec = good;
    spec.chains = (INT64_C(1) << 29) + 1;
    assert_refused(f, &spec, GBS_ERROR_LIMIT, "chains: 536870913");
}

/* ---- coefficients that do not fit ---- */

static void check_coefficients(const fixture *f, const double q[4], gbs_location kind,
                               const double *location, gbs_method method, const char *words)
{
    fixture other = *f;
    gbs_model_spec model_spec = spec_of(q, 2);
    model_spec.location_kind = kind;
    model_spec.location = location;
    other.model = new_model(f->ctx, &model_spec);
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.method = method;
    gbs_sampler_destroy(make_sampler(&other, &spec)); /* fits in double */
    spec.type = GBS_F32;
    gbs_sampler *sampler = NULL;
    assert_said(f, GBS_ERROR_NOT_FINITE, words,
                gbs_sampler_create(f->ctx, other.model, &spec, &sampler));
    assert_null(sampler);
    gbs_model_release(other.model);
}

static void test_coefficients(void **state)
{
    const fixture *const f = *state;
    static const double narrow[4] = {1, 0, 0, 1e80}, wide[4] = {1e-80, 0, 0, 1};
    static const double steep[4] = {1e-70, 3e-31, 3e-31, 1e10}, unit[4] = {1, 0, 0, 1};
    static const double tight[4] = {1, -0.9999999, -0.9999999, 1}, far[2] = {0, 1e39};
    static const double push[2] = {1e33, 1e33};
    check_coefficients(f, narrow, GBS_LOCATION_ZERO, NULL, GBS_METHOD_GIBBS,
                       "site 1: its conditional standard deviation");
    check_coefficients(f, wide, GBS_LOCATION_ZERO, NULL, GBS_METHOD_GIBBS,
                       "site 0: its conditional standard deviation");
    check_coefficients(f, unit, GBS_LOCATION_INFORMATION, far, GBS_METHOD_GIBBS,
                       "site 1: its constant");
    check_coefficients(f, steep, GBS_LOCATION_ZERO, NULL, GBS_METHOD_GIBBS,
                       "site 0: its coefficient with site 1, -3e+39, does not fit in float");
    check_coefficients(f, narrow, GBS_LOCATION_ZERO, NULL, GBS_METHOD_EXACT,
                       "site 1: its Cholesky factor, 1e+40, does not fit in float");
    check_coefficients(f, wide, GBS_LOCATION_ZERO, NULL, GBS_METHOD_EXACT,
                       "site 0: its conditional standard deviation, 1e+40, does not fit in float");
    /* coefficients that fit, about a mean that does not */
    check_coefficients(f, tight, GBS_LOCATION_INFORMATION, push, GBS_METHOD_GIBBS,
                       "mean: site 0: 1.0000000005263557e+40 does not fit in float");
    check_coefficients(f, unit, GBS_LOCATION_MEAN, far, GBS_METHOD_EXACT,
                       "mean: site 1: 9.9999999999999994e+38 does not fit in float");
}

int main(void)
{
#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_null),          FIXTURE_TEST(test_default),
        FIXTURE_TEST(test_counts),        FIXTURE_TEST(test_limits),
        FIXTURE_TEST(test_method),        FIXTURE_TEST(test_initial),
        FIXTURE_TEST(test_permutation),   FIXTURE_TEST(test_given_stream),
        FIXTURE_TEST(test_torch_streams), FIXTURE_TEST(test_coefficients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
