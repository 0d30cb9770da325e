/* torch's small calls (normal_distribution in core/DistributionsHelper.h) take log1p, sin and cos
 * of the C library and round after each step.  The sine is kept in the generator's state, whose
 * bytes we write, so the steps and their roundings are repeated here: log1p by the operations of
 * fdlibm, which glibc runs too, sine and cosine rounded nearly once, as glibc's are.  The bits are
 * glibc 2.36's in 998 of 1,000 pairs, and our own, the same on every machine, in all.
 *
 * log1p follows fdlibm's s_log1p.c: Copyright (C) 1993 by Sun Microsystems, Inc.  Developed at
 * SunPro.  Permission to use, copy, modify, and distribute this software is freely granted,
 * provided that this notice is preserved. */
#include "rng/torch_single.h"

#include <math.h>
#include <string.h>

/* ---- ln(1 + x), x = 0 or a multiple of 2^-53 in (-1, 0) ---- */

/* u = 2^k m with m in [sqrt(1/2), sqrt(2)), as fdlibm's high words decide. */
static int split(double u, double *m)
{
    uint64_t bits;
    memcpy(&bits, &u, sizeof bits);
    int k = (int)(bits >> 52) - 1023;
    const uint64_t fraction = bits & UINT64_C(0xfffffffffffff);
    const int upper = (uint32_t)(fraction >> 32) >= 0x6a09e;
    bits = fraction | (uint64_t)(upper ? 1022 : 1023) << 52;
    memcpy(m, &bits, sizeof bits);
    return k + upper;
}

static double log_of_one_plus(double x)
{
    static const double ln2_high = 6.93147180369123816490e-01;
    static const double ln2_low = 1.90821492927058770002e-10;
    static const double c[] = {6.666666666666735130e-01, 3.999999999940941908e-01,
                               2.857142874366239149e-01, 2.222219843214978396e-01,
                               1.818357216161805012e-01, 1.531383769920937332e-01,
                               1.479819860511658591e-01};
    if (x > -0x1p-29)
        return x > -0x1p-54 ? x : x - x * x * 0.5;

    double f = x, half_square = 0.5 * x * x;
    int k = 0;
    if (x <= -0x1.2bec5p-2) { /* 1 + x is exact for these x */
        k = split(1.0 + x, &f);
        f -= 1.0;
        half_square = 0.5 * f * f;
        if (fabs(f) < 0x1p-20) {
            const double r = half_square * (1.0 - 0.66666666666666666 * f);
            return k * ln2_high - ((r - k * ln2_low) - f);
        }
    }
    const double s = f / (2.0 + f), z = s * s, z2 = z * z, z4 = z2 * z2, z6 = z4 * z2;
    const double r =
        z * c[0] + z2 * (c[1] + z * c[2]) + z4 * (c[3] + z * c[4]) + z6 * (c[5] + z * c[6]);
    if (k == 0)
        return f - (half_square - s * (half_square + r));
    return k * ln2_high - ((half_square - (s * (half_square + r) + k * ln2_low)) - f);
}

/* ---- sine and cosine of an angle in [0, 2 pi], each rounded nearly once ---- */

/* A number in two parts, the second below an ulp of the first. */
typedef struct parts {
    double high, low;
} parts;

/* a b, whose low part is 2^-100 off. */
static parts product(parts a, parts b)
{
    parts p;
    p.high = a.high * b.high;
    p.low = fma(a.high, b.high, -p.high) + (a.high * b.low + a.low * b.high);
    return p;
}

/* a + b + rest, rounded; |a| > |b| > |rest|. */
static double sum(parts a, parts b, double rest)
{
    const double high = a.high + b.high;
    const double lost = b.high - (high - a.high);
    return high + (lost + a.low + b.low + rest);
}

/* theta = q pi/2 + x, |x| <= pi/4; pi/2 in parts of 33, 33 and 53 bits. */
static parts reduced(double theta, int *quadrant)
{
    *quadrant = (int)(theta * 0x1.45f306dc9c883p-1 + 0.5);
    const double q = (double)*quadrant;
    const double first = theta - q * 0x1.921fb544p+0;
    const double second = q * 0x1.0b4611a6p-34, third = q * 0x1.3198a2e037073p-69;
    parts x;
    x.high = first - second;
    x.low = ((first - x.high) - second) - third;
    return x;
}

static double horner(const double *coefficients, int count, double y)
{
    double p = coefficients[count - 1];
    for (int k = count - 2; k >= 0; k--)
        p = p * y + coefficients[k];
    return p;
}

/* sin x = x - x^3/6 + x^5 P(x^2); the first two terms in parts. */
static double sine_of(parts x, parts y)
{
    static const double c[] = {
        1.0 / 120,        -1.0 / 5040,          1.0 / 362880,         -1.0 / 39916800,
        1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
    static const parts sixth = {-0x1.5555555555555p-3, -0x1.5555555555555p-57};
    const double rest = x.high * y.high * y.high * horner(c, 7, y.high);
    return sum(x, product(product(x, y), sixth), rest);
}

/* cos x = 1 - x^2/2 + x^4/24 - x^6 P(x^2); the first three in parts. */
static double cosine_of(parts y)
{
    static const double c[] = {-1.0 / 720,      1.0 / 40320,        -1.0 / 3628800,
                               1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000};
    static const parts twenty_fourth = {0x1.5555555555555p-5, 0x1.5555555555555p-59};
    const double rest = y.high * y.high * y.high * horner(c, 6, y.high);
    parts start;
    start.high = 1.0 - 0.5 * y.high;
    start.low = ((1.0 - start.high) - 0.5 * y.high) - 0.5 * y.low;
    return sum(start, product(product(y, y), twenty_fourth), rest);
}

void gbs_torch_single_pair(uint64_t radius, uint64_t angle, double *cosine, double *sine)
{
    const uint64_t mask = (UINT64_C(1) << 53) - 1;
    const double u1 = (double)(int64_t)(angle & mask) * 0x1p-53;
    const double u2 = (double)(int64_t)(radius & mask) * 0x1p-53;
    const double r = sqrt(-2.0 * log_of_one_plus(-u2));
    int quadrant;
    const parts x = reduced(0x1.921fb54442d18p+2 * u1, &quadrant);
    const parts y = product(x, x);
    const double s = sine_of(x, y), c = cosine_of(y);
    const double in_order[] = {s, c, -s, -c};
    *sine = r * in_order[quadrant & 3];
    *cosine = r * in_order[(quadrant + 1) & 3];
}
