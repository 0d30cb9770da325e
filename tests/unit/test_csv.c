/* CSV files: tables with and without names as R, pandas and NumPy write them give exactly their
 * numbers and names; what is not a table is refused with its line and field. */
#define _POSIX_C_SOURCE 200809L

#include "io/array.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "unit/io_scratch.h"

static gbs_io_status read_and_free(const char *path, gbs_io_error *error)
{
    gbs_array array;
    gbs_io_status status = gbs_array_read(path, &array, error);
    gbs_array_free(&array);
    return status;
}

typedef struct table {
    const char *what, *text;
    int axes;
    int64_t rows, columns;
    double value[9];
    const char *names; /* joined by '|'; NULL for none */
} table;

static void assert_names(const char *what, const gbs_array *array, const char *expected)
{
    char got[256] = "";
    if (!array->name != !expected)
        fail_msg("%s: expected names %s, got %s", what, expected ? expected : "none",
                 array->name ? "some" : "none");
    for (int64_t i = 0; expected && i < array->shape[array->axes - 1]; i++) {
        const size_t used = strlen(got);
        snprintf(got + used, sizeof got - used, "%s%s", i ? "|" : "", array->name[i]);
    }
    if (expected && strcmp(got, expected) != 0)
        fail_msg("%s: expected the names %s, got %s", what, expected, got);
}

static void assert_table(const table *t)
{
    gbs_array array;
    gbs_io_error error;
    assert_accepted(t->what, gbs_array_read(scratch_text("t.csv", t->text), &array, &error),
                    &error);
    assert_count(t->what, array.type, GBS_F64);
    assert_count(t->what, array.axes, t->axes);
    assert_count(t->what, array.shape[0], t->rows);
    assert_count(t->what, array.shape[1], t->columns);
    for (int64_t i = 0; i < array.count; i++) { /* any NaN for NaN */
        if (!isnan(t->value[i]) || !isnan(((double *)array.data)[i]))
            assert_doubles(t->what, (double *)array.data + i, &t->value[i], 1);
    }
    assert_names(t->what, &array, t->names);
    gbs_array_free(&array);
}

#define SQUARE                                                                                     \
    2, 2, 2,                                                                                       \
    {                                                                                              \
        2, -1, -1, 3                                                                               \
    }
#define VECTOR                                                                                     \
    1, 3, 1,                                                                                       \
    {                                                                                              \
        0.5, 1, -2                                                                                 \
    }

