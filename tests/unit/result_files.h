/* Result files with values that name their place, written in blocks and read back in ranges.
 * Include after cmocka.h. */
#ifndef GBS_TEST_RESULT_FILES_H
#define GBS_TEST_RESULT_FILES_H

#include "io/results.h"
#include "unit/io_scratch.h"

#include <stdlib.h>
#include <string.h>

/* A value that names its place and needs more than float's digits where T is double. */
static inline double value_at(gbs_type type, int64_t chain, int64_t draw, int64_t site)
{
    double value = 1e6 * (double)chain + 1e3 * (double)draw + (double)site + 0.1;
    return type == GBS_F32 ? (double)(float)value : value;
}

static inline double lp_at(int64_t chain, int64_t draw)
{
    return -0.1 * (double)(1000 * chain + draw + 1);
}

/* Writes draws in blocks of the given length. */
static inline void write_results(const char *path, const gbs_results_spec *spec, int64_t block)
{
    gbs_results_writer *writer;
    gbs_io_error error;
    assert_accepted("create", gbs_results_create(path, spec, &writer, &error), &error);
    double *x = malloc((size_t)(spec->chains * block * spec->dim) * sizeof *x);
    double *lp = malloc((size_t)(spec->chains * block) * sizeof *lp);
    assert_non_null(x);
    assert_non_null(lp);
    for (int64_t first = 0, n; first < spec->draws; first += n) {
        n = spec->draws - first < block ? spec->draws - first : block;
        for (int64_t c = 0; c < spec->chains; c++)
            for (int64_t t = 0; t < n; t++) {
                lp[c * n + t] = lp_at(c, first + t);
                for (int64_t d = 0; d < spec->dim; d++) {
                    int64_t place = (c * n + t) * spec->dim + d;
                    double value = value_at(spec->type, c, first + t, d);
                    if (spec->type == GBS_F32)
                        ((float *)x)[place] = (float)value;
                    else
                        x[place] = value;
                }
            }
        assert_accepted("write", gbs_results_write(writer, first, n, x, lp, &error), &error);
    }
    free(lp);
    free(x);
    const gbs_attribute last[] = {GBS_ATTRIBUTE_OF_TEXT("finished", 1, "yes")};
    assert_accepted("finish", gbs_results_finish(writer, last, 1, &error), &error);
}

/* Reads everything back in ranges of the given width. */
static inline void assert_draws(const char *path, const gbs_results_spec *spec, int64_t width)
{
    gbs_results_reader *reader;
    gbs_io_error error;
    assert_accepted(path, gbs_results_open(path, &reader, &error), &error);
    assert_count("chains", gbs_results_chains(reader), spec->chains);
    assert_count("draws", gbs_results_draws(reader), spec->draws);
    assert_count("variables", gbs_results_variable_count(reader), 1);
    assert_count("elements", gbs_results_variable_size(reader, 0), spec->dim);
    assert_count("format", gbs_results_reader_format(reader), spec->format);
    int64_t all = spec->chains * spec->draws;
    double *got = malloc((size_t)(width * all) * sizeof *got);
    assert_non_null(got);
    for (int64_t first = 0, n; first < spec->dim; first += n) {
        n = spec->dim - first < width ? spec->dim - first : width;
        assert_accepted(path, gbs_results_read(reader, 0, first, n, got, &error), &error);
        for (int64_t i = 0; i < n * all; i++) {
            int64_t c = i % all / spec->draws, t = i % spec->draws;
            double expected = value_at(spec->type, c, t, first + i / all);
            assert_doubles(path, &got[i], &expected, 1);
        }
    }
    free(got);
    gbs_results_close(reader);
}

/* Opens a file and reads its first element, if it holds few draws. */
static inline gbs_io_status open_and_close(const char *path, gbs_io_error *error)
{
    gbs_results_reader *reader;
    gbs_io_status status = gbs_results_open(path, &reader, error);
    double out[64];
    if (!status && gbs_results_chains(reader) * gbs_results_draws(reader) <= 64)
        status = gbs_results_read(reader, 0, 0, 1, out, error);
    gbs_results_close(reader);
    return status;
}

#endif
