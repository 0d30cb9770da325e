/* Words and numbers of text formats.  Numbers are checked against their grammar first, for
 * strtod also takes hexadecimal, and reads "1,5" or "1.5" as the locale likes. */
#define _POSIX_C_SOURCE 200809L

#include "io/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\v\f"

char *gbs_text_line(char **cursor)
{
    char *line = *cursor;
    if (!*line)
        return NULL;
    char *end = strchr(line, '\n');
    if (end) {
        *end = 0;
        *cursor = end + 1;
    } else {
        *cursor = line + strlen(line);
    }
    return line;
}

char *gbs_text_word(char **cursor)
{
    char *word = *cursor + strspn(*cursor, BLANKS);
    if (!*word)
        return NULL;
    char *end = word + strcspn(word, BLANKS);
    *cursor = *end ? end + 1 : end;
    *end = 0;
    return word;
}

static int lower(int letter)
{
    return letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter;
}

int gbs_text_equal(const char *a, const char *b)
{
    while (*a && lower(*a) == lower(*b)) {
        a++;
        b++;
    }
    return lower(*a) == lower(*b);
}

static const char *skip_sign(const char *word)
{
    return word + (*word == '+' || *word == '-');
}

static const char *skip_digits(const char *word)
{
    return word + strspn(word, "0123456789");
}

static int is_integer(const char *word)
{
    const char *digits = skip_sign(word);
    const char *end = skip_digits(digits);
    return end > digits && !*end;
}

gbs_number gbs_text_int64(const char *word, int64_t *value)
{
    if (!is_integer(word))
        return GBS_NUMBER_NONE;
    errno = 0;
    long long parsed = strtoll(word, NULL, 10);
    if (errno == ERANGE || parsed > INT64_MAX || parsed < INT64_MIN)
        return GBS_NUMBER_RANGE;
    *value = parsed;
    return GBS_NUMBER_OK;
}

/* Checks [sign] digits [. digits] [e [sign] digits], at least one digit before the exponent;
 * *exponent is where its letter stands, or NULL. */
static int is_real(char *word, char **exponent)
{
    *exponent = NULL;
    const char *start = skip_sign(word);
    const char *end = skip_digits(start);
    int64_t digits = end - start;
    if (*end == '.') {
        start = end + 1;
        end = skip_digits(start);
        digits += end - start;
    }
    if (digits == 0)
        return 0;
    if (!*end)
        return 1;
    *exponent = word + (end - word);
    return strchr("eEdD", *end) && is_integer(end + 1);
}

static int is_special(const char *word)
{
    const char *name = skip_sign(word);
    return gbs_text_equal(name, "nan") || gbs_text_equal(name, "inf") ||
           gbs_text_equal(name, "infinity");
}

gbs_number gbs_text_double(char *word, int integer, double *value)
{
    char *exponent = NULL;
    int special = !integer && is_special(word);
    if (integer ? !is_integer(word) : !special && !is_real(word, &exponent))
        return GBS_NUMBER_NONE;
    if (exponent)
        *exponent = 'e';
    *value = strtod(word, NULL);
    /* Underflow rounds like everything else; only an overflow has no nearest double. */
    return isinf(*value) && !special ? GBS_NUMBER_RANGE : GBS_NUMBER_OK;
}

int gbs_locale_enter(gbs_locale *locale)
{
    locale->own = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!locale->own)
        return -1;
    locale->previous = uselocale(locale->own);
    return 0;
}

void gbs_locale_leave(gbs_locale *locale)
{
    uselocale(locale->previous);
    freelocale(locale->own);
}
