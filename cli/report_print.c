/* The report as text: one row per variable, then the trace, warnings by name, and the worst. */
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 256, NAMES_LISTED = 8 };

/* One column: its head, and a format for numbers of at most its width. */
typedef struct column {
    const char *head;
    const char *format;
    int width;
    size_t offset; /* of the double in report_row */
} column;

#define OF(member) offsetof(report_row, member)
static const column columns[] = {{"mean", "%.5g", 12, OF(s.mean)},
                                 {"sd", "%.5g", 12, OF(s.sd)},
                                 {"mcse_mean", "%.2g", 10, OF(s.mcse_mean)},
                                 {"mcse_sd", "%.2g", 10, OF(s.mcse_sd)},
                                 {"q5", "%.5g", 12, OF(s.q5)},
                                 {"median", "%.5g", 12, OF(s.median)},
                                 {"q95", "%.5g", 12, OF(s.q95)},
                                 {"ess_bulk", "%.0f", 9, OF(s.ess_bulk)},
                                 {"ess_tail", "%.0f", 9, OF(s.ess_tail)},
                                 {"rhat", "%.4f", 8, OF(s.rhat)},
                                 {"rhat_nested", "%.4f", 12, OF(rhat_nested)}};
#undef OF
enum { COLUMNS = sizeof columns / sizeof *columns };

/* A number as a column has it; "-" where it is undefined. */
static const char *number(const char *format, double value, char *to, size_t capacity)
{
    if (isnan(value))
        snprintf(to, capacity, "-");
    else if (isinf(value))
        snprintf(to, capacity, "%s", value < 0 ? "-inf" : "inf");
    else
        snprintf(to, capacity, format, value);
    return to;
}

static const char *name_of(const report *r, int64_t variable, char *to)
{
    return r->source->name(r->source->user, variable, to, NAME_BYTES);
}

static void print_table(const report *r)
{
    char name[NAME_BYTES], text[32];
    const int shown = COLUMNS - (r->superchains ? 0 : 1);
    int width = 0;
    for (int64_t k = 0; k < r->source->variables; k++) {
        const int length = (int)strlen(name_of(r, k, name));
        width = length > width ? length : width;
    }
    printf("%-*s", width, "");
    for (int c = 0; c < shown; c++)
        printf(" %*s", columns[c].width, columns[c].head);
    putchar('\n');
    for (int64_t k = 0; k < r->source->variables; k++) {
        printf("%-*s", width, name_of(r, k, name));
        for (int c = 0; c < shown; c++) {
            double value;
            memcpy(&value, (const char *)&r->rows[k] + columns[c].offset, sizeof value);
            printf(" %*s", columns[c].width, number(columns[c].format, value, text, sizeof text));
        }
        putchar('\n');
    }
}

static bool has_note(const report *r, int64_t variable, const report_note *note, int64_t chain)
{
    const gbs_summary *s = &r->rows[variable].s;
    return (s->notes & note->bit) && (!note->names_chain || report_noted_chain(s, note) == chain);
}

/* One line for all variables that share a note (and a chain), whatever their number. */
static void print_warning(const report *r, const report_note *note, int64_t chain)
{
    char name[NAME_BYTES];
    int64_t count = 0;
    printf("warning: ");
    if (note->names_chain && chain >= 0)
        printf("chain %" PRId64 " ", r->source->chain_number(r->source->user, chain));
    else if (note->names_chain)
        printf("a chain ");
    printf("%s: ", report_sentence(r, note));
    for (int64_t k = 0; k < r->source->variables; k++)
        if (has_note(r, k, note, chain) && count++ < NAMES_LISTED)
            printf("%s%s", count > 1 ? ", " : "", name_of(r, k, name));
    if (count > NAMES_LISTED)
        printf(" and %" PRId64 " more", count - NAMES_LISTED);
    putchar('\n');
}

static void print_warnings(const report *r)
{
    for (int n = 0; n < report_note_count; n++) {
        const report_note *note = &report_notes[n];
        const int64_t last = note->names_chain ? r->source->chains - 1 : -1;
        for (int64_t chain = -1; chain <= last; chain++)
            for (int64_t k = 0; k < r->source->variables; k++)
                if (has_note(r, k, note, chain)) {
                    print_warning(r, note, chain);
                    break;
                }
    }
    if (report_trace_overflows(r))
        puts("warning: the trace is beyond double's range: squares of the draws overflow");
    if (r->source->chains == 1 && r->moments)
        puts("note: one chain and no draws, so nothing tells whether it has converged");
    else if (r->source->chains == 1 && r->source->draws >= 4)
        puts("note: one chain, so R-hat compares its two halves");
}

