/* Draws as one .npy array [chain, draw, site]: written in place block by block, read back a
 * range of sites at a time. */
#include "io/npy.h"
#include "io/results_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ writing */

typedef struct npy_writer {
    gbs_results_writer common;
    int64_t offset; /* of the first element */
} npy_writer;

static gbs_io_status fail_write(const gbs_results_writer *writer, gbs_io_error *error)
{
    return gbs_io_fail(error, GBS_IO_WRITE, writer->output.path, "cannot be written: %s",
                       strerror(errno));
}

static gbs_io_status write_draws(gbs_results_writer *writer, int warmup, int64_t first, int64_t n,
                                 const void *x, const double *lp, gbs_io_error *error)
{
    (void)warmup, (void)lp; /* one array a file: no place for it */
    const npy_writer *w = (const npy_writer *)writer;
    int64_t width = writer->type == GBS_F32 ? 4 : 8;
    size_t block = (size_t)(n * writer->dim * width);
    for (int64_t chain = 0; chain < writer->chains; chain++) {
        int64_t place = (chain * writer->draws + first) * writer->dim * width;
        if (gbs_output_write_at(&writer->output, (const char *)x + (size_t)chain * block, block,
                                w->offset + place) != 0)
            return fail_write(writer, error);
    }
    return GBS_IO_OK;
}

static gbs_io_status read_back(gbs_results_writer *writer, int warmup, int64_t first, int64_t n,
                               void *x, double *lp, gbs_io_error *error)
{
    (void)warmup, (void)lp;
    const npy_writer *w = (const npy_writer *)writer;
    int64_t width = writer->type == GBS_F32 ? 4 : 8;
    size_t block = (size_t)(n * writer->dim * width);
    for (int64_t chain = 0; chain < writer->chains; chain++) {
        int64_t place = (chain * writer->draws + first) * writer->dim * width;
        if (gbs_output_read_at(&writer->output, (char *)x + (size_t)chain * block, block,
                               w->offset + place) != 0)
            return fail_write(writer, error);
    }
    return GBS_IO_OK;
}

static gbs_io_status complete(gbs_results_writer *writer, const gbs_attribute *attributes,
                              int64_t attribute_count, gbs_io_error *error)
{
    (void)writer, (void)attributes, (void)attribute_count, (void)error;
    return GBS_IO_OK;
}

gbs_io_status gbs_npy_results_create(gbs_results_writer *common, gbs_results_writer **out,
                                     gbs_io_error *error)
{
    static const gbs_writer_ops ops = {
        .write = write_draws, .read_back = read_back, .complete = complete};
    unsigned char header[GBS_NPY_HEADER_BYTES];
    const int64_t shape[] = {common->chains, common->draws, common->dim};
    size_t bytes = gbs_npy_write_header(header, common->type, 3, shape);
    if (gbs_output_write_at(&common->output, header, bytes, 0) != 0)
        return fail_write(common, error);
    npy_writer *writer = malloc(sizeof *writer);
    if (!writer)
        return gbs_io_fail_memory(error, common->output.path, 1, (int64_t)sizeof *writer);
    *writer = (npy_writer){*common, (int64_t)bytes};
    writer->common.ops = &ops;
    *out = &writer->common;
    return GBS_IO_OK;
}

/* ------------------------------------------------------------------ reading */

/* Elements read at a time, and the length in bytes from which rows are read in part. */
#define CHUNK 65536
#define LONG_ROW 32768

typedef struct npy_reader {
    gbs_results_reader common;
    gbs_input input;
    gbs_npy_header header;
    unsigned char raw[CHUNK * sizeof(double)];
    double converted[CHUNK];
} npy_reader;

typedef struct range {
    int64_t first, n; /* elements wanted of each draw */
    double *out;      /* [n, chains, draws] */
} range;

