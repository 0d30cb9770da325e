/* Models with fixed sites.  The law of the free sites given the others is that of a smaller model,
 * made here by hand: precision Q_FF, and b_F - Q_FC v.  Fed with the same normals, a sampler of the
 * model that keeps its fixed sites must give the bits of one of the smaller model, in every order,
 * type, method and instruction set, for what is fixed adds exact zeros to its sums. */
#include "unit/sampler_fixture.h"

enum { SITES = 6, FREE = 4, CHAINS = 37, SWEEPS = 5, PASSES = 2 * SWEEPS };

static const double precision[SITES * SITES] = {
    4,     -1,   0.5, 0,   -0.25, 0.5,  -1,  3,     -0.5, 0.25,  0,   0.125,
    0.5,   -0.5, 5,   -1,  0,     0.25, 0,   0.25,  -1,   4,     0.5, -0.75,
    -0.25, 0,    0,   0.5, 3,     -1,   0.5, 0.125, 0.25, -0.75, -1,  6};
static const double given[SITES] = {1, -2, 0.3, 4, 0.7, -1.5};
static const int64_t free_site[FREE] = {0, 2, 3, 5};
static const double value_1 = 0.1, value_4 = -7.3;

static double big_noise[PASSES][SITES][CHAINS], small_noise[PASSES][FREE][CHAINS];

static void fill_noise(void)
{
    for (int pass = 0; pass < PASSES; ++pass)
        for (int i = 0; i < SITES; ++i)
            for (int c = 0; c < CHAINS; ++c)
                big_noise[pass][i][c] =
                    (double)((pass * 7919 + i * 104729 + c * 611953) % 2003) / 1001.0 - 1.0;
    for (int pass = 0; pass < PASSES; ++pass)
        for (int k = 0; k < FREE; ++k)
            memcpy(small_noise[pass][k], big_noise[pass][free_site[k]], sizeof small_noise[0][0]);
}

static gbs_model *fixed_model(gbs_context *ctx, gbs_location form)
{
    double fixed[SITES];
    for (int i = 0; i < SITES; ++i)
        fixed[i] = i == 1 ? value_1 : i == 4 ? value_4 : (double)NAN;
    gbs_model_spec spec = spec_of(precision, SITES);
    spec.location_kind = form;
    spec.location = form == GBS_LOCATION_ZERO ? NULL : given;
    spec.fixed = fixed;
    return new_model(ctx, &spec);
}

/* Q_FF and the location that goes with it; of the mean form the model's own, which
 * test_conditional_mean checks. */
static gbs_model *smaller_model(gbs_context *ctx, gbs_location form, const gbs_model *big)
{
    double q[FREE * FREE], location[FREE];
    for (int r = 0; r < FREE; ++r) {
        const int64_t i = free_site[r];
        const double *const row = precision + i * SITES;
        for (int k = 0; k < FREE; ++k)
            q[r * FREE + k] = row[free_site[k]];
        const double pull = fma(row[4], value_4, fma(row[1], value_1, 0));
        location[r] = form == GBS_LOCATION_INFORMATION ? given[i] - pull
                      : form == GBS_LOCATION_OFFSET    ? given[i] - pull / row[i]
                                                       : gbs_model_location(big)[i];
    }
    gbs_model_spec spec = spec_of(q, FREE);
    spec.location_kind = form == GBS_LOCATION_ZERO ? GBS_LOCATION_MEAN : form;
    spec.location = location;
    return new_model(ctx, &spec);
}

/* ---- bits ---- */

typedef struct plan {
    const char *what;
    gbs_sampler_spec spec;
} plan;

static double element(gbs_type type, const void *x, int64_t at)
{
    return type == GBS_F32 ? (double)((const float *)x)[at] : ((const double *)x)[at];
}

static double rounded(gbs_type type, double value)
{
    return type == GBS_F32 ? (double)(float)value : value;
}

