/* Draws of one or several files.  Only a range of variables is in memory at a time; of several
 * files each range is read file by file and woven together. */
#include "draw_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 256 };

/* Splits a running number into the file's variable and the element of it. */
static int64_t locate(const gbs_results_reader *reader, int64_t running, int64_t *element)
{
    int64_t variable = 0;
    while (running >= gbs_results_variable_size(reader, variable))
        running -= gbs_results_variable_size(reader, variable++);
    *element = running;
    return variable;
}

/* Variables first ... first + n - 1 of one file: out [n, its chains, draws]. */
static exit_code read_file(gbs_results_reader *reader, int64_t first, int64_t n, double *out)
{
    const int64_t size = gbs_results_chains(reader) * gbs_results_draws(reader);
    gbs_io_error error;
    for (int64_t done = 0; done < n;) {
        int64_t element;
        const int64_t variable = locate(reader, first + done, &element);
        const int64_t left = gbs_results_variable_size(reader, variable) - element;
        const int64_t now = left < n - done ? left : n - done;
        const gbs_io_status status =
            gbs_results_read(reader, variable, element, now, out + done * size, &error);
        if (status != GBS_IO_OK)
            return complain((exit_code)gbs_io_exit_code(status), "%s", error.message);
        done += now;
    }
    return EXIT_FINE;
}

static exit_code files_read(void *user, int64_t first, int64_t n, double *out)
{
    draw_files *files = user;
    if (files->count == 1)
        return read_file(files->reader[0], first, n, out);
    const int64_t all = files->source.chains * files->source.draws;
    for (int64_t f = 0, before = 0; f < files->count; f++) {
        const int64_t size = gbs_results_chains(files->reader[f]) * files->source.draws;
        double *part = take(n * size, sizeof *part, "draws of one file");
        exit_code code = part ? read_file(files->reader[f], first, n, part) : EXIT_FILE;
        for (int64_t k = 0; code == EXIT_FINE && k < n; k++)
            memcpy(out + k * all + before, part + k * size, (size_t)size * sizeof *out);
        free(part);
        if (code != EXIT_FINE)
            return code;
        before += size;
    }
    return EXIT_FINE;
}

static const char *name_in(const gbs_results_reader *reader, int64_t running, char *to,
                           size_t capacity)
{
    int64_t element;
    const int64_t variable = locate(reader, running, &element);
    return gbs_results_element_name(reader, variable, element, to, capacity);
}

static const char *files_name(void *user, int64_t running, char *to, size_t capacity)
{
    const draw_files *files = user;
    return name_in(files->reader[0], running, to, capacity);
}

static int64_t files_chain_number(void *user, int64_t chain)
{
    const draw_files *files = user;
    return files->number[chain];
}

static int64_t count_variables(const gbs_results_reader *reader)
{
    int64_t count = 0;
    for (int64_t v = 0; v < gbs_results_variable_count(reader); v++)
        count += gbs_results_variable_size(reader, v);
    return count;
}

/* Chains can be put together only where they are of one model and one length. */
static exit_code check_alike(const draw_files *files, int64_t f)
{
    const gbs_results_reader *first = files->reader[0], *other = files->reader[f];
    if (gbs_results_draws(other) != files->source.draws)
        return complain(EXIT_BAD_INPUT, "%s: has %" PRId64 " draws, %s has %" PRId64,
                        files->path[f], gbs_results_draws(other), files->path[0],
                        files->source.draws);
    if (count_variables(other) != files->source.variables)
        return complain(EXIT_BAD_INPUT, "%s: has %" PRId64 " variables, %s has %" PRId64,
                        files->path[f], count_variables(other), files->path[0],
                        files->source.variables);
    for (int64_t k = 0; k < files->source.variables; k++) {
        char here[NAME_BYTES], there[NAME_BYTES];
        if (strcmp(name_in(other, k, here, sizeof here), name_in(first, k, there, sizeof there)))
            return complain(EXIT_BAD_INPUT, "%s: variable %" PRId64 " is %s, in %s it is %s",
                            files->path[f], k, here, files->path[0], there);
    }
    return EXIT_FINE;
}

/* What a file says of the run it comes from; "" where it says nothing. */
typedef struct origin {
    char model[24], run[24], seed[24], chains[24];
} origin;

static void read_word(gbs_results_reader *reader, const char *name, char word[24])
{
    gbs_attribute a;
    word[0] = 0;
    if (!gbs_results_attribute(reader, NULL, name, &a))
        return;
    if (a.kind == GBS_ATTRIBUTE_TEXT)
        snprintf(word, 24, "%s", a.value.text);
    else if (a.kind == GBS_ATTRIBUTE_UINT64)
        snprintf(word, 24, "%" PRIu64, a.value.uint64);
    else if (a.kind == GBS_ATTRIBUTE_INT64)
        snprintf(word, 24, "%" PRId64, a.value.int64);
}

