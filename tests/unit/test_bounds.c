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

/* lower = 1e9, mean 0, sd about 1: 64 apart in float, while draws lie 1e-9 behind it; in double
 * 1.2e-7 apart, so that not even that resolves them; lower = 1e6 is fine there. */
static void test_unresolved(void **state)
{
    (void)state;
    static const double lowers[] = {3, 1e6, 1e9};
    static const int expected[2][3] = {{0, 1, 1}, {0, 0, 1}};
    gbs_context *const ctx = new_context(GBS_ISA_SCALAR);
    for (int k = 0; k < 3; ++k)
        for (int mirrored = 0; mirrored < 2; ++mirrored) {
            const double lower[SITES] = {0, 0, 0, mirrored ? none : lowers[k]};
            const double upper[SITES] = {1, 1, 1, mirrored ? -lowers[k] : infinite};
            gbs_model_spec spec = chain_spec(lower, upper);
            gbs_model *const model = new_model(ctx, &spec);
            for (int type = GBS_F32; type <= GBS_F64; ++type) {
                gbs_boxes boxes;
                assert_int_equal(gbs_model_boxes(ctx, model, (gbs_type)type, &boxes), GBS_OK);
                if (boxes.unresolved != expected[type][k])
                    fail_msg("bound %g, type %d: expected %d unresolved, got %lld", lowers[k], type,
                             expected[type][k], (long long)boxes.unresolved);
                assert_int_equal(boxes.unresolved_site, expected[type][k] ? 3 : -1);
            }
            gbs_model_release(model);
        }
    gbs_context_destroy(ctx);
    printf("checked: bounds that a type cannot resolve are told\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_equal_bounds),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_unresolved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
