/* Names and sentences of the statuses, and the one way to fail with a message. */
#define _POSIX_C_SOURCE 200809L
#include "core/internal.h"
#include "core/message.h"

#define GBS_STRING(x) #x
#define GBS_STRING_OF(x) GBS_STRING(x)

const char *gbs_version(void)
{
    return GBS_STRING_OF(GBS_VERSION_MAJOR) "." GBS_STRING_OF(GBS_VERSION_MINOR) "." GBS_STRING_OF(
        GBS_VERSION_PATCH);
}

const char *gbs_status_name(gbs_status status)
{
    switch (status) {
#define GBS_X(name, value, text)                                                                   \
    case name: return #name;
        GBS_STATUS_LIST(GBS_X)
#undef GBS_X
    }
    return "unknown status";
}

const char *gbs_status_text(gbs_status status)
{
    switch (status) {
#define GBS_X(name, value, text)                                                                   \
    case name: return text;
        GBS_STATUS_LIST(GBS_X)
#undef GBS_X
    }
    return "unknown status";
}

gbs_status gbs_fail(gbs_context *ctx, gbs_status status, const char *format, ...)
{
    if (ctx != NULL) {
        va_list arguments;
        va_start(arguments, format);
        gbs_message_write(ctx->message, sizeof ctx->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

int gbs_message_part(char *to, size_t bytes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int wrote = gbs_message_write(to, bytes, format, arguments);
    va_end(arguments);
    return wrote;
}

gbs_status gbs_fail_memory(gbs_context *ctx, const char *what, int64_t count, size_t size)
{
    return gbs_fail(ctx, GBS_ERROR_MEMORY, "%s: no memory for %lld %s of %zu %s", what,
                    (long long)count, gbs_plural(count, "element", "elements"), size,
                    gbs_plural((int64_t)size, "byte", "bytes"));
}