static origin read_origin(gbs_results_reader *reader)
{
    origin o;
    read_word(reader, "model_hash", o.model);
    read_word(reader, "run_id", o.run);
    read_word(reader, "seed", o.seed);
    read_word(reader, "chains", o.chains);
    return o;
}

/* A pattern as st_*.csv also takes what an earlier run with more chains has left.  Of another model
 * its draws have no place here; of the same one they are welcome if they are meant. */
static exit_code check_origin(const draw_files *files, int64_t f)
{
    const char *const path = files->path[f], *const first = files->path[0];
    const origin its = read_origin(files->reader[f]), there = read_origin(files->reader[0]);
    if (*its.model && *there.model && strcmp(its.model, there.model))
        return complain(EXIT_BAD_INPUT,
                        "%s: is of another model than %s (hash %s, there %s): left by an earlier "
                        "run?",
                        path, first, its.model, there.model);
    if (*its.run && *there.run && strcmp(its.run, there.run))
        say("warning: %s: is of another run than %s (seed %s, %s chains; there seed %s, %s chains)",
            path, first, its.seed, its.chains, there.seed, there.chains);
    else if (!*its.run != !*there.run && gbs_results_reader_format(files->reader[f]) ==
                                             gbs_results_reader_format(files->reader[0]))
        say("warning: %s: does not say of which run it is, as %s does", *its.run ? first : path,
            *its.run ? path : first);
    return EXIT_FINE;
}

/* A run that was stopped leaves fewer draws than it announced: worth knowing, no reason to stop. */
static void say_missing(gbs_results_reader *reader, const char *path)
{
    gbs_attribute samples, thin;
    if (gbs_results_reader_format(reader) != GBS_RESULTS_CSV ||
        !gbs_results_attribute(reader, NULL, "num_samples", &samples))
        return;
    int64_t every = 1;
    if (gbs_results_attribute(reader, NULL, "thin", &thin) && thin.value.int64 > 1)
        every = thin.value.int64;
    const int64_t announced = (samples.value.int64 + every - 1) / every;
    if (gbs_results_draws(reader) < announced)
        say("warning: %s: holds %" PRId64 " of the %" PRId64 " draws that its header announces",
            path, gbs_results_draws(reader), announced);
}

/* The files' own chain numbers where they are all different, else 0, 1, ... in order. */
static exit_code number_chains(draw_files *files)
{
    files->number = take(files->source.chains, sizeof *files->number, "chain numbers");
    if (!files->number)
        return EXIT_FILE;
    int64_t at = 0;
    bool distinct = true;
    for (int64_t f = 0; f < files->count; f++)
        for (int64_t c = 0; c < gbs_results_chains(files->reader[f]); c++)
            files->number[at++] = gbs_results_chain_number(files->reader[f], c);
    if (files->count == 1)
        return EXIT_FINE;
    for (int64_t c = 1; c < at; c++)
        distinct = distinct && files->number[c] > files->number[c - 1];
    for (int64_t c = 0; !distinct && c < at; c++)
        files->number[c] = c;
    return EXIT_FINE;
}

exit_code draw_files_open(draw_files *files, const char *const *path, int64_t count)
{
    *files = (draw_files){.path = path, .count = count};
    files->reader = take(count, sizeof(gbs_results_reader *), "files of draws");
    if (!files->reader)
        return EXIT_FILE;
    files->source = (draw_source){
        .read = files_read, .name = files_name, .chain_number = files_chain_number, .user = files};
    for (int64_t f = 0; f < count; f++) {
        gbs_io_error error;
        const gbs_io_status status = gbs_results_open(path[f], &files->reader[f], &error);
        if (status != GBS_IO_OK)
            return complain((exit_code)gbs_io_exit_code(status), "%s", error.message);
        if (f == 0) {
            files->source.draws = gbs_results_draws(files->reader[0]);
            files->source.variables = count_variables(files->reader[0]);
        }
        files->source.chains += gbs_results_chains(files->reader[f]);
        say_missing(files->reader[f], path[f]);
        exit_code code = check_origin(files, f);
        if (code == EXIT_FINE)
            code = check_alike(files, f);
        if (code != EXIT_FINE)
            return code;
    }
    return number_chains(files);
}

void draw_files_close(draw_files *files)
{
    for (int64_t f = 0; files->reader && f < files->count; f++)
        gbs_results_close(files->reader[f]);
    free(files->reader);
    free(files->number);
    *files = (draw_files){0};
}
