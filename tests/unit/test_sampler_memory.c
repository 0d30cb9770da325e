/* Memory of models, samplers and moments: every request refused in turn, nothing lost, nothing
 * taken while a sampler runs, hooks that align no better than malloc does, and chains too many for
 * any memory. */
#include "unit/sampler_fixture.h"

typedef struct plan {
    const char *what;
    gbs_sampler_spec spec;
} plan;

enum { PLANS = 8, CHAINS = 40 };

static const double noise[2 * CHAINS * 3];
static const double initial[3] = {1, 2, 3};
static const int64_t permutation[3] = {1, 2, 0};

/* One plan for every branch of creation that takes memory. */
static void make_plans(plan plans[PLANS])
{
    static const char *const what[PLANS] = {"native",    "exact",      "given start", "given noise",
                                            "torch-cpu", "torch-cuda", "symmetric",   "one chain"};
    for (int k = 0; k < PLANS; ++k) {
        plans[k].what = what[k];
        plans[k].spec = gbs_sampler_spec_default();
        plans[k].spec.chains = k == 7 ? 1 : CHAINS;
        plans[k].spec.type = k % 2 == 0 ? GBS_F64 : GBS_F32;
    }
    plans[0].spec.order = GBS_ORDER_PERMUTED;
    plans[0].spec.permutation = permutation;
    plans[1].spec.method = GBS_METHOD_EXACT;
    plans[2].spec.start = GBS_START_GIVEN;
    plans[2].spec.initial = initial;
    plans[2].spec.initial_rows = 1;
    plans[3].spec.stream.kind = GBS_STREAM_GIVEN;
    plans[3].spec.stream.noise = noise;
    plans[3].spec.stream.noise_sweeps = 2;
    plans[4].spec.stream.kind = GBS_STREAM_TORCH_CPU;
    plans[5].spec.stream.kind = GBS_STREAM_TORCH_CUDA;
    plans[5].spec.stream.cuda_multiprocessors = 132;
    plans[5].spec.stream.cuda_threads_per_multiprocessor = 2048;
    plans[6].spec.order = GBS_ORDER_SYMMETRIC;
}

/* What a test makes, with the k-th request refused: GBS_OK once k is past the last. */
typedef gbs_status (*attempt)(gbs_context *ctx, gbs_model *model, const void *what);

static gbs_status attempt_sampler(gbs_context *ctx, gbs_model *model, const void *what)
{
    gbs_sampler *sampler = (gbs_sampler *)ctx;
    const gbs_status status = gbs_sampler_create(ctx, model, what, &sampler);
    assert_true((status == GBS_OK) == (sampler != NULL));
    gbs_sampler_destroy(sampler);
    return status;
}

static gbs_status attempt_model(gbs_context *ctx, gbs_model *model, const void *what)
{
    gbs_model *made = (gbs_model *)ctx;
    (void)model;
    const gbs_status status = gbs_model_create(ctx, what, &made);
    assert_true((status == GBS_OK) == (made != NULL));
    gbs_model_release(made);
    return status;
}

static gbs_status attempt_moments(gbs_context *ctx, gbs_model *model, const void *what)
{
    gbs_moments *moments = (gbs_moments *)ctx;
    (void)model;
    (void)what;
    const gbs_status status = gbs_moments_create(ctx, 7, 3, &moments);
    assert_true((status == GBS_OK) == (moments != NULL));
    gbs_moments_destroy(moments);
    return status;
}