/* [draws, B, sites] of a run that starts where *initial says. */
static void *draws_of(gbs_context *ctx, gbs_model *model, gbs_sampler_spec spec, const void *noise,
                      const int64_t *permutation, int64_t draws)
{
    const int64_t dim = gbs_model_dim(model);
    gbs_sampler *sampler = NULL;
    spec.chains = CHAINS;
    spec.stream.kind = GBS_STREAM_GIVEN;
    spec.stream.noise = noise;
    spec.stream.noise_sweeps = PASSES;
    spec.permutation = permutation;
    if (gbs_sampler_create(ctx, model, &spec, &sampler) != GBS_OK)
        fail_msg("expected a sampler, got: %s", gbs_context_message(ctx));
    void *const out = malloc((size_t)(draws * CHAINS * dim) * sizeof(double));
    assert_non_null(out);
    const gbs_sink sink = {
        .out = out, .chain_stride = dim, .draw_stride = CHAINS * dim, .site_stride = 1};
    assert_int_equal(gbs_sampler_sample(sampler, draws, 1, &sink), GBS_OK);
    gbs_sampler_destroy(sampler);
    return out;
}

static void assert_same_draws(const plan *p, gbs_location form, gbs_isa isa, const void *big,
                              const void *small, int64_t draws)
{
    const gbs_type type = p->spec.type;
    for (int64_t row = 0; row < draws * CHAINS; ++row) {
        for (int k = 0; k < FREE; ++k) {
            const double expected = element(type, small, row * FREE + k),
                         got = element(type, big, row * SITES + free_site[k]);
            if (expected != got)
                fail_msg("%s, form %d, %s: draw %lld, chain %lld, site %lld: expected %a, got %a, "
                         "bound 0",
                         p->what, (int)form, gbs_isa_name(isa), (long long)(row / CHAINS),
                         (long long)(row % CHAINS), (long long)free_site[k], expected, got);
        }
        if (element(type, big, row * SITES + 1) != rounded(type, value_1) ||
            element(type, big, row * SITES + 4) != rounded(type, value_4))
            fail_msg("%s: row %lld: the fixed sites are at %a and %a, expected %a and %a", p->what,
                     (long long)row, element(type, big, row * SITES + 1),
                     element(type, big, row * SITES + 4), rounded(type, value_1),
                     rounded(type, value_4));
    }
}

static void check_plan(const plan *p, gbs_location form, gbs_isa isa)
{
    static const int64_t big_order[SITES] = {5, 1, 3, 0, 4, 2}, small_order[FREE] = {3, 2, 0, 1};
    const int permuted = p->spec.order == GBS_ORDER_PERMUTED;
    gbs_context *const ctx = new_context(isa);
    gbs_model *const big = fixed_model(ctx, form), *const small = smaller_model(ctx, form, big);
    void *const got = draws_of(ctx, big, p->spec, big_noise, permuted ? big_order : NULL, SWEEPS);
    void *const expected =
        draws_of(ctx, small, p->spec, small_noise, permuted ? small_order : NULL, SWEEPS);
    assert_same_draws(p, form, isa, got, expected, SWEEPS);
    free(got);
    free(expected);
    gbs_model_release(small);
    gbs_model_release(big);
    gbs_context_destroy(ctx);
}

static void test_bits_of_the_smaller_model(void **state)
{
    (void)state;
    static const char *const what[] = {"forward f64",   "forward f32",  "backward f64",
                                       "symmetric f32", "permuted f64", "omega 1.3 f64",
                                       "omega 0.7 f32", "exact f64",    "exact f32"};
    int cells = 0;
    fill_noise();
    for (size_t k = 0; k < sizeof what / sizeof *what; ++k) {
        plan p = {what[k], gbs_sampler_spec_default()};
        p.spec.type = strstr(what[k], "f32") != NULL ? GBS_F32 : GBS_F64;
        p.spec.start = GBS_START_ZERO;
        if (strstr(what[k], "backward"))
            p.spec.order = GBS_ORDER_BACKWARD;
        if (strstr(what[k], "symmetric"))
            p.spec.order = GBS_ORDER_SYMMETRIC;
        if (strstr(what[k], "permuted"))
            p.spec.order = GBS_ORDER_PERMUTED;
        if (strstr(what[k], "omega"))
            p.spec.omega = strstr(what[k], "1.3") ? 1.3 : 0.7;
        if (strstr(what[k], "exact")) {
            p.spec.method = GBS_METHOD_EXACT;
            p.spec.start = GBS_START_OVERDISPERSED;
        }
        for (int form = GBS_LOCATION_ZERO; form <= GBS_LOCATION_OFFSET; ++form)
            for (int isa = GBS_ISA_SCALAR; isa <= GBS_ISA_NEON; ++isa)
                if (gbs_isa_available((gbs_isa)isa)) {
                    check_plan(&p, (gbs_location)form, (gbs_isa)isa);
                    ++cells;
                }
    }
    printf("checked: %d cells of order, type, method, location and instruction set: the draws of "
           "the smaller model, bit for bit\n",
           cells);
}

