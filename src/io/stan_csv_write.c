/* Draws as CmdStan writes them, one file a chain: comments of the settings, a line of column names
 * (lp__, x.1, ..., x.D), one line a draw, those of the warm-up first.  Numbers have 17 significant
 * digits, floats too: who reads them as doubles gets what the other formats hold.  All files are
 * complete and synced before the first is renamed. */
#define _POSIX_C_SOURCE 200809L

#include "io/results_format.h"
#include "io/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct csv_writer {
    gbs_results_writer common; /* its output is chain 0's */
    gbs_output *more;          /* [chains - 1] */
    int64_t *start;            /* [chains] byte of the first draw */
} csv_writer;

static gbs_output *output_of(csv_writer *w, int64_t chain)
{
    return chain ? &w->more[chain - 1] : &w->common.output;
}

static gbs_io_status fail_write(const gbs_output *output, gbs_io_error *error)
{
    return gbs_io_fail(error, GBS_IO_WRITE, output->path, "cannot be written: %s", strerror(errno));
}

char *gbs_stan_csv_chain_path(const char *path, int64_t chains, int64_t chain)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    const size_t length = strlen(path), room = length + 32;
    const size_t stem =
        dot && (!slash || dot > slash + 1) && dot != path ? (size_t)(dot - path) : length;
    char *name = malloc(room);
    if (name && chains == 1)
        memcpy(name, path, length + 1);
    else if (name)
        snprintf(name, room, "%.*s_%" PRId64 "%s", (int)stem, path, chain + 1, path + stem);
    return name;
}

/* ------------------------------------------------------------------ header */

static int64_t setting(const gbs_results_spec *spec, const char *name, int64_t otherwise)
{
    for (int64_t i = 0; i < spec->attribute_count; i++)
        if (spec->attributes[i].kind == GBS_ATTRIBUTE_INT64 &&
            strcmp(spec->attributes[i].name, name) == 0)
            return spec->attributes[i].value.int64;
    return otherwise;
}

/* One comment, and no more than one line of it. */
static void put_attribute(FILE *to, const gbs_attribute *a)
{
    fprintf(to, "# %s = ", a->name);
    switch (a->kind) {
    case GBS_ATTRIBUTE_TEXT:
        for (const char *c = a->value.text; *c; c++)
            fputc((unsigned char)*c < ' ' ? '?' : *c, to);
        break;
    case GBS_ATTRIBUTE_INT64: fprintf(to, "%" PRId64, a->value.int64); break;
    case GBS_ATTRIBUTE_UINT64: fprintf(to, "%" PRIu64, a->value.uint64); break;
    case GBS_ATTRIBUTE_DOUBLE: fprintf(to, "%.17g", a->value.float64); break;
    case GBS_ATTRIBUTE_BYTES:
        for (int64_t k = 0; k < a->count; k++)
            fprintf(to, "%02x", a->value.bytes[k]);
        break;
    }
    fputc('\n', to);
}

/* CmdStan counts iterations where we count draws, and calls the method what it calls ours. */
static void put_settings(FILE *to, const gbs_results_spec *spec, int64_t chain)
{
    const int64_t thin = setting(spec, "thin", 1);
    const int64_t warmup =
        spec->warmup_draws ? spec->warmup_draws * thin : setting(spec, "warmup", 0);
    fprintf(to,
            "# method = sample\n#   sample\n#     num_samples = %" PRId64
            "\n#     num_warmup = %" PRId64 "\n#     save_warmup = %d\n#     thin = %" PRId64
            "\n# id = %" PRId64 "\n",
            spec->draws * thin, warmup, spec->warmup_draws > 0, thin,
            spec->first_chain + chain + 1);
    for (int64_t i = 0; i < spec->attribute_count; i++) {
        gbs_attribute a = spec->attributes[i];
        if (strcmp(a.name, "thin") == 0)
            continue;
        if (strcmp(a.name, "method") == 0)
            a.name = "algorithm";
        put_attribute(to, &a);
    }
}

static int put_header(FILE *to, const gbs_results_spec *spec, int64_t chain)
{
    put_settings(to, spec, chain);
    fputs("lp__", to);
    for (int64_t i = 0; i < spec->dim; i++)
        fprintf(to, ",x.%" PRId64, i + 1);
    fputc('\n', to);
    return fflush(to) != 0 || ferror(to);
}

/* ------------------------------------------------------------------ draws */

static void put_row(FILE *to, const gbs_results_writer *writer, const void *x, int64_t row,
                    double lp)
{
    fprintf(to, "%.17g", lp);
    for (int64_t i = row * writer->dim; i < (row + 1) * writer->dim; i++)
        fprintf(to, ",%.17g",
                writer->type == GBS_F32 ? (double)((const float *)x)[i] : ((const double *)x)[i]);
    fputc('\n', to);
}

