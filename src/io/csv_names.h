/* Names of the rows and columns of a table.  Private to src/io; csv.c reads them. */
#ifndef GBS_IO_CSV_NAMES_H
#define GBS_IO_CSV_NAMES_H

#include "io/error.h"

#include <stdint.h>

/* A name as it stands in the text, which outlives it. */
typedef struct gbs_csv_name {
    char *text;
    int64_t line;
} gbs_csv_name;

/* All zero is an empty list; its end is free(name). */
typedef struct gbs_csv_names {
    gbs_csv_name *name; /* [count], room for `room` */
    int64_t count, room;
} gbs_csv_names;

/* Returns 0 if memory is short, else 1. */
int gbs_csv_names_add(gbs_csv_names *list, char *text, int64_t line);

/* Whether the names only count, from 0 or from 1, as programs write them for want of others. */
int gbs_csv_names_count(const gbs_csv_names *list);

/* Each fails with CONTENT, by the first name that is not UTF-8 text, is there twice, or is
 * another for the row than for the column; check_distinct with MEMORY too. */
gbs_io_status gbs_csv_names_check_text(const gbs_csv_names *list, const char *path,
                                       gbs_io_error *error);
gbs_io_status gbs_csv_names_check_distinct(const gbs_csv_names *list, const char *path,
                                           gbs_io_error *error);
gbs_io_status gbs_csv_names_check_agreement(const gbs_csv_names *row, const gbs_csv_names *column,
                                            const char *path, gbs_io_error *error);

#endif
