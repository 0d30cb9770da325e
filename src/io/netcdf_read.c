/* Draws from any netCDF-4 file with ArviZ's group posterior.  Variables are read in blocks of
 * draws, all chains at once, so that a compressed chunk is unpacked once. */
#include "io/results_format.h"

#include <inttypes.h>
#include <math.h>
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values read at a time, where a draw of all chains is not more; and where the file is stored
 * in chunks of several draws, so that each is unpacked once. */
#define BLOCK 131072
#define CHUNKED_BLOCK (64 * (int64_t)BLOCK)

typedef struct netcdf_reader {
    gbs_results_reader common;
    int open; /* 1: file is a netCDF id to be closed */
    int file, posterior;
} netcdf_reader;

static gbs_io_status fail_read(const netcdf_reader *r, const char *what, int code,
                               gbs_io_error *error)
{
    return gbs_io_fail(error, code == NC_ENOMEM ? GBS_IO_MEMORY : GBS_IO_CONTENT, r->common.path,
                       "%s cannot be read: %s", what, nc_strerror(code));
}

static int is_number(nc_type type)
{
    static const nc_type numbers[] = {NC_BYTE, NC_UBYTE, NC_SHORT,  NC_USHORT, NC_INT,
                                      NC_UINT, NC_INT64, NC_UINT64, NC_FLOAT,  NC_DOUBLE};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (type == numbers[i])
            return 1;
    }
    return 0;
}

/* ------------------------------------------------------------------ labels */

/* Finds the coordinate variable of a dimension, in the group where the dimension is used or in
 * one that encloses it: one-dimensional, and named like it. */
static int find_coordinate(int group, int dim, int *owner, int *variable, nc_type *type)
{
    char name[NC_MAX_NAME + 1];
    if (nc_inq_dimname(group, dim, name))
        return 0;
    for (*owner = group;;) {
        int axes, its_dim;
        if (!nc_inq_varid(*owner, name, variable) && !nc_inq_varndims(*owner, *variable, &axes) &&
            axes == 1 && !nc_inq_vardimid(*owner, *variable, &its_dim) && its_dim == dim &&
            !nc_inq_vartype(*owner, *variable, type))
            return 1;
        int parent;
        if (nc_inq_grp_parent(*owner, &parent))
            return 0;
        *owner = parent;
    }
}

/* The shortest decimal form that reads back as the same double. */
static void print_double(double value, char *to, size_t capacity)
{
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(to, capacity, "%.*g", digits, value);
        if (strtod(to, NULL) == value)
            return;
    }
}

static int read_text_labels(int group, int variable, gbs_axis *axis)
{
    char **text = calloc((size_t)axis->length, sizeof *text);
    if (!text)
        return NC_ENOMEM;
    int code = nc_get_var_string(group, variable, text);
    for (int64_t i = 0; !code && i < axis->length; i++) {
        axis->label[i] = gbs_results_copy_text(text[i] ? text[i] : "");
        if (!axis->label[i])
            code = NC_ENOMEM;
    }
    nc_free_string((size_t)axis->length, text);
    free(text);
    return code;
}

static int read_number_labels(int group, int variable, nc_type type, gbs_axis *axis)
{
    int whole = type != NC_FLOAT && type != NC_DOUBLE;
    size_t length = (size_t)axis->length;
    double *real = malloc(length * sizeof *real);
    long long *integer = malloc(length * sizeof *integer);
    int code = !real || !integer ? NC_ENOMEM
               : whole           ? nc_get_var_longlong(group, variable, integer)
                                 : nc_get_var_double(group, variable, real);
    for (size_t i = 0; !code && i < length; i++) {
        char text[32];
        if (whole)
            snprintf(text, sizeof text, "%lld", integer[i]);
        else
            print_double(real[i], text, sizeof text);
        axis->label[i] = gbs_results_copy_text(text);
        if (!axis->label[i])
            code = NC_ENOMEM;
    }
    free(integer);
    free(real);
    return code;
}

/* Labels an axis by its coordinate; leaves it to indices where there is none. */
static int label_axis(int group, int dim, gbs_axis *axis)
{
    int owner, variable;
    nc_type type;
    if (!find_coordinate(group, dim, &owner, &variable, &type) ||
        (type != NC_STRING && !is_number(type)))
        return NC_NOERR;
    axis->label = calloc((size_t)axis->length, sizeof *axis->label);
    if (!axis->label)
        return NC_ENOMEM;
    return type == NC_STRING ? read_text_labels(owner, variable, axis)
                             : read_number_labels(owner, variable, type, axis);
}

