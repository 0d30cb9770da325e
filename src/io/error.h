/* How everything in src/io fails: a status, and a sentence that names the file, the line or
 * byte, and the number.  One type for all readers and writers, so that the program turns any
 * of them into one exit code. */
#ifndef GBS_IO_ERROR_H
#define GBS_IO_ERROR_H

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

/* Fills *error and returns `status`, so that callers write `return gbs_io_fail(...)`.  The
 * message becomes "PATH: TEXT", or "PATH: line LINE: TEXT" from gbs_io_fail_line and "PATH:
 * byte BYTE: TEXT" from gbs_io_fail_byte.  Control characters are replaced by '?', for the
 * text often quotes a damaged file.  error may be NULL. */
gbs_io_status gbs_io_fail(gbs_io_error *error, gbs_io_status status, const char *path,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));
gbs_io_status gbs_io_fail_line(gbs_io_error *error, gbs_io_status status, const char *path,
                               int64_t line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
gbs_io_status gbs_io_fail_byte(gbs_io_error *error, gbs_io_status status, const char *path,
                               int64_t byte, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* gbs_io_fail for a refused allocation of count * size bytes. */
gbs_io_status gbs_io_fail_memory(gbs_io_error *error, const char *path, int64_t count,
                                 int64_t size);

#endif
