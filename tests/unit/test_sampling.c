/* What a sampler does when it runs: counting, thinning, shapes, strides, callbacks that stop, state
 * read and replaced, ends of streams and of given noise; and what it refuses on the way, leaving
 * the chains where they were. */
#include "unit/matrices.h"
#include "unit/sampler_fixture.h"

enum { CHAINS = 5, SITES = 3, STATE = CHAINS * SITES };

static gbs_sampler_spec five_chains(void)
{
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.chains = CHAINS;
    spec.seed = 77;
    return spec;
}

static void assert_state(const gbs_sampler *sampler, const double *expected)
{
    double x[STATE];
    assert_int_equal(gbs_sampler_get_state(sampler, x), GBS_OK);
    for (int k = 0; k < STATE; ++k)
        if (x[k] != expected[k])
            fail_msg("chain %d, site %d: expected %a, got %a, bound 0", k / SITES, k % SITES,
                     expected[k], x[k]);
}

/* Every call on the sampler that must fail leaves its state and its count alone. */
static void assert_untouched(const fixture *f, gbs_sampler *sampler, const double *x, int64_t next,
                             gbs_status status, const char *words, gbs_status got)
{
    assert_said(f, status, words, got);
    assert_state(sampler, x);
    assert_int_equal(gbs_sampler_next_sweep(sampler), next);
}

/* ---- runs ---- */

static void test_counting(void **state)
{
    const fixture *const f = *state;
    gbs_sampler_spec spec = five_chains();
    spec.first_sweep = 100;
    gbs_sampler *const sampler = make_sampler(f, &spec);
    double x[STATE];
    assert_int_equal(gbs_sampler_next_sweep(sampler), 100);
    assert_int_equal(gbs_sampler_get_state(sampler, x), GBS_OK);
    assert_int_equal(gbs_sampler_run(sampler, 0), GBS_OK);
    assert_state(sampler, x);
    assert_untouched(f, sampler, x, 100, GBS_ERROR_ARGUMENT, "sweeps: -1",
                     gbs_sampler_run(sampler, -1));
    assert_int_equal(gbs_sampler_run(sampler, 7), GBS_OK);
    assert_int_equal(gbs_sampler_next_sweep(sampler), 107);
    const gbs_sink sink = {.out = NULL};
    assert_int_equal(gbs_sampler_sample(sampler, 4, 5, &sink), GBS_OK);
    assert_int_equal(gbs_sampler_next_sweep(sampler), 127);
    assert_int_equal(gbs_sampler_get_state(sampler, x), GBS_OK);
    assert_untouched(f, sampler, x, 127, GBS_ERROR_ARGUMENT, "x: NULL",
                     gbs_sampler_set_state(sampler, NULL));
    assert_said(f, GBS_ERROR_ARGUMENT, "x: NULL", gbs_sampler_get_state(sampler, NULL));
    gbs_sampler_destroy(sampler);
}

/* The last sweeps of the stream, for one pass a sweep and for two. */
static void test_end_of_stream(void **state)
{
    const fixture *const f = *state;
    for (int symmetric = 0; symmetric < 2; ++symmetric) {
        const int64_t end = (INT64_C(1) << 48) >> symmetric;
        gbs_sampler_spec spec = five_chains();
        spec.order = symmetric ? GBS_ORDER_SYMMETRIC : GBS_ORDER_FORWARD;
        spec.first_sweep = end - 3;
        gbs_sampler *const sampler = make_sampler(f, &spec);
        const gbs_sink sink = {.out = NULL};
        double x[STATE];
        assert_int_equal(gbs_sampler_run(sampler, 1), GBS_OK);
        assert_int_equal(gbs_sampler_get_state(sampler, x), GBS_OK);
        assert_untouched(f, sampler, x, end - 2, GBS_ERROR_LIMIT, "sweeps: 3 more",
                         gbs_sampler_run(sampler, 3));
        assert_untouched(f, sampler, x, end - 2, GBS_ERROR_LIMIT, "sweeps: 9223372036854775807",
                         gbs_sampler_run(sampler, INT64_MAX));
        assert_untouched(f, sampler, x, end - 2, GBS_ERROR_LIMIT, "sweeps: 4 more",
                         gbs_sampler_sample(sampler, 2, 2, &sink));
        assert_int_equal(gbs_sampler_run(sampler, 2), GBS_OK);
        gbs_sampler_destroy(sampler);
    }
}