/* A context, and with it a model where one is wanted, on a fresh counting allocator each time. */
static int64_t refuse_each(const char *name, attempt make, int with_model, const void *what)
{
    for (int64_t k = 0;; ++k) {
        counting memory = {.refuse = -1};
        const gbs_context_options options = counting_options(&memory);
        gbs_context *ctx = NULL;
        assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
        gbs_model *const model = with_model ? fixture_model(ctx) : NULL;
        memory.refuse = memory.taken + k;
        const gbs_status status = make(ctx, model, what);
        const int refused = memory.refuse == -1;
        if (status != (refused ? GBS_ERROR_MEMORY : GBS_OK))
            fail_msg("%s, request %lld: expected %s, got %s: %s", name, (long long)k,
                     refused ? "GBS_ERROR_MEMORY" : "GBS_OK", gbs_status_name(status),
                     gbs_context_message(ctx));
        if (refused && strstr(gbs_context_message(ctx), "no memory for") == NULL)
            fail_msg("%s, request %lld: the message is \"%s\"", name, (long long)k,
                     gbs_context_message(ctx));
        gbs_model_release(model);
        gbs_context_destroy(ctx);
        if (memory.taken != memory.given)
            fail_msg("%s, request %lld: %lld blocks taken, %lld given back", name, (long long)k,
                     (long long)memory.taken, (long long)memory.given);
        if (!refused) {
            printf("checked: %s: each of %lld requests refused in turn, nothing lost\n", name,
                   (long long)k);
            return k;
        }
    }
}

static void test_refused_requests(void **state)
{
    (void)state;
    plan plans[PLANS];
    make_plans(plans);
    for (int k = 0; k < PLANS; ++k)
        assert_true(refuse_each(plans[k].what, attempt_sampler, 1, &plans[k].spec) > 0);
    gbs_model_spec spec = spec_of(fixture_precision, 3);
    spec.location_kind = GBS_LOCATION_INFORMATION;
    spec.location = fixture_mean;
    assert_true(refuse_each("model by precision", attempt_model, 0, &spec) > 0);
    spec.matrix_kind = GBS_MATRIX_COVARIANCE;
    assert_true(refuse_each("model by covariance", attempt_model, 0, &spec) > 0);
    assert_true(refuse_each("moments", attempt_moments, 0, NULL) > 0);
}

/* The context itself, and standard deviations, which leave their output alone. */
static void test_refused_others(void **state)
{
    (void)state;
    counting memory = {.refuse = 0};
    gbs_context_options options = counting_options(&memory);
    gbs_context *ctx = (gbs_context *)&memory;
    assert_int_equal(gbs_context_create(&options, &ctx), GBS_ERROR_MEMORY);
    assert_null(ctx);
    assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
    gbs_model *const model = fixture_model(ctx);
    double sd[3] = {-7, -7, -7};
    for (int64_t k = 0; k < 2; ++k) {
        memory.refuse = memory.taken + k;
        assert_int_equal(gbs_model_sd(ctx, model, sd), GBS_ERROR_MEMORY);
        assert_true(sd[0] == -7 && sd[1] == -7 && sd[2] == -7);
    }
    assert_int_equal(gbs_model_sd(ctx, model, sd), GBS_OK);
    assert_true(sd[0] > 0);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
    assert_int_equal(memory.taken, memory.given);
    printf("checked: a context refused, standard deviations refused twice, then given\n");
}

static int go_on(void *user, int64_t draw, const void *x)
{
    (void)user;
    (void)draw;
    (void)x;
    return 0;
}

static void test_no_memory_in_runs(void **state)
{
    fixture *const f = *state;
    plan plans[PLANS];
    make_plans(plans);
    for (int k = 0; k < PLANS; ++k) {
        static double out[CHAINS * 3];
        gbs_moments *moments = NULL;
        gbs_sampler *const sampler = make_sampler(f, &plans[k].spec);
        assert_int_equal(gbs_moments_create(f->ctx, plans[k].spec.chains, 3, &moments), GBS_OK);
        const gbs_sink sink = {.out = out, .callback = go_on, .moments = moments};
        const int64_t taken = f->memory.taken, given = f->memory.given;
        f->memory.refuse = taken; /* would fail if any came */
        assert_int_equal(gbs_sampler_run(sampler, 1), GBS_OK);
        assert_int_equal(gbs_sampler_sample(sampler, 1, 1, &sink), GBS_OK);
        assert_int_equal(gbs_sampler_get_state(sampler, out), GBS_OK);
        assert_int_equal(gbs_sampler_set_state(sampler, out), GBS_OK);
        gbs_moments_merged(moments, out, out + 3);
        assert_int_equal(f->memory.taken, taken);
        assert_int_equal(f->memory.given, given);
        f->memory.refuse = -1;
        gbs_moments_destroy(moments);
        gbs_sampler_destroy(sampler);
        printf("checked: %s: run, sample, get, set and merge take no memory\n", plans[k].what);
    }
}