static void test_layouts(void **state)
{
    (void)state;
    static const table tables[] = {
        {"numbers alone", "2,-1\n-1,3\n", SQUARE, NULL},
        {"no last newline", "2,-1\n-1,3", SQUARE, NULL},
        {"CRLF and blanks", "\r\n 2 , -1\r\n\r\n-1,3 \r\n", SQUARE, NULL},
        {"semicolons", "2;-1\n-1;3\n", SQUARE, NULL},
        {"tabs", "a\tb\n2\t-1\n-1\t3\n", SQUARE, "a|b"},
        {"savetxt with header", "# a,b\n2.000e+00,-1\n-1,3e0\n", SQUARE, NULL},
        {"byte order mark",
         "\xef\xbb\xbf"
         "a,b\n2,-1\n-1,3\n",
         SQUARE, "a|b"},
        {"header", "a,b\n2,-1\n-1,3\n", SQUARE, "a|b"},
        {"R, write.csv", "\"\",\"a\",\"b\"\n\"a\",2,-1\n\"b\",-1,3\n", SQUARE, "a|b"},
        {"R, write.table(sep = \",\")", "\"a\",\"b\"\n\"a\",2,-1\n\"b\",-1,3\n", SQUARE, "a|b"},
        {"R, no names", "\"\",\"V1\",\"V2\"\n\"1\",2,-1\n\"2\",-1,3\n", SQUARE, NULL},
        {"R, columns named", "\"\",\"a\",\"b\"\n\"1\",2,-1\n\"2\",-1,3\n", SQUARE, "a|b"},
        {"R, rows named", "\"\",\"V1\",\"V2\"\n\"a\",2,-1\n\"b\",-1,3\n", SQUARE, "a|b"},
        {"pandas", ",a,b\na,2,-1\nb,-1,3\n", SQUARE, "a|b"},
        {"pandas, no names", ",0,1\n0,2,-1\n1,-1,3\n", SQUARE, NULL},
        {"pandas, named corner", "id,a,b\na,2,-1\nb,-1,3\n", SQUARE, "a|b"},
        {"rows named, no header", "a,2,-1\nb,-1,3\n", SQUARE, "a|b"},
        {"quotes in names", "\"a \"\"x\"\"\",\"b,c\"\n2,-1\n-1,3\n", SQUARE, "a \"x\"|b,c"},
        {"UTF-8", "\xc3\xa9,\xf0\x9f\x8e\xb2\n2,-1\n-1,3\n", SQUARE, "\xc3\xa9|\xf0\x9f\x8e\xb2"},
        {"a name like a number", "1a,1d5x\n2,-1\n-1,3\n", SQUARE, "1a|1d5x"},
        {"years, quoted", "\"1990\",\"rest\"\n2,-1\n-1,3\n", SQUARE, "1990|rest"},
        {"a name that is missing's word", "NA,b\n2,-1\n-1,3\n", SQUARE, "NA|b"},
        {"one column", "0.5\n1\n-2\n", VECTOR, NULL},
        {"one column, header", "mu\n0.5\n1\n-2\n", VECTOR, NULL},
        {"one column, names", "a,0.5\nb,1\nc,-2\n", VECTOR, "a|b|c"},
        {"one column, both", ",mu\na,0.5\nb,1\nc,-2\n", VECTOR, "a|b|c"},
        {"one row, header", "a,b,c\n0.5,1,-2\n", 2, 1, 3, {0.5, 1, -2}, "a|b|c"},
        {"more rows than columns", "a,b\n1,2\n3,4\n5,6\n", 2, 3, 2, {1, 2, 3, 4, 5, 6}, "a|b"},
        {"missing values", "NA,,3\nnan,5,inf\n", 2, 2, 3, {NAN, NAN, 3, NAN, 5, INFINITY}, NULL},
        {"one number", "7", 1, 1, 1, {7}, NULL},
        {"a missing number first", ",0.5,1\n", 2, 1, 3, {NAN, 0.5, 1}, NULL},
        {"a missing number first, counts",
         "\xef\xbb\xbf,0,1\n\n# end\n",
         2,
         1,
         3,
         {NAN, 0, 1},
         NULL},
        {"a missing number first, quoted", "\"\",0.5,1\n", 2, 1, 3, {NAN, 0.5, 1}, NULL},
        {"pandas, a vector", "\"\"\n0.0\n1.0\n", 1, 3, 1, {NAN, 0, 1}, NULL},
        {"pandas, a vector with header", "mu\n\"\"\n0.0\n1.0\n", 1, 3, 1, {NAN, 0, 1}, NULL},
        {"pandas, a series", ",0\n0,\n1,0.0\n2,1.0\n", 1, 3, 1, {NAN, 0, 1}, NULL},
        {"pandas, a series with names", ",0\na,0.5\nb,1\nc,-2\n", VECTOR, "a|b|c"},
        {"pandas, a row", ",0,1\n0,2,-1\n", 2, 1, 2, {2, -1}, NULL},
        {"pandas, counts from 1", ",1,2\n1,2,-1\n2,-1,3\n", SQUARE, NULL},
        {"pandas, rows named only", ",0,1\na,2,-1\nb,-1,3\n", SQUARE, "a|b"},
        {"pandas, QUOTE_NONNUMERIC",
         "\"\",0,1\n0,2,\"\"\n1,-1,3\n",
         2,
         2,
         2,
         {2, NAN, -1, 3},
         NULL},
        {"missing, quoted", "2,\"\"\n\"\",3\n", 2, 2, 2, {2, NAN, NAN, 3}, NULL},
        {"missing, quoted, first under a header",
         "a,b\n\"\",-1\n-1.0,3\n",
         2,
         2,
         2,
         {NAN, -1, -1, 3},
         "a|b"},
        {"all quoted", "\"2\",\"-1\"\r\n\"-1\",\"3\"\r\n", SQUARE, NULL},
        {"all quoted, header", "\"a\";\"b\"\n# \"c\n\n\"2\";\"-1\"\n\"-1\";\"3\"", SQUARE, "a|b"},
        {"all quoted, names", "\"\",\"a\",\"b\"\n\"a\",\"2\",\"-1\"\n\"b\",\"-1\",\"3\"\n", SQUARE,
         "a|b"},
        {"all quoted, counts", "\"\",\"0\",\"1\"\n\"0\",\"2\",\"-1\"\n\"1\",\"-1\",\"3\"\n", SQUARE,
         NULL},
        {"all quoted, one column", "\"0.5\"\n\"1\"\n\"-2\"\n", VECTOR, NULL},
        {"all quoted but NA", "NA,\"-1\"\n\"-1\",NA\n", 2, 2, 2, {NAN, -1, -1, NAN}, NULL},
        {"R, a frame with numbers for names",
         "\"id\",\"1990\",\"1991\"\n\"1990\",2,-1\n\"1991\",-1,3\n", SQUARE, "1990|1991"},
        {"all quoted, one row", "\"\",\"0\",\"1\"", 2, 1, 3, {NAN, 0, 1}, NULL},
        {"quotes on the first line alone", "\"1990\",\"1d5\"\n2,-1\n-1,3\n", SQUARE, "1990|1d5"},
        {"rows' names like numbers", "\"1990\",0.5\n\"1d5\",1\n\"1992\",-2\n", VECTOR,
         "1990|1d5|1992"},
        {"a row's name like a number", "\"\",\"V1\",\"V2\"\n\"1990\",2,-1\n\"1991\",-1,3\n", SQUARE,
         "1990|1991"},
        {"a name that begins as a number", "\"1o\",0.5,1\n", 2, 1, 2, {0.5, 1}, NULL},
        {"one column, a name that begins as a number", "\"2nd\"\n0.5\n1\n-2\n", VECTOR, NULL},
        {"more names than numbers", "a,b\nNA,0.5,1\n", 2, 1, 2, {0.5, 1}, "a|b"},
    };
    const size_t count = sizeof tables / sizeof tables[0];
    for (size_t i = 0; i < count; i++)
        assert_table(&tables[i]);
    print_message("%zu layouts give their numbers and names\n", count);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
        int64_t line;
    } cases[] = {
        {"2,-1\n-1\n", "1 field, but the rows above have 2", 2},
        {",-1,0\n-1,2,-1\n0,-1,2\n",
         "field 1 is empty, so that row 1, column 1 would be NaN; above", 1},
        {"# Q\n\"\",-1,0\n-1.0,2,-1\n0.0,-1,2\n", "field 1 is empty, so that row 1, column 1", 2},
        {",1990,1991\n1990,2,-1\n1991,-1,2\n", "names of rows, a name that looks like a number", 1},
        {"\"\",\"-1\"\n\"-1\",\"2\"\n", "field 1 is empty, so that row 1, column 1", 1},
        {",0\n0,2\n", "field 1 is empty, so that row 1, column 1", 1},
        {",2,-1\n,-1,2\n", "field 1 is empty, so that row 1, column 1", 1},
        {"\"\",\"2\",\"-1\"\n\"\",\"-1\",\"2\"\n", "field 1 is empty, so that row 1, column 1", 1},
        {"a,2,-1\n,-1,2\n", "a name is empty", 2},
        {",-1,0\nx,2,-1\n0,-1,2\n", "field 1 is empty, so that row 1, column 1", 1},
        {",-1\n-1o,2\n", "field 1: \"-1o\" is not a number; a name that begins as one", 2},
        {",,\n,2,-1\n0,-1,2\n", "field 1 is empty, so that row 1, column 1", 1},
        {",-1,0\n-1,2\n", "2 fields, but the header has 3", 2},
        {",1e999\n\n", "field 2: \"1e999\" is beyond the range of a double", 1},
        {"2o,-1\n-1,2\n", "field 1: \"2o\" is not a number, but field 1 of line 2 is; a name", 1},
        {"0x2,0\n0,1\n", "field 1: \"0x2\" is not a number, but field 1 of line 2 is", 1},
        {"1o,5\n2,6\n3,7\n", "field 1: \"1o\" is not a number, but field 1 of line 2 is", 1},
        {"a,b\n\nO.1,5\nx,6\n3,7\n", "field 1: \"O.1\" is not a number, but field 1 of line 5", 3},
        {"2 -1,0\n-1 2,0\n", "field 1: \"2 -1\" is neither a number nor a name", 1},
        {"1o,5,6\n", "field 1: \"1o\" is not a number; a name that begins as one needs quotes", 1},
        {"a,b,c\n-.5x,5,6\n", "field 1: \"-.5x\" is not a number; a name that begins as one", 2},
        {"1o\n2\n3\n", "field 1: \"1o\" is not a number; a name that begins as one", 1},
        {"\"0,5\"\n1\n2\n",
         "field 1: \"0,5\" is not a number; a name that begins as one needs "
         "quotes; decimal commas are not read",
         1},
        {"\"2,5\",-1\n-1,2\n",
         "but field 1 of line 2 is; a name that looks like a number needs "
         "quotes, and the numbers none; decimal commas are not read",
         1},
        {"id,0,1\n0,2,-1\n1,-1,3\n", "field 1: \"id\" is not a number, but field 1 of line 2", 1},
        {"\"2\",-1\n-1,2\n", "field 1: \"2\" is not a number without quotes, but field 1 of", 1},
        {"2,\"-1\"\n-1,2\n", "field 2: \"-1\" is not a number without quotes, but field 1 is", 1},
        {"\"2\",\"-1\"\n\"-1\",2\n", "field 1: \"-1\" is quoted as the header's numbers are", 2},
        {"\"2\",\"-1\"\n-1,\"2\"\n", "field 2: \"2\" is quoted as the header's numbers are", 2},
        {"\"2\",\"-l\"\n\"-1\",\"2\"\n", "field 2: \"-l\" is not a number, but field 1 is", 1},
        {"\"2\"\n\"3\"\n4\n", "field 1: \"3\" is quoted as the header's numbers are", 2},
        {"mu\n0,5\n1,5\n", "field 1: \"0\" would be the name of a row, for the header has one", 2},
        {"a,b\n1,2,3\n", "field 1: \"1\" would be the name of a row", 2},
        {"a,b\n2,-1,\n-1,2,\n", "field 3 is empty, and the header has no name for it", 2},
        {"a,b\nx,2,-1\n2,-1,2\n", "field 1: \"x\" is not a number, but field 1 of line 3 is", 2},
        {"#N/A,-1\n-1,2\n", "field 1: \"#N/A\" is not a number", 1},
        {"2\n #DIV/0!\n", "field 1: \"#DIV/0!\" is not a number", 2},
        {"a\nb\nc\n", "field 1: \"b\" is not a number", 2},
        {"2,-1\n\n-1,3,4\n", "3 fields, but the rows above have 2", 3},
        {"a,b,c\n1,2\n", "2 fields, but the header has 3", 2},
        {"a,b,c,d\n1,2\n", "2 fields, but the header has 4", 2},
        {"2,-1\n-1,x\n", "field 2: \"x\" is not a number", 2},
        {"2,-1\n-1,0x1p3\n", "field 2: \"0x1p3\" is not a number", 2},
        {"2;-1\n-1;3,5\n", "field 2: \"3,5\" is not a number; decimal commas are not read", 2},
        {"1,5;2,5\n3,5;4\n", "field 2: \"5;2\" is not a number, but field 1 is", 1},
        {"1,5;2,5\n", "; decimal commas are not read, the decimal point is a point", 1},
        {"a;b\n1,5;2,5\n", "field 2: \"2,5\" is not a number; decimal commas are not read", 2},
        {"0.5,O.3,1\n1,2,3\n", "field 2: \"O.3\" is not a number, but field 1 is; a name that", 1},
        {"id,1,2,x\n1,2,3,4\n", "field 4: \"x\" is not a number, but field 2 is", 1},
        {"a,2,c\n1,2,3\n", "field 3: \"c\" is not a number, but field 2 is", 1},
        {"", "is empty", 0},
        {"2,1e999\n", "field 2: \"1e999\" is beyond the range of a double", 1},
        {"a,b\n2,\"-1\n-1,3\n", "field 2: the quotes are not closed", 2},
        {"a,\"b\"c\n", "field 2: the quotes are not closed, or something follows them", 1},
        {"3 3\n1\n2\n", "field 1: \"3 3\" is neither a number nor a name", 1},
        {"a,b\n", "ends after line 1 without a row of numbers", 0},
        {"# nothing\n\n", "ends after line 2 without a row of numbers", 0},
        {",a,b\na,2,-1\nc,-1,3\n", "row 2 is named \"c\", but column 2 \"b\"", 3},
        {"a,a\n2,-1\n-1,3\n", "the name \"a\" is there twice", 0},
        {"a,\xe9\n2,-1\n-1,3\n", "is not UTF-8 text", 1},
        {"a,\xed\xa0\x80\n2,-1\n-1,3\n", "is not UTF-8 text", 1},
        {"a,\xc0\xaf\n2,-1\n-1,3\n", "is not UTF-8 text", 1},
        {"a,escape sequence \x1b[31m\n2,-1\n-1,3\n", "is not UTF-8 text", 1},
    };
    const size_t count = sizeof cases / sizeof cases[0];
    for (size_t i = 0; i < count; i++) {
        gbs_io_error error;
        const char *path = scratch_text("t.csv", cases[i].text);
        assert_refused(cases[i].text, read_and_free(path, &error), &error, GBS_IO_CONTENT,
                       cases[i].words);
        assert_count(cases[i].text, error.line, cases[i].line);
    }
    print_message("%zu damaged tables are refused, by line and field\n", count);
}

