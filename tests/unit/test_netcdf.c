/* netCDF-4 draws: our layout as netCDF-C itself sees it, the files of other programs, and
 * files that hold no draws. */
#define _POSIX_C_SOURCE 200809L

#include "io/npy.h"
#include "io/results.h"

#include <math.h>
#include <netcdf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "unit/result_files.h"

#define assert_nc(code) assert_string_equal(nc_strerror(code), nc_strerror(NC_NOERR))

/* Case C83: every dimension is defined in the group that uses it and has a coordinate variable
 * of its own there. */
static void assert_dimension(int group, int dim, const char *name, size_t length, long long first)
{
    char got[NC_MAX_NAME + 1];
    int count, dims[8], variable, axes, its_dim, here = 0;
    size_t got_length;
    nc_type type;
    assert_nc(nc_inq_dim(group, dim, got, &got_length));
    assert_string_equal(got, name);
    assert_count(name, (int64_t)got_length, (int64_t)length);
    assert_nc(nc_inq_dimids(group, &count, dims, 0));
    for (int i = 0; i < count; i++)
        here += dims[i] == dim;
    assert_count("definitions in this group", here, 1);
    assert_nc(nc_inq_varid(group, name, &variable));
    assert_nc(nc_inq_var(group, variable, NULL, &type, &axes, &its_dim, NULL));
    assert_count("type", type, NC_INT64);
    assert_count("axes", axes, 1);
    assert_count("dimension", its_dim, dim);
    for (size_t i = 0; i < length; i++) {
        long long value;
        assert_nc(nc_get_var1_longlong(group, variable, &i, &value));
        assert_count(name, value, first + (long long)i);
    }
}

static void assert_layout(const char *path, const gbs_results_spec *spec)
{
    int file, group, variable, axes, dims[3];
    nc_type type;
    size_t chains = (size_t)spec->chains, draws = (size_t)spec->draws, dim = (size_t)spec->dim;
    assert_nc(nc_open(path, NC_NOWRITE, &file));
    assert_nc(nc_inq_ncid(file, "posterior", &group));
    assert_nc(nc_inq_varid(group, "x", &variable));
    assert_nc(nc_inq_var(group, variable, NULL, &type, &axes, dims, NULL));
    assert_count("type of x", type, spec->type == GBS_F32 ? NC_FLOAT : NC_DOUBLE);
    assert_count("axes of x", axes, 3);
    assert_dimension(group, dims[0], "chain", chains, spec->first_chain);
    assert_dimension(group, dims[1], "draw", draws, 0);
    assert_dimension(group, dims[2], "x_dim_0", dim, 0);

    assert_nc(nc_inq_ncid(file, "sample_stats", &group));
    assert_nc(nc_inq_varid(group, "lp", &variable));
    assert_nc(nc_inq_var(group, variable, NULL, &type, &axes, dims, NULL));
    assert_count("type of lp", type, NC_DOUBLE);
    assert_count("axes of lp", axes, 2);
    assert_dimension(group, dims[0], "chain", chains, spec->first_chain);
    assert_dimension(group, dims[1], "draw", draws, 0);
    for (size_t c = 0; c < chains; c++)
        for (size_t t = 0; t < draws; t++) {
            const size_t place[] = {c, t};
            double got, expected = lp_at((int64_t)c, (int64_t)t);
            assert_nc(nc_get_var1_double(group, variable, place, &got));
            assert_doubles("lp", &got, &expected, 1);
        }

    assert_nc(nc_inq_ncid(file, "constant_data", &group));
    static const char *const constants[] = {"location", "diag_precision"};
    for (int i = 0; i < 2; i++) {
        double *got = calloc(dim, sizeof *got);
        assert_non_null(got);
        assert_nc(nc_inq_varid(group, constants[i], &variable));
        assert_nc(nc_inq_var(group, variable, NULL, &type, &axes, dims, NULL));
        assert_count("type of a constant", type, NC_DOUBLE);
        assert_dimension(group, dims[0], "x_dim_0", dim, 0);
        assert_nc(nc_get_var_double(group, variable, got));
        assert_doubles(constants[i], got, i ? spec->diag_precision : spec->location, spec->dim);
        free(got);
    }
    char form[16] = {0};
    assert_nc(nc_inq_varid(group, "location", &variable));
    assert_nc(nc_get_att_text(group, variable, "form", form));
    assert_string_equal(form, spec->location_form);
    assert_nc(nc_close(file));
}

