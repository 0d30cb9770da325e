/* Members of .npz archives: found by name, unpacked whether deflated or stored, refused with the
 * list of members where the name is wrong, and by what is wrong where the archive is damaged. */
#define _POSIX_C_SOURCE 200809L

#include "io/array.h"
#include "io/npy.h"
#include "io/npz.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <zip.h>

#include "unit/io_scratch.h"

enum { NPY_BYTES = 128 + 32 };

static const double matrix[] = {2, -1, -1, 3};

/* The .npy file of [[2, -1], [-1, 3]] scaled. */
static void make_npy(unsigned char *to, double scale)
{
    const int64_t shape[] = {2, 2};
    double scaled[4];
    for (int i = 0; i < 4; i++)
        scaled[i] = scale * matrix[i];
    const size_t header = gbs_npy_write_header(to, GBS_F64, 2, shape);
    assert_int_equal(header, NPY_BYTES - sizeof scaled);
    memcpy(to + header, scaled, sizeof scaled);
}

/* Adds `count` members, the k-th scaled by k + 1. */
static const char *make_archive(const char *name, const char *const *members, int count,
                                zip_int32_t method)
{
    static unsigned char npy[4][NPY_BYTES];
    const char *path = scratch_path(name);
    int code;
    remove(path);
    zip_t *zip = zip_open(path, ZIP_CREATE, &code);
    assert_non_null(zip);
    for (int k = 0; k < count; k++) {
        make_npy(npy[k], k + 1);
        zip_source_t *source = zip_source_buffer(zip, npy[k], NPY_BYTES, 0);
        assert_int_equal(zip_file_add(zip, members[k], source, 0), k);
        assert_int_equal(zip_set_file_compression(zip, (zip_uint64_t)k, method, 0), 0);
    }
    assert_int_equal(zip_close(zip), 0);
    return path;
}

static gbs_io_status read_and_free(const char *path, gbs_io_error *error)
{
    gbs_array array;
    gbs_io_status status = gbs_array_read(path, &array, error);
    gbs_array_free(&array);
    return status;
}

static void assert_member(const char *path, const char *member, double scale)
{
    char name[1200];
    gbs_array array;
    gbs_io_error error;
    double expected[4];
    snprintf(name, sizeof name, "%s%s", path, member);
    for (int i = 0; i < 4; i++)
        expected[i] = scale * matrix[i];
    assert_accepted(name, gbs_array_read(name, &array, &error), &error);
    assert_count(name, array.count, 4);
    assert_doubles(name, array.data, expected, 4);
    gbs_array_free(&array);
}

static const char *const members[] = {"Q.npy", "mu.npy", "plain", "a:b.npy"};

static void test_members(void **state)
{
    (void)state;
    static const zip_int32_t methods[] = {ZIP_CM_STORE, ZIP_CM_DEFLATE};
    for (int k = 0; k < 2; k++) {
        const char *path = make_archive("m.npz", members, 3, methods[k]);
        assert_member(path, ":Q", 1);
        assert_member(path, ":Q.npy", 1);
        assert_member(path, ":mu", 2);
        assert_member(path, ":plain", 3);
        path = make_archive("m.npz", members, 4, methods[k]);
        assert_member(path, ":a:b", 4);
        assert_member(path, ":a:b.npy", 4);
        path = make_archive("x.npz:y.npz", members, 4, methods[k]); /* with no file x.npz */
        assert_member(path, ":a:b", 4);
        path = make_archive("one.npz", members, 1, methods[k]);
        assert_member(path, "", 1);
        assert_member(path, ":Q", 1);
    }
    print_message("members are found by name, an only one without\n");
}

static void test_names(void **state)
{
    (void)state;
    char name[1200];
    const char *path = make_archive("m.npz", members, 3, ZIP_CM_STORE);
    const size_t length = strlen(path);
    snprintf(name, sizeof name, "%s:Q", path);
    assert_count("archive", (int64_t)gbs_npz_file_length(name), (int64_t)length);
    assert_count("file", (int64_t)gbs_npz_file_length(path), (int64_t)length);
    assert_count("no archive", (int64_t)gbs_npz_file_length("a.npy:Q"), 7);
    scratch_text("x.npz:Q", "1,2\n"); /* a file that has the whole name is that file */
    snprintf(name, sizeof name, "%s", scratch_path("x.npz:Q"));
    assert_count("whole name", (int64_t)gbs_npz_file_length(name), (int64_t)strlen(name));
    gbs_io_error error;
    assert_accepted("whole name", read_and_free(name, &error), &error);
    print_message("ARCHIVE.npz:MEMBER is taken apart only where no file has that name\n");
}

static void test_refused(void **state)
{
    (void)state;
    gbs_io_error error;
    char name[1200];
    const char *path = make_archive("m.npz", members, 3, ZIP_CM_DEFLATE);
    assert_refused("no member named", read_and_free(path, &error), &error, GBS_IO_CONTENT,
                   "name one of the members, as FILE.npz:MEMBER: the archive holds 3 members: Q, "
                   "mu, plain");
    snprintf(name, sizeof name, "%s:R", path);
    assert_refused("unknown member", read_and_free(name, &error), &error, GBS_IO_CONTENT,
                   "m.npz:R: there is no such member: the archive holds 3 members: Q, mu, plain");
    static const char end[22] = "PK\5\6"; /* what numpy.savez("empty.npz") writes: no entries */
    path = scratch_file("empty.npz", end, sizeof end);
    assert_refused("no members", read_and_free(path, &error), &error, GBS_IO_CONTENT,
                   "empty.npz: is an empty archive");
    snprintf(name, sizeof name, "%s:Q", path);
    assert_refused("no members", read_and_free(name, &error), &error, GBS_IO_CONTENT,
                   "empty.npz:Q: is an empty archive");
    snprintf(name, sizeof name, "%s:Q", scratch_text("text.npz", "no archive"));
    assert_refused("no archive", read_and_free(name, &error), &error, GBS_IO_CONTENT,
                   "is not a readable archive: Not a zip archive");
    snprintf(name, sizeof name, "%s:Q", scratch_path("missing.npz"));
    assert_refused("no file", read_and_free(name, &error), &error, GBS_IO_FILE,
                   "missing.npz: cannot be opened");
    print_message("what is not there is refused with what is\n");
}

/* A member whose sum does not fit its bytes is refused, by libzip. */
static void test_checksum(void **state)
{
    (void)state;
    size_t count;
    gbs_io_error error;
    const char *path = make_archive("m.npz", members, 1, ZIP_CM_STORE);
    char *bytes = scratch_read(path, &count);
    size_t at = 0; /* the 3.0 of the matrix */
    for (size_t i = 0; i + sizeof matrix <= count; i++)
        at = memcmp(bytes + i, matrix, sizeof matrix) == 0 ? i : at;
    assert_true(at > 0);
    bytes[at + 25] ^= 1;
    assert_refused("a changed byte", read_and_free(scratch_file("m.npz", bytes, count), &error),
                   &error, GBS_IO_CONTENT, "cannot be unpacked: CRC error");
    free(bytes);
    print_message("a changed byte is found by the archive's own sum\n");
}

static void test_damage(void **state)
{
    (void)state;
    size_t count;
    const char *path = make_archive("one.npz", members, 1, ZIP_CM_DEFLATE);
    char *bytes = scratch_read(path, &count);
    damage_every_byte(".npz", bytes, count, read_and_free);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members), cmocka_unit_test(test_names),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_checksum),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
