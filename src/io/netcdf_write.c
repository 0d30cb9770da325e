/* Draws as netCDF-4 in the layout of ArviZ's InferenceData: groups posterior, sample_stats and
 * constant_data, each with its own dimensions and a coordinate variable for every one, because
 * readers other than netCDF-C resolve dimensions within the group only.
 *
 * HDF5 keeps what it could not write and tries again when the file is closed and when the
 * process exits; both can crash (seen with HDF5 1.10.8 on a full disk).  So a file is closed
 * only after it has been flushed and its first bytes have been rewritten through a descriptor
 * of our own, and in a process of its own; one that failed is left open for the rest of this one.
 */
#define _POSIX_C_SOURCE 200809L

#include "io/results_format.h"

#include <dlfcn.h>
#include <errno.h>
#include <netcdf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The groups of draws: those kept, or the warm-up's.  -1: no such group. */
typedef struct draws_groups {
    int posterior, x, posterior_draw; /* the coordinate draw, with the draws' numbers */
    int stats, lp, stats_draw;
    int64_t draws, first; /* how many, and the first one's number */
} draws_groups;

typedef struct netcdf_writer {
    gbs_results_writer common;
    int file;
    draws_groups of[2]; /* [1]: of the warm-up */
    int moments, constants;
} netcdf_writer;

void gbs_netcdf_prepare(void)
{
    /* Looked up in whatever HDF5 netCDF has brought along: linking a second one would be worse
     * than not calling this.  Without effect once HDF5 runs. */
    void *program = dlopen(NULL, RTLD_LAZY);
    if (!program)
        return;
    int (*dont_atexit)(void) = NULL;
    *(void **)(&dont_atexit) = dlsym(program, "H5dont_atexit");
    if (dont_atexit)
        dont_atexit();
    dlclose(program);
}

/* netCDF says "HDF error" for a full disk, or worse.  Writing a little at the end of the
 * temporary, which is of no use any more, asks the system itself. */
static gbs_io_status fail_write(const gbs_results_writer *writer, int code, gbs_io_error *error)
{
    static const char nothing[8192];
    struct stat about;
    int file = fileno(writer->output.stream);
    int system_fails =
        fstat(file, &about) != 0 ||
        gbs_output_write_at(&writer->output, nothing, sizeof nothing, about.st_size) != 0 ||
        fsync(file) != 0;
    return gbs_io_fail(error, GBS_IO_WRITE, writer->output.path, "cannot be written: %s",
                       system_fails ? strerror(errno) : nc_strerror(code));
}

static int put_attribute(int group, const gbs_attribute *a)
{
    switch (a->kind) {
    case GBS_ATTRIBUTE_TEXT:
        return nc_put_att_text(group, NC_GLOBAL, a->name, strlen(a->value.text), a->value.text);
    case GBS_ATTRIBUTE_INT64: {
        const long long value = a->value.int64;
        return nc_put_att_longlong(group, NC_GLOBAL, a->name, NC_INT64, 1, &value);
    }
    case GBS_ATTRIBUTE_UINT64: {
        const unsigned long long value = a->value.uint64;
        return nc_put_att_ulonglong(group, NC_GLOBAL, a->name, NC_UINT64, 1, &value);
    }
    case GBS_ATTRIBUTE_DOUBLE:
        return nc_put_att_double(group, NC_GLOBAL, a->name, NC_DOUBLE, 1, &a->value.float64);
    case GBS_ATTRIBUTE_BYTES:
        return nc_put_att_uchar(group, NC_GLOBAL, a->name, NC_UBYTE, (size_t)a->count,
                                a->value.bytes);
    }
    return NC_EBADTYPE;
}

/* Attributes of the root (everywhere 0) or those meant for the groups too (1). */
static int put_attributes(int group, const gbs_attribute *attributes, int64_t count, int everywhere)
{
    int code = NC_NOERR;
    for (int64_t i = 0; !code && i < count; i++) {
        if (!everywhere || attributes[i].in_groups)
            code = put_attribute(group, &attributes[i]);
    }
    return code;
}

/* Elements from, ..., from + length - 1 of a coordinate variable: first + from, ..., in blocks so
 * that no memory is needed. */
static int put_numbers(int group, int variable, int64_t from, int64_t length, int64_t first)
{
    long long block[1024];
    int code = NC_NOERR;
    for (int64_t done = 0, n; !code && done < length; done += n) {
        n = length - done < 1024 ? length - done : 1024;
        for (int64_t i = 0; i < n; i++)
            block[i] = first + from + done + i;
        const size_t start = (size_t)(from + done), count = (size_t)n;
        code = nc_put_vara_longlong(group, variable, &start, &count, block);
    }
    return code;
}