static void test_layout(void **state)
{
    (void)state;
    static const double location[] = {0.1, 0.2, 0.3, 0.4, 0.5}, diag[] = {1, 2, 3, 4, 1e-300};
    for (int one = 0; one < 2; one++)
        for (int type = 0; type < 2; type++) {
            gbs_results_spec spec = {.format = GBS_RESULTS_NETCDF,
                                     .type = type ? GBS_F64 : GBS_F32,
                                     .chains = one ? 1 : 4,
                                     .draws = one ? 1 : 10,
                                     .dim = one ? 1 : 5,
                                     .first_chain = 1000000000000,
                                     .location = location,
                                     .location_form = "information",
                                     .diag_precision = diag};
            const char *path = scratch_path("layout.nc");
            write_results(path, &spec, 3);
            assert_layout(path, &spec);
        }
    scratch_entries(1);
    print_message("C83: groups, dimensions, coordinates and types are ArviZ's, 1 x 1 x 1 too\n");
}

static void test_attributes(void **state)
{
    (void)state;
    unsigned char bytes[5056];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(7 * i);
    const gbs_attribute attributes[] = {
        GBS_ATTRIBUTE_OF_TEXT("inference_library", 1, "gibbsite"),
        GBS_ATTRIBUTE_OF_TEXT("empty", 0, ""),
        GBS_ATTRIBUTE_OF_INT64("warmup", 0, INT64_MIN),
        GBS_ATTRIBUTE_OF_UINT64("seed", 1, UINT64_MAX),
        GBS_ATTRIBUTE_OF_DOUBLE("omega", 0, 0.1),
        GBS_ATTRIBUTE_OF_BYTES("torch_state", 0, bytes, (int64_t)sizeof bytes),
    };
    gbs_results_spec spec = {.format = GBS_RESULTS_NETCDF,
                             .type = GBS_F64,
                             .chains = 2,
                             .draws = 2,
                             .dim = 2,
                             .attributes = attributes,
                             .attribute_count = 6};
    const char *path = scratch_path("a.nc");
    write_results(path, &spec, 2);
    gbs_results_reader *reader;
    gbs_io_error error;
    gbs_attribute got;
    assert_accepted("open", gbs_results_open(path, &reader, &error), &error);
    static const char *const groups[] = {NULL, "posterior", "sample_stats"};
    for (int i = 0; i < 3; i++) {
        assert_true(gbs_results_attribute(reader, groups[i], "inference_library", &got));
        assert_string_equal(got.value.text, "gibbsite");
        assert_true(gbs_results_attribute(reader, groups[i], "finished", &got));
        assert_string_equal(got.value.text, "yes");
        assert_true(gbs_results_attribute(reader, groups[i], "seed", &got));
        assert_int_equal(got.kind, GBS_ATTRIBUTE_UINT64);
        assert_true(got.value.uint64 == UINT64_MAX);
        assert_int_equal(gbs_results_attribute(reader, groups[i], "warmup", &got), i == 0);
    }
    assert_true(gbs_results_attribute(reader, NULL, "warmup", &got));
    assert_true(got.kind == GBS_ATTRIBUTE_INT64 && got.value.int64 == INT64_MIN);
    assert_true(gbs_results_attribute(reader, NULL, "omega", &got));
    assert_true(got.kind == GBS_ATTRIBUTE_DOUBLE && got.value.float64 == 0.1);
    assert_true(gbs_results_attribute(reader, NULL, "empty", &got));
    assert_string_equal(got.value.text, "");
    assert_true(gbs_results_attribute(reader, NULL, "torch_state", &got));
    assert_count("bytes", got.count, sizeof bytes);
    assert_memory_equal(got.value.bytes, bytes, sizeof bytes);
    assert_false(gbs_results_attribute(reader, "prior", "seed", &got));
    gbs_results_close(reader);
    scratch_entries(1);
    print_message("attributes of 5 kinds come back, on the root and where asked on the groups\n");
}

