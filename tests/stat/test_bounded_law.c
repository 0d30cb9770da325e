/* The law of sweeps between bounds, by every order, plain and over-relaxed: single normals near and
 * far (golden section 1; the faults C01 to C16 of programs in use) and truncated normals of a few
 * sites (golden section 2; C14 to C23).  About 800 scores: a correct library fails one with a
 * probability of 5e-4 for a fresh seed; the seeds are fixed. */
#include "stat/bounded_law.h"

/* ---- one normal ---- */

static void check_box(const box *of, const way *w, int64_t n)
{
    const double q = 1 / (of->s * of->s);
    /* the start is far off in units of the law: |r|^sweeps must forget it */
    const problem p = {of->what, 1, &q, &of->m, &of->lo, &of->hi, w->overrelax > 0 ? 80 : 1, n};
    char name[96];
    double *const x = last_state(&p, w);
    const moments r = moments_of(x, GBS_F64, n, of);
    const double step = w->type == GBS_F32 ? 0x1p-23 * fmax(fabs(of->mean), of->s) : 0;
    name_way(of->what, w, name);
    check_score(name, "mean", 0, r.mean, sqrt(r.variance / (double)n) + step / most_errors);
    if (!isnan(of->variance) && step < 0.1 * sqrt(of->variance))
        check_score(name, "variance", of->variance, r.variance,
                    sqrt((r.fourth - r.variance * r.variance) / (double)n) +
                        (of->variance * 1e-5 + step * step) / most_errors);
    if (!isnan(of->median) && step < 1e-4 * sqrt(of->variance))
        check_score(name, "share below the median", 0.5, r.below, 0.5 / sqrt((double)n));
    free(x);
}

static void test_boxes(void **state)
{
    (void)state;
    const int64_t n = quick() ? 1 << 13 : 1 << 16;
    for (int k = 0; k < BOXES; ++k)
        for (int w = 0; w < COUNT(ways); ++w)
            check_box(&boxes[k], &ways[w], n);
    printf("checked: %d boxes by %d ways, %lld draws each: mean, variance, median\n", BOXES,
           COUNT(ways), (long long)n);
}

/* C06, C08, C09: nothing on or beyond a bound that is far away, all different where the type has
 * the numbers. */
static void test_no_outliers(void **state)
{
    (void)state;
    static const double sds[] = {0.02, 0.002, 0.001, 1e-10};
    const double lower = -2, upper = 2, zero = 0, none = (double)INFINITY;
    const int64_t n = quick() ? 1 << 16 : 1 << 18;
    for (int w = 0; w < COUNT(ways); ++w)
        for (int k = 0; k < COUNT(sds); ++k) {
            const double q = 1 / (sds[k] * sds[k]);
            const problem p = {"C09", 1, &q, NULL, &lower, &upper, ways[w].overrelax > 0 ? 20 : 1,
                               n};
            double *const x = last_state(&p, &ways[w]), fourth = 0;
            char name[96];
            for (int64_t i = 0; i < n; ++i) {
                const double z = x[i] / sds[k];
                if (!(fabs(z) < 7))
                    fail_msg("C09, sd %g: a draw at %g standard deviations", sds[k], z);
                fourth += z * z * z * z / (double)n;
            }
            name_way("C09", &ways[w], name);
            check_score(name, "kurtosis", 3, fourth, sqrt(96.0 / (double)n));
            free(x);
        }
    const double mean8 = -1, q8 = 1 / (0.123 * 0.123), mean6 = 1.1, q6 = 1 / (0.005 * 0.005);
    const double lower6 = -1, upper6 = 1;
    for (int w = 0; w < COUNT(ways); ++w) {
        const problem p8 = {"C08", 1, &q8, &mean8, &zero, &none, 100, 100};
        double *x = last_state(&p8, &ways[w]);
        for (int i = 0; i < 100; ++i)
            for (int j = 0; j < i; ++j)
                assert_true(x[i] != x[j]);
        free(x);
        const problem p6 = {"C06", 1, &q6, &mean6, &lower6, &upper6, 100, 1000};
        x = last_state(&p6, &ways[w]);
        double mean = 0;
        for (int i = 0; i < 1000; ++i)
            mean += x[i] / 1000;
        char name[96];
        name_way("C06", &ways[w], name);
        check_score(name, "mean", 0.999751234657, mean, 0.00024815628 / sqrt(1000.0));
        free(x);
    }
    printf("checked: C06, C08 and C09 by %d ways\n", COUNT(ways));
}

