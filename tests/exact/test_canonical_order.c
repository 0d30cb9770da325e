/* The library against the loops of the numerical contract (naive.h), bit for bit: every order of
 * visit, weight, form of the location, type and instruction set, D = 1 .. 257, B = 1 .. 1000 with
 * sizes that fill no block.  Starts, native and given streams, and exact draws; no tolerance
 * anywhere but in the law of the exact draws, which is checked by L'y = z. */
#include "exact/trial.h"
#include "kat/native_reference.h"

#include <float.h>
#include <stdio.h>

enum { SWEEPS = 2 };

static const int64_t small_dims[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33};
static const int64_t large_dims[] = {63, 64, 65, 100, 128, 129, 255, 256, 257};
static const int64_t ragged[] = {1,  2,  3,  4,  5,  7,   8,   9,   15,  16,  17,
                                 31, 32, 33, 63, 65, 100, 127, 129, 255, 999, 1000};
static const double weights[] = {0.5, 1, 1.3, 1.9};

/* What is compared: one model in all contexts, and one way to run it. */
typedef struct trial {
    machine *m;
    gbs_model *model[ISAS];
    int64_t dim;
    const double *q, *location;
    gbs_location kind;
    gbs_type type;
    gbs_order order;
    double w;
    int64_t chains;
    uint64_t seed;
} trial;

static void compare(const trial *t, int k, const char *what, const double *expected, const void *x)
{
    for (int64_t at = 0; at < t->chains * t->dim; ++at) {
        const double got = element(t->type, x, at);
        if (memcmp(&got, &expected[at], sizeof got) != 0)
            fail_msg("%s, %s %s %s, w %g, %s, D %lld, B %lld: chain %lld, site %lld: expected %a, "
                     "got %a, error %g, bound 0",
                     what, gbs_isa_name(gbs_context_isa(t->m->ctx[k])), type_name(t->type),
                     order_name(t->order), t->w, location_name(t->kind), (long long)t->dim,
                     (long long)t->chains, (long long)(at / t->dim), (long long)(at % t->dim),
                     expected[at], got, fabs(got - expected[at]));
    }
}

static void make_models(trial *t)
{
    for (int k = 0; k < t->m->count; ++k)
        t->model[k] = model_of(t->m->ctx[k], t->dim, t->q, t->kind, t->location);
}

static void release_models(trial *t)
{
    for (int k = 0; k < t->m->count; ++k)
        gbs_model_release(t->model[k]);
}

static gbs_sampler_spec spec_for(const trial *t, const int64_t *permutation)
{
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.type = t->type;
    spec.chains = t->chains;
    spec.first_chain = 1000003;
    spec.first_sweep = 7;
    spec.seed = t->seed;
    spec.order = t->order;
    spec.omega = t->w;
    spec.permutation = t->order == GBS_ORDER_PERMUTED ? permutation : NULL;
    return spec;
}

/* Start, then SWEEPS sweeps, against what the naive chains did. */
static void check_run(const trial *t, int k, const gbs_sampler_spec *spec, const char *what,
                      const double *start, const double *end, void *x)
{
    gbs_sampler *const sampler = new_sampler(t->m->ctx[k], t->model[k], spec);
    must(t->m->ctx[k], gbs_sampler_get_state(sampler, x));
    compare(t, k, what, start, x);
    must(t->m->ctx[k], gbs_sampler_run(sampler, SWEEPS));
    must(t->m->ctx[k], gbs_sampler_get_state(sampler, x));
    compare(t, k, what, end, x);
    gbs_sampler_destroy(sampler);
}

/* Naive chains from their starts; the noise they used goes to noise[pass, site, chain]. */
static void run_naive(const trial *t, const gbs_sampler_spec *spec, double *start, double *end,
                      double *noise)
{
    const int passes = passes_of(t->order);
    naive n = naive_create(t->type, t->dim, t->q, t->kind, t->location, t->w);
    int64_t *const order = calloc((size_t)t->dim, sizeof *order);
    double *const z = naive_new(t->dim);
    for (int64_t chain = 0; chain < t->chains; ++chain) {
        double *const x = end + chain * t->dim;
        native_address at = {t->seed, 0, spec->first_chain + chain, 1};
        reference_normals(t->type, at, t->dim, z);
        naive_overdispersed(&n, z, x);
        memcpy(start + chain * t->dim, x, (size_t)t->dim * sizeof *x);
        at.purpose = 0;
        for (int64_t pass = 0; pass < SWEEPS * passes; ++pass) {
            at.sweep = (uint64_t)(spec->first_sweep * passes + pass);
            reference_normals(t->type, at, t->dim, z);
            for (int64_t i = 0; i < t->dim; ++i)
                noise[(pass * t->dim + i) * t->chains + chain] = z[i];
            visits(t->order, (int)(pass % passes), t->dim, spec->permutation, order);
            naive_sweep(&n, order, z, x);
        }
    }
    naive_destroy(&n);
    free(order);
    free(z);
}

