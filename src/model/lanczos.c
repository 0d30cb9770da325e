/* Lanczos' method (Parlett, The Symmetric Eigenvalue Problem, chapter 13; "twice is enough").  The
 * first KEPT basis vectors are kept, in blocks taken as they come, and every new one is made
 * orthogonal to them, so that no copies of converged eigenvalues appear; up to KEPT sites the
 * tridiagonal matrix is after D steps similar to the whole operator.  An end of the spectrum that
 * takes more steps than that has eigenvalues close together, as a long chain's: from then on a
 * vector is made orthogonal to the two before it alone, and a step costs one application and 10 D
 * flops.  Copies come then, but only of eigenvalues that have converged (Paige, Linear Algebra
 * Appl. 34, 1980), and the method ends with the largest one's first. */
#include "model/lanczos.h"
#include "backend/cpu/linalg_kernels.h"

#include <math.h>
#include <string.h>

#define BLOCK 64      /* basis vectors taken at a time */
#define KEPT 512      /* basis vectors kept, a multiple of that */
#define CHECK_EVERY 8 /* steps between looks at the tridiagonal matrix; later a tenth of all */
#define MOST 16       /* steps for each site, beyond KEPT sites; a chain takes about 4 */

typedef struct lanczos {
    const gbs_allocator *allocator;
    const gbs_linalg_kernels *kernels;
    int64_t dim, most, blocks; /* most: steps */
    double **basis;            /* [blocks] of [BLOCK, dim], NULL until needed */
    double *diagonal, *beside; /* of the tridiagonal matrix: beside[k] is between k and k+1 */
    double *next;              /* [dim] */
    double down;               /* power of two that brings the operator near 1 */
} lanczos;

static void lanczos_end(lanczos *z)
{
    for (int64_t i = 0; z->basis != NULL && i < z->blocks; ++i)
        gbs_memory_give(z->allocator, z->basis[i]);
    gbs_memory_give(z->allocator, z->basis);
    gbs_memory_give(z->allocator, z->diagonal);
    gbs_memory_give(z->allocator, z->beside);
    gbs_memory_give(z->allocator, z->next);
}

static int lanczos_begin(lanczos *z)
{
    z->most = z->dim <= KEPT ? z->dim : MOST * z->dim;
    z->blocks = z->dim <= KEPT ? (z->dim + BLOCK - 1) / BLOCK : KEPT / BLOCK + 1;
    z->basis = gbs_memory_take(z->allocator, z->blocks, sizeof *z->basis);
    z->diagonal = gbs_memory_take(z->allocator, z->most, sizeof(double));
    z->beside = gbs_memory_take(z->allocator, z->most, sizeof(double));
    z->next = gbs_memory_take(z->allocator, z->dim, sizeof(double));
    return z->basis != NULL && z->diagonal != NULL && z->beside != NULL && z->next != NULL;
}

/* Room for basis vector m, of which those from KEPT on take turns in the last block; NULL if there
 * is no memory. */
static double *basis_vector(lanczos *z, int64_t m)
{
    if (m >= KEPT)
        m = KEPT + m % BLOCK;
    double **const block = &z->basis[m / BLOCK];
    if (*block == NULL)
        *block = gbs_memory_take(z->allocator, BLOCK * z->dim, sizeof **block);
    return *block != NULL ? *block + m % BLOCK * z->dim : NULL;
}

/* Eight partial sums, so that the compiler may use vectors: the order is still fixed. */
static double dot(int64_t n, const double *x, const double *y)
{
    double part[8] = {0}, rest = 0;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; ++k)
            part[k] += x[i + k] * y[i + k];
    for (; i < n; ++i)
        rest += x[i] * y[i];
    return ((part[0] + part[4]) + (part[1] + part[5])) +
           ((part[2] + part[6]) + (part[3] + part[7])) + rest;
}

/* Uniform on (-1, 1) by SplitMix64 (Steele, Lea and Flood 2014): no eigenvector of a model
 * that people write down is orthogonal to it. */
