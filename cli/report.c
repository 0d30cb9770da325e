/* Computes a report.  The file is read in slabs of whole variables, since diagnostics need all
 * draws of one variable; the series of the trace is summed along the way, so one pass is enough:
 * T_t needs each variable's own mean only. */
#include "report.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Draws held at a time: 64 MiB, or one variable where that is more. */
enum { SLAB_BYTES = 64 << 20 };

typedef struct workbench {
    double *slab;         /* [slab_variables, chains, draws] */
    gbs_summary *summary; /* [slab_variables] */
    double *nested;       /* [slab_variables], NULL without superchains */
    int32_t *superchain;  /* [chains], likewise */
    double *trace;        /* [chains, draws] */
    int64_t slab_variables;
} workbench;

static exit_code workbench_open(workbench *w, const draw_source *source, int64_t superchains)
{
    if (!gbs_diag_workspace(source->chains, source->draws))
        return complain(EXIT_BAD_INPUT, "%lld chains of %lld draws are too many to summarise",
                        (long long)source->chains, (long long)source->draws);
    const int64_t size = source->chains * source->draws;
    w->slab_variables = SLAB_BYTES / (int64_t)sizeof(double) / size;
    if (w->slab_variables < 1)
        w->slab_variables = 1;
    if (w->slab_variables > source->variables)
        w->slab_variables = source->variables;
    w->slab = take(w->slab_variables * size, sizeof(double), "draws");
    w->summary = take(w->slab_variables, sizeof *w->summary, "summary");
    w->trace = take(size, sizeof(double), "trace");
    if (!w->slab || !w->summary || !w->trace)
        return EXIT_FILE;
    if (!superchains)
        return EXIT_FINE;
    w->nested = take(w->slab_variables, sizeof(double), "summary");
    w->superchain = take(source->chains, sizeof(int32_t), "superchains");
    if (!w->nested || !w->superchain)
        return EXIT_FILE;
    for (int64_t c = 0; c < source->chains; c++)
        w->superchain[c] = (int32_t)(c / (source->chains / superchains));
    return EXIT_FINE;
}

static void workbench_close(workbench *w)
{
    free(w->slab);
    free(w->summary);
    free(w->nested);
    free(w->superchain);
    free(w->trace);
}

static gbs_draws draws_of(const draw_source *source, const double *values)
{
    return (gbs_draws){.values = values,
                       .chains = source->chains,
                       .draws = source->draws,
                       .chain_stride = source->draws,
                       .draw_stride = 1};
}

/* The n variables in the slab. */
static exit_code summarise(gbs_context *ctx, const report *r, const workbench *w, int64_t n,
                           report_row *rows)
{
    const gbs_draws first = draws_of(r->source, w->slab);
    const int64_t size = first.chains * first.draws;
    const gbs_status status =
        gbs_diag_summaries(ctx, &first, n, size, w->superchain, w->summary, w->nested);
    if (status != GBS_OK)
        return complain_status(ctx, status);
    for (int64_t k = 0; k < n; k++) {
        rows[k].s = w->summary[k];
        rows[k].rhat_nested = w->nested ? w->nested[k] : (double)NAN;
        for (int64_t i = 0; i < size; i++) {
            const double d = w->slab[k * size + i] - rows[k].s.mean;
            w->trace[i] += d * d;
        }
    }
    return EXIT_FINE;
}

static exit_code summarise_trace(gbs_context *ctx, report *r, const workbench *w)
{
    const gbs_draws draws = draws_of(r->source, w->trace);
    gbs_summary s;
    const gbs_status status = gbs_diag_summaries(ctx, &draws, 1, 0, NULL, &s, NULL);
    if (status != GBS_OK)
        return complain_status(ctx, status);
    r->trace_mean = s.mean;
    r->trace_mcse = s.mcse_mean;
    return EXIT_FINE;
}

exit_code report_make(report *r, gbs_context *ctx, const draw_source *source, int64_t superchains)
{
    *r = (report){.source = source, .superchains = superchains};
    workbench w = {0};
    exit_code code = workbench_open(&w, source, superchains);
    r->rows = code == EXIT_FINE ? take(source->variables, sizeof *r->rows, "summary") : NULL;
    if (code == EXIT_FINE && !r->rows)
        code = EXIT_FILE;
    for (int64_t first = 0; code == EXIT_FINE && first < source->variables;
         first += w.slab_variables) {
        const int64_t left = source->variables - first;
        const int64_t n = left < w.slab_variables ? left : w.slab_variables;
        code = source->read(source->user, first, n, w.slab);
        if (code == EXIT_FINE)
            code = summarise(ctx, r, &w, n, r->rows + first);
    }
    if (code == EXIT_FINE)
        code = summarise_trace(ctx, r, &w);
    workbench_close(&w);
    return code;
}