/* Native against naive; given, fed with the same noise in either type, against native. */
static void check_gibbs(const trial *t, const int64_t *permutation)
{
    const int64_t size = t->chains * t->dim, all = size * SWEEPS * passes_of(t->order);
    double *const start = naive_new(size), *const end = naive_new(size);
    double *const noise = naive_new(all), *const x = naive_new(size);
    float *const noise_f32 = calloc((size_t)all, sizeof *noise_f32);
    gbs_sampler_spec spec = spec_for(t, permutation);
    run_naive(t, &spec, start, end, noise);
    for (int64_t at = 0; at < all; ++at)
        noise_f32[at] = (float)noise[at];
    for (int k = 0; k < t->m->count; ++k) {
        const int narrow = t->type == GBS_F32 && t->seed % 2 == 0;
        spec.stream.kind = GBS_STREAM_NATIVE;
        check_run(t, k, &spec, "native", start, end, x);
        spec.stream.kind = GBS_STREAM_GIVEN;
        spec.stream.noise_type = narrow ? GBS_F32 : GBS_F64;
        spec.stream.noise = narrow ? (const void *)noise_f32 : noise;
        spec.stream.noise_sweeps = SWEEPS * passes_of(t->order);
        check_run(t, k, &spec, "given", start, end, x);
    }
    free(start);
    free(end);
    free(noise);
    free(noise_f32);
    free(x);
}

/* All orders, weights and types on one model, or a share of 1 in `step` of them. */
static int64_t check_model(trial *t, int step, int64_t most_chains, uint64_t *count)
{
    int64_t done = 0;
    int64_t *const permutation = calloc((size_t)t->dim, sizeof *permutation);
    make_models(t);
    for (int k = 0; k < 2 * 4 * COUNT(weights); ++k) {
        const uint64_t number = (*count)++;
        if (number % (uint64_t)step != 0)
            continue;
        t->type = (gbs_type)(k % 2);
        t->order = (gbs_order)(k / 2 % 4);
        t->w = weights[k / 8];
        t->seed = number / (uint64_t)step;
        t->chains = ragged[t->seed % (uint64_t)COUNT(ragged)];
        while (t->chains > most_chains)
            t->chains = t->chains / 7 + 1;
        shuffle(t->dim, number, permutation);
        check_gibbs(t, permutation);
        ++done;
    }
    release_models(t);
    free(permutation);
    return done;
}

static int64_t check_dim(machine *m, int64_t dim, int step, int64_t most_chains, uint64_t *count)
{
    int64_t done = 0;
    double *const q = dim % 5 == 0 ? ar1_precision(dim, 0.9) : dense_precision(dim, (uint64_t)dim);
    double *const location = random_vector(dim, 99, 100);
    for (gbs_location kind = GBS_LOCATION_ZERO; kind <= GBS_LOCATION_OFFSET; ++kind) {
        trial t = {.m = m, .dim = dim, .q = q, .location = location, .kind = kind};
        done += check_model(&t, step, most_chains, count);
    }
    free(q);
    free(location);
    return done;
}

static void test_sweeps(void **state)
{
    uint64_t count = 0;
    int64_t done = 0;
    for (int k = 0; k < COUNT(small_dims); ++k)
        done += check_dim(*state, small_dims[k], quick() ? 7 : 1, 1000, &count);
    printf("checked: D = 1 .. 33: %lld sets of options, B = 1 .. 1000: native and given equal the "
           "naive loops bit for bit on %d instruction sets\n",
           (long long)done, ((machine *)*state)->count);
    done = 0;
    for (int k = 0; k < COUNT(large_dims); ++k)
        done += check_dim(*state, large_dims[k], quick() ? 31 : 5, 70, &count);
    printf("checked: D = 63 .. 257: %lld sets of options likewise, B = 1 .. 70\n", (long long)done);
}

