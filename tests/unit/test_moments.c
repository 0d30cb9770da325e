/* Moments against two passes over the same draws in long double: per chain, and merged.  The
 * bounds are those of Chan, Golub and LeVeque (1983) for updating: n u for the mean, of its size,
 * and n u kappa for the sum of squares, kappa = sqrt(1 + mean^2 / variance). */
#include "unit/matrices.h"
#include "unit/sampler_fixture.h"

#include <fenv.h>
#include <float.h>

enum { CHAINS = 7, SITES = 3, DRAWS = 1000 };

#define UNIT (DBL_EPSILON / 2)

static gbs_moments *new_moments(const fixture *f, int64_t chains, int64_t dim)
{
    gbs_moments *moments = NULL;
    if (gbs_moments_create(f->ctx, chains, dim, &moments) != GBS_OK)
        fail_msg("expected moments, got: %s", gbs_context_message(f->ctx));
    return moments;
}

/* Mean and sum of squares about it of n values, two passes. */
static void two_pass(const double *values, int64_t n, int64_t stride, double *mean, double *m2)
{
    long double sum = 0, squares = 0;
    for (int64_t k = 0; k < n; ++k)
        sum += (long double)values[k * stride];
    const long double centre = sum / (long double)n;
    for (int64_t k = 0; k < n; ++k)
        squares +=
            ((long double)values[k * stride] - centre) * ((long double)values[k * stride] - centre);
    *mean = (double)centre;
    *m2 = (double)squares;
}

static void check_close(const char *what, int64_t at, int64_t n, double mean, double m2,
                        double got_mean, double got_m2)
{
    const double spread = sqrt(m2 / (double)n), size = fabs(mean) + spread;
    const double kappa = sqrt(1 + mean * mean / (spread * spread));
    char name[64];
    snprintf(name, sizeof name, "%s, mean", what);
    assert_near(name, at, mean, got_mean, 2 * (double)n * UNIT * size);
    snprintf(name, sizeof name, "%s, sum of squares", what);
    assert_near(name, at, m2, got_m2, 2 * (double)n * UNIT * kappa * m2);
}

static void check_against_draws(const fixture *f, double mu)
{
    static double out[CHAINS * DRAWS * SITES], pooled[CHAINS * DRAWS];
    const double location[SITES] = {mu, -mu, mu / 2};
    fixture other = *f;
    gbs_model_spec model_spec = spec_of(fixture_precision, SITES);
    model_spec.location_kind = GBS_LOCATION_MEAN;
    model_spec.location = location;
    other.model = new_model(f->ctx, &model_spec);
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.chains = CHAINS;
    gbs_sampler *const sampler = make_sampler(&other, &spec);
    gbs_moments *const moments = new_moments(f, CHAINS, SITES);
    gbs_sink sink = {out, DRAWS * SITES, SITES, 1, NULL, NULL, moments};
    assert_int_equal(gbs_sampler_sample(sampler, DRAWS / 3, 1, &sink), GBS_OK);
    sink.out = out + DRAWS / 3 * SITES;
    assert_int_equal(gbs_sampler_sample(sampler, DRAWS - DRAWS / 3, 1, &sink), GBS_OK);
    assert_int_equal(gbs_moments_count(moments), DRAWS);
    double mean[SITES], variance[SITES], only[SITES], m, m2;
    for (int64_t at = 0; at < CHAINS * SITES; ++at) {
        two_pass(out + at / SITES * DRAWS * SITES + at % SITES, DRAWS, SITES, &m, &m2);
        check_close("per chain", at, DRAWS, m, m2, gbs_moments_mean(moments)[at],
                    gbs_moments_m2(moments)[at]);
    }
    gbs_moments_merged(moments, mean, variance);
    for (int64_t i = 0; i < SITES; ++i) {
        for (int64_t k = 0; k < CHAINS * DRAWS; ++k)
            pooled[k] = out[k * SITES + i];
        two_pass(pooled, CHAINS * DRAWS, 1, &m, &m2);
        check_close("merged", i, CHAINS * DRAWS, m, m2, mean[i],
                    variance[i] * (CHAINS * DRAWS - 1));
    }
    gbs_moments_merged(moments, only, NULL);
    assert_memory_equal(only, mean, sizeof only);
    gbs_moments_merged(moments, NULL, only);
    assert_memory_equal(only, variance, sizeof only);
    fesetround(FE_DOWNWARD);
    double down[SITES];
    gbs_moments_merged(moments, down, only);
    const int rounding = fegetround();
    fesetround(FE_TONEAREST);
    assert_int_equal(rounding, FE_DOWNWARD);
    assert_memory_equal(down, mean, sizeof down);
    assert_memory_equal(only, variance, sizeof only);
    printf("checked: means near %g: %d chains and their sum equal two passes to n u and n u kappa, "
           "in any rounding mode\n",
           mu, CHAINS);
    gbs_moments_destroy(moments);
    gbs_sampler_destroy(sampler);
    gbs_model_release(other.model);
}

