/* Checkpoints through the library: a run that is written down at any sweep and read on another
 * instruction set ends with the bits of the run that was never stopped, moments included; every
 * changed byte and every shorter length is noticed; every field that differs is named; what is
 * refused leaves sampler and moments as they were; and the bytes are those of
 * docs/file-formats.md. */
#include "unit/matrices.h"
#include "unit/sampler_fixture.h"

enum { CHAINS = 21, SITES = 3, STATE = CHAINS * SITES, DRAWS = 9, THIN = 2, STOP = 5 };

static const int64_t permutation[SITES] = {1, 2, 0};
static double noise[DRAWS * THIN * 2][SITES][CHAINS];

typedef struct plan {
    const char *what;
    gbs_sampler_spec spec;
} plan;

enum { PLANS = 9 };

static void make_plans(plan plans[PLANS])
{
    static const char *const what[PLANS] = {"native f64",
                                            "native f32, omega 1.3",
                                            "symmetric",
                                            "permuted f32",
                                            "exact f64",
                                            "exact f32",
                                            "given, symmetric",
                                            "torch-cpu, exact",
                                            "torch-cuda f32, backward"};
    for (int k = 0; k < PLANS; ++k) {
        plans[k].what = what[k];
        plans[k].spec = gbs_sampler_spec_default();
        plans[k].spec.chains = CHAINS;
        plans[k].spec.seed = 1000 + (uint64_t)k;
        plans[k].spec.type = strstr(what[k], "f32") != NULL ? GBS_F32 : GBS_F64;
        if (strstr(what[k], "exact") != NULL)
            plans[k].spec.method = GBS_METHOD_EXACT;
        if (strstr(what[k], "symmetric") != NULL)
            plans[k].spec.order = GBS_ORDER_SYMMETRIC;
    }
    plans[0].spec.first_chain = 7;
    plans[0].spec.first_sweep = 100;
    plans[1].spec.omega = 1.3;
    plans[3].spec.order = GBS_ORDER_PERMUTED;
    plans[3].spec.permutation = permutation;
    plans[6].spec.stream.kind = GBS_STREAM_GIVEN;
    plans[6].spec.stream.noise = noise;
    plans[6].spec.stream.noise_sweeps = DRAWS * THIN * 2;
    plans[7].spec.stream.kind = GBS_STREAM_TORCH_CPU;
    plans[8].spec.stream.kind = GBS_STREAM_TORCH_CUDA;
    plans[8].spec.stream.cuda_multiprocessors = 132;
    plans[8].spec.stream.cuda_threads_per_multiprocessor = 2048;
    plans[8].spec.order = GBS_ORDER_BACKWARD;
    for (int64_t k = 0; k < DRAWS * THIN * 2 * SITES * CHAINS; ++k)
        (&noise[0][0][0])[k] = (double)((k * 7919) % 1009) / 504.0 - 1.0;
}

static int64_t thin_of(const plan *p)
{
    return p->spec.method == GBS_METHOD_EXACT ? 1 : THIN;
}

static gbs_moments *new_moments(gbs_context *ctx)
{
    gbs_moments *moments = NULL;
    assert_int_equal(gbs_moments_create(ctx, CHAINS, SITES, &moments), GBS_OK);
    return moments;
}

static void *written(const gbs_sampler *sampler, const gbs_moments *moments,
                     const gbs_checkpoint_counts *counts, size_t *bytes)
{
    assert_int_equal(gbs_checkpoint_size(sampler, moments, bytes), GBS_OK);
    void *const to = malloc(*bytes);
    assert_non_null(to);
    assert_int_equal(gbs_checkpoint_write(sampler, moments, counts, to, *bytes), GBS_OK);
    return to;
}

/* ---- going on ---- */

typedef struct ending {
    unsigned char x[STATE * sizeof(double)];
    double mean[STATE], m2[STATE];
    int64_t next, count;
} ending;

