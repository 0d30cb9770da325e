/* Case C58: any number of threads gives the bits of one, on every instruction set: the one-call
 * sweeps over groups that share a model and groups that do not, from every stream; 64 chains of
 * 544 sites; a callback that stops; and chains that make up more blocks than there are threads, of
 * which the last go in parts.  test_same_bits compares samplers of every other kind.
 * Under ThreadSanitizer too. */
#include "unit/sweep_fixture.h"

static const int32_t counts[] = {1, 2, 3, 7};

static gbs_context *threaded(gbs_isa isa, int32_t threads)
{
    gbs_context_options options = gbs_context_options_default();
    options.isa = isa;
    options.threads = threads;
    gbs_context *ctx = NULL;
    assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
    return ctx;
}

/* ---- one-call sweeps ---- */

static void compare_counts(gbs_context *const *ctx, const shape *s, int shared)
{
    arrays first = arrays_of(s, 5);
    for (int k = 0; k < COUNT(counts); ++k) {
        arrays a = arrays_of(s, 5);
        gbs_sweep_spec spec = spec_for(s, &a);
        if (shared)
            spec.precision_group_stride = spec.location_group_stride = 0;
        if (k == 0)
            spec.out = first.out, spec.kept = first.kept, spec.torch_state = first.torch_state;
        sweep(ctx[k], &spec);
        if (k > 0) {
            assert_same("out", s->type, first.out, a.out, elements(s));
            assert_same("kept", s->type, first.kept, a.kept, s->sweeps / KEEP * elements(s));
            assert_memory_equal(first.torch_state, a.torch_state, sizeof a.torch_state);
        }
        drop(&a);
    }
    drop(&first);
}

static void test_sweep_calls(void **state)
{
    (void)state;
    static const int64_t groups[] = {1, 2, 20}, chains[] = {1, 37, 150};
    int64_t compared = 0;
    for (gbs_isa isa = GBS_ISA_SCALAR; isa <= GBS_ISA_NEON; ++isa) {
        gbs_context *ctx[COUNT(counts)] = {NULL};
        for (int k = 0; k < COUNT(counts) && gbs_isa_available(isa); ++k)
            ctx[k] = threaded(isa, counts[k]);
        for (int turn = 0; turn < 2 * 4 * 9 * 2 && ctx[0] != NULL;
             turn += quick() ? 5 : 1, ++compared) {
            const shape s = {(gbs_type)(turn % 2),
                             groups[turn / 8 % 3],
                             chains[turn / 24 % 3],
                             19,
                             4,
                             GBS_LOCATION_MEAN,
                             (gbs_order)(turn / 5 % 3),
                             turn % 7 == 0 ? 1.3 : 1,
                             (gbs_stream)(turn / 2 % 4)};
            compare_counts(ctx, &s, turn / 72);
        }
        for (int k = 0; k < COUNT(counts); ++k)
            gbs_context_destroy(ctx[k]);
    }
    printf("checked: %lld shapes of call, the same bits with 1, 2, 3 and 7 threads\n",
           (long long)compared);
}

/* ---- 64 chains of 544 sites ---- */

static int stop_at_three(void *user, int64_t draw, const void *x)
{
    memcpy(user, x, sizeof(double) * 64 * 544);
    return draw == 3;
}

/* Warm-up, draws without and with a callback that stops, and the state after. */
static void run_544(gbs_context *ctx, gbs_model *model, int64_t sweeps, double *draws,
                    double *stopped, double *after)
{
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.chains = 64;
    spec.seed = 58;
    gbs_sampler *const sampler = new_sampler(ctx, model, &spec);
    must(ctx, gbs_sampler_run(sampler, sweeps));
    const gbs_sink kept = {.out = draws};
    must(ctx, gbs_sampler_sample(sampler, 2, 3, &kept));
    const gbs_sink seen = {.callback = stop_at_three, .user = stopped};
    assert_int_equal(gbs_sampler_sample(sampler, 10, 1, &seen), GBS_STOPPED);
    must(ctx, gbs_sampler_get_state(sampler, after));
    assert_int_equal(gbs_sampler_next_sweep(sampler), sweeps + 6 + 4);
    gbs_sampler_destroy(sampler);
}

