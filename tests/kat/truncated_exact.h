/* The distribution function of a standard normal on [a, a + w] in long double, by formulae that
 * share nothing with the library: Mills' ratio from erfc or its continued fraction, short stretches
 * by Gauss-Legendre quadrature.  Good to 1e-17 relative. */
#ifndef GBS_TEST_TRUNCATED_EXACT_H
#define GBS_TEST_TRUNCATED_EXACT_H

#include <math.h>

static inline long double exact_mills(long double z)
{
    if (z < 4)
        return sqrtl(acosl(-1.0L) / 2) * expl(z * z / 2) * erfcl(z / sqrtl(2.0L));
    long double fraction = z; /* z + 1/(z + 2/(z + 3/(z + ... */
    for (int k = 20 + (int)(2000 / (z * z)); k >= 1; --k)
        fraction = z + (long double)k / fraction;
    return 1 / fraction;
}

/* Nodes and weights of the 12-point rule on [-1, 1], positive half. */
static const long double exact_nodes[6][2] = {
    {0.1252334085114689154724414L, 0.2491470458134027850005624L},
    {0.3678314989981801937526915L, 0.2334925365383548087608499L},
    {0.5873179542866174472967024L, 0.2031674267230659217490645L},
    {0.7699026741943046870368938L, 0.1600783285433462263346525L},
    {0.9041172563704748566784659L, 0.1069393259953184309602547L},
    {0.9815606342467192506905491L, 0.0471753363865118271946160L}};

static inline long double exact_density(long double a, long double y)
{
    return expl(-y * (a + y / 2));
}

/* The integral of exp(-a y - y^2/2) over [0, d], a >= -d / 2. */
static inline long double exact_mass(long double a, long double d)
{
    if (d * (fabsl(a) + d) < 1) {
        long double sum = 0;
        for (int k = 0; k < 6; ++k)
            for (int side = -1; side <= 1; side += 2)
                sum += exact_nodes[k][1] *
                       exact_density(a, d / 2 * (1 + (long double)side * exact_nodes[k][0]));
        return sum * d / 2;
    }
    if (a >= 0)
        return exact_mills(a) - (isinf(d) ? 0 : exact_mills(a + d) * exact_density(a, d));
    /* around the mean, relative to the density at a */
    const long double root = sqrtl(2.0L), peak = expl(a * a / 2) * sqrtl(acosl(-1.0L) / 2);
    return peak * (erfl((a + d) / root) - erfl(a / root));
}

/* Around the mean, where the density at a may be 0: P(a <= Z <= z) / P(a <= Z <= b). */
static inline long double exact_middle(long double a, long double b, long double z)
{
    if (b - a < 1)
        return exact_mass(a, z - a) / exact_mass(a, b - a);
    const long double root = sqrtl(2.0L);
    const long double all = erfl(b / root) - erfl(a / root);
    if (z < 0) /* tails, so that a small share keeps its digits */
        return (erfcl(-z / root) - erfcl(-a / root)) / all;
    return (erfl(z / root) - erfl(a / root)) / all;
}

/* The share of the mass of [a, a + w] that lies below the point that a map gave. */
static inline long double exact_share(long double a, long double w, long double d, int middle)
{
    if (middle)
        return exact_middle(a, a + w, d);
    return exact_mass(a, d) / exact_mass(a, w);
}

#endif
