/* Sweeps between bounds against a loop by the book, bit for bit: one chain, one site and one
 * coefficient at a time (naive.h), words by a textbook Philox (native_reference.h), draws by the
 * scalar vocabulary.  Free, bounded on either side or both, held and fixed sites in one model,
 * boxes that hold the mean and boxes far from it; plain and over-relaxed; every order, type,
 * instruction set, several threads, chains split into batches and runs into pieces; the given
 * stream fed with the native one's numbers.  Prints which kernels ran. */
#include "exact/trial.h"
#include "kat/native_reference.h"
#include "rng/truncnorm.h"
#include "sampler/forms.h"

#include <float.h>
#include <stdio.h>

enum { SWEEPS = 3, MOST_NAMES = 16 };

static const double infinite = (double)INFINITY;
static const int32_t thread_counts[] = {1, 3};

typedef struct trial {
    int64_t dim, chains;
    gbs_type type;
    gbs_order order;
    gbs_location location;
    double overrelax;
    uint64_t seed;
    double *q, *mu, *lower, *upper;
    int64_t *permutation;
} trial;

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

/* Every seventh site is free, another fixed by equal bounds, others have the bounds of a list;
 * every second group of four is free, so that words and normals come in stretches. */
static void choose_bounds(trial *t)
{
    static const double boxes[][2] = {{0, INFINITY}, {-INFINITY, -0.5}, {-0.1, 0.2},   {3, 3.5},
                                      {-9, 12},      {8, INFINITY},     {-1e5, -40},   {0.3, 0.3},
                                      {-1e300, 1.5}, {-0x1p-30, 0},     {-INFINITY, 2}};
    for (int64_t i = 0; i < t->dim; ++i) {
        const int free = i % 7 == 2 || (t->seed % 2 == 1 && i / 4 % 2 == 0);
        const double *const box = boxes[(i + (int64_t)t->seed) % COUNT(boxes)];
        t->lower[i] = free ? -infinite : box[0];
        t->upper[i] = free ? infinite : box[1];
    }
    if (t->dim > 5) { /* no float lies between these two */
        t->lower[5] = 1 + 0x1p-26;
        t->upper[5] = 1 + 0x1p-25;
    }
}

static trial new_trial(int64_t dim, int64_t chains, int64_t turn)
{
    static const double rs[] = {0, 0.7, 0, 0.95};
    trial t = {.dim = dim,
               .chains = chains,
               .type = (gbs_type)(turn % 2),
               .order = (gbs_order)(turn / 2 % 4),
               .location = (gbs_location)(turn / 3 % 4),
               .overrelax = rs[turn / 8 % 4],
               .seed = UINT64_C(0x123456789abcdef) * (uint64_t)(turn + 1)};
    t.q = dense_precision(dim, (uint64_t)turn + 3);
    t.mu = random_vector(dim, (uint64_t)turn + 4, 2);
    t.lower = naive_new(dim);
    t.upper = naive_new(dim);
    t.permutation = calloc((size_t)dim, sizeof *t.permutation);
    shuffle(dim, (uint64_t)turn, t.permutation);
    choose_bounds(&t);
    return t;
}

static void drop_trial(trial *t)
{
    free(t->q);
    free(t->mu);
    free(t->lower);
    free(t->upper);
    free(t->permutation);
}

static gbs_model *bounded_model(gbs_context *ctx, const trial *t)
{
    gbs_model_spec spec = spec_of(t->q, t->dim);
    spec.location_kind = t->location;
    spec.location = t->location == GBS_LOCATION_ZERO ? NULL : t->mu;
    spec.lower = t->lower;
    spec.upper = t->upper;
    return new_model(ctx, &spec);
}

/* ---- by the book ---- */

typedef struct book {
    naive plain, relaxed;  /* w = 1, and w = 1 + r */
    const double *fixed;   /* [D], or NULL */
    double *lower, *upper; /* rounded inward */
    uint8_t *bounded;
} book;

static double rounded_up(gbs_type type, double bound)
{
    if (type == GBS_F64 || isinf(bound))
        return bound;
    const float near = (float)bound;
    return (double)(near < bound ? nextafterf(near, INFINITY) : near);
}

