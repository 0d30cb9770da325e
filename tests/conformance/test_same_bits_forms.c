/* Every form of a sweep gives the bits of the scalar loop, one chain at a time, one row at a time:
 * on every instruction set and number of threads, for sizes about those of its panels, in every
 * order, from every stream, with draws kept and moments counted.  Prints which kernels ran, and
 * fails if a form was not the one asked for. */
#include "backend/backend.h"
#include "exact/trial.h"
#include "sampler/sampler_internal.h"

#include <stdio.h>

enum { SWEEPS = 4, THIN = 2, DRAWS = 2, SMS = 2, CARD_THREADS = 256, MOST_NAMES = 32 };

static const int32_t thread_counts[] = {1, 2, 3, 7};

/* One job; each number is drawn from a list, so that they meet in many pairs. */
typedef struct job {
    gbs_form form;
    int64_t dim, chains;
    gbs_type type;
    gbs_order order;
    gbs_stream stream;
    double w;
} job;

/* What a job gives: states [DRAWS, B, D] after every second sweep, moments over them, the state
 * after one more sweep. */
typedef struct answer {
    char *draws, *after;
    double *mean, *m2;
    const char *kernel;
} answer;

static char names[MOST_NAMES][48];

static void note_kernel(const char *name)
{
    for (int k = 0; k < MOST_NAMES; ++k) {
        if (names[k][0] == '\0')
            snprintf(names[k], sizeof names[k], "%s", name);
        if (strcmp(names[k], name) == 0)
            return;
    }
}

static gbs_context *context_for(gbs_isa isa, int32_t threads, gbs_form form)
{
    gbs_context_options options = gbs_context_options_default();
    options.isa = isa;
    options.threads = threads;
    gbs_context *ctx = NULL;
    assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
    ctx->form = (int)form;
    return ctx;
}

static gbs_sampler_spec spec_for(const job *j, const double *noise, const int64_t *permutation)
{
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.type = j->type;
    spec.chains = j->chains;
    spec.seed = UINT64_C(0xfedcba9876543210);
    spec.order = j->order;
    spec.permutation = j->order == GBS_ORDER_PERMUTED ? permutation : NULL;
    spec.omega = j->w;
    spec.stream.kind = j->stream;
    spec.stream.cuda_multiprocessors = SMS;
    spec.stream.cuda_threads_per_multiprocessor = CARD_THREADS;
    if (j->stream == GBS_STREAM_GIVEN) {
        spec.stream.noise = noise;
        spec.stream.noise_sweeps = 2 * (SWEEPS + 1);
    } else if (j->stream == GBS_STREAM_NATIVE) {
        spec.first_chain = 77;
        spec.first_sweep = 5;
    }
    return spec;
}

static size_t state_bytes(const job *j)
{
    return (size_t)(j->chains * j->dim) * type_size(j->type);
}

static answer run_job(gbs_context *ctx, gbs_model *model, const job *j,
                      const gbs_sampler_spec *spec)
{
    const int64_t size = j->chains * j->dim;
    answer a = {calloc(DRAWS, state_bytes(j)), calloc(1, state_bytes(j)), naive_new(size),
                naive_new(size), NULL};
    gbs_moments *moments = NULL;
    must(ctx, gbs_moments_create(ctx, j->chains, j->dim, &moments));
    gbs_sampler *const sampler = new_sampler(ctx, model, spec);
    const gbs_sink sink = {.out = a.draws,
                           .chain_stride = j->dim,
                           .draw_stride = size,
                           .site_stride = 1,
                           .moments = moments};
    must(ctx, gbs_sampler_sample(sampler, DRAWS, THIN, &sink));
    must(ctx, gbs_sampler_run(sampler, 1));
    must(ctx, gbs_sampler_get_state(sampler, a.after));
    memcpy(a.mean, gbs_moments_mean(moments), (size_t)size * sizeof *a.mean);
    memcpy(a.m2, gbs_moments_m2(moments), (size_t)size * sizeof *a.m2);
    a.kernel = gbs_sampler_kernel(sampler);
    gbs_sampler_destroy(sampler);
    gbs_moments_destroy(moments);
    return a;
}

static void drop(answer *a)
{
    free(a->draws);
    free(a->after);
    free(a->mean);
    free(a->m2);
}

static void compare(const job *j, int32_t threads, const answer *expected, const answer *got)
{
    const size_t moment_bytes = (size_t)(j->chains * j->dim) * sizeof(double);
    const char *what = NULL;
    if (memcmp(expected->draws, got->draws, DRAWS * state_bytes(j)) != 0)
        what = "draws";
    else if (memcmp(expected->after, got->after, state_bytes(j)) != 0)
        what = "state";
    else if (memcmp(expected->mean, got->mean, moment_bytes) != 0 ||
             memcmp(expected->m2, got->m2, moment_bytes) != 0)
        what = "moments";
    if (what != NULL)
        fail_msg("%s, %s, %s, D = %lld, B = %lld, w = %g, stream %d, %d threads: %s differ from "
                 "the scalar loop's",
                 got->kernel, type_name(j->type), order_name(j->order), (long long)j->dim,
                 (long long)j->chains, j->w, (int)j->stream, threads, what);
}