/* Large models of few chains take other kernels: every number of chains on every instruction set,
 * every tenth site fixed, from starts of both kinds. */
static void test_same_bits_where_chains_are_few(void **state)
{
    (void)state;
    enum { LARGE = 300, MOST = 9, RUN = 3 };
    double *const q = calloc(LARGE * LARGE, sizeof *q), fixed[LARGE];
    double *const expected = malloc(MOST * LARGE * sizeof *expected), *const got =
                                                                          malloc(MOST * LARGE *
                                                                                 sizeof *got);
    int cells = 0;
    assert_true(q != NULL && expected != NULL && got != NULL);
    for (int i = 0; i < LARGE; ++i) {
        fixed[i] = i % 10 == 3 ? 0.125 * i - 11 : (double)NAN;
        for (int j = 0; j < LARGE; ++j)
            q[i * LARGE + j] = i == j ? 4 : 1.0 / (1 + (i - j) * (i - j));
    }
    for (int isa = GBS_ISA_SCALAR; isa <= GBS_ISA_NEON; ++isa)
        for (int chains = 1; chains <= MOST && gbs_isa_available((gbs_isa)isa); ++chains)
            for (int start = GBS_START_OVERDISPERSED; start <= GBS_START_ZERO; ++start) {
                gbs_context *const ctx = new_context((gbs_isa)isa);
                gbs_model_spec spec = spec_of(q, LARGE);
                gbs_sampler_spec s = gbs_sampler_spec_default();
                gbs_sampler *sampler = NULL;
                spec.fixed = fixed;
                s.chains = chains;
                s.seed = 3;
                s.start = (gbs_start)start;
                gbs_model *const model = new_model(ctx, &spec);
                assert_int_equal(gbs_sampler_create(ctx, model, &s, &sampler), GBS_OK);
                assert_int_equal(gbs_sampler_run(sampler, RUN), GBS_OK);
                assert_int_equal(gbs_sampler_get_state(sampler, got), GBS_OK);
                /* chains do not know of each other: the first run of each start tells all */
                if (isa == GBS_ISA_SCALAR && chains == 1)
                    memcpy(expected + start * LARGE, got, LARGE * sizeof *got);
                if (memcmp(expected + start * LARGE, got, LARGE * sizeof *got) != 0)
                    fail_msg("%s, %d chains, start %d: chain 0 is not that of one chain in plain C",
                             gbs_isa_name((gbs_isa)isa), chains, start);
                for (int at = 0; at < chains * LARGE; ++at)
                    assert_true(isnan(fixed[at % LARGE]) || got[at] == fixed[at % LARGE]);
                gbs_sampler_destroy(sampler);
                gbs_model_release(model);
                gbs_context_destroy(ctx);
                ++cells;
            }
    free(got);
    free(expected);
    free(q);
    printf("checked: %d cells of instruction set, start and 1 to %d chains of %d sites\n", cells,
           (int)MOST, (int)LARGE);
}

/* ---- the law ---- */

/* Solves Q_FF d = Q_FC (v - mu_C) by elimination in long double. */
static void conditional_mean(const double *mu, double *out)
{
    long double a[FREE][FREE + 1];
    for (int r = 0; r < FREE; ++r) {
        const double *const row = precision + free_site[r] * SITES;
        for (int k = 0; k < FREE; ++k)
            a[r][k] = row[free_site[k]];
        a[r][FREE] = (long double)row[1] * ((long double)value_1 - mu[1]) +
                     (long double)row[4] * ((long double)value_4 - mu[4]);
    }
    for (int p = 0; p < FREE; ++p)
        for (int r = 0; r < FREE; ++r) {
            if (r == p)
                continue;
            const long double factor = a[r][p] / a[p][p];
            for (int k = p; k <= FREE; ++k)
                a[r][k] -= factor * a[p][k];
        }
    for (int r = 0; r < FREE; ++r)
        out[r] = (double)(mu[free_site[r]] - a[r][FREE] / a[r][r]);
}

/* The condition number of this Q is below 4, so that a backward-stable solve of 4 sites is within
 * 4 * (3 * 4 + 10) roundings of numbers below 8. */