/* ---- exact draws ---- */

/* |L'y - z| <= (gamma_(D+1) + eps) |L'| |y|: back substitution is backward stable row by row
 * (Higham, Accuracy and Stability, theorem 8.5), and L was rounded to T. */
static double law_excess(const trial *t, const naive *n, const double *z, const double *y)
{
    const double unit = (t->type == GBS_F32 ? FLT_EPSILON : DBL_EPSILON) / 2;
    const double gamma = (double)(t->dim + 2) * unit / (1 - (double)(t->dim + 2) * unit);
    double worst = 0;
    for (int64_t i = 0; i < t->dim; ++i) {
        long double sum = 0, size = 0;
        for (int64_t j = i; j < t->dim; ++j) {
            const long double term = (long double)n->l[j * t->dim + i] * (long double)y[j];
            sum += term;
            size += fabsl(term);
        }
        const double error = (double)fabsl(sum - (long double)z[i]);
        worst = fmax(worst, error / (gamma * (double)size));
    }
    return worst;
}

static void check_exact(trial *t, double *worst)
{
    const int64_t size = t->chains * t->dim;
    double *const expected = naive_new(size), *const x = naive_new(size);
    double *const z = naive_new(t->dim);
    naive n = naive_create(t->type, t->dim, t->q, t->kind, t->location, 1);
    gbs_sampler_spec spec = spec_for(t, NULL);
    spec.method = GBS_METHOD_EXACT;
    for (int64_t chain = 0; chain < t->chains; ++chain) {
        const native_address at = {t->seed, (uint64_t)spec.first_sweep + SWEEPS - 1,
                                   spec.first_chain + chain, 5};
        reference_normals(t->type, at, t->dim, z);
        naive_exact_draw(&n, z, expected + chain * t->dim);
        if (t->kind == GBS_LOCATION_ZERO)
            *worst = fmax(*worst, law_excess(t, &n, z, expected + chain * t->dim));
    }
    for (int k = 0; k < t->m->count; ++k) {
        gbs_sampler *const sampler = new_sampler(t->m->ctx[k], t->model[k], &spec);
        must(t->m->ctx[k], gbs_sampler_run(sampler, SWEEPS));
        must(t->m->ctx[k], gbs_sampler_get_state(sampler, x));
        compare(t, k, "exact", expected, x);
        gbs_sampler_destroy(sampler);
    }
    naive_destroy(&n);
    free(expected);
    free(x);
    free(z);
}

static void test_exact_draws(void **state)
{
    double worst = 0;
    int64_t done = 0;
    for (int d = 0; d < COUNT(small_dims) + COUNT(large_dims); ++d) {
        const int big = d >= COUNT(small_dims);
        const int64_t dim = big ? large_dims[d - COUNT(small_dims)] : small_dims[d];
        double *const q = d % 2 == 0 ? ar1_precision(dim, 0.9) : dense_precision(dim, 5);
        double *const location = random_vector(dim, 98, 100);
        for (gbs_location kind = GBS_LOCATION_ZERO; kind <= GBS_LOCATION_OFFSET; ++kind) {
            trial t = {*state, {NULL}, dim, q, location, kind, GBS_F32, GBS_ORDER_FORWARD, 1, 0, 0};
            make_models(&t);
            for (t.type = GBS_F32; t.type <= GBS_F64; ++t.type, ++done) {
                t.seed = (uint64_t)done;
                t.chains = big ? 19 : ragged[done % COUNT(ragged)];
                check_exact(&t, &worst);
            }
            release_models(&t);
        }
        free(q);
        free(location);
    }
    printf("checked: exact draws equal the naive triangular solve bit for bit, %lld sets; L'y = z "
           "within %.3f of its bound gamma_(D+2) |L'||y|\n",
           (long long)done, worst);
    assert_true(worst <= 1);
}

int main(void)
{
    if (quick())
        printf("GBS_TEST_QUICK is set: fewer sets of options\n");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweeps),
        cmocka_unit_test(test_exact_draws),
    };
    return cmocka_run_group_tests(tests, start_machine, stop_machine);
}
