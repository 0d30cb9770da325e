/* How everything in src/io fails: a status, and a sentence that names the file, the line or
 * byte, and the number.  One type for all readers and writers, so that the program turns any
 * of them into one exit code. */
#ifndef GBS_IO_ERROR_H
#define GBS_IO_ERROR_H

#include "core/plural.h"

#include <stdint.h>

typedef enum gbs_io_status {
    GBS_IO_OK = 0,
    GBS_IO_FILE,    /* cannot be opened or read                 exit 4 */
    GBS_IO_CONTENT, /* was read, but what it says is wrong      exit 3 */
    GBS_IO_MEMORY,  /* memory could not be allocated            exit 4 */
    GBS_IO_WRITE    /* cannot be created, written or renamed    exit 4 */
} gbs_io_status;

typedef struct gbs_io_error {
    gbs_io_status status;
    int64_t line;       /* of a text file, from 1; 0 where no line is to blame */
    int64_t byte;       /* of a binary file, from 0; -1 where no byte is to blame */
    char message[1024]; /* "q.mtx: line 7: ...", no newline, always terminated */
} gbs_io_error;

/* The program's exit code for a status: 0, 3 or 4 as listed above. */
int gbs_io_exit_code(gbs_io_status status);

/* Fills *error and gives `status`, so that callers write `return gbs_io_fail(...)`.  The
 * message becomes "PATH: TEXT", or "PATH: line LINE: TEXT" from gbs_io_fail_line and "PATH:
 * byte BYTE: TEXT" from gbs_io_fail_byte.  Macros, so that the compiler and its analyser see
 * which status it is; status is evaluated twice. */
#define gbs_io_fail(error, status, path, ...)                                                      \
    (gbs_io_explain((error), (status), (path), 0, -1, __VA_ARGS__), (status))
#define gbs_io_fail_line(error, status, path, line, ...)                                           \
    (gbs_io_explain((error), (status), (path), (line), -1, __VA_ARGS__), (status))
#define gbs_io_fail_byte(error, status, path, byte, ...)                                           \
    (gbs_io_explain((error), (status), (path), 0, (byte), __VA_ARGS__), (status))

/* What they do with *error, which may be NULL.  Control characters are replaced by '?', for the
 * text often quotes a damaged file. */
void gbs_io_explain(gbs_io_error *error, gbs_io_status status, const char *path, int64_t line,
                    int64_t byte, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* The same for a refused allocation of count * size bytes. */
#define gbs_io_fail_memory(error, path, count, size)                                               \
    gbs_io_fail((error), GBS_IO_MEMORY, (path), "no memory for %lld items of %lld bytes",          \
                (long long)(count), (long long)(size))

#endif
