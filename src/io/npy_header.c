/* The header of a .npy file: a Python dict literal with exactly the keys descr, fortran_order
 * and shape.  Parsed by a grammar of just that much Python; nothing is evaluated.  Format:
 * numpy/lib/format.py, versions 1.0 (16-bit length), 2.0 (32-bit), 3.0 (UTF-8). */
#include "io/npy.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Only structured dtypes have long headers, and those are refused anyway. */
#define HEADER_LIMIT 65536

/* How much of a damaged or foreign header a message quotes. */
#define QUOTE 80

enum { KEY_DESCR = 1, KEY_ORDER = 2, KEY_SHAPE = 4, KEYS_ALL = 7 };

typedef struct parser {
    const char *path;
    const char *text; /* the dict literal, terminated by a 0 */
    const char *at;
    int64_t offset; /* of text in the file */
    gbs_io_error *error;
} parser;

static gbs_io_status refuse(const parser *p, const char *what)
{
    return gbs_io_fail_byte(p->error, GBS_IO_CONTENT, p->path, p->offset + (p->at - p->text),
                            "header: %s, at \"%.*s\"", what, QUOTE, p->at);
}

static void skip_blanks(parser *p)
{
    p->at += strspn(p->at, " \t\r\n");
}

/* Steps over one punctuation mark, and blanks around it; 0 if it is not there. */
static int accept_mark(parser *p, char mark)
{
    skip_blanks(p);
    if (*p->at != mark)
        return 0;
    p->at++;
    skip_blanks(p);
    return 1;
}

/* A string in either kind of quotes; escapes do not occur in what we accept. */
static gbs_io_status parse_string(parser *p, const char **start, int *length)
{
    skip_blanks(p);
    char quote = *p->at;
    if (quote != '\'' && quote != '"')
        return refuse(p, "a string is expected");
    const char *end = strchr(p->at + 1, quote);
    if (!end || memchr(p->at, '\\', (size_t)(end - p->at)))
        return refuse(p, "a plain string is expected");
    *start = p->at + 1;
    *length = (int)(end - *start);
    p->at = end + 1;
    return GBS_IO_OK;
}

static int is_little_endian(void)
{
    const uint16_t probe = 1;
    unsigned char first;
    memcpy(&first, &probe, 1);
    return first == 1;
}

/* Sets kind, size and swap from a dtype such as <f8; 0 if it is not one that we read. */
static int decode_dtype(const char *dtype, int length, gbs_npy_header *out)
{
    static const struct {
        char letter;
        gbs_npy_kind kind;
        const char *sizes;
    } table[] = {{'f', GBS_NPY_FLOAT, "248"},
                 {'i', GBS_NPY_INT, "1248"},
                 {'u', GBS_NPY_UINT, "1248"},
                 {'b', GBS_NPY_BOOL, "1"}};
    if (length != 3 || !strchr("<>=|", dtype[0]))
        return 0;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (dtype[1] != table[i].letter || dtype[2] == 0 || !strchr(table[i].sizes, dtype[2]))
            continue;
        out->kind = table[i].kind;
        out->size = dtype[2] - '0';
        out->big_endian = dtype[0] == '>' || (dtype[0] == '=' && !is_little_endian());
        return out->size == 1 || dtype[0] != '|';
    }
    return 0;
}

static gbs_io_status parse_dtype(parser *p, gbs_npy_header *out)
{
    const char *dtype = p->at, *next = strstr(dtype, ", 'fortran_order'");
    int length = next ? (int)(next - dtype) : (int)strcspn(dtype, "\n"), parsed = 0;
    if (*dtype == '\'' || *dtype == '"') {
        gbs_io_status status = parse_string(p, &dtype, &length);
        if (status)
            return status;
        parsed = decode_dtype(dtype, length, out);
    }
    if (parsed)
        return GBS_IO_OK;
    return gbs_io_fail(p->error, GBS_IO_CONTENT, p->path,
                       "dtype %.*s is not read: floats of 2, 4 or 8 bytes, integers and bools are",
                       length < QUOTE ? length : QUOTE, dtype);
}

static gbs_io_status parse_order(parser *p, gbs_npy_header *out)
{
    for (int truth = 0; truth < 2; truth++) {
        const char *word = truth ? "True" : "False";
        if (strncmp(p->at, word, strlen(word)) == 0) {
            p->at += strlen(word);
            out->fortran_order = truth;
            return GBS_IO_OK;
        }
    }
    return refuse(p, "fortran_order must be True or False");
}

