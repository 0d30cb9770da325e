/* What the two result formats have in common: the order of calls, the temporary file, the list
 * of variables and the names of their elements. */
#include "io/results.h"

#include "io/file.h"
#include "io/npy.h"
#include "io/npz.h"
#include "io/results_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    if (length < tail)
        return 0;
    for (size_t i = 0; i < tail; i++) {
        char letter = text[length - tail + i];
        if (letter >= 'A' && letter <= 'Z')
            letter = (char)(letter - 'A' + 'a');
        if (letter != ending[i])
            return 0;
    }
    return 1;
}

int gbs_results_format_of(const char *path, gbs_results_format *format)
{
    static const char *const endings[] = {".npy", ".nc", ".csv"};
    for (int i = 0; i < 3; i++)
        if (ends_with(path, endings[i])) {
            *format = (gbs_results_format)i;
            return 1;
        }
    return 0;
}

/* ------------------------------------------------------------------ writing */

static gbs_io_status check_spec(const char *path, const gbs_results_spec *spec, gbs_io_error *error)
{
    int64_t draws;
    if (spec->chains < 1 || spec->draws < 1 || spec->dim < 1 || spec->warmup_draws < 0 ||
        __builtin_add_overflow(spec->draws, spec->warmup_draws, &draws) ||
        spec->chains > INT64_MAX / 16 / draws / spec->dim)
        return gbs_io_fail(error, GBS_IO_WRITE, path,
                           "%" PRId64 " chains of %" PRId64 " and %" PRId64 " draws of %" PRId64
                           " sites do not make a file",
                           spec->chains, spec->warmup_draws, spec->draws, spec->dim);
    if (spec->format == GBS_RESULTS_NPY && (spec->warmup_draws || spec->moments_only))
        return gbs_io_fail(error, GBS_IO_WRITE, path, "one .npy array holds draws alone");
    if (spec->format == GBS_RESULTS_CSV && spec->moments_only)
        return gbs_io_fail(error, GBS_IO_WRITE, path, "CSV holds draws alone");
    return GBS_IO_OK;
}

/* The file, or the first of several. */
static gbs_io_status open_output(gbs_output *output, const char *path, const gbs_results_spec *spec,
                                 gbs_io_error *error)
{
    if (spec->format != GBS_RESULTS_CSV)
        return gbs_output_open(output, path, error);
    char *name = gbs_stan_csv_chain_path(path, spec->chains, 0);
    if (!name)
        return gbs_io_fail_memory(error, path, (int64_t)strlen(path), 1);
    const gbs_io_status status = gbs_output_open(output, name, error);
    free(name);
    return status;
}

gbs_io_status gbs_results_create(const char *path, const gbs_results_spec *spec,
                                 gbs_results_writer **out, gbs_io_error *error)
{
    *out = NULL;
    gbs_results_writer common = {.type = spec->type,
                                 .chains = spec->chains,
                                 .draws = spec->draws,
                                 .dim = spec->dim,
                                 .warmup_draws = spec->warmup_draws,
                                 .moments_only = spec->moments_only};
    gbs_io_status status = check_spec(path, spec, error);
    if (!status)
        status = open_output(&common.output, path, spec, error);
    if (status)
        return status;
    if (spec->format == GBS_RESULTS_CSV) {
        status = gbs_stan_csv_results_create(&common, path, spec, out, error);
    } else { /* of known length */
        status = gbs_output_check_length(&common.output, gbs_results_bytes(spec), error);
        if (status == GBS_IO_OK)
            status = spec->format == GBS_RESULTS_NPY
                         ? gbs_npy_results_create(&common, out, error)
                         : gbs_netcdf_results_create(&common, spec, out, error);
    }
    if (status)
        gbs_output_abandon(&common.output);
    return status;
}

