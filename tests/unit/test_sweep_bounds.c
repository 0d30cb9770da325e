/* One-call sweeps between bounds: each group has the bits of a sampler of that model, with bounds
 * of its own or shared, over-relaxed too, from the native stream and from given words, on every
 * instruction set and several threads; and what is refused leaves `out` as it was. */
#include "unit/sweep_fixture.h"

enum { GROUPS = 5, CHAINS = 19, DIM = 7, SWEEPS = 3, ALL = GROUPS * CHAINS * DIM };

static const double infinite = (double)INFINITY;

typedef struct call {
    gbs_type type;
    gbs_order order;
    double overrelax;
    int shared; /* one model and one pair of bounds for all groups */
    int given;
} call;

typedef struct memory {
    void *precision, *lower, *upper, *x, *out, *noise, *words;
} memory;

static double bound_of(int64_t group, int64_t site, int upper)
{
    static const double boxes[][2] = {{0, INFINITY}, {-1, 0.5},       {2, 2.25},
                                      {0.5, 0.625},  {-INFINITY, -1}, {-INFINITY, INFINITY}};
    return boxes[(2 * group + site) % 6][upper];
}

static memory memory_of(const call *c)
{
    const int64_t sets = c->shared ? 1 : GROUPS, passes = SWEEPS * passes_of(c->order);
    memory m = {.precision = new_array(c->type, sets * DIM * DIM),
                .lower = new_array(c->type, sets * DIM),
                .upper = new_array(c->type, sets * DIM),
                .x = new_array(c->type, ALL),
                .out = new_array(c->type, ALL),
                .noise = random_array(c->type, passes * ALL, 5),
                .words = calloc((size_t)(passes * ALL), 8)};
    uint64_t seed = 9;
    for (int64_t set = 0; set < sets; ++set) {
        void *const q = typed_precision(c->type, DIM, (uint64_t)set + 2);
        memcpy((char *)m.precision + (size_t)(set * DIM * DIM) * type_size(c->type), q,
               (size_t)(DIM * DIM) * type_size(c->type));
        free(q);
        for (int64_t i = 0; i < DIM; ++i) {
            put_element(c->type, m.lower, set * DIM + i, bound_of(set, i, 0));
            put_element(c->type, m.upper, set * DIM + i, bound_of(set, i, 1));
        }
    }
    for (int64_t k = 0; k < ALL; ++k) {
        const int64_t group = c->shared ? 0 : k / (CHAINS * DIM), i = k % DIM;
        put_element(c->type, m.x, k,
                    fmin(fmax(next_signed(&seed), bound_of(group, i, 0)), bound_of(group, i, 1)));
    }
    for (int64_t k = 0; k < passes * ALL; ++k)
        if (c->type == GBS_F32)
            ((uint32_t *)m.words)[k] = (uint32_t)next_word(&seed);
        else
            ((uint64_t *)m.words)[k] = next_word(&seed);
    return m;
}

static void drop_memory(memory *m)
{
    void *const blocks[] = {m->precision, m->lower, m->upper, m->x, m->out, m->noise, m->words};
    for (int k = 0; k < COUNT(blocks); ++k)
        free(blocks[k]);
}

static gbs_sweep_spec spec_of_call(const call *c, const memory *m)
{
    gbs_sweep_spec spec = gbs_sweep_spec_default();
    spec.type = c->type;
    spec.groups = GROUPS;
    spec.chains = CHAINS;
    spec.dim = DIM;
    spec.precision = m->precision;
    spec.precision_row_stride = DIM;
    spec.precision_group_stride = c->shared ? 0 : DIM * DIM;
    spec.bounds_group_stride = c->shared ? 0 : DIM;
    spec.lower = m->lower;
    spec.upper = m->upper;
    spec.overrelax = c->overrelax;
    spec.x = m->x;
    spec.out = m->out;
    spec.x_stride[0] = spec.out_stride[0] = CHAINS * DIM;
    spec.x_stride[1] = spec.out_stride[1] = DIM;
    spec.x_stride[2] = spec.out_stride[2] = 1;
    spec.sweeps = SWEEPS;
    spec.order = c->order;
    spec.seed = 77;
    spec.first_chain = 3;
    if (c->given) {
        spec.stream = GBS_STREAM_GIVEN;
        spec.noise = m->noise;
        spec.words = m->words;
        spec.first_chain = 0;
    }
    return spec;
}