/* A dimension and its coordinate variable first, first + 1, ... */
static int put_coordinate(int group, const char *name, int64_t length, int64_t first, int *dim)
{
    int variable;
    int code = nc_def_dim(group, name, (size_t)length, dim);
    if (!code)
        code = nc_def_var(group, name, NC_INT64, 1, dim, &variable);
    return code ? code : put_numbers(group, variable, 0, length, first);
}

/* The dimension of the draws.  Its numbers come with them: a file of 10^9 draws would else begin
 * with 8 GB of these. */
static int define_draw(int group, int64_t draws, int *variable)
{
    int dim;
    int code = nc_def_dim(group, "draw", (size_t)draws, &dim);
    if (!code)
        code = nc_def_var(group, "draw", NC_INT64, 1, &dim, variable);
    if (!code)
        code = nc_def_var_chunking(group, *variable, NC_CONTIGUOUS, NULL);
    return code ? code : nc_def_var_fill(group, *variable, NC_NOFILL, NULL);
}

/* The dimension of the sites, by their names where they have some. */
static int put_sites(int group, const gbs_results_spec *spec, int *dim)
{
    int variable;
    if (!spec->names)
        return put_coordinate(group, "x_dim_0", spec->dim, 0, dim);
    int code = nc_def_dim(group, "x_dim_0", (size_t)spec->dim, dim);
    if (!code)
        code = nc_def_var(group, "x_dim_0", NC_STRING, 1, dim, &variable);
    for (size_t i = 0; !code && i < (size_t)spec->dim; i++) {
        const char *name = spec->names[i];
        code = nc_put_var1_string(group, variable, &i, &name);
    }
    return code;
}

/* Bytes of one chain in a block of draws from which a contiguous layout is the better one, and
 * of a chunk where it is not.  HDF5 writes shorter pieces of a contiguous variable by reading,
 * changing and writing back 64 KiB around each. */
#define LONG_PIECE 65536
#define CHUNK_BYTES (1 << 20)

/* The largest divisor of n draws, so that no chunk is written twice, for which a chunk of all
 * chains is within its size and the last chunk wastes little. */
static int64_t chunk_draws(int64_t n, int64_t draws, int64_t bytes_of_draw)
{
    int64_t most = CHUNK_BYTES / bytes_of_draw, k = n;
    if (most > 1 + draws / 16)
        most = 1 + draws / 16;
    while (k > 1 && (n % k || k > most))
        k--;
    return k;
}

/* A variable [chain, draw, ...] of `row` bytes a draw and chain, to be written in blocks of n
 * draws of `draws`. */
static int define_draws(const gbs_results_writer *common, int64_t draws, int group,
                        const char *name, nc_type type, int axes, int64_t row, int64_t n,
                        int *variable)
{
    static const char *const names[] = {"chain", "draw", "x_dim_0"};
    int dims[3], code = NC_NOERR;
    for (int i = 0; !code && i < axes; i++)
        code = nc_inq_dimid(group, names[i], &dims[i]);
    if (!code)
        code = nc_def_var(group, name, type, axes, dims, variable);
    if (code)
        return code;
    if (n == draws || n * row >= LONG_PIECE) {
        code = nc_def_var_chunking(group, *variable, NC_CONTIGUOUS, NULL);
        return code ? code : nc_def_var_fill(group, *variable, NC_NOFILL, NULL);
    }
    int64_t together = chunk_draws(n, draws, common->chains * row);
    int64_t chains = CHUNK_BYTES / (together * row);
    chains = chains < 1 ? 1 : chains < common->chains ? chains : common->chains;
    const size_t chunk[] = {(size_t)chains, (size_t)together, (size_t)common->dim};
    return nc_def_var_chunking(group, *variable, NC_CHUNKED, chunk);
}

/* The draws' own variables, once the length of a block is known. */
static int define_variables(netcdf_writer *w, draws_groups *g, int64_t n)
{
    int single = w->common.type == GBS_F32;
    int code = define_draws(&w->common, g->draws, g->posterior, "x", single ? NC_FLOAT : NC_DOUBLE,
                            3, w->common.dim * (single ? 4 : 8), n, &g->x);
    return code ? code
                : define_draws(&w->common, g->draws, g->stats, "lp", NC_DOUBLE, 2, 8, n, &g->lp);
}

/* A group with its attributes and the chains' coordinate. */
static int define_group(netcdf_writer *w, const gbs_results_spec *spec, const char *name,
                        int *group)
{
    int dim;
    int code = nc_def_grp(w->file, name, group);
    if (!code)
        code = put_attributes(*group, spec->attributes, spec->attribute_count, 1);
    if (!code)
        code = put_coordinate(*group, "chain", spec->chains, spec->first_chain, &dim);
    return code;
}

