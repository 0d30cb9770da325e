/* .npy files: every dtype, order and version that is read gives the numbers NumPy would give,
 * everything else is refused by name; headers are parsed strictly and never believed. */
#define _POSIX_C_SOURCE 200809L

#include "io/npy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "unit/io_scratch.h"

/* An .npy file made by hand: magic, version, header padded to 64 as NumPy pads it. */
static const char *make_npy(const char *name, int version, const char *header, const void *data,
                            size_t bytes)
{
    static unsigned char file[8192];
    size_t start = version == 1 ? 10 : 12, length = strlen(header) + 1;
    length = (start + length + 63) / 64 * 64 - start;
    assert_true(start + length + bytes <= sizeof file);
    memset(file, ' ', sizeof file);
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (unsigned char)version;
    file[7] = 0;
    for (size_t i = 8; i < start; i++)
        file[i] = (unsigned char)(length >> (8 * (i - 8)));
    memcpy(file + start, header, strlen(header));
    file[start + length - 1] = '\n';
    memcpy(file + start + length, data, bytes);
    return scratch_file(name, file, start + length + bytes);
}

static const char *make_dtype(const char *dtype, int count, const void *data, size_t bytes)
{
    char header[256];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }",
             dtype, count);
    return make_npy("a.npy", 1, header, data, bytes);
}

static gbs_io_status read_and_free(const char *path, gbs_io_error *error)
{
    gbs_array array;
    gbs_io_status status = gbs_npy_read(path, &array, error);
    gbs_array_free(&array);
    return status;
}

/* Reads one axis and compares with doubles, whatever the array's own type. */
static void assert_reads(const char *dtype, const char *path, gbs_type type, int64_t count,
                         const double *expected)
{
    gbs_array array;
    gbs_io_error error;
    assert_accepted(dtype, gbs_npy_read(path, &array, &error), &error);
    assert_count(dtype, array.count, count);
    assert_count(dtype, array.type, type);
    for (int64_t i = 0; i < count; i++) {
        double got = type == GBS_F32 ? (double)((const float *)array.data)[i]
                                     : ((const double *)array.data)[i];
        assert_doubles(dtype, &got, &expected[i], 1);
    }
    gbs_array_free(&array);
}

