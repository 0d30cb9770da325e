/* The pilot: autocorrelation times of chains whose times are known, and what it chooses on models
 * that suit one sampler and not another; the same on every instruction set. */
#include "sampler/pilot.h"
#include "unit/model_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SITES = 64 };

static gbs_context *context_of(gbs_isa isa)
{
    gbs_context_options options = gbs_context_options_default();
    gbs_context *ctx = NULL;
    options.isa = isa;
    assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
    return ctx;
}

/* AR(1) with coefficient a takes (1 + a) / (1 - a) steps. */
static void check_time(double a, int64_t n, double tolerance)
{
    double *const y = malloc((size_t)(GBS_PILOT_CHAINS * n) * sizeof *y);
    double *const z = malloc((size_t)(GBS_PILOT_CHAINS * n) * sizeof *z);
    gbs_context *const ctx = context_of(GBS_ISA_AUTO);
    assert_int_equal(gbs_native_normals(ctx, GBS_F64, 3, 0, 0, GBS_PILOT_CHAINS, n, z), GBS_OK);
    for (int64_t c = 0; c < GBS_PILOT_CHAINS; ++c)
        for (int64_t t = 0; t < n; ++t)
            y[c * n + t] = t == 0 ? z[c] / sqrt(1 - a * a)
                                  : a * y[c * n + t - 1] + z[t * GBS_PILOT_CHAINS + c];
    const double expected = (1 + a) / (1 - a), got = gbs_pilot_time(y, n);
    if (!(fabs(got / expected - 1) <= tolerance))
        fail_msg("a = %g: expected %g steps, got %g, bound %g of it", a, expected, got, tolerance);
    gbs_context_destroy(ctx);
    free(y);
    free(z);
}

static void test_times(void **state)
{
    (void)state;
    check_time(0.0, 1024, 0.1);
    check_time(0.5, 1024, 0.15);
    check_time(0.9, 1024, 0.25);
    double still[GBS_PILOT_CHAINS * 128] = {0}, apart[GBS_PILOT_CHAINS * 128];
    for (int k = 0; k < GBS_PILOT_CHAINS * 128; ++k)
        apart[k] = k / 128 + 0.001 * (k % 2);
    assert_true(gbs_pilot_time(still, 128) == 1.0);
    assert_true(gbs_pilot_time(apart, 128) > 100);
    printf("checked: the times of three autoregressions, of nothing, and of chains apart\n");
}

/* A random walk whose steps have precision 1, plus `own` on the diagonal. */
static void walk(double own, double *q)
{
    memset(q, 0, SITES * SITES * sizeof *q);
    for (int i = 0; i < SITES; ++i) {
        q[i * SITES + i] = own + (i > 0) + (i < SITES - 1);
        if (i > 0)
            q[i * SITES + i - 1] = q[(i - 1) * SITES + i] = -1;
    }
}

/* The precision of equal variances 1 and correlations r. */
static void equicorrelated(double r, double *q)
{
    const double other = -r / ((1 - r) * (1 + (SITES - 1) * r));
    for (int i = 0; i < SITES * SITES; ++i)
        q[i] = other + (i % (SITES + 1) == 0 ? 1 / (1 - r) : 0);
}

static gbs_model *model_between(gbs_context *ctx, const double *q, double lower, double upper)
{
    double low[SITES], high[SITES];
    for (int i = 0; i < SITES; ++i)
        low[i] = lower, high[i] = upper;
    gbs_model_spec spec = spec_of(q, SITES);
    spec.lower = low;
    spec.upper = high;
    return new_model(ctx, &spec);
}

/* Under emulators and sanitizers one type and one instruction set are enough. */
static int quick(void)
{
    return getenv("GBS_TEST_QUICK") != NULL;
}

/* The choice is as expected, no slower than `most` sweeps, and the plain sampler at least
 * `plain`. */
static void check_choice(const char *what, const double *q, double lower, double upper,
                         gbs_method method, double most, double plain)
{
    for (int type = 0; type < (quick() ? 1 : 2); ++type) {
        gbs_context *const ctx = context_of(GBS_ISA_AUTO), *const other =
                                                               context_of(GBS_ISA_SCALAR);
        gbs_model *const model = model_between(ctx, q, lower, upper);
        gbs_pilot got, again;
        assert_int_equal(gbs_pilot_run(ctx, model, (gbs_type)type, 5, &got), GBS_OK);
        again = got;
        if (!quick())
            assert_int_equal(gbs_pilot_run(other, model, (gbs_type)type, 5, &again), GBS_OK);
        for (int k = 0; k < got.count; ++k)
            printf("%s %s: method %d overrelax %g: %.1f %.1f %.1f sweeps, cost %.3g%s\n",
                   type == GBS_F32 ? "f32" : "f64", what, (int)got.tried[k].method,
                   got.tried[k].overrelax, got.tried[k].time[0], got.tried[k].time[1],
                   got.tried[k].time[2], got.tried[k].slowest * got.tried[k].operations,
                   k == got.chosen ? ", chosen" : "");
        assert_int_equal(got.method, method);
        assert_true(got.overrelax == got.tried[got.chosen].overrelax);
        assert_true(got.tried[got.chosen].slowest <= most);
        assert_true(got.tried[0].slowest >= plain);
        assert_memory_equal(&got, &again, sizeof got);
        gbs_model_release(model);
        gbs_context_destroy(other);
        gbs_context_destroy(ctx);
    }
}

static void test_choices(void **state)
{
    (void)state;
    static double q[SITES * SITES];
    walk(0.005, q);
    check_choice("walk above 0", q, 0, INFINITY, GBS_METHOD_WHITENED, 3, 30);
    if (quick()) {
        printf("GBS_TEST_QUICK is set: one model of three, one type\n");
        return;
    }
    equicorrelated(0.9, q);
    check_choice("orthant, correlations 0.9", q, 0, INFINITY, GBS_METHOD_WHITENED, 3, 30);
    walk(0.05, q);
    check_choice("walk within [0, 0.3]", q, 0, 0.3, GBS_METHOD_GIBBS, 2.5, 0.25);
}

static void test_without_bounds(void **state)
{
    (void)state;
    static double q[SITES * SITES];
    gbs_context *const ctx = context_of(GBS_ISA_AUTO);
    walk(0.05, q);
    gbs_model *const model = model_between(ctx, q, -1e300, INFINITY);
    gbs_pilot got;
    assert_int_equal(gbs_pilot_run(ctx, model, GBS_F32, 1, &got), GBS_OK); /* as float: none */
    assert_int_equal(got.method, GBS_METHOD_EXACT);
    assert_int_equal(got.count, 0);
    assert_int_equal(gbs_pilot_run(ctx, model, (gbs_type)7, 1, &got), GBS_ERROR_ARGUMENT);
    assert_non_null(strstr(gbs_context_message(ctx), "type: 7"));
    assert_int_equal(gbs_pilot_run(ctx, NULL, GBS_F32, 1, &got), GBS_ERROR_ARGUMENT);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_without_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