static gbs_io_status write_draws(gbs_results_writer *writer, int warmup, int64_t first, int64_t n,
                                 const void *x, const double *lp, gbs_io_error *error)
{
    (void)warmup, (void)first; /* a file grows at its end alone */
    csv_writer *w = (csv_writer *)writer;
    gbs_locale locale;
    if (!lp)
        return gbs_io_fail(error, GBS_IO_WRITE, writer->output.path,
                           "the log density of the draws is missing");
    if (gbs_locale_enter(&locale) != 0)
        return gbs_io_fail_memory(error, writer->output.path, 1, (int64_t)sizeof locale);
    gbs_io_status status = GBS_IO_OK;
    for (int64_t chain = 0; !status && chain < writer->chains; chain++) {
        const gbs_output *output = output_of(w, chain);
        for (int64_t row = chain * n; row < (chain + 1) * n; row++)
            put_row(output->stream, writer, x, row, lp[row]);
        if (fflush(output->stream) != 0 || ferror(output->stream))
            status = fail_write(output, error);
    }
    gbs_locale_leave(&locale);
    return status;
}

/* Bytes from `at` on to the end of `to`. */
static int copy_rest(const gbs_output *from, const gbs_output *to, int64_t at)
{
    char block[65536];
    const int64_t end = fseeko(from->stream, 0, SEEK_END) == 0 ? (int64_t)ftello(from->stream) : -1;
    while (at < end) {
        const int64_t left = end - at;
        const size_t now = left < (int64_t)sizeof block ? (size_t)left : sizeof block;
        if (gbs_output_read_at(from, block, now, at) != 0 ||
            fwrite(block, 1, now, to->stream) != now)
            return -1;
        at += (int64_t)now;
    }
    return end < 0 || fflush(to->stream) != 0 ? -1 : 0;
}

/* The lines are as they should be; the comments above them are another writer's matter. */
static gbs_io_status copy(gbs_results_writer *from, gbs_results_writer *to, gbs_io_error *error)
{
    csv_writer *source = (csv_writer *)from, *target = (csv_writer *)to;
    for (int64_t chain = 0; chain < from->chains; chain++)
        if (copy_rest(output_of(source, chain), output_of(target, chain), source->start[chain]))
            return fail_write(output_of(target, chain), error);
    return GBS_IO_OK;
}

/* ------------------------------------------------------------------ ends */

static gbs_io_status complete(gbs_results_writer *writer, const gbs_attribute *attributes,
                              int64_t attribute_count, gbs_io_error *error)
{
    csv_writer *w = (csv_writer *)writer;
    gbs_io_status status = GBS_IO_OK;
    for (int64_t chain = 0; !status && chain < writer->chains; chain++) {
        gbs_output *output = output_of(w, chain);
        for (int64_t i = 0; i < attribute_count; i++)
            put_attribute(output->stream, &attributes[i]);
        if (gbs_output_close(output) != 0)
            status = fail_write(output, error);
    }
    for (int64_t chain = 1; !status && chain < writer->chains; chain++)
        status = gbs_output_commit(output_of(w, chain), error);
    return status;
}

static void release(gbs_results_writer *writer)
{
    csv_writer *w = (csv_writer *)writer;
    for (int64_t chain = 1; w->more && chain < writer->chains; chain++)
        gbs_output_abandon(&w->more[chain - 1]);
    free(w->more);
    free(w->start);
}

static gbs_io_status open_chain(csv_writer *w, const char *path, const gbs_results_spec *spec,
                                int64_t chain, gbs_io_error *error)
{
    gbs_output *output = output_of(w, chain);
    gbs_io_status status = GBS_IO_OK;
    if (chain) {
        char *name = gbs_stan_csv_chain_path(path, spec->chains, chain);
        if (!name)
            return gbs_io_fail_memory(error, path, (int64_t)strlen(path), 1);
        status = gbs_output_open(output, name, error);
        free(name);
    }
    if (status)
        return status;
    if (put_header(output->stream, spec, chain))
        return fail_write(output, error);
    w->start[chain] = (int64_t)ftello(output->stream);
    return GBS_IO_OK;
}

gbs_io_status gbs_stan_csv_results_create(gbs_results_writer *common, const char *path,
                                          const gbs_results_spec *spec, gbs_results_writer **out,
                                          gbs_io_error *error)
{
    static const gbs_writer_ops ops = {
        .write = write_draws, .copy = copy, .complete = complete, .release = release};
    csv_writer *writer = malloc(sizeof *writer);
    if (!writer)
        return gbs_io_fail_memory(error, path, 1, (int64_t)sizeof *writer);
    *writer = (csv_writer){.common = *common};
    writer->common.ops = &ops;
    writer->more = calloc((size_t)spec->chains, sizeof *writer->more);
    writer->start = calloc((size_t)spec->chains, sizeof *writer->start);
    gbs_io_status status = GBS_IO_OK;
    if (!writer->more || !writer->start)
        status = gbs_io_fail_memory(error, path, spec->chains, (int64_t)sizeof *writer->more);
    for (int64_t chain = 0; !status && chain < spec->chains; chain++)
        status = open_chain(writer, path, spec, chain, error);
    if (status) {
        release(&writer->common);
        free(writer);
        return status;
    }
    *out = &writer->common;
    return GBS_IO_OK;
}