static int read_chain_numbers(netcdf_reader *r, int dim, size_t length)
{
    int owner, variable;
    nc_type type;
    if (!find_coordinate(r->posterior, dim, &owner, &variable, &type) || !is_number(type))
        return NC_NOERR;
    long long *numbers = malloc(length * sizeof *numbers);
    r->common.chain_number = malloc(length * sizeof *r->common.chain_number);
    int code = numbers && r->common.chain_number ? nc_get_var_longlong(owner, variable, numbers)
                                                 : NC_ENOMEM;
    for (size_t i = 0; !code && i < length; i++)
        r->common.chain_number[i] = numbers[i];
    free(numbers);
    return code;
}

/* ------------------------------------------------------------------ variables */

static int has_name(int group, int dim, const char *wanted)
{
    char name[NC_MAX_NAME + 1];
    return !nc_inq_dimname(group, dim, name) && strcmp(name, wanted) == 0;
}

/* What would make the stored numbers something else than the draws. */
static gbs_io_status check_encoding(const netcdf_reader *r, gbs_variable *v, nc_type type,
                                    gbs_io_error *error)
{
    static const char *const encodings[] = {"scale_factor", "add_offset"};
    if (!is_number(type))
        return gbs_io_fail(error, GBS_IO_CONTENT, r->common.path,
                           "posterior/%s holds no numbers (netCDF type %d)", v->name, type);
    for (int i = 0; i < 2; i++) {
        if (!nc_inq_att(r->posterior, v->id, encodings[i], NULL, NULL))
            return gbs_io_fail(error, GBS_IO_CONTENT, r->common.path,
                               "posterior/%s is packed (it has %s), which is not read", v->name,
                               encodings[i]);
    }
    size_t length;
    v->has_fill = !nc_inq_att(r->posterior, v->id, "_FillValue", NULL, &length) && length == 1 &&
                  !nc_get_att_double(r->posterior, v->id, "_FillValue", &v->fill);
    return GBS_IO_OK;
}

static gbs_io_status read_length(const netcdf_reader *r, const gbs_variable *v, int dim,
                                 int64_t *length, gbs_io_error *error)
{
    size_t it = 0;
    int code = nc_inq_dimlen(r->posterior, dim, &it);
    if (code)
        return fail_read(r, v->name, code, error);
    *length = it <= (size_t)(INT64_MAX / 16) ? (int64_t)it : 0;
    if (*length > 0)
        return GBS_IO_OK;
    return gbs_io_fail(error, GBS_IO_CONTENT, r->common.path,
                       "posterior/%s has a dimension of length %zu", v->name, it);
}

/* One of the variable's own axes: its length, its labels, its part in the size. */
static gbs_io_status read_axis(const netcdf_reader *r, gbs_variable *v, int axis, int dim,
                               gbs_io_error *error)
{
    int64_t length = 1;
    gbs_io_status status = read_length(r, v, dim, &length, error);
    if (status)
        return status;
    if (length > INT64_MAX / 16 / v->size)
        return gbs_io_fail(error, GBS_IO_CONTENT, r->common.path,
                           "posterior/%s has more elements than can be counted", v->name);
    v->axis[axis].length = length;
    v->size *= length;
    int code = label_axis(r->posterior, dim, &v->axis[axis]);
    return code ? fail_read(r, v->name, code, error) : GBS_IO_OK;
}

static gbs_io_status read_shape(netcdf_reader *r, gbs_variable *v, const int *dims,
                                gbs_io_error *error)
{
    int64_t chains = 1, draws = 1;
    gbs_io_status status = read_length(r, v, dims[0], &chains, error);
    if (!status)
        status = read_length(r, v, dims[1], &draws, error);
    for (int axis = 0; !status && axis < v->axes; axis++)
        status = read_axis(r, v, axis, dims[axis + 2], error);
    if (status)
        return status;
    if (r->common.chains == 0) {
        r->common.chains = chains;
        r->common.draws = draws;
        int code = read_chain_numbers(r, dims[0], (size_t)chains);
        return code ? fail_read(r, "the coordinate chain", code, error) : GBS_IO_OK;
    }
    if (chains == r->common.chains && draws == r->common.draws)
        return GBS_IO_OK;
    return gbs_io_fail(error, GBS_IO_CONTENT, r->common.path,
                       "posterior/%s has %" PRId64 " %s of %" PRId64 " %s, other variables %" PRId64
                       " of %" PRId64,
                       v->name, chains, gbs_plural(chains, "chain", "chains"), draws,
                       gbs_plural(draws, "draw", "draws"), r->common.chains, r->common.draws);
}

