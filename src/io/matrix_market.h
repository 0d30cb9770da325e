/* Matrix Market files (Boisvert, Pozo and Remington, NISTIR 5935, 1996): reader for real,
 * integer and pattern, coordinate and array, general and symmetric; writer for coordinate
 * real symmetric.  Numbers are read and written the same whatever the locale. */
#ifndef GBS_IO_MATRIX_MARKET_H
#define GBS_IO_MATRIX_MARKET_H

#include "io/error.h"
#include "io/file.h"

#include <stdint.h>

/* Triplets sorted by row, then column, each place once.  A symmetric file is expanded: both
 * halves are here. */
typedef struct gbs_mtx {
    int64_t rows, columns;
    int64_t count;      /* triplets, after expansion; zeros of array files are left out */
    int64_t *row;       /* [count], from 0 */
    int64_t *column;    /* [count], from 0 */
    double *value;      /* [count]; 1 in a pattern file; may be NaN or infinite */
    int64_t duplicates; /* entries of the file that were summed into an earlier one */
    int symmetric;      /* 1 where the banner says so */
    int pattern;        /* 1 where the file holds no values */
} gbs_mtx;

/* Reads a Matrix Market file or pipe.
 * Owns: *out is the caller's, ended by gbs_mtx_free.
 * Fails: FILE; MEMORY; CONTENT, naming the line and the number: no banner, a field or
 * symmetry that is not read (by name), counts that disagree with the size line, indices out
 * of range, words that are not numbers, anything after a number, a symmetric file that is not
 * square or holds both halves of a pair.  *out is then all zero. */
gbs_io_status gbs_mtx_read(const char *path, gbs_mtx *out, gbs_io_error *error);

/* The same from an input that is already open. */
gbs_io_status gbs_mtx_read_input(gbs_input *input, gbs_mtx *out, gbs_io_error *error);

/* Makes the dense matrix.  Shape: *dense [rows, columns], row-major.
 * Owns: *dense is the caller's, ended by free().  Fails: MEMORY (also where the size does
 * not fit in memory's address range); *dense is then NULL. */
gbs_io_status gbs_mtx_densify(const gbs_mtx *matrix, const char *path, double **dense,
                              gbs_io_error *error);

/* What the first bytes of a file announce: rows, columns, symmetry, and in `count` its entries
 * before expansion (INT64_MAX beyond it); nothing is allocated.  0 where they are not those of a
 * Matrix Market file up to the end of a good size line. */
int gbs_mtx_announced(const char *start, int64_t bytes, gbs_mtx *out);

/* Whether there is memory for gbs_mtx_densify to give, by the size alone.  Fails: MEMORY. */
gbs_io_status gbs_mtx_check_memory(const gbs_mtx *matrix, const char *path, gbs_io_error *error);

void gbs_mtx_free(gbs_mtx *matrix); /* accepts an all-zero matrix; leaves it so */

/* Writer of the lower triangle of a symmetric matrix as "coordinate real symmetric", 17
 * significant digits, entry by entry, so that no matrix need lie in memory.  From gbs_mtx_create to
 * the end it stays on one thread, whose decimal point is '.' meanwhile. */
typedef struct gbs_mtx_writer gbs_mtx_writer;

/* Starts a file of dim rows and `count` entries, through gbs_output; standard output if path is
 * NULL.  comment: lines to put after the banner, "" or NULL for none; newlines split it.
 * Owns: *writer is ended by exactly one of gbs_mtx_finish and gbs_mtx_abandon; it keeps `path`, the
 * caller's, for messages.
 * Fails: WRITE, MEMORY; *writer is then NULL and nothing has been left behind. */
gbs_io_status gbs_mtx_create(const char *path, int64_t dim, int64_t count, const char *comment,
                             gbs_mtx_writer **writer, gbs_io_error *error);

/* Appends the entry at (row, column), from 0, row >= column, each place once (not checked).
 * Fails: WRITE; CONTENT for an entry out of range, above the diagonal, not finite or beyond the
 * `count` of the file (the caller's mistake).  What is left then is gbs_mtx_abandon. */
gbs_io_status gbs_mtx_add(gbs_mtx_writer *writer, int64_t row, int64_t column, double value,
                          gbs_io_error *error);

/* Makes the file appear under its name.
 * Fails: WRITE; CONTENT for fewer entries than `count`; the final name is then as it was.  Whatever
 * the result, the writer is gone. */
gbs_io_status gbs_mtx_finish(gbs_mtx_writer *writer, gbs_io_error *error);

void gbs_mtx_abandon(gbs_mtx_writer *writer); /* the final name is as it was; accepts NULL */

#endif
