/* Draws in files: written block by block, read variable by variable, so that neither side ever
 * holds them all.  The formats behind one interface: .npy [chain, draw, site], netCDF-4 in the
 * layout of ArviZ's InferenceData, and the CSV files of CmdStan (docs/file-formats.md).  netCDF-C
 * is not thread-safe: use all of these from one thread at a time. */
#ifndef GBS_IO_RESULTS_H
#define GBS_IO_RESULTS_H

#include "gibbsite/gibbsite.h"
#include "io/error.h"
#include "io/file.h"

#include <stddef.h>
#include <stdint.h>

typedef enum gbs_results_format {
    GBS_RESULTS_NPY = 0,
    GBS_RESULTS_NETCDF = 1,
    GBS_RESULTS_CSV = 2 /* CmdStan's: one chain a file */
} gbs_results_format;

/* The format a name stands for, by its ending .npy, .nc or .csv (any case): 1 and *format set, or 0
 * for any other ending. */
int gbs_results_format_of(const char *path, gbs_results_format *format);

/* The file of one chain that `path` stands for with CSV: "draws_1.csv", "draws_2.csv" and so on for
 * draws.csv, or the path itself where there is one chain.  Owns: the caller's, ended by free();
 * NULL without memory. */
char *gbs_stan_csv_chain_path(const char *path, int64_t chains, int64_t chain);

/* ------------------------------------------------------------------ attributes */

typedef enum gbs_attribute_kind {
    GBS_ATTRIBUTE_TEXT = 0,
    GBS_ATTRIBUTE_INT64 = 1,
    GBS_ATTRIBUTE_UINT64 = 2,
    GBS_ATTRIBUTE_DOUBLE = 3,
    GBS_ATTRIBUTE_BYTES = 4
} gbs_attribute_kind;

/* One named fact about a run.  Make lists of these with the initialisers below. */
typedef struct gbs_attribute {
    const char *name; /* letters, digits and '_', not starting with a digit */
    gbs_attribute_kind kind;
    int in_groups; /* 1: on every group as well as on the root */
    union {
        const char *text; /* UTF-8 */
        int64_t int64;
        uint64_t uint64;
        double float64;
        const unsigned char *bytes;
    } value;
    int64_t count; /* BYTES: how many, >= 1 */
} gbs_attribute;

#define GBS_ATTRIBUTE_OF_TEXT(name, groups, x)                                                     \
    {                                                                                              \
        name, GBS_ATTRIBUTE_TEXT, groups, {.text = (x)}, 0                                         \
    }
#define GBS_ATTRIBUTE_OF_INT64(name, groups, x)                                                    \
    {                                                                                              \
        name, GBS_ATTRIBUTE_INT64, groups, {.int64 = (x)}, 0                                       \
    }
#define GBS_ATTRIBUTE_OF_UINT64(name, groups, x)                                                   \
    {                                                                                              \
        name, GBS_ATTRIBUTE_UINT64, groups, {.uint64 = (x)}, 0                                     \
    }
#define GBS_ATTRIBUTE_OF_DOUBLE(name, groups, x)                                                   \
    {                                                                                              \
        name, GBS_ATTRIBUTE_DOUBLE, groups, {.float64 = (x)}, 0                                    \
    }
#define GBS_ATTRIBUTE_OF_BYTES(name, groups, x, n)                                                 \
    {                                                                                              \
        name, GBS_ATTRIBUTE_BYTES, groups, {.bytes = (x)}, n                                       \
    }

/* ------------------------------------------------------------------ writing */

