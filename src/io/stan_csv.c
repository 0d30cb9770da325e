/* Draws of one chain in the CSV that CmdStan writes: comments of the run's settings, a line of
 * column names, one line a draw.  When it is opened every line's place and length of fields are
 * looked at; numbers are converted when they are asked for.  A reader that asks for ranges in
 * order, as summaries do, converts each number once: every line keeps its place. */
#define _POSIX_C_SOURCE 200809L

#include "io/csv_fields.h"
#include "io/results_format.h"
#include "io/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUOTED "\"%.40s\""

/* Settings from the comments; -1 or "" where there are none. */
typedef struct settings {
    int64_t num_samples, num_warmup, save_warmup, thin, id, chains, first_draw;
    char seed[24], model_hash[24], run_id[24]; /* the last two are this program's alone */
} settings;

typedef struct row {
    int64_t start, length; /* bytes, without the line's end */
    int64_t line;
    int64_t column, at; /* where the last reading stopped: a column, and its byte in the line */
} row;

typedef struct stan_reader {
    gbs_results_reader common;
    gbs_input input;
    settings said;
    int64_t columns;
    int64_t *column; /* [variable size] the file's column of an element */
    row *row;        /* [count]; kept draws begin at `skipped` */
    int64_t count, room, skipped;
    int64_t longest; /* row */
    char *text;      /* [longest + 1] */
} stan_reader;

/* ------------------------------------------------------------------ lines */

typedef struct lines {
    gbs_input *input;
    gbs_io_error *error;
    int64_t next; /* byte where the next line starts */
    int64_t line; /* number of the current one */
    int64_t start, length;
    int complete; /* 1: it had an end */
    char *text;   /* the current one, terminated; of getline */
    size_t room;
} lines;

/* The next line, without its end; *more is 0 at the end of the file. */
static gbs_io_status next_line(lines *l, int *more)
{
    const ssize_t n = getline(&l->text, &l->room, l->input->stream);
    *more = n > 0;
    if (n <= 0 && feof(l->input->stream))
        return GBS_IO_OK;
    if (n <= 0)
        return gbs_io_fail(l->error, errno == ENOMEM ? GBS_IO_MEMORY : GBS_IO_FILE, l->input->path,
                           "cannot be read: %s", strerror(errno));
    l->line++;
    l->start = l->next;
    l->next += n;
    l->length = n;
    l->complete = l->text[n - 1] == '\n';
    for (int k = 0; k < 2 && l->length && l->text[l->length - 1] == "\n\r"[k]; k++)
        l->length--;
    l->text[l->length] = 0;
    if (strlen(l->text) == (size_t)l->length)
        return GBS_IO_OK;
    return gbs_io_fail_line(l->error, GBS_IO_CONTENT, l->input->path, l->line,
                            "a zero byte: not a text file");
}

/* ------------------------------------------------------------------ settings */

/* "#     num_samples = 1000 (Default)"; flags are 0 and 1, and false and true since CmdStan 2.34.
 */
static void read_setting(const char *comment, settings *s)
{
    const struct {
        const char *name;
        int64_t *value;
    } table[] = {{"num_samples", &s->num_samples},
                 {"num_warmup", &s->num_warmup},
                 {"save_warmup", &s->save_warmup},
                 {"thin", &s->thin},
                 {"id", &s->id},
                 {"chains", &s->chains},
                 {"first_draw", &s->first_draw}};
    const struct {
        const char *name;
        char *value;
    } words[] = {{"seed", s->seed}, {"model_hash", s->model_hash}, {"run_id", s->run_id}};
    char name[32], word[24];
    if (sscanf(comment, "# %31[a-z_] = %23s", name, word) != 2)
        return;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(name, words[i].name) == 0)
            memcpy(words[i].value, word, strlen(word) + 1);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        int64_t value;
        if (strcmp(name, table[i].name) != 0)
            continue;
        if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0)
            *table[i].value = word[0] == 't';
        else if (gbs_text_int64(word, &value) == GBS_NUMBER_OK && value >= 0)
            *table[i].value = value;
    }
}