static void test_conditional_mean(void **state)
{
    gbs_context *const ctx = *state;
    static const double zero[SITES];
    const double bound = 4 * 22 * 0x1p-52 * 8;
    double expected[FREE], sd[SITES];
    for (int form = GBS_LOCATION_ZERO; form <= GBS_LOCATION_MEAN; ++form) {
        gbs_model *const model = fixed_model(ctx, (gbs_location)form);
        conditional_mean(form == GBS_LOCATION_ZERO ? zero : given, expected);
        for (int k = 0; k < FREE; ++k)
            assert_near("conditional mean", free_site[k], expected[k],
                        gbs_model_mean(model)[free_site[k]], bound);
        assert_true(gbs_model_mean(model)[1] == value_1 && gbs_model_mean(model)[4] == value_4);
        assert_int_equal(gbs_model_location_kind(model), GBS_LOCATION_MEAN);
        gbs_model_release(model);
    }
    /* b = Q mu gives the law of mu */
    double b[SITES] = {0}, fixed[SITES];
    for (int i = 0; i < SITES; ++i) {
        fixed[i] = i == 1 ? value_1 : i == 4 ? value_4 : (double)NAN;
        for (int j = 0; j < SITES; ++j)
            b[i] += precision[i * SITES + j] * given[j];
    }
    gbs_model_spec spec = spec_of(precision, SITES);
    spec.location_kind = GBS_LOCATION_INFORMATION;
    spec.location = b;
    spec.fixed = fixed;
    gbs_model *const model = new_model(ctx, &spec);
    conditional_mean(given, expected);
    for (int k = 0; k < FREE; ++k)
        assert_near("conditional mean", free_site[k], expected[k],
                    gbs_model_mean(model)[free_site[k]], 8 * bound);
    assert_int_equal(gbs_model_sd(ctx, model, sd), GBS_OK);
    assert_true(sd[1] == 0 && sd[4] == 0 && sd[0] > 0);
    assert_true(isnan(gbs_model_fixed(model)[0]) && gbs_model_fixed(model)[4] == value_4);
    gbs_model_release(model);
    printf("checked: conditional means against elimination in long double; sd of fixed sites 0\n");
}

/* -(x - mu)' Q_FF (x - mu) / 2 over the free sites alone, also where a fixed one is rounded. */
static void test_log_density(void **state)
{
    gbs_context *const ctx = *state;
    gbs_model *const big = fixed_model(ctx, GBS_LOCATION_INFORMATION);
    gbs_model *const small = smaller_model(ctx, GBS_LOCATION_INFORMATION, big);
    const float x[SITES] = {0.5f, (float)value_1, -1, 2, (float)value_4, 0.25f};
    float y[FREE];
    double expected, got;
    for (int k = 0; k < FREE; ++k)
        y[k] = x[free_site[k]];
    assert_int_equal(gbs_model_log_density(ctx, small, GBS_F32, y, 1, 0, &expected), GBS_OK);
    assert_int_equal(gbs_model_log_density(ctx, big, GBS_F32, x, 1, 0, &got), GBS_OK);
    assert_near("log density", 0, expected, got, 0);
    gbs_model_release(small);
    gbs_model_release(big);
    printf("checked: the log density is that of the free sites\n");
}

/* ---- starts, moments, edges ---- */

static void test_held_from_the_start(void **state)
{
    gbs_context *const ctx = *state;
    const double initial[SITES] = {9, 9, 9, 9, 9, 9};
    for (int start = GBS_START_OVERDISPERSED; start <= GBS_START_GIVEN; ++start) {
        gbs_model *const model = fixed_model(ctx, GBS_LOCATION_MEAN);
        gbs_moments *moments = NULL;
        gbs_sampler *sampler = NULL;
        gbs_sampler_spec spec = gbs_sampler_spec_default();
        double x[CHAINS * SITES];
        spec.chains = CHAINS;
        spec.start = (gbs_start)start;
        spec.initial = initial;
        spec.initial_rows = 1;
        assert_int_equal(gbs_sampler_create(ctx, model, &spec, &sampler), GBS_OK);
        assert_int_equal(gbs_sampler_get_state(sampler, x), GBS_OK);
        for (int c = 0; c < CHAINS; ++c)
            assert_true(x[c * SITES + 1] == value_1 && x[c * SITES + 4] == value_4);
        assert_int_equal(gbs_moments_create(ctx, CHAINS, SITES, &moments), GBS_OK);
        const gbs_sink sink = {.moments = moments};
        assert_int_equal(gbs_sampler_sample(sampler, 20, 1, &sink), GBS_OK);
        for (int c = 0; c < CHAINS; ++c) {
            assert_true(gbs_moments_mean(moments)[c * SITES + 4] == value_4);
            assert_true(gbs_moments_m2(moments)[c * SITES + 4] == 0);
            assert_true(gbs_moments_m2(moments)[c * SITES] > 0);
        }
        gbs_moments_destroy(moments);
        gbs_sampler_destroy(sampler);
        gbs_model_release(model);
    }
    printf("checked: held from the start, whatever the start, and in moments\n");
}