static ending end_of(const gbs_sampler *sampler, const gbs_moments *moments)
{
    ending e;
    memset(&e, 0, sizeof e);
    assert_int_equal(gbs_sampler_get_state(sampler, e.x), GBS_OK);
    memcpy(e.mean, gbs_moments_mean(moments), sizeof e.mean);
    memcpy(e.m2, gbs_moments_m2(moments), sizeof e.m2);
    e.next = gbs_sampler_next_sweep(sampler);
    e.count = gbs_moments_count(moments);
    return e;
}

/* Writes the checkpoint when draw STOP - 1 is told, from within the callback. */
typedef struct writer {
    const gbs_sampler *sampler;
    const gbs_moments *moments;
    void *bytes;
    size_t size;
} writer;

static int write_at_stop(void *user, int64_t draw, const void *x)
{
    writer *const w = user;
    (void)x;
    const gbs_checkpoint_counts counts = {.warmup = 0, .thin = THIN, .draws = draw + 1};
    if (draw == STOP - 1)
        w->bytes = written(w->sampler, w->moments, &counts, &w->size);
    return 0;
}

/* The whole run on one instruction set; *w holds what was written on the way. */
static ending whole_run(const fixture *f, const plan *p, writer *w)
{
    gbs_sampler *const sampler = make_sampler(f, &p->spec);
    gbs_moments *const moments = new_moments(f->ctx);
    *w = (writer){.sampler = sampler, .moments = moments};
    const gbs_sink sink = {.moments = moments, .callback = write_at_stop, .user = w};
    assert_int_equal(gbs_sampler_sample(sampler, DRAWS, thin_of(p), &sink), GBS_OK);
    const ending e = end_of(sampler, moments);
    gbs_sampler_destroy(sampler);
    gbs_moments_destroy(moments);
    return e;
}

static void assert_resumes(gbs_isa isa, const plan *p, const writer *w, const ending *expected)
{
    gbs_context *const ctx = new_context(isa);
    gbs_model *const model = fixture_model(ctx);
    gbs_moments *const moments = new_moments(ctx);
    gbs_sampler *sampler = NULL;
    gbs_sampler_spec spec = p->spec;
    spec.first_sweep = 0; /* the checkpoint knows */
    assert_int_equal(gbs_sampler_create(ctx, model, &spec, &sampler), GBS_OK);
    if (gbs_checkpoint_read(sampler, moments, w->bytes, w->size) != GBS_OK)
        fail_msg("%s on %s: %s", p->what, gbs_isa_name(isa), gbs_context_message(ctx));
    const gbs_sink sink = {.moments = moments};
    assert_int_equal(gbs_sampler_sample(sampler, DRAWS - STOP, thin_of(p), &sink), GBS_OK);
    const ending got = end_of(sampler, moments);
    assert_int_equal(got.next, expected->next);
    assert_int_equal(got.count, expected->count);
    if (memcmp(&got, expected, sizeof got) != 0)
        fail_msg("%s on %s: the resumed run differs in state %s, means %s, squares %s", p->what,
                 gbs_isa_name(isa), memcmp(got.x, expected->x, sizeof got.x) ? "yes" : "no",
                 memcmp(got.mean, expected->mean, sizeof got.mean) ? "yes" : "no",
                 memcmp(got.m2, expected->m2, sizeof got.m2) ? "yes" : "no");
    gbs_sampler_destroy(sampler);
    gbs_moments_destroy(moments);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
}

static void test_resumed_run_is_the_whole_run(void **state)
{
    const fixture *const f = *state;
    plan plans[PLANS];
    make_plans(plans);
    for (int k = 0; k < PLANS; ++k) {
        writer w;
        int sets = 0;
        const ending expected = whole_run(f, &plans[k], &w);
        for (int isa = GBS_ISA_SCALAR; isa <= GBS_ISA_NEON; ++isa)
            if (gbs_isa_available((gbs_isa)isa)) {
                assert_resumes((gbs_isa)isa, &plans[k], &w, &expected);
                sets++;
            }
        free(w.bytes);
        printf("checked: %s: written on %s at draw %d of %d, the same bits at the end on %d "
               "instruction sets\n",
               plans[k].what, gbs_isa_name(gbs_context_isa(f->ctx)), STOP, DRAWS, sets);
    }
}

/* Large models of few chains take other kernels, and those share rows out to threads. */
enum { LARGE = 300, MOST = 9 };

