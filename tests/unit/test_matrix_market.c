/* Matrix Market files: what is read gives exactly the matrix the file says, what is not read
 * is refused with its line; what is written is read back bit for bit. */
#define _POSIX_C_SOURCE 200809L

#include "io/array.h"
#include "io/matrix_market.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "unit/comma_locale.h"
#include "unit/io_scratch.h"
#include "unit/mtx_put.h"

static gbs_io_status read_and_free(const char *path, gbs_io_error *error)
{
    gbs_mtx matrix;
    gbs_io_status status = gbs_mtx_read(path, &matrix, error);
    gbs_mtx_free(&matrix);
    return status;
}

/* Reads a file and compares its dense form and its counts. */
static void assert_matrix(const char *what, const char *path, int64_t rows, int64_t columns,
                          int64_t count, int64_t duplicates, const double *expected)
{
    gbs_mtx matrix;
    gbs_io_error error;
    double *dense;
    assert_accepted(what, gbs_mtx_read(path, &matrix, &error), &error);
    assert_count("rows", matrix.rows, rows);
    assert_count("columns", matrix.columns, columns);
    assert_count("triplets", matrix.count, count);
    assert_count("duplicates", matrix.duplicates, duplicates);
    assert_accepted(what, gbs_mtx_densify(&matrix, path, &dense, &error), &error);
    assert_doubles(what, dense, expected, rows * columns);
    for (int64_t k = 1; k < matrix.count; k++) {
        int64_t last = matrix.row[k - 1] * columns + matrix.column[k - 1];
        assert_true(last < matrix.row[k] * columns + matrix.column[k]);
    }
    free(dense);
    gbs_mtx_free(&matrix);
}

static void assert_text(const char *what, const char *text, int64_t rows, int64_t columns,
                        int64_t count, int64_t duplicates, const double *expected)
{
    assert_matrix(what, scratch_text("t.mtx", text), rows, columns, count, duplicates, expected);
}

/* Case C77, as it stands, with CRLF, with comments everywhere, and without a last newline. */
static void test_spacing(void **state)
{
    (void)state;
    static const double expected[25] = {1, 0, 0, 6,     0, 0,      10.5,  0, 0, 0, 0, 0,  1.5e-2,
                                        0, 0, 0, 250.5, 0, -2.8e2, 33.32, 0, 0, 0, 0, 12.};
    static const char *const text =
        "%%MatrixMarket  MATRIX    Coordinate    Real General\n\n\n 5  5\t8\n\n   1 1   1.0\n2 2 "
        "10.5\n\n3 3 1.5e-2\n4 4 -2.8E2\n5 5 12.\n1 4 6\n4 2 250.5\n\t4 5 33.32  \n\n\n";
    char changed[1024];
    size_t used = 0;
    assert_text("C77", text, 5, 5, 8, 0, expected);
    for (const char *at = text; *at; at++) {
        if (*at == '\n')
            changed[used++] = '\r';
        changed[used++] = *at;
    }
    changed[used] = 0;
    assert_text("C77 with CRLF", changed, 5, 5, 8, 0, expected);
    used = 0;
    for (const char *at = text; *at; at++) {
        changed[used++] = *at;
        if (*at == '\n')
            used += (size_t)snprintf(changed + used, sizeof changed - used, "%% 9 9 9\n  %%\n");
    }
    assert_text("C77 with comments", changed, 5, 5, 8, 0, expected);
    assert_text("comment behind numbers, no last newline",
                "%%MatrixMarket matrix coordinate real general\n1 1 1 % size\n1 1 7.5% value", 1, 1,
                1, 0, (const double[]){7.5});
    print_message("C77: blank lines, CRLF, case, spacing and comments change nothing\n");
}

/* Case C79. */
static void test_pattern(void **state)
{
    (void)state;
    static const double expected[9] = {1, 1, 0, 1, 1, 0, 0, 0, 1};
    assert_text("C79",
                "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 4\n1 1\n2 1\n2 2\n3 3\n",
                3, 3, 5, 0, expected);
    print_message("C79: a pattern has the value 1\n");
}

