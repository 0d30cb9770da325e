/* What a result format supplies to results.c: a table of functions, and structs that begin
 * with the common part.  Private to src/io. */
#ifndef GBS_IO_RESULTS_FORMAT_H
#define GBS_IO_RESULTS_FORMAT_H

#include "io/file.h"
#include "io/results.h"

#define GBS_HDF5_MAGIC "\x89HDF\r\n\x1a\n"
#define GBS_HDF5_MAGIC_BYTES 8

typedef struct gbs_writer_ops {
    /* Writes n draws; the bounds are checked already.  warmup: of the warm-up. */
    gbs_io_status (*write)(gbs_results_writer *writer, int warmup, int64_t first, int64_t n,
                           const void *x, const double *lp, gbs_io_error *error);
    /* Reads n written draws back: x [chains, n, dim], and lp [chains, n] where the format has it;
     * or, where this is NULL, copies all of them into a writer of its own kind. */
    gbs_io_status (*read_back)(gbs_results_writer *writer, int warmup, int64_t first, int64_t n,
                               void *x, double *lp, gbs_io_error *error);
    gbs_io_status (*copy)(gbs_results_writer *from, gbs_results_writer *to, gbs_io_error *error);
    /* NULL where the format has none. */
    gbs_io_status (*write_moments)(gbs_results_writer *writer, int64_t count, const double *mean,
                                   const double *m2, gbs_io_error *error);
    /* Completes the temporary, so that it only needs gbs_output_commit. */
    gbs_io_status (*complete)(gbs_results_writer *writer, const gbs_attribute *attributes,
                              int64_t attribute_count, gbs_io_error *error);
    /* Ends what the format itself holds; NULL where that is nothing. */
    void (*release)(gbs_results_writer *writer);
} gbs_writer_ops;

struct gbs_results_writer {
    const gbs_writer_ops *ops;
    gbs_output output;
    gbs_type type;
    int64_t chains, draws, dim;
    int64_t warmup_draws;
    int moments_only;
    int64_t written; /* draws */
    int64_t warmup_written;
    int failed; /* nothing more may be written */
};

/* Make a writer whose common part but for `ops` results.c has filled in; on failure results.c
 * abandons the output. */
gbs_io_status gbs_npy_results_create(gbs_results_writer *common, gbs_results_writer **out,
                                     gbs_io_error *error);
gbs_io_status gbs_netcdf_results_create(gbs_results_writer *common, const gbs_results_spec *spec,
                                        gbs_results_writer **out, gbs_io_error *error);

/* The common output is that of chain 0, the first of the files that `path` stands for. */
gbs_io_status gbs_stan_csv_results_create(gbs_results_writer *common, const char *path,
                                          const gbs_results_spec *spec, gbs_results_writer **out,
                                          gbs_io_error *error);

/* Labels of one axis: NULL where indices serve. */
typedef struct gbs_axis {
    int64_t length;
    char **label; /* [length] */
} gbs_axis;

typedef struct gbs_variable {
    char *name;
    int id;       /* the format's own */
    int64_t size; /* product of the axes' lengths */
    int axes;     /* beyond chain and draw */
    gbs_axis *axis;
    int named;    /* 1: an element's label is all of its name */
    int has_fill; /* values equal to fill are missing */
    double fill;
} gbs_variable;

typedef struct gbs_reader_ops {
    gbs_io_status (*read)(gbs_results_reader *reader, const gbs_variable *variable, int64_t first,
                          int64_t n, double *out, gbs_io_error *error);
    int (*attribute)(gbs_results_reader *reader, const char *group, const char *name,
                     gbs_attribute *out);
    void (*close)(gbs_results_reader *reader); /* the format's own part; NULL-safe inside */
} gbs_reader_ops;

struct gbs_results_reader {
    const gbs_reader_ops *ops;
    gbs_results_format format;
    char *path;
    int64_t chains, draws;
    int64_t *chain_number; /* [chains], NULL: 0, 1, ... */
    gbs_variable *variable;
    int64_t variable_count;
    void *scratch; /* what the last attribute points to */
};

/* Make a reader; on failure results.c closes what *out then holds (NULL or half-built). */
gbs_io_status gbs_npy_results_open(gbs_input *input, gbs_results_reader **out, gbs_io_error *error);
gbs_io_status gbs_stan_csv_results_open(gbs_input *input, gbs_results_reader **out,
                                        gbs_io_error *error);
gbs_io_status gbs_netcdf_results_open(const char *path, gbs_results_reader **out,
                                      gbs_io_error *error);

/* Room for one more variable; NULL if memory is short.  All zero but for what the format then
 * fills in; results.c frees it. */
gbs_variable *gbs_results_add_variable(gbs_results_reader *reader, const char *name, int axes);

/* A copy to be freed, or NULL. */
char *gbs_results_copy_text(const char *text);

/* HDF5 flushes open files when the process exits, and crashes there if it could not write them
 * (disk full).  Keeps it from doing so; call before any function of netCDF. */
void gbs_netcdf_prepare(void);

#endif
