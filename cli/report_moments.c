/* A report from each chain's moments, where no draws were kept.  What can be said then: the pooled
 * mean and standard deviation; the Monte Carlo error of the mean, from the spread of the chains'
 * means; and nested R-hat without splitting (Margossian and others 2024), each chain a superchain
 * of its own unless fewer are asked for.  The rest needs draws and is undefined. */
#include "report.h"

#include <math.h>
#include <stdlib.h>

/* One variable of a file [chains, dim]. */
typedef struct column {
    const double *mean, *m2; /* of chain 0 */
    int64_t stride, chains, draws;
} column;

/* Pooled over all chains (Chan, Golub and LeVeque 1983). */
static void pool(const column *v, double *mean, double *m2)
{
    const double each = (double)v->draws;
    double n = each;
    *mean = v->mean[0];
    *m2 = v->m2[0];
    for (int64_t c = 1; c < v->chains; c++) {
        const double delta = v->mean[c * v->stride] - *mean, total = n + each;
        *mean += delta * each / total;
        *m2 += v->m2[c * v->stride] + delta * delta * n * each / total;
        n = total;
    }
}

/* Mean and variance (divisor n - 1; 0 for n = 1) of n numbers, in two passes. */
static void moments_of(const double *x, int64_t stride, int64_t n, double *mean, double *variance)
{
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < n; k++)
        sum += x[k * stride];
    *mean = sum / (double)n;
    for (int64_t k = 0; k < n; k++)
        squares += (x[k * stride] - *mean) * (x[k * stride] - *mean);
    *variance = n > 1 ? squares / (double)(n - 1) : 0;
}

/* sqrt(1 + B / W): B the variance of the superchains' means; W the mean over superchains of the
 * variance of their chains' means plus the mean of their chains' variances.  work [superchains]. */
static double nested_rhat(const column *v, int64_t superchains, double *work)
{
    const int64_t size = v->chains / superchains;
    double within = 0, between, mean;
    if (superchains < 2)
        return NAN;
    for (int64_t g = 0; g < superchains; g++) {
        double spread, inside = 0;
        moments_of(v->mean + g * size * v->stride, v->stride, size, &work[g], &spread);
        for (int64_t c = g * size; c < (g + 1) * size; c++)
            inside += v->draws > 1 ? v->m2[c * v->stride] / (double)(v->draws - 1) : 0;
        within += spread + inside / (double)size;
    }
    moments_of(work, 1, superchains, &mean, &between);
    within /= (double)superchains;
    if (within == 0)
        return between == 0 ? NAN : INFINITY;
    return sqrt(1 + between / within);
}

/* What the moments of a variable show without its draws: chains that never moved. */
static void note(const column *v, gbs_summary *s)
{
    int64_t still = 0, first = -1, apart = 0;
    for (int64_t c = 0; c < v->chains; c++) {
        const double mean = v->mean[c * v->stride];
        if (!isfinite(mean) && s->not_finite++ == 0)
            s->not_finite_chain = c;
        apart += mean != v->mean[0];
        if (v->m2[c * v->stride] == 0) {
            first = still == 0 ? c : first;
            still++;
        }
    }
    if (s->not_finite)
        s->notes |= GBS_NOTE_NOT_FINITE;
    else if (v->draws < 2 || !still)
        return;
    else if (still == v->chains)
        s->notes |= apart ? GBS_NOTE_CHAINS_CONSTANT : GBS_NOTE_CONSTANT;
    else {
        s->notes |= GBS_NOTE_CHAIN_CONSTANT;
        s->constant_chain = first;
    }
}

static void describe(const column *v, int64_t superchains, double *work, report_row *row,
                     double *trace)
{
    const double n = (double)v->chains * (double)v->draws;
    double m2, mean, spread;
    gbs_summary *s = &row->s;
    *s = (gbs_summary){.mcse_sd = NAN,
                       .q5 = NAN,
                       .median = NAN,
                       .q95 = NAN,
                       .ess_bulk = NAN,
                       .ess_tail = NAN,
                       .rhat = NAN,
                       .not_finite_chain = -1,
                       .constant_chain = -1,
                       .identical_chain = -1,
                       .stuck_chain = -1};
    note(v, s);
    pool(v, &s->mean, &m2);
    moments_of(v->mean, v->stride, v->chains, &mean, &spread);
    s->sd = n > 1 ? sqrt(m2 / (n - 1)) : NAN;
    s->mcse_mean = v->chains > 1 ? sqrt(spread / (double)v->chains) : NAN;
    row->rhat_nested = nested_rhat(v, superchains, work);
    *trace += m2 / n;
}

exit_code report_from_moments(report *r, const draw_source *source, const double *mean,
                              const double *m2, int64_t superchains)
{
    const int64_t groups = superchains ? superchains : source->chains;
    *r = (report){.source = source, .superchains = groups, .moments = true, .trace_mcse = NAN};
    double *work = take(groups, sizeof *work, "superchains");
    r->rows = work ? take(source->variables, sizeof *r->rows, "summary") : NULL;
    for (int64_t i = 0; r->rows && i < source->variables; i++) {
        const column v = {mean + i, m2 + i, source->variables, source->chains, source->draws};
        describe(&v, groups, work, &r->rows[i], &r->trace_mean);
    }
    free(work);
    return r->rows ? EXIT_FINE : EXIT_FILE;
}
