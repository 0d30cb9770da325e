/* Tables of numbers in delimited text.  The first two lines decide whether there are names; then
 * every line is one row of the table, and the memory grows with the rows that are there. */
#define _POSIX_C_SOURCE 200809L

#include "io/csv.h"

#include "io/csv_fields.h"
#include "io/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How much of a damaged field a message quotes: "%.40s". */
#define QUOTED "\"%.40s\""

/* A name as it stands in the text, which outlives it. */
typedef struct name {
    const char *text;
    int64_t line;
} name;

typedef struct names {
    name *name;
    int64_t count, room;
} names;

typedef struct reader {
    const char *path;
    gbs_io_error *error;
    char *cursor;
    int64_t line;
    char separator;
    gbs_fields fields; /* of the current line */
    int first;         /* the field where numbers begin: 1 behind a name, else 0 */
    int64_t rows, columns;
    double *value; /* [rows * columns], room for `room` */
    int64_t room;
    names row, column;
} reader;

/* "0,5" between semicolons, and "5;2" of "1,5;2,5" cut at its commas. */
static int is_decimal_comma(const reader *r, const char *word)
{
    const char mark = r->separator == ',' ? ';' : ',';
    const size_t before = strspn(word, "+-.0123456789eE");
    return before > 0 && word[before] == mark &&
           strspn(word + before + 1, "+-.0123456789eE") == strlen(word + before + 1);
}

static gbs_io_status fail_field(const reader *r, int64_t field, const char *what, const char *word)
{
    return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, r->line,
                            "field %" PRId64 ": " QUOTED " %s%s", field + 1, word, what,
                            is_decimal_comma(r, word)
                                ? "; decimal commas are not read, the decimal point is a point"
                                : "");
}

/* Cuts the next line that is neither blank nor a comment into fields; *more is 0 at the end. */
static gbs_io_status next_line(reader *r, int *more)
{
    for (char *line; (line = gbs_text_line(&r->cursor));) {
        r->line++;
        const char *start = line + strspn(line, " \t\r\v\f");
        if (!*start || *start == '#')
            continue;
        if (!r->separator)
            r->separator = gbs_csv_separator(line);
        *more = 1;
        switch (gbs_csv_split(line, r->separator, &r->fields)) {
        case GBS_SPLIT_OK: return GBS_IO_OK;
        case GBS_SPLIT_MEMORY:
            return gbs_io_fail_memory(r->error, r->path, r->fields.count,
                                      (int64_t)sizeof(gbs_field));
        case GBS_SPLIT_QUOTE: break;
        }
        return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, r->line,
                                "field %" PRId64 ": the quotes are not closed, or something "
                                "follows them",
                                r->fields.count + 1);
    }
    *more = 0;
    return GBS_IO_OK;
}

static int is_missing(const gbs_field *field)
{
    return !*field->text || strcmp(field->text, "NA") == 0;
}

static int is_number(const gbs_field *field)
{
    double value;
    return !field->quoted && *field->text &&
           (is_missing(field) || gbs_text_double(field->text, 0, &value) != GBS_NUMBER_NONE);
}

/* "3 3" as one field: the numbers of a table that is separated by blanks, or a Matrix Market file
 * without its first line, would pass for a name. */
static int holds_numbers(const gbs_field *field)
{
    const size_t digits = strspn(field->text, "+-.0123456789eEdD");
    return !field->quoted && digits > 0 && strchr(" \t", field->text[digits]) != NULL &&
           field->text[digits] &&
           strspn(field->text, "+-.0123456789eEdD \t") == strlen(field->text);
}

/* Whether the first line names things.  Its first field may be the name of a row, so the others
 * decide where there are any. */
static int is_header(const reader *r)
{
    const gbs_field *field = r->fields.field;
    if (r->fields.count == 1)
        return !is_number(&field[0]);
    for (int64_t i = 1; i < r->fields.count; i++) {
        if (!is_number(&field[i]) && !(is_missing(&field[i]) && !field[i].quoted))
            return 1;
    }
    return !*field[0].text;
}

static gbs_io_status add_name(reader *r, names *list, const char *text)
{
    if (list->count == list->room) {
        const int64_t room = list->room ? 2 * list->room : 64;
        name *larger = realloc(list->name, (size_t)room * sizeof *larger);
        if (!larger)
            return gbs_io_fail_memory(r->error, r->path, room, (int64_t)sizeof *larger);
        list->name = larger;
        list->room = room;
    }
    list->name[list->count++] = (name){text, r->line};
    return GBS_IO_OK;
}

/* A number with a slip in it would make a header of its line, and all its numbers would be lost. */
static gbs_io_status check_header(const reader *r)
{
    int64_t number = -1, word = -1;
    for (int64_t i = 0; i < r->fields.count; i++) {
        const gbs_field *field = &r->fields.field[i];
        if (is_number(field) && strchr("+-.0123456789", *field->text))
            number = number < 0 ? i : number;
        else if (*field->text && !is_missing(field) && (i > 0 || r->fields.count == 1))
            word = word < 0 ? i : word;
    }
    if (number < 0 || word < 0)
        return GBS_IO_OK;
    char what[128];
    snprintf(what, sizeof what,
             "is not a number, but field %" PRId64
             " is; a name that looks like a number needs quotes",
             number + 1);
    return fail_field(r, word, what, r->fields.field[word].text);
}