/* ------------------------------------------------------------------ other programs' files */

enum { CHAINS = 3, DRAWS = 50, SCHOOLS = 3, ROWS = 2, COLUMNS = 4 };

static int add_dimension(int group, const char *name, size_t length)
{
    int dim;
    assert_nc(nc_def_dim(group, name, length, &dim));
    return dim;
}

static int add_variable(int group, const char *name, nc_type type, int axes, const int *dims)
{
    int variable;
    assert_nc(nc_def_var(group, name, type, axes, dims, &variable));
    return variable;
}

/* Fills a variable with 0, 1, 2, ... over [chain, draw, rest]. */
static void fill_variable(int group, int variable, int64_t count)
{
    double *values = malloc((size_t)count * sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < count; i++)
        values[i] = (double)i;
    assert_nc(nc_put_var_double(group, variable, values));
    free(values);
}

/* A file like those of PyMC and others: string and number labels, compression, chunks,
 * integers, a missing value, variables that are not draws. */
static const char *make_foreign(const char *name)
{
    const char *path = scratch_path(name);
    int file, group;
    assert_nc(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &file));
    assert_nc(nc_def_grp(file, "posterior", &group));
    int chain = add_dimension(group, "chain", CHAINS), draw = add_dimension(group, "draw", DRAWS);
    int school = add_dimension(group, "school", SCHOOLS), row = add_dimension(group, "row", ROWS);
    int column = add_dimension(group, "column", COLUMNS);

    static const long long chains[CHAINS] = {10, 20, 40};
    static const char *schools[SCHOOLS] = {"Choate", "St. Paul's", "Mt. \xc3\x89lan"};
    static const double columns[COLUMNS] = {0.5, 0.1, 1e-9, -3};
    assert_nc(
        nc_put_var_longlong(group, add_variable(group, "chain", NC_INT64, 1, &chain), chains));
    assert_nc(
        nc_put_var_string(group, add_variable(group, "school", NC_STRING, 1, &school), schools));
    assert_nc(
        nc_put_var_double(group, add_variable(group, "column", NC_DOUBLE, 1, &column), columns));

    const int dims[] = {chain, draw, row, column}, theta_dims[] = {chain, draw, school};
    const int swapped[] = {draw, chain};
    const size_t chunks[] = {1, 20, 1, 3};
    fill_variable(group, add_variable(group, "mu", NC_DOUBLE, 2, dims), CHAINS * DRAWS);
    fill_variable(group, add_variable(group, "theta", NC_FLOAT, 3, theta_dims),
                  CHAINS * DRAWS * SCHOOLS);
    int sigma = add_variable(group, "Sigma", NC_DOUBLE, 4, dims);
    assert_nc(nc_def_var_chunking(group, sigma, NC_CHUNKED, chunks));
    assert_nc(nc_def_var_deflate(group, sigma, 1, 1, 4));
    fill_variable(group, sigma, CHAINS * DRAWS * ROWS * COLUMNS);
    int k = add_variable(group, "k", NC_SHORT, 2, dims);
    const short missing = 7;
    assert_nc(nc_def_var_fill(group, k, NC_FILL, &missing));
    fill_variable(group, k, CHAINS * DRAWS);
    fill_variable(group, add_variable(group, "swapped", NC_DOUBLE, 2, swapped), CHAINS * DRAWS);
    add_variable(group, "note", NC_CHAR, 1, &school);
    assert_nc(nc_close(file));
    return path;
}

static int64_t find_variable(const gbs_results_reader *reader, const char *name)
{
    for (int64_t i = 0; i < gbs_results_variable_count(reader); i++) {
        if (strcmp(gbs_results_variable_name(reader, i), name) == 0)
            return i;
    }
    fail_msg("variable %s: expected in the file, got none", name);
    return -1;
}

