/* A model's bounds: what is refused and how it is named, what equal bounds and fixed values do, and
 * what rounding to a sampler's type makes of a box. */
#include "unit/sampler_fixture.h"

#include "model/bounds.h"

#include <float.h>

enum { SITES = 4 };

static const double infinite = (double)INFINITY, none = -(double)INFINITY, nan_value = (double)NAN;

static gbs_model_spec chain_spec(const double *lower, const double *upper)
{
    static const double q[SITES * SITES] = {2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2};
    gbs_model_spec spec = spec_of(q, SITES);
    spec.lower = lower;
    spec.upper = upper;
    return spec;
}

typedef struct refusal {
    const char *what;
    double lower[SITES], upper[SITES], fixed[SITES];
    gbs_status status;
    const char *says;
} refusal;

static void test_refused(void **state)
{
    (void)state;
    const double n = nan_value;
    const refusal cases[] = {
        {"lower above upper",
         {0, 1, 3, 0},
         {1, 2, 2.5, 1},
         {n, n, n, n},
         GBS_ERROR_ARGUMENT,
         "lower: site 2: 3 is above upper, 2.5"},
        {"NaN in lower",
         {0, n, 0, 0},
         {1, 1, 1, 1},
         {n, n, n, n},
         GBS_ERROR_NOT_FINITE,
         "lower: site 1 is NaN"},
        {"NaN in upper",
         {0, 0, 0, 0},
         {1, 1, 1, n},
         {n, n, n, n},
         GBS_ERROR_NOT_FINITE,
         "upper: site 3 is NaN"},
        {"lower infinite",
         {0, 0, infinite, 0},
         {1, 1, infinite, 1},
         {n, n, n, n},
         GBS_ERROR_ARGUMENT,
         "lower: site 2 is inf"},
        {"upper minus infinite",
         {none, 0, 0, 0},
         {none, 1, 1, 1},
         {n, n, n, n},
         GBS_ERROR_ARGUMENT,
         "upper: site 0 is -inf"},
        {"fixed below",
         {0, 0, 0, 0},
         {1, 1, 1, 1},
         {n, -0.5, n, n},
         GBS_ERROR_ARGUMENT,
         "fixed: site 1 is -0.5, below its lower bound 0"},
        {"fixed above",
         {0, 0, 0, 0},
         {1, 1, 1, 1},
         {n, n, n, 1.5},
         GBS_ERROR_ARGUMENT,
         "fixed: site 3 is 1.5, above its upper bound 1"},
    };
    gbs_context *const ctx = new_context(GBS_ISA_SCALAR);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        gbs_model_spec spec = chain_spec(cases[k].lower, cases[k].upper);
        gbs_model *model = NULL;
        spec.fixed = cases[k].fixed;
        const gbs_status got = gbs_model_create(ctx, &spec, &model);
        const char *const said = gbs_context_message(ctx);
        if (got != cases[k].status || model != NULL || strstr(said, cases[k].says) == NULL)
            fail_msg("%s: expected %s and \"%s\", got %s and \"%s\"", cases[k].what,
                     gbs_status_name(cases[k].status), cases[k].says, gbs_status_name(got), said);
    }
    gbs_context_destroy(ctx);
    printf("checked: %zu pairs of bounds refused, naming the site\n", sizeof cases / sizeof *cases);
}

/* Equal bounds are a fixed site: the frozen model is the one with `fixed`. */
static void test_equal_bounds(void **state)
{
    (void)state;
    const double lower[SITES] = {none, 0.75, -1, none}, upper[SITES] = {2, 0.75, 1, infinite};
    const double fixed[SITES] = {nan_value, 0.75, nan_value, nan_value};
    gbs_context *const ctx = new_context(GBS_ISA_SCALAR);
    gbs_model_spec spec = chain_spec(lower, upper);
    gbs_model *const bounded = new_model(ctx, &spec);
    spec = chain_spec(NULL, NULL);
    spec.fixed = fixed;
    gbs_model *const held = new_model(ctx, &spec);
    assert_non_null(gbs_model_fixed(bounded));
    for (int i = 0; i < SITES; ++i) {
        const double value = gbs_model_fixed(bounded)[i];
        assert_true(isnan(fixed[i]) ? isnan(value) : value == fixed[i]);
        assert_true(gbs_model_mean(bounded)[i] == gbs_model_mean(held)[i]);
        assert_true(gbs_model_lower(bounded)[i] == lower[i]);
        assert_true(gbs_model_upper(bounded)[i] == upper[i]);
    }
    assert_memory_equal(gbs_model_precision(bounded), gbs_model_precision(held),
                        SITES * SITES * sizeof(double));
    assert_null(gbs_model_lower(held));
    gbs_model_release(bounded);
    gbs_model_release(held);
    gbs_context_destroy(ctx);
    printf("checked: equal bounds are a fixed site, and bounds are kept as given\n");
}

