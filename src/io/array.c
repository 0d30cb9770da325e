/* Dense arrays from any of the formats, told apart by their first bytes. */
#include "io/array.h"

#include "io/csv.h"
#include "io/matrix_market.h"
#include "io/npy.h"
#include "io/npz.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Elements from which a dense array must be backed by entries: 128 MiB. */
#define LARGE ((int64_t)1 << 24)

/* A size line costs nothing to write, a dense array does to hold; a large one with an empty row or
 * column is taken for a slip.  (As a precision or a covariance it could not be used anyway.) */
static gbs_io_status check_entries(const gbs_mtx *m, int64_t most, const char *path,
                                   gbs_io_error *error)
{
    const int64_t longest = m->rows > m->columns ? m->rows : m->columns;
    if (m->rows <= LARGE / m->columns || most >= longest)
        return GBS_IO_OK;
    return gbs_io_fail(error, GBS_IO_CONTENT, path,
                       "announces %" PRId64 " %s and %" PRId64 " %s, but holds only %" PRId64 " %s",
                       m->rows, gbs_plural(m->rows, "row", "rows"), m->columns,
                       gbs_plural(m->columns, "column", "columns"), m->count,
                       gbs_plural(m->count, "entry", "entries"));
}

/* A size line that no matrix in memory can follow is refused before the entries are read, which in
 * a pipe may be without end. */
static gbs_io_status check_announced(const char *path, const char *start, int64_t bytes,
                                     gbs_io_error *error)
{
    gbs_mtx size;
    if (!gbs_mtx_announced(start, bytes, &size))
        return GBS_IO_OK; /* what is wrong with it, the reader says */
    const int64_t most =
        size.symmetric && size.count <= INT64_MAX / 2 ? 2 * size.count : size.count;
    const gbs_io_status status = check_entries(&size, most, path, error);
    return status ? status : gbs_mtx_check_memory(&size, path, error);
}

static gbs_io_status read_matrix_market(gbs_input *input, gbs_array *out, gbs_io_error *error)
{
    gbs_mtx matrix;
    gbs_io_status status = gbs_mtx_read_input(input, &matrix, error);
    if (status)
        return status;
    double *dense = NULL;
    status = check_entries(&matrix, matrix.count, input->path, error);
    if (!status)
        status = gbs_mtx_densify(&matrix, input->path, &dense, error);
    if (!status)
        *out = (gbs_array){.type = GBS_F64,
                           .axes = 2,
                           .shape = {matrix.rows, matrix.columns, 1},
                           .count = matrix.rows * matrix.columns,
                           .data = dense,
                           .duplicates = matrix.duplicates};
    gbs_mtx_free(&matrix);
    return status;
}

/* Text has no control characters but line ends and tabs; bytes of 0x80 and above are UTF-8, a byte
 * order mark for one. */
static int looks_like_text(const char *start)
{
    int odd = 0;
    for (const char *at = start; *at; at++)
        odd |= (unsigned char)*at < 0x20 && !strchr("\t\r\n", *at);
    return *start && !odd;
}

gbs_io_status gbs_array_read_input(gbs_input *input, gbs_array *out, gbs_io_error *error)
{
    *out = (gbs_array){0};
    char start[16] = {0};
    int64_t known = input->bytes < 15 ? input->bytes : 15;
    gbs_io_status status = gbs_input_read(input, 0, start, known, error);
    if (status)
        return status;
    if (memcmp(start, GBS_NPY_MAGIC, GBS_NPY_MAGIC_BYTES) == 0)
        return gbs_npy_read_input(input, out, error);
    if (start[0] == '%')
        return read_matrix_market(input, out, error);
    if (looks_like_text(start))
        return gbs_csv_read_input(input, out, error);
    if (!input->bytes)
        return gbs_io_fail(error, GBS_IO_CONTENT, input->path, "is empty");
    return gbs_io_fail(error, GBS_IO_CONTENT, input->path,
                       "is none of .npy, .npz, Matrix Market and CSV (it starts with \"%s\")",
                       start);
}

static gbs_io_status read_path(const char *path, int rows_apart, gbs_array *out,
                               gbs_io_error *error)
{
    *out = (gbs_array){0};
    gbs_input input;
    gbs_io_status status = gbs_npz_input_open(&input, path, check_announced, error);
    if (status)
        return status;
    input.rows_apart = rows_apart;
    status = gbs_array_read_input(&input, out, error);
    gbs_input_close(&input);
    return status;
}

gbs_io_status gbs_array_read(const char *path, gbs_array *out, gbs_io_error *error)
{
    return read_path(path, 0, out, error);
}

gbs_io_status gbs_array_read_rows(const char *path, gbs_array *out, gbs_io_error *error)
{
    return read_path(path, 1, out, error);
}

void gbs_array_free(gbs_array *array)
{
    for (int64_t i = 0; array->name && i < array->shape[array->axes - 1]; i++)
        free(array->name[i]);
    for (int64_t i = 0; array->row_name && i < array->shape[0]; i++)
        free(array->row_name[i]);
    free(array->name);
    free(array->row_name);
    free(array->data);
    *array = (gbs_array){0};
}