static gbs_sampler *large_sampler(gbs_isa isa, int32_t threads, const double *q, int64_t chains,
                                  gbs_context **ctx)
{
    gbs_context_options options = gbs_context_options_default();
    gbs_model_spec spec = spec_of(q, LARGE);
    gbs_sampler_spec s = gbs_sampler_spec_default();
    gbs_sampler *sampler = NULL;
    options.isa = isa;
    options.threads = threads;
    s.chains = chains;
    s.seed = 3;
    assert_int_equal(gbs_context_create(&options, ctx), GBS_OK);
    gbs_model *const model = new_model(*ctx, &spec);
    assert_int_equal(gbs_sampler_create(*ctx, model, &s, &sampler), GBS_OK);
    gbs_model_release(model);
    return sampler;
}

static void drop(gbs_sampler *sampler, gbs_context *ctx)
{
    gbs_sampler_destroy(sampler);
    gbs_context_destroy(ctx);
}

/* Written on one instruction set and number of threads, read on another. */
static void check_large(const double *q, int64_t chains, gbs_isa from, gbs_isa to, double *x)
{
    gbs_context *ctx;
    size_t bytes;
    gbs_sampler *sampler = large_sampler(from, 2, q, chains, &ctx);
    assert_int_equal(gbs_sampler_run(sampler, 2), GBS_OK);
    void *const block = written(sampler, NULL, NULL, &bytes);
    assert_int_equal(gbs_sampler_run(sampler, 2), GBS_OK);
    assert_int_equal(gbs_sampler_get_state(sampler, x), GBS_OK);
    drop(sampler, ctx);
    for (int32_t threads = 1; threads <= 3; ++threads) {
        double *const got = x + MOST * LARGE;
        sampler = large_sampler(to, threads, q, chains, &ctx);
        assert_int_equal(gbs_checkpoint_read(sampler, NULL, block, bytes), GBS_OK);
        assert_int_equal(gbs_sampler_run(sampler, 2), GBS_OK);
        assert_int_equal(gbs_sampler_get_state(sampler, got), GBS_OK);
        if (memcmp(got, x, (size_t)(chains * LARGE) * sizeof *got) != 0)
            fail_msg("%lld chains of %d sites, written on %s, read on %s with %d threads: the "
                     "state differs",
                     (long long)chains, LARGE, gbs_isa_name(from), gbs_isa_name(to), threads);
        drop(sampler, ctx);
    }
    free(block);
}

static void test_few_chains_of_many_sites(void **state)
{
    (void)state;
    double *const q = calloc(LARGE * LARGE, sizeof *q), *const x = calloc(2 * MOST * LARGE, 8);
    int cells = 0;
    assert_true(q != NULL && x != NULL);
    for (int i = 0; i < LARGE; ++i)
        for (int j = 0; j < LARGE; ++j)
            q[i * LARGE + j] = i == j ? 4 : 1.0 / (1 + (i - j) * (i - j));
    for (int from = GBS_ISA_SCALAR; from <= GBS_ISA_AVX512; ++from)
        for (int to = GBS_ISA_SCALAR; to <= GBS_ISA_AVX512; ++to)
            for (int64_t chains = 1; chains <= MOST; chains += 2)
                if (gbs_isa_available((gbs_isa)from) && gbs_isa_available((gbs_isa)to)) {
                    check_large(q, chains, (gbs_isa)from, (gbs_isa)to, x);
                    ++cells;
                }
    free(x);
    free(q);
    printf("checked: %d cells of two instruction sets and 1 to %d chains of %d sites, 1 to 3 "
           "threads\n",
           cells, MOST, LARGE);
}

