/* Samplers of models with bounds: what cannot be asked for, starts and states inside, boxes that
 * leave a site one number or none, extremes, checkpoints, and a device, which refuses. */
#include "unit/sampler_fixture.h"

#include <float.h>

enum { SITES = 3, CHAINS = 70 };

static const double infinite = (double)INFINITY, none = -(double)INFINITY;

/* The fixture's model, mean (1, 2, 3), in a box. */
static gbs_model *boxed(gbs_context *ctx, const double *lower, const double *upper)
{
    gbs_model_spec spec = spec_of(fixture_precision, SITES);
    spec.location_kind = GBS_LOCATION_MEAN;
    spec.location = fixture_mean;
    spec.lower = lower;
    spec.upper = upper;
    return new_model(ctx, &spec);
}

static gbs_sampler_spec plain_spec(gbs_type type)
{
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.type = type;
    spec.chains = CHAINS;
    spec.seed = 5;
    return spec;
}

static void widen(gbs_type type, double *x, int64_t count)
{
    for (int64_t k = count; type == GBS_F32 && k-- > 0;)
        x[k] = (double)((const float *)(const void *)x)[k];
}

static void read_state(const gbs_sampler *sampler, gbs_type type, double *x)
{
    assert_int_equal(gbs_sampler_get_state(sampler, x), GBS_OK);
    widen(type, x, CHAINS * SITES);
}

/* ---- refusals ---- */

static void test_refused(void **state)
{
    fixture f = *(fixture *)*state;
    const double lower[SITES] = {0, none, none}, upper[SITES] = {2, infinite, infinite};
    static const double noise[SITES * CHAINS];
    static const uint64_t words[SITES * CHAINS];
    f.model = boxed(f.ctx, lower, upper);
    gbs_sampler_spec spec = plain_spec(GBS_F64);
    spec.omega = 1.2;
    assert_refused(&f, &spec, GBS_ERROR_ARGUMENT, "omega: 1.2");
    spec = plain_spec(GBS_F64);
    spec.method = GBS_METHOD_EXACT;
    assert_refused(&f, &spec, GBS_ERROR_ARGUMENT,
                   "method: exact draws know no bounds, which 1 site has");
    spec = plain_spec(GBS_F64);
    spec.stream.kind = GBS_STREAM_TORCH_CPU;
    assert_refused(&f, &spec, GBS_ERROR_ARGUMENT, "stream: torch's streams are of normals");
    spec.stream.kind = GBS_STREAM_TORCH_CUDA;
    spec.stream.cuda_multiprocessors = 132;
    spec.stream.cuda_threads_per_multiprocessor = 2048;
    assert_refused(&f, &spec, GBS_ERROR_ARGUMENT, "stream: torch's streams are of normals");
    static const double bad[] = {-0.1, 1, 1.5, (double)NAN, INFINITY};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
        spec = plain_spec(GBS_F64);
        spec.overrelax = bad[k];
        assert_refused(&f, &spec, GBS_ERROR_ARGUMENT, "overrelax: ");
    }
    spec = plain_spec(GBS_F64);
    spec.stream = (gbs_stream_spec){
        .kind = GBS_STREAM_GIVEN, .noise_type = GBS_F64, .noise = noise, .noise_sweeps = 1};
    assert_refused(&f, &spec, GBS_ERROR_ARGUMENT, "words: NULL");
    spec.stream.words = words;
    spec.stream.noise = NULL;
    assert_refused(&f, &spec, GBS_ERROR_ARGUMENT, "noise: NULL");
    spec.stream.noise = noise;
    spec.overrelax = 0.5;
    assert_refused(&f, &spec, GBS_ERROR_ARGUMENT, "the given stream has no numbers");
    gbs_model_release(f.model);

    f.model = ((fixture *)*state)->model;
    spec = plain_spec(GBS_F64);
    spec.overrelax = 0.5;
    spec.omega = 1.2;
    assert_refused(&f, &spec, GBS_ERROR_ARGUMENT, "overrelax: 0.5, and omega is 1.2");
    spec.omega = 1;
    spec.method = GBS_METHOD_EXACT;
    assert_refused(&f, &spec, GBS_ERROR_ARGUMENT, "method: exact draws are independent");
}

