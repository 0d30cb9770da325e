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

void gbs_mtx_free(gbs_mtx *matrix); /* accepts an all-zero matrix; leaves it so */

/* Writes the lower triangle of a symmetric matrix as "coordinate real symmetric", 17
 * significant digits, in the order given, through gbs_output; to standard output if path is NULL.
 * Shape: row, column, value [count], from 0, row >= column, all finite, each place once (not
 * checked).  comment: lines to put after the banner, "" or NULL for none; newlines split it.
 * Fails: WRITE, MEMORY; CONTENT for an entry out of range, above the diagonal or not finite
 * (the caller's mistake); the final name is then as it was. */
gbs_io_status gbs_mtx_write_symmetric(const char *path, int64_t dim, int64_t count,
                                      const int64_t *row, const int64_t *column,
                                      const double *value, const char *comment,
                                      gbs_io_error *error);

#endif