typedef struct gbs_results_spec {
    gbs_results_format format;
    gbs_type type;              /* of x */
    int64_t chains, draws, dim; /* each >= 1; axes of length 1 stay */
    int64_t first_chain;        /* coordinate of chain 0, and of draw 0 */
    int64_t first_draw;
    int64_t warmup_draws; /* kept of the warm-up, not for .npy; 0 for none */
    int moments_only;     /* netCDF only: no draws but gbs_results_write_moments */
    /* What follows goes into netCDF only; .npy has no place for it. */
    char *const *names;           /* [dim] of the sites, the coordinate x_dim_0; NULL: 0, 1, ... */
    const double *location;       /* [dim] constant_data/location; NULL leaves it out */
    const char *location_form;    /* "zero", "mean", "information" or "offset" */
    const double *diag_precision; /* [dim] constant_data/diag_precision; NULL leaves it out */
    const double *fixed;         /* [dim] constant_data/fixed, NaN where free; NULL leaves it out */
    const double *lower, *upper; /* [dim] constant_data/lower and upper; NULL leaves them out */
    const double *start;         /* [dim] constant_data/start; NULL leaves it out */
    const gbs_attribute *attributes; /* on the root, and where in_groups says so on the groups */
    int64_t attribute_count;
} gbs_results_spec;

typedef struct gbs_results_writer gbs_results_writer;

/* Starts a result file under a temporary name.  Copies nothing of spec but its sizes:
 * location and attributes are written now, except those given to gbs_results_finish.
 * Owns: *out is ended by exactly one of gbs_results_finish and gbs_results_abandon.
 * Fails: WRITE, MEMORY; *out is then NULL and nothing is left behind. */
gbs_io_status gbs_results_create(const char *path, const gbs_results_spec *spec,
                                 gbs_results_writer **out, gbs_io_error *error);

/* About how many bytes a file of this spec will have: netCDF's own are left out, and a number of
 * CSV has 20. */
double gbs_results_bytes(const gbs_results_spec *spec);

/* How many bytes the writer's file system still takes; -1 where it does not say. */
int64_t gbs_results_free_bytes(const gbs_results_writer *writer);

/* Appends draws first .. first + n - 1 of every chain; `first` must be the number of draws
 * written so far, and first + n at most `draws`.  Give every block but the last the same n: the
 * first one decides how netCDF lays the file out.
 * Shape: x [chains, n, dim] of the spec's type; lp [chains, n] or NULL.  lp is for
 * sample_stats/lp of netCDF and lp__ of CSV, must be given there, and is ignored for .npy.
 * Fails: WRITE; the writer is then good only for gbs_results_abandon. */
gbs_io_status gbs_results_write(gbs_results_writer *writer, int64_t first, int64_t n, const void *x,
                                const double *lp, gbs_io_error *error);

/* The same for draws of the warm-up, all of which come before the others. */
gbs_io_status gbs_results_write_warmup(gbs_results_writer *writer, int64_t first, int64_t n,
                                       const void *x, const double *lp, gbs_io_error *error);

/* Instead of draws: means and sums of squares about them, over `count` draws of each chain.
 * Shape: mean, m2 [chains, dim].
 * Fails: WRITE; the writer is then good only for gbs_results_abandon. */
gbs_io_status gbs_results_write_moments(gbs_results_writer *writer, int64_t count,
                                        const double *mean, const double *m2, gbs_io_error *error);

/* Appends all draws that `from` has to `to`, a writer of as many draws and else the same shape; how
 * a file that was begun for more draws becomes a complete one.  `from` is not changed.
 * Fails: WRITE, MEMORY; both are then good only for gbs_results_abandon. */
gbs_io_status gbs_results_copy(gbs_results_writer *from, gbs_results_writer *to,
                               gbs_io_error *error);

/* Adds attributes known only at the end (a generator's state), then makes the file appear
 * under its final name.  attributes may be NULL with a count of 0; ignored for .npy.
 * Fails: WRITE (also when draws are missing); the final name is then as it was, but that of
 * several files some may have been renamed when one cannot be.  The writer
 * is ended either way. */
gbs_io_status gbs_results_finish(gbs_results_writer *writer, const gbs_attribute *attributes,
                                 int64_t attribute_count, gbs_io_error *error);

/* Ends the writer and removes what it wrote; the final name is as it was.  Accepts NULL. */
void gbs_results_abandon(gbs_results_writer *writer);

/* ------------------------------------------------------------------ moments, read */

