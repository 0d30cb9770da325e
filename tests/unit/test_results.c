/* Both result formats behind one interface: blocks written, ranges read, bit for bit; files
 * cut short; and writing that fails, by misuse, by the file's place or for want of room, which
 * must leave nothing behind and the old file as it was. */
#define _XOPEN_SOURCE 700

#include "io/file.h"
#include "io/results.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "unit/mtx_put.h"
#include "unit/result_files.h"

static const int64_t shapes[][3] = {{4, 10, 5}, {1, 1, 1},    {1, 1, 3},    {3, 1, 1},
                                    {1, 7, 1},  {2, 3, 9001}, {40, 3, 5000}};

static void test_write_and_read(void **state)
{
    (void)state;
    const size_t count = sizeof shapes / sizeof shapes[0];
    for (size_t i = 0; i < count; i++)
        for (int kind = 0; kind < 4; kind++) {
            gbs_results_spec spec = {.format = kind % 2 ? GBS_RESULTS_NETCDF : GBS_RESULTS_NPY,
                                     .type = kind / 2 ? GBS_F64 : GBS_F32,
                                     .chains = shapes[i][0],
                                     .draws = shapes[i][1],
                                     .dim = shapes[i][2]};
            const char *path = scratch_path(kind % 2 ? "x.nc" : "x.npy");
            for (int64_t block = 1; block <= spec.draws; block += 3) {
                write_results(path, &spec, block);
                assert_draws(path, &spec, spec.dim);
                assert_draws(path, &spec, spec.dim > 1000 ? 1500 : 1);
                assert_draws(path, &spec, (spec.dim + 1) / 2);
            }
        }
    assert_count("files left", scratch_entries(1), 2);
    print_message("%zu shapes x 2 types x 2 formats, any blocks and ranges: same bits back\n",
                  count);
}

/* The .npy shapes that summary takes; column-major order shows in every element. */
static void test_npy_orders(void **state)
{
    (void)state;
    static const char *const orders[] = {"False", "True"};
    for (int fortran = 0; fortran < 2; fortran++)
        for (int axes = 2; axes <= 3; axes++) {
            enum { C = 2, T = 5, D = 3 };
            int64_t sites = axes == 3 ? D : 1, count = C * T * sites;
            unsigned char file[1024];
            char header[128];
            memset(file, ' ', sizeof file);
            memcpy(file, "\x93NUMPY\1\0\x76\0", 10);
            snprintf(header, sizeof header,
                     "{'descr': '>f8', 'fortran_order': %s, 'shape': (%d, %d%s), }",
                     orders[fortran], C, T, axes == 3 ? ", 3" : "");
            memcpy(file + 10, header, strlen(header));
            for (int64_t i = 0; i < count; i++) {
                int64_t c = fortran ? i % C : i / sites / T,
                        t = fortran ? i / C % T : i / sites % T;
                int64_t d = fortran ? i / C / T : i % sites;
                double value = value_at(GBS_F64, c, t, d);
                uint64_t bits;
                memcpy(&bits, &value, sizeof bits);
                for (int byte = 0; byte < 8; byte++)
                    file[128 + 8 * i + byte] = (unsigned char)(bits >> (56 - 8 * byte));
            }
            const char *path = scratch_file("o.npy", file, (size_t)(128 + 8 * count));
            gbs_results_spec spec = {.type = GBS_F64, .chains = C, .draws = T, .dim = sites};
            for (int64_t width = 1; width <= sites; width++)
                assert_draws(path, &spec, width);
            gbs_results_reader *reader;
            gbs_io_error error;
            char name[16];
            assert_accepted(path, gbs_results_open(path, &reader, &error), &error);
            gbs_results_element_name(reader, 0, sites - 1, name, sizeof name);
            assert_string_equal(name, axes == 3 ? "x[2]" : "x");
            gbs_results_close(reader);
        }
    print_message(".npy draws of 2 and 3 axes in both orders give the same elements\n");
}

/* Cut anywhere, a result file must be refused or read, in both formats. */
static void test_cut(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        gbs_results_spec spec = {.format = kind ? GBS_RESULTS_NETCDF : GBS_RESULTS_NPY,
                                 .type = GBS_F32,
                                 .chains = 1,
                                 .draws = 2,
                                 .dim = 1};
        const char *path = scratch_path(kind ? "whole.nc" : "whole.npy");
        size_t bytes, refused = 0;
        write_results(path, &spec, 2);
        char *whole = scratch_read(path, &bytes);
        path = scratch_file("cut", whole, bytes);
        for (size_t cut = bytes; cut-- > 0;) {
            gbs_io_error error = {0};
            assert_int_equal(truncate(path, (off_t)cut), 0);
            gbs_io_status status = open_and_close(path, &error);
            if (status != GBS_IO_OK && status != GBS_IO_CONTENT)
                fail_msg("cut to %zu bytes: expected success or %d, got %d: %s", cut,
                         GBS_IO_CONTENT, status, error.message);
            refused += status != GBS_IO_OK;
        }
        free(whole);
        print_message("%s: cut at each of %zu bytes, %zu cuts refused\n", kind ? "netCDF" : ".npy",
                      bytes, refused);
        assert_count("cuts refused", (int64_t)refused, (int64_t)bytes);
    }
    scratch_entries(1);
}