/* Case C80. */
static void test_symmetric(void **state)
{
    (void)state;
    static const double expected[9] = {2, -1, 0, -1, 2, -1, 0, -1, 2};
#define COORDINATE "%%MatrixMarket matrix coordinate real symmetric\n"
    assert_text("lower half", COORDINATE "3 3 5\n1 1 2\n2 1 -1\n2 2 2\n3 2 -1\n3 3 2\n", 3, 3, 7, 0,
                expected);
    assert_text("array", "%%MatrixMarket matrix array real symmetric\n3 3\n2\n-1\n0\n2\n-1\n2\n", 3,
                3, 7, 0, expected);
    assert_text("one entry above", COORDINATE "3 3 5\n1 1 2\n1 2 -1\n2 2 2\n3 2 -1\n3 3 2\n", 3, 3,
                7, 0, expected);
    gbs_io_error error;
    gbs_io_status status = read_and_free(
        scratch_text("t.mtx", COORDINATE "3 3 5\n1 1 2\n2 1 -1\n2 2 2\n1 2 -1\n3 3 2\n"), &error);
    assert_refused("both halves", status, &error, GBS_IO_CONTENT, "both here, the first at line 4");
    assert_true(strstr(error.message, "(1, 2)") && strstr(error.message, "(2, 1)"));
    assert_count("line", error.line, 6);
    status = read_and_free(scratch_text("t.mtx", COORDINATE "2 2 4\n2 1 3\n1 1 1\n2 1 4\n1 2 7\n"),
                           &error);
    assert_refused("a duplicate and the other half", status, &error, GBS_IO_CONTENT, "both here");
    print_message("C80: symmetric storage, either half of a pair but not both\n");
#undef COORDINATE
}

/* Case C82, and integers beyond 64 bits: rounded to nearest, ties to even. */
static void test_integer(void **state)
{
    (void)state;
    static const double expected[4] = {4, -1, -1, 9007199254740992.0};
    assert_text("C82",
                "%%MatrixMarket matrix coordinate integer symmetric\n2 2 3\n1 1 4\n2 1 -1\n2 2 "
                "9007199254740993\n",
                2, 2, 4, 0, expected);
    assert_text("beyond 64 bits",
                "%%MatrixMarket matrix array integer general\n2 1\n18446744073709551616\n-"
                "36893488147419103232\n",
                2, 1, 2, 0, (const double[]){0x1p64, -0x1p65});
    assert_text("SciPy's unsigned",
                "%%MatrixMarket matrix array unsigned-integer general\n1 1\n7\n", 1, 1, 1, 0,
                (const double[]){7});
    print_message("C82: integers of any length round to the nearest double\n");
}

static void test_duplicates(void **state)
{
    (void)state;
    assert_text("general",
                "%%MatrixMarket matrix coordinate real general\n2 3 5\n1 3 1e30\n2 1 4\n1 3 1\n1 3 "
                "-1e30\n2 1 0.5\n",
                2, 3, 2, 3, (const double[]){0, 0, (1e30 + 1) - 1e30, 4.5, 0, 0});
    assert_text("symmetric",
                "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n2 1 1\n2 1 2\n1 1 5\n", 2,
                2, 3, 1, (const double[]){5, 3, 3, 0});
    print_message("duplicates are summed in the file's order and counted\n");
}

/* Spellings of numbers; all exact but the last, whose double is the nearest. */
static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"1", 1},
                 {"+.5", 0.5},
                 {"-5.", -5},
                 {"1e3", 1000},
                 {"1E+03", 1000},
                 {"2.5d-1", 0.25},
                 {"2.5D0", 2.5},
                 {"4.9406564584124654e-324", DBL_TRUE_MIN},
                 {"1e-400", 0},
                 {"1.7976931348623157e308", DBL_MAX},
                 {"inf", INFINITY},
                 {"-Infinity", -INFINITY},
                 {"000000000000000000000000000000000000000000000000000000001", 1},
                 {"0.1000000000000000055511151231257827021181583404541015625", 0.1}};
    const size_t count = sizeof cases / sizeof cases[0];
    for (size_t i = 0; i < count; i++) {
        char text[256];
        snprintf(text, sizeof text, "%%%%MatrixMarket matrix array real general\n1 1\n%s\n",
                 cases[i].text);
        /* A zero is no triplet of an array file. */
        assert_text(cases[i].text, text, 1, 1, cases[i].value != 0, 0, &cases[i].value);
    }
    static const char *const refused[] = {"0x10", "1,5", "1e",     "e5", ".",     "--1", "1e5.0",
                                          "1_0",  "½",   "nan(1)", "in", "1e+-5", "+",   "1d+e2"};
    const size_t bad = sizeof refused / sizeof refused[0];
    gbs_io_error error;
    for (size_t i = 0; i < bad; i++) {
        char text[256];
        snprintf(text, sizeof text, "%%%%MatrixMarket matrix array real general\n1 1\n%s\n",
                 refused[i]);
        assert_refused(refused[i], read_and_free(scratch_text("t.mtx", text), &error), &error,
                       GBS_IO_CONTENT, "is not a number of the banner's field, real");
        assert_count("line", error.line, 3);
    }
    print_message("%zu spellings of numbers are read exactly, %zu are refused\n", count, bad);
}