static int define_groups(netcdf_writer *w, const gbs_results_spec *spec, draws_groups *g,
                         const char *posterior, const char *stats)
{
    int dim;
    int code = define_group(w, spec, posterior, &g->posterior);
    if (!code)
        code = define_draw(g->posterior, g->draws, &g->posterior_draw);
    if (!code)
        code = put_sites(g->posterior, spec, &dim);
    if (!code)
        code = define_group(w, spec, stats, &g->stats);
    if (!code)
        code = define_draw(g->stats, g->draws, &g->stats_draw);
    return code;
}

static int define_moments(netcdf_writer *w, const gbs_results_spec *spec)
{
    int dim;
    int code = define_group(w, spec, "moments", &w->moments);
    return code ? code : put_sites(w->moments, spec, &dim);
}

static int put_constant(int group, const char *name, int dim, const double *values,
                        const char *form)
{
    int variable;
    int code = nc_def_var(group, name, NC_DOUBLE, 1, &dim, &variable);
    if (!code && form)
        code = nc_put_att_text(group, variable, "form", strlen(form), form);
    return code ? code : nc_put_var_double(group, variable, values);
}

static int put_constant_data(netcdf_writer *w, const gbs_results_spec *spec)
{
    if (!spec->location && !spec->diag_precision && !spec->fixed && !spec->lower && !spec->start)
        return NC_NOERR;
    int dim;
    int code = nc_def_grp(w->file, "constant_data", &w->constants);
    if (!code)
        code = put_attributes(w->constants, spec->attributes, spec->attribute_count, 1);
    if (!code)
        code = put_sites(w->constants, spec, &dim);
    if (!code && spec->location)
        code = put_constant(w->constants, "location", dim, spec->location, spec->location_form);
    if (!code && spec->diag_precision)
        code = put_constant(w->constants, "diag_precision", dim, spec->diag_precision, NULL);
    if (!code && spec->fixed)
        code = put_constant(w->constants, "fixed", dim, spec->fixed, NULL);
    if (!code && spec->lower)
        code = put_constant(w->constants, "lower", dim, spec->lower, NULL);
    if (!code && spec->upper)
        code = put_constant(w->constants, "upper", dim, spec->upper, NULL);
    if (!code && spec->start)
        code = put_constant(w->constants, "start", dim, spec->start, NULL);
    return code;
}

static gbs_io_status write_draws(gbs_results_writer *writer, int warmup, int64_t first, int64_t n,
                                 const void *x, const double *lp, gbs_io_error *error)
{
    netcdf_writer *w = (netcdf_writer *)writer;
    draws_groups *g = &w->of[warmup];
    const size_t start[] = {0, (size_t)first, 0};
    const size_t count[] = {(size_t)writer->chains, (size_t)n, (size_t)writer->dim};
    if (!lp)
        return gbs_io_fail(error, GBS_IO_WRITE, writer->output.path,
                           "the log density of the draws is missing");
    int code = first == 0 ? define_variables(w, g, n) : NC_NOERR;
    if (!code)
        code = writer->type == GBS_F32 ? nc_put_vara_float(g->posterior, g->x, start, count, x)
                                       : nc_put_vara_double(g->posterior, g->x, start, count, x);
    if (!code)
        code = nc_put_vara_double(g->stats, g->lp, start, count, lp);
    if (!code)
        code = put_numbers(g->posterior, g->posterior_draw, first, n, g->first);
    if (!code)
        code = put_numbers(g->stats, g->stats_draw, first, n, g->first);
    return code ? fail_write(writer, code, error) : GBS_IO_OK;
}

static gbs_io_status read_back(gbs_results_writer *writer, int warmup, int64_t first, int64_t n,
                               void *x, double *lp, gbs_io_error *error)
{
    const draws_groups *g = &((const netcdf_writer *)writer)->of[warmup];
    const size_t start[] = {0, (size_t)first, 0};
    const size_t count[] = {(size_t)writer->chains, (size_t)n, (size_t)writer->dim};
    int code = writer->type == GBS_F32 ? nc_get_vara_float(g->posterior, g->x, start, count, x)
                                       : nc_get_vara_double(g->posterior, g->x, start, count, x);
    if (!code)
        code = nc_get_vara_double(g->stats, g->lp, start, count, lp);
    return code ? fail_write(writer, code, error) : GBS_IO_OK;
}

static int put_moment(int group, const char *name, const double *values)
{
    int dims[2], variable;
    int code = nc_inq_dimid(group, "chain", &dims[0]);
    if (!code)
        code = nc_inq_dimid(group, "x_dim_0", &dims[1]);
    if (!code)
        code = nc_def_var(group, name, NC_DOUBLE, 2, dims, &variable);
    return code ? code : nc_put_var_double(group, variable, values);
}