/* One axis length; Python 2 wrote an L behind long ones. */
static gbs_io_status parse_length(parser *p, int64_t *length)
{
    int64_t value = 0;
    const char *digit = p->at;
    for (; *digit >= '0' && *digit <= '9'; digit++) {
        int unit = *digit - '0';
        if (value > (INT64_MAX - unit) / 10)
            return refuse(p, "an axis is longer than a 64-bit number");
        value = 10 * value + unit;
    }
    if (digit == p->at)
        return refuse(p, "shape must be a tuple of whole numbers");
    p->at = digit + (*digit == 'L');
    *length = value;
    return GBS_IO_OK;
}

static gbs_io_status parse_shape(parser *p, gbs_npy_header *out)
{
    if (!accept_mark(p, '('))
        return refuse(p, "shape must be a tuple of whole numbers");
    out->axes = 0;
    while (!accept_mark(p, ')')) {
        if (out->axes == GBS_ARRAY_AXES)
            return refuse(p, "the array has more than 3 axes");
        gbs_io_status status = parse_length(p, &out->shape[out->axes]);
        if (status)
            return status;
        out->axes++;
        if (accept_mark(p, ','))
            continue;
        if (out->axes == 1 || *p->at != ')')
            return refuse(p, "shape must be a tuple of whole numbers");
    }
    return GBS_IO_OK;
}

static gbs_io_status parse_entry(parser *p, int *seen, gbs_npy_header *out)
{
    static const struct {
        const char *name;
        int key;
        gbs_io_status (*parse)(parser *p, gbs_npy_header *out);
    } table[] = {{"descr", KEY_DESCR, parse_dtype},
                 {"fortran_order", KEY_ORDER, parse_order},
                 {"shape", KEY_SHAPE, parse_shape}};
    const char *start = p->at, *name;
    int length;
    gbs_io_status status = parse_string(p, &name, &length);
    if (status)
        return status;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if ((size_t)length != strlen(table[i].name) ||
            strncmp(name, table[i].name, (size_t)length) != 0)
            continue;
        if (*seen & table[i].key)
            break;
        *seen |= table[i].key;
        if (!accept_mark(p, ':'))
            return refuse(p, "':' is expected");
        return table[i].parse(p, out);
    }
    p->at = start;
    return refuse(p, "the keys must be descr, fortran_order and shape, each once");
}

static gbs_io_status parse_dict(parser *p, gbs_npy_header *out)
{
    int seen = 0;
    if (!accept_mark(p, '{'))
        return refuse(p, "'{' is expected");
    while (!accept_mark(p, '}')) {
        gbs_io_status status = parse_entry(p, &seen, out);
        if (status)
            return status;
        if (!accept_mark(p, ',') && *p->at != '}')
            return refuse(p, "',' or '}' is expected");
    }
    if (*p->at)
        return refuse(p, "something follows the '}'");
    if (seen != KEYS_ALL)
        return gbs_io_fail(p->error, GBS_IO_CONTENT, p->path, "header: the key %s is missing",
                           !(seen & KEY_DESCR)   ? "descr"
                           : !(seen & KEY_ORDER) ? "fortran_order"
                                                 : "shape");
    return GBS_IO_OK;
}

/* The shape against the number of bytes that are really there. */
static gbs_io_status check_size(const gbs_input *input, gbs_npy_header *out, gbs_io_error *error)
{
    if (out->axes == 0)
        return gbs_io_fail(error, GBS_IO_CONTENT, input->path,
                           "the array has no axes; 1, 2 or 3 are read");
    for (int axis = 0; axis < out->axes; axis++)
        if (out->shape[axis] == 0)
            return gbs_io_fail(error, GBS_IO_CONTENT, input->path, "axis %d has length 0", axis);
    int64_t room = (input->bytes - out->offset) / out->size;
    out->count = 1;
    for (int axis = 0; axis < out->axes; axis++) {
        if (out->shape[axis] > room / out->count)
            return gbs_io_fail(error, GBS_IO_CONTENT, input->path,
                               "the shape asks for more than the %" PRId64 " %s of %d %s "
                               "that %s the header (axis %d is %" PRId64 " long)",
                               room, gbs_plural(room, "element", "elements"), out->size,
                               gbs_plural(out->size, "byte", "bytes"),
                               gbs_plural(room, "follows", "follow"), axis, out->shape[axis]);
        out->count *= out->shape[axis];
    }
    int64_t left = input->bytes - out->offset - out->count * out->size;
    if (left)
        return gbs_io_fail_byte(error, GBS_IO_CONTENT, input->path, input->bytes - left,
                                "%" PRId64 " %s the array's %" PRId64 " %s of %d %s", left,
                                gbs_plural(left, "byte follows", "bytes follow"), out->count,
                                gbs_plural(out->count, "element", "elements"), out->size,
                                gbs_plural(out->size, "byte", "bytes"));
    return GBS_IO_OK;
}