/* The same numbers in every dtype that can hold them, bytes written out by hand. */
static void test_dtypes(void **state)
{
    (void)state;
    const double expected[] = {1, -2};
    const double positive[] = {1, 200};
    static const struct {
        const char *dtype;
        gbs_type type;
        int is_signed;
        size_t bytes;
        unsigned char data[16];
    } cases[] = {
        {"<f8", GBS_F64, 1, 16, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0}},
        {">f8", GBS_F64, 1, 16, {0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0}},
        {"<f4", GBS_F32, 1, 8, {0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}},
        {">f4", GBS_F32, 1, 8, {0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0}},
        {"<f2", GBS_F32, 1, 4, {0, 0x3c, 0, 0xc0}},
        {">f2", GBS_F32, 1, 4, {0x3c, 0, 0xc0, 0}},
        {"<i8",
         GBS_F64,
         1,
         16,
         {1, 0, 0, 0, 0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
        {">i8",
         GBS_F64,
         1,
         16,
         {0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe}},
        {"<i4", GBS_F64, 1, 8, {1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff}},
        {">i4", GBS_F64, 1, 8, {0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe}},
        {"<i2", GBS_F64, 1, 4, {1, 0, 0xfe, 0xff}},
        {">i2", GBS_F64, 1, 4, {0, 1, 0xff, 0xfe}},
        {"|i1", GBS_F64, 1, 2, {1, 0xfe}},
        {"<u8", GBS_F64, 0, 16, {1, 0, 0, 0, 0, 0, 0, 0, 200, 0, 0, 0, 0, 0, 0, 0}},
        {">u8", GBS_F64, 0, 16, {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 200}},
        {"<u4", GBS_F64, 0, 8, {1, 0, 0, 0, 200, 0, 0, 0}},
        {">u4", GBS_F64, 0, 8, {0, 0, 0, 1, 0, 0, 0, 200}},
        {"<u2", GBS_F64, 0, 4, {1, 0, 200, 0}},
        {">u2", GBS_F64, 0, 4, {0, 1, 0, 200}},
        {"|u1", GBS_F64, 0, 2, {1, 200}},
    };
    const size_t count = sizeof cases / sizeof cases[0];
    for (size_t i = 0; i < count; i++)
        assert_reads(cases[i].dtype, make_dtype(cases[i].dtype, 2, cases[i].data, cases[i].bytes),
                     cases[i].type, 2, cases[i].is_signed ? expected : positive);
    const double truths[] = {1, 0};
    assert_reads("|b1", make_dtype("|b1", 2, "\1\0", 2), GBS_F64, 2, truths);
    print_message("%zu dtypes in both byte orders give the numbers their bytes mean\n", count + 1);
}

/* All 65,536 halves against the definition: sign * 2^(e-25) * (1024 + m), or 2^-24 m. */
static void test_every_half(void **state)
{
    (void)state;
    gbs_npy_header header = {.kind = GBS_NPY_FLOAT, .size = 2};
    for (uint32_t bits = 0; bits < 65536; bits++) {
        const unsigned char bytes[] = {(unsigned char)(bits & 0xff), (unsigned char)(bits >> 8)};
        int exponent = (int)(bits >> 10 & 31), mantissa = (int)(bits & 1023);
        double expected = exponent == 31 ? (mantissa ? NAN : INFINITY)
                          : exponent     ? ldexp(1024 + mantissa, exponent - 25)
                                         : ldexp(mantissa, -24);
        expected = bits & 0x8000 ? -expected : expected;
        float got;
        gbs_io_error error;
        assert_accepted("half", gbs_npy_convert(&header, bytes, 0, 1, GBS_F32, &got, "", &error),
                        &error);
        if (!(isnan(expected) ? isnan(got) : (double)got == expected))
            fail_msg("half %04x: expected %g, got %g, bound 0", bits, expected, (double)got);
    }
    print_message("65536 halves convert exactly\n");
}

static void test_refused_dtypes(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"<c16", "<c8", "|O",    "<f16", "<U4", "|S3", "<M8[ns]",
                                         "|V8",  "<f3", "|f8",   "<i3",  "f8",  "",    "<f8 ",
                                         "<u16", "|b2", "float", "<f",   "!f8"};
    const size_t count = sizeof dtypes / sizeof dtypes[0];
    static const unsigned char zeros[32];
    gbs_io_error error;
    for (size_t i = 0; i < count; i++) {
        char words[64];
        snprintf(words, sizeof words, "dtype %s is not read", dtypes[i]);
        gbs_io_status status = read_and_free(make_dtype(dtypes[i], 2, zeros, 32), &error);
        assert_refused(dtypes[i], status, &error, GBS_IO_CONTENT, words);
    }
    const char *structured =
        make_npy("s.npy", 1,
                 "{'descr': [('a', '<f4'), ('b', '<f8')], 'fortran_order': False, 'shape': (2,), }",
                 zeros, 24);
    assert_refused("structured", read_and_free(structured, &error), &error, GBS_IO_CONTENT,
                   "dtype [('a', '<f4'), ('b', '<f8')] is not read");
    print_message("%zu dtypes are refused by name\n", count + 1);
}

/* What a double cannot hold is refused, not rounded; 2^53 itself is held. */
static void test_inexact_integers(void **state)
{
    (void)state;
    gbs_io_error error;
    const double limit[] = {0x1p53, -0x1p53};
    const unsigned char held[16] = {0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0xe0, 0xff};
    assert_reads("<i8", make_dtype("<i8", 2, held, 16), GBS_F64, 2, limit);
    const unsigned char beyond[16] = {5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0x20, 0};
    assert_refused("<i8", read_and_free(make_dtype("<i8", 2, beyond, 16), &error), &error,
                   GBS_IO_CONTENT, "element 1 of dtype i8 is 9007199254740993, beyond 2^53");
    const unsigned char lowest[8] = {0, 0, 0, 0, 0, 0, 0, 0x80};
    assert_refused("<i8", read_and_free(make_dtype("<i8", 1, lowest, 8), &error), &error,
                   GBS_IO_CONTENT, "element 0 of dtype i8 is -9223372036854775808");
    const unsigned char highest[8] = {255, 255, 255, 255, 255, 255, 255, 255};
    assert_refused("<u8", read_and_free(make_dtype("<u8", 1, highest, 8), &error), &error,
                   GBS_IO_CONTENT, "element 0 of dtype u8 is 18446744073709551615");
    assert_refused("|b1", read_and_free(make_dtype("|b1", 3, "\1\2\0", 3), &error), &error,
                   GBS_IO_CONTENT, "element 1 of dtype |b1 is 2");
    assert_count("byte of the bad bool", error.byte, 129);
    print_message("8-byte integers are exact up to 2^53 and refused by index beyond\n");
}

