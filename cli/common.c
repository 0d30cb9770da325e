/* Messages, memory and exit codes of the program. */
#include "cli.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void print_line(const char *format, va_list arguments)
{
    fputs("gibbsite: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line(format, arguments);
    va_end(arguments);
}

exit_code complain(exit_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line(format, arguments);
    va_end(arguments);
    return code;
}

exit_code complain_status(const gbs_context *ctx, gbs_status status)
{
    const char *message = gbs_context_message(ctx);
    say("%s", *message ? message : gbs_status_text(status));
    switch (status) {
    case GBS_OK: return EXIT_FINE;
    case GBS_ERROR_MEMORY:
    case GBS_ERROR_UNAVAILABLE: return EXIT_FILE; /* a GPU that failed */
    case GBS_ERROR_ARGUMENT:
    case GBS_ERROR_LIMIT: return EXIT_USAGE;
    default: return EXIT_BAD_INPUT;
    }
}

void *take(int64_t count, size_t size, const char *what)
{
    void *memory = NULL;
    if (count >= 0 && (uint64_t)count <= SIZE_MAX / size)
        memory = calloc(count ? (size_t)count : 1, size);
    if (!memory)
        say("%s: no memory for %lld numbers of %zu bytes", what, (long long)count, size);
    return memory;
}

const char *shortest(double value, char *to)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(to, 32, "%.*g", digits, value);
        if (strtod(to, NULL) == value)
            break;
    }
    return to;
}

bool in_range(double value)
{
    return isfinite(value) && value > 0;
}

exit_code finish_stdout(exit_code code)
{
    if (fflush(stdout) || ferror(stdout)) {
        say("standard output could not be written");
        return code == EXIT_FINE ? EXIT_FILE : code;
    }
    return code;
}
