/* A dense array read from a file, whatever the file's format: what the program's options for a
 * matrix, a location, a start or given noise take. */
#ifndef GBS_IO_ARRAY_H
#define GBS_IO_ARRAY_H

#include "gibbsite/gibbsite.h"
#include "io/error.h"
#include "io/file.h"

#include <stdint.h>

#define GBS_ARRAY_AXES 3

typedef struct gbs_array {
    gbs_type type;                 /* F32 where the file holds float or half, else F64 */
    int axes;                      /* 1, 2 or 3 */
    int64_t shape[GBS_ARRAY_AXES]; /* every length >= 1; 1 for the axes that are not there */
    int64_t count;                 /* their product */
    void *data;                    /* [shape], row-major, of `type`, in the machine's byte order */
    int64_t duplicates; /* Matrix Market: entries that were summed into another; else 0 */
    char **name;        /* CSV: names of what the last axis counts, [shape of it]; else NULL */
    char **row_name;    /* CSV by gbs_array_read_rows: [shape[0]] of a table's rows; else NULL */
} gbs_array;

/* Reads .npy, Matrix Market or CSV, recognised by the first bytes, not by the name.  A Matrix
 * Market file gives a two-axis F64 array, CSV what io/csv.h says.  A member of an .npz archive is
 * FILE.npz:MEMBER, or FILE.npz where there is one alone (io/npz.h).
 * Owns: *out is the caller's, ended by gbs_array_free.
 * Fails: FILE, CONTENT, MEMORY; *out is then all zero. */
gbs_io_status gbs_array_read(const char *path, gbs_array *out, gbs_io_error *error);

/* The same of a file whose rows are not what its columns are, as chains or constraints beside
 * sites: the names of a table's rows then are no names of its columns. */
gbs_io_status gbs_array_read_rows(const char *path, gbs_array *out, gbs_io_error *error);

/* The same from an input that is already open. */
gbs_io_status gbs_array_read_input(gbs_input *input, gbs_array *out, gbs_io_error *error);

void gbs_array_free(gbs_array *array); /* accepts an all-zero array; leaves it so */

#endif