/* ---- in a type ---- */

typedef struct rounding {
    double lower, upper;
    gbs_box box[2]; /* by type */
} rounding;

static const char *const kind_names[] = {"free", "holds", "empty"};

static void test_rounding(void **state)
{
    (void)state;
    const double tenth_up = (double)0.1f, tenth_down = (double)nextafterf(0.1f, 0);
    const double between = 1 + 0x1p-25, between_too = 1 + 0x1.8p-24, most = (double)FLT_MAX;
    const rounding cases[] = {
        /* 0.1f is above 0.1 */
        {0.1, 2, {{GBS_BOX_HOLDS, tenth_up, 2}, {GBS_BOX_HOLDS, 0.1, 2}}},
        {-2, 0.1, {{GBS_BOX_HOLDS, -2, tenth_down}, {GBS_BOX_HOLDS, -2, 0.1}}},
        {-0.1, 2, {{GBS_BOX_HOLDS, -tenth_down, 2}, {GBS_BOX_HOLDS, -0.1, 2}}},
        {none, infinite, {{GBS_BOX_FREE, none, infinite}, {GBS_BOX_FREE, none, infinite}}},
        {-1e300, infinite, {{GBS_BOX_FREE, none, infinite}, {GBS_BOX_HOLDS, -1e300, infinite}}},
        {-1e300, 3, {{GBS_BOX_HOLDS, none, 3}, {GBS_BOX_HOLDS, -1e300, 3}}},
        {1e300, infinite, {{GBS_BOX_EMPTY, most, most}, {GBS_BOX_HOLDS, 1e300, infinite}}},
        {none, -1e300, {{GBS_BOX_EMPTY, -most, -most}, {GBS_BOX_HOLDS, none, -1e300}}},
        /* between neighbours in float, nearer to the lower and to the upper one */
        {between, 1 + 0x1p-24, {{GBS_BOX_EMPTY, 1, 1}, {GBS_BOX_HOLDS, between, 1 + 0x1p-24}}},
        {between_too,
         1 + 0x1.cp-24,
         {{GBS_BOX_EMPTY, 1 + 0x1p-23, 1 + 0x1p-23}, {GBS_BOX_HOLDS, between_too, 1 + 0x1.cp-24}}},
        {1e-60, 1, {{GBS_BOX_HOLDS, 0x1p-149, 1}, {GBS_BOX_HOLDS, 1e-60, 1}}},
    };
    gbs_context *const ctx = new_context(GBS_ISA_SCALAR);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        /* a bound beside it keeps the model bounded where this one is none */
        const double lower[SITES] = {0, cases[k].lower, none, none};
        const double upper[SITES] = {1, cases[k].upper, infinite, infinite};
        gbs_model_spec spec = chain_spec(lower, upper);
        gbs_model *const model = new_model(ctx, &spec);
        for (int type = GBS_F32; type <= GBS_F64; ++type) {
            const gbs_box *const expected = &cases[k].box[type];
            const gbs_box got = gbs_bounds_box(model, (gbs_type)type, 1);
            gbs_boxes boxes;
            if (got.kind != expected->kind || got.lower != expected->lower ||
                got.upper != expected->upper)
                fail_msg("[%a, %a] in %s: expected %s [%a, %a], got %s [%a, %a], bound 0",
                         cases[k].lower, cases[k].upper, type == GBS_F32 ? "float" : "double",
                         kind_names[expected->kind], expected->lower, expected->upper,
                         kind_names[got.kind], got.lower, got.upper);
            assert_int_equal(gbs_model_boxes(ctx, model, (gbs_type)type, &boxes), GBS_OK);
            assert_int_equal(boxes.bounded, 1 + (expected->kind != GBS_BOX_FREE));
            assert_int_equal(boxes.empty, expected->kind == GBS_BOX_EMPTY);
            assert_int_equal(boxes.empty_site, expected->kind == GBS_BOX_EMPTY ? 1 : -1);
        }
        gbs_model_release(model);
    }
    gbs_context_destroy(ctx);
    printf("checked: %zu boxes rounded inward in both types\n", sizeof cases / sizeof *cases);
}

