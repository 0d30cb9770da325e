/* The report as JSON; the keys are described in docs/program.md. */
#include "report.h"

static json_t *notes_json(const gbs_summary *s)
{
    json_t *list = json_array();
    for (int n = 0; n < report_note_count; n++)
        if (s->notes & report_notes[n].bit)
            json_array_append_new(list, json_string(report_notes[n].word));
    return list;
}

static json_t *row_json(const report *r, int64_t variable)
{
    char name[256];
    const report_row *row = &r->rows[variable];
    const gbs_summary *s = &row->s;
    r->source->name(r->source->user, variable, name, sizeof name);
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", json_text(name), "mean",
        json_number(s->mean), "sd", json_number(s->sd), "mcse_mean", json_number(s->mcse_mean),
        "mcse_sd", json_number(s->mcse_sd), "q5", json_number(s->q5), "median",
        json_number(s->median), "q95", json_number(s->q95), "ess_bulk", json_number(s->ess_bulk),
        "ess_tail", json_number(s->ess_tail), "rhat", json_number(s->rhat));
    if (r->superchains)
        json_object_set_new(object, "rhat_nested", json_number(row->rhat_nested));
    json_object_set_new(object, "not_finite", json_integer(s->not_finite));
    json_object_set_new(object, "notes", notes_json(s));
    for (int n = 0; n < report_note_count; n++)
        if (report_notes[n].chain_key && report_noted_chain(s, &report_notes[n]) >= 0)
            json_object_set_new(object, report_notes[n].chain_key,
                                json_integer(r->source->chain_number(
                                    r->source->user, report_noted_chain(s, &report_notes[n]))));
    return object;
}

static json_t *worst_json(const report *r, int64_t variable, double value)
{
    char name[256];
    if (variable < 0)
        return json_null();
    return json_pack("{s:o, s:o}", "name",
                     json_text(r->source->name(r->source->user, variable, name, sizeof name)),
                     "value", json_number(value));
}

static json_t *check_json(const report *r, const report_limits *limits)
{
    char name[256];
    json_t *failed = json_array(), *repeats = json_array();
    for (int64_t k = 0; k < r->source->variables; k++) {
        r->source->name(r->source->user, k, name, sizeof name);
        if (!report_passes(&r->rows[k].s, limits))
            json_array_append_new(failed, json_text(name));
        if (report_repeats(&r->rows[k].s, limits))
            json_array_append_new(repeats, json_text(name));
    }
    return json_pack("{s:b, s:f, s:f, s:o, s:o}", "passed", json_array_size(failed) == 0, "rhat",
                     limits->rhat, "ess", limits->ess, "failed", failed, "chains_identical",
                     repeats);
}

bool report_json(const report *r, const report_limits *limits, json_t *object)
{
    const report_worst w = report_find_worst(r);
    json_t *rows = json_array();
    int failed = 0;
    for (int64_t k = 0; k < r->source->variables; k++)
        failed |= json_array_append_new(rows, row_json(r, k));
    failed |= json_object_set_new(object, "chains", json_integer(r->source->chains));
    failed |= json_object_set_new(object, "draws", json_integer(r->source->draws));
    failed |= json_object_set_new(object, "variables", rows);
    failed |= json_object_set_new(object, "trace",
                                  json_pack("{s:o, s:o}", "mean", json_number(r->trace_mean),
                                            "mcse", json_number(r->trace_mcse)));
    failed |= json_object_set_new(
        object, "worst",
        json_pack("{s:o, s:o, s:o, s:I}", "rhat",
                  worst_json(r, w.rhat, w.rhat < 0 ? 0 : r->rows[w.rhat].s.rhat), "ess_bulk",
                  worst_json(r, w.ess_bulk, w.ess_bulk < 0 ? 0 : r->rows[w.ess_bulk].s.ess_bulk),
                  "ess_tail",
                  worst_json(r, w.ess_tail, w.ess_tail < 0 ? 0 : r->rows[w.ess_tail].s.ess_tail),
                  "rhat_undefined", (json_int_t)w.undefined));
    if (r->moments)
        failed |= json_object_set_new(
            json_object_get(object, "worst"), "rhat_nested",
            worst_json(r, w.rhat_nested,
                       w.rhat_nested < 0 ? 0 : r->rows[w.rhat_nested].rhat_nested));
    if (limits)
        failed |= json_object_set_new(object, "check", check_json(r, limits));
    return !failed;
}
