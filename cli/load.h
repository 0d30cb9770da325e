/* From files to a model: what sample and info share. */
#ifndef GIBBSITE_CLI_LOAD_H
#define GIBBSITE_CLI_LOAD_H

#include "cli.h"
#include "options.h"

#include "io/array.h"

typedef struct model_files {
    const char *matrix;
    bool covariance;
    const char *mean, *info, *offset;         /* at most one */
    const char *fix;                          /* values of sites to hold, NaN for the others */
    const char *lower, *upper;                /* bounds of sites: files, or numbers */
    const char *rows, *row_lower, *row_upper; /* constraints; bounds are files, or numbers */
    bool quiet;                               /* no notices */
    bool single; /* --dtype f32: means, offsets and fixed values must be within its range */
} model_files;

/* Reads an array; prints what failed. */
exit_code load_array(const char *path, gbs_array *out);
exit_code load_array_rows(const char *path, gbs_array *out); /* gbs_array_read_rows */

/* Element k of an array of either type, in double. */
double array_at(const gbs_array *array, int64_t k);

/* All elements in double; `what` names them where memory is short.  *out is the caller's, ended by
 * free(). */
exit_code copy_numbers(const gbs_array *array, const char *what, double **out);

/* A vector of `count` numbers: [count], [count, 1] or [1, count]. */
exit_code load_vector(const char *path, int64_t count, gbs_array *out);

/* Refuses an array, with its shape and the one that is needed. */
exit_code complain_shape(const gbs_array *array, const char *path, const char *needed);

/* Refuses element k of an array, by its place and its number. */
exit_code complain_element(const gbs_array *array, const char *path, int64_t k, const char *what);

/* Refuses the first finite number that is beyond the range of float. */
exit_code check_single(const gbs_array *array, const char *path);

/* What the files say beside the model's numbers. */
typedef struct model_facts {
    int64_t duplicates; /* entries of the matrix that were summed into another */
    int64_t dim;
    char **names; /* [dim] of the sites, where a CSV file has them; else NULL */
    const char *names_path;
} model_facts;

/* The matrix's names, if it has any, become the sites'.  `path` must outlive *facts. */
void take_names(model_facts *facts, const char *path, gbs_array *array);

/* The same for an array of dim numbers, or of rows of them; refuses names that are not those of an
 * earlier file, and where there are none such as count the sites in another order. */
exit_code match_names(model_facts *facts, const char *path, gbs_array *array);

/* What messages call the bounds that an option gives: the file, or "--lower 1" where that is a
 * number. */
const char *bound_source(const char *option, const char *text, char to[64]);

/* Reads the files, makes the model, and says on stderr what is worth knowing of them: summed
 * duplicates, asymmetry, a covariance's condition number.
 * Owns: *model is released by the caller, and *facts ended by model_facts_free; NULL and all zero
 * unless EXIT_FINE. */
exit_code load_model(gbs_context *ctx, const model_files *files, gbs_model **model,
                     model_facts *facts);

/* All of `text` as a decimal number: inf and nan are numbers too, a file of that name is ./inf. */
bool is_number(const char *text, double *value);

/* Row constraints.  check: bounds need rows, rows need bounds, and a number must fit in double.
 * load: what it fills must outlive gbs_model_create, and is ended by row_arrays_free, whatever
 * comes back. */
typedef struct row_arrays {
    double *matrix, *lower, *upper;
    int64_t rows;
    char **name; /* [rows], where a CSV file has them; else NULL */
    const char *name_path;
} row_arrays;
exit_code check_bound_options(const cli_command *command, const model_files *files);
exit_code load_rows(const model_files *files, model_facts *facts, gbs_model_spec *spec,
                    row_arrays *rows);
void row_arrays_free(row_arrays *rows);

/* The bounds that an option gives: of the rows, or of the sites where `rows` is NULL.  `text` is a
 * number, for each of them, or names a file with a vector of so many; NULL leaves *out as it is,
 * else it is the caller's, ended by free(). */
exit_code load_bounds(const char *text, model_facts *facts, row_arrays *rows, double **out);

void model_facts_free(model_facts *facts); /* accepts an all-zero one; leaves it so */

/* What float does to the law of a model whose spectrum is known (docs/program.md). */
typedef enum f32_verdict { F32_FINE, F32_WARN, F32_REFUSE } f32_verdict;
f32_verdict f32_judge(const gbs_spectrum *spectrum);
extern const char *const f32_words[]; /* "fine", "warn", "refuse" */

#endif