/* ---- truncated multivariate normals ---- */

/* Q of a covariance, by the model itself. */
static void test_small_problems(void **state)
{
    (void)state;
    const double none = -(double)INFINITY;
    /* S = [1 .6 .3; .6 1 .2; .3 .2 2] inverted; x <= 1 */
    const double det =
        1 * (1 * 2 - 0.2 * 0.2) - 0.6 * (0.6 * 2 - 0.2 * 0.3) + 0.3 * (0.6 * 0.2 - 1 * 0.3);
    const double mw[9] = {(2 - 0.04) / det,        (0.06 - 1.2) / det, (0.12 - 0.3) / det,
                          (0.06 - 1.2) / det,      (2 - 0.09) / det,   (0.18 - 0.2) / det,
                          (0.6 * 0.2 - 0.3) / det, (0.18 - 0.2) / det, (1 - 0.36) / det};
    const double half[3] = {0.5, 0.5, 0.5}, below[3] = {none, none, none}, ones[3] = {1, 1, 1};
    const double m[3] = {-.152414542, -.126129680, -.404914674};
    const expectation mw_values[] = {{0, -1, m[0]},      {1, -1, m[1]},      {2, -1, m[2]},
                                     {0, 0, .522424919}, {0, 1, .220486591}, {0, 2, .077433052},
                                     {1, 1, .515885112}, {1, 2, .039505744}, {2, 2, .946339061}};
    check_every_way((problem){"Manjunath-Wilhelm", 3, mw, half, below, ones, 60, 1 << 15}, m,
                    mw_values, COUNT(mw_values));

    const double two[4] = {3.0 / 8, -2.0 / 8, -2.0 / 8, 4.0 / 8}, mu2[2] = {1, 2};
    const double upper2[2] = {1, 0}, m2[2] = {-1.321794657, -.900543514};
    const expectation two_values[] = {{0, -1, m2[0]},
                                      {1, -1, m2[1]},
                                      {0, 0, 1.952978421},
                                      {0, 1, .281096842},
                                      {1, 1, .573921332}};
    check_every_way((problem){"mu (1, 2), x <= (1, 0)", 2, two, mu2, below, upper2, 60, 1 << 15},
                    m2, two_values, COUNT(two_values));

    double *const eight = equicorrelated(4, 0.8);
    const double lower4[4] = {-4, -4, -4, -4}, upper4[4] = {-1, -1, -1, -1}, at = -1.776817226921;
    const double m4[4] = {at, at, at, at};
    const expectation four_values[] = {
        {0, -1, at}, {3, -1, at}, {1, 1, .256941605351}, {0, 3, .111510562148}};
    check_every_way(
        (problem){"equicorrelated .8, [-4, -1]^4", 4, eight, NULL, lower4, upper4, 200, 1 << 15},
        m4, four_values, COUNT(four_values));
    free(eight);
    printf("checked: three small truncated normals by %d ways\n", COUNT(ways));
}

/* C14: means (1, 2, 3) with sd .1 in [0, 2], of which the last two touch the bound or lie beyond.
 * C17: covariance [.1 -.19; -.19 .4], box [0, 1]^2, and the two variables swapped.
 * C19: two independent pairs, one of them all but singular.
 * C20: D = 3, mean (10, -10, 0), unit covariance, box mean +- 1.
 * C23, without its row: x_1 held at 1 by equal bounds. */
