/* Everything about one variable at once: one sort gives the quantiles, the ranks and the folded
 * ranks; each statistic's halves give its R-hat and its ESS. */
#include "diag/diag.h"

#include <math.h>

static void set_location(const gbs_diag_work *work, gbs_summary *out)
{
    out->mean = (work->shift + work->mean) * work->scale;
    out->sd = gbs_diag_sd(work);
    out->q5 = gbs_quantile_sorted(work->sorted, work->total, 0.05);
    out->median = gbs_quantile_sorted(work->sorted, work->total, 0.5);
    out->q95 = gbs_quantile_sorted(work->sorted, work->total, 0.95);
}

static void set_convergence(gbs_diag_work *work, gbs_summary *out)
{
    gbs_split bulk;
    gbs_score_table(work);
    out->rhat = gbs_rhat_ranked(work, &bulk);
    int tied = isnan(out->rhat);
    if (gbs_has_ess(work)) {
        double ess[GBS_MOST_SERIES];
        gbs_ess_together(work, bulk, ess);
        out->ess_bulk = ess[0];
        out->mcse_mean = gbs_mcse_mean_from(work, ess[1]);
        out->mcse_sd = gbs_mcse_sd_from(work, ess[2]);
        out->ess_tail = gbs_ess_of_tail(work);
        tied = tied || isnan(out->ess_tail) || isnan(out->mcse_sd);
    }
    if (tied)
        work->notes |= GBS_NOTE_TIED;
}

gbs_summary gbs_diag_summarise(gbs_diag_work *work, const gbs_draws *draws)
{
    gbs_diag_load(work, draws);
    gbs_summary summary = {.mean = NAN,
                           .sd = NAN,
                           .mcse_mean = NAN,
                           .mcse_sd = NAN,
                           .q5 = NAN,
                           .median = NAN,
                           .q95 = NAN,
                           .ess_bulk = NAN,
                           .ess_tail = NAN,
                           .rhat = NAN,
                           .not_finite = work->not_finite};
    if (work->not_finite == 0) {
        gbs_diag_sort(work);
        set_location(work, &summary);
        if ((work->notes & GBS_NOTE_CONSTANT) == 0) {
            gbs_note_identical(work);
            gbs_note_stuck(work);
            if (work->draws >= 4)
                set_convergence(work, &summary);
        }
    }
    summary.notes = work->notes;
    summary.not_finite_chain = work->not_finite_chain;
    summary.constant_chain = work->constant_chain;
    summary.identical_chain = work->identical_chain;
    summary.stuck_chain = work->stuck_chain;
    return summary;
}

gbs_status gbs_diag_summary(const gbs_draws *draws, void *workspace, gbs_summary *out)
{
    gbs_diag_work work;
    if (out == NULL || !gbs_diag_prepare(&work, draws, workspace))
        return GBS_ERROR_ARGUMENT;
    *out = gbs_diag_summarise(&work, draws);
    return GBS_OK;
}
