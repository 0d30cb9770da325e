/* Whitened sweeps and sweeps under row constraints: the bits of the naive loops, in every type and
 * order, on every instruction set, in batches, after resumes and on several threads.  Models have
 * free, bounded and fixed sites, and dense and sparse rows. */
#include "exact/naive_constrained.h"
#include "sampler/constrained.h"

#include <stdio.h>

enum { SWEEPS = 4, THREADS = 3 };

#define SEED UINT64_C(0x0123456789abcdef)
#define FIRST_CHAIN 1000
#define FIRST_SWEEP 20

typedef struct trial {
    const char *what;
    int64_t dim, chains;
    gbs_type type;
    gbs_method method;
    gbs_order order;
    int boxes, rows, fixed;
    /* made from these */
    gbs_model *model;
    int64_t *permutation;
    double *lower, *upper, *start;
    naive_rows constraints;
} trial;

/* Of T, so that rounding inward leaves them. */
static void make_bounds(trial *t)
{
    static const double shapes[4][2] = {
        {-0.5, 0.75}, {-1, INFINITY}, {-INFINITY, 0.5}, {-INFINITY, INFINITY}};
    t->lower = naive_new(t->dim);
    t->upper = naive_new(t->dim);
    for (int64_t i = 0; i < t->dim; ++i) {
        t->lower[i] = t->boxes ? shapes[i % 4][0] : -(double)INFINITY;
        t->upper[i] = t->boxes ? shapes[i % 4][1] : (double)INFINITY;
    }
}

/* x = 0 is inside of all; every third row is sparse, a whitened one may be parallel to a step. */
static void make_rows(trial *t)
{
    const int64_t rows = t->rows ? t->dim / 2 + 1 : 0;
    double *const a = random_vector(rows * t->dim, 11, 1), *const lower = naive_new(rows),
                  *const upper = naive_new(rows);
    for (int64_t r = 0; r < rows; ++r) {
        for (int64_t j = 0; j < t->dim; ++j)
            if (r % 3 == 0 && j != r && j != (r + 1) % t->dim)
                a[r * t->dim + j] = 0;
            else
                a[r * t->dim + j] = (double)(float)a[r * t->dim + j];
        lower[r] = r % 4 == 1 ? -(double)INFINITY : -0.25;
        upper[r] = r % 4 == 2 ? (double)INFINITY : 0.5 * (double)(r % 5 + 1);
    }
    t->constraints = (naive_rows){rows, a, lower, upper};
}

static void make(trial *t, gbs_context *ctx)
{
    double *const q = dense_precision(t->dim, 3), *const mean = random_vector(t->dim, 4, 1),
                  *const fixed = naive_new(t->dim);
    make_bounds(t);
    make_rows(t);
    t->start = naive_new(t->dim);
    for (int64_t i = 0; i < t->dim; ++i)
        fixed[i] = t->fixed && i % 5 == 1 ? 0.125 : (double)NAN;
    gbs_model_spec spec = spec_of(q, t->dim);
    spec.location_kind = GBS_LOCATION_MEAN;
    spec.location = mean;
    spec.fixed = t->fixed ? fixed : NULL;
    spec.lower = t->lower;
    spec.upper = t->upper;
    spec.constraints = (gbs_constraints){.rows = t->constraints.rows,
                                         .matrix = t->constraints.a,
                                         .lower = t->constraints.lower,
                                         .upper = t->constraints.upper};
    t->model = new_model(ctx, &spec);
    for (int64_t i = 0; i < t->dim && gbs_model_fixed(t->model) != NULL; ++i)
        if (!isnan(gbs_model_fixed(t->model)[i])) {
            t->start[i] = gbs_model_fixed(t->model)[i];
            t->lower[i] = -(double)INFINITY;
            t->upper[i] = (double)INFINITY;
        }
    t->permutation = calloc((size_t)t->dim, sizeof *t->permutation);
    shuffle(t->dim, 5, t->permutation);
    free(q);
    free(mean);
    free(fixed);
}

static void unmake(trial *t)
{
    gbs_model_release(t->model);
    free(t->permutation);
    free(t->lower);
    free(t->upper);
    free(t->start);
    free((void *)t->constraints.a);
    free((void *)t->constraints.lower);
    free((void *)t->constraints.upper);
}

/* ---- the answer ---- */