/* Every element of a variable by every range, against 0, 1, 2, ... */
static void assert_counting(gbs_results_reader *reader, const char *name, int64_t size,
                            double missing)
{
    int64_t variable = find_variable(reader, name);
    double *got = malloc((size_t)(size * CHAINS * DRAWS) * sizeof *got);
    gbs_io_error error;
    assert_non_null(got);
    assert_count(name, gbs_results_variable_size(reader, variable), size);
    for (int64_t first = 0; first < size; first++)
        for (int64_t n = 1; n <= size - first; n++) {
            assert_accepted(name, gbs_results_read(reader, variable, first, n, got, &error),
                            &error);
            for (int64_t i = 0; i < n * CHAINS * DRAWS; i++) {
                int64_t row = i % (CHAINS * DRAWS);
                double expected = (double)(row * size + first + i / (CHAINS * DRAWS));
                if (expected == missing)
                    assert_true(isnan(got[i]));
                else
                    assert_doubles(name, &got[i], &expected, 1);
            }
        }
    free(got);
}

static void assert_name(const gbs_results_reader *reader, const char *variable, int64_t element,
                        const char *expected)
{
    char name[64], cut[6];
    int64_t which = find_variable(reader, variable);
    gbs_results_element_name(reader, which, element, name, sizeof name);
    assert_string_equal(name, expected);
    gbs_results_element_name(reader, which, element, cut, sizeof cut);
    assert_int_equal(strncmp(cut, expected, 5), 0);
    assert_true(strlen(cut) <= 5);
}

static void test_foreign(void **state)
{
    (void)state;
    gbs_results_reader *reader;
    gbs_io_error error;
    const char *path = make_foreign("foreign.nc");
    assert_accepted("open", gbs_results_open(path, &reader, &error), &error);
    assert_count("chains", gbs_results_chains(reader), CHAINS);
    assert_count("draws", gbs_results_draws(reader), DRAWS);
    assert_count("number of chain 2", gbs_results_chain_number(reader, 2), 40);
    assert_count("variables", gbs_results_variable_count(reader), 4);
    assert_counting(reader, "mu", 1, -1);
    assert_counting(reader, "theta", SCHOOLS, -1);
    assert_counting(reader, "Sigma", ROWS * COLUMNS, -1);
    assert_counting(reader, "k", 1, 7);
    assert_name(reader, "mu", 0, "mu");
    assert_name(reader, "theta", 1, "theta[St. Paul's]");
    assert_name(reader, "theta", 2, "theta[Mt. \xc3\x89lan]");
    assert_name(reader, "Sigma", 0, "Sigma[0, 0.5]");
    assert_name(reader, "Sigma", 6, "Sigma[1, 1e-09]");
    assert_name(reader, "Sigma", 7, "Sigma[1, -3]");
    double out;
    assert_refused("range", gbs_results_read(reader, 0, 1, 1, &out, &error), &error, GBS_IO_CONTENT,
                   "elements 1 ... 1 of mu, which has 1");
    gbs_results_close(reader);
    scratch_entries(1);
    print_message("a file with labels, compression, integers and gaps is read by name\n");
}

/* ------------------------------------------------------------------ refused */

/* A posterior with one variable, spoilt in one way. */
static const char *make_spoilt(const char *group_name, nc_type type, size_t draws,
                               const char *attribute)
{
    const char *path = scratch_path("spoilt.nc");
    int file, group;
    const double two = 2;
    assert_nc(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &file));
    assert_nc(nc_def_grp(file, group_name, &group));
    const int dims[] = {add_dimension(group, "chain", 2), add_dimension(group, "draw", draws)};
    int variable = add_variable(group, "x", type, 2, dims);
    if (attribute)
        assert_nc(nc_put_att_double(group, variable, attribute, NC_DOUBLE, 1, &two));
    assert_nc(nc_close(file));
    return path;
}

