/* Draws of one or several files.  Only a range of variables is in memory at a time; of several
 * files each range is read file by file and woven together.  Files say which chains they hold, and
 * those of a resumed run how many draws came before: so pieces find each other. */
#define _POSIX_C_SOURCE 200809L
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
    for (int64_t f = 0; f < files->count; f++) {
        const int64_t chains = gbs_results_chains(files->reader[f]);
        const int64_t draws = gbs_results_draws(files->reader[f]);
        double *part = take(n * chains * draws, sizeof *part, "draws of one file");
        const exit_code code = part ? read_file(files->reader[f], first, n, part) : EXIT_FILE;
        for (int64_t k = 0; code == EXIT_FINE && k < n; k++)
            for (int64_t c = 0; c < chains; c++) {
                const int64_t chain = k * files->source.chains + files->place[f].chain + c;
                memcpy(out + chain * files->source.draws + files->place[f].draw,
                       part + (k * chains + c) * draws, (size_t)draws * sizeof *out);
            }
        free(part);
        if (code != EXIT_FINE)
            return code;
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

/* Chains can be put together only where they are of one model. */
static exit_code check_alike(const draw_files *files, int64_t f)
{
    const gbs_results_reader *first = files->reader[0], *other = files->reader[f];
    if (count_variables(other) != files->source.variables)
        return complain(EXIT_BAD_INPUT, "%s: has %" PRId64 " %s, %s has %" PRId64, files->path[f],
                        count_variables(other),
                        gbs_plural(count_variables(other), "variable", "variables"), files->path[0],
                        files->source.variables);
    for (int64_t k = 0; k < files->source.variables; k++) {
        char here[NAME_BYTES], there[NAME_BYTES];
        name_in(other, k, here, sizeof here);
        name_in(first, k, there, sizeof there);
        if (strcmp(here, there) != 0)
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

/* The length of the option that a record of options goes on with, and of its value, up to the next
 * option (" --" or " -Q") outside quotes. */
static size_t option_length(const char *options)
{
    bool quoted = false;
    size_t k = 1;
    for (; options[k]; k++) {
        quoted ^= options[k] == '\'';
        if (!quoted && (!strncmp(options + k, " --", 3) || !strncmp(options + k, " -Q ", 4)))
            break;
    }
    return k;
}

static bool has_option(const char *options, const char *one, size_t length)
{
    for (; *options; options += option_length(options))
        if (option_length(options) == length && !memcmp(options, one, length))
            return true;
    return false;
}

/* Those options of a record, each with a blank before it, that another has not, or not so. */
static char *options_beyond(const char *options, const char *others)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    for (; to && *options; options += option_length(options))
        if (!has_option(others, options, option_length(options)))
            fwrite(options, 1, option_length(options), to);
    if (to)
        fclose(to);
    return text;
}

/* The record of a file's options behind a blank, NULL where there is none. */
static char *read_options(gbs_results_reader *reader)
{
    gbs_attribute a;
    if (!gbs_results_attribute(reader, NULL, "options", &a) || a.kind != GBS_ATTRIBUTE_TEXT)
        return NULL;
    char *const options = malloc(strlen(a.value.text) + 2);
    if (options)
        sprintf(options, " %s", a.value.text);
    return options;
}

/* Of one seed and as many chains, what differs are other options; false where they are not known.
 */
static bool say_other_options(const draw_files *files, int64_t f, int64_t begins)
{
    char *const its = read_options(files->reader[f]), *const there =
                                                          read_options(files->reader[begins]);
    char *const here = its && there ? options_beyond(its, there) : NULL;
    char *const others = its && there ? options_beyond(there, its) : NULL;
    const bool known = here && others && (*here || *others);
    if (known)
        say("warning: %s: is of another run than %s (here%s, there%s)", files->path[f],
            files->path[begins], *here ? here : " without", *others ? others : " without");
    free(its);
    free(there);
    free(here);
    free(others);
    return known;
}

static void say_other_run(const draw_files *files, int64_t f, int64_t begins, const origin *its,
                          const origin *there)
{
    const char *const path = files->path[f], *const first = files->path[begins];
    const char *const chains = gbs_plural(strtoll(its->chains, NULL, 10), "chain", "chains");
    const bool alike = !strcmp(its->seed, there->seed) && !strcmp(its->chains, there->chains);
    if (alike && say_other_options(files, f, begins))
        return;
    if (alike)
        say("warning: %s: is of another run than %s (seed %s, %s %s as there, but not all options)",
            path, first, its->seed, its->chains, chains);
    else
        say("warning: %s: is of another run than %s (seed %s, %s %s; there seed %s, %s %s)", path,
            first, its->seed, its->chains, chains, there->seed, there->chains,
            gbs_plural(strtoll(there->chains, NULL, 10), "chain", "chains"));
}

/* A pattern as st_*.csv also takes what an earlier run with more chains has left.  Of another model
 * its draws have no place here; of the same one they are welcome if they are meant. */
static exit_code check_origin(const draw_files *files, int64_t f, int64_t begins)
{
    const char *const path = files->path[f], *const first = files->path[begins];
    const origin its = read_origin(files->reader[f]), there = read_origin(files->reader[begins]);
    if (*its.model && *there.model && strcmp(its.model, there.model) != 0)
        return complain(EXIT_BAD_INPUT,
                        "%s: is of another model than %s (hash %s, there %s): left by an earlier "
                        "run?",
                        path, first, its.model, there.model);
    if (*its.run && *there.run && strcmp(its.run, there.run) != 0)
        say_other_run(files, f, begins, &its, &there);
    else if (!*its.run != !*there.run && gbs_results_reader_format(files->reader[f]) ==
                                             gbs_results_reader_format(files->reader[begins]))
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
        for (int64_t c = 0; files->place[f].follows < 0 && c < gbs_results_chains(files->reader[f]);
             c++)
            files->number[at++] = gbs_results_chain_number(files->reader[f], c);
    if (files->count == 1)
        return EXIT_FINE;
    for (int64_t c = 1; c < at; c++)
        distinct = distinct && files->number[c] > files->number[c - 1];
    for (int64_t c = 0; !distinct && c < at; c++)
        files->number[c] = c;
    return EXIT_FINE;
}

/* Draws of the run before the file's first. */
static int64_t draws_before(gbs_results_reader *reader)
{
    gbs_attribute a;
    if (!gbs_results_attribute(reader, NULL, "first_draw", &a) || a.kind != GBS_ATTRIBUTE_INT64)
        return 0;
    return a.value.int64 > 0 && a.value.int64 < INT64_MAX / 2 ? a.value.int64 : 0;
}

/* Whether `other` goes on where `before` ends: the same chains of one model and seed. */
static bool goes_on(gbs_results_reader *before, gbs_results_reader *other)
{
    if (draws_before(before) + gbs_results_draws(before) != draws_before(other) ||
        gbs_results_chains(before) != gbs_results_chains(other))
        return false;
    for (int64_t c = 0; c < gbs_results_chains(other); c++)
        if (gbs_results_chain_number(before, c) != gbs_results_chain_number(other, c))
            return false;
    const origin its = read_origin(other), there = read_origin(before);
    return *its.seed && !strcmp(its.seed, there.seed) && !strcmp(its.model, there.model);
}

/* Each piece follows the first file that ends where it begins and that nothing follows yet. */
static void find_pieces(draw_files *files)
{
    draw_place *const place = files->place;
    for (int64_t f = 0; f < files->count; f++) {
        place[f].follows = -1;
        for (int64_t g = 0; draws_before(files->reader[f]) > 0 && g < files->count; g++)
            if (g != f && !place[g].followed && goes_on(files->reader[g], files->reader[f])) {
                place[f].follows = g;
                place[g].followed = true;
                break;
            }
    }
}

/* Files that begin are put side by side in order, and the others behind what they follow. */
static void lay_out(draw_files *files)
{
    draw_place *const place = files->place;
    for (int64_t f = 0; f < files->count; f++)
        if (place[f].follows < 0) {
            place[f].chain = files->source.chains;
            files->source.chains += gbs_results_chains(files->reader[f]);
        }
    for (int64_t f = 0; f < files->count; f++)
        for (int64_t g = place[f].follows; g >= 0; g = place[g].follows) {
            place[f].draw += gbs_results_draws(files->reader[g]);
            place[f].chain = place[g].chain; /* at last that of the one that begins */
        }
}

/* Every chain must be of one length, its last piece says which. */
static exit_code check_lengths(draw_files *files)
{
    int64_t last = -1;
    for (int64_t f = 0; f < files->count; f++) {
        const int64_t draws = files->place[f].draw + gbs_results_draws(files->reader[f]);
        if (files->place[f].followed)
            continue;
        if (last >= 0 && draws != files->source.draws)
            return complain(EXIT_BAD_INPUT, "%s: has %" PRId64 " %s%s, %s has %" PRId64,
                            files->path[f], draws, gbs_plural(draws, "draw", "draws"),
                            files->place[f].draw ? " with those it goes on from" : "",
                            files->path[last], files->source.draws);
        last = last < 0 ? f : last;
        files->source.draws = draws;
    }
    return EXIT_FINE;
}

static exit_code arrange(draw_files *files)
{
    exit_code code = EXIT_FINE;
    int64_t begins = -1; /* the first file that does */
    find_pieces(files);
    lay_out(files);
    for (int64_t f = 0; code == EXIT_FINE && f < files->count; f++) {
        if (files->place[f].follows >= 0)
            continue; /* a run that goes on has other options */
        begins = begins < 0 ? f : begins;
        code = check_origin(files, f, begins);
    }
    if (code == EXIT_FINE)
        code = check_lengths(files);
    for (int64_t f = 1; code == EXIT_FINE && f < files->count; f++)
        code = check_alike(files, f);
    return code == EXIT_FINE ? number_chains(files) : code;
}

exit_code draw_files_open(draw_files *files, const char *const *path, int64_t count)
{
    *files = (draw_files){.path = path, .count = count};
    files->reader = take(count, sizeof(gbs_results_reader *), "files of draws");
    files->place = take(count, sizeof *files->place, "files of draws");
    if (!files->reader || !files->place)
        return EXIT_FILE;
    files->source = (draw_source){
        .read = files_read, .name = files_name, .chain_number = files_chain_number, .user = files};
    for (int64_t f = 0; f < count; f++) {
        gbs_io_error error;
        const gbs_io_status status = gbs_results_open(path[f], &files->reader[f], &error);
        if (status != GBS_IO_OK)
            return complain((exit_code)gbs_io_exit_code(status), "%s", error.message);
        say_missing(files->reader[f], path[f]);
    }
    files->source.variables = count_variables(files->reader[0]);
    return arrange(files);
}

void draw_files_close(draw_files *files)
{
    for (int64_t f = 0; files->reader && f < files->count; f++)
        gbs_results_close(files->reader[f]);
    free(files->reader);
    free(files->place);
    free(files->number);
    *files = (draw_files){0};
}
