/* Bounds of sites, and row constraints: numbers, or files. */
#define _POSIX_C_SOURCE 200809L
#include "load.h"
#include "options.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool is_number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    const bool plain = !isspace((unsigned char)*text) && !strpbrk(text, "xX(");
    return plain && *text != '\0' && *end == '\0';
}

/* A number that is written with digits and becomes inf. */
static bool overflows(const char *text)
{
    double value;
    return is_number(text, &value) && isinf(value) && strpbrk(text, "0123456789") != NULL;
}

/* `text`, which is no number, should name a file that is there. */
static exit_code check_bound_file(const char *text)
{
    if (strchr(text, ':') || access(text, F_OK) == 0) /* a member of an archive has a colon */
        return EXIT_FINE;
    return complain(EXIT_FILE, "%s: is neither a number nor a file: %s", text, strerror(errno));
}

static exit_code repeat_number(double value, int64_t count, double **out)
{
    *out = take(count, sizeof **out, "bounds");
    for (int64_t k = 0; *out && k < count; k++)
        (*out)[k] = value;
    return *out ? EXIT_FINE : EXIT_FILE;
}

/* A bound under another name than its row's is in the wrong place; where the rows have no names,
 * those of the first bounds become theirs. */
static exit_code match_row_names(row_arrays *rows, const char *path, gbs_array *array)
{
    for (int64_t k = 0; array->name && rows->name && k < rows->rows; k++)
        if (strcmp(array->name[k], rows->name[k]) != 0)
            return complain(EXIT_BAD_INPUT,
                            "%s: number %lld is named \"%.40s\", but row \"%.40s\" in %s", path,
                            (long long)k + 1, array->name[k], rows->name[k], rows->name_path);
    if (array->name && !rows->name) {
        rows->name = array->name;
        rows->name_path = path;
        array->name = NULL;
    }
    return EXIT_FINE;
}

exit_code load_bounds(const char *text, model_facts *facts, row_arrays *rows, double **out)
{
    const int64_t count = rows ? rows->rows : facts->dim;
    double value;
    if (!text)
        return EXIT_FINE;
    if (is_number(text, &value))
        return repeat_number(value, count, out);
    gbs_array array = {0};
    exit_code code = check_bound_file(text);
    if (code == EXIT_FINE)
        code = load_vector(text, count, &array);
    if (code == EXIT_FINE)
        code = rows ? match_row_names(rows, text, &array) : match_names(facts, text, &array);
    if (code == EXIT_FINE)
        code = copy_numbers(&array, rows ? "constraints" : "bounds", out);
    gbs_array_free(&array);
    return code;
}

exit_code check_bound_options(const cli_command *command, const model_files *files)
{
    if (files->rows && !files->row_lower && !files->row_upper)
        return usage_error(command, "--rows: neither --row-lower nor --row-upper bounds them");
    if (!files->rows && (files->row_lower || files->row_upper))
        return usage_error(command, "%s bounds the rows of --rows, which is not given",
                           files->row_lower ? "--row-lower" : "--row-upper");
    const struct {
        const char *option, *text;
    } bounds[] = {{"--lower", files->lower},
                  {"--upper", files->upper},
                  {"--row-lower", files->row_lower},
                  {"--row-upper", files->row_upper}};
    for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++)
        if (bounds[k].text && overflows(bounds[k].text))
            return usage_error(command, "%s: %s is beyond the range of double", bounds[k].option,
                               bounds[k].text);
    return EXIT_FINE;
}

static exit_code load_matrix(const model_files *files, model_facts *facts, row_arrays *rows)
{
    gbs_array array = {0};
    exit_code code = load_array_rows(files->rows, &array);
    if (code != EXIT_FINE)
        return code;
    const bool one = array.axes == 1 && array.shape[0] == facts->dim;
    if (one || (array.axes == 2 && array.shape[1] == facts->dim)) {
        rows->rows = one ? 1 : array.shape[0];
        rows->name = array.row_name;
        rows->name_path = files->rows;
        array.row_name = NULL;
        code = match_names(facts, files->rows, &array);
        if (code == EXIT_FINE)
            code = copy_numbers(&array, "constraints", &rows->matrix);
    } else {
        char needed[64];
        snprintf(needed, sizeof needed, "(rows, %" PRId64 ")", facts->dim);
        code = complain_shape(&array, files->rows, needed);
    }
    if (code == EXIT_FINE && array.duplicates && !files->quiet)
        say("%s: duplicate entries, summed: %" PRId64, files->rows, array.duplicates);
    gbs_array_free(&array);
    return code;
}

exit_code load_rows(const model_files *files, model_facts *facts, gbs_model_spec *spec,
                    row_arrays *rows)
{
    assert(rows != NULL);
    if (!files->rows)
        return EXIT_FINE;
    exit_code code = load_matrix(files, facts, rows);
    if (code == EXIT_FINE)
        code = load_bounds(files->row_lower, facts, rows, &rows->lower);
    if (code == EXIT_FINE)
        code = load_bounds(files->row_upper, facts, rows, &rows->upper);
    spec->constraints = (gbs_constraints){
        .rows = rows->rows, .matrix = rows->matrix, .lower = rows->lower, .upper = rows->upper};
    return code;
}

void row_arrays_free(row_arrays *rows)
{
    free(rows->matrix);
    free(rows->lower);
    free(rows->upper);
    for (int64_t k = 0; rows->name && k < rows->rows; k++)
        free(rows->name[k]);
    free(rows->name);
    *rows = (row_arrays){0};
}
