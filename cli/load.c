/* Reads matrices and locations and hands them to the library, which does all checking of what
 * the numbers mean; here only shapes are looked at. */
#include "load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const f32_words[] = {"fine", "warn", "refuse"};

static exit_code judge_reading(gbs_io_status status, const gbs_io_error *error)
{
    if (status != GBS_IO_OK)
        return complain((exit_code)gbs_io_exit_code(status), "%s", error->message);
    return EXIT_FINE;
}

exit_code load_array(const char *path, gbs_array *out)
{
    gbs_io_error error;
    return judge_reading(gbs_array_read(path, out, &error), &error);
}

exit_code load_array_rows(const char *path, gbs_array *out)
{
    gbs_io_error error;
    return judge_reading(gbs_array_read_rows(path, out, &error), &error);
}

double array_at(const gbs_array *array, int64_t k)
{
    return array->type == GBS_F32 ? (double)((const float *)array->data)[k]
                                  : ((const double *)array->data)[k];
}

exit_code copy_numbers(const gbs_array *array, const char *what, double **out)
{
    *out = take(array->count, sizeof **out, what);
    for (int64_t k = 0; *out && k < array->count; k++)
        (*out)[k] = array_at(array, k);
    return *out ? EXIT_FINE : EXIT_FILE;
}

f32_verdict f32_judge(const gbs_spectrum *spectrum)
{
    const double error = spectrum->f32_covariance_error;
    return error <= 1e-3 ? F32_FINE : error <= 0.1 ? F32_WARN : F32_REFUSE;
}

exit_code complain_shape(const gbs_array *array, const char *path, const char *needed)
{
    char shape[96] = "";
    int used = 0;
    for (int k = 0; k < array->axes; k++)
        used += snprintf(shape + used, sizeof shape - (size_t)used, "%s%lld", k ? ", " : "",
                         (long long)array->shape[k]);
    return complain(EXIT_BAD_INPUT, "%s: has shape (%s), %s is needed", path, shape, needed);
}

exit_code complain_element(const gbs_array *array, const char *path, int64_t k, const char *what)
{
    const int64_t columns = array->shape[array->axes - 1];
    char place[64], number[32];
    if (array->axes == 1)
        snprintf(place, sizeof place, "(%lld)", (long long)k);
    else
        snprintf(place, sizeof place, "(%lld, %lld)", (long long)(k / columns),
                 (long long)(k % columns));
    return complain(EXIT_BAD_INPUT, "%s: element %s, counted from 0, is %s, which %s", path, place,
                    shortest(array_at(array, k), number), what);
}

exit_code check_single(const gbs_array *array, const char *path)
{
    for (int64_t k = 0; k < array->count; k++)
        if (isfinite(array_at(array, k)) && !isfinite((float)array_at(array, k)))
            return complain_element(array, path, k, "is beyond the range of --dtype f32");
    return EXIT_FINE;
}

/* Reports the pair that differs most, in the measure the library judges it by. */
static void say_asymmetry(const gbs_array *q, const char *path)
{
    const int64_t n = q->shape[0];
    double worst = 0;
    int64_t row = -1, column = -1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            const double gap = fabs(array_at(q, i * n + j) - array_at(q, j * n + i));
            if (gap == 0)
                continue;
            const double scale = sqrt(array_at(q, i * n + i) * array_at(q, j * n + j));
            if (gap > worst * scale) {
                worst = gap / scale;
                row = i;
                column = j;
            }
        }
    if (row >= 0)
        say("%s: not quite symmetric, entries (%lld, %lld) differ by %.3g of the diagonal's scale; "
            "their average is used",
            path, (long long)row, (long long)column, worst);
}

exit_code load_vector(const char *path, int64_t count, gbs_array *out)
{
    exit_code code = load_array(path, out);
    if (code != EXIT_FINE)
        return code;
    const bool flat =
        out->axes == 1 || (out->axes == 2 && (out->shape[0] == 1 || out->shape[1] == 1));
    if (flat && out->count == count)
        return EXIT_FINE;
    char needed[64];
    snprintf(needed, sizeof needed, "a vector of %lld", (long long)count);
    code = complain_shape(out, path, needed);
    gbs_array_free(out);
    return code;
}

/* A number for each site. */
static exit_code load_sites(const char *path, model_facts *facts, gbs_array *out)
{
    exit_code code = load_vector(path, facts->dim, out);
    return code == EXIT_FINE ? match_names(facts, path, out) : code;
}

static exit_code load_location(const model_files *files, model_facts *facts, gbs_model_spec *spec,
                               gbs_array *array)
{
    const struct {
        const char *path;
        gbs_location kind;
    } forms[] = {{files->mean, GBS_LOCATION_MEAN},
                 {files->info, GBS_LOCATION_INFORMATION},
                 {files->offset, GBS_LOCATION_OFFSET}};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++)
        if (forms[k].path) {
            exit_code code = load_sites(forms[k].path, facts, array);
            if (code == EXIT_FINE && files->single && forms[k].kind != GBS_LOCATION_INFORMATION)
                code = check_single(array, forms[k].path);
            if (code != EXIT_FINE)
                return code;
            spec->location_kind = forms[k].kind;
            spec->location_type = array->type;
            spec->location = array->data;
        }
    return EXIT_FINE;
}

/* The library takes doubles; *fixed is the caller's, ended by free(), NULL where none is given. */
static exit_code load_fixed(const model_files *files, model_facts *facts, gbs_model_spec *spec,
                            double **fixed)
{
    gbs_array array = {0};
    if (!files->fix)
        return EXIT_FINE;
    exit_code code = load_sites(files->fix, facts, &array);
    if (code == EXIT_FINE && files->single)
        code = check_single(&array, files->fix);
    if (code == EXIT_FINE)
        code = copy_numbers(&array, "fixed sites", fixed);
    spec->fixed = *fixed;
    gbs_array_free(&array);
    return code;
}