/* Adds variable `id` if its first dimensions are chain and draw. */
static gbs_io_status add_variable(netcdf_reader *r, int id, gbs_io_error *error)
{
    char name[NC_MAX_NAME + 1];
    int dims[NC_MAX_VAR_DIMS], axes;
    nc_type type;
    int code = nc_inq_var(r->posterior, id, name, &type, &axes, dims, NULL);
    if (code)
        return fail_read(r, "group posterior", code, error);
    if (axes < 2 || !has_name(r->posterior, dims[0], "chain") ||
        !has_name(r->posterior, dims[1], "draw"))
        return GBS_IO_OK;
    gbs_variable *v = gbs_results_add_variable(&r->common, name, axes - 2);
    if (!v)
        return gbs_io_fail_memory(error, r->common.path, 1, (int64_t)sizeof *v);
    v->id = id;
    gbs_io_status status = check_encoding(r, v, type, error);
    return status ? status : read_shape(r, v, dims, error);
}

static gbs_io_status add_variables(netcdf_reader *r, gbs_io_error *error)
{
    int code = nc_inq_ncid(r->file, "posterior", &r->posterior);
    if (code)
        return gbs_io_fail(error, GBS_IO_CONTENT, r->common.path, "has no group posterior");
    int count;
    code = nc_inq_nvars(r->posterior, &count);
    if (code)
        return fail_read(r, "group posterior", code, error);
    for (int id = 0; id < count; id++) {
        gbs_io_status status = add_variable(r, id, error);
        if (status)
            return status;
    }
    if (r->common.variable_count == 0)
        return gbs_io_fail(error, GBS_IO_CONTENT, r->common.path,
                           "group posterior has no variable with leading dimensions chain, draw");
    return GBS_IO_OK;
}

/* ------------------------------------------------------------------ draws */

/* A block of draws: the variable seen as [chains, draws, rows, inner], rows its first own
 * axis, of which `height` rows from `row` on hold what is wanted. */
typedef struct block {
    int64_t row, height, inner;
    int64_t draws; /* per block */
    double *values;
} block;

static int read_block(const netcdf_reader *r, const gbs_variable *v, const block *b, int64_t draw,
                      int64_t draws)
{
    size_t start[NC_MAX_VAR_DIMS] = {0, (size_t)draw, (size_t)b->row};
    size_t count[NC_MAX_VAR_DIMS] = {(size_t)r->common.chains, (size_t)draws, (size_t)b->height};
    for (int axis = 1; axis < v->axes; axis++) {
        start[axis + 2] = 0;
        count[axis + 2] = (size_t)v->axis[axis].length;
    }
    return nc_get_vara_double(r->posterior, v->id, start, count, b->values);
}

static void scatter(const netcdf_reader *r, const gbs_variable *v, const block *b, int64_t draw,
                    int64_t draws, int64_t first, int64_t n, double *out)
{
    int64_t width = b->height * b->inner, offset = first - b->row * b->inner;
    for (int64_t c = 0; c < r->common.chains; c++) {
        for (int64_t t = 0; t < draws; t++) {
            const double *from = b->values + (c * draws + t) * width + offset;
            double *to = out + c * r->common.draws + draw + t;
            for (int64_t e = 0; e < n; e++) {
                int missing = v->has_fill && from[e] == v->fill;
                to[e * r->common.chains * r->common.draws] = missing ? NAN : from[e];
            }
        }
    }
}

/* How many draws to read at a time, `values` each: whole chunks if there are any. */
static int64_t block_draws(const netcdf_reader *r, const gbs_variable *v, int64_t values)
{
    int storage;
    size_t chunk[NC_MAX_VAR_DIMS];
    int64_t draws = values < BLOCK ? BLOCK / values : 1;
    if (!nc_inq_var_chunking(r->posterior, v->id, &storage, chunk) && storage == NC_CHUNKED) {
        int64_t together = (int64_t)chunk[1];
        int64_t whole = (draws + together - 1) / together * together;
        if (whole <= CHUNKED_BLOCK / values)
            draws = whole;
    }
    return draws < r->common.draws ? draws : r->common.draws;
}