/* Puts converted elements from .. from + count - 1 of the file where they belong. */
static void scatter(const npy_reader *r, int64_t from, int64_t count, const range *want)
{
    const gbs_results_reader *common = &r->common;
    int64_t dim = common->variable->size, rows = common->chains * common->draws;
    for (int64_t i = 0; i < count; i++) {
        int64_t element, row; /* row: chain * draws + draw */
        if (r->header.fortran_order) {
            int64_t column = (from + i) % rows;
            element = (from + i) / rows;
            row = column % common->chains * common->draws + column / common->chains;
        } else {
            row = (from + i) / dim;
            element = (from + i) - row * dim;
        }
        if (element >= want->first && element - want->first < want->n)
            want->out[(element - want->first) * rows + row] = r->converted[i];
    }
}

static gbs_io_status read_run(npy_reader *r, int64_t from, int64_t count, const range *want,
                              gbs_io_error *error)
{
    const gbs_npy_header *h = &r->header;
    for (int64_t end = from + count; from < end; from += count) {
        count = end - from < CHUNK ? end - from : CHUNK;
        gbs_io_status status =
            gbs_input_read(&r->input, h->offset + from * h->size, r->raw, count * h->size, error);
        if (!status)
            status = gbs_npy_convert(h, r->raw, from, count, GBS_F64, r->converted, r->common.path,
                                     error);
        if (status)
            return status;
        scatter(r, from, count, want);
    }
    return GBS_IO_OK;
}

/* In column-major order the elements wanted lie together.  In row-major order they are a part
 * of every row: of long rows only that part is read. */
static gbs_io_status read_range(gbs_results_reader *reader, const gbs_variable *variable,
                                int64_t first, int64_t n, double *out, gbs_io_error *error)
{
    npy_reader *r = (npy_reader *)reader;
    range want = {first, n, NULL};
    want.out = out;
    int64_t dim = variable->size, rows = reader->chains * reader->draws;
    if (r->header.fortran_order)
        return read_run(r, first * rows, n * rows, &want, error);
    if (n > dim / 4 || dim * r->header.size < LONG_ROW)
        return read_run(r, 0, rows * dim, &want, error);
    gbs_io_status status = GBS_IO_OK;
    for (int64_t row = 0; !status && row < rows; row++)
        status = read_run(r, row * dim + first, n, &want, error);
    return status;
}

static int no_attribute(gbs_results_reader *reader, const char *group, const char *name,
                        gbs_attribute *out)
{
    (void)reader, (void)group, (void)name, (void)out;
    return 0;
}

static void close_input(gbs_results_reader *reader)
{
    gbs_input_close(&((npy_reader *)reader)->input);
}

/* Takes the input over from the caller once nothing can fail any more. */
gbs_io_status gbs_npy_results_open(gbs_input *input, gbs_results_reader **out, gbs_io_error *error)
{
    static const gbs_reader_ops ops = {read_range, no_attribute, close_input};
    gbs_npy_header header;
    gbs_io_status status = gbs_npy_read_header(input, &header, error);
    if (status)
        return status;
    if (header.axes < 2)
        return gbs_io_fail(error, GBS_IO_CONTENT, input->path,
                           "has %d axis; draws are [chain, draw, site] or [chain, draw]",
                           header.axes);
    npy_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return gbs_io_fail_memory(error, input->path, 1, (int64_t)sizeof *reader);
    *out = &reader->common;
    reader->common = (gbs_results_reader){.ops = &ops,
                                          .format = GBS_RESULTS_NPY,
                                          .path = gbs_results_copy_text(input->path),
                                          .chains = header.shape[0],
                                          .draws = header.shape[1]};
    reader->header = header;
    gbs_variable *x = gbs_results_add_variable(&reader->common, "x", header.axes - 2);
    if (!x || !reader->common.path)
        return gbs_io_fail_memory(error, input->path, 1, (int64_t)sizeof *x);
    x->size = header.shape[2];
    x->axis[0].length = header.shape[2];
    reader->input = *input;
    reader->input.path = reader->common.path;
    *input = (gbs_input){0};
    return GBS_IO_OK;
}
