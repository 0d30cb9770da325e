/* Words and numbers of text formats, the same whatever the locale.  Private to src/io. */
#ifndef GBS_IO_TEXT_H
#define GBS_IO_TEXT_H

#ifndef _POSIX_C_SOURCE
#error "text.h needs _POSIX_C_SOURCE 200809L"
#endif

#include <locale.h>
#include <stdint.h>

/* Cuts the next line off *cursor in place (its '\n' becomes 0) and steps over it; NULL at the
 * end of the text. */
char *gbs_text_line(char **cursor);

/* Cuts the next word off *cursor in place; NULL at the end of the line.  Words are separated
 * by blanks, tabs and carriage returns. */
char *gbs_text_word(char **cursor);

/* 1 if the words are equal, ASCII letters without regard to case. */
int gbs_text_equal(const char *a, const char *b);

typedef enum gbs_number {
    GBS_NUMBER_OK = 0,
    GBS_NUMBER_NONE, /* the word is not a number of this kind */
    GBS_NUMBER_RANGE /* it is, but does not fit */
} gbs_number;

/* A whole word as [sign] digits. */
gbs_number gbs_text_int64(const char *word, int64_t *value);

/* A whole word as [sign] digits [. digits] [e [sign] digits], with d for e as Fortran writes
 * it, or nan, inf, infinity; rounded to nearest.  Changes the word's d to e.  With `integer`
 * only [sign] digits, of any length.  Call between gbs_locale_enter and gbs_locale_leave. */
gbs_number gbs_text_double(char *word, int integer, double *value);

/* Makes '.' the decimal point for this thread.  enter returns 0, or -1 if memory is short. */
typedef struct gbs_locale {
    locale_t own, previous;
} gbs_locale;
int gbs_locale_enter(gbs_locale *locale);
void gbs_locale_leave(gbs_locale *locale);

#endif