/* An intrinsic matrix is a law once a site is fixed: the ring of four, others given site 0. */
static void test_singular_matrix(void **state)
{
    gbs_context *const ctx = *state;
    const double ring[16] = {2, -1, 0, -1, -1, 2, -1, 0, 0, -1, 2, -1, -1, 0, -1, 2};
    const double fixed[4] = {5, (double)NAN, (double)NAN, (double)NAN};
    gbs_model_spec spec = spec_of(ring, 4);
    gbs_model *model = NULL;
    double sd[4];
    assert_int_equal(gbs_model_create(ctx, &spec, &model), GBS_ERROR_NOT_POSITIVE_DEFINITE);
    spec.fixed = fixed;
    model = new_model(ctx, &spec);
    assert_int_equal(gbs_model_sd(ctx, model, sd), GBS_OK);
    const double variance[4] = {0, 0.75, 1, 0.75}; /* of a bridge of four steps */
    for (int i = 0; i < 4; ++i) {
        assert_near("mean", i, 5, gbs_model_mean(model)[i], 64 * 0x1p-52);
        assert_near("variance", i, variance[i], sd[i] * sd[i], 16 * 0x1p-52);
    }
    gbs_model_release(model);
    printf("checked: a singular ring with one site fixed: mean 5, variances 0, 3/4, 1, 3/4\n");
}

static void test_all_fixed_and_none(void **state)
{
    gbs_context *const ctx = *state;
    const double all[SITES] = {1, 2, 3, 4, 5, 6};
    double none[SITES];
    for (int i = 0; i < SITES; ++i)
        none[i] = (double)NAN;
    double x[2][SITES];
    for (int k = 0; k < 2; ++k) {
        gbs_model_spec spec = spec_of(precision, SITES);
        gbs_sampler_spec s = gbs_sampler_spec_default();
        gbs_sampler *sampler = NULL;
        spec.fixed = k == 0 ? all : none;
        gbs_model *const model = new_model(ctx, &spec);
        assert_int_equal(gbs_sampler_create(ctx, model, &s, &sampler), GBS_OK);
        assert_int_equal(gbs_sampler_run(sampler, 3), GBS_OK);
        assert_int_equal(gbs_sampler_get_state(sampler, x[k]), GBS_OK);
        gbs_sampler_destroy(sampler);
        gbs_model_release(model);
    }
    assert_memory_equal(x[0], all, sizeof all);
    for (int i = 0; i < SITES; ++i)
        assert_true(x[1][i] != 0 && isfinite(x[1][i]));
    printf("checked: all sites fixed, and none by an array of NaN\n");
}

static void test_refused(void **state)
{
    gbs_context *const ctx = *state;
    double fixed[SITES] = {(double)NAN, 1, (double)NAN, (double)INFINITY, 2, (double)NAN};
    gbs_model_spec spec = spec_of(precision, SITES);
    gbs_model *model = NULL;
    gbs_sampler *sampler = NULL;
    spec.fixed = fixed;
    assert_int_equal(gbs_model_create(ctx, &spec, &model), GBS_ERROR_NOT_FINITE);
    assert_non_null(strstr(gbs_context_message(ctx), "fixed: site 3 is inf"));
    assert_null(model);
    fixed[3] = 1e200;
    model = new_model(ctx, &spec);
    gbs_sampler_spec s = gbs_sampler_spec_default();
    s.type = GBS_F32;
    s.start = GBS_START_ZERO;
    assert_int_equal(gbs_sampler_create(ctx, model, &s, &sampler), GBS_ERROR_NOT_FINITE);
    printf("checked: \"%s\"\n", gbs_context_message(ctx));
    assert_non_null(strstr(gbs_context_message(ctx), "does not fit in float"));
    gbs_model_release(model);
}