static void run_naive(const trial *t, gbs_context *ctx, char *out)
{
    const int whitened = t->method == GBS_METHOD_WHITENED, passes = passes_of(t->order);
    naive_model m =
        naive_constrain(ctx, t->model, t->type, whitened, t->lower, t->upper, t->constraints);
    double *const x = naive_new(t->dim), *const z = naive_new(t->dim);
    int64_t *const order = calloc((size_t)t->dim, sizeof *order);
    for (int64_t chain = 0; chain < t->chains; ++chain) {
        memcpy(x, t->start, (size_t)t->dim * sizeof *x);
        for (int pass = 0; pass < SWEEPS * passes; ++pass) {
            native_address at = {SEED, (uint64_t)(FIRST_SWEEP * passes + pass), FIRST_CHAIN + chain,
                                 0};
            reference_normals(t->type, at, t->dim, z);
            visits(t->order, pass % passes, t->dim, t->permutation, order);
            if (whitened)
                naive_whitened(&m, at, z, x);
            else
                naive_rows_sweep(&m, at, order, z, x);
        }
        for (int64_t i = 0; i < t->dim; ++i)
            put_element(t->type, out, chain * t->dim + i, x[i]);
    }
    naive_release(&m);
    free(x);
    free(z);
    free(order);
}

/* ---- the library ---- */

static gbs_sampler *sampler_on(const trial *t, gbs_context *ctx, int64_t first, int64_t chains,
                               int plain_c, const gbs_stream_spec *stream)
{
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    float *const narrow = malloc((size_t)t->dim * sizeof *narrow);
    assert_non_null(narrow);
    for (int64_t i = 0; i < t->dim; ++i)
        narrow[i] = (float)t->start[i];
    spec.type = t->type;
    spec.method = t->method;
    spec.order = t->order;
    spec.permutation = t->order == GBS_ORDER_PERMUTED ? t->permutation : NULL;
    spec.chains = chains;
    spec.first_chain = FIRST_CHAIN + first;
    spec.first_sweep = FIRST_SWEEP;
    spec.seed = SEED;
    spec.start = GBS_START_GIVEN;
    spec.initial = t->type == GBS_F32 ? (const void *)narrow : (const void *)t->start;
    spec.initial_rows = 1;
    if (stream != NULL)
        spec.stream = *stream;
    gbs_sampler *const sampler = new_sampler(ctx, t->model, &spec);
    free(narrow);
    if (plain_c) {
        sampler->kernels = &gbs_kernels_scalar;
        sampler->constrained->kernels = &gbs_constrained_scalar;
    }
    return sampler;
}

/* Chains first .. first + chains - 1, into their place in x; resumed after one sweep through
 * `checkpoint` bytes where that is set. */
static void run_chains(const trial *t, gbs_context *ctx, int64_t first, int64_t chains, int plain_c,
                       int resumed, char *x)
{
    gbs_sampler *sampler = sampler_on(t, ctx, first, chains, plain_c, NULL);
    must(ctx, gbs_sampler_run(sampler, resumed ? 1 : SWEEPS));
    if (resumed) {
        size_t bytes;
        must(ctx, gbs_checkpoint_size(sampler, NULL, &bytes));
        void *const room = malloc(bytes);
        must(ctx, gbs_checkpoint_write(sampler, NULL, NULL, room, bytes));
        gbs_sampler_destroy(sampler);
        sampler = sampler_on(t, ctx, first, chains, plain_c, NULL);
        must(ctx, gbs_checkpoint_read(sampler, NULL, room, bytes));
        free(room);
        must(ctx, gbs_sampler_run(sampler, SWEEPS - 1));
    }
    must(ctx, gbs_sampler_get_state(sampler, x + (size_t)(first * t->dim) * type_size(t->type)));
    gbs_sampler_destroy(sampler);
}

/* What the native stream gives, given: all normals and all words of the run. */
static void run_given(const trial *t, gbs_context *ctx, char *x)
{
    const int passes = passes_of(t->order);
    const size_t sweep_bytes = (size_t)(t->chains * t->dim) * type_size(t->type);
    char *const noise = calloc((size_t)(SWEEPS * passes), sweep_bytes), *const words =
                                                                            calloc((size_t)(SWEEPS *
                                                                                            passes),
                                                                                   sweep_bytes);
    assert_true(noise != NULL && words != NULL);
    for (int pass = 0; pass < SWEEPS * passes; ++pass) {
        const int64_t number = FIRST_SWEEP * passes + pass;
        must(ctx, gbs_native_normals(ctx, t->type, SEED, number, FIRST_CHAIN, t->chains, t->dim,
                                     noise + (size_t)pass * sweep_bytes));
        must(ctx, gbs_native_words(ctx, t->type, SEED, number, FIRST_CHAIN, t->chains, t->dim,
                                   words + (size_t)pass * sweep_bytes));
    }
    const gbs_stream_spec stream = {.kind = GBS_STREAM_GIVEN,
                                    .noise_type = t->type,
                                    .noise = noise,
                                    .words = words,
                                    .noise_sweeps = SWEEPS * passes};
    gbs_sampler *const sampler = sampler_on(t, ctx, 0, t->chains, 0, &stream);
    must(ctx, gbs_sampler_run(sampler, SWEEPS));
    must(ctx, gbs_sampler_get_state(sampler, x));
    gbs_sampler_destroy(sampler);
    free(noise);
    free(words);
}

