/* Autocovariances with divisor n (Geyer 1992, section 3.1), summed over half-chains, computed as
 * far as Geyer's sequence asks for.  A chain that mixes well needs few lags and gets them as sums
 * of products; where the sequence goes on, all lags come from one round of transforms.  For the
 * indicators behind quantile ESS the sums of products are counts of common bits, and exact. */
#include "diag/diag.h"
#include "diag/lanes.h"

#include <string.h>

enum {
    BLOCK = 8,        /* lags summed together; after the first of them, a look at how they fall */
    DIRECT_LAGS = 64, /* about as costly as the transforms */
    BIT_LAGS = 512
};

/* At the last lag of the first block, an autocorrelation above this promises more lags than sums
 * are worth. */
static const double SLOW = 0.5;

/* out[k] += sum of a_i b_{i+k} for i = 0 .. count-1, k = 0 .. BLOCK-1. */
static void add_products(const double *a, const double *b, int64_t count, double *out)
{
    gbs_two lane[BLOCK];
    memset(lane, 0, sizeof lane);
    int64_t i = 0;
    for (; i + 2 <= count; i += 2) {
        const gbs_two at = gbs_load_two(a + i);
        for (int k = 0; k < BLOCK; k++)
            lane[k] += at * gbs_load_two(b + i + k);
    }
    for (int k = 0; k < BLOCK; k++)
        out[k] += lane[k][0] + lane[k][1] + (i < count ? a[i] * b[i + k] : 0);
}

/* lag_sum[t .. t + BLOCK) from y, in runs of 1,024 draws. */
static void direct_lags(const gbs_diag_work *work, int64_t t)
{
    const int64_t n = work->half;
    double sum[BLOCK] = {0};
    for (int64_t h = 0; h < work->halves; h++) {
        const double *y = work->y + h * n;
        const int64_t whole = n - t - BLOCK + 1 > 0 ? n - t - BLOCK + 1 : 0;
        for (int64_t i = 0; i < whole; i += 1024)
            add_products(y + i, y + i + t, whole - i < 1024 ? whole - i : 1024, sum);
        for (int k = 0; k < BLOCK; k++)
            for (int64_t i = whole; i + t + k < n; i++)
                sum[k] += y[i] * y[i + t + k];
    }
    for (int k = 0; k < BLOCK && t + k < n; k++)
        work->lag_sum[t + k] = sum[k];
}

static int64_t count_bits(uint64_t w)
{
    w -= (w >> 1) & 0x5555555555555555u;
    w = (w & 0x3333333333333333u) + ((w >> 2) & 0x3333333333333333u);
    w = (w + (w >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int64_t)((w * 0x0101010101010101u) >> 56);
}

static int64_t bit_at(const uint64_t *bits, int64_t i)
{
    return (int64_t)(bits[i / 64] >> (i % 64)) & 1;
}

/* How many i have both bit i and bit i + t. */
static int64_t common_bits(const uint64_t *bits, int64_t words, int64_t t)
{
    const int64_t skip = t / 64;
    const int down = (int)(t % 64), up = (64 - down) % 64;
    const uint64_t carry = down == 0 ? 0 : ~(uint64_t)0;
    int64_t count = 0;
    for (int64_t j = 0; j + skip + 1 < words; j++) {
        const uint64_t *w = bits + j + skip;
        count += count_bits(bits[j] & (w[0] >> down | ((w[1] << up) & carry)));
    }
    return count;
}

/* lag_sum[t] of the centred indicator; called for t = 0, 1, 2, ..., it keeps count of the members
 * among the first and last t draws: sum (b_i - p)(b_{i+t} - p) =
 * #{b_i b_{i+t}} - p (2 ones - head - tail) + (n - t) p^2, with p = ones / n. */
static void bit_lag(const gbs_diag_work *work, int64_t t)
{
    const int64_t n = work->half;
    double sum = 0;
    for (int64_t h = 0; h < work->halves; h++) {
        const uint64_t *bits = work->bits + h * work->words;
        if (t > 0) {
            work->head[h] += bit_at(bits, t - 1);
            work->tail[h] += bit_at(bits, n - t);
        }
        const double p = (double)work->ones[h] / (double)n;
        const int64_t reached = 2 * work->ones[h] - work->head[h] - work->tail[h];
        sum += (double)common_bits(bits, work->words, t) - p * (double)reached +
               (double)(n - t) * p * p;
    }
    work->lag_sum[t] = sum;
}

/* The centred indicator as numbers, for the transforms. */
static void expand_bits(const gbs_diag_work *work)
{
    const int64_t n = work->half;
    for (int64_t h = 0; h < work->halves; h++) {
        const double p = (double)work->ones[h] / (double)n;
        for (int64_t i = 0; i < n; i++)
            work->y[h * n + i] = (double)bit_at(work->bits + h * work->words, i) - p;
    }
}

static void all_lags(gbs_lags *lags)
{
    if (lags->of_bits)
        expand_bits(lags->work);
    gbs_transform_lags(lags->work);
    lags->known = lags->work->half;
}

static void more_lags(gbs_lags *lags)
{
    const double *sum = lags->work->lag_sum;
    const int64_t first = lags->known, limit = lags->of_bits ? BIT_LAGS : DIRECT_LAGS;
    if (first >= limit || (first == BLOCK && sum[BLOCK - 1] > SLOW * sum[0])) {
        all_lags(lags);
        return;
    }
    if (!lags->of_bits)
        direct_lags(lags->work, first);
    for (int64_t t = first; lags->of_bits && t < first + BLOCK && t < lags->work->half; t++)
        bit_lag(lags->work, t);
    lags->known = first + BLOCK;
}

double gbs_lag(gbs_lags *lags, int64_t t)
{
    while (t >= lags->known)
        more_lags(lags);
    return lags->work->lag_sum[t] / ((double)lags->work->half * (double)lags->work->halves);
}

gbs_split gbs_indicate(const gbs_diag_work *work, int64_t count)
{
    const int64_t n = work->half;
    const int rare = count <= work->total / 2;
    const int64_t from = rare ? 0 : count, to = rare ? count : work->total;
    const size_t counts = (size_t)work->halves * sizeof(int64_t);
    memset(work->bits, 0, (size_t)(work->halves * work->words) * sizeof *work->bits);
    memset(work->ones, 0, counts);
    memset(work->head, 0, counts);
    memset(work->tail, 0, counts);
    for (int64_t i = from; i < to; i++) {
        if (work->place[i] == GBS_PLACE_NONE)
            continue;
        const uint32_t h = work->place[i] / (uint32_t)n, at = work->place[i] % (uint32_t)n;
        work->bits[h * work->words + at / 64] |= (uint64_t)1 << (at % 64);
        work->ones[h]++;
    }
    for (int64_t h = 0; h < work->halves; h++) {
        const double ones = (double)work->ones[h];
        work->chain_mean[h] = ones / (double)n;
        work->chain_variance[h] = ones * ((double)n - ones) / ((double)n * (double)(n - 1));
    }
    return gbs_split_of(work->chain_mean, work->chain_variance, work->halves);
}