/* A table of the numbers 1, 2, ... but for one field. */
static void write_slip(char *text, int rows, int columns, int at, const char *slip, char separator,
                       const char *quote)
{
    for (int i = 0; i < rows * columns; i++) {
        const char end = (i + 1) % columns ? separator : '\n';
        text += i == at ? sprintf(text, "%s%c", slip, end)
                        : sprintf(text, "%s%d%s%c", quote, i + 1, quote, end);
    }
}

/* Reads all numbers, returning 1, or refuses: by line and field, or for want of a second line. */
static int reads_whole(const char *text, int64_t numbers)
{
    gbs_array array;
    gbs_io_error error = {0};
    const gbs_io_status status = gbs_array_read(scratch_text("t.csv", text), &array, &error);
    const char *line = strstr(error.message, ": line ");
    if (status == GBS_IO_OK)
        assert_count(text, array.count, numbers);
    else if (!(line && strstr(line, "field ")) && !strstr(error.message, "ends after line 1 "))
        fail_msg("%s: expected a line and a field, got %s", text, error.message);
    gbs_array_free(&array);
    return status == GBS_IO_OK;
}

/* One bad field anywhere makes no name of itself or its line: all numbers are read, or none. */
static void test_slips(void **state)
{
    (void)state;
    static const char *const slips[] = {"",     "NA",      "\"\"",   "2o",     "0x2", "#N/A",
                                        "1.2.", "\"2,5\"", "\"NA\"", "\"2o\"", "x",   "\"2\""};
    enum { SLIPS = sizeof slips / sizeof slips[0] };
    enum { NAMES = 8 }; /* those from here on, when first, may name a vector's row or column */
    static const int shape[][2] = {{3, 3}, {1, 3}, {3, 1}, {2, 2}};
    int read = 0, tried = 0;
    for (int run = 0; run < 4 * 9 * 6 * SLIPS; run++) {
        const int *size = shape[run % 4], at = run / 4 % 9, form = run / 36 % 6, k = run / 216;
        const int vector = size[0] == 1 || size[1] == 1;
        if (at >= size[0] * size[1] || (vector && at == 0 && k >= NAMES) ||
            (size[1] == 1 && !*slips[k])) /* a blank line */
            continue;
        char text[256];
        write_slip(text, size[0], size[1], at, slips[k], ",;\t"[form % 3], form < 3 ? "" : "\"");
        read += reads_whole(text, (int64_t)size[0] * size[1]);
        tried++;
    }
    assert_true(read > 0 && read < tried);
    print_message("of %d tables with one bad field %d are read whole, the others refused\n", tried,
                  read);
}