/* Equal bounds whose number the type does not hold: held at the nearest, and told. */
static void test_equal_in_a_type(void **state)
{
    (void)state;
    const double equal[SITES] = {0.5, 0.1, 1e300, 0.1f};
    const double fixed[SITES] = {nan_value, 0.1, nan_value, nan_value};
    gbs_context *const ctx = new_context(GBS_ISA_SCALAR);
    for (int with_fixed = 0; with_fixed < 2; ++with_fixed) {
        gbs_model_spec spec = chain_spec(equal, equal);
        spec.fixed = with_fixed ? fixed : NULL;
        gbs_model *const model = new_model(ctx, &spec);
        for (int type = GBS_F32; type <= GBS_F64; ++type) {
            gbs_boxes boxes;
            assert_int_equal(gbs_model_boxes(ctx, model, (gbs_type)type, &boxes), GBS_OK);
            assert_int_equal(boxes.bounded, 0);
            assert_int_equal(boxes.empty, type == GBS_F32);
            assert_int_equal(boxes.empty_site, type == GBS_F32 ? 1 : -1);
        }
        gbs_model_release(model);
    }
    gbs_context_destroy(ctx);
    printf("checked: equal bounds that float does not hold are told, once\n");
}

/* ---- unresolved ---- */

/* lower = 1e9, mean 0, sd about 1: 64 apart in float, while draws lie 1e-9 behind it; in double
 * 1.2e-7 apart, so that not even that resolves them; lower = 1e6 is fine there.  That site pulls
 * its neighbour in [0, 1], whose conditional mean is then 5e5 or 5e8, to 1e-6 or 1e-9 below 1. */
static void test_unresolved(void **state)
{
    (void)state;
    static const double lowers[] = {3, 1e6, 1e9};
    static const int expected[2][3] = {{0, 1, 2}, {0, 0, 1}};
    gbs_context *const ctx = new_context(GBS_ISA_SCALAR);
    for (int k = 0; k < 3; ++k)
        for (int mirrored = 0; mirrored < 2; ++mirrored) {
            const double lower[SITES] = {mirrored ? -1 : 0, mirrored ? -1 : 0, mirrored ? -1 : 0,
                                         mirrored ? none : lowers[k]};
            const double upper[SITES] = {mirrored ? 0 : 1, mirrored ? 0 : 1, mirrored ? 0 : 1,
                                         mirrored ? -lowers[k] : infinite};
            gbs_model_spec spec = chain_spec(lower, upper);
            gbs_model *const model = new_model(ctx, &spec);
            for (int type = GBS_F32; type <= GBS_F64; ++type) {
                gbs_boxes boxes;
                assert_int_equal(gbs_model_boxes(ctx, model, (gbs_type)type, &boxes), GBS_OK);
                if (boxes.unresolved != expected[type][k])
                    fail_msg("bound %g, type %d: expected %d unresolved, got %lld", lowers[k], type,
                             expected[type][k], (long long)boxes.unresolved);
                assert_int_equal(boxes.unresolved_site,
                                 expected[type][k] ? SITES - expected[type][k] : -1);
            }
            gbs_model_release(model);
        }
    gbs_context_destroy(ctx);
    printf("checked: bounds that a type cannot resolve are told\n");
}

enum { MANY = 16 };

