/* What a result file may hold beside draws or instead of them: the warm-up's draws, moments; and
 * files that were begun for more draws than they got. */
#define _POSIX_C_SOURCE 200809L

#include "io/results.h"

#include <netcdf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "unit/result_files.h"

#define assert_nc(code) assert_string_equal(nc_strerror(code), nc_strerror(NC_NOERR))

enum { CHAINS = 3, DRAWS = 10, WARMUP = 7, DIM = 5 };

static gbs_results_spec small(gbs_results_format format, gbs_type type)
{
    return (gbs_results_spec){
        .format = format, .type = type, .chains = CHAINS, .draws = DRAWS, .dim = DIM};
}

/* n draws from `first` on, of values that name their place; those of the warm-up lie `apart`. */
static void write_block(gbs_results_writer *writer, gbs_type type, int warmup, int64_t first,
                        int64_t n)
{
    double x[CHAINS * DRAWS * DIM], lp[CHAINS * DRAWS];
    gbs_io_error error;
    for (int64_t c = 0; c < CHAINS; c++)
        for (int64_t t = 0; t < n; t++) {
            lp[c * n + t] = lp_at(c, first + t + 500 * warmup);
            for (int64_t d = 0; d < DIM; d++) {
                const double value = value_at(type, c, first + t + 500 * warmup, d);
                if (type == GBS_F32)
                    ((float *)x)[(c * n + t) * DIM + d] = (float)value;
                else
                    x[(c * n + t) * DIM + d] = value;
            }
        }
    assert_accepted("write",
                    warmup ? gbs_results_write_warmup(writer, first, n, x, lp, &error)
                           : gbs_results_write(writer, first, n, x, lp, &error),
                    &error);
}

/* Group by group, as netCDF-C sees it: draws `from`, from + 1, ... of value_at. */
static void assert_group(int file, const char *posterior, const char *stats, gbs_type type,
                         size_t draws, int64_t from, long long first)
{
    int group, variable, dim;
    size_t length;
    assert_nc(nc_inq_ncid(file, posterior, &group));
    assert_nc(nc_inq_dimid(group, "draw", &dim));
    assert_nc(nc_inq_dimlen(group, dim, &length));
    assert_count("draws", (int64_t)length, (int64_t)draws);
    assert_nc(nc_inq_varid(group, "draw", &variable));
    for (size_t t = 0; t < draws; t++) {
        long long number;
        assert_nc(nc_get_var1_longlong(group, variable, &t, &number));
        assert_count("draw", number, first + (long long)t);
    }
    for (size_t c = 0; c < CHAINS; c++)
        for (size_t t = 0; t < draws; t++)
            for (size_t d = 0; d < DIM; d++) {
                const size_t place[] = {c, t, d};
                double got, expected = value_at(type, (int64_t)c, from + (int64_t)t, (int64_t)d);
                assert_nc(nc_inq_varid(group, "x", &variable));
                assert_nc(nc_get_var1_double(group, variable, place, &got));
                assert_doubles(posterior, &got, &expected, 1);
            }
    assert_nc(nc_inq_ncid(file, stats, &group));
    assert_nc(nc_inq_varid(group, "lp", &variable));
    for (size_t c = 0; c < CHAINS; c++)
        for (size_t t = 0; t < draws; t++) {
            const size_t place[] = {c, t};
            double got, expected = lp_at((int64_t)c, from + (int64_t)t);
            assert_nc(nc_get_var1_double(group, variable, place, &got));
            assert_doubles(stats, &got, &expected, 1);
        }
}

static void test_warmup(void **state)
{
    (void)state;
    for (int type = 0; type < 2; type++) {
        gbs_results_spec spec = small(GBS_RESULTS_NETCDF, type ? GBS_F64 : GBS_F32);
        gbs_results_writer *writer;
        gbs_io_error error;
        int file;
        const char *path = scratch_path("warmup.nc");
        spec.warmup_draws = WARMUP;
        spec.first_draw = 40;
        assert_accepted("create", gbs_results_create(path, &spec, &writer, &error), &error);
        write_block(writer, spec.type, 1, 0, 4);
        write_block(writer, spec.type, 1, 4, 3);
        write_block(writer, spec.type, 0, 0, DRAWS);
        assert_accepted("finish", gbs_results_finish(writer, NULL, 0, &error), &error);
        assert_nc(nc_open(path, NC_NOWRITE, &file));
        assert_group(file, "posterior", "sample_stats", spec.type, DRAWS, 0, 40);
        assert_group(file, "warmup_posterior", "warmup_sample_stats", spec.type, WARMUP, 500, 0);
        assert_nc(nc_close(file));
        assert_draws(path, &spec, 2);
    }
    assert_count("files", scratch_entries(1), 1);
    print_message("checked: warm-up of %d draws in groups of its own, %d draws from number 40\n",
                  WARMUP, DRAWS);
}

