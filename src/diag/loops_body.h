/* The loops of loops.h for one instruction set.  The including file defines
 *   LOOPS(name)     `name` with the instruction set in it
 *   LOOPS_NAME      that instruction set
 *   LANES           doubles in one of its registers
 *   LAGS_IN_FLIGHT  lags whose sums fit into its registers, 16 lanes to two lags
 * Vectors of eight doubles are the compilers' portable ones: where registers are narrower, each is
 * several, and its lanes do the same. */
#include "diag/loops.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef double eight __attribute__((vector_size(64), aligned(8), may_alias));

typedef int64_t mask_eight __attribute__((vector_size(64), aligned(8), may_alias));

#define EIGHT(x) (*(const eight *)(x))

/* Runs of 1,024 are summed apart, so that rounding grows with their number only. */
enum { RUN = 1024 };

#define INLINE static inline __attribute__((always_inline))

INLINE double join(const eight *lanes)
{
    const eight v = *lanes;
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

/* sum, sum_squares and sum_fourths differ in what they add; `power` is a constant at each call. */
INLINE double sum_run(const double *x, int64_t n, double shift, int power)
{
    eight even = {0}, odd = {0};
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        eight a = EIGHT(x + i) - shift, b = EIGHT(x + i + 8) - shift;
        for (int p = 1; p < power; p *= 2) {
            a *= a;
            b *= b;
        }
        even += a;
        odd += b;
    }
    even += odd;
    double sum = join(&even);
    for (; i < n; i++) {
        double a = x[i] - shift;
        for (int p = 1; p < power; p *= 2)
            a *= a;
        sum += a;
    }
    return sum;
}

INLINE double sum_powers(const double *x, int64_t n, double shift, int power)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i += RUN)
        sum += sum_run(x + i, n - i < RUN ? n - i : RUN, shift, power);
    return sum;
}

static double sum(const double *x, int64_t n, double shift)
{
    return sum_powers(x, n, shift, 1);
}

static double sum_squares(const double *x, int64_t n, double shift)
{
    return sum_powers(x, n, shift, 2);
}

static double sum_fourths(const double *x, int64_t n, double shift)
{
    return sum_powers(x, n, shift, 4);
}

/* to = yes where the mask is set. */
INLINE void put_where(const mask_eight *mask, const eight *yes, eight *to)
{
    *to = (eight)((*mask & (mask_eight)*yes) | (~*mask & (mask_eight)*to));
}

static void range(const double *x, int64_t n, double *low, double *high)
{
    eight lo = (eight){0} + x[0], hi = lo;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const eight a = EIGHT(x + i);
        const mask_eight below = a<lo, above = a> hi;
        put_where(&below, &a, &lo);
        put_where(&above, &a, &hi);
    }
    *low = lo[0];
    *high = hi[0];
    for (int k = 1; k < 8; k++) {
        *low = lo[k] < *low ? lo[k] : *low;
        *high = hi[k] > *high ? hi[k] : *high;
    }
    for (; i < n; i++) {
        *low = x[i] < *low ? x[i] : *low;
        *high = x[i] > *high ? x[i] : *high;
    }
}

static int64_t equal_neighbours(const double *x, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 1; i < n; i++)
        count += x[i] == x[i - 1];
    return count;
}

static int64_t count_not_finite(const double *x, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += !(fabs(x[i]) <= DBL_MAX);
    return count;
}

static void scale(double *to, const double *x, int64_t n, double factor)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = x[i] * factor;
}

static void subtract(double *to, const double *x, int64_t n, double shift)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = x[i] - shift;
}

static void squares(double *to, const double *x, int64_t n, double shift)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = (x[i] - shift) * (x[i] - shift);
}

static void distances(double *to, const double *x, int64_t n, double origin, double middle)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = fabs((x[i] - origin) - middle);
}

static void bins(uint64_t *words, const double *x, int64_t n, double low, double factor)
{
    for (int64_t i = 0; i < n; i++)
        words[i] = (uint64_t)(uint32_t)(int32_t)((x[i] - low) * factor) << 32 | (uint64_t)i;
}

/* LAGS_IN_FLIGHT lags over `count` draws; out[k] += sum of a_i b_{i+k}. */
INLINE void add_products(const double *a, const double *b, int64_t count, double *out)
{
    eight lane[LAGS_IN_FLIGHT];
    for (int k = 0; k < LAGS_IN_FLIGHT; k++)
        lane[k] = (eight){0};
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const eight at = EIGHT(a + i);
        for (int k = 0; k < LAGS_IN_FLIGHT; k++)
            lane[k] += at * EIGHT(b + i + k);
    }
    for (int k = 0; k < LAGS_IN_FLIGHT; k++) {
        double rest = 0;
        for (int64_t j = i; j < count; j++)
            rest += a[j] * b[j + k];
        out[k] += join(&lane[k]) + rest;
    }
}

static void products(const double *y, int64_t n, int64_t halves, int64_t t,
                     double sums[GBS_LAGS_TOGETHER])
{
    memset(sums, 0, GBS_LAGS_TOGETHER * sizeof *sums);
    const int64_t whole = n - t - GBS_LAGS_TOGETHER + 1 > 0 ? n - t - GBS_LAGS_TOGETHER + 1 : 0;
    for (int64_t h = 0; h < halves; h++, y += n) {
        for (int64_t i = 0; i < whole; i += RUN) {
            const int64_t count = whole - i < RUN ? whole - i : RUN;
            for (int k = 0; k < GBS_LAGS_TOGETHER; k += LAGS_IN_FLIGHT)
                add_products(y + i, y + i + t + k, count, sums + k);
        }
        for (int k = 0; k < GBS_LAGS_TOGETHER; k++)
            for (int64_t i = whole; i + t + k < n; i++)
                sums[k] += y[i] * y[i + t + k];
    }
}

static int64_t count_bits(uint64_t w)
{
#if defined(__POPCNT__) || defined(__aarch64__)
    return __builtin_popcountll(w);
#else
    w -= (w >> 1) & 0x5555555555555555u;
    w = (w & 0x3333333333333333u) + ((w >> 2) & 0x3333333333333333u);
    w = (w + (w >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int64_t)((w * 0x0101010101010101u) >> 56);
#endif
}

static int64_t common_bits(const uint64_t *bits, int64_t words, int64_t halves, int64_t t)
{
    const int64_t skip = t / 64;
    const int down = (int)(t % 64), up = (64 - down) % 64;
    const uint64_t carry = down == 0 ? 0 : ~(uint64_t)0;
    int64_t count = 0;
    for (int64_t h = 0; h < halves; h++, bits += words) {
        for (int64_t j = 0; j + skip + 1 < words; j++) {
            const uint64_t *w = bits + j + skip;
            count += count_bits(bits[j] & (w[0] >> down | ((w[1] << up) & carry)));
        }
    }
    return count;
}

#include "diag/transform_body.h"

const gbs_diag_loops LOOPS(gbs_diag_loops) = {
    .name = LOOPS_NAME,
    .lanes = LANES,
    .sum = sum,
    .sum_squares = sum_squares,
    .sum_fourths = sum_fourths,
    .range = range,
    .equal_neighbours = equal_neighbours,
    .count_not_finite = count_not_finite,
    .scale = scale,
    .subtract = subtract,
    .squares = squares,
    .distances = distances,
    .bins = bins,
    .products = products,
    .common_bits = common_bits,
    .plan_bytes = plan_bytes,
    .scratch_bytes = scratch_bytes,
    .plan = plan,
    .transform = transform,
};