/* Given numbers of one group: [pass, site, chain] out of [pass, site, group, chain]. */
static void *share_of(const void *all, size_t size, int64_t passes, int64_t group)
{
    char *const share = malloc((size_t)(passes * DIM * CHAINS) * size);
    for (int64_t row = 0; row < passes * DIM; ++row)
        memcpy(share + (size_t)(row * CHAINS) * size,
               (const char *)all + (size_t)((row * GROUPS + group) * CHAINS) * size,
               (size_t)CHAINS * size);
    return share;
}

/* The same by samplers, one a group; [G, B, D]. */
static void *by_samplers(gbs_context *ctx, const call *c, const memory *m)
{
    const size_t size = type_size(c->type);
    const int64_t passes = SWEEPS * passes_of(c->order);
    char *const out = new_array(c->type, ALL);
    for (int64_t group = 0; group < GROUPS; ++group) {
        const int64_t set = c->shared ? 0 : group;
        double lower[DIM], upper[DIM];
        gbs_model_spec spec = gbs_model_spec_default();
        for (int64_t i = 0; i < DIM; ++i) {
            lower[i] = bound_of(set, i, 0);
            upper[i] = bound_of(set, i, 1);
        }
        spec.dim = DIM;
        spec.matrix_type = c->type;
        spec.matrix = (const char *)m->precision + (size_t)(set * DIM * DIM) * size;
        spec.lower = lower;
        spec.upper = upper;
        gbs_model *const model = new_model(ctx, &spec);
        gbs_sampler_spec s = gbs_sampler_spec_default();
        s.type = c->type;
        s.order = c->order;
        s.chains = CHAINS;
        s.seed = 77;
        s.first_chain = 3 + group * CHAINS;
        s.overrelax = c->overrelax;
        s.start = GBS_START_GIVEN;
        s.initial = (const char *)m->x + (size_t)(group * CHAINS * DIM) * size;
        s.initial_rows = CHAINS;
        void *noise = NULL, *words = NULL;
        if (c->given) {
            noise = share_of(m->noise, size, passes, group);
            words = share_of(m->words, size, passes, group);
            s.stream = (gbs_stream_spec){.kind = GBS_STREAM_GIVEN,
                                         .noise_type = c->type,
                                         .noise = noise,
                                         .noise_sweeps = passes,
                                         .words = words};
        }
        gbs_sampler *const sampler = new_sampler(ctx, model, &s);
        must(ctx, gbs_sampler_run(sampler, SWEEPS));
        must(ctx, gbs_sampler_get_state(sampler, out + (size_t)(group * CHAINS * DIM) * size));
        gbs_sampler_destroy(sampler);
        gbs_model_release(model);
        free(noise);
        free(words);
    }
    return out;
}

static gbs_context *threaded(gbs_isa isa, int32_t threads)
{
    gbs_context_options options = gbs_context_options_default();
    options.isa = isa;
    options.threads = threads;
    gbs_context *ctx = NULL;
    assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
    return ctx;
}

static void test_bits_of_samplers(void **state)
{
    (void)state;
    int64_t runs = 0;
    for (int turn = 0; turn < 2 * 3 * 2 * 2 * 2; ++turn) {
        const call c = {(gbs_type)(turn % 2), (gbs_order)(turn / 2 % 3), turn / 6 % 2 ? 0.7 : 0,
                        turn / 12 % 2, turn / 24 % 2};
        if (c.given && c.overrelax > 0)
            continue;
        memory m = memory_of(&c);
        void *expected = NULL;
        for (gbs_isa isa = GBS_ISA_SCALAR; isa <= GBS_ISA_NEON; ++isa)
            for (int32_t threads = 1; threads <= 3 && gbs_isa_available(isa);
                 threads += 2, ++runs) {
                gbs_context *const ctx = threaded(isa, threads);
                const gbs_sweep_spec spec = spec_of_call(&c, &m);
                if (expected == NULL)
                    expected = by_samplers(ctx, &c, &m);
                if (gbs_sweep(ctx, &spec) != GBS_OK)
                    give_up(ctx, gbs_sweep(ctx, &spec));
                assert_same("out", c.type, expected, m.out, ALL);
                gbs_context_destroy(ctx);
            }
        free(expected);
        drop_memory(&m);
    }
    printf("checked: %lld calls by the samplers of their groups\n", (long long)runs);
}