static void test_zero_byte(void **state)
{
    (void)state;
    static const char bytes[] = "1,2\n3,\0\n";
    gbs_io_error error;
    const char *path = scratch_file("t.csv", bytes, sizeof bytes - 1);
    assert_refused("zero byte", read_and_free(path, &error), &error, GBS_IO_CONTENT,
                   "not a text file");
    assert_count("byte", error.byte, 6);
    print_message("a zero byte is refused by its place\n");
}

/* Rows of constraints and chains, whose names are no sites' even where there are as many. */
static void test_rows_apart(void **state)
{
    (void)state;
    static const char *const texts[] = {"inc,2,-1\nsum,-1,3\n", ",a,b\ninc,2,-1\nsum,-1,3\n"};
    gbs_array array;
    gbs_io_error error;
    for (int k = 0; k < 2; ++k) {
        const char *const path = scratch_text("t.csv", texts[k]);
        assert_accepted(texts[k], gbs_array_read_rows(path, &array, &error), &error);
        assert_int_equal(array.shape[0], 2);
        assert_int_equal(array.shape[1], 2);
        if (k == 0)
            assert_null(array.name);
        else
            assert_string_equal(array.name[1], "b");
        gbs_array_free(&array);
    }
    assert_refused("rows that are sites", read_and_free(scratch_text("t.csv", texts[1]), &error),
                   &error, GBS_IO_CONTENT, "row 1 is named \"inc\", but column 1 \"a\"");
    print_message("names of rows apart are passed over\n");
}