static int same(const trial *t, const char *how, gbs_context *ctx, const char *expected, char *got)
{
    for (int64_t at = 0; at < t->chains * t->dim; ++at) {
        const double e = element(t->type, expected, at), g = element(t->type, got, at);
        if (e == g)
            continue;
        printf("%s %s %s, D %lld, %s on %s: chain %lld, site %lld: expected %a, got %a, bound 0\n",
               t->what, type_name(t->type), order_name(t->order), (long long)t->dim, how,
               gbs_isa_name(gbs_context_isa(ctx)), (long long)(at / t->dim),
               (long long)(at % t->dim), e, g);
        return 0;
    }
    memset(got, 0, (size_t)(t->chains * t->dim) * type_size(t->type));
    return 1;
}

static int check_isa(const trial *t, gbs_context *ctx, gbs_context *threaded, const char *expected,
                     char *x)
{
    const int64_t a = t->chains / 3;
    int good = 1;
    run_chains(t, ctx, 0, t->chains, 0, 0, x);
    good &= same(t, "whole", ctx, expected, x);
    if (a > 0)
        run_chains(t, ctx, 0, a, 0, 0, x);
    run_chains(t, ctx, a, t->chains - a, 0, 1, x);
    good &= same(t, "batches and a resume", ctx, expected, x);
    run_chains(t, threaded, 0, t->chains, 0, 0, x);
    good &= same(t, "threads", ctx, expected, x);
    run_given(t, threaded, x);
    good &= same(t, "given", ctx, expected, x);
    return good;
}

typedef struct contexts {
    gbs_context *plain[ISAS], *threaded[ISAS];
    int count;
} contexts;

static void check(const contexts *all, trial t)
{
    int good = 1;
    make(&t, all->plain[0]);
    const size_t bytes = (size_t)(t.chains * t.dim) * type_size(t.type);
    char *const expected = calloc(1, bytes), *const x = calloc(1, bytes);
    run_naive(&t, all->plain[0], expected);
    run_chains(&t, all->plain[0], 0, t.chains, 1, 0, x);
    good &= same(&t, "plain C", all->plain[0], expected, x);
    for (int k = 0; k < all->count; ++k)
        good &= check_isa(&t, all->plain[k], all->threaded[k], expected, x);
    free(expected);
    free(x);
    unmake(&t);
    assert_true(good);
}

static int open_contexts(void **state)
{
    static contexts all;
    all.count = 0;
    for (gbs_isa isa = GBS_ISA_SCALAR; isa <= GBS_ISA_NEON; ++isa) {
        if (!gbs_isa_available(isa)) {
            printf("not here: %s\n", gbs_isa_name(isa));
            continue;
        }
        gbs_context_options options = gbs_context_options_default();
        options.isa = isa;
        options.threads = THREADS;
        all.plain[all.count] = new_context(isa);
        assert_int_equal(gbs_context_create(&options, &all.threaded[all.count]), GBS_OK);
        all.count++;
    }
    *state = &all;
    return 0;
}

static int close_contexts(void **state)
{
    contexts *const all = *state;
    for (int k = 0; k < all->count; ++k) {
        gbs_context_destroy(all->plain[k]);
        gbs_context_destroy(all->threaded[k]);
    }
    return 0;
}

static void check_sizes(const contexts *all, trial t)
{
    static const int64_t dims[] = {1, 2, 7, 33}, many[] = {1, 5, 70, 131}, few[] = {1, 5, 19, 37};
    const int64_t *const chains = quick() ? few : many;
    int64_t compared = 0;
    for (int type = GBS_F32; type <= GBS_F64; ++type)
        for (int k = 0; k < COUNT(dims) - quick(); ++k) {
            t.type = (gbs_type)type;
            t.dim = dims[k];
            t.chains = chains[(k + type) % 4];
            check(all, t);
            compared += t.dim * t.chains;
        }
    printf("checked: %s, %s: %lld numbers after %d sweeps, bound 0\n", t.what, order_name(t.order),
           (long long)compared, SWEEPS);
}

static void test_whitened(void **state)
{
    const trial t = {.method = GBS_METHOD_WHITENED};
    for (int k = 0; k < 8; ++k) {
        static const char *const names[] = {"whitened", "whitened, boxes", "whitened, rows",
                                            "whitened, boxes and rows"};
        trial one = t;
        one.what = names[k % 4];
        one.boxes = k & 1;
        one.rows = k & 2;
        one.fixed = k >= 4;
        check_sizes(*state, one);
    }
}

static void test_site_by_site(void **state)
{
    for (int order = GBS_ORDER_FORWARD; order <= GBS_ORDER_PERMUTED; ++order)
        for (int k = 0; k < 4; ++k)
            check_sizes(*state, (trial){.what = k & 1 ? "rows and boxes" : "rows",
                                        .method = GBS_METHOD_GIBBS,
                                        .order = (gbs_order)order,
                                        .rows = 1,
                                        .boxes = k & 1,
                                        .fixed = k >= 2});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whitened),
        cmocka_unit_test(test_site_by_site),
    };
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}
