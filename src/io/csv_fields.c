/* Fields of delimited text, RFC 4180 but for quoted line breaks, which no table of numbers needs:
 * a quote that is never closed is then found on its own line, not at the end of the file. */
#include "io/csv_fields.h"

#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\v\f"

char gbs_csv_separator(const char *line)
{
    static const char ranks[] = "\t,;";
    const char *best = NULL;
    int inside = 0;
    for (; *line; line++) {
        inside ^= *line == '"';
        const char *rank = inside ? NULL : strchr(ranks, *line);
        if (rank && (!best || rank < best))
            best = rank;
    }
    return best ? *best : ',';
}

/* The next field, or NULL without memory for it. */
static gbs_field *add_field(gbs_fields *fields)
{
    if (fields->count == fields->room) {
        const int64_t room = fields->room ? 2 * fields->room : 64;
        gbs_field *larger = realloc(fields->field, (size_t)room * sizeof *larger);
        if (!larger)
            return NULL;
        fields->field = larger;
        fields->room = room;
    }
    return &fields->field[fields->count];
}

/* Takes the doubled quotes out of a quoted field; returns the byte behind its closing quote, or
 * NULL if there is none. */
static char *unquote(char *text)
{
    char *to = text;
    for (char *from = text; *from; from++) {
        if (*from == '"' && from[1] != '"') {
            *to = 0;
            return from + 1;
        }
        from += *from == '"';
        *to++ = *from;
    }
    return NULL;
}

/* Cuts one field that starts at `text`; returns where its separator or the line's end was, NULL on
 * a fault of its quotes. */
static char *cut_field(char *text, char separator, gbs_field *field)
{
    /* A tab that separates is no blank. */
    const char *blanks = separator == '\t' ? " \r\v\f" : BLANKS;
    text += strspn(text, blanks);
    field->quoted = *text == '"';
    field->text = text + field->quoted;
    char *end = field->quoted ? unquote(field->text) : text + strcspn(text, (char[]){separator, 0});
    if (!end)
        return NULL;
    if (field->quoted) {
        end += strspn(end, blanks);
        return *end == separator || !*end ? end : NULL;
    }
    char *last = end;
    while (last > text && strchr(blanks, last[-1]))
        last--;
    if (last < end)
        *last = 0;
    return end;
}

gbs_split gbs_csv_split(char *line, char separator, gbs_fields *fields)
{
    fields->count = 0;
    for (;;) {
        gbs_field *field = add_field(fields);
        if (!field)
            return GBS_SPLIT_MEMORY;
        char *end = cut_field(line, separator, field);
        if (!end)
            return GBS_SPLIT_QUOTE;
        fields->count++;
        if (!*end)
            return GBS_SPLIT_OK;
        *end = 0;
        line = end + 1;
    }
}

/* Whether a field without quotes that says NA ends behind it. */
static int is_na(const char *text, char separator)
{
    return text[0] == 'N' && text[1] == 'A' &&
           (text[2] == separator || strchr(BLANKS "\n", text[2]));
}

int gbs_csv_all_quoted(const gbs_fields *first, const char *rest, char separator)
{
    for (int64_t i = 0; i < first->count; i++) {
        const char *text = first->field[i].text;
        if (!first->field[i].quoted && *text && strcmp(text, "NA") != 0)
            return 0;
    }
    int inside = 0, line_begins = 1;
    for (; *rest; rest++) {
        if (*rest == '\n') {
            inside = 0; /* no field goes beyond its line */
            line_begins = 1;
        } else if (inside || *rest == '"') {
            inside ^= *rest == '"';
            line_begins = 0;
        } else if (line_begins && *rest == '#') {
            rest += strcspn(rest, "\n");
            rest -= !*rest;
        } else if (*rest == separator || is_na(rest, separator)) {
            rest += *rest != separator;
            line_begins = 0;
        } else if (!strchr(BLANKS, *rest)) {
            return 0;
        }
    }
    return 1;
}