static void test_damage(void **state)
{
    (void)state;
    static const char text[] = "\"\",\"a\",\"b\"\n\"a\",2,-1e0\n\"b\",-1,3\n";
    damage_every_byte("CSV", text, sizeof text - 1, read_and_free);
}

/* A table of 300 x 300, with names: rows come back in place, and the memory grows with them. */
static void test_large(void **state)
{
    (void)state;
    enum { SIDE = 300 };
    char *text = malloc((size_t)SIDE * SIDE * 8 + SIDE * 16), *at = text;
    assert_non_null(text);
    for (int i = 0; i < SIDE; i++)
        at += sprintf(at, ",s%d", i);
    for (int i = 0; i < SIDE; i++) {
        at += sprintf(at, "\ns%d", i);
        for (int j = 0; j < SIDE; j++)
            at += sprintf(at, ",%d", i * SIDE + j);
    }
    gbs_array array;
    gbs_io_error error;
    assert_accepted("large", gbs_array_read(scratch_text("t.csv", text), &array, &error), &error);
    assert_count("count", array.count, (int64_t)SIDE * SIDE);
    for (int64_t i = 0; i < array.count; i++)
        assert_count("element", (int64_t)((double *)array.data)[i], i);
    assert_string_equal(array.name[SIDE - 1], "s299");
    gbs_array_free(&array);
    free(text);
    print_message("%d x %d numbers and their names are where they were\n", SIDE, SIDE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),   cmocka_unit_test(test_rows_apart),
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_slips),
        cmocka_unit_test(test_zero_byte), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