static void test_exhausted(void **state)
{
    const fixture *const f = *state;
    enum { PASSES = 7 };
    static double noise[PASSES * STATE];
    for (int k = 0; k < PASSES * STATE; ++k)
        noise[k] = sin(k);
    for (int symmetric = 0; symmetric < 2; ++symmetric) {
        const int64_t sweeps = symmetric ? 3 : 7; /* half a symmetric sweep cannot be run */
        gbs_sampler_spec spec = five_chains();
        spec.order = symmetric ? GBS_ORDER_SYMMETRIC : GBS_ORDER_FORWARD;
        spec.stream.kind = GBS_STREAM_GIVEN;
        spec.stream.noise = noise;
        spec.stream.noise_sweeps = PASSES;
        gbs_sampler *const sampler = make_sampler(f, &spec);
        const gbs_sink sink = {.out = NULL};
        double x[STATE];
        assert_int_equal(gbs_sampler_run(sampler, sweeps - 1), GBS_OK);
        assert_int_equal(gbs_sampler_get_state(sampler, x), GBS_OK);
        assert_untouched(f, sampler, x, sweeps - 1, GBS_ERROR_EXHAUSTED, "sweeps: 2 more",
                         gbs_sampler_run(sampler, 2));
        assert_untouched(f, sampler, x, sweeps - 1, GBS_ERROR_EXHAUSTED, "sweeps: 3 more",
                         gbs_sampler_sample(sampler, 1, 3, &sink));
        assert_int_equal(gbs_sampler_run(sampler, 1), GBS_OK);
        gbs_sampler_destroy(sampler);
    }
}

/* ---- state ---- */

static void test_set_state(void **state)
{
    const fixture *const f = *state;
    static const int64_t permutation[SITES] = {2, 0, 1};
    for (gbs_order order = GBS_ORDER_FORWARD; order <= GBS_ORDER_PERMUTED; ++order) {
        gbs_sampler_spec spec = five_chains();
        double x[STATE], bad[STATE], after[STATE];
        spec.order = order;
        spec.permutation = permutation;
        gbs_sampler *const sampler = make_sampler(f, &spec), *const twin = make_sampler(f, &spec);
        for (int k = 0; k < STATE; ++k)
            x[k] = bad[k] = 1 + 0.125 * k;
        assert_int_equal(gbs_sampler_set_state(sampler, x), GBS_OK);
        assert_state(sampler, x);
        bad[2 * SITES + 1] = NAN;
        assert_untouched(f, sampler, x, 0, GBS_ERROR_NOT_FINITE, "x: chain 2, site 1",
                         gbs_sampler_set_state(sampler, bad));
        bad[2 * SITES + 1] = INFINITY;
        assert_untouched(f, sampler, x, 0, GBS_ERROR_NOT_FINITE, "x: chain 2, site 1",
                         gbs_sampler_set_state(sampler, bad));
        assert_int_equal(gbs_sampler_set_state(twin, x), GBS_OK);
        assert_int_equal(gbs_sampler_run(sampler, 3), GBS_OK);
        assert_int_equal(gbs_sampler_run(twin, 3), GBS_OK);
        assert_int_equal(gbs_sampler_get_state(twin, after), GBS_OK);
        assert_state(sampler, after);
        gbs_sampler_destroy(sampler);
        gbs_sampler_destroy(twin);
    }
}

static void test_starts(void **state)
{
    const fixture *const f = *state;
    static const double given[SITES] = {5, -6, 7};
    double expected[STATE];
    for (gbs_start start = GBS_START_ZERO; start <= GBS_START_GIVEN; ++start) {
        gbs_sampler_spec spec = five_chains();
        spec.start = start;
        spec.initial = given;
        spec.initial_rows = 1;
        for (int k = 0; k < STATE; ++k)
            expected[k] = start == GBS_START_ZERO   ? 0
                          : start == GBS_START_MEAN ? fixture_mean[k % SITES]
                                                    : given[k % SITES];
        gbs_sampler *const sampler = make_sampler(f, &spec);
        assert_state(sampler, expected);
        gbs_sampler_destroy(sampler);
    }
    printf("checked: chains start at zero, at the mean, at one given row\n");
}