static void test_refused(void **state)
{
    (void)state;
    gbs_io_error error;
    assert_accepted("unspoilt",
                    open_and_close(make_spoilt("posterior", NC_DOUBLE, 2, NULL), &error), &error);
    assert_refused("prior only", open_and_close(make_spoilt("prior", NC_DOUBLE, 2, NULL), &error),
                   &error, GBS_IO_CONTENT, "has no group posterior");
    assert_refused("text", open_and_close(make_spoilt("posterior", NC_STRING, 2, NULL), &error),
                   &error, GBS_IO_CONTENT, "posterior/x holds no numbers");
    assert_refused("packed",
                   open_and_close(make_spoilt("posterior", NC_SHORT, 2, "scale_factor"), &error),
                   &error, GBS_IO_CONTENT, "posterior/x is packed (it has scale_factor)");
    assert_refused("unlimited and empty",
                   open_and_close(make_spoilt("posterior", NC_DOUBLE, NC_UNLIMITED, NULL), &error),
                   &error, GBS_IO_CONTENT, "posterior/x has a dimension of length 0");
    int file, group;
    const char *path = scratch_path("none.nc");
    assert_nc(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &file));
    assert_nc(nc_def_grp(file, "posterior", &group));
    assert_nc(nc_close(file));
    assert_refused("no variable", open_and_close(path, &error), &error, GBS_IO_CONTENT,
                   "has no variable with leading dimensions chain, draw");
    path = scratch_path("classic.nc");
    assert_nc(nc_create(path, NC_CLOBBER, &file));
    assert_nc(nc_close(file));
    assert_refused("classic", open_and_close(path, &error), &error, GBS_IO_CONTENT,
                   "is a classic netCDF file");
    assert_refused("text file", open_and_close(scratch_text("t.nc", "chain,draw\n"), &error),
                   &error, GBS_IO_CONTENT, "ends after line 1 without a draw");
    assert_refused(
        "HDF5 in name only",
        open_and_close(scratch_text("h.nc", "\x89HDF\r\n\x1a\nand nothing else"), &error), &error,
        GBS_IO_CONTENT, "is not a readable netCDF-4 file");
    const int64_t one_axis[] = {3};
    unsigned char npy[GBS_NPY_HEADER_BYTES + 24] = {0};
    size_t bytes = gbs_npy_write_header(npy, GBS_F64, 1, one_axis);
    assert_refused("one axis", open_and_close(scratch_file("1.npy", npy, bytes + 24), &error),
                   &error, GBS_IO_CONTENT, "has 1 axis; draws are [chain, draw, site]");
    assert_refused("missing", open_and_close(scratch_path("nothing"), &error), &error, GBS_IO_FILE,
                   "cannot be opened");
    scratch_entries(1);
    print_message("11 files that hold no draws are refused, each saying why\n");
}

/* ArviZ's own example file, where ../shared is: means as ArviZ prints them. */
static void test_centered_eight(void **state)
{
    (void)state;
    const char *path = GBS_TEST_DATA "/../../shared/data/netcdf/centered_eight.nc";
    if (access(path, R_OK) != 0) {
        print_message("skipped: there is no %s\n", path);
        skip();
    }
    gbs_results_reader *reader;
    gbs_io_error error;
    assert_accepted(path, gbs_results_open(path, &reader, &error), &error);
    assert_count("chains", gbs_results_chains(reader), 4);
    assert_count("draws", gbs_results_draws(reader), 500);
    assert_count("variables", gbs_results_variable_count(reader), 3);
    assert_name(reader, "mu", 0, "mu");
    assert_name(reader, "theta", 0, "theta[Choate]");
    assert_name(reader, "theta", 7, "theta[Mt. Hermon]");
    gbs_attribute got;
    assert_true(gbs_results_attribute(reader, "posterior", "inference_library", &got));
    assert_string_equal(got.value.text, "pymc");
    assert_true(gbs_results_attribute(reader, "posterior", "tuning_steps", &got));
    assert_count("tuning_steps", got.value.int64, 1000);
    gbs_results_close(reader);
    print_message("centered_eight.nc: 4 x 500 draws of mu, theta[school], tau\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),         cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_foreign),        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_centered_eight),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
