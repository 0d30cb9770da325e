/* The pilot: autocorrelation times of chains whose times are known, what it chooses on models that
 * suit one sampler and not another, and what it leaves out; the same on every instruction set. */
#include "sampler/pilot.h"
#include "unit/counting.h"
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
    for (int64_t k = 0; k < GBS_PILOT_CHAINS * n; ++k)
        z[k] = y[k] * 0x1p600; /* whose squares no double holds */
    const double expected = (1 + a) / (1 - a), got = gbs_pilot_time(y, n),
                 scaled = gbs_pilot_time(z, n);
    if (scaled != got)
        fail_msg("a = %g: %.17g steps, but %.17g of 2^600 times the figures", a, got, scaled);
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
    assert_true(gbs_pilot_time(still, 128) == INFINITY);
    assert_true(gbs_pilot_time(apart, 128) > 100);
    printf(
        "checked: the times of three autoregressions and of 2^600 times these, of nothing, and of "
        "chains apart\n");
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

/* ---- what is left out ---- */

/* Two sites of the given precision with lower bounds, the first with an upper one too. */
static gbs_model *pair(gbs_context *ctx, const double q[4], const double lower[2], double upper)
{
    const double high[2] = {upper, INFINITY};
    gbs_model_spec spec = spec_of(q, 2);
    spec.lower = lower;
    spec.upper = high;
    return new_model(ctx, &spec);
}

/* Runs the pilot in float on two instruction sets, for the same bits and no message. */
static gbs_pilot pilot_of(const double q[4], const double lower[2], double upper)
{
    gbs_pilot got[2];
    for (int k = 0; k < 2; ++k) {
        gbs_context *const ctx = context_of(k == 0 ? GBS_ISA_AUTO : GBS_ISA_SCALAR);
        gbs_model *const model = pair(ctx, q, lower, upper);
        const gbs_status status = gbs_pilot_run(ctx, model, GBS_F32, 5, &got[k]);
        if (status != GBS_OK)
            fail_msg("expected a choice, got %s: %s", gbs_status_name(status),
                     gbs_context_message(ctx));
        assert_string_equal(gbs_context_message(ctx), "");
        gbs_model_release(model);
        gbs_context_destroy(ctx);
    }
    assert_memory_equal(&got[0], &got[1], sizeof got[0]);
    assert_int_equal(got[0].count, GBS_PILOT_MOST);
    for (int k = 0; k < got[0].count; ++k)
        assert_int_equal(got[0].tried[k].why[0] != '\0', isnan(got[0].tried[k].slowest));
    assert_true(got[0].tried[got[0].chosen].why[0] == '\0');
    return got[0];
}

/* Between two rows so near to each other that no site moves by itself in float, whitened sweeps do;
 * a sampler that stands still has not forgotten anything. */
static void test_stuck(void **state)
{
    (void)state;
    const double q[4] = {1, -1, -1, 2}, mean[2] = {5, 5}, a[2] = {1, -1}, lower = -1e-9,
                 upper = 1e-9;
    gbs_context *const ctx = context_of(GBS_ISA_AUTO);
    gbs_model_spec spec = spec_of(q, 2);
    spec.location_kind = GBS_LOCATION_MEAN;
    spec.location = mean;
    spec.constraints = (gbs_constraints){.rows = 1, .matrix = a, .lower = &lower, .upper = &upper};
    gbs_model *const model = new_model(ctx, &spec);
    gbs_pilot got;
    const gbs_status status = gbs_pilot_run(ctx, model, GBS_F32, 1, &got);
    if (status == GBS_ERROR_UNAVAILABLE) { /* no start without Clp */
        printf("skipped: %s\n", gbs_context_message(ctx));
    } else {
        assert_int_equal(status, GBS_OK);
        assert_int_equal(got.method, GBS_METHOD_WHITENED);
        assert_true(got.tried[0].slowest == INFINITY);
        assert_true(got.tried[got.chosen].slowest < 2);
    }
    gbs_model_release(model);
    gbs_context_destroy(ctx);
}

/* Whitened sweeps do not take a site that float leaves one number, on any side of it. */
static void test_held(void **state)
{
    (void)state;
    static const double q[4] = {1, -0.5, -0.5, 1.25};
    static const struct {
        double lower, upper, value;
    } boxes[] = {{0.5, 0.50000000001, 0.5},
                 {0, 1e-50, 0},
                 {1, 1.00000001, 1},
                 {0.49999999999, 0.5, 0.5},
                 {1.00000001, 1.00000002, 1}};
    for (size_t k = 0; k < sizeof boxes / sizeof *boxes; ++k) {
        const double lower[2] = {boxes[k].lower, -INFINITY};
        const gbs_pilot got = pilot_of(q, lower, boxes[k].upper);
        const gbs_pilot_candidate *const whitened = &got.tried[GBS_PILOT_MOST - 1];
        char expected[96];
        snprintf(expected, sizeof expected,
                 "site 0: in float its bounds leave it no number but %.17g", boxes[k].value);
        assert_int_equal(got.method, GBS_METHOD_GIBBS);
        assert_int_equal(whitened->method, GBS_METHOD_WHITENED);
        if (strstr(whitened->why, expected) == NULL)
            fail_msg("expected \"%s\", got \"%s\"", expected, whitened->why);
        for (int t = 0; t < GBS_PILOT_MOST - 1; ++t)
            assert_string_equal(got.tried[t].why, "");
    }
    printf("checked: boxes of one float and of none leave whitened sweeps out, and say so\n");
}