static void test_names(void **state)
{
    (void)state;
    gbs_results_format format;
    assert_true(gbs_results_format_of("a/b.NPY", &format) && format == GBS_RESULTS_NPY);
    assert_true(gbs_results_format_of("x.nc", &format) && format == GBS_RESULTS_NETCDF);
    assert_false(gbs_results_format_of("x.ncx", &format));
    assert_false(gbs_results_format_of("npy", &format));
    assert_false(gbs_results_format_of("", &format));
    print_message("the ending of a name gives the format\n");
}

/* ------------------------------------------------------------------ failing writers */

static const char *const old_text = "the old file";

static void assert_old(const char *what, const char *path)
{
    size_t bytes;
    char *text = scratch_read(path, &bytes);
    if (strcmp(text, old_text) != 0)
        fail_msg("%s: expected the old file under the final name, got %zu other bytes", what,
                 bytes);
    free(text);
    assert_count(what, scratch_entries(0), 1);
}

static const gbs_results_spec small = {.type = GBS_F64, .chains = 2, .draws = 4, .dim = 3};

static void test_misuse(void **state)
{
    (void)state;
    double x[2 * 4 * 3] = {0}, lp[2 * 4] = {0};
    for (int kind = 0; kind < 2; kind++) {
        gbs_results_spec spec = small;
        gbs_results_writer *writer;
        gbs_io_error error;
        spec.format = kind ? GBS_RESULTS_NETCDF : GBS_RESULTS_NPY;
        const char *path = scratch_text("old", old_text);
        assert_accepted("create", gbs_results_create(path, &spec, &writer, &error), &error);
        assert_accepted("write", gbs_results_write(writer, 0, 2, x, lp, &error), &error);
        assert_refused("gap", gbs_results_write(writer, 3, 1, x, lp, &error), &error, GBS_IO_WRITE,
                       "draws 3 ... 3 do not follow the 2 of 4 that are written");
        assert_refused("again", gbs_results_write(writer, 0, 1, x, lp, &error), &error,
                       GBS_IO_WRITE, "draws 0 ... 0 do not follow");
        assert_refused("beyond", gbs_results_write(writer, 2, 3, x, lp, &error), &error,
                       GBS_IO_WRITE, "draws 2 ... 4 do not follow");
        assert_refused("too few", gbs_results_finish(writer, NULL, 0, &error), &error, GBS_IO_WRITE,
                       "only 2 of 4 draws are written");
        assert_old("too few draws", path);
        assert_accepted("create", gbs_results_create(path, &spec, &writer, &error), &error);
        assert_count("files while writing", scratch_entries(0), 2);
        gbs_results_abandon(writer);
        assert_old("abandoned", path);
        spec.draws = INT64_MAX / 8;
        assert_refused("too large", gbs_results_create(path, &spec, &writer, &error), &error,
                       GBS_IO_WRITE, "do not make a file");
        assert_null(writer);
        assert_old("too large", path);
    }
    gbs_results_abandon(NULL);
    scratch_entries(1);
    print_message("draws out of order, missing or too many are refused; nothing is left behind\n");
}

static void test_places(void **state)
{
    (void)state;
    gbs_output output;
    gbs_io_error error;
    assert_refused("no directory", gbs_output_open(&output, scratch_path("none/x"), &error), &error,
                   GBS_IO_WRITE, "cannot be created: No such file or directory");
    assert_refused("a directory", gbs_output_open(&output, scratch_directory, &error), &error,
                   GBS_IO_WRITE, "is not a regular file");
    assert_refused("a device", gbs_output_open(&output, "/dev/null", &error), &error, GBS_IO_WRITE,
                   "is not a regular file");
    assert_refused("no name", gbs_output_open(&output, "", &error), &error, GBS_IO_WRITE,
                   "the file name is empty");
    assert_int_equal(symlink("none/x", scratch_path("astray")), 0);
    assert_refused("a link into no directory",
                   gbs_output_open(&output, scratch_path("astray"), &error), &error, GBS_IO_WRITE,
                   "astray: cannot be created: No such file or directory");
    assert_int_equal(symlink("loop", scratch_path("loop")), 0);
    assert_refused("a loop", gbs_output_open(&output, scratch_path("loop"), &error), &error,
                   GBS_IO_WRITE, "loop: cannot be written: Too many levels of symbolic links");
    scratch_entries(1);
    gbs_output_abandon(&output);
    print_message("missing directories, devices and links that lead to no place are refused\n");
}

static mode_t mode_of(const char *path)
{
    struct stat about;
    assert_int_equal(lstat(path, &about), 0);
    return about.st_mode;
}

static void put(const char *path)
{
    gbs_output output;
    gbs_io_error error;
    assert_accepted(path, gbs_output_open(&output, path, &error), &error);
    fputs("new", output.stream);
    assert_accepted(path, gbs_output_commit(&output, &error), &error);
    size_t bytes;
    char *text = scratch_read(path, &bytes);
    assert_string_equal(text, "new");
    free(text);
}

