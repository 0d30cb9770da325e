/* Writer of Matrix Market files: coordinate real symmetric, lower triangle, 17 significant
 * digits, so that every double is read back as it was.  Entries go to the file as they come. */
#define _POSIX_C_SOURCE 200809L

#include "io/matrix_market.h"

#include "io/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gbs_mtx_writer {
    gbs_output output; /* all zero for standard output */
    gbs_locale locale;
    FILE *stream;
    const char *path;  /* what messages call it */
    int64_t dim, room; /* rows; entries that the size line announces */
    int64_t count;     /* entries so far */
};

static gbs_io_status fail_write(const gbs_mtx_writer *w, gbs_io_error *error)
{
    return gbs_io_fail(error, GBS_IO_WRITE, w->path, "cannot be written: %s", strerror(errno));
}

/* Errors of the stream stick to it, so one look at the end sees them all. */
static int write_head(const gbs_mtx_writer *w, const char *comment)
{
    FILE *stream = w->stream;
    fputs("%%MatrixMarket matrix coordinate real symmetric\n", stream);
    while (comment && *comment) {
        size_t length = strcspn(comment, "\n");
        fprintf(stream, "%% %.*s\n", (int)length, comment);
        comment += length + (comment[length] == '\n');
    }
    fprintf(stream, "%" PRId64 " %" PRId64 " %" PRId64 "\n", w->dim, w->dim, w->room);
    return ferror(stream) ? -1 : 0;
}

gbs_io_status gbs_mtx_create(const char *path, int64_t dim, int64_t count, const char *comment,
                             gbs_mtx_writer **writer, gbs_io_error *error)
{
    const char *const name = path ? path : "standard output";
    *writer = NULL;
    gbs_mtx_writer *w = calloc(1, sizeof *w);
    if (!w || gbs_locale_enter(&w->locale) != 0) {
        free(w);
        return gbs_io_fail(error, GBS_IO_MEMORY, name, "no memory to write it");
    }
    w->path = name;
    w->dim = dim;
    w->room = count;
    gbs_io_status status = path ? gbs_output_open(&w->output, path, error) : GBS_IO_OK;
    w->stream = path ? w->output.stream : stdout;
    if (!status && write_head(w, comment) != 0)
        status = fail_write(w, error);
    if (status)
        gbs_mtx_abandon(w);
    else
        *writer = w;
    return status;
}

static gbs_io_status check_entry(const gbs_mtx_writer *w, int64_t row, int64_t column, double value,
                                 gbs_io_error *error)
{
    if (row >= w->dim || column < 0 || column > row)
        return gbs_io_fail(error, GBS_IO_CONTENT, w->path,
                           "entry %" PRId64 " at (%" PRId64 ", %" PRId64
                           ") is not in the lower triangle of a matrix of %" PRId64 " rows",
                           w->count, row, column, w->dim);
    if (!isfinite(value))
        return gbs_io_fail(error, GBS_IO_CONTENT, w->path,
                           "entry %" PRId64 " at (%" PRId64 ", %" PRId64 ") is %g", w->count, row,
                           column, value);
    if (w->count == w->room)
        return gbs_io_fail(error, GBS_IO_CONTENT, w->path,
                           "an entry at (%" PRId64 ", %" PRId64 ") follows the last of %" PRId64,
                           row, column, w->room);
    return GBS_IO_OK;
}

gbs_io_status gbs_mtx_add(gbs_mtx_writer *w, int64_t row, int64_t column, double value,
                          gbs_io_error *error)
{
    const gbs_io_status status = check_entry(w, row, column, value, error);
    if (status)
        return status;
    if (fprintf(w->stream, "%" PRId64 " %" PRId64 " %.17g\n", row + 1, column + 1, value) < 0)
        return fail_write(w, error);
    w->count++;
    return GBS_IO_OK;
}

gbs_io_status gbs_mtx_finish(gbs_mtx_writer *w, gbs_io_error *error)
{
    gbs_io_status status = GBS_IO_OK;
    if (w->count < w->room)
        status = gbs_io_fail(error, GBS_IO_CONTENT, w->path,
                             "%" PRId64 " of %" PRId64 " entries were given", w->count, w->room);
    else if (fflush(w->stream) != 0)
        status = fail_write(w, error);
    else if (w->output.stream)
        status = gbs_output_commit(&w->output, error); /* which leaves abandon nothing to remove */
    gbs_mtx_abandon(w);
    return status;
}

void gbs_mtx_abandon(gbs_mtx_writer *w)
{
    if (!w)
        return;
    gbs_output_abandon(&w->output);
    gbs_locale_leave(&w->locale);
    free(w);
}
