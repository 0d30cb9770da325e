/* The posterior summary of draws, wherever they are: in a file or still in memory. */
#ifndef GIBBSITE_CLI_REPORT_H
#define GIBBSITE_CLI_REPORT_H

#include "cli.h"
#include "json.h"

/* Draws, variable by variable. */
typedef struct draw_source {
    int64_t chains, draws, variables;
    /* Fills out [n, chains, draws] with variables first ... first + n - 1; prints what failed. */
    exit_code (*read)(void *user, int64_t first, int64_t n, double *out);
    /* Writes the name of a variable and returns `to`. */
    const char *(*name)(void *user, int64_t variable, char *to, size_t capacity);
    /* A chain's number in the whole run. */
    int64_t (*chain_number)(void *user, int64_t chain);
    void *user;
} draw_source;

typedef struct report_row {
    gbs_summary s;
    double rhat_nested; /* NAN unless superchains were asked for */
} report_row;

typedef struct report {
    const draw_source *source; /* must stay while the report is used */
    int64_t superchains;       /* 0: none */
    bool moments;              /* from moments: what needs draws is undefined */
    report_row *rows;          /* [variables] */
    double trace_mean;         /* of T_t = sum over variables of (x_t - mean)^2 */
    double trace_mcse;
} report;

typedef struct report_limits {
    double rhat; /* every R-hat at most this; undefined counts as above */
    double ess;  /* every bulk and tail ESS at least this; likewise */
} report_limits;

/* Reads every variable once, a slab at a time, and works on the context's threads.  Ended by
 * report_free, whatever it returns. */
exit_code report_make(report *r, gbs_context *ctx, const draw_source *source, int64_t superchains);
/* The same where each chain's means and sums of squares about them [chains, variables] stand for
 * the draws; source->read is not called.  superchains 0: every chain is one. */
exit_code report_from_moments(report *r, const draw_source *source, const double *mean,
                              const double *m2, int64_t superchains);
void report_free(report *r);

/* Whether the trace is undefined though every draw is finite. */
bool report_trace_overflows(const report *r);

void report_print(const report *r);
void report_print_check(const report *r, const report_limits *limits);

/* Adds the report's keys to an object; false if there was no memory. */
bool report_json(const report *r, const report_limits *limits, json_t *object);

/* The two ways to fail a check: figures outside the limits, and chains that repeat each other,
 * whatever their figures, for copies agree perfectly and R-hat is blind to them. */
bool report_outside(const gbs_summary *s, const report_limits *limits);
bool report_repeats(const gbs_summary *s, const report_limits *limits);

/* Whether a variable fails in neither way, and how many do. */
bool report_passes(const gbs_summary *s, const report_limits *limits);
int64_t report_failures(const report *r, const report_limits *limits);

/* The notes of section 7 of the header: the word in JSON and the sentence in warnings. */
typedef struct report_note {
    const char *word;
    const char *sentence;
    uint32_t bit;
    bool names_chain;      /* the sentence speaks of one chain */
    const char *chain_key; /* in JSON; NULL: no chain belongs to the note */
    size_t chain_offset;   /* of that chain in gbs_summary */
} report_note;

extern const report_note report_notes[];
extern const int report_note_count;

/* The chain of a summary's note, of those that have one. */
int64_t report_noted_chain(const gbs_summary *s, const report_note *note);

/* The note's sentence for this report: what is undefined of short chains depends on their length.
 */
const char *report_sentence(const report *r, const report_note *note);

/* The extremes over all variables; variable -1 where none is defined. */
typedef struct report_worst {
    int64_t rhat, ess_bulk, ess_tail; /* variables */
    int64_t rhat_nested;              /* where the report is from moments */
    int64_t undefined;                /* variables whose R-hat is NaN */
} report_worst;

report_worst report_find_worst(const report *r);

#endif