double gbs_results_bytes(const gbs_results_spec *spec)
{
    const double number = spec->format == GBS_RESULTS_CSV ? 20 : spec->type == GBS_F32 ? 4 : 8;
    const double lp = spec->format == GBS_RESULTS_CSV   ? 20
                      : spec->format == GBS_RESULTS_NPY ? 0
                                                        : 8;
    const double numbered = spec->format == GBS_RESULTS_NETCDF ? 2 * 8 : 0; /* in both groups */
    const double chains = (double)spec->chains, dim = (double)spec->dim;
    if (spec->moments_only)
        return chains * dim * 2 * 8;
    return ((double)spec->warmup_draws + (double)spec->draws) *
           (chains * (dim * number + lp) + numbered);
}

int64_t gbs_results_free_bytes(const gbs_results_writer *writer)
{
    return gbs_output_free_bytes(&writer->output);
}

static gbs_io_status write_draws(gbs_results_writer *writer, int warmup, int64_t first, int64_t n,
                                 const void *x, const double *lp, gbs_io_error *error)
{
    int64_t *const written = warmup ? &writer->warmup_written : &writer->written;
    const int64_t draws = writer->moments_only ? 0 : warmup ? writer->warmup_draws : writer->draws;
    if (writer->failed)
        return gbs_io_fail(error, GBS_IO_WRITE, writer->output.path, "writing has failed before");
    if (first != *written || n < 1 || n > draws - first ||
        (!warmup && writer->warmup_written < writer->warmup_draws))
        return gbs_io_fail(error, GBS_IO_WRITE, writer->output.path,
                           "draws %" PRId64 " ... %" PRId64 " do not follow the %" PRId64
                           " of %" PRId64 " that are written",
                           first, first + n - 1, *written, draws);
    gbs_io_status status = writer->ops->write(writer, warmup, first, n, x, lp, error);
    writer->failed = status != GBS_IO_OK;
    if (!status)
        *written += n;
    return status;
}

gbs_io_status gbs_results_write(gbs_results_writer *writer, int64_t first, int64_t n, const void *x,
                                const double *lp, gbs_io_error *error)
{
    return write_draws(writer, 0, first, n, x, lp, error);
}

gbs_io_status gbs_results_write_warmup(gbs_results_writer *writer, int64_t first, int64_t n,
                                       const void *x, const double *lp, gbs_io_error *error)
{
    return write_draws(writer, 1, first, n, x, lp, error);
}

gbs_io_status gbs_results_write_moments(gbs_results_writer *writer, int64_t count,
                                        const double *mean, const double *m2, gbs_io_error *error)
{
    if (writer->failed || !writer->moments_only || writer->written)
        return gbs_io_fail(error, GBS_IO_WRITE, writer->output.path,
                           "is not a file that waits for moments");
    gbs_io_status status = writer->ops->write_moments(writer, count, mean, m2, error);
    writer->failed = status != GBS_IO_OK;
    if (!status)
        writer->written = writer->draws;
    return status;
}

/* Room for a block of draws that is copied. */
enum { COPY_BYTES = 32 << 20 };

static gbs_io_status copy_draws(gbs_results_writer *from, gbs_results_writer *to, int warmup,
                                int64_t block, void *x, double *lp, gbs_io_error *error)
{
    const int64_t written = warmup ? from->warmup_written : from->written;
    gbs_io_status status = GBS_IO_OK;
    for (int64_t done = 0, n; !status && done < written; done += n) {
        n = written - done < block ? written - done : block;
        status = from->ops->read_back(from, warmup, done, n, x, lp, error);
        if (!status)
            status = write_draws(to, warmup, done, n, x, lp, error);
    }
    return status;
}

gbs_io_status gbs_results_copy(gbs_results_writer *from, gbs_results_writer *to,
                               gbs_io_error *error)
{
    if (from->ops->copy) {
        const gbs_io_status copied = from->ops->copy(from, to, error);
        to->failed = copied != GBS_IO_OK;
        to->warmup_written = from->warmup_written;
        to->written = from->written;
        return copied;
    }
    const int64_t draw = from->chains * from->dim * (from->type == GBS_F32 ? 4 : 8);
    const int64_t fit = COPY_BYTES / draw, block = fit < 1 ? 1 : fit;
    void *x = malloc((size_t)(block * draw));
    double *lp = malloc((size_t)(block * from->chains) * sizeof *lp);
    gbs_io_status status = GBS_IO_OK;
    if (!x || !lp)
        status = gbs_io_fail_memory(error, to->output.path, block, draw);
    if (!status)
        status = copy_draws(from, to, 1, block, x, lp, error);
    if (!status)
        status = copy_draws(from, to, 0, block, x, lp, error);
    free(lp);
    free(x);
    return status;
}

