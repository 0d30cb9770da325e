/* Names of the rows and columns of a table, as they stand in its text. */
#define _POSIX_C_SOURCE 200809L

#include "io/csv_names.h"

#include "io/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How much of a damaged name a message quotes. */
#define QUOTED "\"%.40s\""

int gbs_csv_names_add(gbs_csv_names *list, char *text, int64_t line)
{
    if (list->count == list->room) {
        const int64_t room = list->room ? 2 * list->room : 64;
        gbs_csv_name *larger = realloc(list->name, (size_t)room * sizeof *larger);
        if (!larger)
            return 0;
        list->name = larger;
        list->room = room;
    }
    list->name[list->count++] = (gbs_csv_name){text, line};
    return 1;
}

int gbs_csv_names_count(const gbs_csv_names *list)
{
    for (int base = 0; base < 2; base++) {
        int64_t i = 0;
        for (; i < list->count; i++) {
            const char *text = list->name[i].text;
            int64_t number = -1;
            gbs_text_int64(text + (*text == 'V'), &number);
            if (number != base + i)
                break;
        }
        if (i == list->count)
            return 1;
    }
    return 0;
}

/* Length of the UTF-8 sequence at `text` (RFC 3629), 0 if it is none or a control character. */
static int sequence_length(const char *text)
{
    const unsigned char *b = (const unsigned char *)text;
    if (b[0] < 0x80)
        return b[0] >= 0x20 && b[0] != 0x7f;
    const int more = b[0] >= 0xf0 ? 3 : b[0] >= 0xe0 ? 2 : 1;
    if (b[0] < 0xc2 || b[0] > 0xf4)
        return 0;
    for (int i = 1; i <= more; i++) {
        if ((b[i] & 0xc0) != 0x80)
            return 0;
    }
    const int shortest = b[0] == 0xe0 ? 0xa0 : b[0] == 0xf0 ? 0x90 : 0x80;
    const int longest = b[0] == 0xed ? 0x9f : b[0] == 0xf4 ? 0x8f : 0xbf;
    return b[1] >= shortest && b[1] <= longest ? more + 1 : 0;
}

gbs_io_status gbs_csv_names_check_text(const gbs_csv_names *list, const char *path,
                                       gbs_io_error *error)
{
    for (int64_t i = 0; i < list->count; i++) {
        const char *at = list->name[i].text;
        if (!*at)
            return gbs_io_fail_line(error, GBS_IO_CONTENT, path, list->name[i].line,
                                    "a name is empty");
        for (int length; *at; at += length) {
            length = sequence_length(at);
            if (!length)
                return gbs_io_fail_line(error, GBS_IO_CONTENT, path, list->name[i].line,
                                        "the name " QUOTED " is not UTF-8 text",
                                        list->name[i].text);
        }
    }
    return GBS_IO_OK;
}

static int compare_names(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;
    return strcmp(*a, *b);
}

gbs_io_status gbs_csv_names_check_distinct(const gbs_csv_names *list, const char *path,
                                           gbs_io_error *error)
{
    const char **sorted = malloc((size_t)list->count * sizeof *sorted);
    if (!sorted)
        return gbs_io_fail_memory(error, path, list->count, (int64_t)sizeof *sorted);
    for (int64_t i = 0; i < list->count; i++)
        sorted[i] = list->name[i].text;
    qsort(sorted, (size_t)list->count, sizeof *sorted, compare_names);
    gbs_io_status status = GBS_IO_OK;
    for (int64_t i = 1; !status && i < list->count; i++) {
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            status = gbs_io_fail(error, GBS_IO_CONTENT, path, "the name " QUOTED " is there twice",
                                 sorted[i]);
    }
    free(sorted);
    return status;
}

gbs_io_status gbs_csv_names_check_agreement(const gbs_csv_names *row, const gbs_csv_names *column,
                                            const char *path, gbs_io_error *error)
{
    for (int64_t i = 0; i < row->count; i++) {
        if (strcmp(row->name[i].text, column->name[i].text) != 0)
            return gbs_io_fail_line(error, GBS_IO_CONTENT, path, row->name[i].line,
                                    "row %" PRId64 " is named " QUOTED ", but column %" PRId64
                                    " " QUOTED,
                                    i + 1, row->name[i].text, i + 1, column->name[i].text);
    }
    return GBS_IO_OK;
}
