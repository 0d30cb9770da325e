/* Reads the means and sums of squares that stand in a file instead of draws: the group moments of
 * netCDF-4, with variables mean and m2 [chain, x_dim_0] and an attribute draws. */
#include "io/results_format.h"

#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gbs_io_status fail_read(const char *path, const char *what, int code, gbs_io_error *error)
{
    return gbs_io_fail(error, code == NC_ENOMEM ? GBS_IO_MEMORY : GBS_IO_CONTENT, path,
                       "%s cannot be read: %s", what, nc_strerror(code));
}

static int read_length(int group, const char *name, int64_t *length)
{
    int dim;
    size_t it = 0;
    int code = nc_inq_dimid(group, name, &dim);
    if (!code)
        code = nc_inq_dimlen(group, dim, &it);
    *length = it <= (size_t)(INT64_MAX / 16) ? (int64_t)it : 0;
    return code ? code : *length > 0 ? NC_NOERR : NC_EINVAL;
}

static int read_chains(int group, gbs_moments_file *out)
{
    int variable;
    int code = nc_inq_varid(group, "chain", &variable);
    if (code)
        return code;
    long long *numbers = malloc((size_t)out->chains * sizeof *numbers);
    out->chain_number = malloc((size_t)out->chains * sizeof *out->chain_number);
    code = numbers && out->chain_number ? nc_get_var_longlong(group, variable, numbers) : NC_ENOMEM;
    for (int64_t c = 0; !code && c < out->chains; c++)
        out->chain_number[c] = numbers[c];
    free(numbers);
    return code;
}

/* Names where the coordinate of the sites is text. */
static int read_names(int group, gbs_moments_file *out)
{
    int variable;
    nc_type type;
    int code = nc_inq_varid(group, "x_dim_0", &variable);
    if (!code)
        code = nc_inq_vartype(group, variable, &type);
    if (code || type != NC_STRING)
        return code;
    char **text = calloc((size_t)out->dim, sizeof *text);
    out->name = calloc((size_t)out->dim, sizeof *out->name);
    code = text && out->name ? nc_get_var_string(group, variable, text) : NC_ENOMEM;
    for (int64_t i = 0; !code && i < out->dim; i++) {
        out->name[i] = gbs_results_copy_text(text[i] ? text[i] : "");
        code = out->name[i] ? NC_NOERR : NC_ENOMEM;
    }
    if (text)
        nc_free_string((size_t)out->dim, text);
    free(text);
    return code;
}

static int read_moment(int group, const char *name, const gbs_moments_file *out, double **values)
{
    int variable, axes, dims[NC_MAX_VAR_DIMS], chain, site;
    int code = nc_inq_varid(group, name, &variable);
    if (!code)
        code = nc_inq_var(group, variable, NULL, NULL, &axes, dims, NULL);
    if (!code)
        code = nc_inq_dimid(group, "chain", &chain);
    if (!code)
        code = nc_inq_dimid(group, "x_dim_0", &site);
    if (!code && (axes != 2 || dims[0] != chain || dims[1] != site))
        code = NC_EDIMSIZE;
    if (code)
        return code;
    if (out->chains > INT64_MAX / 16 / out->dim)
        return NC_ENOMEM;
    *values = malloc((size_t)(out->chains * out->dim) * sizeof **values);
    return *values ? nc_get_var_double(group, variable, *values) : NC_ENOMEM;
}

static gbs_io_status read_group(const char *path, int group, gbs_moments_file *out,
                                gbs_io_error *error)
{
    long long draws = 0;
    int code = nc_get_att_longlong(group, NC_GLOBAL, "draws", &draws);
    if (code || draws < 1)
        return gbs_io_fail(error, GBS_IO_CONTENT, path,
                           "group moments does not say of how many draws they are");
    out->draws = draws;
    code = read_length(group, "chain", &out->chains);
    if (!code)
        code = read_length(group, "x_dim_0", &out->dim);
    if (!code)
        code = read_chains(group, out);
    if (!code)
        code = read_names(group, out);
    if (!code)
        code = read_moment(group, "mean", out, &out->mean);
    if (!code)
        code = read_moment(group, "m2", out, &out->m2);
    return code ? fail_read(path, "group moments", code, error) : GBS_IO_OK;
}

gbs_io_status gbs_moments_file_read(const char *path, int *found, gbs_moments_file *out,
                                    gbs_io_error *error)
{
    char start[GBS_HDF5_MAGIC_BYTES] = {0};
    gbs_input input;
    *found = 0;
    *out = (gbs_moments_file){0};
    if (!gbs_input_is_file(path)) /* what is read from a pipe is gone */
        return GBS_IO_OK;
    gbs_io_status status = gbs_input_open(&input, path, error);
    if (status)
        return status;
    const int whole = input.bytes >= GBS_HDF5_MAGIC_BYTES;
    status = whole ? gbs_input_read(&input, 0, start, GBS_HDF5_MAGIC_BYTES, error) : GBS_IO_OK;
    gbs_input_close(&input);
    if (status || memcmp(start, GBS_HDF5_MAGIC, GBS_HDF5_MAGIC_BYTES) != 0)
        return status;
    int file, group;
    gbs_netcdf_prepare();
    if (nc_open(path, NC_NOWRITE, &file)) /* the reader of draws says what is wrong with it */
        return GBS_IO_OK;
    *found = !nc_inq_ncid(file, "moments", &group);
    if (*found)
        status = read_group(path, group, out, error);
    nc_close(file);
    if (status)
        gbs_moments_file_free(out);
    return status;
}

void gbs_moments_file_free(gbs_moments_file *file)
{
    for (int64_t i = 0; file->name && i < file->dim; i++)
        free(file->name[i]);
    free(file->name);
    free(file->chain_number);
    free(file->mean);
    free(file->m2);
    *file = (gbs_moments_file){0};
}
