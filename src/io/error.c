/* Statuses and messages of src/io. */
#include "io/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int gbs_io_exit_code(gbs_io_status status)
{
    static const int codes[] = {[GBS_IO_OK] = 0,
                                [GBS_IO_FILE] = 4,
                                [GBS_IO_CONTENT] = 3,
                                [GBS_IO_MEMORY] = 4,
                                [GBS_IO_WRITE] = 4};
    return codes[status];
}

/* Messages quote damaged files, and go to terminals: nothing but text may pass. */
static void replace_control_characters(char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
    }
}

static gbs_io_status fail(gbs_io_error *error, gbs_io_status status, const char *path, int64_t line,
                          int64_t byte, const char *format, va_list arguments)
{
    if (!error)
        return status;
    error->status = status;
    error->line = line;
    error->byte = byte;
    /* A path can fill the message; the number must still fit behind it. */
    const int path_shown = (int)sizeof error->message / 2;
    int used;
    if (line > 0)
        used = snprintf(error->message, sizeof error->message, "%.*s: line %" PRId64 ": ",
                        path_shown, path, line);
    else if (byte >= 0)
        used = snprintf(error->message, sizeof error->message, "%.*s: byte %" PRId64 ": ",
                        path_shown, path, byte);
    else
        used = snprintf(error->message, sizeof error->message, "%.*s: ", path_shown, path);
    if (used >= 0)
        vsnprintf(error->message + used, sizeof error->message - (size_t)used, format, arguments);
    replace_control_characters(error->message);
    return status;
}

gbs_io_status gbs_io_fail(gbs_io_error *error, gbs_io_status status, const char *path,
                          const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(error, status, path, 0, -1, format, arguments);
    va_end(arguments);
    return status;
}

gbs_io_status gbs_io_fail_line(gbs_io_error *error, gbs_io_status status, const char *path,
                               int64_t line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(error, status, path, line, -1, format, arguments);
    va_end(arguments);
    return status;
}

gbs_io_status gbs_io_fail_byte(gbs_io_error *error, gbs_io_status status, const char *path,
                               int64_t byte, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(error, status, path, 0, byte, format, arguments);
    va_end(arguments);
    return status;
}

gbs_io_status gbs_io_fail_memory(gbs_io_error *error, const char *path, int64_t count, int64_t size)
{
    return gbs_io_fail(error, GBS_IO_MEMORY, path,
                       "no memory for %" PRId64 " items of %" PRId64 " bytes", count, size);
}
