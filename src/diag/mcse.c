/* Monte Carlo standard errors: of the mean, sd / sqrt(ESS); of the standard deviation, from the
 * variance of the squared deviations (Kenney and Keeping 1951, p. 141); of a quantile, half the
 * distance between the order statistics at the 16 % and 84 % points of a beta distribution
 * (Vehtari and others 2021, section 4.4). */
#include "diag/diag.h"

#include <math.h>

double gbs_mcse_mean_from(const gbs_diag_work *work, double ess)
{
    return gbs_diag_sd(work) / sqrt(ess);
}

double gbs_mcse_sd_from(const gbs_diag_work *work, double ess_of_squares)
{
    const double total = (double)work->total;
    const double fourth = work->loops->sum_fourths(work->centred, work->total, work->mean);
    const double variance = work->second / total;
    const double of_variance = (fourth / total - variance * variance) / ess_of_squares;
    return sqrt(of_variance / variance / 4) * work->scale;
}

double gbs_diag_mcse_mean(const gbs_draws *draws, void *workspace)
{
    gbs_diag_work work;
    if (!gbs_diag_open(&work, draws, workspace) || !gbs_has_ess(&work))
        return NAN;
    return gbs_mcse_mean_from(&work, gbs_ess_of_draws(&work));
}

double gbs_diag_mcse_sd(const gbs_draws *draws, void *workspace)
{
    gbs_diag_work work;
    if (!gbs_diag_open(&work, draws, workspace) || !gbs_has_ess(&work))
        return NAN;
    return gbs_mcse_sd_from(&work, gbs_ess_of_squares(&work));
}

double gbs_diag_mcse_quantile(const gbs_draws *draws, double prob, void *workspace)
{
    gbs_diag_work work;
    if (!(prob >= 0 && prob <= 1) || !gbs_diag_open(&work, draws, workspace) || !gbs_has_ess(&work))
        return NAN;
    gbs_diag_sort(&work);
    const double ess = gbs_ess_of_quantile(&work, prob);
    if (isnan(ess))
        return NAN;
    /* Phi(-1) and Phi(1) with posterior's seven digits. */
    const double a = ess * prob + 1, b = ess * (1 - prob) + 1, total = (double)work.total;
    const double low = floor(gbs_beta_quantile(0.1586553, a, b) * total);
    const double high = ceil(gbs_beta_quantile(0.8413447, a, b) * total);
    const int64_t first = low < 1 ? 0 : (int64_t)low - 1;
    const int64_t last = high > total ? work.total - 1 : (int64_t)high - 1;
    return (work.sorted[last] - work.sorted[first]) / 2;
}