static void test_torch_state(void **state)
{
    const fixture *const f = *state;
    unsigned char bytes[GBS_TORCH_CPU_STATE_BYTES];
    gbs_sampler_spec spec = five_chains();
    gbs_sampler *sampler = make_sampler(f, &spec);
    assert_said(f, GBS_ERROR_ARGUMENT, "torch",
                gbs_sampler_get_torch_state(sampler, bytes, sizeof bytes));
    gbs_sampler_destroy(sampler);
    spec.stream.kind = GBS_STREAM_TORCH_CPU;
    sampler = make_sampler(f, &spec);
    assert_said(f, GBS_ERROR_ARGUMENT, "bytes: 16",
                gbs_sampler_get_torch_state(sampler, bytes, 16));
    assert_said(f, GBS_ERROR_ARGUMENT, "NULL",
                gbs_sampler_get_torch_state(sampler, NULL, sizeof bytes));
    assert_int_equal(gbs_sampler_get_torch_state(sampler, bytes, sizeof bytes), GBS_OK);
    gbs_sampler_destroy(sampler);
}

/* ---- draws ---- */

/* States of a run without thinning, [sweeps, STATE]. */
static double *plain_run(const fixture *f, const gbs_sampler_spec *spec, int64_t sweeps)
{
    gbs_sampler *const sampler = make_sampler(f, spec);
    double *const all = calloc((size_t)(sweeps * STATE), sizeof *all);
    assert_non_null(all);
    for (int64_t k = 0; k < sweeps; ++k) {
        assert_int_equal(gbs_sampler_run(sampler, 1), GBS_OK);
        assert_int_equal(gbs_sampler_get_state(sampler, all + k * STATE), GBS_OK);
    }
    gbs_sampler_destroy(sampler);
    return all;
}

/* Case C63: 11,000 sweeps, 1,000 of them warm-up; kept draw k is the state after sweep number
 * 1,000 + (k + 1) thin - 1, also across calls. */
static void test_thinning(void **state)
{
    const fixture *const f = *state;
    enum { SWEEPS = 11000, WARMUP = 1000 };
    static const struct {
        int64_t thin, draws;
    } plans[] = {{1, 10000}, {10, 1000}, {20, 500}, {7, 1428}, {100, 1}};
    const gbs_sampler_spec spec = five_chains();
    double *const all = plain_run(f, &spec, SWEEPS);
    for (size_t p = 0; p < sizeof plans / sizeof *plans; ++p) {
        const int64_t thin = plans[p].thin, draws = plans[p].draws, first = (draws + 1) / 2;
        double *const out = calloc((size_t)(draws * STATE), sizeof *out);
        assert_non_null(out);
        gbs_sampler *const sampler = make_sampler(f, &spec);
        assert_int_equal(gbs_sampler_run(sampler, WARMUP), GBS_OK);
        gbs_sink sink = {
            .out = out, .chain_stride = draws * SITES, .draw_stride = SITES, .site_stride = 1};
        assert_int_equal(gbs_sampler_sample(sampler, first, thin, &sink), GBS_OK);
        sink.out = out + first * SITES;
        assert_int_equal(gbs_sampler_sample(sampler, draws - first, thin, &sink), GBS_OK);
        assert_int_equal(gbs_sampler_next_sweep(sampler), WARMUP + draws * thin);
        for (int64_t k = 0; k < draws; ++k)
            for (int c = 0; c < STATE; ++c) {
                const double expected = all[(WARMUP + (k + 1) * thin - 1) * STATE + c];
                const double got = out[(c / SITES * draws + k) * SITES + c % SITES];
                if (got != expected)
                    fail_msg(
                        "thin %lld, draw %lld, chain %d, site %d: expected %a, got %a, bound 0",
                        (long long)thin, (long long)k, c / SITES, c % SITES, expected, got);
            }
        gbs_sampler_destroy(sampler);
        free(out);
        printf("checked: C63: thin %lld: %lld draws, each its own sweep of the plain run\n",
               (long long)thin, (long long)draws);
    }
    free(all);
}