static void test_checkpoint_knows_them(void **state)
{
    gbs_context *const ctx = *state;
    const double diagonal[4] = {2, 0, 0, 3}, one[2] = {0, (double)NAN};
    gbs_model_spec spec = spec_of(diagonal, 2);
    gbs_model *const plain = new_model(ctx, &spec);
    spec.fixed = one;
    gbs_model *const fixed = new_model(ctx, &spec);
    const gbs_sampler_spec s = gbs_sampler_spec_default();
    gbs_sampler *a = NULL, *b = NULL;
    assert_int_equal(gbs_sampler_create(ctx, fixed, &s, &a), GBS_OK);
    assert_int_equal(gbs_sampler_create(ctx, plain, &s, &b), GBS_OK);
    size_t bytes;
    assert_int_equal(gbs_checkpoint_size(a, NULL, &bytes), GBS_OK);
    void *const to = malloc(bytes);
    assert_int_equal(gbs_checkpoint_write(a, NULL, NULL, to, bytes), GBS_OK);
    assert_int_equal(gbs_checkpoint_read(a, NULL, to, bytes), GBS_OK);
    assert_int_equal(gbs_checkpoint_read(b, NULL, to, bytes), GBS_ERROR_STATE);
    printf("checked: \"%s\"\n", gbs_context_message(ctx));
    assert_non_null(strstr(gbs_context_message(ctx), "its set of fixed sites is another one"));
    free(to);
    gbs_sampler_destroy(a);
    gbs_sampler_destroy(b);
    gbs_model_release(plain);
    gbs_model_release(fixed);
}

/* Equal for equal models, different for a last bit, a form, a fixed site or its value; the frozen
 * value is that of any machine. */
static void test_hash(void **state)
{
    gbs_context *const ctx = *state;
    enum { MODELS = 9 };
    double q[SITES * SITES], at[2][SITES];
    memcpy(q, precision, sizeof q);
    q[0] = nextafter(q[0], 5);
    for (int i = 0; i < SITES; ++i)
        at[0][i] = at[1][i] = (double)NAN;
    at[0][2] = 0; /* the location below is 0 there with or without it */
    at[1][2] = 1;
    gbs_model_spec spec[MODELS];
    for (int k = 0; k < MODELS; ++k)
        spec[k] = spec_of(k == 1 ? q : precision, SITES);
    for (int k = 2; k < 5; ++k) {
        spec[k].location_kind = (gbs_location)(k - 1);
        spec[k].location = given;
    }
    spec[5].fixed = at[0];
    spec[6].fixed = at[1];
    spec[7].lower = given;
    spec[8].upper = given;
    uint64_t hash[MODELS];
    for (int k = 0; k < MODELS; ++k) {
        gbs_model *const model = new_model(ctx, &spec[k]), *const again = new_model(ctx, &spec[k]);
        hash[k] = gbs_model_hash(model);
        assert_int_equal(hash[k], gbs_model_hash(model));
        assert_int_equal(hash[k], gbs_model_hash(again));
        for (int other = 0; other < k; ++other)
            if (hash[k] == hash[other])
                fail_msg("models %d and %d have one hash, %016llx", other, k,
                         (unsigned long long)hash[k]);
        gbs_model_release(model);
        gbs_model_release(again);
    }
    assert_int_equal(hash[0], UINT64_C(0x70b9fa6badf565c1));
    assert_int_equal(gbs_model_hash(NULL), 0);
    printf("checked: %d models that differ a little have %d hashes\n", MODELS, MODELS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits_of_the_smaller_model),
        cmocka_unit_test(test_same_bits_where_chains_are_few),
        cmocka_unit_test_setup_teardown(test_conditional_mean, start, stop),
        cmocka_unit_test_setup_teardown(test_log_density, start, stop),
        cmocka_unit_test_setup_teardown(test_held_from_the_start, start, stop),
        cmocka_unit_test_setup_teardown(test_singular_matrix, start, stop),
        cmocka_unit_test_setup_teardown(test_all_fixed_and_none, start, stop),
        cmocka_unit_test_setup_teardown(test_refused, start, stop),
        cmocka_unit_test_setup_teardown(test_checkpoint_knows_them, start, stop),
        cmocka_unit_test_setup_teardown(test_hash, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