const char *bound_source(const char *option, const char *text, char to[64])
{
    double value;
    if (!text || !is_number(text, &value))
        return text;
    snprintf(to, 64, "%s %s", option, text);
    return to;
}

/* "constraints: row 3: lower 1 is above upper 0" */
static bool speaks_of_both_row_bounds(const char *message)
{
    return !strncmp(message, "constraints: row ", 17) && strstr(message, ": lower ") &&
           strstr(message, " is above upper ");
}

/* "constraints: lower of row 3 is NaN", "constraints: row 3: lower is inf, ...": of that bound
 * alone, where others are of a bound beside its row. */
static bool speaks_of_row_bound(const char *message, const char *bound)
{
    char first[40], later[40];
    snprintf(first, sizeof first, "constraints: %s of row ", bound);
    snprintf(later, sizeof later, ": %s is ", bound);
    return !strncmp(message, first, strlen(first)) ||
           (!strncmp(message, "constraints: row ", 17) && strstr(message, later));
}

/* The file that a message of gbs_model_create speaks of, or the option where that is a number: its
 * first word is the argument. */
static const char *blamed(const model_files *files, const char *message, char to[64])
{
    static const char *const words[] = {"location:", "mean:", "information:", "offset:"};
    const char *location = files->mean ? files->mean : files->info ? files->info : files->offset;
    if (files->fix && !strncmp(message, "fixed:", 6))
        return files->fix;
    if (files->lower && !strncmp(message, "lower:", 6))
        return bound_source("--lower", files->lower, to);
    if (files->upper && (!strncmp(message, "upper:", 6) || !strncmp(message, "lower:", 6)))
        return bound_source("--upper", files->upper, to);
    if (files->row_lower &&
        (speaks_of_row_bound(message, "lower") || speaks_of_both_row_bounds(message)))
        return bound_source("--row-lower", files->row_lower, to);
    if (files->row_upper && speaks_of_row_bound(message, "upper"))
        return bound_source("--row-upper", files->row_upper, to);
    if (files->rows && !strncmp(message, "constraints:", 12))
        return files->rows;
    for (size_t k = 0; location && k < sizeof words / sizeof *words; k++)
        if (!strncmp(message, words[k], strlen(words[k])))
            return location;
    return files->matrix;
}

static exit_code say_condition(gbs_context *ctx, const gbs_model *model, const char *path)
{
    gbs_spectrum spectrum;
    const gbs_status status = gbs_model_spectrum(ctx, model, &spectrum);
    if (status != GBS_OK)
        return complain_status(ctx, status);
    if (in_range(spectrum.condition))
        say("%s: covariance inverted, condition number %.3g", path, spectrum.condition);
    else
        say("%s: covariance inverted, condition number " OUT_OF_RANGE, path);
    return EXIT_FINE;
}

exit_code load_model(gbs_context *ctx, const model_files *files, gbs_model **model,
                     model_facts *facts)
{
    gbs_array matrix = {0}, location = {0};
    double *fixed = NULL, *lower = NULL, *upper = NULL;
    row_arrays rows = {0};
    gbs_model_spec spec = gbs_model_spec_default();
    *model = NULL;
    *facts = (model_facts){0};
    exit_code code = load_array(files->matrix, &matrix);
    if (code != EXIT_FINE)
        return code;
    const bool number = matrix.axes == 1 && matrix.shape[0] == 1; /* as CSV has a 1 x 1 matrix */
    if (!number && (matrix.axes != 2 || matrix.shape[0] != matrix.shape[1])) {
        code = complain_shape(&matrix, files->matrix, "a square matrix");
        goto done;
    }
    spec.dim = matrix.shape[0];
    spec.matrix_kind = files->covariance ? GBS_MATRIX_COVARIANCE : GBS_MATRIX_PRECISION;
    spec.matrix_type = matrix.type;
    spec.matrix = matrix.data;
    facts->dim = spec.dim;
    facts->duplicates = matrix.duplicates;
    take_names(facts, files->matrix, &matrix);
    if ((code = load_location(files, facts, &spec, &location)) != EXIT_FINE ||
        (code = load_fixed(files, facts, &spec, &fixed)) != EXIT_FINE ||
        (code = load_bounds(files->lower, facts, NULL, &lower)) != EXIT_FINE ||
        (code = load_bounds(files->upper, facts, NULL, &upper)) != EXIT_FINE ||
        (code = load_rows(files, facts, &spec, &rows)) != EXIT_FINE)
        goto done;
    spec.lower = lower;
    spec.upper = upper;
    const gbs_status status = gbs_model_create(ctx, &spec, model);
    if (status != GBS_OK) {
        char source[64];
        const char *message = gbs_context_message(ctx);
        code = complain(status == GBS_ERROR_MEMORY ? EXIT_FILE : EXIT_BAD_INPUT, "%s: %s",
                        blamed(files, message, source), message);
        goto done;
    }
    if (files->quiet)
        goto done;
    if (matrix.duplicates)
        say("%s: duplicate entries, summed: %lld", files->matrix, (long long)matrix.duplicates);
    say_asymmetry(&matrix, files->matrix);
    if (files->covariance)
        code = say_condition(ctx, *model, files->matrix);
done:
    if (code != EXIT_FINE) {
        gbs_model_release(*model);
        *model = NULL;
        model_facts_free(facts);
    }
    gbs_array_free(&matrix);
    gbs_array_free(&location);
    free(fixed);
    free(lower);
    free(upper);
    row_arrays_free(&rows);
    return code;
}