/* Any strides, negative ones too, against the contiguous [B, draws, D]. */
static void test_strides(void **state)
{
    const fixture *const f = *state;
    enum { DRAWS = 6, ROOM = 4 * CHAINS * DRAWS * SITES };
    static const gbs_sink layouts[] = {
        {.chain_stride = DRAWS * SITES, .draw_stride = SITES, .site_stride = 1},
        {.chain_stride = SITES, .draw_stride = STATE, .site_stride = 1},
        {.chain_stride = 1, .draw_stride = STATE, .site_stride = CHAINS},
        {.chain_stride = 1, .draw_stride = CHAINS, .site_stride = CHAINS * DRAWS},
        {.chain_stride = 2 * DRAWS * SITES, .draw_stride = 2 * SITES, .site_stride = 2},
        {.chain_stride = DRAWS * SITES, .draw_stride = -SITES, .site_stride = 1},
    };
    for (gbs_type type = GBS_F32; type <= GBS_F64; ++type)
        for (size_t l = 0; l < sizeof layouts / sizeof *layouts; ++l) {
            double plain[CHAINS * DRAWS * SITES], room[ROOM];
            gbs_sampler_spec spec = five_chains();
            spec.type = type;
            gbs_sampler *const a = make_sampler(f, &spec), *const b = make_sampler(f, &spec);
            gbs_sink sink = layouts[l];
            const int64_t start = sink.draw_stride < 0 ? (1 - DRAWS) * sink.draw_stride : 0;
            const gbs_sink contiguous = {.out = plain};
            memset(room, 0x7f, sizeof room);
            sink.out = type == GBS_F32 ? (void *)((float *)room + start) : room + start;
            assert_int_equal(gbs_sampler_sample(a, DRAWS, 2, &contiguous), GBS_OK);
            assert_int_equal(gbs_sampler_sample(b, DRAWS, 2, &sink), GBS_OK);
            int64_t written = 0;
            for (int64_t k = 0; k < CHAINS * DRAWS * SITES; ++k) {
                const int64_t at = start + k / (DRAWS * SITES) * sink.chain_stride +
                                   k / SITES % DRAWS * sink.draw_stride +
                                   k % SITES * sink.site_stride;
                if (type == GBS_F32)
                    assert_true(((float *)plain)[k] == ((float *)room)[at]);
                else
                    assert_true(plain[k] == room[at]);
            }
            for (int64_t k = 0; k < ROOM * (type == GBS_F32 ? 2 : 1); ++k) {
                const unsigned char *const byte =
                    (unsigned char *)room + k * (type == GBS_F32 ? 4 : 8);
                written += byte[0] != 0x7f || byte[1] != 0x7f || byte[2] != 0x7f;
            }
            assert_int_equal(written, CHAINS * DRAWS * SITES);
            gbs_sampler_destroy(a);
            gbs_sampler_destroy(b);
        }
    printf("checked: six layouts equal the contiguous one, and nothing else is written\n");
}

typedef struct stopper {
    int64_t at, calls;
    double last[STATE];
} stopper;

static int stop_at(void *user, int64_t draw, const void *x)
{
    stopper *const s = user;
    assert_int_equal(draw, s->calls++);
    memcpy(s->last, x, sizeof s->last);
    return draw == s->at;
}

