/* Tables of numbers in delimited text: what R's write.csv, pandas' to_csv and NumPy's savetxt with
 * a delimiter write.  Fields are separated by commas, semicolons or tabs, by the first line; a
 * field may be quoted ("" inside is one quote); empty fields and NA are NaN; blank lines and lines
 * that start with # are skipped.
 *
 * A first line that is not all numbers is a header.  A first column that is not numbers, or lies
 * under an empty field of the header, or that the header leaves out, holds the rows' names.  Names
 * that look like numbers need quotes, unless every field has them, or rows and columns only count
 * under and beside an empty first field.  Names that only count (0, 1, ...; 1, 2, ...; V1, V2, ...)
 * say nothing and are dropped. */
#ifndef GBS_IO_CSV_H
#define GBS_IO_CSV_H

#include "io/array.h"
#include "io/error.h"
#include "io/file.h"

/* Reads a table into an F64 array: one axis if it has one column, else two.
 * Names: of the columns, or of the rows where there is one column; a square table's rows and
 * columns have the same names, or one of them has none, unless input->rows_apart.
 * Owns: as gbs_array_read.
 * Fails: FILE; MEMORY; CONTENT, naming the line and the field: a word that is not a number, words
 * and numbers in one line or column of names, an empty first field that is no corner, lines of
 * different length, an open quote, no numbers at all, names that disagree, repeat, are empty
 * or are not UTF-8 text. */
gbs_io_status gbs_csv_read_input(gbs_input *input, gbs_array *out, gbs_io_error *error);

#endif
