/* Autocovariances with divisor n (Geyer 1992, section 3.1), summed over half-chains, computed as
 * far as Geyer's sequence asks for.  A chain that mixes well needs few lags and gets them as sums
 * of products; where the sequence goes on, all lags come from one round of transforms.  For the
 * indicators behind quantile ESS the sums of products are counts of common bits, and exact. */
#include "diag/diag.h"

#include <string.h>

enum {
    BLOCK = GBS_LAGS_TOGETHER, /* after the first of them, a look at how they fall */
    DIRECT_LAGS = 64,          /* about as costly as the transforms */
    BIT_LAGS = 512
};

/* At the last lag of the first block, an autocorrelation above this promises more lags than sums
 * are worth. */
static const double SLOW = 0.3;

/* sum[t .. t + BLOCK) from y. */
static void direct_lags(const gbs_lags *lags, int64_t t)
{
    const gbs_diag_work *work = lags->work;
    double sum[BLOCK];
    work->loops->products(lags->y, work->half, work->halves, t, sum);
    for (int k = 0; k < BLOCK && t + k < work->half; k++)
        lags->sum[t + k] = sum[k];
}

static int64_t bit_at(const uint64_t *bits, int64_t i)
{
    return (int64_t)(bits[i / 64] >> (i % 64)) & 1;
}

/* The sum at lag t of the centred indicator; called for t = 0, 1, 2, ..., it keeps `reached`.  With
 * p = ones / n, sum (b_i - p)(b_{i+t} - p) = #{b_i b_{i+t}} - p reached + (n - t) p^2, reached = 2
 * ones less the members among the first and the last t draws.  The sums over half-chains of ones
 * reached and of ones^2 are at most 2 n K < 2^62, and exact. */
static double bit_lag(gbs_diag_work *work, int64_t t)
{
    gbs_bit_sums *const sums = &work->bit_sums;
    const int64_t n = work->half;
    for (int64_t h = 0; t > 0 && h < work->halves; h++) {
        const uint64_t *bits = work->bits + h * work->words;
        sums->reached -= work->ones[h] * (bit_at(bits, t - 1) + bit_at(bits, n - t));
    }
    const int64_t common = work->loops->common_bits(work->bits, work->words, work->halves, t);
    return (double)common - (double)sums->reached / (double)n +
           (double)sums->squares / (double)n * ((double)(n - t) / (double)n);
}

/* The centred indicator as numbers, for the transforms. */
static void expand_bits(const gbs_lags *lags)
{
    const gbs_diag_work *work = lags->work;
    const int64_t n = work->half;
    for (int64_t h = 0; h < work->halves; h++) {
        const double p = (double)work->ones[h] / (double)n;
        for (int64_t i = 0; i < n; i++)
            lags->y[h * n + i] = (double)bit_at(work->bits + h * work->words, i) - p;
    }
}

/* All lags of `count` statistics. */
static void transform_lags(gbs_lags *const *lags, int count)
{
    gbs_diag_work *const work = lags[0]->work;
    const double *y[GBS_MOST_SERIES];
    double *sum[GBS_MOST_SERIES];
    if (work->plan == NULL)
        work->plan = work->transforms->plan(work->half, work->plan_memory);
    for (int s = 0; s < count; s++) {
        if (lags[s]->of_bits)
            expand_bits(lags[s]);
        y[s] = lags[s]->y;
        sum[s] = lags[s]->sum;
        lags[s]->known = work->half;
    }
    work->transforms->transform(work->plan, work->scratch, count, y, sum, work->half, work->halves);
}

static int is_slow(const gbs_lags *lags)
{
    return lags->known == BLOCK && lags->sum[BLOCK - 1] > SLOW * lags->sum[0];
}

static void more_lags(gbs_lags *lags)
{
    const int64_t first = lags->known, limit = lags->of_bits ? BIT_LAGS : DIRECT_LAGS;
    if (first >= limit || (!lags->of_bits && is_slow(lags))) {
        transform_lags(&lags, 1);
        return;
    }
    if (!lags->of_bits)
        direct_lags(lags, first);
    for (int64_t t = first; lags->of_bits && t < first + BLOCK && t < lags->work->half; t++)
        lags->sum[t] = bit_lag(lags->work, t);
    lags->known = first + BLOCK;
}

void gbs_lags_start(gbs_lags *lags, int count)
{
    gbs_lags *slow[GBS_MOST_SERIES];
    int found = 0;
    for (int s = 0; s < count; s++) {
        more_lags(&lags[s]);
        if (lags[s].known < lags[s].work->half && is_slow(&lags[s]))
            slow[found++] = &lags[s];
    }
    if (found > 0)
        transform_lags(slow, found);
}

double gbs_lag(gbs_lags *lags, int64_t t)
{
    while (t >= lags->known)
        more_lags(lags);
    return lags->sum[t] / ((double)lags->work->half * (double)lags->work->halves);
}

gbs_split gbs_indicate(gbs_diag_work *work, int64_t count)
{
    const int64_t n = work->half;
    const int rare = count <= work->total / 2;
    const int64_t from = rare ? 0 : count, to = rare ? count : work->total;
    memset(work->bits, 0, (size_t)(work->halves * work->words) * sizeof *work->bits);
    memset(work->ones, 0, (size_t)work->halves * sizeof *work->ones);
    for (int64_t i = from; i < to; i++) {
        if (work->place[i] == GBS_PLACE_NONE)
            continue;
        const uint32_t h = work->place[i] / (uint32_t)n, at = work->place[i] % (uint32_t)n;
        work->bits[h * work->words + at / 64] |= (uint64_t)1 << (at % 64);
        work->ones[h]++;
    }
    work->bit_sums = (gbs_bit_sums){0, 0};
    for (int64_t h = 0; h < work->halves; h++) {
        const double ones = (double)work->ones[h];
        work->bit_sums.reached += 2 * work->ones[h] * work->ones[h];
        work->bit_sums.squares += work->ones[h] * work->ones[h];
        work->chain_mean[h] = ones / (double)n;
        work->chain_variance[h] = ones * ((double)n - ones) / ((double)n * (double)(n - 1));
    }
    return gbs_split_of(work->loops, work->chain_mean, work->chain_variance, work->halves);
}