void report_free(report *r)
{
    free(r->rows);
    *r = (report){0};
}

bool report_trace_overflows(const report *r)
{
    bool finite = true;
    for (int64_t k = 0; k < r->source->variables; k++)
        finite = finite && !(r->rows[k].s.notes & GBS_NOTE_NOT_FINITE);
    return finite && !isfinite(r->trace_mean);
}

/* Written so that NaN fails. */
bool report_outside(const gbs_summary *s, const report_limits *limits)
{
    return !(s->rhat <= limits->rhat && s->ess_bulk >= limits->ess && s->ess_tail >= limits->ess);
}

bool report_repeats(const gbs_summary *s, const report_limits *limits)
{
    (void)limits;
    return s->notes & GBS_NOTE_CHAINS_IDENTICAL;
}

bool report_passes(const gbs_summary *s, const report_limits *limits)
{
    return !report_outside(s, limits) && !report_repeats(s, limits);
}

int64_t report_failures(const report *r, const report_limits *limits)
{
    int64_t failures = 0;
    for (int64_t k = 0; k < r->source->variables; k++)
        failures += !report_passes(&r->rows[k].s, limits);
    return failures;
}

report_worst report_find_worst(const report *r)
{
    report_worst w = {-1, -1, -1, -1, 0};
    for (int64_t k = 0; k < r->source->variables; k++) {
        const gbs_summary *s = &r->rows[k].s;
        w.undefined += isnan(s->rhat);
        if (!isnan(s->rhat) && (w.rhat < 0 || s->rhat > r->rows[w.rhat].s.rhat))
            w.rhat = k;
        const double nested = r->rows[k].rhat_nested;
        if (r->moments && !isnan(nested) &&
            (w.rhat_nested < 0 || nested > r->rows[w.rhat_nested].rhat_nested))
            w.rhat_nested = k;
        if (!isnan(s->ess_bulk) && (w.ess_bulk < 0 || s->ess_bulk < r->rows[w.ess_bulk].s.ess_bulk))
            w.ess_bulk = k;
        if (!isnan(s->ess_tail) && (w.ess_tail < 0 || s->ess_tail < r->rows[w.ess_tail].s.ess_tail))
            w.ess_tail = k;
    }
    return w;
}

#define CHAIN(member) #member, offsetof(gbs_summary, member)
#define NO_CHAIN NULL, 0

const report_note report_notes[] = {
    {"not_finite", "NaN or infinite draws, nothing can be said", GBS_NOTE_NOT_FINITE, false,
     CHAIN(not_finite_chain)},
    {"constant", "all draws are equal, R-hat and ESS are undefined", GBS_NOTE_CONSTANT, false,
     NO_CHAIN},
    {"chains_constant", "no chain moves and they stand apart, R-hat is infinite",
     GBS_NOTE_CHAINS_CONSTANT, false, NO_CHAIN},
    {"chain_constant", "does not move", GBS_NOTE_CHAIN_CONSTANT, true, CHAIN(constant_chain)},
    {"too_short", "fewer than 6 draws a chain, ESS is undefined", GBS_NOTE_TOO_SHORT, false,
     NO_CHAIN},
    {"ess_capped", "ESS is at its cap, draws times log10(draws): the chains are antithetic",
     GBS_NOTE_ESS_CAPPED, false, NO_CHAIN},
    {"chain_stuck", "has stopped moving, its last draws are all equal", GBS_NOTE_CHAIN_STUCK, true,
     CHAIN(stuck_chain)},
    {"chains_identical", "repeats the draws of another chain", GBS_NOTE_CHAINS_IDENTICAL, true,
     CHAIN(identical_chain)},
    {"tied", "too many draws are equal, tail ESS, R-hat or mcse_sd is undefined", GBS_NOTE_TIED,
     false, NO_CHAIN},
};
const int report_note_count = sizeof report_notes / sizeof *report_notes;

int64_t report_noted_chain(const gbs_summary *s, const report_note *note)
{
    int64_t chain;
    memcpy(&chain, (const char *)s + note->chain_offset, sizeof chain);
    return chain;
}

const char *report_sentence(const report *r, const report_note *note)
{
    if (note->bit == GBS_NOTE_TOO_SHORT && r->source->draws < 4)
        return "fewer than 4 draws a chain, R-hat and ESS are undefined";
    if (note->bit == GBS_NOTE_CONSTANT && r->source->chains * r->source->draws == 1)
        return "one draw alone says nothing of the others";
    return note->sentence;
}
