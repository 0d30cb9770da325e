/* What the pilot of --method auto tried and chose: in words, and in JSON. */
#define _POSIX_C_SOURCE 200809L
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As the options that ask for it. */
static void put_candidate(FILE *to, const gbs_pilot_candidate *candidate)
{
    char number[32];
    fputs(candidate->method == GBS_METHOD_WHITENED ? "whitened" : "gibbs", to);
    if (candidate->overrelax > 0)
        fprintf(to, " --overrelax %s", shortest(candidate->overrelax, number));
}

/* Those left out, each with its reason, or several with the same one. */
static void put_left_out(FILE *to, const gbs_pilot *pilot)
{
    const char *before = "; left out: ";
    for (int32_t k = 0; k < pilot->count; k++) {
        const gbs_pilot_candidate *candidate = &pilot->tried[k];
        if (!*candidate->why)
            continue;
        fputs(before, to);
        put_candidate(to, candidate);
        before = ", ";
        if (k + 1 == pilot->count || strcmp(candidate->why, candidate[1].why) != 0)
            fprintf(to, " (%s)", candidate->why);
    }
}

static void put_tried(FILE *to, const gbs_pilot *pilot)
{
    const char *before = "; sweeps to forget, the slowest of three figures: ";
    for (int32_t k = 0; k < pilot->count; k++) {
        if (*pilot->tried[k].why)
            continue;
        fputs(before, to);
        put_candidate(to, &pilot->tried[k]);
        fprintf(to, " %.3g", pilot->tried[k].slowest);
        before = ", ";
    }
    put_left_out(to, pilot);
}

char *pilot_text(const gbs_pilot *pilot, bool why)
{
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    if (!to)
        return NULL;
    if (pilot->count > 0)
        put_candidate(to, &pilot->tried[pilot->chosen]);
    else
        fputs("whitened", to);
    if (why && pilot->count > 0)
        put_tried(to, pilot);
    else if (why)
        fputs("; nothing bounds the sites, so its draws are independent and no others were tried",
              to);
    const bool failed = ferror(to);
    if (fclose(to) || failed) {
        free(text);
        return NULL;
    }
    return text;
}

json_t *pilot_json(const gbs_pilot *pilot)
{
    json_t *tried = json_array();
    for (int32_t k = 0; k < pilot->count; k++) {
        const gbs_pilot_candidate *candidate = &pilot->tried[k];
        json_t *times = json_array(); /* of the mean of the sites, the middle site, the energy */
        for (int f = 0; f < 3; f++)
            json_array_append_new(times, json_number(candidate->time[f]));
        json_t *object =
            json_pack("{s:s, s:o, s:o, s:o}", "method",
                      candidate->method == GBS_METHOD_WHITENED ? "whitened" : "gibbs", "overrelax",
                      json_number(candidate->overrelax), "sweeps_to_forget", times, "operations",
                      json_number(candidate->operations));
        if (object && *candidate->why)
            json_object_set_new(object, "left_out", json_text(candidate->why));
        json_array_append_new(tried, object);
    }
    json_t *chosen = pilot->count > 0 ? json_integer(pilot->chosen) : json_null();
    return json_pack("{s:i, s:o, s:o}", "version", GBS_PILOT_VERSION, "chosen", chosen, "tried",
                     tried);
}