static void test_refused(void **state)
{
    (void)state;
#define GENERAL "%%MatrixMarket matrix coordinate real general\n"
    static const struct {
        const char *text;
        int64_t line;
        const char *words;
    } cases[] = {
        {"", 1, "the banner"},
        {"3 3 1\n1 1 1\n", 1, "the banner"},
        {"\n" GENERAL, 1, "the banner"},
        {"%MatrixMarket matrix coordinate real general\n", 1, "the banner"},
        {"%%MatrixMarket matrix coordinate real\n", 1, "four words"},
        {"%%MatrixMarket matrix coordinate real general 1\n", 1, "four words"},
        {"%%MatrixMarket vector coordinate real general\n", 1, "object \"vector\" is not read"},
        {"%%MatrixMarket matrix list real general\n", 1, "format \"list\" is not read"},
        {"%%MatrixMarket matrix array pattern general\n", 1, "field of an array \"pattern\""},
        {"%%MatrixMarket matrix coordinate complex general\n", 1, "field \"complex\" is not read"},
        {"%%MatrixMarket matrix coordinate real hermitian\n", 1,
         "symmetry \"hermitian\" is not read"},
        {"%%MatrixMarket matrix array real skew-symmetric\n", 1,
         "symmetry \"skew-symmetric\" is not read"},
        {GENERAL, 0, "ends after line 1, before its size line"},
        {GENERAL "% 1 1 1\n", 0, "ends after line 2, before its size line"},
        {GENERAL "2 2\n1 1 1\n", 2, "the number of entries is missing"},
        {GENERAL "2\n", 2, "the number of columns is missing"},
        {GENERAL "2 2 1 1\n1 1 1\n", 2, "\"1\" follows the last number"},
        {GENERAL "0 2 0\n", 2, "the number of rows 0 is not within 1 ..."},
        {GENERAL "2 -2 0\n", 2, "the number of columns -2 is not within 1 ..."},
        {GENERAL "2 2 -1\n", 2, "the number of entries -1 is not within 0 ..."},
        {GENERAL "two 2 1\n", 2, "the number of rows \"two\" is not a whole number"},
        {GENERAL "2.0 2 1\n1 1 1\n", 2, "the number of rows \"2.0\" is not a whole number"},
        {GENERAL "99999999999999999999 2 1\n", 2, "rows 99999999999999999999 is not within"},
        {GENERAL "2 2 1000000000\n1 1 1\n", 2, "(at most 1)"},
        {GENERAL "2 2 9223372036854775807\n1 1 1\n", 2, "asks for more entries"},
        {"%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n", 2,
         "a symmetric matrix of 2 rows and 3 columns"},
        {"%%MatrixMarket matrix array real general\n4294967296 4294967296\n1\n", 2,
         "asks for more entries"},
        {"%%MatrixMarket matrix array real symmetric\n100000 100000\n1\n", 2,
         "asks for more entries"},
        {GENERAL "2 2 2\n1 1 1          \n", 0, "ends after line 3 with 1 of 2 entries"},
        {GENERAL "2 2 1\n1 1 1\n\n2 2 1\n", 5, "more entries than the size line's 1"},
        {GENERAL "2 2 0\n1 1 1\n", 3, "more entries than the size line's 0"},
        {GENERAL "2 2 1\n3 1 1\n", 3, "the row 3 is not within 1 ... 2"},
        {GENERAL "2 2 1\n0 1 1\n", 3, "the row 0 is not within 1 ... 2"},
        {GENERAL "2 2 1\n1 3 1\n", 3, "the column 3 is not within 1 ... 2"},
        {GENERAL "2 2 1\n1 -1 1\n", 3, "the column -1 is not within 1 ... 2"},
        {GENERAL "2 2 1\n1 1.5 1\n", 3, "the column \"1.5\" is not a whole number"},
        {GENERAL "2 2 1\n1 1      \n", 3, "the value is missing"},
        {GENERAL "2 2 1\n1          \n", 3, "the column is missing"},
        {GENERAL "2 2 1\n1 1 x\n", 3, "the value \"x\" is not a number"},
        {GENERAL "2 2 1\n1 1 1 1\n", 3, "\"1\" follows the last number"},
        {GENERAL "2 2 1\n1 1 1e309\n", 3, "the value \"1e309\" is beyond the range of a double"},
        {"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 1\n", 3, "follows the last"},
        {"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 1.0\n", 3,
         "\"1.0\" is not a number of the banner's field, integer"},
        {"%%MatrixMarket matrix array unsigned-integer general\n1 1\n-1\n", 3,
         "\"-1\" is not a number of the banner's field, unsigned integer"},
        {"%%MatrixMarket matrix array real general\n1 1\n1 2\n", 3, "\"2\" follows the last"},
        {GENERAL "2 2 1\n\x1b[31m 1 1\n", 3, "the row \"?[31m\" is not a whole number"},
    };
#undef GENERAL
    const size_t count = sizeof cases / sizeof cases[0];
    gbs_io_error error;
    for (size_t i = 0; i < count; i++) {
        assert_refused(cases[i].text, read_and_free(scratch_text("t.mtx", cases[i].text), &error),
                       &error, GBS_IO_CONTENT, cases[i].words);
        assert_count(cases[i].text, error.line, cases[i].line);
    }
    assert_refused("a zero byte",
                   read_and_free(scratch_file("t.mtx", "%%MatrixMarket\0matrix", 21), &error),
                   &error, GBS_IO_CONTENT, "byte 14: is zero");
    assert_refused("missing", read_and_free(scratch_path("none"), &error), &error, GBS_IO_FILE,
                   "cannot be opened");
    print_message("%zu wrong files are refused, each with its line\n", count + 1);
}

