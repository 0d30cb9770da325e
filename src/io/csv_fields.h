/* One line of delimited text cut into fields in place.  Private to src/io; csv.c and stan_csv.c
 * read their lines with it. */
#ifndef GBS_IO_CSV_FIELDS_H
#define GBS_IO_CSV_FIELDS_H

#include <stdint.h>

typedef struct gbs_field {
    char *text; /* without quotes and the blanks around it */
    int quoted;
} gbs_field;

typedef enum gbs_split {
    GBS_SPLIT_OK = 0,
    GBS_SPLIT_QUOTE, /* a quoted field is not closed, or something follows its closing quote */
    GBS_SPLIT_MEMORY
} gbs_split;

/* The fields of one line; kept from line to line for its memory.  All zero is an empty one. */
typedef struct gbs_fields {
    gbs_field *field; /* [count], room for `room` */
    int64_t count, room;
} gbs_fields;

/* The separator of a line: the first of tab, comma and semicolon that occurs outside quotes, or a
 * comma where none does. */
char gbs_csv_separator(const char *line);

/* Cuts the line.  On failure fields->count is the number of the field to blame, from 0. */
gbs_split gbs_csv_split(char *line, char separator, gbs_fields *fields);

/* Whether every field that is neither empty nor NA is quoted: those of the first line, which is
 * cut, and of the text behind it, which is not.  Lines that begin with # do not count. */
int gbs_csv_all_quoted(const gbs_fields *first, const char *rest, char separator);

#endif