/* A random walk + kappa I, or the correlations' like: entries .9 beside a diagonal of 1. */
static void fill_walk(double *q, double kappa)
{
    memset(q, 0, MANY * MANY * sizeof *q);
    for (int i = 0; i < MANY; ++i)
        q[i * (MANY + 1)] = kappa;
    for (int i = 0; i + 1 < MANY; ++i) {
        q[i * (MANY + 1)] += 1;
        q[(i + 1) * (MANY + 1)] += 1;
        q[i * MANY + i + 1] = q[(i + 1) * MANY + i] = -1;
    }
}

static void fill_even(double *q, double between)
{
    for (int k = 0; k < MANY * MANY; ++k)
        q[k] = k % (MANY + 1) == 0 ? 1 : between;
}

/* The share of draws on the bound is 1 - exp(-h / e), h half a step of the type, e = sd^2 / d; told
 * where e < 2 steps.  Walk: d = kappa bound / Q_ii at each site, however far out the bound.  Even:
 * d = (1 + 15 x .9) bound.  One site alone: the others follow it, d is what is left of their pull.
 */
typedef struct far_out {
    const char *what;
    double kappa, between; /* a walk; or even, where kappa is 0 */
    double lower;
    int bounded; /* the first so many sites */
    gbs_type type;
    int64_t expected;
} far_out;

static void test_neighbours(void **state)
{
    (void)state;
    static const far_out cases[] = {
        {"walk up to 1e8", 1e-6, 0, 1e8, MANY, GBS_F64, 0},             /* e 1e-2, step 1.5e-8 */
        {"walk up to 1e4", 1e-4, 0, 1e4, MANY, GBS_F32, 0},             /* 1, 9.8e-4 */
        {"walk up to 1e8 in float", 1e-6, 0, 1e8, MANY, GBS_F32, MANY}, /* 1e-2, 8 */
        {"even, 100", 0, .9, 100, MANY, GBS_F32, 0},                    /* 6.9e-4, 7.6e-6 */
        {"even, 1000", 0, .9, 1000, MANY, GBS_F32, MANY},               /* 6.9e-5, 6.1e-5 */
        {"even, 3000", 0, .9, 3000, MANY, GBS_F32, MANY},               /* 2.3e-5, 2.4e-4 */
        {"even, 1e6", 0, .9, 1e6, MANY, GBS_F64, 0},                    /* 6.9e-8, 1.2e-10 */
        {"even, 3e7", 0, .9, 3e7, MANY, GBS_F64, MANY},                 /* 2.3e-9, 3.7e-9 */
        {"alone, 2000", 0, 0, 2000, MANY, GBS_F32, 0},                  /* 5e-4, 1.2e-4 */
        {"alone, 3000", 0, 0, 3000, MANY, GBS_F32, MANY},               /* 3.3e-4, 2.4e-4 */
        /* the others rise with it: e = 1 / (lower / marginal variance) = 62506 / lower */
        {"one site of a walk, 1e5", 1e-6, 0, 1e5, 1, GBS_F32, 0}, /* .63, 7.8e-3 */
        {"one site of a walk, 1e8", 1e-6, 0, 1e8, 1, GBS_F64, 0}, /* 6.3e-4, 1.5e-8 */
        {"one site of a walk, 1e8", 1e-6, 0, 1e8, 1, GBS_F32, 1},
    };
    gbs_context *const ctx = new_context(GBS_ISA_SCALAR);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        const far_out *const c = &cases[k];
        double q[MANY * MANY], lower[MANY];
        gbs_boxes boxes;
        if (c->kappa > 0)
            fill_walk(q, c->kappa);
        else
            fill_even(q, c->between);
        for (int i = 0; i < MANY; ++i)
            lower[i] = i < c->bounded ? c->lower : none;
        gbs_model_spec spec = spec_of(q, MANY);
        spec.lower = lower;
        gbs_model *const model = new_model(ctx, &spec);
        assert_int_equal(gbs_model_boxes(ctx, model, c->type, &boxes), GBS_OK);
        if (boxes.unresolved != c->expected || boxes.unresolved_site != (c->expected > 0 ? 0 : -1))
            fail_msg("%s, type %d: expected %lld unresolved sites, got %lld", c->what, (int)c->type,
                     (long long)c->expected, (long long)boxes.unresolved);
        gbs_model_release(model);
    }
    gbs_context_destroy(ctx);
    printf("checked: %zu far bounds judged with the sites' neighbours\n",
           sizeof cases / sizeof *cases);
}

