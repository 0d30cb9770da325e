/* Tables of numbers in delimited text.  The first two lines decide whether there are names; then
 * every line is one row of the table, and the memory grows with the rows that are there.  Names
 * that look like numbers have quotes, so that a slip in a number never makes a name of it: a table
 * read one row or column smaller would still be a model. */
#define _POSIX_C_SOURCE 200809L

#include "io/csv.h"

#include "io/csv_fields.h"
#include "io/csv_names.h"
#include "io/text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How much of a damaged field a message quotes: "%.40s". */
#define QUOTED "\"%.40s\""

#define NAMES_NEED_QUOTES "a name that looks like a number needs quotes, and the numbers none"

typedef struct reader {
    const char *path;
    gbs_io_error *error;
    char *cursor;
    int64_t line;
    char separator;
    int all_quoted;     /* every field of the file is, so that quotes say nothing */
    gbs_fields fields;  /* of the current line */
    int first;          /* the field where numbers begin: 1 behind a name, else 0 */
    int corner;         /* the header's first field is empty, above the names of the rows */
    int bare_corner;    /* and the others are no words: a row of numbers whose first is missing? */
    int header_numbers; /* names of the header are numbers in quotes */
    int name_slips;     /* the first row's name begins as a number does */
    int name_numbers;   /* there is a row whose name is a number without quotes */
    int name_missing;   /* there is one without a name */
    int rows_apart;     /* as gbs_input's */
    int64_t rows, columns;
    double *value; /* [rows * columns], room for `room` */
    int64_t room;
    gbs_csv_names row, column;
} reader;

/* "0,5" between semicolons or quotes, and "5;2" of "1,5;2,5" cut at its commas. */
static int is_decimal_comma(const char *word)
{
    static const char figures[] = "+-.0123456789eE";
    const size_t before = strspn(word, figures);
    return before > 0 && (word[before] == ',' || word[before] == ';') &&
           strspn(word + before + 1, figures) == strlen(word + before + 1);
}

static gbs_io_status fail_at(const reader *r, int64_t line, int64_t field, const char *what,
                             const char *word)
{
    return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, line,
                            "field %" PRId64 ": " QUOTED " %s%s", field + 1, word, what,
                            is_decimal_comma(word)
                                ? "; decimal commas are not read, the decimal point is a point"
                                : "");
}

static gbs_io_status fail_field(const reader *r, int64_t field, const char *what)
{
    return fail_at(r, r->line, field, what, r->fields.field[field].text);
}

/* "#N/A" and its like, which spreadsheets write for a number: no comment. */
static int is_cell_error(const char *start)
{
    static const char *const words[] = {"#N/A",  "#REF!",  "#DIV/0!", "#VALUE!",
                                        "#NUM!", "#NAME?", "#NULL!"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        const size_t length = strlen(words[k]);
        if (strncmp(start, words[k], length) == 0 && strchr(",;\t\r", start[length]))
            return 1;
    }
    return 0;
}

/* Quotes that every field has are no mark of a name. */
static void drop_quotes(reader *r)
{
    for (int64_t i = 0; r->all_quoted && i < r->fields.count; i++)
        r->fields.field[i].quoted = 0;
}

