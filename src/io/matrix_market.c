/* Reader of Matrix Market files: banner, size line, entries; then one sort, in which
 * duplicates meet and a symmetric file's two halves of a pair give themselves away.  Format:
 * Boisvert, Pozo and Remington, NISTIR 5935 (1996), and SciPy's field "unsigned-integer". */
#define _POSIX_C_SOURCE 200809L

#include "io/matrix_market.h"

#include "io/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How much of a damaged line a message quotes: "%.40s". */
#define QUOTED "\"%.40s\""

typedef enum field { FIELD_REAL, FIELD_INTEGER, FIELD_UNSIGNED, FIELD_PATTERN } field;

typedef struct entry {
    int64_t row, column; /* from 0 */
    int64_t line;        /* of the file, from 1 */
    double value;
    int mirrored; /* 1: not in the file, the other half of an entry that is */
} entry;

typedef struct reader {
    const char *path;
    char *cursor;
    int64_t line;
    int64_t bytes_left;
    gbs_io_error *error;
    int coordinate, symmetric;
    field field;
    int64_t rows, columns;
    int64_t declared; /* entries the file must hold */
    entry *entries;   /* room for `capacity` */
    int64_t capacity, count;
} reader;

/* The next line that holds more than blanks and a comment, cut at its comment; NULL at the
 * end. */
static char *next_line(reader *r)
{
    for (;;) {
        char *start = r->cursor;
        char *line = gbs_text_line(&r->cursor);
        if (!line)
            return NULL;
        r->line++;
        r->bytes_left -= r->cursor - start;
        char *comment = strchr(line, '%');
        if (comment)
            *comment = 0;
        if (line[strspn(line, " \t\r\v\f")])
            return line;
    }
}

static gbs_io_status refuse_banner(const reader *r, const char *what, const char *word)
{
    return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, 1,
                            "%s " QUOTED " is not read: coordinate or array, real, integer or "
                            "pattern (coordinate only), general or symmetric matrices are",
                            what, word);
}

static int find_field(const char *word, field *out)
{
    static const struct {
        const char *name;
        field field;
    } table[] = {{"real", FIELD_REAL},
                 {"double", FIELD_REAL},
                 {"integer", FIELD_INTEGER},
                 {"unsigned-integer", FIELD_UNSIGNED},
                 {"pattern", FIELD_PATTERN}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (gbs_text_equal(word, table[i].name)) {
            *out = table[i].field;
            return 1;
        }
    }
    return 0;
}

static gbs_io_status read_banner(reader *r)
{
    char *start = r->cursor, *line = gbs_text_line(&r->cursor), *words[6] = {NULL};
    int found = 0;
    r->line = 1;
    r->bytes_left -= r->cursor - start;
    while (line && found < 6 && (words[found] = gbs_text_word(&line)))
        found++;
    if (found == 0 || !gbs_text_equal(words[0], "%%MatrixMarket"))
        return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, 1,
                                "the banner \"%%%%MatrixMarket matrix ...\" is missing");
    if (found != 5)
        return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, 1,
                                "the banner must be %%%%MatrixMarket and four words: matrix, "
                                "format, field, symmetry");
    r->coordinate = gbs_text_equal(words[2], "coordinate");
    r->symmetric = gbs_text_equal(words[4], "symmetric");
    if (!gbs_text_equal(words[1], "matrix"))
        return refuse_banner(r, "object", words[1]);
    if (!r->coordinate && !gbs_text_equal(words[2], "array"))
        return refuse_banner(r, "format", words[2]);
    if (!find_field(words[3], &r->field))
        return refuse_banner(r, "field", words[3]);
    if (!r->coordinate && r->field == FIELD_PATTERN)
        return refuse_banner(r, "field of an array", words[3]);
    if (!r->symmetric && !gbs_text_equal(words[4], "general"))
        return refuse_banner(r, "symmetry", words[4]);
    return GBS_IO_OK;
}