static const char *const small_symmetric =
    "%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 5\n1 1 2.5\n2 1 -1e-3\n2 2 2\n3 2 "
    "-1\n3 3 +12.75\n";
static const char *const small_array =
    "%%MatrixMarket matrix array integer general\n2 2\n10\n-1\n0\n99\n";

static void test_damage(void **state)
{
    (void)state;
    damage_every_byte("coordinate", small_symmetric, strlen(small_symmetric), read_and_free);
    damage_every_byte("array", small_array, strlen(small_array), read_and_free);
}

/* Numbers must not depend on the locale that the program or its libraries have set. */
static void test_locale(void **state)
{
    (void)state;
    const char *const name = set_comma_locale();
    const int64_t zero = 0;
    const double value = 0.1;
    gbs_io_error error;
    const char *path = scratch_path("l.mtx");
    assert_accepted("write", mtx_put(path, 1, 1, &zero, &zero, &value, "", &error), &error);
    assert_matrix(name, path, 1, 1, 1, 0, &value);
    assert_string_equal(localeconv()->decimal_point, ",");
    setlocale(LC_ALL, "C");
    print_message("%s: numbers are written and read with a point\n", name);
}

/* Doubles with every exponent and hard mantissas come back bit for bit. */
static void test_round_trip(void **state)
{
    (void)state;
    enum { DIM = 4092 };
    int64_t index[DIM];
    double value[DIM];
    uint64_t word = 88172645463325252u;
    for (int i = 0; i < DIM; i++) {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        index[i] = i;
        value[i] = ldexp((double)(word >> 11), i / 2 - 1075);
        value[i] = i % 2 ? -value[i] : value[i];
    }
    const char *path = scratch_path("r.mtx");
    gbs_io_error error;
    gbs_mtx matrix;
    assert_accepted("write", mtx_put(path, DIM, DIM, index, index, value, NULL, &error), &error);
    assert_accepted("read", gbs_mtx_read(path, &matrix, &error), &error);
    assert_count("triplets", matrix.count, DIM);
    assert_doubles("round trip", matrix.value, value, DIM);
    gbs_mtx_free(&matrix);
    print_message("%d doubles of all exponents are written and read back bit for bit\n", DIM);
}