static gbs_io_status read_range(gbs_results_reader *reader, const gbs_variable *v, int64_t first,
                                int64_t n, double *out, gbs_io_error *error)
{
    const netcdf_reader *r = (const netcdf_reader *)reader;
    block b = {.inner = v->axes ? v->size / v->axis[0].length : 1};
    b.row = first / b.inner;
    b.height = (first + n - 1) / b.inner - b.row + 1;
    int64_t width = b.height * b.inner; /* at most v->size, so the products fit */
    if (width > INT64_MAX / 16 / reader->chains)
        return gbs_io_fail_memory(error, reader->path, width, (int64_t)sizeof *b.values);
    int64_t draw_values = reader->chains * width;
    b.draws = block_draws(r, v, draw_values);
    b.values = malloc((size_t)(b.draws * draw_values) * sizeof *b.values);
    if (!b.values)
        return gbs_io_fail_memory(error, reader->path, b.draws * draw_values,
                                  (int64_t)sizeof *b.values);
    int code = NC_NOERR;
    for (int64_t draw = 0; !code && draw < reader->draws; draw += b.draws) {
        int64_t left = reader->draws - draw, draws = left < b.draws ? left : b.draws;
        code = read_block(r, v, &b, draw, draws);
        if (!code)
            scatter(r, v, &b, draw, draws, first, n, out);
    }
    free(b.values);
    return code ? fail_read(r, v->name, code, error) : GBS_IO_OK;
}

/* ------------------------------------------------------------------ attributes */

static int read_text(netcdf_reader *r, int group, const char *name, nc_type type, size_t length,
                     gbs_attribute *out)
{
    char *text = calloc(length + 1, 1);
    r->common.scratch = text;
    if (!text)
        return 0;
    out->kind = GBS_ATTRIBUTE_TEXT;
    out->value.text = text;
    if (type == NC_CHAR)
        return length == 0 || !nc_get_att_text(group, NC_GLOBAL, name, text);
    char *string = NULL;
    if (length != 1 || nc_get_att_string(group, NC_GLOBAL, name, &string))
        return 0;
    free(text);
    text = gbs_results_copy_text(string ? string : "");
    nc_free_string(1, &string);
    r->common.scratch = text;
    out->value.text = text;
    return text != NULL;
}

static int read_number(int group, const char *name, nc_type type, gbs_attribute *out)
{
    if (type == NC_FLOAT || type == NC_DOUBLE) {
        out->kind = GBS_ATTRIBUTE_DOUBLE;
        return !nc_get_att_double(group, NC_GLOBAL, name, &out->value.float64);
    }
    if (type == NC_UINT64) {
        unsigned long long value;
        out->kind = GBS_ATTRIBUTE_UINT64;
        int code = nc_get_att_ulonglong(group, NC_GLOBAL, name, &value);
        out->value.uint64 = value;
        return !code;
    }
    long long value;
    out->kind = GBS_ATTRIBUTE_INT64;
    int code = nc_get_att_longlong(group, NC_GLOBAL, name, &value);
    out->value.int64 = value;
    return !code;
}

static int find_attribute(gbs_results_reader *reader, const char *group_name, const char *name,
                          gbs_attribute *out)
{
    netcdf_reader *r = (netcdf_reader *)reader;
    int group = r->file;
    nc_type type;
    size_t length;
    *out = (gbs_attribute){.name = name};
    if ((group_name && nc_inq_ncid(r->file, group_name, &group)) ||
        nc_inq_att(group, NC_GLOBAL, name, &type, &length))
        return 0;
    if (type == NC_CHAR || type == NC_STRING)
        return read_text(r, group, name, type, length, out);
    if (type == NC_UBYTE || (type == NC_BYTE && length > 1)) {
        unsigned char *bytes = malloc(length + 1);
        r->common.scratch = bytes;
        out->kind = GBS_ATTRIBUTE_BYTES;
        out->value.bytes = bytes;
        out->count = (int64_t)length;
        return bytes && !nc_get_att(group, NC_GLOBAL, name, bytes);
    }
    return is_number(type) && length == 1 && read_number(group, name, type, out);
}

/* ------------------------------------------------------------------ open, close */

static void close_file(gbs_results_reader *reader)
{
    netcdf_reader *r = (netcdf_reader *)reader;
    if (r->open)
        nc_close(r->file);
}

gbs_io_status gbs_netcdf_results_open(const char *path, gbs_results_reader **out,
                                      gbs_io_error *error)
{
    static const gbs_reader_ops ops = {read_range, find_attribute, close_file};
    gbs_netcdf_prepare();
    netcdf_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return gbs_io_fail_memory(error, path, 1, (int64_t)sizeof *reader);
    *out = &reader->common;
    reader->common.ops = &ops;
    reader->common.format = GBS_RESULTS_NETCDF;
    reader->common.path = gbs_results_copy_text(path);
    if (!reader->common.path)
        return gbs_io_fail_memory(error, path, (int64_t)strlen(path), 1);
    int code = nc_open(path, NC_NOWRITE, &reader->file);
    if (code)
        return gbs_io_fail(error, code == NC_ENOMEM ? GBS_IO_MEMORY : GBS_IO_CONTENT, path,
                           "is not a readable netCDF-4 file: %s", nc_strerror(code));
    reader->open = 1;
    return add_variables(reader, error);
}