/* ------------------------------------------------------------------ columns */

/* Columns such as lp__ and stepsize__ speak of the sampler, not of the model. */
static int is_samplers(const char *name)
{
    const size_t length = strlen(name);
    return length >= 2 && strcmp(name + length - 2, "__") == 0;
}

/* "theta.2.1" as Stan's programs print it: "theta[2,1]"; another name as it is. */
static char *element_name(const char *column)
{
    const size_t length = strlen(column);
    char *name = malloc(length + 2);
    if (!name)
        return NULL;
    memcpy(name, column, length + 1);
    char *dot = name + strcspn(name, ".");
    if (dot == name || !*dot)
        return name;
    for (const char *at = dot; *at; at += 1 + strspn(at + 1, "0123456789")) {
        if (*at != '.' || !isdigit((unsigned char)at[1]))
            return name;
    }
    for (char *at = dot; *at; at++) {
        if (*at == '.')
            *at = at == dot ? '[' : ',';
    }
    memcpy(name + length, "]", 2);
    return name;
}

static gbs_io_status add_columns(stan_reader *r, const lines *l, const gbs_fields *fields)
{
    gbs_variable *v = gbs_results_add_variable(&r->common, "", 1);
    const size_t room = (size_t)fields->count;
    r->columns = fields->count;
    r->column = malloc(room * sizeof *r->column);
    if (v)
        v->axis[0].label = calloc(room, sizeof *v->axis[0].label);
    if (!v || !r->column || !v->axis[0].label)
        return gbs_io_fail_memory(l->error, r->common.path, r->columns, (int64_t)sizeof(char *));
    v->named = 1;
    v->size = 0;
    for (int64_t i = 0; i < fields->count; i++) {
        if (is_samplers(fields->field[i].text))
            continue;
        char *name = element_name(fields->field[i].text);
        if (!name)
            return gbs_io_fail_memory(l->error, r->common.path, 1,
                                      (int64_t)strlen(fields->field[i].text));
        v->axis[0].label[v->size] = name;
        r->column[v->size++] = i;
        v->axis[0].length = v->size;
    }
    if (v->size)
        return GBS_IO_OK;
    return gbs_io_fail_line(l->error, GBS_IO_CONTENT, r->common.path, l->line,
                            "no columns but those of the sampler, which end in __");
}

/* The line of names.  Where it holds numbers the file is no CSV of draws. */
static gbs_io_status read_header(stan_reader *r, const lines *l)
{
    gbs_fields fields = {0};
    gbs_io_status status = GBS_IO_OK;
    switch (gbs_csv_split(l->text, ',', &fields)) {
    case GBS_SPLIT_OK: break;
    case GBS_SPLIT_MEMORY:
        status =
            gbs_io_fail_memory(l->error, r->common.path, fields.count, (int64_t)sizeof(gbs_field));
        break;
    case GBS_SPLIT_QUOTE:
        status = gbs_io_fail_line(l->error, GBS_IO_CONTENT, r->common.path, l->line,
                                  "field %" PRId64 ": the quotes are not closed", fields.count + 1);
        break;
    }
    for (int64_t i = 0; !status && i < fields.count; i++) {
        const char *name = fields.field[i].text;
        if (!isalpha((unsigned char)*name) && (unsigned char)*name < 0x80)
            status = gbs_io_fail_line(l->error, GBS_IO_CONTENT, r->common.path, l->line,
                                      "is none of .npy, netCDF-4 and CmdStan's CSV: field %" PRId64
                                      ", " QUOTED ", is not the name of a column",
                                      i + 1, name);
    }
    if (!status)
        status = add_columns(r, l, &fields);
    free(fields.field);
    return status;
}

/* ------------------------------------------------------------------ draws */