static void test_written_text(void **state)
{
    (void)state;
    const int64_t row[] = {0, 1, 1}, column[] = {0, 0, 1};
    const double value[] = {2, -0.1, 1e100};
    const char *path = scratch_path("w.mtx");
    gbs_io_error error;
    size_t bytes;
    assert_accepted("write", mtx_put(path, 2, 3, row, column, value, "one\ntwo", &error), &error);
    char *text = scratch_read(path, &bytes);
    assert_string_equal(text, "%%MatrixMarket matrix coordinate real symmetric\n% one\n% two\n2 2 "
                              "3\n1 1 2\n2 1 -0.10000000000000001\n2 2 1e+100\n");
    free(text);
    const int64_t above[] = {0, 0, 1};
    assert_refused("above", mtx_put(path, 2, 3, above, row, value, NULL, &error), &error,
                   GBS_IO_CONTENT, "entry 1 at (0, 1) is not in the lower triangle");
    const double infinite[] = {2, INFINITY, 1};
    assert_refused("infinite", mtx_put(path, 2, 3, row, column, infinite, NULL, &error), &error,
                   GBS_IO_CONTENT, "entry 1 at (1, 0) is inf");
    gbs_mtx_writer *writer;
    assert_accepted("create", gbs_mtx_create(path, 2, 1, NULL, &writer, &error), &error);
    assert_accepted("add", gbs_mtx_add(writer, 0, 0, 2, &error), &error);
    assert_refused("one more", gbs_mtx_add(writer, 1, 1, 2, &error), &error, GBS_IO_CONTENT,
                   "an entry at (1, 1) follows the last of 1");
    gbs_mtx_abandon(writer);
    assert_accepted("create", gbs_mtx_create(path, 2, 1, NULL, &writer, &error), &error);
    assert_refused("one less", gbs_mtx_finish(writer, &error), &error, GBS_IO_CONTENT,
                   "0 of 1 entries were given");
    text = scratch_read(path, &bytes);
    assert_true(strstr(text, "% one") != NULL);
    free(text);
    print_message("the lower triangle is written with 17 digits; a refusal leaves the old file\n");
}

/* gbs_array_read tells the formats apart by their first bytes, whatever the name. */
static void test_array(void **state)
{
    (void)state;
    gbs_array array;
    gbs_io_error error;
    const char *path = scratch_text(
        "x.npy", "%%MatrixMarket matrix coordinate real general\n2 3 2\n2 3 4\n2 3 0.5\n");
    assert_accepted("mtx", gbs_array_read(path, &array, &error), &error);
    assert_count("axes", array.axes, 2);
    assert_count("columns", array.shape[1], 3);
    assert_count("duplicates", array.duplicates, 1);
    assert_doubles("mtx", array.data, (const double[]){0, 0, 0, 0, 0, 4.5}, 6);
    gbs_array_free(&array);
    path = scratch_text("x.npy", "1,2\n2,1\n");
    assert_accepted("csv", gbs_array_read(path, &array, &error), &error);
    assert_doubles("csv", array.data, (const double[]){1, 2, 2, 1}, 4);
    gbs_array_free(&array);
    path = scratch_text("x.mtx", "\x89HDF\r\n\x1a\n");
    assert_refused("HDF5", gbs_array_read(path, &array, &error), &error, GBS_IO_CONTENT,
                   "is none of .npy, .npz, Matrix Market and CSV (it starts with \"\x89HDF????\")");
    path = scratch_text("empty", "");
    assert_refused("empty", gbs_array_read(path, &array, &error), &error, GBS_IO_CONTENT,
                   "empty: is empty");
    path = scratch_text("huge.mtx",
                        "%%MatrixMarket matrix coordinate real general\n9223372036854775807 "
                        "9223372036854775807 1\n1 1 1\n");
    assert_refused("huge", gbs_array_read(path, &array, &error), &error, GBS_IO_CONTENT,
                   "announces 9223372036854775807 rows and 9223372036854775807 columns, but holds "
                   "only 1 entry");
    gbs_mtx matrix;
    double *dense;
    assert_accepted("huge", gbs_mtx_read(path, &matrix, &error), &error);
    assert_refused("huge", gbs_mtx_densify(&matrix, path, &dense, &error), &error, GBS_IO_MEMORY,
                   "no memory for a dense matrix");
    gbs_mtx_free(&matrix);
    print_message("formats are told apart by content; an impossible size is no crash\n");
}