static void test_permissions(void **state)
{
    (void)state;
    const mode_t before = umask(027);
    put(scratch_path("fresh"));
    umask(before);
    assert_count("mode of a new file", mode_of(scratch_path("fresh")) & 07777, 0640);
    const char *target = scratch_text("target", old_text);
    assert_int_equal(chmod(target, 0604), 0);
    put(target);
    assert_count("mode of a replaced file", mode_of(target) & 07777, 0604);
    scratch_text("target", old_text);
    assert_int_equal(symlink("target", scratch_path("link")), 0);
    put(scratch_path("link"));
    assert_true(S_ISLNK(mode_of(scratch_path("link"))));
    assert_true(S_ISREG(mode_of(scratch_path("target"))));
    remove(scratch_path("target")); /* a link to what is not there yet makes it */
    assert_int_equal(symlink(scratch_path("link"), scratch_path("link to link")), 0);
    put(scratch_path("link to link"));
    assert_true(S_ISLNK(mode_of(scratch_path("link"))));
    assert_true(S_ISREG(mode_of(scratch_path("target"))));
    assert_count("files", scratch_entries(1), 4);
    print_message("permissions are kept or follow the umask, links stay links\n");
}

/* ------------------------------------------------------------------ no room */

static gbs_io_status write_small(gbs_results_format format, const char *path)
{
    double x[2 * 4 * 3], lp[2 * 4];
    gbs_results_spec spec = small;
    gbs_results_writer *writer;
    gbs_io_error error;
    spec.format = format;
    for (size_t i = 0; i < sizeof x / sizeof x[0]; i++)
        x[i] = (double)i;
    memcpy(lp, x, sizeof lp);
    gbs_io_status status = gbs_results_create(path, &spec, &writer, &error);
    if (status)
        return status;
    status = gbs_results_write(writer, 0, small.draws, x, lp, &error);
    if (!status)
        return gbs_results_finish(writer, NULL, 0, &error);
    gbs_results_abandon(writer);
    return status;
}

static gbs_io_status write_npy(const char *path)
{
    return write_small(GBS_RESULTS_NPY, path);
}

static gbs_io_status write_netcdf(const char *path)
{
    return write_small(GBS_RESULTS_NETCDF, path);
}

static gbs_io_status write_mtx(const char *path)
{
    enum { DIM = 2000 };
    static int64_t index[DIM];
    static double value[DIM];
    gbs_io_error error;
    for (int i = 0; i < DIM; i++) {
        index[i] = i;
        value[i] = 0.1;
    }
    return mtx_put(path, DIM, DIM, index, index, value, NULL, &error);
}

/* Registered before anything else, so that it runs after the handlers under test: what follows
 * (a coverage build's counters) may write again. */
static void lift_limit(void)
{
    struct rlimit room;
    if (getrlimit(RLIMIT_FSIZE, &room) == 0) {
        room.rlim_cur = room.rlim_max;
        setrlimit(RLIMIT_FSIZE, &room);
    }
}

/* Runs a writer in a process that may not write files beyond `limit` bytes, which fails as a
 * full disk does, and ends it as a program ends: exit handlers included.  Returns its exit
 * code. */
static int run_limited(gbs_io_status (*writer)(const char *path), const char *path, rlim_t limit)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit room;
        signal(SIGXFSZ, SIG_IGN);
        if (getrlimit(RLIMIT_FSIZE, &room) != 0)
            exit(99);
        room.rlim_cur = limit;
        if (setrlimit(RLIMIT_FSIZE, &room) != 0)
            exit(99);
        exit(gbs_io_exit_code(writer(path)));
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    if (!WIFEXITED(result))
        fail_msg("limit %ld: expected an exit, got signal %d", (long)limit, WTERMSIG(result));
    return WEXITSTATUS(result);
}

static void test_no_room(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        gbs_io_status (*writer)(const char *path);
        rlim_t enough;
    } cases[] = {{".npy", write_npy, 4096},
                 {"netCDF", write_netcdf, 65536},
                 {"Matrix Market", write_mtx, 131072}};
    for (int i = 0; i < 3; i++) {
        int failed = 0, written = 0;
        for (rlim_t limit = 0; limit <= cases[i].enough; limit += cases[i].enough / 64) {
            const char *path = scratch_text("old", old_text);
            int code = run_limited(cases[i].writer, path, limit);
            if (code == 4)
                assert_old(cases[i].name, path);
            else if (code != 0)
                fail_msg("%s, limit %ld: expected exit 0 or 4, got %d", cases[i].name, (long)limit,
                         code);
            assert_count("files left", scratch_entries(0), 1);
            code ? failed++ : written++;
        }
        assert_true(failed > 0 && written > 0);
        print_message("%s: of 65 sizes of disk %d are too small, each exit 4 with the old file "
                      "intact\n",
                      cases[i].name, failed);
    }
    scratch_entries(1);
}

int main(void)
{
    atexit(lift_limit);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write_and_read),
        cmocka_unit_test(test_npy_orders),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_permissions),
        cmocka_unit_test(test_no_room),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
