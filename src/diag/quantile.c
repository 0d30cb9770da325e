/* Quantiles by R's definition 7 (Hyndman and Fan 1996): linear between the order statistics
 * around 1 + (n - 1) p, in R's own arithmetic. */
#include "diag/diag.h"

#include <math.h>

double gbs_quantile_sorted(const double *sorted, int64_t n, double prob)
{
    const double index = 1 + (double)(n - 1) * prob, whole = floor(index), h = index - whole;
    const double *low = sorted + (int64_t)whole - 1;
    if (h == 0 || low[1] == low[0])
        return low[0];
    return (1 - h) * low[0] + h * low[1];
}

int64_t gbs_count_up_to(const double *sorted, int64_t n, double q)
{
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (sorted[middle] <= q)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double gbs_diag_quantile(const gbs_draws *draws, double prob, void *workspace)
{
    gbs_diag_work work;
    if (!(prob >= 0 && prob <= 1) || !gbs_diag_open(&work, draws, workspace) || work.not_finite > 0)
        return NAN;
    gbs_diag_sort(&work);
    return gbs_quantile_sorted(work.sorted, work.total, prob);
}