/* Case C72: a column-major 2 x 3 matrix; then three axes, which a transpose gets wrong. */
static void test_orders(void **state)
{
    (void)state;
    gbs_array array;
    gbs_io_error error;
    const double column_major[] = {0, 3, 1, 4, 2, 5}, expected[] = {0, 1, 2, 3, 4, 5};
    const char *path =
        make_npy("f.npy", 1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }",
                 column_major, sizeof column_major);
    assert_accepted("C72", gbs_npy_read(path, &array, &error), &error);
    assert_count("axes", array.axes, 2);
    assert_count("rows", array.shape[0], 2);
    assert_count("columns", array.shape[1], 3);
    assert_doubles("C72", array.data, expected, 6);
    gbs_array_free(&array);

    float cube[24], straight[24];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++) {
                cube[i + 2 * (j + 3 * k)] = (float)(100 * i + 10 * j + k);
                straight[(i * 3 + j) * 4 + k] = (float)(100 * i + 10 * j + k);
            }
    path = make_npy("f.npy", 1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3, 4), }",
                    cube, sizeof cube);
    assert_accepted("cube", gbs_npy_read(path, &array, &error), &error);
    assert_count("axes", array.axes, 3);
    assert_memory_equal(array.data, straight, sizeof straight);
    gbs_array_free(&array);
    print_message("column-major arrays of 2 and 3 axes come out row-major\n");
}

/* Spellings that numpy.load accepts, in the three versions. */
static void test_headers_accepted(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }",
        "{'shape': (2,), 'descr': '<f8', 'fortran_order': False}",
        "{ \"descr\" : \"<f8\" ,\n'fortran_order':False,'shape':( 2 , ) , }",
        "{'descr': '=f8', 'fortran_order': True, 'shape': (2L,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2, 1), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1,), }",
    };
    const double data[] = {0.1, -1e300};
    const size_t count = sizeof headers / sizeof headers[0];
    for (size_t i = 0; i < count; i++)
        for (int version = 1; version <= 3; version++)
            assert_reads(headers[i], make_npy("h.npy", version, headers[i], data, sizeof data),
                         GBS_F64, 2, data);
    print_message("%zu spellings of a header, versions 1.0, 2.0 and 3.0, are read\n", count);
}