/* Plain sweeps whose step float does not hold, and starts that it does not. */
static void test_out_of_range(void **state)
{
    (void)state;
    static const double narrow[4] = {1e77, 0, 0, 1}, wide[4] = {1e-75, 0, 0, 1}, zeros[2] = {0, 0};
    const gbs_pilot whitened = pilot_of(narrow, zeros, INFINITY);
    assert_int_equal(whitened.method, GBS_METHOD_WHITENED);
    for (int t = 0; t < GBS_PILOT_MOST - 1; ++t)
        assert_non_null(
            strstr(whitened.tried[t].why, "site 0: its conditional standard deviation, 3.16"));
    const gbs_pilot all =
        pilot_of(wide, zeros, INFINITY); /* 18 sd are 5.7e38: from the mean then */
    for (int t = 0; t < GBS_PILOT_MOST; ++t)
        assert_string_equal(all.tried[t].why, "");
    /* x1 is about 10 x0, beyond 1e39; whitened steps are too small to leave where they start */
    static const double steep[4] = {101, -10, -10, 1}, far[2] = {1e38, -INFINITY};
    const gbs_pilot finite = pilot_of(steep, far, INFINITY);
    assert_int_equal(finite.method, GBS_METHOD_WHITENED);
    for (int t = 0; t < GBS_PILOT_MOST - 1; ++t)
        assert_string_equal(finite.tried[t].why, "draws: not finite in float");
    printf("checked: Q = diag(1e77, 1) leaves plain sweeps out, diag(1e-75, 1) nothing, draws of "
           "inf those that make them\n");
}

/* Nothing is left: what the first one failed with, and *out as it was. */
static void check_none(const double q[4], const char *words)
{
    static const double low[2] = {0, -INFINITY};
    gbs_context *const ctx = context_of(GBS_ISA_AUTO);
    gbs_model *const model = pair(ctx, q, low, INFINITY);
    gbs_pilot got, before;
    memset(&got, 7, sizeof got);
    before = got;
    assert_int_equal(gbs_pilot_run(ctx, model, GBS_F32, 1, &got), GBS_ERROR_NOT_FINITE);
    if (strncmp(gbs_context_message(ctx), words, strlen(words)) != 0)
        fail_msg("expected \"%s\", got \"%s\"", words, gbs_context_message(ctx));
    assert_memory_equal(&got, &before, sizeof got);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
}

static void test_none_left(void **state)
{
    (void)state;
    static const double wide[4] = {1e-80, 0, 0, 1};
    check_none(wide, "site 0: its conditional standard deviation, 1");
    printf("checked: a step that float holds in no sampler\n");
}

/* Memory that is refused ends the pilot, wherever that is: no candidate is left out for it. */
static void test_refused_memory(void **state)
{
    (void)state;
    static const double q[4] = {1, -0.5, -0.5, 1.25}, zeros[2] = {0, 0};
    counting c = {.refuse = -1};
    const gbs_context_options options = counting_options(&c);
    gbs_context *ctx = NULL;
    assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
    gbs_model *const model = pair(ctx, q, zeros, INFINITY);
    gbs_pilot whole, got;
    const int64_t start = c.taken;
    assert_int_equal(gbs_pilot_run(ctx, model, GBS_F32, 1, &whole), GBS_OK);
    const int64_t requests = c.taken - start;
    for (int64_t k = 0; k < requests; k += quick() ? 7 : 1) {
        const int64_t given = c.taken - c.given;
        c.refuse = c.taken + k;
        const gbs_status status = gbs_pilot_run(ctx, model, GBS_F32, 1, &got);
        if (status == GBS_OK) /* the standard deviations are the model's by now */
            assert_memory_equal(&got, &whole, sizeof got);
        else
            assert_int_equal(status, GBS_ERROR_MEMORY);
        assert_true(status == GBS_ERROR_MEMORY || k >= requests - 2);
        assert_int_equal(c.taken - c.given, given);
    }
    c.refuse = -1;
    gbs_model_release(model);
    gbs_context_destroy(ctx);
    assert_int_equal(c.taken, c.given);
    printf("checked: %lld requests for memory, each refused once\n", (long long)requests);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),          cmocka_unit_test(test_choices),
        cmocka_unit_test(test_without_bounds), cmocka_unit_test(test_stuck),
        cmocka_unit_test(test_held),           cmocka_unit_test(test_out_of_range),
        cmocka_unit_test(test_none_left),      cmocka_unit_test(test_refused_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