/* A whole number within [low, high] as the next word of *line. */
static gbs_io_status read_index(reader *r, char **line, const char *name, int64_t low, int64_t high,
                                int64_t *value)
{
    char *word = gbs_text_word(line);
    if (!word)
        return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, r->line, "the %s is missing",
                                name);
    gbs_number result = gbs_text_int64(word, value);
    if (result == GBS_NUMBER_NONE)
        return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, r->line,
                                "the %s " QUOTED " is not a whole number", name, word);
    if (result == GBS_NUMBER_RANGE || *value < low || *value > high)
        return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, r->line,
                                "the %s %.40s is not within %" PRId64 " ... %" PRId64, name, word,
                                low, high);
    return GBS_IO_OK;
}

static gbs_io_status expect_end(reader *r, char *line)
{
    char *word = gbs_text_word(&line);
    if (!word)
        return GBS_IO_OK;
    return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, r->line,
                            QUOTED " follows the last number", word);
}

/* How many entries an array file must hold; -1 if beyond 64 bits. */
static int64_t array_entries(const reader *r)
{
    if (r->rows > INT64_MAX / 2 / r->columns)
        return -1;
    int64_t all = r->rows * r->columns;
    return r->symmetric ? (all + r->rows) / 2 : all;
}

static gbs_io_status read_size_line(reader *r)
{
    char *line = next_line(r);
    if (!line)
        return gbs_io_fail(r->error, GBS_IO_CONTENT, r->path,
                           "ends after line %" PRId64 ", before its size line", r->line);
    gbs_io_status status = read_index(r, &line, "number of rows", 1, INT64_MAX, &r->rows);
    if (!status)
        status = read_index(r, &line, "number of columns", 1, INT64_MAX, &r->columns);
    if (!status && r->coordinate)
        status = read_index(r, &line, "number of entries", 0, INT64_MAX, &r->declared);
    if (!status)
        status = expect_end(r, line);
    if (status)
        return status;
    if (r->symmetric && r->rows != r->columns)
        return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, r->line,
                                "a symmetric matrix of %" PRId64 " %s and %" PRId64 " %s", r->rows,
                                gbs_plural(r->rows, "row", "rows"), r->columns,
                                gbs_plural(r->columns, "column", "columns"));
    if (!r->coordinate)
        r->declared = array_entries(r);
    return GBS_IO_OK;
}

/* The size line, and whether the rest of the file can hold what it asks for. */
static gbs_io_status read_size(reader *r)
{
    gbs_io_status status = read_size_line(r);
    if (status)
        return status;
    /* The shortest entries are "1 1\n", "1 1 1\n" and "1\n"; the last needs no newline. */
    int64_t shortest = !r->coordinate ? 2 : r->field == FIELD_PATTERN ? 4 : 6;
    int64_t room = (r->bytes_left + 1) / shortest;
    if (r->declared < 0 || r->declared > room)
        return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, r->line,
                                "the size line asks for more entries than the file's remaining "
                                "%" PRId64 " %s can hold (at most %" PRId64 ")",
                                r->bytes_left, gbs_plural(r->bytes_left, "byte", "bytes"), room);
    return GBS_IO_OK;
}

static gbs_io_status read_value(reader *r, char **line, double *value)
{
    static const char *const names[] = {
        [FIELD_REAL] = "real", [FIELD_INTEGER] = "integer", [FIELD_UNSIGNED] = "unsigned integer"};
    char *word = gbs_text_word(line);
    if (!word)
        return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, r->line, "the value is missing");
    gbs_number result = gbs_text_double(word, r->field != FIELD_REAL, value);
    if (result == GBS_NUMBER_NONE || (r->field == FIELD_UNSIGNED && *word == '-'))
        return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, r->line,
                                "the value " QUOTED " is not a number of the banner's field, %s",
                                word, names[r->field]);
    if (result == GBS_NUMBER_RANGE)
        return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, r->line,
                                "the value " QUOTED " is beyond the range of a double", word);
    return GBS_IO_OK;
}

/* Adds an entry and, in a symmetric file, its other half. */
static void add_entry(reader *r, int64_t row, int64_t column, double value)
{
    r->entries[r->count++] = (entry){row, column, r->line, value, 0};
    if (r->symmetric && row != column)
        r->entries[r->count++] = (entry){column, row, r->line, value, 1};
}