/* Case C76 and its kind. */
static void test_headers_refused(void **state)
{
    (void)state;
#define BEGIN "{'descr': '<f8', 'fortran_order': False, 'shape': "
    static const struct {
        const char *header, *words;
    } cases[] = {
        {BEGIN "(np.int64(1), np.int64(2)), }", "shape must be a tuple of whole numbers"},
        {BEGIN "(2), }", "shape must be a tuple of whole numbers"},
        {BEGIN "2, }", "shape must be a tuple of whole numbers"},
        {BEGIN "[2], }", "shape must be a tuple of whole numbers"},
        {BEGIN "(-2,), }", "shape must be a tuple of whole numbers"},
        {BEGIN "(2,,), }", "shape must be a tuple of whole numbers"},
        {BEGIN "(2.0,), }", "shape must be a tuple of whole numbers"},
        {BEGIN "(2 1), }", "shape must be a tuple of whole numbers"},
        {BEGIN "(2,", "shape must be a tuple of whole numbers"},
        {BEGIN "(1, 1, 1, 2), }", "more than 3 axes"},
        {BEGIN "(), }", "the array has no axes"},
        {BEGIN "(0,), }", "axis 0 has length 0"},
        {BEGIN "(2, 0), }", "axis 1 has length 0"},
        {BEGIN "(4, 0, 2), }", "axis 1 has length 0"},
        {BEGIN "(99999999999999999999,), }", "longer than a 64-bit number"},
        {BEGIN "(134217728,), }", "asks for more than the 2 elements of 8 bytes"},
        {BEGIN "(4294967296, 4294967296), }", "asks for more than the 2 elements"},
        {BEGIN "(2, 9223372036854775807), }", "(axis 1 is 9223372036854775807 long)"},
        {BEGIN "(1,), }", "8 bytes follow the array's 1 element of 8 bytes"},
        {BEGIN "(2,), 'extra': 1}", "each once, at \"'extra': 1}"},
        {BEGIN "(2,), 'descr': '<f8'}", "each once, at \"'descr': '<f8'}"},
        {BEGIN "(2,)", "',' or '}' is expected"},
        {BEGIN "(2,), } x", "something follows the '}'"},
        {BEGIN "(2,), }\\", "something follows the '}'"},
        {"{'descr': '<f8', 'shape': (2,), }", "the key fortran_order is missing"},
        {"{'fortran_order': False, 'shape': (2,), }", "the key descr is missing"},
        {"{'descr': '<f8', 'fortran_order': False, }", "the key shape is missing"},
        {"{'descr': '<f8', 'fortran_order': 0, 'shape': (2,), }", "must be True or False"},
        {"{'descr': '<f8', 'fortran_order': false, 'shape': (2,), }", "must be True or False"},
        {"{'descr' '<f8', 'fortran_order': False, 'shape': (2,), }", "':' is expected"},
        {"{'descr': '<f8\\'', 'fortran_order': False, 'shape': (2,), }", "a plain string"},
        {"{'descr: <f8, fortran_order: False, shape: (2,), }", "a plain string is expected"},
        {"{descr: '<f8', 'fortran_order': False, 'shape': (2,), }", "a string is expected"},
        {"['<f8', False, (2,)]", "'{' is expected"},
        {"", "'{' is expected"},
    };
#undef BEGIN
    const double data[] = {1, 2};
    const size_t count = sizeof cases / sizeof cases[0];
    gbs_io_error error;
    for (size_t i = 0; i < count; i++) {
        const char *path = make_npy("h.npy", 1, cases[i].header, data, sizeof data);
        assert_refused(cases[i].header, read_and_free(path, &error), &error, GBS_IO_CONTENT,
                       cases[i].words);
    }
    print_message("%zu headers are refused, each saying what is wrong\n", count);
}

static void test_preambles(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *words;
        size_t count;
    } cases[] = {
        {"", "is not an .npy file", 0},
        {"\x93NUMPX\1\0", "is not an .npy file", 8},
        {"\x93NUMPY\4\0\1\0 ", ".npy version 4.0 is not read", 11},
        {"\x93NUMPY\0\0\1\0 ", ".npy version 0.0 is not read", 11},
        {"\x93NUMPY\1\1\1\0 ", ".npy version 1.1 is not read", 11},
        {"\x93NUMPY\1\0", "ends after 8 bytes, within the header", 8},
        {"\x93NUMPY\1\0\xff\xff ", "ends after 11 bytes, within the header", 11},
        {"\x93NUMPY\2\0\xff\xff\xff\xff ", "ends after 13 bytes, within the header", 13},
        {"\x93NUMPY\1\0\2\0{\0", "a zero byte", 12},
    };
    const size_t count = sizeof cases / sizeof cases[0];
    gbs_io_error error;
    for (size_t i = 0; i < count; i++)
        assert_refused(cases[i].words,
                       read_and_free(scratch_file("p.npy", cases[i].bytes, cases[i].count), &error),
                       &error, GBS_IO_CONTENT, cases[i].words);
    assert_refused("missing", read_and_free(scratch_path("none.npy"), &error), &error, GBS_IO_FILE,
                   "cannot be opened");
    assert_refused("directory", read_and_free(scratch_directory, &error), &error, GBS_IO_FILE,
                   "cannot be read");
    assert_int_equal(gbs_io_exit_code(GBS_IO_FILE), 4);
    assert_int_equal(gbs_io_exit_code(GBS_IO_CONTENT), 3);
    print_message("%zu damaged beginnings are refused; no file is exit 4, a wrong one 3\n", count);
}

static void test_damage(void **state)
{
    (void)state;
    size_t bytes;
    const double data[] = {1, 2, 3, 4};
    char *valid = scratch_read(
        make_npy("v.npy", 1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2), }", data,
                 sizeof data),
        &bytes);
    damage_every_byte(".npy", valid, bytes, read_and_free);
    free(valid);
}