static int64_t check_job(const job *j, const char *name)
{
    double *const q = random_matrix(j->dim, 7), *const mu = random_vector(j->dim, 8, 3);
    double *const noise = random_vector(2 * (SWEEPS + 1) * j->dim * j->chains, 9, 2);
    int64_t *const permutation = calloc((size_t)j->dim, sizeof *permutation);
    shuffle(j->dim, 10, permutation);
    gbs_context *const scalar = context_for(GBS_ISA_SCALAR, 1, GBS_FORM_BLOCKS);
    gbs_model *const model = model_of(scalar, j->dim, q, GBS_LOCATION_MEAN, mu);
    const gbs_sampler_spec spec = spec_for(j, noise, permutation);
    answer expected = run_job(scalar, model, j, &spec);
    int64_t compared = 0;
    for (gbs_isa isa = GBS_ISA_SCALAR; isa <= GBS_ISA_NEON; ++isa)
        for (int t = 0; t < COUNT(thread_counts) && gbs_isa_available(isa); ++t, ++compared) {
            gbs_context *const ctx = context_for(isa, thread_counts[t], j->form);
            answer got = run_job(ctx, model, j, &spec);
            if (strstr(got.kernel, name) == NULL)
                fail_msg("expected a kernel named %s, got %s", name, got.kernel);
            note_kernel(got.kernel);
            compare(j, thread_counts[t], &expected, &got);
            drop(&got);
            gbs_context_destroy(ctx);
        }
    drop(&expected);
    gbs_model_release(model);
    gbs_context_destroy(scalar);
    free(q);
    free(mu);
    free(noise);
    free(permutation);
    return compared;
}

static void test_few_chains(void **state)
{
    (void)state;
    static const int64_t dims[] = {1,  2,  7,   15,  16,  17,  31,  33,
                                   64, 65, 127, 128, 129, 200, 257, 530};
    int64_t compared = 0;
    for (int64_t chains = 1, turn = 0; chains <= GBS_FEW_CHAINS; ++chains)
        for (int d = 0; d < COUNT(dims); ++d, ++turn) {
            if (quick() && turn % 5 != 0)
                continue;
            const job j = {GBS_FORM_FEW,
                           dims[d],
                           chains,
                           (gbs_type)(turn / 3 % 2),
                           (gbs_order)(turn % 4),
                           (gbs_stream)(turn / 7 % 4),
                           turn / 5 % 3 == 0 ? 1.3 : 1};
            compared += check_job(&j, "sweep_few");
        }
    printf("checked: few chains, lanes holding rows: %lld runs, 1 to %d chains, 1 to %lld sites, "
           "1 to 7 threads: the scalar loop's bits\n",
           (long long)compared, GBS_FEW_CHAINS, (long long)dims[COUNT(dims) - 1]);
}

static void test_tiles(void **state)
{
    (void)state;
    static const int64_t dims[] = {1, 3, 125, 126, 127, 128, 129, 131, 255, 257, 301};
    static const int64_t chains[] = {49, 130, 333};
    int64_t compared = 0;
    for (int c = 0, turn = 0; c < COUNT(chains); ++c)
        for (int d = 0; d < COUNT(dims); ++d, ++turn) {
            if (quick() && turn % 5 != 0)
                continue;
            const job j = {GBS_FORM_TILES,
                           dims[d],
                           chains[c],
                           (gbs_type)(turn % 2),
                           (gbs_order)(turn / 2 % 4),
                           (gbs_stream)(turn / 3 % 4),
                           turn / 5 % 2 == 0 ? 1.3 : 1};
            compared += check_job(&j, "sweep_tiles");
        }
    printf("checked: tiles: %lld runs, %lld to %lld chains, 1 to %lld sites, 1 to 7 threads: the "
           "scalar loop's bits\n",
           (long long)compared, (long long)chains[0], (long long)chains[COUNT(chains) - 1],
           (long long)dims[COUNT(dims) - 1]);
}

static void print_kernels(void)
{
    printf("kernels that ran:");
    for (int k = 0; k < MOST_NAMES && names[k][0] != '\0'; ++k)
        printf(" %s", names[k]);
    printf("\n");
}

/* Every instruction set's, by both types. */
static void test_kernels_ran(void **state)
{
    (void)state;
    int expected = 0, got = 0;
    print_kernels();
    for (gbs_isa isa = GBS_ISA_SCALAR; isa <= GBS_ISA_NEON; ++isa)
        for (gbs_type type = GBS_F32; type <= GBS_F64 && gbs_isa_available(isa); ++type) {
            const char *const wanted[] = {gbs_cpu_kernels(isa)->few_name[type],
                                          gbs_cpu_kernels(isa)->tile_name[type]};
            for (int w = 0; w < COUNT(wanted); ++w, ++expected)
                for (int k = 0; k < MOST_NAMES; ++k)
                    got += strcmp(names[k], wanted[w]) == 0;
        }
    if (got != expected)
        fail_msg("kernels that ran: expected %d, got %d, bound 0", expected, got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_chains),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_kernels_ran),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