static gbs_io_status read_coordinate(reader *r, char *line)
{
    int64_t row = 0, column = 0;
    double value = 1;
    gbs_io_status status = read_index(r, &line, "row", 1, r->rows, &row);
    if (!status)
        status = read_index(r, &line, "column", 1, r->columns, &column);
    if (!status && r->field != FIELD_PATTERN)
        status = read_value(r, &line, &value);
    if (!status)
        status = expect_end(r, line);
    if (!status)
        add_entry(r, row - 1, column - 1, value);
    return status;
}

/* Array entry `number`, in column order: all of it, or its lower triangle. */
static gbs_io_status read_array_value(reader *r, char *line, int64_t *row, int64_t *column)
{
    double value = 0;
    gbs_io_status status = read_value(r, &line, &value);
    if (!status)
        status = expect_end(r, line);
    if (status)
        return status;
    if (value != 0)
        add_entry(r, *row, *column, value);
    if (++*row == r->rows) {
        ++*column;
        *row = r->symmetric ? *column : 0;
    }
    return GBS_IO_OK;
}

static gbs_io_status read_entries(reader *r)
{
    r->capacity = r->symmetric ? 2 * r->declared : r->declared;
    if ((uint64_t)r->capacity < SIZE_MAX / sizeof(entry))
        r->entries = malloc(((size_t)r->capacity + 1) * sizeof(entry));
    if (!r->entries)
        return gbs_io_fail_memory(r->error, r->path, r->capacity, (int64_t)sizeof(entry));
    int64_t row = 0, column = 0;
    for (int64_t n = 0;; n++) {
        char *line = next_line(r);
        if (!line && n < r->declared)
            return gbs_io_fail(r->error, GBS_IO_CONTENT, r->path,
                               "ends after line %" PRId64 " with %" PRId64 " of %" PRId64 " %s",
                               r->line, n, r->declared,
                               gbs_plural(r->declared, "entry", "entries"));
        if (!line)
            return GBS_IO_OK;
        if (n == r->declared)
            return gbs_io_fail_line(r->error, GBS_IO_CONTENT, r->path, r->line,
                                    "more entries than the size line's %" PRId64, r->declared);
        gbs_io_status status =
            r->coordinate ? read_coordinate(r, line) : read_array_value(r, line, &row, &column);
        if (status)
            return status;
    }
}

