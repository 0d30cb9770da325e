/* Quantile of the beta distribution for a, b >= 1, by Newton's method on the regularised
 * incomplete beta function inside a shrinking bracket.  The function is the density times a
 * continued fraction (Abramowitz and Stegun 26.5.8, by Lentz's method as modified by Thompson
 * and Barnett), the density Loader's saddle-point form (2000), which keeps its digits where the
 * log-gammas of large a and b would cancel. */
#include "diag/diag.h"

#include <float.h>
#include <math.h>

/* ln x! - (x + 1/2) ln x + x - ln(2 pi) / 2 by Stirling's series, x >= 16 reached by steps of
 * one; x > 0. */
static double stirling_error(double x)
{
    double shift = 0;
    for (; x < 16; x += 1)
        shift += (x + 0.5) * log1p(1 / x) - 1;
    const double y = 1 / (x * x);
    return shift +
           (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - y / 1188) * y) * y) * y) / x;
}

/* x ln(x / m) + m - x, without cancellation near x = m. */
static double deviance(double x, double m)
{
    if (!(fabs(x - m) < 0.1 * (x + m)))
        return x * log(x / m) + m - x;
    const double v = (x - m) / (x + m), v2 = v * v;
    double sum = (x - m) * v, term = 2 * x * v;
    for (int j = 1; j < 1000; j++) {
        term *= v2;
        const double next = sum + term / (2 * j + 1);
        if (next == sum)
            break;
        sum = next;
    }
    return sum;
}

/* C(n, x) p^x (1 - p)^(n-x) for real x in [0, n]. */
static double binomial(double x, double n, double p)
{
    if (x == 0)
        return exp(n * log1p(-p));
    if (x == n)
        return exp(n * log(p));
    const double exponent = stirling_error(n) - stirling_error(x) - stirling_error(n - x) -
                            deviance(x, n * p) - deviance(n - x, n * (1 - p));
    const double two_pi = 6.283185307179586476925286766559;
    return exp(exponent) * sqrt(n / (two_pi * x * (n - x)));
}

static double density(double x, double a, double b)
{
    return (a + b - 1) * binomial(a - 1, a + b - 2, x);
}

/* 1 / (1 + d_1 / (1 + d_2 / ...)), for x below about a / (a + b). */
static double fraction(double x, double a, double b)
{
    const double tiny = DBL_MIN / DBL_EPSILON;
    double c = 1, d = 0, f = 1;
    for (int64_t j = 1; j < 1000000; j++) {
        const double m = (double)(j / 2); // NOLINT(bugprone-integer-division): rounded down
        const double a2m = a + 2 * m;
        const double term = j % 2 != 0 ? -(a + m) * (a + b + m) * x / (a2m * (a2m + 1))
                                       : m * (b - m) * x / ((a2m - 1) * a2m);
        d = 1 + term * d;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = 1 + term / c;
        c = fabs(c) < tiny ? tiny : c;
        f *= c * d;
        if (fabs(c * d - 1) < DBL_EPSILON)
            break;
    }
    return 1 / f;
}

static double incomplete_beta(double x, double a, double b, double density_at_x)
{
    const double front = density_at_x * x * (1 - x);
    if (x < (a + 1) / (a + b + 2))
        return front / a * fraction(x, a, b);
    return 1 - front / b * fraction(1 - x, b, a);
}

double gbs_beta_quantile(double p, double a, double b)
{
    double low = 0, high = 1, x = a / (a + b);
    for (int i = 0; i < 200; i++) {
        const double slope = density(x, a, b), miss = incomplete_beta(x, a, b, slope) - p;
        if (miss > 0)
            high = x;
        else
            low = x;
        double next = x - miss / slope;
        if (!(next > low && next < high))
            next = low + (high - low) / 2;
        if (fabs(next - x) <= 2 * DBL_EPSILON * x)
            return next;
        x = next;
    }
    return x;
}