static void test_inspect(void **state)
{
    const fixture *const f = *state;
    plan plans[PLANS];
    make_plans(plans);
    gbs_sampler *const sampler = make_sampler(f, &plans[0].spec);
    const gbs_checkpoint_counts counts = {.warmup = 11, .thin = 3, .draws = 5};
    size_t bytes;
    assert_int_equal(gbs_sampler_run(sampler, 26), GBS_OK);
    void *const from = written(sampler, NULL, &counts, &bytes);
    gbs_checkpoint_info info;
    assert_int_equal(gbs_checkpoint_inspect(f->ctx, from, bytes, &info), GBS_OK);
    assert_int_equal(info.type, GBS_F64);
    assert_int_equal(info.method, GBS_METHOD_GIBBS);
    assert_int_equal(info.order, GBS_ORDER_FORWARD);
    assert_true(info.omega == 1.0);
    assert_int_equal(info.chains, CHAINS);
    assert_int_equal(info.dim, SITES);
    assert_int_equal(info.first_chain, 7);
    assert_int_equal(info.next_sweep, 126);
    assert_int_equal(info.seed, 1000);
    assert_int_equal(info.stream, GBS_STREAM_NATIVE);
    assert_int_equal(info.stream_mapping_version, GBS_STREAM_NATIVE_VERSION);
    assert_int_equal(info.moments_count, -1);
    assert_memory_equal(&info.counts, &counts, sizeof counts);
    free(from);
    gbs_sampler_destroy(sampler);
    printf("checked: every field that inspect tells\n");
}

/* ---- the format ---- */

static uint64_t word_at(const unsigned char *from, int word)
{
    uint64_t value = 0;
    for (int k = 7; k >= 0; --k)
        value = value << 8 | from[8 * word + k];
    return value;
}

/* The words as docs/file-formats.md numbers them; hashes and checksum are frozen by their values,
 * which a change of the format would change. */
static void test_bytes_are_the_documented_ones(void **state)
{
    const fixture *const f = *state;
    plan plans[PLANS];
    make_plans(plans);
    plans[0].spec.chains = 2;
    gbs_sampler *const sampler = make_sampler(f, &plans[0].spec);
    const double x[6] = {1, 2, 3, -1, -2, 0.5};
    const gbs_checkpoint_counts counts = {.warmup = 9, .thin = 2, .draws = 1};
    size_t bytes;
    assert_int_equal(gbs_sampler_run(sampler, 11), GBS_OK);
    assert_int_equal(gbs_sampler_set_state(sampler, x), GBS_OK);
    unsigned char *const from = written(sampler, NULL, &counts, &bytes);
    const struct {
        int word;
        uint64_t value;
    } expected[] = {{0, UINT64_C(0x0a54504b43534247)},
                    {1, 1},
                    {2, (32 + 6 + 1) * 8},
                    {3, 1},
                    {4, 0},
                    {5, 0},
                    {6, UINT64_C(0x3ff0000000000000)},
                    {7, 2},
                    {8, 3},
                    {9, 7},
                    {10, 100},
                    {11, 11},
                    {12, 1000},
                    {13, 0},
                    {14, 1},
                    {15, 0},
                    {16, 0},
                    {17, 0},
                    {18, UINT64_MAX},
                    {19, 9},
                    {20, 2},
                    {21, 1},
                    {22, UINT64_C(0x35268bd5e4ccd7fa)},
                    {23, UINT64_C(0xf5c9e68d32d7a4ff)},
                    {24, 0},
                    {28, 0},
                    {32, UINT64_C(0x3ff0000000000000)},
                    {35, UINT64_C(0xbff0000000000000)},
                    {38, UINT64_C(0x166c8e97564a1f5e)}};
    assert_int_equal(bytes, 39 * 8);
    for (size_t k = 0; k < sizeof expected / sizeof *expected; ++k)
        if (word_at(from, expected[k].word) != expected[k].value)
            fail_msg("word %d: expected %016llx, got %016llx", expected[k].word,
                     (unsigned long long)expected[k].value,
                     (unsigned long long)word_at(from, expected[k].word));
    printf("checked: %zu words of a checkpoint against the documented ones\n",
           sizeof expected / sizeof *expected);
    free(from);
    gbs_sampler_destroy(sampler);
}

/* ---- damage ---- */

