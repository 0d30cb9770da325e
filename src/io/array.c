/* Dense arrays from either format, told apart by their first bytes. */
#include "io/array.h"

#include "io/file.h"
#include "io/matrix_market.h"
#include "io/npy.h"

#include <stdlib.h>
#include <string.h>

static gbs_io_status read_matrix_market(gbs_input *input, gbs_array *out, gbs_io_error *error)
{
    gbs_mtx matrix;
    gbs_io_status status = gbs_mtx_read_input(input, &matrix, error);
    if (status)
        return status;
    double *dense;
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

static gbs_io_status read_input(gbs_input *input, gbs_array *out, gbs_io_error *error)
{
    char start[16] = {0};
    int64_t known = input->bytes < 15 ? input->bytes : 15;
    gbs_io_status status = gbs_input_read(input, 0, start, known, error);
    if (status)
        return status;
    if (memcmp(start, GBS_NPY_MAGIC, GBS_NPY_MAGIC_BYTES) == 0)
        return gbs_npy_read_input(input, out, error);
    if (start[0] == '%' && start[1] == '%')
        return read_matrix_market(input, out, error);
    return gbs_io_fail(error, GBS_IO_CONTENT, input->path,
                       "is neither .npy nor Matrix Market (it starts with \"%s\")", start);
}

gbs_io_status gbs_array_read(const char *path, gbs_array *out, gbs_io_error *error)
{
    *out = (gbs_array){0};
    gbs_input input;
    gbs_io_status status = gbs_input_open(&input, path, error);
    if (status)
        return status;
    status = read_input(&input, out, error);
    gbs_input_close(&input);
    return status;
}

void gbs_array_free(gbs_array *array)
{
    free(array->data);
    *array = (gbs_array){0};
}
