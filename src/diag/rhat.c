/* R-hat: the classic one on halved chains (Gelman and others, Bayesian Data Analysis 3, eqs. 11.3
 * and 11.4), the rank-normalised one, the larger of bulk and folded (Vehtari and others 2021,
 * eqs. 4 and 14), and the nested one for many short chains (Margossian and others 2024, eqs. 4
 * and 6 to 8). */
#include "diag/diag.h"

#include <math.h>
#include <string.h>

/* Mean, and variance with divisor n - 1 from a second pass; equal draws give exactly 0. */
static void moments(const gbs_diag_loops *loops, const double *x, int64_t n, double *mean,
                    double *variance)
{
    const double shift = x[0] + loops->sum(x, n, x[0]) / (double)n;
    const double rest = loops->sum(x, n, shift);
    const double squares = loops->sum_squares(x, n, shift) - rest * rest / (double)n;
    *mean = shift + rest / (double)n;
    *variance = n > 1 ? fmax(squares, 0) / (double)(n - 1) : 0;
}

gbs_split gbs_split_of(const gbs_diag_loops *loops, const double *mean, const double *variance,
                       int64_t count)
{
    gbs_split split;
    double unused;
    moments(loops, mean, count, &unused, &split.between);
    split.within = loops->sum(variance, count, 0) / (double)count;
    return split;
}

gbs_split gbs_split_halves(const gbs_diag_work *work, double *y)
{
    const int64_t n = work->half;
    for (int64_t h = 0; h < work->halves; h++, y += n) {
        moments(work->loops, y, n, &work->chain_mean[h], &work->chain_variance[h]);
        work->loops->subtract(y, y, n, work->chain_mean[h]);
    }
    return gbs_split_of(work->loops, work->chain_mean, work->chain_variance, work->halves);
}

static double rhat_of(gbs_split split, int64_t n)
{
    if (split.within == 0)
        return split.between == 0 ? NAN : INFINITY;
    return sqrt(split.between / split.within + (double)(n - 1) / (double)n);
}

double gbs_rhat_ranked(const gbs_diag_work *work, gbs_split *bulk)
{
    gbs_rank_folded(work);
    const double folded = rhat_of(gbs_split_halves(work, work->y), work->half);
    gbs_rank_draws(work);
    *bulk = gbs_split_halves(work, work->y);
    const double plain = rhat_of(*bulk, work->half);
    if ((work->notes & GBS_NOTE_CHAINS_CONSTANT) != 0)
        return INFINITY;
    return isnan(folded) ? folded : fmax(plain, folded);
}

static int has_rhat(const gbs_diag_work *work)
{
    return work->draws >= 4 && (work->notes & (GBS_NOTE_NOT_FINITE | GBS_NOTE_CONSTANT)) == 0;
}

double gbs_diag_rhat_split(const gbs_draws *draws, void *workspace)
{
    gbs_diag_work work;
    if (!gbs_diag_open(&work, draws, workspace) || !has_rhat(&work))
        return NAN;
    gbs_diag_keep(&work, work.centred, work.y);
    return rhat_of(gbs_split_halves(&work, work.y), work.half);
}

double gbs_diag_rhat(const gbs_draws *draws, void *workspace)
{
    gbs_diag_work work;
    if (!gbs_diag_open(&work, draws, workspace) || !has_rhat(&work))
        return NAN;
    gbs_diag_sort(&work);
    gbs_score_table(&work);
    gbs_split bulk;
    return gbs_rhat_ranked(&work, &bulk);
}

/* Orders the chains by superchain; returns the chains a superchain, or 0 where superchains differ
 * in size. */
static int64_t group_chains(const gbs_diag_work *work, const int32_t *superchain)
{
    const int64_t chains = work->chains;
    for (int64_t c = 0; c < chains; c++)
        work->keys[c] = (uint32_t)superchain[c];
    gbs_sort_order(work->keys, chains, work->sorting, work->order);

    int64_t size = 0, run = 0;
    for (int64_t c = 0; c < chains; c++) {
        run++;
        if (c + 1 < chains && superchain[work->order[c + 1]] == superchain[work->order[c]])
            continue;
        if (size != 0 && run != size)
            return 0;
        size = run;
        run = 0;
    }
    return size;
}

double gbs_rhat_nested_of(gbs_diag_work *work, const int32_t *superchain)
{
    if ((work->notes & (GBS_NOTE_NOT_FINITE | GBS_NOTE_CONSTANT)) != 0)
        return NAN;
    const int64_t size = group_chains(work, superchain);
    if (size == 0 || size == work->chains)
        return NAN;

    const gbs_diag_loops *const loops = work->loops;
    const int64_t groups = work->chains / size;
    double *mean = work->sorted, *variance = work->sorted + size; /* done with, and holds C */
    double *group_mean = work->chain_mean, *group_variance = work->chain_variance;
    for (int64_t g = 0; g < groups; g++) {
        for (int64_t i = 0; i < size; i++) {
            const int64_t c = work->order[g * size + i];
            moments(loops, work->centred + c * work->draws, work->draws, &mean[i], &variance[i]);
        }
        const gbs_split within = gbs_split_of(loops, mean, variance, size);
        group_mean[g] = loops->sum(mean, size, 0) / (double)size;
        group_variance[g] = within.within + within.between;
    }
    const gbs_split split = gbs_split_of(loops, group_mean, group_variance, groups);
    if (split.within == 0)
        return split.between == 0 ? NAN : INFINITY;
    return sqrt(1 + split.between / split.within);
}

double gbs_diag_rhat_nested(const gbs_draws *draws, const int32_t *superchain, void *workspace)
{
    gbs_diag_work work;
    if (superchain == NULL || !gbs_diag_open(&work, draws, workspace))
        return NAN;
    return gbs_rhat_nested_of(&work, superchain);
}