static gbs_io_status read_header(reader *r)
{
    gbs_io_status status = check_header(r);
    for (int64_t i = 0; !status && i < r->fields.count; i++)
        status = holds_numbers(&r->fields.field[i])
                     ? fail_field(r, i,
                                  "is neither a number nor a name; fields are separated by commas, "
                                  "semicolons or tabs",
                                  r->fields.field[i].text)
                     : add_name(r, &r->column, r->fields.field[i].text);
    return status;
}

/* From the first row of numbers: whether it starts with a name, and so how many numbers a row
 * has.  A header with a field above the names loses that one. */
static gbs_io_status settle_shape(reader *r, int header)
{
    const int64_t fields = r->fields.count, named = r->column.count;
    const gbs_field *start = &r->fields.field[0];
    const int corner = header && named == fields && !*r->column.name[0].text && fields > 1;
    const int word = !is_number(start) && !(is_missing(start) && !start->quoted);
    r->first = fields > 1 && (corner || word || (header && named == fields - 1));
    r->columns = fields - r->first;
    if (header && named != fields && named != r->columns)
        return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, r->line,
                                "%" PRId64 " %s, but the header has %" PRId64, fields,
                                gbs_plural(fields, "field", "fields"), named);
    if (header && named > r->columns) {
        memmove(r->column.name, r->column.name + 1, (size_t)r->columns * sizeof *r->column.name);
        r->column.count = r->columns;
    }
    return GBS_IO_OK;
}

static gbs_io_status read_number(reader *r, int64_t i, double *value)
{
    const gbs_field *field = &r->fields.field[i];
    *value = NAN;
    if (is_missing(field))
        return GBS_IO_OK;
    switch (gbs_text_double(field->text, 0, value)) {
    case GBS_NUMBER_OK: return GBS_IO_OK;
    case GBS_NUMBER_RANGE: return fail_field(r, i, "is beyond the range of a double", field->text);
    case GBS_NUMBER_NONE: break;
    }
    return fail_field(r, i, "is not a number", field->text);
}

static gbs_io_status make_room(reader *r)
{
    const int64_t needed = (r->rows + 1) * r->columns; /* no more than the text has bytes */
    if (needed <= r->room)
        return GBS_IO_OK;
    const int64_t room = 2 * needed;
    double *larger = realloc(r->value, (size_t)room * sizeof *larger);
    if (!larger)
        return gbs_io_fail_memory(r->error, r->path, room, (int64_t)sizeof *larger);
    r->value = larger;
    r->room = room;
    return GBS_IO_OK;
}

static gbs_io_status read_row(reader *r)
{
    if (r->fields.count != r->columns + r->first)
        return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, r->line,
                                "%" PRId64 " %s, but the rows above have %" PRId64, r->fields.count,
                                gbs_plural(r->fields.count, "field", "fields"),
                                r->columns + r->first);
    gbs_io_status status = make_room(r);
    if (!status && r->first)
        status = add_name(r, &r->row, r->fields.field[0].text);
    double *row = r->value + r->rows * r->columns;
    for (int64_t k = 0; !status && k < r->columns; k++)
        status = read_number(r, r->first + k, &row[k]);
    r->rows += !status;
    return status;
}

static gbs_io_status read_table(reader *r)
{
    int more;
    gbs_io_status status = next_line(r, &more);
    const int header = !status && more && is_header(r);
    if (header)
        status = read_header(r);
    if (header && !status)
        status = next_line(r, &more);
    if (!status && !more)
        return gbs_io_fail(r->error, GBS_IO_CONTENT, r->path,
                           "ends after line %" PRId64 " without a row of numbers", r->line);
    if (!status)
        status = settle_shape(r, header);
    while (!status && more) {
        status = read_row(r);
        if (!status)
            status = next_line(r, &more);
    }
    return status;
}

/* ------------------------------------------------------------------ names */

/* Whether the names only count, from 0 or from 1, as programs write them for want of others. */
static int only_counts(const names *list)
{
    for (int base = 0; base < 2; base++) {
        int64_t i = 0;
        for (; i < list->count; i++) {
            const char *text = list->name[i].text;
            int64_t number = -1;
            gbs_text_int64(text + (*text == 'V'), &number);
            if (number != base + i)
                break;
        }
        if (i == list->count)
            return 1;
    }
    return 0;
}

/* Length of the UTF-8 sequence at `text` (RFC 3629), 0 if it is none or a control character. */
static int sequence_length(const char *text)
{
    const unsigned char *b = (const unsigned char *)text;
    if (b[0] < 0x80)
        return b[0] >= 0x20 && b[0] != 0x7f;
    const int more = b[0] >= 0xf0 ? 3 : b[0] >= 0xe0 ? 2 : 1;
    if (b[0] < 0xc2 || b[0] > 0xf4)
        return 0;
    for (int i = 1; i <= more; i++) {
        if ((b[i] & 0xc0) != 0x80)
            return 0;
    }
    const int shortest = b[0] == 0xe0 ? 0xa0 : b[0] == 0xf0 ? 0x90 : 0x80;
    const int longest = b[0] == 0xed ? 0x9f : b[0] == 0xf4 ? 0x8f : 0xbf;
    return b[1] >= shortest && b[1] <= longest ? more + 1 : 0;
}

