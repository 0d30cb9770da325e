/* How the statistical tests decide.  A program defines VERDICT_PLANNED, the number of two-sided
 * tests it may make, each at the level VERDICT_RATE / VERDICT_PLANNED (Bonferroni), so that a
 * correct library fails any of them with a probability of 5e-7, the suite of two programs of 1e-6.
 * Seeds are fixed, nothing is drawn again.  Scores of sums of squares and products carry their
 * skewness, taken out by the first term of Cornish and Fisher's expansion (1938). */
#ifndef GBS_TEST_VERDICT_H
#define GBS_TEST_VERDICT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#define VERDICT_RATE 5e-7

static int64_t verdict_tests; /* made by this program */

static inline double verdict_level(void)
{
    return VERDICT_RATE / VERDICT_PLANNED;
}

/* |z| that a normal score exceeds with probability verdict_level(). */
static inline double verdict_limit(void)
{
    double low = 0, high = 20;
    for (int step = 0; step < 60; ++step) {
        const double middle = (low + high) / 2;
        if (erfc(middle / sqrt(2.0)) > verdict_level())
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Scores that belong together; the worst is remembered with its place. */
typedef struct verdict {
    const char *what;
    int64_t count, worst_at;
    double worst, expected, got;
} verdict;

static inline verdict verdict_start(const char *what)
{
    const verdict v = {what, 0, -1, 0, 0, 0};
    return v;
}

/* `error` is the standard error of `got` where `expected` is true, `skewness` that of its law. */
static inline void verdict_add_skewed(verdict *v, double expected, double got, double error,
                                      double skewness)
{
    const double raw = (got - expected) / error, z = raw - skewness * (raw * raw - 1) / 6;
    if (!(fabs(z) <= fabs(v->worst))) {
        v->worst = z;
        v->worst_at = v->count;
        v->expected = expected;
        v->got = got;
    }
    v->count++;
}

static inline void verdict_add(verdict *v, double expected, double got, double error)
{
    verdict_add_skewed(v, expected, got, error, 0);
}

/* The mean of `count` products of two centred normals of variances a, b and covariance c. */
static inline void verdict_add_product(verdict *v, double a, double b, double c, double got,
                                       double count)
{
    const double r = c / sqrt(a * b), one = 1 + r * r;
    verdict_add_skewed(v, c, got, sqrt(a * b * one / count),
                       (6 * r + 2 * r * r * r) / (one * sqrt(one)) / sqrt(count));
}

static inline void verdict_end(const verdict *v)
{
    verdict_tests += v->count;
    printf("checked: %s: %lld scores, largest z %.2f, bound %.2f\n", v->what, (long long)v->count,
           v->worst, verdict_limit());
    if (!(fabs(v->worst) <= verdict_limit()))
        fail_msg("%s [%lld]: expected %.9g, got %.9g, z %.2f, bound %.2f", v->what,
                 (long long)v->worst_at, v->expected, v->got, v->worst, verdict_limit());
}

/* A count that is Poisson with this mean: both tails of the exact law. */
static inline void verdict_poisson(const char *what, double mean, int64_t got)
{
    double below = 0, above = 0;
    const int64_t most = (int64_t)(mean + 40 * sqrt(mean) + 200);
    for (int64_t k = 0; k <= most; ++k) {
        const double mass = exp((double)k * log(mean) - mean - lgamma((double)k + 1));
        below += k <= got ? mass : 0;
        above += k >= got ? mass : 0;
    }
    const double tail = 2 * fmin(below, above);
    verdict_tests++;
    printf("checked: %s: expected %.2f, got %lld, probability %.2g, bound %.2g\n", what, mean,
           (long long)got, fmin(tail, 1), verdict_level());
    if (!(tail >= verdict_level()))
        fail_msg("%s: expected %.4g, got %lld, probability %.3g, bound %.3g", what, mean,
                 (long long)got, tail, verdict_level());
}

/* The last test of each program. */
static inline void test_verdicts_planned(void **state)
{
    (void)state;
    printf("checked: %lld tests, at most %d planned; false-alarm rate of this program %.1g\n",
           (long long)verdict_tests, VERDICT_PLANNED, VERDICT_RATE);
    assert_true(verdict_tests <= VERDICT_PLANNED);
}

#endif
