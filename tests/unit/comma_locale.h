/* A locale that writes 0,1 for a tenth. */
#ifndef TEST_COMMA_LOCALE_H
#define TEST_COMMA_LOCALE_H

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* Sets the first of some that is installed and gives its name, or skips the test; setlocale(LC_ALL,
 * "C") takes it back. */
static inline const char *set_comma_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",  "fr_FR.UTF-8",
                                        "ru_RU.UTF-8", "nl_NL.UTF-8", "da_DK.UTF-8"};
    size_t found = 0;
    while (found < 6 && !setlocale(LC_ALL, names[found]))
        found++;
    if (found == 6) {
        print_message("skipped: no locale with a decimal comma is installed\n");
        skip();
    }
    assert_string_equal(localeconv()->decimal_point, ",");
    return names[found % 6];
}

#endif