/* The files of ../shared, where they are: entries after expansion as their README counts them. */
static void test_shared_files(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t rows, count; /* 0: must be refused */
    } cases[] = {
        {"suitesparse/494_bus.mtx", 494, 1666},
        {"suitesparse/1138_bus.mtx", 1138, 4054},
        {"suitesparse/bcsstk02.mtx", 66, 4356},
        {"suitesparse/bcsstm05.mtx", 153, 153},
        {"suitesparse/jagmesh7.mtx", 1138, 7450},
        {"suitesparse/LFAT5.mtx", 14, 46},
        {"mtx_edge/comments_cover.mtx", 7, 12},
        {"mtx_edge/comments_full.mtx", 3, 9},
        {"mtx_edge/comments_west0067.mtx", 67, 295},
        {"mtx_edge/cover.mtx", 7, 12},
        {"mtx_edge/full.mtx", 3, 9},
        {"mtx_edge/full_symmetric.mtx", 4, 16},
        {"mtx_edge/lp_afiro_structure.mtx", 27, 102},
        {"mtx_edge/matrix_bool.mtx", 7, 12},
        {"mtx_edge/matrix_int64.mtx", 7, 12},
        {"mtx_edge/matrix_uint64.mtx", 7, 12},
        {"mtx_edge/structure.mtx", 7, 12},
        {"mtx_edge/west0067.mtx", 67, 294},
        {"mtx_edge/west0067_jumbled.mtx", 67, 294},
        {"mtx_edge/mangled_int8.mtx", 7, 12},
        {"mtx_edge/full_noheader.mtx", 0, 0},
        {"mtx_edge/west0067_noheader.mtx", 0, 0},
        {"mtx_edge/mangled1.mtx", 0, 0},
        {"mtx_edge/mangled3.mtx", 0, 0},
        {"mtx_edge/mangled5.mtx", 0, 0},
        {"mtx_edge/mangled7.mtx", 0, 0},
        {"mtx_edge/mangled9.mtx", 0, 0},
        {"mtx_edge/mangled11.mtx", 0, 0},
        {"mtx_edge/mangled13.mtx", 0, 0},
        {"mtx_edge/mangled15.mtx", 0, 0},
        {"mtx_edge/mangled_format.mtx", 0, 0},
        {"mtx_edge/mangled_skew.mtx", 0, 0},
        {"mtx_edge/matrix_fp64.mtx", 0, 0},
        {"mtx_edge/skew_fp64.mtx", 0, 0},
    };
    const char *root = GBS_TEST_DATA "/../../shared/data";
    const size_t count = sizeof cases / sizeof cases[0];
    if (access(root, R_OK) != 0) {
        print_message("skipped: there is no %s\n", root);
        skip();
    }
    for (size_t i = 0; i < count; i++) {
        char path[1024];
        gbs_mtx matrix;
        gbs_io_error error;
        snprintf(path, sizeof path, "%s/%s", root, cases[i].name);
        gbs_io_status status = gbs_mtx_read(path, &matrix, &error);
        if (cases[i].rows == 0)
            assert_refused(path, status, &error, GBS_IO_CONTENT, "line ");
        else
            assert_accepted(path, status, &error);
        assert_count(path, matrix.rows, cases[i].rows);
        assert_count(path, matrix.count, cases[i].count);
        gbs_mtx_free(&matrix);
    }
    print_message("%zu files of ../shared are read or refused as they should be\n", count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spacing),      cmocka_unit_test(test_pattern),
        cmocka_unit_test(test_symmetric),    cmocka_unit_test(test_integer),
        cmocka_unit_test(test_duplicates),   cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_damage),
        cmocka_unit_test(test_locale),       cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_written_text), cmocka_unit_test(test_array),
        cmocka_unit_test(test_shared_files),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