static book open_book(const trial *t, const gbs_model *model)
{
    const double *const q = gbs_model_precision(model), *const mu = gbs_model_location(model);
    const gbs_location kind = gbs_model_location_kind(model);
    book b = {naive_create(t->type, t->dim, q, kind, mu, 1),
              naive_create(t->type, t->dim, q, kind, mu, 1 + t->overrelax),
              gbs_model_fixed(model),
              naive_new(t->dim),
              naive_new(t->dim),
              calloc((size_t)t->dim, 1)};
    for (int64_t i = 0; i < t->dim; ++i) {
        b.lower[i] = rounded_up(t->type, t->lower[i]);
        b.upper[i] = -rounded_up(t->type, -t->upper[i]);
        if (b.lower[i] > b.upper[i]) /* 1 is nearer than 1 + 2^-23 */
            b.lower[i] = b.upper[i] = 1;
        if (t->type == GBS_F32 && t->lower[i] < -(double)FLT_MAX)
            b.lower[i] = -infinite;
        b.bounded[i] = (isfinite(b.lower[i]) || isfinite(b.upper[i])) &&
                       !(b.fixed != NULL && !isnan(b.fixed[i]));
    }
    return b;
}

static void close_book(book *b)
{
    naive_destroy(&b->plain);
    naive_destroy(&b->relaxed);
    free(b->lower);
    free(b->upper);
    free(b->bounded);
}

static uint64_t word_of(gbs_type type, native_address at, int64_t site)
{
    uint32_t w[4];
    reference_words(at, (uint32_t)(site / (type == GBS_F32 ? 4 : 2)), w);
    if (type == GBS_F32)
        return w[site % 4];
    return w[2 * (site % 2)] ^ (uint64_t)w[2 * (site % 2) + 1] << 21;
}

static double draw(const trial *t, const book *b, native_address at, int64_t i, double m, double x,
                   double z)
{
    const double s = b->plain.s[i], r = t->overrelax;
    at.purpose = r > 0 ? 3 : 2;
    const uint64_t word = word_of(t->type, at, i);
    const double beside = sqrt((1 - r) * (1 + r));
    if (t->type == GBS_F64)
        return r > 0 ? gbs_overrelaxed_f64(m, s, b->lower[i], b->upper[i], x, z, word, r, beside)
                     : gbs_between_f64(m, s, b->lower[i], b->upper[i], word);
    const float lo = (float)b->lower[i], hi = (float)b->upper[i];
    return (double)(r > 0 ? gbs_overrelaxed_f32((float)m, (float)s, lo, hi, (float)x, (float)z,
                                                (uint32_t)word, (float)r, (float)beside)
                          : gbs_between_f32((float)m, (float)s, lo, hi, (uint32_t)word));
}

static void book_pass(const trial *t, const book *b, native_address at, const int64_t *order,
                      double *x)
{
    double *const z = naive_new(t->dim);
    reference_normals(t->type, at, t->dim, z);
    for (int64_t p = 0; p < t->dim; ++p) {
        const int64_t i = order[p];
        const naive *const n = b->bounded[i] ? &b->plain : &b->relaxed;
        if (b->fixed != NULL && !isnan(b->fixed[i])) {
            x[i] = naive_round(t->type, b->fixed[i]);
            continue;
        }
        double r = b->bounded[i] ? n->c[i] : naive_fma(t->type, n->s[i], z[i], n->c[i]);
        if (n->a[i * t->dim + i] != 0)
            r = naive_fma(t->type, n->a[i * t->dim + i], x[i], r);
        for (int64_t k = p + 1; k < t->dim; ++k)
            r = naive_fma(t->type, n->a[i * t->dim + order[k]], x[order[k]], r);
        for (int64_t k = 0; k < p; ++k)
            r = naive_fma(t->type, n->a[i * t->dim + order[k]], x[order[k]], r);
        x[i] = b->bounded[i] ? draw(t, b, at, i, r, x[i], z[i]) : r;
    }
    free(z);
}

/* The overdispersed start, held, and SWEEPS sweeps; x [B, D]. */
static void book_run(const trial *t, const book *b, int64_t first_chain, double *x)
{
    int64_t *const order = calloc((size_t)t->dim, sizeof *order);
    double *const z = naive_new(t->dim);
    const int passes = passes_of(t->order);
    for (int64_t c = 0; c < t->chains; ++c) {
        native_address at = {t->seed, 0, first_chain + c, 1};
        double *const here = x + c * t->dim;
        reference_normals(t->type, at, t->dim, z);
        naive_overdispersed(&b->plain, z, here);
        for (int64_t i = 0; i < t->dim; ++i) {
            if (b->fixed != NULL && !isnan(b->fixed[i]))
                here[i] = naive_round(t->type, b->fixed[i]);
            if (b->bounded[i])
                here[i] = fmin(fmax(here[i], b->lower[i]), b->upper[i]);
        }
        at.purpose = 0;
        for (int pass = 0; pass < SWEEPS * passes; ++pass) {
            at.sweep = (uint64_t)pass;
            visits(t->order, pass % passes, t->dim, t->permutation, order);
            book_pass(t, b, at, order, here);
        }
    }
    free(z);
    free(order);
}

