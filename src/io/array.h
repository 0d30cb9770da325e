/* A dense array read from a file, whatever the file's format: what the program's options for a
 * matrix, a location, a start or given noise take. */
#ifndef GBS_IO_ARRAY_H
#define GBS_IO_ARRAY_H

#include "gibbsite/gibbsite.h"
#include "io/error.h"

#include <stdint.h>

#define GBS_ARRAY_AXES 3

typedef struct gbs_array {
    gbs_type type;                 /* F32 where the file holds float or half, else F64 */
    int axes;                      /* 1, 2 or 3 */
    int64_t shape[GBS_ARRAY_AXES]; /* every length >= 1; 1 for the axes that are not there */
    int64_t count;                 /* their product */
    void *data;                    /* [shape], row-major, of `type`, in the machine's byte order */
    int64_t duplicates; /* Matrix Market: entries that were summed into another; else 0 */
} gbs_array;

/* Reads .npy or Matrix Market, recognised by the first bytes, not by the name.  A Matrix
 * Market file gives a two-axis F64 array.
 * Owns: *out is the caller's, ended by gbs_array_free.
 * Fails: FILE, CONTENT, MEMORY; *out is then all zero. */
gbs_io_status gbs_array_read(const char *path, gbs_array *out, gbs_io_error *error);

void gbs_array_free(gbs_array *array); /* accepts an all-zero array; leaves it so */

#endif