static void test_544_sites(void **state)
{
    (void)state;
    enum { DIM = 544, CHAINS = 64, SIZE = DIM * CHAINS };
    const int64_t sweeps = quick() ? 10 : 1000;
    double *const q = lattice(32, 17, 0.9, 0.1);
    double *const one = naive_new(4 * SIZE), *const got = naive_new(4 * SIZE);
    for (int k = 0; k < COUNT(counts); ++k) {
        gbs_context *const ctx = threaded(GBS_ISA_AUTO, counts[k]);
        gbs_model *const model = model_of(ctx, DIM, q, GBS_LOCATION_ZERO, NULL);
        double *const to = k == 0 ? one : got;
        run_544(ctx, model, sweeps, to, to + 2 * SIZE, to + 3 * SIZE);
        if (k > 0)
            assert_same("544 sites", GBS_F64, one, got, 4 * SIZE);
        gbs_model_release(model);
        gbs_context_destroy(ctx);
    }
    free(one);
    free(got);
    free(q);
    printf("checked: 64 chains of 544 sites, %lld sweeps: the same bits with 1, 2, 3 and 7 "
           "threads\n",
           (long long)sweeps);
}

/* ---- more blocks than threads ---- */

enum { SITES = 9, KEPT = 4, MOST_CHAINS = 700 };

typedef struct outcome {
    double warm[MOST_CHAINS * SITES], kept[KEPT * MOST_CHAINS * SITES];
    double mean[MOST_CHAINS * SITES], m2[MOST_CHAINS * SITES];
} outcome;

/* 5 sweeps are fewer than a block has parts, 4 draws of 7 sweeps end within parts. */
static void run_blocks(gbs_context *ctx, gbs_model *model, gbs_order order, gbs_type type,
                       int64_t chains, outcome *to)
{
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.type = type;
    spec.chains = chains;
    spec.order = order;
    spec.start = GBS_START_ZERO;
    gbs_sampler *const sampler = new_sampler(ctx, model, &spec);
    gbs_moments *moments = NULL;
    must(ctx, gbs_moments_create(ctx, chains, SITES, &moments));
    must(ctx, gbs_sampler_run(sampler, 5));
    must(ctx, gbs_sampler_get_state(sampler, to->warm));
    const gbs_sink sink = {.out = to->kept, .moments = moments};
    must(ctx, gbs_sampler_sample(sampler, KEPT, 7, &sink));
    memcpy(to->mean, gbs_moments_mean(moments), (size_t)(chains * SITES) * sizeof *to->mean);
    memcpy(to->m2, gbs_moments_m2(moments), (size_t)(chains * SITES) * sizeof *to->m2);
    gbs_moments_destroy(moments);
    gbs_sampler_destroy(sampler);
}

static void test_more_blocks_than_threads(void **state)
{
    (void)state;
    static const int64_t chains[] = {65, 150, 333, MOST_CHAINS};
    static const gbs_order orders[] = {GBS_ORDER_FORWARD, GBS_ORDER_SYMMETRIC};
    static const double lower[SITES] = {0};
    static outcome one, got;
    double *const q = lattice(3, 3, 0.9, 0.1);
    int64_t compared = 0;
    for (int turn = 0; turn < 2 * COUNT(chains) * COUNT(orders) * 2; ++turn) {
        const gbs_type type = (gbs_type)(turn % 2);
        const int bounded = turn / 2 % 2;
        const gbs_order order = orders[turn / 4 % COUNT(orders)];
        const int64_t count = chains[turn / 4 / COUNT(orders)];
        for (int k = 0; k < COUNT(counts); ++k) {
            gbs_context *const ctx = threaded(GBS_ISA_AUTO, counts[k]);
            gbs_model_spec of = gbs_model_spec_default();
            of.dim = SITES;
            of.matrix = q;
            of.lower = bounded ? lower : NULL;
            gbs_model *model = NULL;
            must(ctx, gbs_model_create(ctx, &of, &model));
            outcome *const to = k == 0 ? &one : &got;
            memset(to, 0, sizeof *to);
            run_blocks(ctx, model, order, type, count, to);
            if (k > 0)
                assert_memory_equal(&one, &got, sizeof one);
            compared += k > 0;
            gbs_model_release(model);
            gbs_context_destroy(ctx);
        }
    }
    free(q);
    printf("checked: %lld runs of 65 to %d chains, their states, draws and moments the same with "
           "1, 2, 3 and 7 threads\n",
           (long long)compared, MOST_CHAINS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweep_calls),
        cmocka_unit_test(test_544_sites),
        cmocka_unit_test(test_more_blocks_than_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