/* All sites between bounds take words alone. */
static void test_words_alone(void **state)
{
    fixture f = *(fixture *)*state;
    const double lower[SITES] = {0, 0, 0}, upper[SITES] = {2, 5, infinite};
    static uint32_t words[2][SITES][CHAINS];
    double got[SITES * CHAINS], expected[SITES * CHAINS];
    for (int pass = 0; pass < 2; ++pass)
        assert_int_equal(gbs_native_words(f.ctx, GBS_F32, 5, pass, 0, CHAINS, SITES, words[pass]),
                         GBS_OK);
    f.model = boxed(f.ctx, lower, upper);
    gbs_sampler_spec spec = plain_spec(GBS_F32);
    gbs_sampler *native = make_sampler(&f, &spec);
    spec.stream = (gbs_stream_spec){.kind = GBS_STREAM_GIVEN, .words = words, .noise_sweeps = 2};
    gbs_sampler *given = make_sampler(&f, &spec);
    assert_int_equal(gbs_sampler_run(native, 2), GBS_OK);
    assert_int_equal(gbs_sampler_run(given, 2), GBS_OK);
    read_state(native, GBS_F32, expected);
    read_state(given, GBS_F32, got);
    assert_memory_equal(expected, got, sizeof got);
    assert_said(&f, GBS_ERROR_EXHAUSTED, "noise is for 2", gbs_sampler_run(given, 1));
    gbs_sampler_destroy(native);
    gbs_sampler_destroy(given);
    gbs_model_release(f.model);
    printf("checked: given words alone, where every site has bounds\n");
}

/* ---- starts and states ---- */

static void test_starts(void **state)
{
    fixture f = *(fixture *)*state;
    const double lower[SITES] = {1.5, none, 2.9}, upper[SITES] = {infinite, 1.75, 3.1};
    const double zero[SITES] = {1.5, 0, 2.9}, mean[SITES] = {1.5, 1.75, 3};
    double x[SITES * CHAINS];
    f.model = boxed(f.ctx, lower, upper);
    for (int type = GBS_F32; type <= GBS_F64; ++type)
        for (int start = GBS_START_OVERDISPERSED; start <= GBS_START_MEAN; ++start) {
            gbs_sampler_spec spec = plain_spec((gbs_type)type);
            spec.start = (gbs_start)start;
            gbs_sampler *const sampler = make_sampler(&f, &spec);
            int moved = 0;
            read_state(sampler, (gbs_type)type, x);
            for (int at = 0; at < SITES * CHAINS; ++at) {
                const int i = at % SITES;
                assert_true(x[at] >= lower[i] && x[at] <= upper[i]);
                const double expected = start == GBS_START_ZERO ? zero[i] : mean[i];
                if (start != GBS_START_OVERDISPERSED &&
                    fabs(x[at] - expected) > 0x1p-22) /* one step of float at 2.9 */
                    fail_msg("start %d, site %d: expected %g, got %g", start, i, expected, x[at]);
                moved += x[at] != x[i];
            }
            assert_int_equal(moved > 0, start == GBS_START_OVERDISPERSED);
            gbs_sampler_destroy(sampler);
        }
    gbs_model_release(f.model);
    printf("checked: zero, mean and overdispersed starts are held inside\n");
}

static void test_states_outside(void **state)
{
    fixture f = *(fixture *)*state;
    const double lower[SITES] = {0, none, 0.5}, upper[SITES] = {2, infinite, 0.5};
    double x[SITES * CHAINS], before[SITES * CHAINS], after[SITES * CHAINS];
    f.model = boxed(f.ctx, lower, upper);
    gbs_sampler_spec spec = plain_spec(GBS_F64);
    for (int at = 0; at < SITES * CHAINS; ++at)
        x[at] = at % SITES == 0 ? 1 : 77; /* site 2 is fixed: whatever is given is not looked at */
    spec.start = GBS_START_GIVEN;
    spec.initial = x;
    spec.initial_rows = CHAINS;
    gbs_sampler *const sampler = make_sampler(&f, &spec);
    read_state(sampler, GBS_F64, before);
    assert_true(before[2] == 0.5 && before[1] == 77);
    x[4 * SITES] = 2.5;
    assert_refused(&f, &spec, GBS_ERROR_ARGUMENT,
                   "initial: chain 4, site 0 is 2.5, above its upper bound 2");
    assert_said(&f, GBS_ERROR_ARGUMENT, "x: chain 4, site 0 is 2.5, above its upper bound 2",
                gbs_sampler_set_state(sampler, x));
    x[4 * SITES] = -0x1p-1000;
    assert_said(&f, GBS_ERROR_ARGUMENT, "x: chain 4, site 0 is -9.33", /* below by nearly nothing */
                gbs_sampler_set_state(sampler, x));
    read_state(sampler, GBS_F64, after);
    assert_memory_equal(before, after, sizeof after);
    x[4 * SITES] = 2;
    assert_int_equal(gbs_sampler_set_state(sampler, x), GBS_OK);
    gbs_sampler_destroy(sampler);
    gbs_model_release(f.model);
}

/* ---- boxes with room for one number, or none ---- */