/* A file that was cut may end within a number, which would pass for another. */
static gbs_io_status add_row(stan_reader *r, const lines *l)
{
    int64_t fields = 1;
    if (!l->complete)
        return gbs_io_fail_line(l->error, GBS_IO_CONTENT, r->common.path, l->line,
                                "the file ends within this line");
    for (const char *at = l->text; (at = strchr(at, ',')); at++)
        fields++;
    if (fields != r->columns)
        return gbs_io_fail_line(l->error, GBS_IO_CONTENT, r->common.path, l->line,
                                "%" PRId64 " %s, but the header has %" PRId64, fields,
                                gbs_plural(fields, "field", "fields"), r->columns);
    if (r->count == r->room) {
        const int64_t room = r->room ? 2 * r->room : 1024;
        row *larger = realloc(r->row, (size_t)room * sizeof *larger);
        if (!larger)
            return gbs_io_fail_memory(l->error, r->common.path, room, (int64_t)sizeof *larger);
        r->row = larger;
        r->room = room;
    }
    r->row[r->count++] = (row){l->start, l->length, l->line, 0, 0};
    r->longest = l->length > r->longest ? l->length : r->longest;
    return GBS_IO_OK;
}

/* Draws of the warm-up stand before the others where the settings say that they were saved. */
static gbs_io_status settle_draws(stan_reader *r, const lines *l)
{
    const settings *s = &r->said;
    const int64_t thin = s->thin > 0 ? s->thin : 1;
    if (s->save_warmup == 1 && s->num_warmup > 0)
        r->skipped = (s->num_warmup - 1) / thin + 1;
    if (r->count <= r->skipped)
        return gbs_io_fail(l->error, GBS_IO_CONTENT, r->common.path,
                           "ends after line %" PRId64 " without a draw%s", l->line,
                           r->skipped ? " behind those of the warm-up" : "");
    r->common.chains = 1;
    r->common.draws = r->count - r->skipped;
    r->text = malloc((size_t)r->longest + 1);
    r->common.chain_number = malloc(sizeof *r->common.chain_number);
    if (!r->text || !r->common.chain_number)
        return gbs_io_fail_memory(l->error, r->common.path, r->longest, 1);
    r->common.chain_number[0] = s->id >= 0 ? s->id : 0;
    return GBS_IO_OK;
}

static gbs_io_status read_lines(stan_reader *r, lines *l)
{
    int more = 1;
    gbs_io_status status = GBS_IO_OK;
    while (!(status = next_line(l, &more)) && more) {
        if (!l->text[strspn(l->text, " \t")])
            continue;
        if (l->text[0] == '#')
            read_setting(l->text, &r->said);
        else
            status = r->columns ? add_row(r, l) : read_header(r, l);
        if (status)
            return status;
    }
    if (!status && !r->columns)
        status = gbs_io_fail(l->error, GBS_IO_CONTENT, r->common.path,
                             "is none of .npy, netCDF-4 and CmdStan's CSV: it has no line of "
                             "column names");
    return status ? status : settle_draws(r, l);
}

/* ------------------------------------------------------------------ reading */

/* What a field says of itself that is no number. */
static gbs_io_status refuse_field(const stan_reader *r, const row *line, const char *word,
                                  const char *why, gbs_io_error *error)
{
    return gbs_io_fail_line(error, GBS_IO_CONTENT, r->common.path, line->line,
                            "field %" PRId64 ": " QUOTED " %s", line->column + 1, word, why);
}

static gbs_io_status convert(const stan_reader *r, const row *line, char *field, double *value,
                             gbs_io_error *error)
{
    char *rest = field, *word = gbs_text_word(&rest);
    if (!word || gbs_text_word(&rest))
        return refuse_field(r, line, word ? word : "", "is not one number", error);
    switch (gbs_text_double(word, 0, value)) {
    case GBS_NUMBER_OK: return GBS_IO_OK;
    case GBS_NUMBER_RANGE:
        return refuse_field(r, line, word, "is beyond the range of a double", error);
    case GBS_NUMBER_NONE: break;
    }
    return refuse_field(r, line, word, "is not a number", error);
}

/* Elements first .. first + n - 1 of one draw, `stride` apart: the rest of the line is read, and
 * walked field by field. */