/* Sends a header for `count` doubles 0, 1, 2, ... and then `sent` of them into a pipe from a
 * process of its own; returns the name of the pipe's other end. */
static const char *send_through_pipe(int64_t count, int64_t sent, int *end, pid_t *child)
{
    static char path[32];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    *child = fork();
    assert_true(*child >= 0);
    if (*child == 0) {
        unsigned char header[GBS_NPY_HEADER_BYTES];
        FILE *stream = fdopen(ends[1], "wb");
        if (!stream)
            _exit(1);
        close(ends[0]);
        fwrite(header, 1, gbs_npy_write_header(header, GBS_F64, 1, &count), stream);
        for (int64_t i = 0; i < sent; i++) {
            double value = (double)i;
            fwrite(&value, sizeof value, 1, stream);
        }
        _exit(fclose(stream) != 0);
    }
    close(ends[1]);
    *end = ends[0];
    snprintf(path, sizeof path, "/dev/fd/%d", *end);
    return path;
}

/* A pipe has no size to compare with; the same checks hold once it has been read. */
static void test_pipe(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    if (access("/dev/fd", R_OK) != 0) {
        print_message("skipped: this system has no /dev/fd\n");
        skip();
    }
    for (int64_t sent = COUNT - 1; sent <= COUNT; sent++) {
        gbs_array array;
        gbs_io_error error;
        int end;
        pid_t child;
        const char *path = send_through_pipe(COUNT, sent, &end, &child);
        gbs_io_status status = gbs_npy_read(path, &array, &error);
        close(end);
        assert_int_equal(waitpid(child, NULL, 0), child);
        if (sent < COUNT) {
            assert_refused("short pipe", status, &error, GBS_IO_CONTENT,
                           "asks for more than the 99999 elements");
            continue;
        }
        assert_accepted("pipe", status, &error);
        for (int64_t i = 0; i < COUNT; i++) {
            double expected = (double)i;
            assert_doubles("pipe", (const double *)array.data + i, &expected, 1);
        }
        gbs_array_free(&array);
    }
    print_message("a pipe of %d doubles is read like a file, and one that ends early refused\n",
                  COUNT);
}

/* NumPy 2's own bytes for zeros((4, 1000, 56)) and its like. */
static void test_written_header(void **state)
{
    (void)state;
    static const struct {
        gbs_type type;
        int axes;
        int64_t shape[3];
        const char *text;
    } cases[] = {
        {GBS_F64,
         3,
         {4, 1000, 56},
         "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 1000, 56), }"},
        {GBS_F32, 3, {1, 1, 1}, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1), }"},
        {GBS_F64, 1, {7, 1, 1}, "{'descr': '<f8', 'fortran_order': False, 'shape': (7,), }"},
        {GBS_F64,
         3,
         {INT64_MAX, INT64_MAX, INT64_MAX},
         "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, "
         "9223372036854775807, 9223372036854775807), }"},
    };
    const size_t count = sizeof cases / sizeof cases[0];
    for (size_t i = 0; i < count; i++) {
        unsigned char got[GBS_NPY_HEADER_BYTES], expected[GBS_NPY_HEADER_BYTES];
        size_t bytes = gbs_npy_write_header(got, cases[i].type, cases[i].axes, cases[i].shape);
        size_t length = strlen(cases[i].text), whole = (10 + length + 1 + 63) / 64 * 64;
        memset(expected, ' ', whole);
        memcpy(expected, "\x93NUMPY\1\0", 8);
        expected[8] = (unsigned char)(whole - 10);
        expected[9] = 0;
        memcpy(expected + 10, cases[i].text, length);
        expected[whole - 1] = '\n';
        assert_count("bytes of header", (int64_t)bytes, (int64_t)whole);
        assert_memory_equal(got, expected, whole);
    }
    print_message("%zu headers are written byte for byte as NumPy writes them\n", count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dtypes),          cmocka_unit_test(test_every_half),
        cmocka_unit_test(test_refused_dtypes),  cmocka_unit_test(test_inexact_integers),
        cmocka_unit_test(test_orders),          cmocka_unit_test(test_headers_accepted),
        cmocka_unit_test(test_headers_refused), cmocka_unit_test(test_preambles),
        cmocka_unit_test(test_damage),          cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_written_header),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