/* Reading must fail so and change nothing. */
static void assert_refuses(const fixture *f, gbs_sampler *sampler, gbs_moments *moments,
                           const void *from, size_t bytes, gbs_status status, const char *words)
{
    const ending before = end_of(sampler, moments);
    const gbs_status got = gbs_checkpoint_read(sampler, moments, from, bytes);
    if (got != status || strstr(gbs_context_message(f->ctx), words) == NULL)
        fail_msg("expected %s and \"%s\", got %s and \"%s\"", gbs_status_name(status), words,
                 gbs_status_name(got), gbs_context_message(f->ctx));
    const ending after = end_of(sampler, moments);
    assert_memory_equal(&before, &after, sizeof after);
}

static void test_damage_is_noticed(void **state)
{
    const fixture *const f = *state;
    plan plans[PLANS];
    make_plans(plans);
    gbs_sampler *const sampler = make_sampler(f, &plans[7].spec);
    gbs_moments *const moments = new_moments(f->ctx);
    const gbs_sink sink = {.moments = moments};
    assert_int_equal(gbs_sampler_sample(sampler, 3, 1, &sink), GBS_OK);
    size_t bytes;
    unsigned char *const from = written(sampler, moments, NULL, &bytes);
    assert_int_equal(gbs_sampler_sample(sampler, 3, 1, &sink), GBS_OK);
    for (size_t k = 0; k < bytes; ++k) {
        from[k] ^= (unsigned char)(1 + k % 255);
        assert_refuses(f, sampler, moments, from, bytes, GBS_ERROR_STATE, "checkpoint: ");
        from[k] ^= (unsigned char)(1 + k % 255);
    }
    for (size_t k = 0; k < bytes; ++k) {
        unsigned char *const shorter = malloc(k + 1); /* so that a sanitizer sees a read beyond */
        memcpy(shorter, from, k);
        assert_refuses(f, sampler, moments, shorter, k, GBS_ERROR_STATE, "checkpoint: ");
        free(shorter);
    }
    assert_refuses(f, sampler, moments, NULL, bytes, GBS_ERROR_ARGUMENT, "checkpoint: NULL");
    assert_int_equal(gbs_checkpoint_read(sampler, moments, from, bytes), GBS_OK);
    printf("checked: each of %zu bytes changed and each of %zu shorter lengths is refused, sampler "
           "and moments untouched\n",
           bytes, bytes);
    free(from);
    gbs_moments_destroy(moments);
    gbs_sampler_destroy(sampler);
}

/* ---- other runs ---- */

typedef struct mismatch {
    const char *words;
    void (*change)(gbs_sampler_spec *spec);
} mismatch;

static void change_type(gbs_sampler_spec *s)
{
    s->type = GBS_F32;
}
static void change_method(gbs_sampler_spec *s)
{
    s->method = GBS_METHOD_EXACT;
}
static void change_order(gbs_sampler_spec *s)
{
    s->order = GBS_ORDER_SYMMETRIC;
}
static void change_omega(gbs_sampler_spec *s)
{
    s->omega = 1.5;
}
static void change_chain(gbs_sampler_spec *s)
{
    s->first_chain = 8;
}
static void change_seed(gbs_sampler_spec *s)
{
    s->seed = 18446744073709551615u;
}
static void change_stream(gbs_sampler_spec *s)
{
    s->first_chain = s->first_sweep = 0;
    s->stream.kind = GBS_STREAM_TORCH_CPU;
}

static void refuse_with(const fixture *f, gbs_model *model, const gbs_sampler_spec *spec,
                        const void *from, size_t bytes, const char *words)
{
    gbs_sampler *sampler = NULL;
    assert_int_equal(gbs_sampler_create(f->ctx, model, spec, &sampler), GBS_OK);
    unsigned char before[STATE * 2 * sizeof(double)], after[STATE * 2 * sizeof(double)];
    memset(before, 0, sizeof before);
    memset(after, 0, sizeof after);
    assert_int_equal(gbs_sampler_get_state(sampler, before), GBS_OK);
    assert_said(f, GBS_ERROR_STATE, words, gbs_checkpoint_read(sampler, NULL, from, bytes));
    assert_int_equal(gbs_sampler_get_state(sampler, after), GBS_OK);
    assert_memory_equal(before, after, sizeof after);
    gbs_sampler_destroy(sampler);
}