static void test_held(void **state)
{
    fixture f = *(fixture *)*state;
    /* site 0: nothing of float inside, 1 nearest; site 1: 1.5 alone; site 2: 1e300 and up */
    const double lower[SITES] = {1 + 0x1p-26, 1.5 - 0x1p-30, 1e300};
    const double upper[SITES] = {1 + 0x1p-25, 1.5 + 0x1p-30, infinite};
    const double expected[SITES] = {1, 1.5, (double)FLT_MAX};
    double x[SITES * CHAINS];
    f.model = boxed(f.ctx, lower, upper);
    for (int k = 0; k < 2; ++k) {
        gbs_sampler_spec spec = plain_spec(GBS_F32);
        spec.overrelax = k == 0 ? 0 : 0.8;
        gbs_sampler *const sampler = make_sampler(&f, &spec);
        for (int sweep = 0; sweep < 3; ++sweep) {
            read_state(sampler, GBS_F32, x);
            for (int at = 0; at < SITES * CHAINS; ++at)
                if (x[at] != expected[at % SITES])
                    fail_msg("site %d: expected %g, got %g, bound 0", at % SITES,
                             expected[at % SITES], x[at]);
            assert_int_equal(gbs_sampler_run(sampler, 1), GBS_OK);
        }
        gbs_sampler_destroy(sampler);
    }
    gbs_model_release(f.model);
    printf("checked: sites whose box holds one number of float, or none\n");
}

/* Bounds from nowhere to everywhere: every draw is finite and inside, after any state inside. */
static void test_extremes(void **state)
{
    fixture f = *(fixture *)*state;
    static const double boxes[][2] = {
        {1e300, INFINITY},     {-INFINITY, -1e300}, {-1e300, 1e300},     {-1e300, INFINITY},
        {1e9, INFINITY},       {1e9, 1e9 + 1},      {-1e-300, 1e-300},   {0, 1e-320},
        {0, 0x1p-1074},        {-DBL_MAX, DBL_MAX}, {DBL_MAX, INFINITY}, {1e17, 1e17 + 64},
        {-INFINITY, -FLT_MAX}, {40, INFINITY},      {-1e5, -4e4},        {3e38, INFINITY}};
    const double q = 0.25, mu = 0.5;
    int64_t drawn = 0;
    for (size_t k = 0; k < sizeof boxes / sizeof *boxes; ++k)
        for (int type = GBS_F32; type <= GBS_F64; ++type)
            for (int r = 0; r < 2; ++r) {
                double x[CHAINS];
                gbs_model_spec m = spec_of(&q, 1);
                m.location_kind = GBS_LOCATION_MEAN;
                m.location = &mu;
                m.lower = &boxes[k][0];
                m.upper = &boxes[k][1];
                f.model = new_model(f.ctx, &m);
                gbs_sampler_spec spec = plain_spec((gbs_type)type);
                spec.overrelax = r == 0 ? 0 : 0.9;
                gbs_sampler *const sampler = make_sampler(&f, &spec);
                gbs_boxes told;
                assert_int_equal(gbs_model_boxes(f.ctx, f.model, (gbs_type)type, &told), GBS_OK);
                for (int sweep = 0; sweep < 5; ++sweep) {
                    assert_int_equal(gbs_sampler_run(sampler, 1), GBS_OK);
                    assert_int_equal(gbs_sampler_get_state(sampler, x), GBS_OK);
                    widen((gbs_type)type, x, CHAINS);
                    for (int c = 0; c < CHAINS; ++c, ++drawn)
                        if (!isfinite(x[c]) ||
                            (told.empty == 0 && !(x[c] >= boxes[k][0] && x[c] <= boxes[k][1])))
                            fail_msg("[%g, %g], type %d, r %g: %a", boxes[k][0], boxes[k][1], type,
                                     spec.overrelax, x[c]);
                }
                if (boxes[k][0] == 1e300 && type == GBS_F64)
                    assert_true(x[0] == 1e300);
                gbs_sampler_destroy(sampler);
                gbs_model_release(f.model);
            }
    printf("checked: %lld draws of extreme boxes, finite and inside\n", (long long)drawn);
}

