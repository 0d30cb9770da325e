/* CmdStan's CSV files: draws come back under Stan's names, whatever range is asked for and in
 * whatever order; damaged files are refused by line and field. */
#define _POSIX_C_SOURCE 200809L

#include "io/results.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "unit/io_scratch.h"

#define HEADER "# method = sample (Default)\n#     num_samples = 3\n#     num_warmup = 5\n"
#define COLUMNS "lp__,theta.1,theta.2,Sigma.2.1,mu,divergent__,a.b\n"

static const char *const plain = HEADER "# id = 7\n" COLUMNS "-1,1,2,3,4,0,5\n"
                                        "# Adaptation terminated\n"
                                        "-2,1.5,nan, inf ,-4e-3,0,+5\r\n"
                                        "\n"
                                        "-3,10,20,30,40,1,50\n"
                                        "#  Elapsed Time: 0.1 seconds (Sampling)\n";

enum { SIZE = 5, DRAWS = 3 };
static const double expected[SIZE][DRAWS] = {
    {1, 1.5, 10}, {2, NAN, 20}, {3, INFINITY, 30}, {4, -4e-3, 40}, {5, 5, 50}};

static gbs_io_status open_text(const char *text, gbs_results_reader **reader, gbs_io_error *error)
{
    return gbs_results_open(scratch_text("c.csv", text), reader, error);
}

static void assert_range(gbs_results_reader *reader, int64_t first, int64_t n)
{
    double got[SIZE * DRAWS];
    char what[64];
    gbs_io_error error;
    snprintf(what, sizeof what, "elements %d to %d", (int)first, (int)(first + n - 1));
    assert_accepted(what, gbs_results_read(reader, 0, first, n, got, &error), &error);
    for (int64_t i = 0; i < n * DRAWS; i++) {
        const double *want = &expected[first + i / DRAWS][i % DRAWS];
        if (!isnan(*want) || !isnan(got[i]))
            assert_doubles(what, &got[i], want, 1);
    }
}

static void test_draws(void **state)
{
    (void)state;
    static const char *const names[SIZE] = {"theta[1]", "theta[2]", "Sigma[2,1]", "mu", "a.b"};
    gbs_results_reader *reader;
    gbs_io_error error;
    assert_accepted("plain", open_text(plain, &reader, &error), &error);
    assert_count("format", gbs_results_reader_format(reader), GBS_RESULTS_CSV);
    assert_count("chains", gbs_results_chains(reader), 1);
    assert_count("draws", gbs_results_draws(reader), DRAWS);
    assert_count("chain", gbs_results_chain_number(reader, 0), 7);
    assert_count("size", gbs_results_variable_size(reader, 0), SIZE);
    for (int64_t i = 0; i < SIZE; i++) {
        char name[32];
        assert_string_equal(gbs_results_element_name(reader, 0, i, name, sizeof name), names[i]);
    }
    for (int64_t n = 1; n <= SIZE; n++) { /* every range, forwards and backwards */
        for (int64_t first = 0; first + n <= SIZE; first++)
            assert_range(reader, first, n);
        for (int64_t first = SIZE - n; first >= 0; first--)
            assert_range(reader, first, n);
    }
    gbs_attribute samples;
    assert_true(gbs_results_attribute(reader, NULL, "num_samples", &samples));
    assert_count("num_samples", samples.value.int64, 3);
    assert_false(gbs_results_attribute(reader, NULL, "save_warmup", &samples));
    gbs_results_close(reader);
    print_message("%d columns of %d draws come back in every range\n", SIZE, DRAWS);
}

/* Warm-up draws that were saved are left out: ceil(num_warmup / thin) of them. */
static void test_warmup(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        int64_t draws;
    } cases[] = {{"#  num_warmup = 4\n# save_warmup = 0 (Default)\n", 6},
                 {"#  num_warmup = 4\n# save_warmup = 1\n", 2},
                 {"#  num_warmup = 4\n# save_warmup = true\n", 2},
                 {"#  num_warmup = 4\n# save_warmup = false\n", 6},
                 {"#  num_warmup = 4\n# save_warmup = 1\n# thin = 3\n", 4},
                 {"#  num_warmup = 0\n# save_warmup = 1\n", 6},
                 {"", 6}};
    const size_t count = sizeof cases / sizeof cases[0];
    for (size_t i = 0; i < count; i++) {
        char text[256];
        gbs_results_reader *reader;
        gbs_io_error error;
        double got[6];
        snprintf(text, sizeof text, "%sx\n1\n2\n3\n4\n5\n6\n", cases[i].settings);
        assert_accepted(text, open_text(text, &reader, &error), &error);
        assert_count(text, gbs_results_draws(reader), cases[i].draws);
        assert_accepted(text, gbs_results_read(reader, 0, 0, 1, got, &error), &error);
        for (int64_t t = 0; t < cases[i].draws; t++)
            assert_count(text, (int64_t)got[t], 7 - cases[i].draws + t);
        gbs_results_close(reader);
    }
    print_message("%zu settings of warm-up and thinning\n", count);
}

static gbs_io_status read_all(const char *path, gbs_io_error *error)
{
    gbs_results_reader *reader;
    gbs_io_status status = gbs_results_open(path, &reader, error);
    if (status)
        return status;
    const int64_t size = gbs_results_variable_size(reader, 0), draws = gbs_results_draws(reader);
    double *got = malloc((size_t)(size * draws) * sizeof *got);
    assert_non_null(got);
    status = gbs_results_read(reader, 0, 0, size, got, error);
    free(got);
    gbs_results_close(reader);
    return status;
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
        int64_t line;
    } cases[] = {
        {"x,y\n1,2\n3\n", "1 field, but the header has 2", 3},
        {"x,y\n1,2\n3,4,5\n", "3 fields, but the header has 2", 3},
        {"x,y\n1,2\n3,4", "the file ends within this line", 3},
        {"x,y\n1,2\n3,abc\n", "field 2: \"abc\" is not a number", 3},
        {"x,y\n1,2\n3,\n", "field 2: \"\" is not one number", 3},
        {"x,y\n1,2\n3,4 5\n", "field 2: \"4\" is not one number", 3},
        {"x,y\n1,2\n1e999,4\n", "field 1: \"1e999\" is beyond the range of a double", 3},
        {"x,\"y\n1,2\n", "field 2: the quotes are not closed", 1},
        {"lp__,accept_stat__\n-1,1\n", "no columns but those of the sampler", 1},
        {"x,y\n# nothing\n", "ends after line 2 without a draw", 0},
        {"# num_warmup = 2\n# save_warmup = 1\nx\n1\n2\n",
         "ends after line 5 without a draw behind those of the warm-up", 0},
        {"# nothing\n", "has no line of column names", 0},
        {"1,2\n3,4\n", "field 1, \"1\", is not the name of a column", 1},
        {"\n", "has no line of column names", 0},
        {"", "is empty", 0},
    };
    const size_t count = sizeof cases / sizeof cases[0];
    for (size_t i = 0; i < count; i++) {
        gbs_io_error error;
        assert_refused(cases[i].text, read_all(scratch_text("c.csv", cases[i].text), &error),
                       &error, GBS_IO_CONTENT, cases[i].words);
        assert_count(cases[i].text, error.line, cases[i].line);
    }
    print_message("%zu damaged files are refused, by line and field\n", count);
}

static void test_damage(void **state)
{
    (void)state;
    damage_every_byte("CmdStan's CSV", plain, strlen(plain), read_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draws),
        cmocka_unit_test(test_warmup),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