static gbs_io_status read_row(stan_reader *r, row *line, int64_t first, int64_t n, double *out,
                              int64_t stride, gbs_io_error *error)
{
    if (line->column > r->column[first])
        line->column = line->at = 0;
    const int64_t bytes = line->length - line->at;
    gbs_io_status status = gbs_input_read(&r->input, line->start + line->at, r->text, bytes, error);
    r->text[bytes] = 0;
    char *field = r->text;
    for (int64_t k = 0; !status && k < n;) {
        char *end = strchr(field, ',');
        if (!end && line->column != r->columns - 1)
            return gbs_io_fail_line(error, GBS_IO_CONTENT, r->common.path, line->line,
                                    "the file has changed while it was read");
        if (end)
            *end = 0;
        if (line->column == r->column[first + k])
            status = convert(r, line, field, &out[k++ * stride], error);
        line->column++;
        line->at += end ? end + 1 - field : 0;
        field = end ? end + 1 : field;
    }
    return status;
}

static gbs_io_status read_range(gbs_results_reader *reader, const gbs_variable *variable,
                                int64_t first, int64_t n, double *out, gbs_io_error *error)
{
    (void)variable;
    stan_reader *r = (stan_reader *)reader;
    gbs_locale locale;
    if (gbs_locale_enter(&locale) != 0)
        return gbs_io_fail_memory(error, reader->path, 1, (int64_t)sizeof locale);
    gbs_io_status status = GBS_IO_OK;
    for (int64_t t = 0; !status && t < reader->draws; t++)
        status = read_row(r, &r->row[r->skipped + t], first, n, out + t, reader->draws, error);
    gbs_locale_leave(&locale);
    return status;
}

static int find_attribute(gbs_results_reader *reader, const char *group, const char *name,
                          gbs_attribute *out)
{
    const settings *s = &((stan_reader *)reader)->said;
    const struct {
        const char *name;
        int64_t value;
    } table[] = {{"num_samples", s->num_samples},
                 {"num_warmup", s->num_warmup},
                 {"thin", s->thin},
                 {"chains", s->chains},
                 {"first_draw", s->first_draw}};
    const struct {
        const char *name, *value;
    } words[] = {{"seed", s->seed}, {"model_hash", s->model_hash}, {"run_id", s->run_id}};
    for (size_t i = 0; !group && i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(name, words[i].name) == 0 && *words[i].value) {
            *out = (gbs_attribute)GBS_ATTRIBUTE_OF_TEXT(words[i].name, 0, words[i].value);
            return 1;
        }
    }
    for (size_t i = 0; !group && i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(name, table[i].name) == 0 && table[i].value >= 0) {
            *out = (gbs_attribute)GBS_ATTRIBUTE_OF_INT64(table[i].name, 0, table[i].value);
            return 1;
        }
    }
    return 0;
}

static void close_input(gbs_results_reader *reader)
{
    stan_reader *r = (stan_reader *)reader;
    gbs_input_close(&r->input);
    free(r->column);
    free(r->row);
    free(r->text);
}

gbs_io_status gbs_stan_csv_results_open(gbs_input *input, gbs_results_reader **out,
                                        gbs_io_error *error)
{
    static const gbs_reader_ops ops = {read_range, find_attribute, close_input};
    stan_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return gbs_io_fail_memory(error, input->path, 1, (int64_t)sizeof *reader);
    *out = &reader->common;
    reader->common = (gbs_results_reader){
        .ops = &ops, .format = GBS_RESULTS_CSV, .path = gbs_results_copy_text(input->path)};
    reader->said = (settings){-1, -1, -1, -1, -1, -1, -1, "", "", ""};
    if (!reader->common.path)
        return gbs_io_fail_memory(error, input->path, (int64_t)strlen(input->path), 1);
    lines l = {.input = input, .error = error};
    rewind(input->stream);
    const gbs_io_status status = read_lines(reader, &l);
    free(l.text);
    if (status)
        return status;
    reader->input = *input;
    reader->input.path = reader->common.path;
    *input = (gbs_input){0};
    return GBS_IO_OK;
}