static gbs_io_status write_moments(gbs_results_writer *writer, int64_t count, const double *mean,
                                   const double *m2, gbs_io_error *error)
{
    const int group = ((const netcdf_writer *)writer)->moments;
    const long long draws = count;
    int code = nc_put_att_longlong(group, NC_GLOBAL, "draws", NC_INT64, 1, &draws);
    if (!code)
        code = put_moment(group, "mean", mean);
    if (!code)
        code = put_moment(group, "m2", m2);
    return code ? fail_write(writer, code, error) : GBS_IO_OK;
}

/* Whether the block that closing will rewrite can be written and reach the disk.  Returns 0,
 * or -1 with errno set. */
static int probe_superblock(const gbs_output *output)
{
    unsigned char block[64];
    int file = fileno(output->stream);
    ssize_t length = pread(file, block, sizeof block, 0);
    if (length <= 0 || gbs_output_write_at(output, block, (size_t)length, 0) != 0)
        return -1;
    return fsync(file);
}

/* Closes the file in a child process: the last write of closing, which takes the mark of an open
 * file away, crashes netCDF 4.9.0 if it fails, and then only the child.  This process keeps the
 * file open, unused.  Returns 0, or -1 with errno set. */
static int close_apart(int file)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(nc_close(file) != NC_NOERR);
    int result = 0;
    while (child > 0 && waitpid(child, &result, 0) < 0) {
        if (errno != EINTR)
            return -1;
    }
    if (child < 0 || (WIFEXITED(result) && WEXITSTATUS(result) == 0))
        return child < 0 ? -1 : 0;
    errno = EIO;
    return -1;
}

static gbs_io_status complete(gbs_results_writer *writer, const gbs_attribute *attributes,
                              int64_t attribute_count, gbs_io_error *error)
{
    const netcdf_writer *w = (const netcdf_writer *)writer;
    const int groups[] = {w->of[0].posterior, w->of[0].stats, w->of[1].posterior,
                          w->of[1].stats,     w->moments,     w->constants};
    int code = put_attributes(w->file, attributes, attribute_count, 0);
    for (size_t i = 0; !code && i < sizeof groups / sizeof groups[0]; i++) {
        if (groups[i] >= 0)
            code = put_attributes(groups[i], attributes, attribute_count, 1);
    }
    if (!code)
        code = nc_sync(w->file);
    if (code)
        return fail_write(writer, code, error);
    if (probe_superblock(&writer->output) != 0)
        return gbs_io_fail(error, GBS_IO_WRITE, writer->output.path, "cannot be written: %s",
                           strerror(errno));
    if (close_apart(w->file) != 0)
        return gbs_io_fail(error, GBS_IO_WRITE, writer->output.path, "cannot be closed: %s",
                           strerror(errno));
    return GBS_IO_OK;
}

/* The temporary exists already, made by us alone, so netCDF may overwrite it; it is flushed
 * once here, for a failure now costs no sampling. */
static int create_file(netcdf_writer *w, const gbs_results_spec *spec)
{
    int code = nc_create(w->common.output.temporary, NC_NETCDF4 | NC_CLOBBER, &w->file);
    if (!code)
        code = put_attributes(w->file, spec->attributes, spec->attribute_count, 0);
    if (!code && spec->moments_only)
        code = define_moments(w, spec);
    else if (!code)
        code = define_groups(w, spec, &w->of[0], "posterior", "sample_stats");
    if (!code && spec->warmup_draws && !spec->moments_only)
        code = define_groups(w, spec, &w->of[1], "warmup_posterior", "warmup_sample_stats");
    if (!code)
        code = put_constant_data(w, spec);
    return code ? code : nc_sync(w->file);
}

gbs_io_status gbs_netcdf_results_create(gbs_results_writer *common, const gbs_results_spec *spec,
                                        gbs_results_writer **out, gbs_io_error *error)
{
    static const gbs_writer_ops ops = {.write = write_draws,
                                       .read_back = read_back,
                                       .write_moments = write_moments,
                                       .complete = complete};
    gbs_netcdf_prepare();
    netcdf_writer *writer = malloc(sizeof *writer);
    if (!writer)
        return gbs_io_fail_memory(error, common->output.path, 1, (int64_t)sizeof *writer);
    *writer = (netcdf_writer){
        .common = *common,
        .of = {{.posterior = -1, .stats = -1, .draws = common->draws, .first = spec->first_draw},
               {.posterior = -1, .stats = -1, .draws = common->warmup_draws}},
        .moments = -1,
        .constants = -1};
    writer->common.ops = &ops;
    int code = create_file(writer, spec);
    if (code) {
        fail_write(common, code, error);
        free(writer);
        return GBS_IO_WRITE;
    }
    *out = &writer->common;
    return GBS_IO_OK;
}