static void test_two_pass(void **state)
{
    check_against_draws(*state, 0);
    check_against_draws(*state, 1000);
    check_against_draws(*state, 1e8); /* the naive formula would have no digit left */
}

/* None, one and two draws. */
static void test_few(void **state)
{
    const fixture *const f = *state;
    double mean[SITES], variance[SITES], x[SITES], y[SITES];
    gbs_moments *const moments = new_moments(f, 1, SITES);
    const gbs_sampler_spec spec = gbs_sampler_spec_default();
    gbs_sampler *const sampler = make_sampler(f, &spec);
    const gbs_sink sink = {.moments = moments};
    assert_int_equal(gbs_moments_count(moments), 0);
    gbs_moments_merged(moments, mean, variance);
    for (int i = 0; i < SITES; ++i)
        assert_true(isnan(mean[i]) && isnan(variance[i]));
    assert_int_equal(gbs_sampler_sample(sampler, 1, 1, &sink), GBS_OK);
    assert_int_equal(gbs_sampler_get_state(sampler, x), GBS_OK);
    gbs_moments_merged(moments, mean, variance);
    for (int i = 0; i < SITES; ++i)
        assert_true(mean[i] == x[i] && isnan(variance[i]));
    assert_int_equal(gbs_sampler_sample(sampler, 1, 1, &sink), GBS_OK);
    assert_int_equal(gbs_sampler_get_state(sampler, y), GBS_OK);
    gbs_moments_merged(moments, mean, variance);
    for (int i = 0; i < SITES; ++i)
        check_close("two draws", i, 2, (x[i] + y[i]) / 2, (x[i] - y[i]) * (x[i] - y[i]) / 2,
                    mean[i], variance[i]);
    gbs_sampler_destroy(sampler);
    gbs_moments_destroy(moments);
    printf("checked: NaN for no draws, the draw itself and no variance for one, half the square of "
           "the difference for two\n");
}

static void test_refused(void **state)
{
    const fixture *const f = *state;
    gbs_moments *moments = (gbs_moments *)f->ctx;
    assert_said(f, GBS_ERROR_ARGUMENT, "moments: 0 chains of 3 sites",
                gbs_moments_create(f->ctx, 0, 3, &moments));
    assert_null(moments);
    assert_said(f, GBS_ERROR_ARGUMENT, "moments: 3 chains of -1 sites",
                gbs_moments_create(f->ctx, 3, -1, &moments));
    assert_said(f, GBS_ERROR_ARGUMENT, "must not be NULL", gbs_moments_create(f->ctx, 3, 3, NULL));
    assert_int_equal(gbs_moments_create(NULL, 3, 3, &moments), GBS_ERROR_ARGUMENT);
    gbs_moments_destroy(NULL);
}

/* Case C90: 1e8 float draws of N(1000, 1); a float sum would stop growing at 16,777,216.  Mean
 * within 5 standard errors, variance within 1e-3, which is 7 of its own. */
static void test_long_float_run(void **state)
{
    const fixture *const f = *state;
    enum { WIDE = 2000 };
    const int64_t draws = getenv("GBS_TEST_QUICK") != NULL ? 1000 : 50000;
    const double one[1] = {1}, location[1] = {1000}, count = (double)(draws * WIDE);
    fixture other = *f;
    gbs_model_spec model_spec = spec_of(one, 1);
    model_spec.location_kind = GBS_LOCATION_MEAN;
    model_spec.location = location;
    other.model = new_model(f->ctx, &model_spec);
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.type = GBS_F32;
    spec.chains = WIDE;
    spec.seed = 90;
    gbs_sampler *const sampler = make_sampler(&other, &spec);
    gbs_moments *const moments = new_moments(f, WIDE, 1);
    const gbs_sink sink = {.moments = moments};
    double mean, variance;
    assert_int_equal(gbs_sampler_sample(sampler, draws, 1, &sink), GBS_OK);
    gbs_moments_merged(moments, &mean, &variance);
    const double bound = 5 / sqrt(count), of_variance = fmax(1e-3, 7 * sqrt(2 / count));
    printf("checked: C90: %.3g float draws of N(1000, 1): mean %.6f, error %.2g, bound %.2g; "
           "variance %.6f, error %.2g, bound %.2g\n",
           count, mean, fabs(mean - 1000), bound, variance, fabs(variance - 1), of_variance);
    assert_near("mean", 0, 1000, mean, bound);
    assert_near("variance", 0, 1, variance, of_variance);
    gbs_moments_destroy(moments);
    gbs_sampler_destroy(sampler);
    gbs_model_release(other.model);
}

int main(void)
{
#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_two_pass),
        FIXTURE_TEST(test_few),
        FIXTURE_TEST(test_refused),
        FIXTURE_TEST(test_long_float_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
