/* Golden values of normals between bounds (cases and numbers that were computed with 40 digits and
 * more), and scores against them: what the tests of single draws and of sweeps share. */
#ifndef GBS_TEST_GOLDEN_BOXES_H
#define GBS_TEST_GOLDEN_BOXES_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "exact/trial.h"

static const double most_errors = 5;

static inline void check_score(const char *what, const char *of, double expected, double got,
                               double error)
{
    const double z = (got - expected) / error;
    if (!(fabs(z) <= most_errors))
        fail_msg("%s, %s: expected %.9g, got %.9g, error %.3g, %.2f standard errors, bound %g",
                 what, of, expected, got, got - expected, z, most_errors);
}

typedef struct box {
    const char *what;
    double m, s, lo, hi, mean, variance, median; /* NAN where golden has none */
} box;

#define INF INFINITY

static const box boxes[] = {
    {"[0, inf)", 0, 1, 0, INF, 0.79788456080286536, 0.363380227632419, 0.67448975019608174},
    {"[-1, 1]", 0, 1, -1, 1, 0, 0.291125094772793, 0},
    {"[1, 2]", 0, 1, 1, 2, 1.3831690466315528, 0.0727428861006013, 1.3364403477452469},
    {"[-2, inf)", 0, 1, -2, INF, 0.055247862678989959, 0.886451948311424, 0.028516926590917475},
    {"[3, inf)", 0, 1, 3, INF, 3.2830986549304365, 0.0705591867852681, 3.2051549205989332},
    {"[5, 5.5]", 0, 1, 5, 5.5, 5.1521017769072688, 0.0151740833488122, 5.1199349071807505},
    {"[10, inf)", 0, 1, 10, INF, 10.098093233962512, 0.00944537782565626, 10.068411836081429},
    {"[40, 41]", 0, 1, 40, 41, 40.024968847207264, 6.22668578391e-4, 40.017314126764651},
    {"[100, inf)", 0, 1, 100, INF, 100.00999800099926, 9.99400499482635e-5, 100.00693053875243},
    {"[1000, inf)", 0, 1, 1000, INF, 1000.000999998, 9.99994000050e-7, 1000.0006931462472},
    {"[0, 1e-8]", 0, 1, 0, 1e-8, 5e-9, 8.33333333333e-18, 5e-9},
    {"C01 right", 0, 1, 10, 11, 10.0980683749, 0.0970607 * 0.0970607, NAN},
    {"C01 left", 0, 1, -11, -10, -10.0980683749, 0.0970607 * 0.0970607, NAN},
    {"C01 far", 0, 1, 100, 101, 100.009998001, 0.0099970 * 0.0099970, NAN},
    {"C03 30", 33, 1, -INF, 30, 29.7169013451, NAN, NAN},
    {"C03 20", 33, 1, -INF, 20, 19.9239614394, NAN, NAN},
    {"C03 10", 33, 1, -INF, 10, 9.9566845859, NAN, NAN},
    {"C03 [9, inf)", 0, 1, 9, INF, 9.108523105, 0.107306990 * 0.107306990, NAN},
    {"C03 [9, 20]", 0, 1, 9, 20, 9.108523105, 0.107306990 * 0.107306990, NAN},
    {"C04 5", 0, 1, 5, 1e6, 5.18650397, 0.180822 * 0.180822, NAN},
    {"C04 5.25", 0, 1, 5.25, 1e6, 5.42865539, 0.173613 * 0.173613, NAN},
    {"C04 5.5", 0, 1, 5.5, 1e6, 5.67141031, 0.166918 * 0.166918, NAN},
    {"C08", -1, 0.123, 0, INF, 0.0147024562, 0.0145045370 * 0.0145045370, NAN},
    {"C11 a", 0, 1, -31.571, -6.379, -6.52886565865, NAN, NAN},
    {"C11 b", -2, 3, 0, 99, 1.79553402203, NAN, NAN},
    {"C11 c", -2, 3, 0, INF, 1.79553402203, NAN, NAN},
    {"C11 d", -2, 3, -INF, -1, -3.79547083440, NAN, NAN},
    {"C12", 1, 0.1, 0, 1, 0.92021154392, 0.003633802276, NAN},
    {"C15 a", 7500, 15000, 0, INF, 15137.4065076, 1.09389473e8, NAN},
    {"C15 b", 2, 2, 0, INF, 2.57519994188, 2.518745143, NAN},
    {"C15 c", 14.654, 2, 31.24, INF, 31.4746154668, 0.05362345, NAN},
    {"C16", -2.8216267, 0.6991148, 1, 4, 1.12049379254, 0.11730496 * 0.11730496, NAN},
};

enum { BOXES = sizeof boxes / sizeof *boxes };

/* Moments about the golden mean, so that nothing cancels, and the share below the median. */
typedef struct moments {
    double mean, variance, fourth, below;
} moments;

static inline moments moments_of(const void *x, gbs_type type, int64_t n, const box *of)
{
    moments r = {0, 0, 0, 0};
    for (int64_t i = 0; i < n; ++i) {
        const double v = type == GBS_F32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
        const double d = v - of->mean;
        if (!(v >= of->lo && v <= of->hi))
            fail_msg("%s: %.17g is outside", of->what, v);
        r.mean += d / (double)n;
        r.variance += d * d / (double)n;
        r.fourth += d * d * d * d / (double)n;
        r.below += (v < of->median) / (double)n;
    }
    return r;
}

/* ((1 - rho) I + rho 11')^-1 */
static inline double *equicorrelated(int64_t dim, double rho)
{
    double *const q = malloc((size_t)(dim * dim) * sizeof *q);
    const double off = rho / ((1 - rho) * (1 - rho + (double)dim * rho));
    for (int64_t i = 0; i < dim; ++i)
        for (int64_t j = 0; j < dim; ++j)
            q[i * dim + j] = (i == j ? 1 / (1 - rho) : 0) - off;
    return q;
}

static inline double *tridiagonal(int64_t dim, double end, double inner, double off)
{
    double *const q = calloc((size_t)(dim * dim), sizeof *q);
    for (int64_t i = 0; i < dim; ++i) {
        q[i * dim + i] = i == 0 || i == dim - 1 ? end : inner;
        if (i > 0)
            q[i * dim + i - 1] = q[(i - 1) * dim + i] = off;
    }
    return q;
}

#endif