/* What a file made by gbs_results_write_moments holds. */
typedef struct gbs_moments_file {
    int64_t chains, dim, draws;
    int64_t *chain_number; /* [chains] */
    char **name;           /* [dim] of the sites; NULL: 0, 1, ... */
    double *mean, *m2;     /* [chains, dim] */
} gbs_moments_file;

/* Reads one.  *found is 0, and nothing else is done, where the file is another kind.
 * Owns: *out is ended by gbs_moments_file_free, which accepts one of zeros.
 * Fails: FILE, CONTENT, MEMORY; *out is then all zero. */
gbs_io_status gbs_moments_file_read(const char *path, int *found, gbs_moments_file *out,
                                    gbs_io_error *error);
void gbs_moments_file_free(gbs_moments_file *file);

/* ------------------------------------------------------------------ reading */

typedef struct gbs_results_reader gbs_results_reader;

/* Opens draws, recognised by content: .npy [chain, draw, site], or [chain, draw] as one
 * variable; any netCDF-4 file with a group posterior: every variable there whose leading
 * dimensions are chain and draw, of floating or integer type and any further shape; or the CSV
 * file of one chain (io/stan_csv.h).
 * Owns: *out is ended by gbs_results_close.
 * Fails: FILE, CONTENT, MEMORY; *out is then NULL. */
gbs_io_status gbs_results_open(const char *path, gbs_results_reader **out, gbs_io_error *error);

/* The same from an input that is already open, which the reader takes over on success. */
gbs_io_status gbs_results_open_input(gbs_input *input, gbs_results_reader **out,
                                     gbs_io_error *error);

void gbs_results_close(gbs_results_reader *reader); /* accepts NULL */

gbs_results_format gbs_results_reader_format(const gbs_results_reader *reader);
int64_t gbs_results_chains(const gbs_results_reader *reader);
int64_t gbs_results_draws(const gbs_results_reader *reader);

/* The global number of chain c (its coordinate where the file has one, else c). */
int64_t gbs_results_chain_number(const gbs_results_reader *reader, int64_t chain);

/* Variables, in the file's order; an .npy file has one, "x", and a CSV file one, whose elements
 * are its columns. */
int64_t gbs_results_variable_count(const gbs_results_reader *reader);
const char *gbs_results_variable_name(const gbs_results_reader *reader, int64_t variable);
int64_t gbs_results_variable_size(const gbs_results_reader *reader,
                                  int64_t variable); /* elements */

/* Name of one element as ArviZ prints it: "mu" for a scalar, else "theta[Choate]" or "x[0]",
 * "Sigma[0, 1]", by coordinate label where the dimension has one and by index where not; of a CSV
 * file as Stan prints it: "theta[1]" for the column theta.1.
 * Writes at most `capacity` bytes, always terminated, and returns `to`. */
const char *gbs_results_element_name(const gbs_results_reader *reader, int64_t variable,
                                     int64_t element, char *to, size_t capacity);

/* Reads elements first .. first + n - 1 (row-major over the variable's own shape) of every
 * draw of every chain.  Beside `out` it takes a MiB, or one draw of the
 * variable in all chains where that is more; up to 64 MiB where the file is stored in chunks.
 * Shape: out [n, chains, draws].  A value equal to the variable's _FillValue becomes NaN. Fails:
 * FILE, CONTENT, MEMORY. */
gbs_io_status gbs_results_read(gbs_results_reader *reader, int64_t variable, int64_t first,
                               int64_t n, double *out, gbs_io_error *error);

/* Looks up an attribute: group NULL for the root, or "posterior", "sample_stats" and so on.
 * 1 and *out filled, or 0 where there is none of that name or it is of another kind
 * (arrays other than bytes).  Any integer type comes as INT64, uint64 as UINT64, float and
 * double as DOUBLE, an array of (u)int8 as BYTES.  Owns: what *out points to is the reader's,
 * valid until the next call of this function or close. */
int gbs_results_attribute(gbs_results_reader *reader, const char *group, const char *name,
                          gbs_attribute *out);

#endif