/* ---- against it ---- */

static void compare(const trial *t, const book *b, const char *what, const double *expected,
                    const void *x)
{
    for (int64_t at = 0; at < t->chains * t->dim; ++at) {
        const int64_t i = at % t->dim;
        const double got = element(t->type, x, at);
        if (memcmp(&got, &expected[at], sizeof got) != 0)
            fail_msg("%s, %s %s, r = %g, D %lld, B %lld: chain %lld, site %lld in [%a, %a]: "
                     "expected %a, got %a, error %g, bound 0",
                     what, type_name(t->type), order_name(t->order), t->overrelax,
                     (long long)t->dim, (long long)t->chains, (long long)(at / t->dim),
                     (long long)i, b->lower[i], b->upper[i], expected[at], got,
                     fabs(got - expected[at]));
        if (b->bounded[i] && !(got >= b->lower[i] && got <= b->upper[i]))
            fail_msg("%s: site %lld: %a is outside [%a, %a]", what, (long long)i, got, b->lower[i],
                     b->upper[i]);
    }
}

static gbs_sampler_spec spec_for(const trial *t)
{
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.type = t->type;
    spec.chains = t->chains;
    spec.seed = t->seed;
    spec.order = t->order;
    spec.permutation = t->order == GBS_ORDER_PERMUTED ? t->permutation : NULL;
    spec.overrelax = t->overrelax;
    spec.first_chain = 77;
    return spec;
}

/* In two batches of chains, one run in pieces. */
static void run_batches(gbs_context *ctx, gbs_model *model, const trial *t, void *x)
{
    const int64_t cut = t->chains / 3;
    for (int64_t first = 0; first < t->chains; first += first == 0 && cut > 0 ? cut : t->chains) {
        gbs_sampler_spec spec = spec_for(t);
        spec.first_chain += first;
        spec.chains = first == 0 && cut > 0 ? cut : t->chains - first;
        gbs_sampler *const sampler = new_sampler(ctx, model, &spec);
        for (int sweep = 0; sweep < SWEEPS; ++sweep)
            must(ctx, gbs_sampler_run(sampler, 1));
        must(ctx, gbs_sampler_get_state(sampler,
                                        (char *)x + (size_t)(first * t->dim) * type_size(t->type)));
        gbs_sampler_destroy(sampler);
    }
}

static void run_whole(gbs_context *ctx, gbs_model *model, const gbs_sampler_spec *spec, void *x)
{
    gbs_sampler *const sampler = new_sampler(ctx, model, spec);
    must(ctx, gbs_sampler_run(sampler, SWEEPS));
    must(ctx, gbs_sampler_get_state(sampler, x));
    note_kernel(gbs_sampler_kernel(sampler));
    gbs_sampler_destroy(sampler);
}

/* Given the native stream's normals and words. */
static void run_given(gbs_context *ctx, gbs_model *model, const trial *t, void *x)
{
    const int64_t passes = SWEEPS * passes_of(t->order), each = t->dim * t->chains;
    const size_t size = type_size(t->type);
    char *const z = calloc((size_t)(passes * each), size);
    char *const words = calloc((size_t)(passes * each), size);
    gbs_sampler_spec spec = spec_for(t);
    for (int64_t pass = 0; pass < passes; ++pass) {
        const size_t at = (size_t)(pass * each) * size;
        must(ctx, gbs_native_normals(ctx, t->type, t->seed, pass, spec.first_chain, t->chains,
                                     t->dim, z + at));
        must(ctx, gbs_native_words(ctx, t->type, t->seed, pass, spec.first_chain, t->chains, t->dim,
                                   words + at));
    }
    /* double words count by their low 53 bits */
    for (int64_t k = 0; k < passes * each && t->type == GBS_F64; ++k)
        ((uint64_t *)(void *)words)[k] |= UINT64_C(0x5a) << 55;
    spec.stream = (gbs_stream_spec){.kind = GBS_STREAM_GIVEN,
                                    .noise_type = t->type,
                                    .noise = z,
                                    .noise_sweeps = passes,
                                    .words = words};
    run_whole(ctx, model, &spec, x);
    free(z);
    free(words);
}

/* The forms for few chains and for tiles, which draws between bounds do not have, may be asked for:
 * the draws are the same. */
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