static gbs_io_status complete(gbs_results_writer *writer, const gbs_attribute *attributes,
                              int64_t attribute_count, gbs_io_error *error)
{
    if (writer->failed)
        return gbs_io_fail(error, GBS_IO_WRITE, writer->output.path, "writing has failed before");
    if (writer->written < writer->draws)
        return gbs_io_fail(error, GBS_IO_WRITE, writer->output.path,
                           "only %" PRId64 " of %" PRId64 " %s written", writer->written,
                           writer->draws, gbs_plural(writer->draws, "draw is", "draws are"));
    gbs_io_status status = writer->ops->complete(writer, attributes, attribute_count, error);
    return status ? status : gbs_output_commit(&writer->output, error);
}

gbs_io_status gbs_results_finish(gbs_results_writer *writer, const gbs_attribute *attributes,
                                 int64_t attribute_count, gbs_io_error *error)
{
    gbs_io_status status = complete(writer, attributes, attribute_count, error);
    gbs_results_abandon(writer);
    return status;
}

void gbs_results_abandon(gbs_results_writer *writer)
{
    if (!writer)
        return;
    if (writer->ops->release)
        writer->ops->release(writer);
    gbs_output_abandon(&writer->output);
    free(writer);
}

/* ------------------------------------------------------------------ reading */

char *gbs_results_copy_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

gbs_variable *gbs_results_add_variable(gbs_results_reader *reader, const char *name, int axes)
{
    size_t count = (size_t)reader->variable_count;
    gbs_variable *larger = realloc(reader->variable, (count + 1) * sizeof *larger);
    if (!larger)
        return NULL;
    reader->variable = larger;
    gbs_variable *variable = &larger[count];
    *variable = (gbs_variable){.name = gbs_results_copy_text(name),
                               .axis = calloc((size_t)axes + 1, sizeof(gbs_axis)),
                               .axes = axes,
                               .size = 1};
    reader->variable_count++;
    return variable->name && variable->axis ? variable : NULL;
}

/* Recognises the format and lets it build the reader. */
static gbs_io_status open_format(gbs_input *input, gbs_results_reader **out, gbs_io_error *error)
{
    char start[GBS_HDF5_MAGIC_BYTES + 1] = {0};
    int64_t known = input->bytes < GBS_HDF5_MAGIC_BYTES ? input->bytes : GBS_HDF5_MAGIC_BYTES;
    gbs_io_status status = gbs_input_read(input, 0, start, known, error);
    if (status)
        return status;
    if (!input->bytes)
        return gbs_io_fail(error, GBS_IO_CONTENT, input->path, "is empty");
    if (memcmp(start, GBS_NPY_MAGIC, GBS_NPY_MAGIC_BYTES) == 0)
        return gbs_npy_results_open(input, out, error);
    if (memcmp(start, "CDF", 3) == 0)
        return gbs_io_fail(error, GBS_IO_CONTENT, input->path,
                           "is a classic netCDF file, which has no groups; netCDF-4 is read");
    if (memcmp(start, GBS_HDF5_MAGIC, GBS_HDF5_MAGIC_BYTES) != 0)
        return gbs_stan_csv_results_open(input, out, error);
    if (input->memory)
        return gbs_io_fail(error, GBS_IO_FILE, input->path, "netCDF-4 is not read from a pipe");
    return gbs_netcdf_results_open(input->path, out, error);
}

gbs_io_status gbs_results_open_input(gbs_input *input, gbs_results_reader **out,
                                     gbs_io_error *error)
{
    *out = NULL;
    gbs_results_reader *reader = NULL;
    gbs_io_status status = open_format(input, &reader, error);
    if (status)
        gbs_results_close(reader);
    else
        *out = reader;
    return status;
}

