/* NumPy's .npy files, versions 1.0 to 3.0 (numpy/lib/format.py is the description): a magic
 * string, a header that is a Python dict literal, then the bytes of the array. */
#ifndef GBS_IO_NPY_H
#define GBS_IO_NPY_H

#include "gibbsite/gibbsite.h"
#include "io/array.h"
#include "io/error.h"
#include "io/file.h"

#include <stddef.h>
#include <stdint.h>

#define GBS_NPY_MAGIC "\x93NUMPY"
#define GBS_NPY_MAGIC_BYTES 6

/* Element kinds that have an exact image in float or double. */
typedef enum gbs_npy_kind {
    GBS_NPY_FLOAT, /* 2, 4 or 8 bytes */
    GBS_NPY_INT,   /* 1, 2, 4 or 8 bytes; 8-byte values beyond 2^53 are refused */
    GBS_NPY_UINT,
    GBS_NPY_BOOL /* 1 byte, 0 or 1 */
} gbs_npy_kind;

typedef struct gbs_npy_header {
    gbs_npy_kind kind;
    int size;       /* bytes of one element */
    int big_endian; /* byte order of elements longer than a byte */
    int fortran_order;
    int axes;
    int64_t shape[GBS_ARRAY_AXES]; /* as in gbs_array */
    int64_t count;
    int64_t offset; /* byte at which the elements begin */
} gbs_npy_header;

/* Reads a whole .npy file into row-major order: '<f4' '>f4' and f2 become F32, '<f8' '>f8',
 * integers and bools become F64; all exactly.
 * Shape: 1 to 3 axes, none of length 0.
 * Owns: as gbs_array_read.
 * Fails: FILE; CONTENT (naming the dtype where it is the dtype, the index where it is an
 * integer beyond 2^53); MEMORY.  Nothing is allocated on the header's word: a regular file's
 * size is compared first, and a pipe's array grows with what arrives. */
gbs_io_status gbs_npy_read(const char *path, gbs_array *out, gbs_io_error *error);

/* The same from an input that is already open. */
gbs_io_status gbs_npy_read_input(gbs_input *input, gbs_array *out, gbs_io_error *error);

/* Reads and checks the header, and that the input is exactly as long as it says.
 * Fails: FILE, CONTENT. */
gbs_io_status gbs_npy_read_header(gbs_input *input, gbs_npy_header *out, gbs_io_error *error);

/* Turns `count` elements as they lie in the file into double, or float for F32: the type
 * gbs_npy_type gives.  `first` is the index of the first one in the file, for the message.
 * Fails: CONTENT (an integer beyond 2^53, a bool that is neither 0 nor 1). */
gbs_type gbs_npy_type(const gbs_npy_header *header);
gbs_io_status gbs_npy_convert(const gbs_npy_header *header, const unsigned char *from,
                              int64_t first, int64_t count, gbs_type type, void *to,
                              const char *path, gbs_io_error *error);

/* Writes the version 1.0 header of a row-major array in the machine's byte order.
 * Shape: `to` has room for GBS_NPY_HEADER_BYTES; returns how many were written, a multiple
 * of 64. */
#define GBS_NPY_HEADER_BYTES 192
size_t gbs_npy_write_header(unsigned char *to, gbs_type type, int axes, const int64_t *shape);

#endif