/* What is told agrees with a sampler's draws: of every bounded site, the share that is the bound.
 */
static void test_draws_agree(void **state)
{
    (void)state;
    enum { CHAINS = 4000 };
    static const double lowers[] = {300, 1000, 3000};
    static float x[CHAINS * MANY];
    double q[MANY * MANY], lower[MANY];
    gbs_context *const ctx = new_context(GBS_ISA_AUTO);
    fill_even(q, .9);
    for (size_t k = 0; k < sizeof lowers / sizeof *lowers; ++k) {
        for (int i = 0; i < MANY; ++i)
            lower[i] = lowers[k];
        gbs_model_spec m = spec_of(q, MANY);
        m.lower = lower;
        gbs_model *const model = new_model(ctx, &m);
        gbs_sampler_spec spec = gbs_sampler_spec_default();
        spec.type = GBS_F32;
        spec.chains = CHAINS;
        spec.seed = 1;
        gbs_sampler *sampler = NULL;
        assert_int_equal(gbs_sampler_create(ctx, model, &spec, &sampler), GBS_OK);
        assert_int_equal(gbs_sampler_run(sampler, 50), GBS_OK);
        assert_int_equal(gbs_sampler_get_state(sampler, x), GBS_OK);
        int64_t on_bound = 0;
        for (int64_t n = 0; n < (int64_t)CHAINS * MANY; ++n)
            on_bound += x[n] == (float)lowers[k];
        const double share = (double)on_bound / (CHAINS * MANY);
        const double half = (double)(nextafterf((float)lowers[k], INFINITY) - (float)lowers[k]) / 2;
        /* binomial, 5 standard errors; the law is exponential to 1e-3 */
        const double expected = 1 - exp(-half * (1 + 15 * .9) * lowers[k]);
        const double bound = 5 * sqrt(expected * (1 - expected) / (CHAINS * MANY)) + 1e-3;
        gbs_boxes boxes;
        assert_int_equal(gbs_model_boxes(ctx, model, GBS_F32, &boxes), GBS_OK);
        printf("lower %g: expected %g of the draws on the bound, got %g, error %.2g, bound %.2g\n",
               lowers[k], expected, share, share - expected, bound);
        assert_true(fabs(share - expected) <= bound);
        assert_int_equal(boxes.unresolved, expected > .2212 ? MANY : 0); /* 1 - exp(-1/4) */
        gbs_sampler_destroy(sampler);
        gbs_model_release(model);
    }
    gbs_context_destroy(ctx);
}

static void test_boxes_refused(void **state)
{
    (void)state;
    static const double lower[SITES] = {1e9, 0, 0, 0};
    counting memory = {.refuse = -1};
    const gbs_context_options options = counting_options(&memory);
    gbs_context *ctx = NULL;
    assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
    const gbs_model_spec spec = chain_spec(lower, NULL);
    gbs_model *const model = new_model(ctx, &spec);
    gbs_boxes boxes, before;
    memset(&boxes, 7, sizeof boxes);
    before = boxes;
    memory.refuse = memory.taken;
    assert_int_equal(gbs_model_boxes(ctx, model, GBS_F32, &boxes), GBS_ERROR_MEMORY);
    assert_int_equal(gbs_model_boxes(ctx, model, (gbs_type)5, &boxes), GBS_ERROR_ARGUMENT);
    assert_memory_equal(&boxes, &before, sizeof boxes);
    assert_int_equal(gbs_model_boxes(ctx, model, GBS_F32, &boxes), GBS_OK);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
    assert_int_equal(memory.taken, memory.given);
    printf("checked: refused memory and types leave boxes as they were\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_equal_bounds),
        cmocka_unit_test(test_rounding),    cmocka_unit_test(test_equal_in_a_type),
        cmocka_unit_test(test_unresolved),  cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_draws_agree), cmocka_unit_test(test_boxes_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