static void test_what_differs_is_named(void **state)
{
    const fixture *const f = *state;
    static const mismatch cases[] = {
        {"its type is double, the sampler's float", change_type},
        {"its method is gibbs, the sampler's exact", change_method},
        {"its order is forward, the sampler's symmetric", change_order},
        {"its omega is 1, the sampler's 1.5", change_omega},
        {"its first_chain: 7, the sampler's: 8", change_chain},
        {"its seed: 1000, the sampler's: 18446744073709551615", change_seed},
        {"its first_chain: 7, the sampler's: 0", change_stream},
    };
    plan plans[PLANS];
    make_plans(plans);
    gbs_sampler *const sampler = make_sampler(f, &plans[0].spec);
    size_t bytes;
    void *const from = written(sampler, NULL, NULL, &bytes);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        gbs_sampler_spec spec = plans[0].spec;
        cases[k].change(&spec);
        refuse_with(f, f->model, &spec, from, bytes, cases[k].words);
    }
    gbs_sampler_spec more = plans[0].spec;
    more.chains = CHAINS + 1;
    refuse_with(f, f->model, &more, from, bytes, "its chains: 21, the sampler's: 22");

    double matrix[9], mean[3] = {1, 2, 4};
    memcpy(matrix, fixture_precision, sizeof matrix);
    matrix[8] = nextafter(matrix[8], 3);
    gbs_model_spec spec = spec_of(matrix, SITES);
    spec.location_kind = GBS_LOCATION_MEAN;
    spec.location = fixture_mean;
    gbs_model *other = new_model(f->ctx, &spec);
    refuse_with(f, other, &plans[0].spec, from, bytes, "its precision is another one (hash ");
    gbs_model_release(other);
    spec.matrix = fixture_precision;
    spec.location = mean;
    other = new_model(f->ctx, &spec);
    refuse_with(f, other, &plans[0].spec, from, bytes, "its location is another one (hash ");
    gbs_model_release(other);
    spec.location = fixture_mean;
    spec.location_kind = GBS_LOCATION_INFORMATION;
    other = new_model(f->ctx, &spec);
    refuse_with(f, other, &plans[0].spec, from, bytes, "its location is another one (hash ");
    gbs_model_release(other);
    free(from);
    gbs_sampler_destroy(sampler);
}

/* The checksum of a checkpoint, by docs/file-formats.md. */
static void seal(unsigned char *from, size_t bytes)
{
    const size_t words = bytes / 8 - 1;
    uint64_t h = UINT64_C(0x9e3779b97f4a7c15);
    for (size_t k = 0; k < words; ++k) {
        uint64_t z = h ^ word_at(from, (int)k);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        h = (z ^ z >> 31) + UINT64_C(0x9e3779b97f4a7c15);
    }
    for (int k = 0; k < 8; ++k)
        from[words * 8 + (size_t)k] = (unsigned char)(h >> (8 * k));
}

/* Draws between bounds have a mapping of their own: a state of another version would go on with
 * other bits. */
static void test_version_of_draws_between_bounds(void **state)
{
    const fixture *const f = *state;
    const double zero[SITES] = {0, 0, 0};
    plan plans[PLANS];
    make_plans(plans);
    gbs_model_spec spec = spec_of(fixture_precision, SITES);
    spec.lower = zero;
    gbs_model *const bounded = new_model(f->ctx, &spec);
    gbs_sampler *sampler = NULL;
    size_t bytes;
    assert_int_equal(gbs_sampler_create(f->ctx, bounded, &plans[0].spec, &sampler), GBS_OK);
    unsigned char *const from = written(sampler, NULL, NULL, &bytes);
    assert_int_equal(word_at(from, 28), GBS_TRUNCNORM_VERSION);
    seal(from, bytes);
    assert_int_equal(gbs_checkpoint_read(sampler, NULL, from, bytes), GBS_OK);
    from[28 * 8] = 2;
    seal(from, bytes);
    refuse_with(f, bounded, &plans[0].spec, from, bytes,
                "its truncnorm mapping version: 2, the sampler's: 4");
    free(from);
    gbs_sampler_destroy(sampler);
    gbs_model_release(bounded);
}