static gbs_io_status check_text(const reader *r, const name *n)
{
    const char *at = n->text;
    for (int length; *at; at += length) {
        length = sequence_length(at);
        if (!length)
            return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, n->line,
                                    "the name " QUOTED " is not UTF-8 text", n->text);
    }
    return GBS_IO_OK;
}

static int compare_names(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;
    return strcmp(*a, *b);
}

static gbs_io_status check_distinct(const reader *r, const names *list)
{
    const char **sorted = malloc((size_t)list->count * sizeof *sorted);
    if (!sorted)
        return gbs_io_fail_memory(r->error, r->path, list->count, (int64_t)sizeof *sorted);
    for (int64_t i = 0; i < list->count; i++)
        sorted[i] = list->name[i].text;
    qsort(sorted, (size_t)list->count, sizeof *sorted, compare_names);
    gbs_io_status status = GBS_IO_OK;
    for (int64_t i = 1; !status && i < list->count; i++) {
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            status = gbs_io_fail(r->error, GBS_IO_CONTENT, r->path,
                                 "the name " QUOTED " is there twice", sorted[i]);
    }
    free(sorted);
    return status;
}

static gbs_io_status check_agreement(const reader *r)
{
    for (int64_t i = 0; i < r->row.count; i++) {
        if (strcmp(r->row.name[i].text, r->column.name[i].text) != 0)
            return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, r->row.name[i].line,
                                    "row %" PRId64 " is named " QUOTED ", but column %" PRId64
                                    " " QUOTED,
                                    i + 1, r->row.name[i].text, i + 1, r->column.name[i].text);
    }
    return GBS_IO_OK;
}

/* The names of what the last axis counts, NULL if there are none. */
static gbs_io_status choose_names(const reader *r, const names **chosen)
{
    const int row = r->row.count && !only_counts(&r->row);
    const int column = r->column.count && r->columns > 1 && !only_counts(&r->column);
    const int square = r->rows == r->columns;
    *chosen = column ? &r->column : row && (square || r->columns == 1) ? &r->row : NULL;
    if (!*chosen)
        return GBS_IO_OK;
    gbs_io_status status = GBS_IO_OK;
    for (int64_t i = 0; !status && i < (*chosen)->count; i++)
        status = check_text(r, &(*chosen)->name[i]);
    if (!status && row && column && square)
        status = check_agreement(r);
    return status ? status : check_distinct(r, *chosen);
}

static gbs_io_status copy_names(const reader *r, const names *list, gbs_array *out)
{
    out->name = calloc((size_t)list->count, sizeof *out->name);
    if (!out->name)
        return gbs_io_fail_memory(r->error, r->path, list->count, (int64_t)sizeof *out->name);
    for (int64_t i = 0; i < list->count; i++) {
        out->name[i] = strdup(list->name[i].text);
        if (!out->name[i])
            return gbs_io_fail_memory(r->error, r->path, (int64_t)strlen(list->name[i].text), 1);
    }
    return GBS_IO_OK;
}

/* ------------------------------------------------------------------ the whole */

static gbs_io_status read_text(reader *r, gbs_array *out)
{
    const names *chosen = NULL;
    gbs_io_status status = read_table(r);
    if (!status)
        status = choose_names(r, &chosen);
    if (status)
        return status;
    *out = (gbs_array){.type = GBS_F64,
                       .axes = r->columns == 1 ? 1 : 2,
                       .shape = {r->rows, r->columns, 1},
                       .count = r->rows * r->columns,
                       .data = r->value};
    r->value = NULL;
    return chosen ? copy_names(r, chosen, out) : GBS_IO_OK;
}

gbs_io_status gbs_csv_read_input(gbs_input *input, gbs_array *out, gbs_io_error *error)
{
    static const char mark[] = "\xef\xbb\xbf"; /* a byte order mark, as spreadsheets write it */
    *out = (gbs_array){0};
    char *text;
    gbs_io_status status = gbs_input_text(input, &text, error);
    if (status)
        return status;
    gbs_locale locale;
    if (gbs_locale_enter(&locale) != 0) {
        free(text);
        return gbs_io_fail_memory(error, input->path, 1, (int64_t)sizeof locale);
    }
    reader r = {.path = input->path, .cursor = text, .error = error};
    r.cursor += strncmp(text, mark, sizeof mark - 1) == 0 ? sizeof mark - 1 : 0;
    status = read_text(&r, out);
    gbs_locale_leave(&locale);
    free(r.row.name);
    free(r.column.name);
    free(r.fields.field);
    free(r.value);
    free(text);
    if (status)
        gbs_array_free(out);
    return status;
}