static int64_t check_trial(const trial *t)
{
    int64_t runs = 0;
    double *const expected = naive_new(t->chains * t->dim);
    void *const x = calloc((size_t)(t->chains * t->dim), sizeof(double));
    for (gbs_isa isa = GBS_ISA_SCALAR; isa <= GBS_ISA_NEON; ++isa)
        for (int k = 0; k < COUNT(thread_counts) && gbs_isa_available(isa); ++k) {
            gbs_context *const ctx = context_for(isa, thread_counts[k], (gbs_form)(runs % 4));
            gbs_model *const model = bounded_model(ctx, t);
            const gbs_sampler_spec spec = spec_for(t);
            book b = open_book(t, model);
            if (runs == 0)
                book_run(t, &b, spec.first_chain, expected);
            run_whole(ctx, model, &spec, x);
            compare(t, &b, gbs_isa_name(isa), expected, x);
            run_batches(ctx, model, t, x);
            compare(t, &b, "in batches and pieces", expected, x);
            if (t->overrelax == 0) {
                run_given(ctx, model, t, x);
                compare(t, &b, "given", expected, x);
            }
            close_book(&b);
            gbs_model_release(model);
            gbs_context_destroy(ctx);
            ++runs;
        }
    free(x);
    free(expected);
    return runs;
}

static void test_bits(void **state)
{
    (void)state;
    static const int64_t dims[] = {1, 2, 3, 6, 7, 8, 9, 13, 17, 31, 40},
                         chains[] = {1, 5, 16, 37, 64, 65, 420, 130};
    int64_t runs = 0, trials = 0;
    for (int64_t turn = 0; turn < 96; turn += quick() ? 7 : 1, ++trials) {
        trial t = new_trial(dims[turn % COUNT(dims)], chains[turn % COUNT(chains)], turn);
        runs += check_trial(&t);
        drop_trial(&t);
    }
    printf("checked: %lld models by %lld contexts of instruction sets and threads; kernels:\n",
           (long long)trials, (long long)runs);
    for (int k = 0; k < MOST_NAMES && names[k][0] != '\0'; ++k)
        printf("  %s\n", names[k]);
}

/* (-hi, -lo, -mu) with complemented words gives -x. */
static void test_mirror(void **state)
{
    (void)state;
    int64_t trials = 0;
    for (int64_t turn = 0; turn < 8; ++turn, ++trials) {
        trial t = new_trial(13, 37, turn);
        t.overrelax = 0;
        t.location = GBS_LOCATION_MEAN;
        const int64_t passes = SWEEPS * passes_of(t.order), count = t.dim * t.chains;
        double *const z = random_vector(passes * count, 5, 2);
        void *const words = calloc((size_t)(passes * count), 8);
        void *const x[2] = {calloc((size_t)count, 8), calloc((size_t)count, 8)};
        uint64_t seed = (uint64_t)turn;
        for (int64_t k = 0; k < passes * count; ++k)
            if (t.type == GBS_F32)
                ((uint32_t *)words)[k] = (uint32_t)next_word(&seed);
            else
                ((uint64_t *)words)[k] = next_word(&seed);
        for (int side = 0; side < 2; ++side) {
            gbs_context *const ctx = context_for(GBS_ISA_AUTO, 1, GBS_FORM_AUTO);
            gbs_model *const model = bounded_model(ctx, &t);
            gbs_sampler_spec spec = spec_for(&t);
            spec.first_chain = 0;
            spec.start = GBS_START_MEAN;
            spec.stream = (gbs_stream_spec){.kind = GBS_STREAM_GIVEN,
                                            .noise_type = GBS_F64,
                                            .noise = z,
                                            .noise_sweeps = passes,
                                            .words = words};
            run_whole(ctx, model, &spec, x[side]);
            gbs_model_release(model);
            gbs_context_destroy(ctx);
            for (int64_t i = 0; i < t.dim; ++i) {
                const double lower = t.lower[i];
                t.lower[i] = -t.upper[i];
                t.upper[i] = -lower;
                t.mu[i] = -t.mu[i];
            }
            for (int64_t k = 0; k < passes * count; ++k) {
                z[k] = -z[k];
                if (t.type == GBS_F32)
                    ((uint32_t *)words)[k] = ~((uint32_t *)words)[k];
                else
                    ((uint64_t *)words)[k] = ~((uint64_t *)words)[k];
            }
        }
        for (int64_t k = 0; k < count; ++k)
            if (element(t.type, x[0], k) != -element(t.type, x[1], k))
                fail_msg("%s %s: chain %lld, site %lld: expected %a, got %a, bound 0",
                         type_name(t.type), order_name(t.order), (long long)(k / t.dim),
                         (long long)(k % t.dim), -element(t.type, x[0], k),
                         element(t.type, x[1], k));
        free(x[0]);
        free(x[1]);
        free(words);
        free(z);
        drop_trial(&t);
    }
    printf("checked: %lld mirror images, bit for bit\n", (long long)trials);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_mirror),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