static void test_streams_and_permutations_differ(void **state)
{
    const fixture *const f = *state;
    static const int64_t other[SITES] = {2, 1, 0};
    plan plans[PLANS];
    make_plans(plans);
    size_t bytes;
    gbs_sampler *sampler = make_sampler(f, &plans[3].spec);
    void *from = written(sampler, NULL, NULL, &bytes);
    gbs_sampler_spec spec = plans[3].spec;
    spec.permutation = other;
    refuse_with(f, f->model, &spec, from, bytes, "its permutation is another one (hash ");
    free(from);
    gbs_sampler_destroy(sampler);

    sampler = make_sampler(f, &plans[8].spec);
    from = written(sampler, NULL, NULL, &bytes);
    spec = plans[8].spec;
    spec.stream.cuda_multiprocessors = 108;
    refuse_with(f, f->model, &spec, from, bytes,
                "its cuda_multiprocessors: 132, the sampler's: 108");
    spec.stream.kind = GBS_STREAM_TORCH_CPU;
    refuse_with(f, f->model, &spec, from, bytes,
                "its stream is torch-cuda, the sampler's torch-cpu");
    free(from);
    gbs_sampler_destroy(sampler);
}

static void test_refused_arguments(void **state)
{
    const fixture *const f = *state;
    plan plans[PLANS];
    make_plans(plans);
    gbs_sampler *const sampler = make_sampler(f, &plans[0].spec);
    gbs_moments *moments = new_moments(f->ctx), *wrong = NULL;
    assert_int_equal(gbs_moments_create(f->ctx, CHAINS + 1, SITES, &wrong), GBS_OK);
    size_t bytes = 77;
    assert_said(f, GBS_ERROR_ARGUMENT, "moments: [22, 3], but the sampler has [21, 3]",
                gbs_checkpoint_size(sampler, wrong, &bytes));
    assert_int_equal(bytes, 77);
    assert_said(f, GBS_ERROR_ARGUMENT, "bytes: NULL", gbs_checkpoint_size(sampler, NULL, NULL));
    assert_int_equal(gbs_checkpoint_size(NULL, NULL, &bytes), GBS_ERROR_ARGUMENT);
    unsigned char *const from = written(sampler, NULL, NULL, &bytes);
    unsigned char *const copy = malloc(bytes);
    memcpy(copy, from, bytes);
    const gbs_checkpoint_counts negative = {.thin = -1};
    assert_said(f, GBS_ERROR_ARGUMENT, "to: memory of",
                gbs_checkpoint_write(sampler, NULL, NULL, from, bytes - 8));
    assert_said(f, GBS_ERROR_ARGUMENT, "to: NULL",
                gbs_checkpoint_write(sampler, NULL, NULL, NULL, bytes));
    assert_said(f, GBS_ERROR_ARGUMENT, "counts: warmup 0, thin -1",
                gbs_checkpoint_write(sampler, NULL, &negative, from, bytes));
    assert_memory_equal(from, copy, bytes);
    assert_refuses(f, sampler, moments, from, bytes, GBS_ERROR_STATE, "it holds no moments");
    assert_said(f, GBS_ERROR_ARGUMENT, "moments: [22, 3]",
                gbs_checkpoint_read(sampler, wrong, from, bytes));
    assert_int_equal(gbs_checkpoint_read(NULL, NULL, from, bytes), GBS_ERROR_ARGUMENT);
    assert_said(f, GBS_ERROR_ARGUMENT, "context and out",
                gbs_checkpoint_inspect(f->ctx, from, bytes, NULL));
    free(copy);
    free(from);
    gbs_moments_destroy(wrong);
    gbs_moments_destroy(moments);
    gbs_sampler_destroy(sampler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_resumed_run_is_the_whole_run, open_fixture,
                                        close_fixture),
        cmocka_unit_test(test_few_chains_of_many_sites),
        cmocka_unit_test_setup_teardown(test_inspect, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_bytes_are_the_documented_ones, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(test_damage_is_noticed, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_what_differs_is_named, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_version_of_draws_between_bounds, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(test_streams_and_permutations_differ, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(test_refused_arguments, open_fixture, close_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