/* A site whose bounds are equal stays at its value, and the others take it as it is. */
static void test_held(void **state)
{
    (void)state;
    const call c = {GBS_F32, GBS_ORDER_SYMMETRIC, 0.7, 1, 0};
    memory m = memory_of(&c);
    gbs_context *const ctx = threaded(GBS_ISA_AUTO, 1);
    const gbs_sweep_spec spec = spec_of_call(&c, &m);
    ((float *)m.upper)[3] = ((float *)m.lower)[3];
    for (int64_t row = 0; row < GROUPS * CHAINS; ++row)
        ((float *)m.x)[row * DIM + 3] = ((float *)m.lower)[3];
    must(ctx, gbs_sweep(ctx, &spec));
    for (int64_t row = 0; row < GROUPS * CHAINS; ++row)
        assert_true(((float *)m.out)[row * DIM + 3] == ((float *)m.lower)[3]);
    gbs_context_destroy(ctx);
    drop_memory(&m);
    printf("checked: equal bounds hold a site\n");
}

static void expect_refusal(gbs_context *ctx, const gbs_sweep_spec *spec, gbs_status status,
                           const char *words)
{
    const gbs_status got = gbs_sweep(ctx, spec);
    if (got != status || strstr(gbs_context_message(ctx), words) == NULL)
        fail_msg("expected %s and \"%s\", got %s and \"%s\"", gbs_status_name(status), words,
                 gbs_status_name(got), gbs_context_message(ctx));
    for (int64_t k = 0; k < ALL; ++k)
        assert_true(((const double *)spec->out)[k] == 0);
    printf("checked: \"%s\"\n", gbs_context_message(ctx));
}

static void test_refused(void **state)
{
    (void)state;
    const call c = {GBS_F64, GBS_ORDER_FORWARD, 0, 0, 0};
    memory m = memory_of(&c);
    gbs_context *const ctx = threaded(GBS_ISA_AUTO, 1);
    const gbs_sweep_spec good = spec_of_call(&c, &m);
    double *const lower = m.lower, *const upper = m.upper, *const x = m.x, kept = lower[8];
    gbs_sweep_spec spec = good;
    lower[8] = upper[8] + 1;
    expect_refusal(ctx, &good, GBS_ERROR_ARGUMENT, "lower: group 1, site 1: ");
    lower[8] = (double)NAN;
    expect_refusal(ctx, &good, GBS_ERROR_NOT_FINITE, "lower: group 1, site 1 is NaN");
    lower[8] = kept;
    spec.upper = NULL;
    lower[3] = infinite;
    expect_refusal(ctx, &spec, GBS_ERROR_ARGUMENT, "lower: group 0, site 3 is inf");
    lower[3] = bound_of(0, 3, 0);
    x[(2 * CHAINS + 4) * DIM + 4] = -5;
    expect_refusal(ctx, &good, GBS_ERROR_ARGUMENT, "x: group 2, chain 4, site 4 is -5");
    x[(2 * CHAINS + 4) * DIM + 4] = bound_of(2, 4, 0);
    spec = good;
    spec.omega = 1.5;
    expect_refusal(ctx, &spec, GBS_ERROR_ARGUMENT, "omega: 1.5");
    spec = good;
    spec.overrelax = 1;
    expect_refusal(ctx, &spec, GBS_ERROR_ARGUMENT, "overrelax: 1 is not in [0, 1)");
    spec = good;
    spec.stream = GBS_STREAM_TORCH_CUDA;
    spec.first_chain = 0;
    spec.cuda_multiprocessors = SMS;
    spec.cuda_threads_per_multiprocessor = THREADS;
    expect_refusal(ctx, &spec, GBS_ERROR_ARGUMENT, "stream: torch's streams are of normals");
    spec.stream = GBS_STREAM_TORCH_CPU;
    expect_refusal(ctx, &spec, GBS_ERROR_ARGUMENT,
                   "torch_state: NULL; but sites with bounds take the native or the given stream");
    spec = good;
    spec.stream = GBS_STREAM_GIVEN;
    spec.noise = m.noise;
    expect_refusal(ctx, &spec, GBS_ERROR_ARGUMENT, "words: NULL");
    gbs_context_destroy(ctx);
    drop_memory(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits_of_samplers),
        cmocka_unit_test(test_held),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