static void test_callback(void **state)
{
    const fixture *const f = *state;
    enum { DRAWS = 8, THIN = 3 };
    const gbs_sampler_spec spec = five_chains();
    double *const all = plain_run(f, &spec, DRAWS * THIN);
    for (int64_t at = 0; at <= DRAWS; at += 4) {
        double out[CHAINS * DRAWS * SITES];
        stopper s = {.at = at};
        gbs_moments *moments = NULL;
        assert_int_equal(gbs_moments_create(f->ctx, CHAINS, SITES, &moments), GBS_OK);
        memset(out, 0, sizeof out);
        const gbs_sink sink = {.out = out, .callback = stop_at, .user = &s, .moments = moments};
        gbs_sampler *const sampler = make_sampler(f, &spec);
        const gbs_status status = gbs_sampler_sample(sampler, DRAWS, THIN, &sink);
        const int64_t seen = at < DRAWS ? at + 1 : DRAWS;
        if (at < DRAWS)
            assert_said(f, GBS_STOPPED, "stopped after draw", status);
        else
            assert_int_equal(status, GBS_OK);
        assert_int_equal(s.calls, seen);
        assert_int_equal(gbs_moments_count(moments), seen);
        assert_int_equal(gbs_sampler_next_sweep(sampler), seen * THIN);
        assert_state(sampler, all + (seen * THIN - 1) * STATE);
        assert_memory_equal(s.last, all + (seen * THIN - 1) * STATE, sizeof s.last);
        for (int64_t k = 0; k < CHAINS * DRAWS * SITES; ++k) {
            const int64_t chain = k / (DRAWS * SITES), draw = k / SITES % DRAWS, site = k % SITES;
            const double *const x = all + ((draw + 1) * THIN - 1) * STATE;
            assert_true(out[k] == (draw < seen ? x[chain * SITES + site] : 0));
        }
        gbs_moments_destroy(moments);
        gbs_sampler_destroy(sampler);
    }
    printf("checked: a callback stops after draws 0 and 4, the draws so far complete, or never\n");
    free(all);
}

static void test_refused_draws(void **state)
{
    const fixture *const f = *state;
    gbs_sampler_spec spec = five_chains();
    gbs_sampler *sampler = make_sampler(f, &spec);
    gbs_moments *moments = NULL;
    gbs_sink sink = {.out = NULL};
    double x[STATE];
    assert_int_equal(gbs_sampler_get_state(sampler, x), GBS_OK);
    assert_untouched(f, sampler, x, 0, GBS_ERROR_ARGUMENT, "sink: NULL",
                     gbs_sampler_sample(sampler, 1, 1, NULL));
    assert_untouched(f, sampler, x, 0, GBS_ERROR_ARGUMENT, "draws: -1",
                     gbs_sampler_sample(sampler, -1, 1, &sink));
    assert_untouched(f, sampler, x, 0, GBS_ERROR_ARGUMENT, "thin: 0",
                     gbs_sampler_sample(sampler, 1, 0, &sink));
    assert_untouched(f, sampler, x, 0, GBS_ERROR_ARGUMENT, "draws: 4611686018427387904, thin: 2",
                     gbs_sampler_sample(sampler, INT64_C(1) << 62, 2, &sink));
    assert_int_equal(gbs_moments_create(f->ctx, CHAINS, SITES + 1, &moments), GBS_OK);
    sink.moments = moments;
    assert_untouched(f, sampler, x, 0, GBS_ERROR_ARGUMENT, "moments: [5, 4]",
                     gbs_sampler_sample(sampler, 1, 1, &sink));
    sink.moments = NULL;
    assert_int_equal(gbs_sampler_sample(sampler, 0, 1, &sink), GBS_OK);
    assert_state(sampler, x);
    gbs_sampler_destroy(sampler);
    spec.method = GBS_METHOD_EXACT;
    sampler = make_sampler(f, &spec);
    assert_int_equal(gbs_sampler_get_state(sampler, x), GBS_OK);
    assert_untouched(f, sampler, x, 0, GBS_ERROR_ARGUMENT, "thin: 2",
                     gbs_sampler_sample(sampler, 1, 2, &sink));
    gbs_sampler_destroy(sampler);
    gbs_moments_destroy(moments);
}

