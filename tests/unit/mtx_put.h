/* A Matrix Market file from arrays of triplets, by the writer that takes them one by one. */
#ifndef GBS_TEST_MTX_PUT_H
#define GBS_TEST_MTX_PUT_H

#include "io/matrix_market.h"

/* Stops at the first failure, as a caller does. */
static inline gbs_io_status mtx_put(const char *path, int64_t dim, int64_t count,
                                    const int64_t *row, const int64_t *column, const double *value,
                                    const char *comment, gbs_io_error *error)
{
    gbs_mtx_writer *writer;
    gbs_io_status status = gbs_mtx_create(path, dim, count, comment, &writer, error);
    for (int64_t k = 0; !status && k < count; k++)
        status = gbs_mtx_add(writer, row[k], column[k], value[k], error);
    if (!status)
        return gbs_mtx_finish(writer, error);
    gbs_mtx_abandon(writer);
    return status;
}

#endif