static void start_vector(int64_t n, double *x)
{
    uint64_t state = 0;
    for (int64_t i = 0; i < n; ++i) {
        uint64_t w = state += UINT64_C(0x9E3779B97F4A7C15);
        w = (w ^ (w >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
        w = (w ^ (w >> 27)) * UINT64_C(0x94D049BB133111EB);
        w ^= w >> 31;
        x[i] = ((double)(w >> 11) + 0.5) * 0x1p-52 - 1;
    }
}

/* 1 if t is above every eigenvalue of the leading [m, m] tridiagonal matrix: all pivots of
 * t - T, taken from the last row up, are positive.  *tail is then the last component of the
 * vector that solves all rows but the first, scaled to length 1: as t falls to the largest
 * eigenvalue, that of its eigenvector. */
static int is_above(const lanczos *z, int64_t m, double t, double *tail)
{
    double pivot = t - z->diagonal[m - 1], component = 1, square = 1;
    for (int64_t k = m - 2; k >= 0 && pivot > 0; --k) {
        const double b = z->beside[k];
        component *= pivot / b;
        square += component * component;
        pivot = t - z->diagonal[k] - b * (b / pivot);
    }
    *tail = 1 / sqrt(square);
    return pivot > 0;
}

/* Largest eigenvalue of the leading tridiagonal matrix, by bisection to the last bit, and the
 * last component of its eigenvector. */
static double largest_ritz(const lanczos *z, int64_t m, double *tail)
{
    double low = 0, high = 0;
    for (int64_t k = 0; k < m; ++k) {
        const double left = k > 0 ? z->beside[k - 1] : 0, right = k + 1 < m ? z->beside[k] : 0;
        low = fmax(low, z->diagonal[k]);
        high = fmax(high, z->diagonal[k] + left + right);
    }
    high *= 1 + 0x1p-50; /* Gershgorin, and its rounding */
    for (;;) {
        const double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high))
            break;
        if (is_above(z, m, middle, tail))
            high = middle;
        else
            low = middle;
    }
    is_above(z, m, high, tail);
    return high;
}

/* Lengths are sums of squares, which must not overflow whatever the units of the model. */
static void choose_scale(lanczos *z)
{
    double size = 0;
    for (int64_t i = 0; i < z->dim; ++i)
        size = fmax(size, fabs(z->next[i]));
    const int exponent = size > 0 ? ilogb(size) : 0;
    z->down = ldexp(1, exponent < -1000 ? 1000 : exponent > 1000 ? -1000 : -exponent);
}

static void take_out(lanczos *z, int64_t k)
{
    const double *const u = basis_vector(z, k);
    z->kernels->axpy(z->dim, -dot(z->dim, u, z->next), u, z->next);
}

/* next = A v_m, made orthogonal to v_0 .. v_m; returns its length.  The two latest vectors
 * hold nearly all there is to take out; the pass over all removes what rounding left, and
 * another follows only where that was not little. */
static double lanczos_step(lanczos *z, const gbs_operator *op, int64_t m)
{
    const double *const v = basis_vector(z, m);
    op->apply(op->self, v, z->next);
    if (m == 0)
        choose_scale(z);
    for (int64_t i = 0; i < z->dim; ++i)
        z->next[i] *= z->down;
    z->diagonal[m] = dot(z->dim, v, z->next);
    for (int64_t k = m; k >= 0 && k >= m - 1; --k)
        take_out(z, k);
    double before, length = sqrt(dot(z->dim, z->next, z->next));
    int passes = 0;
    do {
        before = length;
        for (int64_t k = m; k >= 0 && m < KEPT; --k)
            take_out(z, k);
        length = sqrt(dot(z->dim, z->next, z->next));
    } while (length < 0.7 * before && ++passes < 3);
    return length;
}

static int iterate(lanczos *z, const gbs_operator *op, double *largest)
{
    start_vector(z->dim, z->next);
    for (int64_t i = 0; op->apart != NULL && i < z->dim; ++i)
        if (op->apart[i] == op->apart[i])
            z->next[i] = 0; /* and so in every vector that follows */
    double length = sqrt(dot(z->dim, z->next, z->next));
    int64_t next_check = CHECK_EVERY - 1;
    for (int64_t m = 0;; ++m) {
        double *const v = basis_vector(z, m);
        if (v == NULL)
            return 0;
        for (int64_t i = 0; i < z->dim; ++i)
            v[i] = z->next[i] / length;
        z->beside[m] = length = lanczos_step(z, op, m);
        const int last = m + 1 == z->most;
        /* A short remainder means that the space is invariant, and must not be divided by. */
        if (!last && m < next_check && length > GBS_LANCZOS_TOLERANCE * z->diagonal[0])
            continue;
        next_check = m + (m < KEPT ? CHECK_EVERY : m / 10);
        double tail;
        *largest = largest_ritz(z, m + 1, &tail);
        if (last || length * tail <= GBS_LANCZOS_TOLERANCE * *largest)
            return 1;
    }
}

gbs_status gbs_lanczos_largest(gbs_context *ctx, const gbs_operator *op, double *largest)
{
    lanczos z = {.allocator = &ctx->allocator,
                 .kernels = gbs_linalg_kernels_for(ctx->isa),
                 .dim = op->dim,
                 .down = 1};
    const int done = lanczos_begin(&z) && iterate(&z, op, largest);
    lanczos_end(&z);
    if (!done)
        return gbs_fail_memory(ctx, "Lanczos vectors", BLOCK * op->dim, sizeof(double));
    *largest /= z.down;
    return GBS_OK;
}
