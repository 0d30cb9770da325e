/* Text for messages.  C with POSIX 2008, and C++.  Private. */
#ifndef GBS_CORE_MESSAGE_H
#define GBS_CORE_MESSAGE_H

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>

/* vsnprintf in the C locale: numbers have a decimal point wherever the caller lives, whose locale
 * stays what it is. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 0)))
#endif
static inline int
gbs_message_write(char *to, size_t bytes, const char *format, va_list arguments)
{
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const locale_t before = plain != (locale_t)0 ? uselocale(plain) : (locale_t)0;
    const int wrote = vsnprintf(to, bytes, format, arguments);
    if (plain != (locale_t)0) {
        (void)uselocale(before);
        freelocale(plain);
    }
    return wrote;
}

#endif
