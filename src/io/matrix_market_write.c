/* Writer of Matrix Market files: coordinate real symmetric, lower triangle, 17 significant
 * digits, so that every double is read back as it was. */
#define _POSIX_C_SOURCE 200809L

#include "io/matrix_market.h"

#include "io/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static gbs_io_status check_entries(const char *path, int64_t dim, int64_t count, const int64_t *row,
                                   const int64_t *column, const double *value, gbs_io_error *error)
{
    for (int64_t k = 0; k < count; k++) {
        if (row[k] >= dim || column[k] < 0 || column[k] > row[k])
            return gbs_io_fail(error, GBS_IO_CONTENT, path,
                               "entry %" PRId64 " at (%" PRId64 ", %" PRId64
                               ") is not in the lower triangle of a matrix of %" PRId64 " rows",
                               k, row[k], column[k], dim);
        if (!isfinite(value[k]))
            return gbs_io_fail(error, GBS_IO_CONTENT, path,
                               "entry %" PRId64 " at (%" PRId64 ", %" PRId64 ") is %g", k, row[k],
                               column[k], value[k]);
    }
    return GBS_IO_OK;
}

static void write_comment(FILE *stream, const char *comment)
{
    while (comment && *comment) {
        size_t length = strcspn(comment, "\n");
        fprintf(stream, "%% %.*s\n", (int)length, comment);
        comment += length + (comment[length] == '\n');
    }
}

/* Errors of the stream stick to it, so one look at the end sees them all. */
static int write_entries(FILE *stream, int64_t dim, int64_t count, const int64_t *row,
                         const int64_t *column, const double *value, const char *comment)
{
    gbs_locale locale;
    if (gbs_locale_enter(&locale) != 0)
        return -1;
    fputs("%%MatrixMarket matrix coordinate real symmetric\n", stream);
    write_comment(stream, comment);
    fprintf(stream, "%" PRId64 " %" PRId64 " %" PRId64 "\n", dim, dim, count);
    for (int64_t k = 0; k < count; k++)
        fprintf(stream, "%" PRId64 " %" PRId64 " %.17g\n", row[k] + 1, column[k] + 1, value[k]);
    gbs_locale_leave(&locale);
    return fflush(stream) != 0 || ferror(stream) ? -1 : 0;
}

gbs_io_status gbs_mtx_write_symmetric(const char *path, int64_t dim, int64_t count,
                                      const int64_t *row, const int64_t *column,
                                      const double *value, const char *comment, gbs_io_error *error)
{
    const char *const name = path ? path : "standard output";
    gbs_io_status status = check_entries(name, dim, count, row, column, value, error);
    if (status)
        return status;
    if (!path && write_entries(stdout, dim, count, row, column, value, comment) == 0)
        return GBS_IO_OK;
    if (!path)
        return gbs_io_fail(error, GBS_IO_WRITE, name, "cannot be written: %s", strerror(errno));
    gbs_output output;
    status = gbs_output_open(&output, path, error);
    if (status)
        return status;
    if (write_entries(output.stream, dim, count, row, column, value, comment) == 0)
        return gbs_output_commit(&output, error);
    status = gbs_io_fail(error, GBS_IO_WRITE, path, "cannot be written: %s", strerror(errno));
    gbs_output_abandon(&output);
    return status;
}