static const char *variables_of(const report *r)
{
    return gbs_plural(r->source->variables, "variable", "variables");
}

static void print_worst_of(const report *r, const char *what, const char *format, int64_t variable,
                           double value)
{
    char name[NAME_BYTES], text[32];
    if (variable < 0)
        printf(" %s undefined", what);
    else
        printf(" %s %s (%s)", what, number(format, value, text, sizeof text),
               name_of(r, variable, name));
}

static void print_worst(const report *r)
{
    const report_worst w = report_find_worst(r);
    int64_t above = 0;
    if (r->moments) {
        printf("worst: nested");
        print_worst_of(r, "R-hat", "%.4f", w.rhat_nested,
                       w.rhat_nested < 0 ? 0 : r->rows[w.rhat_nested].rhat_nested);
        printf(" over %" PRId64 " %s\n", r->superchains,
               gbs_plural(r->superchains, "superchain", "superchains"));
        return;
    }
    printf("worst:");
    print_worst_of(r, "R-hat", "%.4f", w.rhat, w.rhat < 0 ? 0 : r->rows[w.rhat].s.rhat);
    fputs(", bulk", stdout);
    print_worst_of(r, "ESS", "%.0f", w.ess_bulk,
                   w.ess_bulk < 0 ? 0 : r->rows[w.ess_bulk].s.ess_bulk);
    fputs(", tail", stdout);
    print_worst_of(r, "ESS", "%.0f", w.ess_tail,
                   w.ess_tail < 0 ? 0 : r->rows[w.ess_tail].s.ess_tail);
    if (w.undefined && w.rhat >= 0)
        printf("; R-hat undefined for %" PRId64 " of %" PRId64, w.undefined, r->source->variables);
    putchar('\n');
    for (int64_t k = 0; k < r->source->variables; k++)
        above += r->rows[k].s.rhat > 1.01;
    if (above)
        printf("R-hat > 1.01 for %" PRId64 " of %" PRId64 " %s: the chains have not mixed\n", above,
               r->source->variables, variables_of(r));
}

void report_print(const report *r)
{
    char mean[32], mcse[32];
    print_table(r);
    printf("\ntrace: mean %s, mcse %s\n", number("%.10g", r->trace_mean, mean, sizeof mean),
           number("%.2g", r->trace_mcse, mcse, sizeof mcse));
    print_warnings(r);
    print_worst(r);
}

/* The names of the variables that fail in one way, after the words that say which. */
static void print_failed(const report *r, const report_limits *limits,
                         bool (*fails)(const gbs_summary *, const report_limits *))
{
    char name[NAME_BYTES];
    int64_t count = 0, listed = 0;
    for (int64_t k = 0; k < r->source->variables; k++)
        count += fails(&r->rows[k].s, limits);
    printf(", for %" PRId64 " of %" PRId64 " %s:", count, r->source->variables, variables_of(r));
    for (int64_t k = 0; k < r->source->variables && listed < NAMES_LISTED; k++)
        if (fails(&r->rows[k].s, limits))
            printf("%s %s", listed++ ? "," : "", name_of(r, k, name));
    puts(count > listed ? ", ..." : "");
}

void report_print_check(const report *r, const report_limits *limits)
{
    bool outside = false, repeats = false;
    for (int64_t k = 0; k < r->source->variables; k++) {
        outside |= report_outside(&r->rows[k].s, limits);
        repeats |= report_repeats(&r->rows[k].s, limits);
    }
    if (outside) {
        printf("check: failed, R-hat > %g or undefined, or bulk or tail ESS < %g", limits->rhat,
               limits->ess);
        print_failed(r, limits, report_outside);
    }
    if (repeats) {
        fputs("check: failed, a chain repeats the draws of another", stdout);
        print_failed(r, limits, report_repeats);
    }
    if (!outside && !repeats)
        printf("check: passed, R-hat <= %g and bulk and tail ESS >= %g for %s %" PRId64 " %s\n",
               limits->rhat, limits->ess, gbs_plural(r->source->variables, "the", "all"),
               r->source->variables, variables_of(r));
}