static void test_order_of_blocks(void **state)
{
    (void)state;
    gbs_results_spec spec = small(GBS_RESULTS_NETCDF, GBS_F64);
    gbs_results_writer *writer;
    gbs_io_error error;
    double x[CHAINS * DIM] = {0}, lp[CHAINS] = {0};
    spec.warmup_draws = 2;
    assert_accepted("create", gbs_results_create(scratch_path("order.nc"), &spec, &writer, &error),
                    &error);
    assert_int_equal(gbs_results_write(writer, 0, 1, x, lp, &error), GBS_IO_WRITE);
    write_block(writer, GBS_F64, 1, 0, 1);
    assert_int_equal(gbs_results_write(writer, 0, 1, x, lp, &error), GBS_IO_WRITE);
    assert_int_equal(gbs_results_write_warmup(writer, 1, 2, x, lp, &error), GBS_IO_WRITE);
    assert_int_equal(gbs_results_write_moments(writer, 1, x, x, &error), GBS_IO_WRITE);
    gbs_results_abandon(writer);
    spec.format = GBS_RESULTS_NPY;
    assert_refused("a warm-up in .npy",
                   gbs_results_create(scratch_path("x.npy"), &spec, &writer, &error), &error,
                   GBS_IO_WRITE, "one .npy array holds draws alone");
    assert_count("files left", scratch_entries(1), 0);
    print_message("checked: draws before the end of the warm-up, too many of it, and moments in a "
                  "file of draws are refused\n");
}

/* A file begun for DRAWS draws that gets some is the one begun for these. */
static void test_fewer_draws(void **state)
{
    (void)state;
    const int64_t some = 4;
    for (int format = 0; format < 2; format++)
        for (int type = 0; type < 2; type++) {
            gbs_results_spec spec =
                small(format ? GBS_RESULTS_NETCDF : GBS_RESULTS_NPY, type ? GBS_F64 : GBS_F32);
            gbs_results_writer *begun, *shorter;
            gbs_io_error error;
            const char *path = scratch_path("part");
            spec.warmup_draws = format ? WARMUP : 0;
            assert_accepted("create", gbs_results_create(path, &spec, &begun, &error), &error);
            if (format)
                write_block(begun, spec.type, 1, 0, WARMUP);
            write_block(begun, spec.type, 0, 0, 3);
            write_block(begun, spec.type, 0, 3, some - 3);
            spec.draws = some;
            assert_accepted("create", gbs_results_create(path, &spec, &shorter, &error), &error);
            assert_accepted("copy", gbs_results_copy(begun, shorter, &error), &error);
            gbs_results_abandon(begun);
            assert_accepted("finish", gbs_results_finish(shorter, NULL, 0, &error), &error);
            assert_draws(path, &spec, 3);
            int file;
            if (format) {
                assert_nc(nc_open(path, NC_NOWRITE, &file));
                assert_group(file, "warmup_posterior", "warmup_sample_stats", spec.type, WARMUP,
                             500, 0);
                assert_nc(nc_close(file));
            }
        }
    assert_count("files", scratch_entries(0), 1);
    print_message("checked: %d of %d draws copied into a file of their own, both formats\n",
                  (int)some, DRAWS);
}