gbs_io_status gbs_results_open(const char *path, gbs_results_reader **out, gbs_io_error *error)
{
    *out = NULL;
    gbs_input input;
    gbs_io_status status = gbs_npz_input_open(&input, path, NULL, error);
    if (status)
        return status;
    status = gbs_results_open_input(&input, out, error);
    gbs_input_close(&input);
    return status;
}

static void free_variable(gbs_variable *variable)
{
    for (int axis = 0; variable->axis && axis < variable->axes; axis++) {
        char **label = variable->axis[axis].label;
        for (int64_t i = 0; label && i < variable->axis[axis].length; i++)
            free(label[i]);
        free(label);
    }
    free(variable->axis);
    free(variable->name);
}

void gbs_results_close(gbs_results_reader *reader)
{
    if (!reader)
        return;
    reader->ops->close(reader);
    for (int64_t i = 0; i < reader->variable_count; i++)
        free_variable(&reader->variable[i]);
    free(reader->variable);
    free(reader->chain_number);
    free(reader->scratch);
    free(reader->path);
    free(reader);
}

gbs_results_format gbs_results_reader_format(const gbs_results_reader *reader)
{
    return reader->format;
}

int64_t gbs_results_chains(const gbs_results_reader *reader)
{
    return reader->chains;
}

int64_t gbs_results_draws(const gbs_results_reader *reader)
{
    return reader->draws;
}

int64_t gbs_results_chain_number(const gbs_results_reader *reader, int64_t chain)
{
    return reader->chain_number ? reader->chain_number[chain] : chain;
}

int64_t gbs_results_variable_count(const gbs_results_reader *reader)
{
    return reader->variable_count;
}

const char *gbs_results_variable_name(const gbs_results_reader *reader, int64_t variable)
{
    return reader->variable[variable].name;
}

int64_t gbs_results_variable_size(const gbs_results_reader *reader, int64_t variable)
{
    return reader->variable[variable].size;
}

/* Appends to a text of limited capacity, cutting what does not fit. */
static void append(char *to, size_t capacity, const char *text)
{
    size_t used = strlen(to), length = strlen(text);
    if (length > capacity - used - 1)
        length = capacity - used - 1;
    memcpy(to + used, text, length);
    to[used + length] = 0;
}

const char *gbs_results_element_name(const gbs_results_reader *reader, int64_t variable,
                                     int64_t element, char *to, size_t capacity)
{
    if (capacity == 0)
        return to;
    const gbs_variable *v = &reader->variable[variable];
    to[0] = 0;
    if (v->named) {
        append(to, capacity, v->axis[0].label[element]);
        return to;
    }
    append(to, capacity, v->name);
    int64_t left = element, stride = v->size;
    for (int axis = 0; axis < v->axes; axis++) {
        stride /= v->axis[axis].length;
        int64_t index = left / stride;
        left %= stride;
        char number[24];
        snprintf(number, sizeof number, "%" PRId64, index);
        append(to, capacity, axis ? ", " : "[");
        append(to, capacity, v->axis[axis].label ? v->axis[axis].label[index] : number);
    }
    append(to, capacity, v->axes ? "]" : "");
    return to;
}

gbs_io_status gbs_results_read(gbs_results_reader *reader, int64_t variable, int64_t first,
                               int64_t n, double *out, gbs_io_error *error)
{
    const gbs_variable *v = &reader->variable[variable];
    if (first < 0 || n < 1 || n > v->size - first)
        return gbs_io_fail(error, GBS_IO_CONTENT, reader->path,
                           "elements %" PRId64 " ... %" PRId64 " of %s, which has %" PRId64, first,
                           first + n - 1, v->name, v->size);
    return reader->ops->read(reader, v, first, n, out, error);
}

int gbs_results_attribute(gbs_results_reader *reader, const char *group, const char *name,
                          gbs_attribute *out)
{
    free(reader->scratch);
    reader->scratch = NULL;
    return reader->ops->attribute(reader, group, name, out);
}
