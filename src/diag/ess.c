/* Effective sample size over half-chains: the multi-chain autocorrelation of Vehtari and others
 * 2021, section 3.2, cut by Geyer's initial positive and monotone sequences (Geyer 1992,
 * section 3.3) in the form of Stan and R's posterior, whose stopping rules and bound are kept to
 * the letter. */
#include "diag/diag.h"

#include <math.h>

/* The combined autocorrelation at lag t. */
static double rho_at(gbs_lags *lags, gbs_split split, double total, int64_t t)
{
    return 1 - (split.within - gbs_lag(lags, t)) / total;
}

/* The initial positive sequence in rho[0 ..]; returns where it ends.  rho[end] is set too: the
 * last even term if it is positive, which steadies antithetic chains. */
static int64_t positive_sequence(gbs_lags *lags, gbs_split split, double total, double *rho)
{
    const int64_t n = lags->work->half;
    int64_t t = 0;
    double even = 1, odd = rho_at(lags, split, total, 1);
    rho[0] = even;
    rho[1] = odd;
    while (t < n - 5 && even + odd > 0) {
        t += 2;
        even = rho_at(lags, split, total, t);
        odd = rho_at(lags, split, total, t + 1);
        const int keep = even + odd >= 0;
        rho[t] = keep ? even : 0;
        rho[t + 1] = keep ? odd : 0;
    }
    if (even > 0)
        rho[t] = even;
    return t;
}

static void make_monotone(double *rho, int64_t end)
{
    for (int64_t t = 2; t <= end - 2; t += 2) {
        const double before = rho[t - 2] + rho[t - 1];
        if (rho[t] + rho[t + 1] > before)
            rho[t] = rho[t + 1] = before / 2;
    }
}

double gbs_ess_of(gbs_lags *lags, gbs_split split)
{
    gbs_diag_work *const work = lags->work;
    const int64_t n = work->half;
    const double total = split.within * (double)(n - 1) / (double)n + split.between;
    if (n < 3 || !(total > 0))
        return NAN;
    double *rho = work->rho;
    const int64_t end = positive_sequence(lags, split, total, rho);
    make_monotone(rho, end);

    /* Where the sequence ends at once, posterior still counts rho[0]: R's 1:0 is c(1, 0). */
    double sum = rho[0];
    for (int64_t t = 1; t < end; t++)
        sum += rho[t];
    const double tau = 2 * sum - 1 + rho[end];
    const double size = (double)work->kept, bound = 1 / log10(size);
    if (tau < bound)
        work->notes |= GBS_NOTE_ESS_CAPPED;
    return size / (tau < bound ? bound : tau);
}

int gbs_has_ess(const gbs_diag_work *work)
{
    const uint32_t undefined = GBS_NOTE_NOT_FINITE | GBS_NOTE_CONSTANT | GBS_NOTE_CHAINS_CONSTANT;
    return work->half >= 3 && (work->notes & undefined) == 0;
}

/* Of y, which gbs_split_halves has left centred. */
static double ess_of_y(gbs_diag_work *work, gbs_split split)
{
    gbs_lags lags = {.work = work, .y = work->y, .sum = work->lag_sum[0]};
    return gbs_ess_of(&lags, split);
}

double gbs_ess_of_draws(gbs_diag_work *work)
{
    gbs_diag_keep(work, work->centred, work->y);
    return ess_of_y(work, gbs_split_halves(work, work->y));
}

double gbs_ess_of_squares(gbs_diag_work *work)
{
    return gbs_diag_squares(work, work->y) ? ess_of_y(work, gbs_split_halves(work, work->y)) : NAN;
}

void gbs_ess_together(gbs_diag_work *work, gbs_split bulk, double ess[GBS_MOST_SERIES])
{
    double *const y[GBS_MOST_SERIES] = {work->y, work->more_y[0], work->more_y[1]};
    gbs_diag_keep(work, work->centred, y[1]);
    const int count = gbs_diag_squares(work, y[2]) ? 3 : 2;
    const gbs_split split[GBS_MOST_SERIES] = {bulk, gbs_split_halves(work, y[1]),
                                              count == 3 ? gbs_split_halves(work, y[2])
                                                         : (gbs_split){0, 0}};
    gbs_lags lags[GBS_MOST_SERIES];
    for (int s = 0; s < count; s++)
        lags[s] = (gbs_lags){.work = work, .y = y[s], .sum = work->lag_sum[s]};
    gbs_lags_start(lags, count);
    for (int s = 0; s < GBS_MOST_SERIES; s++)
        ess[s] = s < count ? gbs_ess_of(&lags[s], split[s]) : (double)NAN;
}

/* I(x <= q), q the quantile.  The largest draw as q would leave no contrast, so for prob = 1
 * posterior takes half a draw less. */
double gbs_ess_of_quantile(gbs_diag_work *work, double prob)
{
    const int64_t total = work->total;
    if (prob == 1)
        prob = ((double)total - 0.5) / (double)total;
    const double q = gbs_quantile_sorted(work->sorted, total, prob);
    const int64_t count = gbs_count_up_to(work->sorted, total, q);
    if (count == total)
        return NAN;
    gbs_lags lags = {.work = work, .y = work->y, .sum = work->lag_sum[0], .of_bits = 1};
    return gbs_ess_of(&lags, gbs_indicate(work, count));
}

double gbs_ess_of_tail(gbs_diag_work *work)
{
    const double low = gbs_ess_of_quantile(work, 0.05), high = gbs_ess_of_quantile(work, 0.95);
    return isnan(low) || isnan(high) ? NAN : fmin(low, high);
}

static int open_for_ess(gbs_diag_work *work, const gbs_draws *draws, void *workspace)
{
    return gbs_diag_open(work, draws, workspace) && gbs_has_ess(work);
}

double gbs_diag_ess_mean(const gbs_draws *draws, void *workspace)
{
    gbs_diag_work work;
    return open_for_ess(&work, draws, workspace) ? gbs_ess_of_draws(&work) : NAN;
}

double gbs_diag_ess_sd(const gbs_draws *draws, void *workspace)
{
    gbs_diag_work work;
    return open_for_ess(&work, draws, workspace) ? gbs_ess_of_squares(&work) : NAN;
}

double gbs_diag_ess_bulk(const gbs_draws *draws, void *workspace)
{
    gbs_diag_work work;
    if (!open_for_ess(&work, draws, workspace))
        return NAN;
    gbs_diag_sort(&work);
    gbs_score_table(&work);
    gbs_rank_draws(&work);
    return ess_of_y(&work, gbs_split_halves(&work, work.y));
}

double gbs_diag_ess_tail(const gbs_draws *draws, void *workspace)
{
    gbs_diag_work work;
    if (!open_for_ess(&work, draws, workspace))
        return NAN;
    gbs_diag_sort(&work);
    return gbs_ess_of_tail(&work);
}

double gbs_diag_ess_quantile(const gbs_draws *draws, double prob, void *workspace)
{
    gbs_diag_work work;
    if (!(prob >= 0 && prob <= 1) || !open_for_ess(&work, draws, workspace))
        return NAN;
    gbs_diag_sort(&work);
    return gbs_ess_of_quantile(&work, prob);
}