static void test_moments(void **state)
{
    (void)state;
    gbs_results_spec spec = small(GBS_RESULTS_NETCDF, GBS_F32);
    gbs_results_writer *writer;
    gbs_moments_file file;
    gbs_io_error error;
    int found;
    double mean[CHAINS * DIM], m2[CHAINS * DIM];
    char *names[DIM] = {"a", "b", "", "d", "e"};
    const char *path = scratch_path("moments.nc");
    for (int k = 0; k < CHAINS * DIM; k++) {
        mean[k] = 0.1 * k;
        m2[k] = 1e-300 * k;
    }
    spec.moments_only = 1;
    spec.first_chain = 70;
    for (int named = 0; named < 2; named++) {
        spec.names = named ? names : NULL;
        assert_accepted("create", gbs_results_create(path, &spec, &writer, &error), &error);
        assert_int_equal(gbs_results_write(writer, 0, 1, mean, m2, &error), GBS_IO_WRITE);
        assert_accepted("moments", gbs_results_write_moments(writer, 1234567, mean, m2, &error),
                        &error);
        assert_accepted("finish", gbs_results_finish(writer, NULL, 0, &error), &error);
        assert_accepted("read", gbs_moments_file_read(path, &found, &file, &error), &error);
        assert_true(found);
        assert_count("chains", file.chains, CHAINS);
        assert_count("sites", file.dim, DIM);
        assert_count("draws", file.draws, 1234567);
        assert_count("chain", file.chain_number[2], 72);
        assert_doubles("mean", file.mean, mean, CHAINS * DIM);
        assert_doubles("m2", file.m2, m2, CHAINS * DIM);
        assert_true((file.name != NULL) == named);
        if (named)
            assert_string_equal(file.name[3], "d");
        gbs_moments_file_free(&file);
    }
    gbs_results_reader *reader;
    assert_refused("moments as draws", gbs_results_open(path, &reader, &error), &error,
                   GBS_IO_CONTENT, "has no group posterior");
    print_message("checked: moments of %d x %d come back as written, with and without names\n",
                  CHAINS, DIM);
}

static void test_no_moments(void **state)
{
    (void)state;
    gbs_moments_file file;
    gbs_io_error error;
    int found = 1, id, group;
    assert_accepted("draws", gbs_moments_file_read(scratch_path("part"), &found, &file, &error),
                    &error);
    assert_false(found);
    assert_accepted("nothing", gbs_moments_file_read("/nowhere/x", &found, &file, &error), &error);
    assert_false(found);
    const char *path = scratch_path("empty.nc");
    assert_nc(nc_create(path, NC_NETCDF4, &id));
    assert_nc(nc_def_grp(id, "moments", &group));
    assert_nc(nc_close(id));
    assert_refused("moments", gbs_moments_file_read(path, &found, &file, &error), &error,
                   GBS_IO_CONTENT, "does not say of how many draws");
    const long long draws = 3;
    assert_nc(nc_open(path, NC_WRITE, &id));
    assert_nc(nc_inq_ncid(id, "moments", &group));
    assert_nc(nc_put_att_longlong(group, NC_GLOBAL, "draws", NC_INT64, 1, &draws));
    assert_nc(nc_close(id));
    assert_refused("moments", gbs_moments_file_read(path, &found, &file, &error), &error,
                   GBS_IO_CONTENT, "group moments cannot be read");
    assert_null(file.mean);
    print_message("checked: files of draws, missing files and empty groups are told apart\n");
}

/* Bytes of the directory's only file. */
static int64_t bytes_of_file(void)
{
    DIR *directory = opendir(scratch_directory);
    struct stat about = {0};
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            assert_int_equal(stat(scratch_path(entry->d_name), &about), 0);
    closedir(directory);
    return (int64_t)about.st_size;
}

/* The draws' numbers, 8 bytes each in two groups, come with the draws: before them the file is the
 * size that it is for ten, and what is announced counts both. */
static void test_numbers_come_with_draws(void **state)
{
    (void)state;
    gbs_results_spec spec = small(GBS_RESULTS_NETCDF, GBS_F64);
    const char *path = scratch_path("long.nc");
    int64_t bytes[2];
    scratch_entries(1);
    for (int many = 0; many < 2; many++) {
        gbs_results_writer *writer;
        gbs_io_error error;
        spec.draws = many ? 100000000 : DRAWS;
        assert_accepted("create", gbs_results_create(path, &spec, &writer, &error), &error);
        bytes[many] = bytes_of_file();
        write_block(writer, spec.type, 0, 0, DRAWS);
        gbs_results_abandon(writer);
        assert_count("files", scratch_entries(0), 0);
    }
    print_message("before the first of 10 draws %" PRId64 " bytes, of 100,000,000 %" PRId64 "\n",
                  bytes[0], bytes[1]);
    assert_true(bytes[0] > 0);
    assert_count("bytes before the first draw", bytes[1], bytes[0]);
    assert_true(gbs_results_bytes(&spec) == 1e8 * (CHAINS * (DIM * 8 + 8) + 2 * 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warmup),      cmocka_unit_test(test_order_of_blocks),
        cmocka_unit_test(test_fewer_draws), cmocka_unit_test(test_moments),
        cmocka_unit_test(test_no_moments),  cmocka_unit_test(test_numbers_come_with_draws),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