static void test_cases(void **state)
{
    (void)state;
    const double d17 = 0.1 * 0.4 - 0.19 * 0.19, zeros[4] = {0, 0, 0, 0}, inf = (double)INFINITY;
    const double ones[2] = {1, 1}, infs[4] = {inf, inf, inf, inf};
    for (int swapped = 0; swapped < 2; ++swapped) {
        const double q[4] = {(swapped ? 0.1 : 0.4) / d17, 0.19 / d17, 0.19 / d17,
                             (swapped ? 0.4 : 0.1) / d17};
        const double m[2] = {swapped ? 0.124805 : 0.062403, swapped ? 0.062403 : 0.124805};
        const expectation e[] = {{0, -1, m[0]},
                                 {1, -1, m[1]},
                                 {0, 1, -0.0011328},
                                 {0, 0, swapped ? 0.0107782 : 0.0026946}};
        check_every_way((problem){"C17", 2, q, NULL, zeros, ones, 400, 1 << 14}, m, e, COUNT(e));
    }

    /* Both blocks inverted by hand: the second has determinant a b - c^2 with a = 1336227.01, b =
     * a + .06, c = a - .03, which is .06 a + .06 a - .0009. */
    const double d1 = 0.05 * 0.06 - 0.03 * 0.03, a = 1336227.01, d2 = 0.12 * a - 0.0009;
    const double q19[16] = {
        0.06 / d1,       0.03 / d1,       0, 0, 0.03 / d1,       0.05 / d1, 0, 0, 0, 0,
        (a + 0.06) / d2, (a - 0.03) / d2, 0, 0, (a - 0.03) / d2, a / d2};
    const double mu19[4] = {-0.08, -0.51, -17.52, 16.37};
    const double m19[4] = {0.071053, 0.059147, 0.085968, 0.085968};
    const expectation e19[] = {{0, -1, m19[0]},    {1, -1, m19[1]},    {2, -1, m19[2]},
                               {3, -1, m19[3]},    {0, 0, 0.00413249}, {1, 1, 0.00307788},
                               {2, 2, 0.0067011},  {3, 3, 0.0067011},  {0, 1, -0.00017030},
                               {2, 3, -0.00034471}};
    const problem p19 = {"C19", 4, q19, mu19, zeros, infs, 400, quick() ? 1 << 10 : 1 << 14};
    check_expectations(&p19, &ways[0], m19, e19, COUNT(e19)); /* float cannot hold this Q */
    check_expectations(&p19, &ways[2], m19, e19, COUNT(e19));

    const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, mu20[3] = {10, -10, 0};
    const double lower20[3] = {9, -11, -1}, upper20[3] = {11, -9, 1}, v = 0.291125094772793;
    const expectation e20[] = {{0, -1, 10}, {1, -1, -10}, {2, -1, 0}, {0, 0, v},
                               {1, 1, v},   {2, 2, v},    {0, 1, 0},  {1, 2, 0}};
    check_every_way((problem){"C20", 3, unit, mu20, lower20, upper20, 80, 1 << 15}, mu20, e20,
                    COUNT(e20));

    const double hundred[9] = {100, 0, 0, 0, 100, 0, 0, 0, 100}, mu14[3] = {1, 2, 3};
    const double twos[3] = {2, 2, 2}, m14[3] = {1.0, 1.92021154392, 1.99019067660};
    const expectation e14[] = {
        {0, -1, m14[0]}, {1, -1, m14[1]}, {2, -1, m14[2]}, {0, 0, 0.01}, {1, 1, 0.003633802276}};
    check_every_way((problem){"C14", 3, hundred, mu14, zeros, twos, 80, 1 << 15}, m14, e14,
                    COUNT(e14));

    const double lower23[3] = {1, -1, -1}, upper23[3] = {1, 1, 1}, mu23[3] = {0, 0, 0};
    const expectation e23[] = {{0, 0, 1}, {1, -1, 0}, {1, 1, v}, {2, 2, v}, {1, 2, 0}};
    check_every_way((problem){"C23", 3, unit, NULL, lower23, upper23, 80, 1 << 15}, mu23, e23 + 1,
                    COUNT(e23) - 1);
    printf("checked: C14, C17, C19, C20 and C23 by %d ways\n", COUNT(ways));
}

/* Two sites of correlation rho, both >= 0: the mean is (1 + rho) / (2 sqrt(2 pi) p) with p = 1/4 +
 * asin(rho) / (2 pi). */
static void test_pairs(void **state)
{
    (void)state;
    static const double rhos[] = {-0.9, -0.5, 0, 0.3, 0.9};
    const double zeros[2] = {0, 0}, infs[2] = {(double)INFINITY, (double)INFINITY};
    const double pi = acos(-1.0);
    for (int k = 0; k < COUNT(rhos); ++k) {
        double *const q = equicorrelated(2, rhos[k]);
        char what[32];
        snprintf(what, sizeof what, "pair, rho = %g", rhos[k]);
        const double p = 0.25 + asin(rhos[k]) / (2 * pi),
                     m = (1 + rhos[k]) / (2 * sqrt(2 * pi) * p);
        const double at[2] = {m, m};
        const expectation e[] = {{0, -1, m}, {1, -1, m}, {-1, -1, m}};
        check_every_way((problem){what, 2, q, NULL, zeros, infs, 150, 1 << 15}, at, e, COUNT(e));
        free(q);
    }
    printf("checked: %d pairs by %d ways\n", COUNT(rhos), COUNT(ways));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes),          cmocka_unit_test(test_no_outliers),
        cmocka_unit_test(test_small_problems), cmocka_unit_test(test_cases),
        cmocka_unit_test(test_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