/* Cuts the next line that is neither blank nor a comment into fields; *more is 0 at the end. */
static gbs_io_status next_line(reader *r, int *more)
{
    for (char *line; (line = gbs_text_line(&r->cursor));) {
        r->line++;
        const char *start = line + strspn(line, " \t\r\v\f");
        if (is_cell_error(start))
            return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, r->line,
                                    "field 1: \"%.*s\" is not a number",
                                    (int)strcspn(start, ",;\t\r"), start);
        if (!*start || *start == '#')
            continue;
        if (!r->separator)
            r->separator = gbs_csv_separator(line);
        *more = 1;
        switch (gbs_csv_split(line, r->separator, &r->fields)) {
        case GBS_SPLIT_OK: drop_quotes(r); return GBS_IO_OK;
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

/* What can only be a name. */
static int is_word(const gbs_field *field)
{
    return *field->text && !is_number(field);
}

/* A number in digits: "NA" and "inf" may be names. */
static int has_digits(const gbs_field *field)
{
    return is_number(field) && strchr("+-.0123456789", *field->text);
}

/* Leaves the name as it is, though a number's d becomes e. */
static int is_quoted_number(const gbs_field *field)
{
    char *const d = strpbrk(field->text, "dD");
    const char letter = d ? *d : 0;
    const int number = field->quoted && has_digits(&(gbs_field){field->text, 0});
    if (d)
        *d = letter;
    return number;
}

/* What is amiss with a name beside numbers. */
static const char *fault_of(const gbs_field *name)
{
    return is_quoted_number(name) ? "is not a number without quotes" : "is not a number";
}

/* "2o", "0x2", "-.5.": a number with a slip in it, or a name that is as well quoted. */
static int begins_as_number(const gbs_field *field)
{
    const char *text = field->text + strspn(field->text, "+-");
    return is_word(field) && !field->quoted && strspn(text + (*text == '.'), "0123456789") > 0;
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

/* Whether a field can only be a name; the first may be that of a row, so the others decide where
 * there are any. */
static int has_words(const gbs_fields *fields)
{
    int64_t i = fields->count > 1;
    while (i < fields->count && !is_word(&fields->field[i]))
        i++;
    return i < fields->count;
}

static gbs_io_status add_name(reader *r, gbs_csv_names *list, char *text)
{
    return gbs_csv_names_add(list, text, r->line)
               ? GBS_IO_OK
               : gbs_io_fail_memory(r->error, r->path, list->count + 1,
                                    (int64_t)sizeof *list->name);
}

/* A number with a slip in it would make a header of its line, and all its numbers would be lost. */
static gbs_io_status check_header(const reader *r)
{
    const gbs_field *field = r->fields.field;
    int64_t number = -1, word = -1;
    for (int64_t i = 0; i < r->fields.count; i++) {
        if (holds_numbers(&field[i]))
            return fail_field(r, i,
                              "is neither a number nor a name; fields are separated by commas, "
                              "semicolons or tabs");
        if (has_digits(&field[i]))
            number = number < 0 ? i : number;
        else if (is_word(&field[i]) && (i > 0 || r->fields.count == 1))
            word = word < 0 ? i : word;
    }
    if (r->fields.count == 1 && (begins_as_number(field) || is_decimal_comma(field->text)))
        return fail_field(r, 0, "is not a number; a name that begins as one needs quotes");
    if (number < 0 || word < 0)
        return GBS_IO_OK;
    char what[160];
    snprintf(what, sizeof what, "%s, but field %" PRId64 " is; " NAMES_NEED_QUOTES,
             fault_of(&field[word]), number + 1);
    return fail_field(r, word, what);
}

static gbs_io_status read_header(reader *r)
{
    gbs_io_status status = check_header(r);
    for (int64_t i = 0; !status && i < r->fields.count; i++) {
        const gbs_field *field = &r->fields.field[i];
        r->header_numbers |= is_quoted_number(field);
        status = add_name(r, &r->column, field->text);
    }
    return status;
}

/* A name less than the line has fields: the first is a name too, and not a number for which the
 * header has no name, or that a decimal comma or a last separator has added. */
static gbs_io_status check_unnamed(const reader *r)
{
    const gbs_field *field = r->fields.field;
    if (!has_digits(&field[0]))
        return GBS_IO_OK;
    if (!*field[r->fields.count - 1].text)
        return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, r->line,
                                "field %" PRId64 " is empty, and the header has no name for it",
                                r->fields.count);
    return fail_field(
        r, 0, "would be the name of a row, for the header has one field less; " NAMES_NEED_QUOTES);
}

/* From the first row of numbers: whether it starts with a name, and so how many numbers a row
 * has.  A header with a field above the names loses that one. */
static gbs_io_status settle_shape(reader *r, int header)
{
    const int64_t fields = r->fields.count, named = r->column.count;
    const gbs_field *start = &r->fields.field[0];
    const int unnamed = header && named == fields - 1;
    r->corner = header && fields > 1 && named == fields && !*r->column.name[0].text;
    /* Under a number in quotes another one is no name, but as much in doubt as that is. */
    const int doubt = r->header_numbers && named == fields && is_quoted_number(start) &&
                      is_quoted_number(&(gbs_field){r->column.name[0].text, 1});
    const int word = is_word(start) && !doubt;
    r->first = fields > 1 && (r->corner || word || unnamed);
    r->columns = fields - r->first;
    if (header && named != fields && named != r->columns)
        return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, r->line,
                                "%" PRId64 " %s, but the header has %" PRId64, fields,
                                gbs_plural(fields, "field", "fields"), named);
    if (header && named > r->columns) {
        memmove(r->column.name, r->column.name + 1, (size_t)r->columns * sizeof *r->column.name);
        r->column.count = r->columns;
    }
    r->name_slips = r->first && (!r->corner || r->bare_corner) &&
                    (begins_as_number(start) || is_decimal_comma(start->text));
    return unnamed ? check_unnamed(r) : GBS_IO_OK;
}

static gbs_io_status read_number(reader *r, int64_t i, double *value)
{
    const gbs_field *field = &r->fields.field[i];
    *value = NAN;
    if (is_missing(field))
        return GBS_IO_OK;
    if (r->header_numbers && is_quoted_number(field))
        return fail_field(r, i, "is quoted as the header's numbers are; " NAMES_NEED_QUOTES);
    switch (gbs_text_double(field->text, 0, value)) {
    case GBS_NUMBER_OK: return GBS_IO_OK;
    case GBS_NUMBER_RANGE: return fail_field(r, i, "is beyond the range of a double");
    case GBS_NUMBER_NONE: break;
    }
    return fail_field(r, i, "is not a number");
}

static gbs_io_status make_room(reader *r)
{
    const int64_t needed = (r->rows + 1) * r->columns; /* no more than the text has bytes */
    assert(needed > 0);                                /* a row has a field */
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

/* Names that are not under an empty field of the header are words or quoted, all of them: else the
 * word is a slip in a number, and its column would be lost. */
static gbs_io_status read_row_name(reader *r)
{
    const gbs_field *field = &r->fields.field[0];
    if (holds_numbers(field))
        return fail_field(r, 0, "is neither a number nor a name");
    if (!r->corner && has_digits(field)) {
        const gbs_csv_name *first = &r->row.name[0];
        char what[160];
        snprintf(what, sizeof what, "%s, but field 1 of line %" PRId64 " is; " NAMES_NEED_QUOTES,
                 fault_of(&(gbs_field){first->text, 1}), r->line);
        return fail_at(r, first->line, 0, what, first->text);
    }
    r->name_numbers |= has_digits(field);
    r->name_missing |= !*field->text;
    return add_name(r, &r->row, field->text);
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
        status = read_row_name(r);
    double *row = r->value + r->rows * r->columns;
    for (int64_t k = 0; !status && k < r->columns; k++)
        status = read_number(r, r->first + k, &row[k]);
    r->rows += !status;
    return status;
}

/* Reads up to the first row of numbers, which is then the current line. */
static gbs_io_status read_first_lines(reader *r, int *more, int *header)
{
    gbs_io_status status = next_line(r, more);
    if (status || !*more)
        return status;
    r->all_quoted = gbs_csv_all_quoted(&r->fields, r->cursor, r->separator);
    drop_quotes(r);
    const int words = has_words(&r->fields);
    r->bare_corner = !words && r->fields.count > 1 && !*r->fields.field[0].text;
    *header = words || r->bare_corner;
    if (*header)
        status = read_header(r);
    if (*header && !status)
        status = next_line(r, more);
    if (!status && !*more && r->bare_corner) { /* over nothing: the file's only row */
        r->line = r->column.name[0].line;
        r->column.count = 0;
        r->bare_corner = *header = 0;
        *more = 1;
    }
    return status;
}

/* What only the whole table tells: whether names that look like numbers are some.  Those of rows
 * and columns that both count are, but in a table of 2 x 2, where "0" or "1" counts too easily. */
static gbs_io_status check_row_names(const reader *r)
{
    const int only_count =
        r->rows + r->columns > 2 && gbs_csv_names_count(&r->row) && gbs_csv_names_count(&r->column);
    if (r->bare_corner && (r->name_missing || (r->name_numbers && !only_count)))
        return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, r->column.name[0].line,
                                "field 1 is empty, so that row 1, column 1 would be NaN; above "
                                "names of rows, " NAMES_NEED_QUOTES);
    if (r->rows == 1 && r->name_slips)
        return fail_at(r, r->row.name[0].line, 0,
                       "is not a number; a name that begins as one needs quotes",
                       r->row.name[0].text);
    return GBS_IO_OK;
}

static gbs_io_status read_table(reader *r)
{
    int more = 0, header = 0;
    gbs_io_status status = read_first_lines(r, &more, &header);
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
    return status ? status : check_row_names(r);
}

/* The names of what the last axis counts, NULL if there are none. */
static gbs_io_status choose_names(const reader *r, const gbs_csv_names **chosen)
{
    const int row = r->row.count && !gbs_csv_names_count(&r->row);
    const int column = r->column.count && r->columns > 1 && !gbs_csv_names_count(&r->column);
    const int square = r->rows == r->columns && !r->rows_apart;
    *chosen = column ? &r->column : row && (square || r->columns == 1) ? &r->row : NULL;
    if (!*chosen)
        return GBS_IO_OK;
    gbs_io_status status = gbs_csv_names_check_text(*chosen, r->path, r->error);
    if (!status && row && column && square)
        status = gbs_csv_names_check_agreement(&r->row, &r->column, r->path, r->error);
    return status ? status : gbs_csv_names_check_distinct(*chosen, r->path, r->error);
}

/* The names of rows apart, NULL if there are none or they only count. */
static gbs_io_status choose_row_names(const reader *r, const gbs_csv_names **chosen)
{
    *chosen = NULL;
    if (!r->rows_apart || r->columns == 1 || !r->row.count || gbs_csv_names_count(&r->row))
        return GBS_IO_OK;
    *chosen = &r->row;
    return gbs_csv_names_check_text(*chosen, r->path, r->error);
}

static gbs_io_status copy_names(const reader *r, const gbs_csv_names *list, char ***out)
{
    char **const name = *out = calloc((size_t)list->count, sizeof *name);
    if (!name)
        return gbs_io_fail_memory(r->error, r->path, list->count, (int64_t)sizeof *name);
    for (int64_t i = 0; i < list->count; i++) {
        name[i] = strdup(list->name[i].text);
        if (!name[i])
            return gbs_io_fail_memory(r->error, r->path, (int64_t)strlen(list->name[i].text), 1);
    }
    return GBS_IO_OK;
}

static gbs_io_status read_text(reader *r, gbs_array *out)
{
    const gbs_csv_names *chosen = NULL, *of_rows = NULL;
    gbs_io_status status = read_table(r);
    if (!status)
        status = choose_names(r, &chosen);
    if (!status)
        status = choose_row_names(r, &of_rows);
    if (status)
        return status;
    *out = (gbs_array){.type = GBS_F64,
                       .axes = r->columns == 1 ? 1 : 2,
                       .shape = {r->rows, r->columns, 1},
                       .count = r->rows * r->columns,
                       .data = r->value};
    r->value = NULL;
    if (chosen)
        status = copy_names(r, chosen, &out->name);
    return status || !of_rows ? status : copy_names(r, of_rows, &out->row_name);
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
    reader r = {
        .path = input->path, .cursor = text, .error = error, .rows_apart = input->rows_apart};
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