static int compare_entries(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static gbs_io_status allocate(const reader *r, gbs_mtx *out)
{
    size_t room = (size_t)r->count + 1;
    out->row = malloc(room * sizeof *out->row);
    out->column = malloc(room * sizeof *out->column);
    out->value = malloc(room * sizeof *out->value);
    if (out->row && out->column && out->value)
        return GBS_IO_OK;
    return gbs_io_fail_memory(r->error, r->path, r->count,
                              (int64_t)(2 * sizeof(int64_t) + sizeof(double)));
}

/* Entries of one place lie together now, in the order of the file: sums them, and refuses a
 * place that came both by itself and from its other half. */
static gbs_io_status merge(const reader *r, gbs_mtx *out)
{
    for (int64_t i = 0; i < r->count; i++) {
        const entry *e = &r->entries[i];
        int repeated = i > 0 && e[-1].row == e->row && e[-1].column == e->column;
        if (!repeated) {
            out->row[out->count] = e->row;
            out->column[out->count] = e->column;
            out->value[out->count] = e->value;
            out->count++;
            continue;
        }
        if (e->mirrored != e[-1].mirrored)
            return gbs_io_fail_line(
                r->error, GBS_IO_CONTENT, r->path, e->line,
                "a symmetric file must hold one half of a pair, but (%" PRId64 ", %" PRId64
                ") and (%" PRId64 ", %" PRId64 ") are both here, the first at line %" PRId64,
                e->row + 1, e->column + 1, e->column + 1, e->row + 1, e[-1].line);
        out->value[out->count - 1] += e->value;
        out->duplicates += !e->mirrored;
    }
    return GBS_IO_OK;
}

static gbs_io_status read_matrix(reader *r, gbs_mtx *out)
{
    gbs_io_status status = read_banner(r);
    if (!status)
        status = read_size(r);
    if (!status)
        status = read_entries(r);
    if (!status)
        status = allocate(r, out);
    if (status)
        return status;
    qsort(r->entries, (size_t)r->count, sizeof(entry), compare_entries);
    out->rows = r->rows;
    out->columns = r->columns;
    out->symmetric = r->symmetric;
    out->pattern = r->field == FIELD_PATTERN;
    return merge(r, out);
}

gbs_io_status gbs_mtx_read_input(gbs_input *input, gbs_mtx *out, gbs_io_error *error)
{
    *out = (gbs_mtx){0};
    char *text;
    gbs_io_status status = gbs_input_text(input, &text, error);
    if (status)
        return status;
    gbs_locale locale;
    if (gbs_locale_enter(&locale) != 0) {
        free(text);
        return gbs_io_fail_memory(error, input->path, 1, (int64_t)sizeof locale);
    }
    reader r = {.path = input->path, .cursor = text, .bytes_left = input->bytes, .error = error};
    status = read_matrix(&r, out);
    gbs_locale_leave(&locale);
    free(r.entries);
    free(text);
    if (status)
        gbs_mtx_free(out);
    return status;
}

gbs_io_status gbs_mtx_read(const char *path, gbs_mtx *out, gbs_io_error *error)
{
    *out = (gbs_mtx){0};
    gbs_input input;
    gbs_io_status status = gbs_input_open(&input, path, error);
    if (status)
        return status;
    status = gbs_mtx_read_input(&input, out, error);
    gbs_input_close(&input);
    return status;
}

int gbs_mtx_announced(const char *start, int64_t bytes, gbs_mtx *out)
{
    *out = (gbs_mtx){0};
    char *text = bytes > 0 && *start == '%' ? strndup(start, (size_t)bytes) : NULL;
    if (!text)
        return 0;
    char *last = strrchr(text, '\n'); /* the line behind it may go on */
    *(last ? last : text) = 0;
    gbs_io_error unused;
    reader r = {.path = "", .cursor = text, .bytes_left = bytes, .error = &unused};
    const int known = !read_banner(&r) && !read_size_line(&r);
    if (known)
        *out = (gbs_mtx){.rows = r.rows,
                         .columns = r.columns,
                         .count = r.declared >= 0 ? r.declared : INT64_MAX,
                         .symmetric = r.symmetric};
    free(text);
    return known;
}

static gbs_io_status refuse_dense(const gbs_mtx *matrix, const char *path, gbs_io_error *error)
{
    return gbs_io_fail(error, GBS_IO_MEMORY, path,
                       "no memory for a dense matrix of %" PRId64 " %s and %" PRId64 " %s",
                       matrix->rows, gbs_plural(matrix->rows, "row", "rows"), matrix->columns,
                       gbs_plural(matrix->columns, "column", "columns"));
}

static int is_countable(const gbs_mtx *matrix)
{
    return matrix->rows <= INT64_MAX / (int64_t)sizeof(double) / matrix->columns;
}

gbs_io_status gbs_mtx_check_memory(const gbs_mtx *matrix, const char *path, gbs_io_error *error)
{
    void *volatile block = NULL; /* compilers leave out an allocation that nothing uses */
    if (is_countable(matrix))
        block = malloc((size_t)(matrix->rows * matrix->columns) * sizeof(double));
    if (!block)
        return refuse_dense(matrix, path, error);
    free(block);
    return GBS_IO_OK;
}

gbs_io_status gbs_mtx_densify(const gbs_mtx *matrix, const char *path, double **dense,
                              gbs_io_error *error)
{
    *dense = NULL;
    if (is_countable(matrix))
        *dense = calloc((size_t)(matrix->rows * matrix->columns), sizeof(double));
    if (!*dense)
        return refuse_dense(matrix, path, error);
    for (int64_t k = 0; k < matrix->count; k++)
        (*dense)[matrix->row[k] * matrix->columns + matrix->column[k]] = matrix->value[k];
    return GBS_IO_OK;
}

void gbs_mtx_free(gbs_mtx *matrix)
{
    free(matrix->row);
    free(matrix->column);
    free(matrix->value);
    *matrix = (gbs_mtx){0};
}