/* Case C92: one site, one draw, one chain keep their axes; the same numbers as in a larger run. */
static void test_small_shapes(void **state)
{
    fixture f = *(const fixture *)*state;
    static const int64_t shapes[][3] = {{1, 1, 1}, {1, 5, 1}, {1, 1, 3}, {1, 5, 3},
                                        {3, 1, 1}, {3, 5, 1}, {3, 1, 3}}; /* B, draws, D */
    const double one[1] = {4};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; ++k) {
        const int64_t chains = shapes[k][0], draws = shapes[k][1], dim = shapes[k][2];
        double out[3 * 5 * 3 + 1], next[3 * 3];
        gbs_model_spec model_spec = spec_of(dim == 1 ? one : fixture_precision, dim);
        f.model = new_model(f.ctx, &model_spec);
        gbs_sampler_spec spec = gbs_sampler_spec_default();
        spec.chains = chains;
        gbs_sampler *const sampler = make_sampler(&f, &spec), *const twin = make_sampler(&f, &spec);
        const gbs_sink sink = {.out = out};
        out[chains * draws * dim] = -77;
        assert_int_equal(gbs_sampler_sample(sampler, draws, 1, &sink), GBS_OK);
        assert_true(out[chains * draws * dim] == -77);
        for (int64_t draw = 0; draw < draws; ++draw) {
            assert_int_equal(gbs_sampler_run(twin, 1), GBS_OK);
            assert_int_equal(gbs_sampler_get_state(twin, next), GBS_OK);
            for (int64_t at = 0; at < chains * dim; ++at)
                assert_true(out[(at / dim * draws + draw) * dim + at % dim] == next[at]);
        }
        gbs_sampler_destroy(sampler);
        gbs_sampler_destroy(twin);
        gbs_model_release(f.model);
        printf("checked: C92: [%lld, %lld, %lld]\n", (long long)chains, (long long)draws,
               (long long)dim);
    }
}

/* ---- names and lives ---- */

static void test_kernel_names(void **state)
{
    (void)state;
    for (gbs_isa isa = GBS_ISA_SCALAR; isa <= GBS_ISA_NEON; ++isa)
        for (gbs_type type = GBS_F32; type <= GBS_F64 && gbs_isa_available(isa); ++type) {
            char expected[64];
            gbs_context *const ctx = new_context(isa);
            gbs_model *const model = fixture_model(ctx);
            gbs_sampler_spec spec = gbs_sampler_spec_default();
            gbs_sampler *sampler = NULL;
            spec.type = type;
            spec.chains = 1000;
            assert_int_equal(gbs_sampler_create(ctx, model, &spec, &sampler), GBS_OK);
            snprintf(expected, sizeof expected, "sweep_dense_%s_%s",
                     type == GBS_F32 ? "f32" : "f64", gbs_isa_name(isa));
            if (strncmp(gbs_sampler_kernel(sampler), expected, strlen(expected)) != 0)
                fail_msg("expected %s, got %s", expected, gbs_sampler_kernel(sampler));
            printf("checked: %s runs\n", gbs_sampler_kernel(sampler));
            gbs_sampler_destroy(sampler);
            gbs_model_release(model);
            gbs_context_destroy(ctx);
        }
}

/* The sampler keeps its model; the model outlives the context it was made with. */
static void test_lives(void **state)
{
    const fixture *const f = *state;
    const gbs_sampler_spec spec = five_chains();
    double *const all = plain_run(f, &spec, 4);
    gbs_context *maker = new_context(GBS_ISA_AUTO);
    gbs_model *const model = fixture_model(maker);
    gbs_context_destroy(maker);
    gbs_context *const user = new_context(GBS_ISA_SCALAR);
    gbs_sampler *a = NULL, *b = NULL;
    assert_int_equal(gbs_sampler_create(user, model, &spec, &a), GBS_OK);
    assert_int_equal(gbs_sampler_create(f->ctx, model, &spec, &b), GBS_OK);
    gbs_model_release(model);
    assert_int_equal(gbs_sampler_run(a, 4), GBS_OK);
    gbs_sampler_destroy(a);
    gbs_context_destroy(user);
    assert_int_equal(gbs_sampler_run(b, 4), GBS_OK);
    assert_state(b, all + 3 * STATE);
    gbs_sampler_destroy(b);
    free(all);
    printf("checked: a model outlives its context and its last reference but the sampler's\n");
}

int main(void)
{
#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_counting),     FIXTURE_TEST(test_end_of_stream),
        FIXTURE_TEST(test_exhausted),    FIXTURE_TEST(test_set_state),
        FIXTURE_TEST(test_starts),       FIXTURE_TEST(test_torch_state),
        FIXTURE_TEST(test_thinning),     FIXTURE_TEST(test_strides),
        FIXTURE_TEST(test_callback),     FIXTURE_TEST(test_refused_draws),
        FIXTURE_TEST(test_small_shapes), FIXTURE_TEST(test_kernel_names),
        FIXTURE_TEST(test_lives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