/* Without bounds in the type, the bounded kernels are not used; r is then an omega of 1 + r. */
static void test_no_bounds_in_the_type(void **state)
{
    fixture f = *(fixture *)*state;
    const double lower[SITES] = {-1e300, none, -1e100}, upper[SITES] = {1e300, 1e40, infinite};
    double got[SITES * CHAINS], expected[SITES * CHAINS];
    gbs_sampler_spec spec = plain_spec(GBS_F32);
    spec.omega = 1.75;
    gbs_sampler *sampler = make_sampler(&f, &spec);
    assert_int_equal(gbs_sampler_run(sampler, 5), GBS_OK);
    read_state(sampler, GBS_F32, expected);
    gbs_sampler_destroy(sampler);
    f.model = boxed(f.ctx, lower, upper);
    spec.omega = 1;
    spec.overrelax = 0.75;
    sampler = make_sampler(&f, &spec);
    assert_int_equal(gbs_sampler_run(sampler, 5), GBS_OK);
    read_state(sampler, GBS_F32, got);
    assert_memory_equal(expected, got, sizeof got);
    assert_null(strstr(gbs_sampler_kernel(sampler), "bounded"));
    gbs_sampler_destroy(sampler);
    gbs_model_release(f.model);
    printf("checked: bounds beyond float are none, and overrelax .75 is then omega 1.75\n");
}

/* ---- checkpoints ---- */

static void test_checkpoint(void **state)
{
    fixture f = *(fixture *)*state;
    const double lower[SITES] = {0, none, 1}, upper[SITES] = {2, infinite, 4};
    const double other[SITES] = {2, infinite, 4.5};
    double got[SITES * CHAINS], expected[SITES * CHAINS];
    size_t bytes;
    f.model = boxed(f.ctx, lower, upper);
    gbs_sampler_spec spec = plain_spec(GBS_F64);
    spec.overrelax = 0.6;
    gbs_sampler *const whole = make_sampler(&f, &spec), *const part = make_sampler(&f, &spec);
    assert_int_equal(gbs_sampler_run(whole, 9), GBS_OK);
    assert_int_equal(gbs_sampler_run(part, 4), GBS_OK);
    assert_int_equal(gbs_checkpoint_size(part, NULL, &bytes), GBS_OK);
    unsigned char *const kept = malloc(bytes);
    assert_int_equal(gbs_checkpoint_write(part, NULL, NULL, kept, bytes), GBS_OK);
    gbs_sampler_destroy(part);
    gbs_checkpoint_info info;
    assert_int_equal(gbs_checkpoint_inspect(f.ctx, kept, bytes, &info), GBS_OK);
    assert_true(info.overrelax == 0.6 && info.omega == 1);

    gbs_sampler *resumed = make_sampler(&f, &spec);
    assert_int_equal(gbs_checkpoint_read(resumed, NULL, kept, bytes), GBS_OK);
    assert_int_equal(gbs_sampler_run(resumed, 5), GBS_OK);
    read_state(whole, GBS_F64, expected);
    read_state(resumed, GBS_F64, got);
    assert_memory_equal(expected, got, sizeof got);
    gbs_sampler_destroy(resumed);
    gbs_sampler_destroy(whole);

    spec.overrelax = 0.5;
    resumed = make_sampler(&f, &spec);
    assert_said(&f, GBS_ERROR_STATE, "its overrelax is 0.5999",
                gbs_checkpoint_read(resumed, NULL, kept, bytes));
    gbs_sampler_destroy(resumed);
    gbs_model_release(f.model);
    f.model = boxed(f.ctx, lower, other);
    spec.overrelax = 0.6;
    resumed = make_sampler(&f, &spec);
    assert_said(&f, GBS_ERROR_STATE, "its set of bounds is another one",
                gbs_checkpoint_read(resumed, NULL, kept, bytes));
    gbs_sampler_destroy(resumed);
    gbs_model_release(f.model);
    free(kept);
}

/* ---- memory ---- */

/* Every block that planning takes, refused in turn: MEMORY, and nothing kept. */
static void test_memory(void **state)
{
    fixture *const f = *state;
    const double lower[SITES] = {0, none, 1}, upper[SITES] = {2, infinite, 4};
    gbs_model *const unbounded = f->model;
    f->model = boxed(f->ctx, lower, upper);
    gbs_sampler_spec spec = plain_spec(GBS_F32);
    spec.overrelax = 0.6;
    int64_t refused = 0;
    for (;; ++refused) {
        const int64_t held = f->memory.taken - f->memory.given;
        gbs_sampler *sampler = NULL;
        f->memory.refuse = f->memory.taken + refused;
        const gbs_status status = gbs_sampler_create(f->ctx, f->model, &spec, &sampler);
        f->memory.refuse = -1;
        if (status == GBS_OK) {
            gbs_sampler_destroy(sampler);
            break;
        }
        assert_int_equal(status, GBS_ERROR_MEMORY);
        assert_null(sampler);
        assert_int_equal(f->memory.taken - f->memory.given, held);
    }
    gbs_model_release(f->model);
    f->model = unbounded;
    assert_true(refused > 8);
    printf("checked: %lld refused blocks\n", (long long)refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_refused, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_words_alone, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_starts, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_states_outside, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_held, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_extremes, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_no_bounds_in_the_type, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_checkpoint, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_memory, open_fixture, close_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