/* Magic, version and header length; sets out->offset to where the elements begin. */
static gbs_io_status read_preamble(gbs_input *input, int64_t *start, gbs_npy_header *out,
                                   gbs_io_error *error)
{
    unsigned char head[12] = {0};
    int64_t known = input->bytes < 12 ? input->bytes : 12;
    gbs_io_status status = gbs_input_read(input, 0, head, known, error);
    if (status)
        return status;
    if (memcmp(head, GBS_NPY_MAGIC, GBS_NPY_MAGIC_BYTES) != 0)
        return gbs_io_fail(error, GBS_IO_CONTENT, input->path, "is not an .npy file");
    int version = head[6];
    if (known > 7 && (version < 1 || version > 3 || head[7] != 0))
        return gbs_io_fail(error, GBS_IO_CONTENT, input->path,
                           ".npy version %d.%d is not read, 1.0 to 3.0 are", version, head[7]);
    *start = version == 1 ? 10 : 12;
    int64_t length = head[8] | head[9] << 8;
    if (version > 1)
        length |= (int64_t)head[10] << 16 | (int64_t)head[11] << 24;
    if (known < *start || length > input->bytes - *start)
        return gbs_io_fail(error, GBS_IO_CONTENT, input->path,
                           "ends after %" PRId64 " %s, within the header", input->bytes,
                           gbs_plural(input->bytes, "byte", "bytes"));
    if (length > HEADER_LIMIT)
        return gbs_io_fail_byte(error, GBS_IO_CONTENT, input->path, 8,
                                "a header of %" PRId64 " bytes; at most %d are read", length,
                                HEADER_LIMIT);
    out->offset = *start + length;
    return GBS_IO_OK;
}

gbs_io_status gbs_npy_read_header(gbs_input *input, gbs_npy_header *out, gbs_io_error *error)
{
    *out = (gbs_npy_header){.shape = {1, 1, 1}};
    int64_t start = 0;
    gbs_io_status status = read_preamble(input, &start, out, error);
    if (status)
        return status;
    int64_t length = out->offset - start;
    char *text = malloc((size_t)length + 1);
    if (!text)
        return gbs_io_fail_memory(error, input->path, length, 1);
    status = gbs_input_read(input, start, text, length, error);
    text[length] = 0;
    parser p = {input->path, text, text, start, error};
    if (!status && strlen(text) != (size_t)length) {
        p.at = text + strlen(text);
        status = refuse(&p, "a zero byte");
    }
    if (!status)
        status = parse_dict(&p, out);
    free(text);
    return status ? status : check_size(input, out, error);
}

gbs_type gbs_npy_type(const gbs_npy_header *header)
{
    return header->kind == GBS_NPY_FLOAT && header->size < 8 ? GBS_F32 : GBS_F64;
}

size_t gbs_npy_write_header(unsigned char *to, gbs_type type, int axes, const int64_t *shape)
{
    char text[GBS_NPY_HEADER_BYTES];
    int used = snprintf(text, sizeof text, "{'descr': '%cf%d', 'fortran_order': False, 'shape': (",
                        is_little_endian() ? '<' : '>', type == GBS_F32 ? 4 : 8);
    for (int axis = 0; axis < axes; axis++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%" PRId64, axis ? ", " : "",
                         shape[axis]);
    used += snprintf(text + used, sizeof text - (size_t)used, "%s), }", axes == 1 ? "," : "");
    size_t start = GBS_NPY_MAGIC_BYTES + 4;
    size_t total = (start + (size_t)used + 1 + 63) / 64 * 64;
    memset(to, ' ', total);
    memcpy(to, GBS_NPY_MAGIC, GBS_NPY_MAGIC_BYTES);
    to[6] = 1;
    to[7] = 0;
    to[8] = (unsigned char)((total - start) & 0xff);
    to[9] = (unsigned char)((total - start) >> 8);
    memcpy(to + start, text, (size_t)used);
    to[total - 1] = '\n';
    return total;
}
