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

void gbs_io_explain(gbs_io_error *error, gbs_io_status status, const char *path, int64_t line,
                    int64_t byte, const char *format, ...)
{
    if (!error)
        return;
    error->status = status;
    error->line = line;
    error->byte = byte;
    /* A path can fill the message; the number must still fit behind it. */
    const size_t capacity = sizeof error->message;
    int used = snprintf(error->message, capacity, "%.*s: ", (int)capacity / 2, path);
    if (line > 0)
        used +=
            snprintf(error->message + used, capacity - (size_t)used, "line %" PRId64 ": ", line);
    else if (byte >= 0)
        used +=
            snprintf(error->message + used, capacity - (size_t)used, "byte %" PRId64 ": ", byte);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message + used, capacity - (size_t)used, format, arguments);
    va_end(arguments);
    replace_control_characters(error->message);
}