/* ---- hooks that align to 16 bytes and to nothing more ---- */

static void *allocate_askew(size_t bytes, void *user)
{
    (void)user;
    char *const base = aligned_alloc(64, (bytes + 80 + 63) / 64 * 64);
    return base != NULL ? base + 16 : NULL;
}

static void release_askew(void *memory, void *user)
{
    (void)user;
    free((char *)memory - 16);
}

static void test_alignment(void **state)
{
    const fixture *const f = *state;
    for (gbs_isa isa = GBS_ISA_SCALAR; isa <= GBS_ISA_NEON; ++isa)
        for (gbs_type type = GBS_F32; type <= GBS_F64 && gbs_isa_available(isa); ++type) {
            gbs_context_options options = gbs_context_options_default();
            gbs_sampler_spec spec = gbs_sampler_spec_default();
            fixture askew = {.model = NULL};
            double expected[300], got[300];
            options.isa = isa;
            options.allocator = (gbs_allocator){allocate_askew, release_askew, NULL};
            assert_int_equal(gbs_context_create(&options, &askew.ctx), GBS_OK);
            askew.model = fixture_model(askew.ctx);
            spec.chains = 100;
            spec.type = type;
            gbs_sampler *const a = make_sampler(f, &spec), *const b = make_sampler(&askew, &spec);
            memset(expected, 0, sizeof expected);
            memset(got, 0, sizeof got);
            assert_int_equal(gbs_sampler_run(a, 3), GBS_OK);
            assert_int_equal(gbs_sampler_run(b, 3), GBS_OK);
            assert_int_equal(gbs_sampler_get_state(a, expected), GBS_OK);
            assert_int_equal(gbs_sampler_get_state(b, got), GBS_OK);
            assert_memory_equal(got, expected, sizeof got);
            gbs_sampler_destroy(a);
            gbs_sampler_destroy(b);
            gbs_model_release(askew.model);
            gbs_context_destroy(askew.ctx);
        }
    printf("checked: memory at 16 bytes past a cache line serves every instruction set\n");
}

/* Sizes that no hook is asked for, or that it may refuse. */
static void *allocate_little(size_t bytes, void *user)
{
    (void)user;
    return bytes > (size_t)1 << 24 ? NULL : malloc(bytes);
}

static void release_little(void *memory, void *user)
{
    (void)user;
    free(memory);
}

static void test_too_many_chains(void **state)
{
    (void)state;
    static const int64_t chains[] = {INT64_C(1) << 30, INT64_C(1) << 40};
    gbs_context_options options = gbs_context_options_default();
    fixture f = {.model = NULL};
    options.allocator = (gbs_allocator){allocate_little, release_little, NULL};
    assert_int_equal(gbs_context_create(&options, &f.ctx), GBS_OK);
    f.model = fixture_model(f.ctx);
    for (size_t k = 0; k < 2; ++k) {
        gbs_sampler_spec spec = gbs_sampler_spec_default();
        gbs_sampler *sampler = NULL;
        spec.chains = chains[k];
        assert_said(&f, GBS_ERROR_MEMORY, "state: no memory for",
                    gbs_sampler_create(f.ctx, f.model, &spec, &sampler));
        assert_null(sampler);
    }
    gbs_moments *moments = NULL;
    assert_said(&f, GBS_ERROR_MEMORY, "moments: no memory for",
                gbs_moments_create(f.ctx, INT64_C(1) << 40, 3, &moments));
    assert_said(&f, GBS_ERROR_ARGUMENT, "moments",
                gbs_moments_create(f.ctx, INT64_C(1) << 62, 3, &moments));
    gbs_model_release(f.model);
    gbs_context_destroy(f.ctx);
}

int main(void)
{
#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_requests), cmocka_unit_test(test_refused_others),
        FIXTURE_TEST(test_no_memory_in_runs),    FIXTURE_TEST(test_alignment),
        cmocka_unit_test(test_too_many_chains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
