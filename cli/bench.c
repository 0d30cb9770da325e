/* gibbsite bench: site updates a second on this machine, and how near that comes to what it allows.
 * A site update is one normal and D multiply-adds (s z + c, and D - 1 neighbours), so arithmetic
 * allows 1 / (1 / normals + D / multiply-adds); a sweep reads the matrix at least once, for all
 * chains together.  The ceiling is the lower of the two, measured in the same run. */
#include "ceiling.h"
#include "json.h"
#include "options.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_SIZES = 32, ROUNDS = 3 };

typedef struct sizes {
    int64_t at[MOST_SIZES];
    int count;
} sizes;

typedef struct cell {
    int64_t dim, chains;
    double rate, share; /* NAN where the model or its chains found no memory */
    bool reads;         /* the ceiling is that of reading */
    char kernel[48];
} cell;

typedef struct bench {
    gbs_context *ctx;
    sizes dims, chains;
    double seconds;
    gbs_type type;
    ceiling top;
    double reading[MOST_SIZES]; /* [dims]: bytes a second of matrices of that size */
    cell *cells;                /* [dims, chains] */
} bench;

/* "8,32,128": counts of at least 1, at most `most`. */
static bool read_sizes(const char *text, int64_t most, sizes *to)
{
    to->count = 0;
    for (const char *from = text;; from++) {
        char *end;
        const long long value = strtoll(from, &end, 10);
        if (end == from || value < 1 || value > most || to->count == MOST_SIZES)
            return false;
        to->at[to->count++] = value;
        if (*end == '\0')
            return true;
        if (*end != ',')
            return false;
        from = end;
    }
}

/* 2 on the diagonal and -1/D beside it everywhere: dense, and far from singular. */
static exit_code make_model(bench *b, int64_t dim, gbs_model **model)
{
    double *q = take(dim * dim, sizeof *q, "matrix");
    if (!q)
        return EXIT_FILE;
    for (int64_t i = 0; i < dim; i++)
        for (int64_t j = 0; j < dim; j++)
            q[i * dim + j] = i == j ? 2 : -1 / (double)dim;
    gbs_model_spec spec = gbs_model_spec_default();
    spec.dim = dim;
    spec.matrix = q;
    const gbs_status status = gbs_model_create(b->ctx, &spec, model);
    free(q);
    return status == GBS_OK ? EXIT_FINE : complain_status(b->ctx, status);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sweeps that take about a ROUNDS-th of the time each, and the median of as many rounds. */
static gbs_status time_sweeps(const bench *b, gbs_sampler *sampler, double *seconds_a_sweep)
{
    const int32_t threads = gbs_context_threads(b->ctx);
    const double wanted = b->seconds / (double)ROUNDS;
    double spent = 0, round[ROUNDS];
    int64_t sweeps = 1;
    gbs_status status = gbs_sampler_run(sampler, 1); /* threads and pages come into being */
    for (; status == GBS_OK; sweeps *= 2) {
        const double start = clock_seconds(threads);
        status = gbs_sampler_run(sampler, sweeps);
        spent = clock_seconds(threads) - start;
        if (spent > wanted / 4)
            break;
    }
    sweeps = (int64_t)fmax(1, (double)sweeps * wanted / spent);
    for (int k = 0; k < ROUNDS && status == GBS_OK; k++) {
        const double start = clock_seconds(threads);
        status = gbs_sampler_run(sampler, sweeps);
        round[k] = (clock_seconds(threads) - start) / (double)sweeps;
    }
    if (status == GBS_OK) {
        qsort(round, ROUNDS, sizeof *round, by_value);
        *seconds_a_sweep = round[ROUNDS / 2];
    }
    return status;
}

static size_t matrix_bytes(const bench *b, int64_t dim)
{
    return (size_t)(dim * dim) * (b->type == GBS_F32 ? sizeof(float) : sizeof(double));
}

static exit_code time_cell(bench *b, gbs_model *model, double reading, cell *c)
{
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.type = b->type;
    spec.chains = c->chains;
    spec.seed = 1;
    spec.start = GBS_START_ZERO;
    gbs_sampler *sampler = NULL;
    double seconds = NAN;
    gbs_status status = gbs_sampler_create(b->ctx, model, &spec, &sampler);
    if (status == GBS_OK) {
        snprintf(c->kernel, sizeof c->kernel, "%s", gbs_sampler_kernel(sampler));
        status = time_sweeps(b, sampler, &seconds);
    }
    gbs_sampler_destroy(sampler);
    if (status != GBS_OK)
        return complain_status(b->ctx, status);
    c->rate = (double)c->dim * (double)c->chains / seconds;
    const double arithmetic = 1 / b->top.normals + (double)c->dim / b->top.fmas;
    const double read =
        (double)matrix_bytes(b, c->dim) / reading / ((double)c->dim * (double)c->chains);
    c->reads = read > arithmetic;
    c->share = c->rate * fmax(arithmetic, read);
    return EXIT_FINE;
}

/* The ceilings and every cell of one type; told as it goes, unless for JSON. */
static exit_code measure(bench *b, bool print)
{
    exit_code code = ceiling_measure(gbs_context_isa(b->ctx), b->type, gbs_context_threads(b->ctx),
                                     b->seconds, &b->top);
    if (code == EXIT_FINE && print)
        printf("\n%s: at most %.3g normals and %.3g multiply-adds a second\n"
               "%8s %10s %14s %7s  %-10s  %s\n",
               b->type == GBS_F32 ? "f32" : "f64", b->top.normals, b->top.fmas, "D", "chains",
               "updates/s", "share", "of", "kernel");
    for (int d = 0; d < b->dims.count && code == EXIT_FINE; d++) {
        gbs_model *model = NULL;
        code = ceiling_reading(gbs_context_isa(b->ctx), gbs_context_threads(b->ctx), b->seconds,
                               matrix_bytes(b, b->dims.at[d]), &b->reading[d]);
        if (code == EXIT_FINE)
            code = make_model(b, b->dims.at[d], &model);
        for (int k = 0; k < b->chains.count && code == EXIT_FINE; k++) {
            cell *c = &b->cells[d * b->chains.count + k];
            *c = (cell){.dim = b->dims.at[d], .chains = b->chains.at[k]};
            code = time_cell(b, model, b->reading[d], c);
            if (code == EXIT_FINE && print) {
                printf("%8" PRId64 " %10" PRId64 " %14.4g %6.1f%%  %-10s  %s\n", c->dim, c->chains,
                       c->rate, 100 * c->share, c->reads ? "reading" : "arithmetic", c->kernel);
                code = finish_stdout(EXIT_FINE);
            }
        }
        gbs_model_release(model);
    }
    return code;
}

static json_t *type_json(const bench *b)
{
    json_t *cells = json_array();
    for (int k = 0; k < b->dims.count * b->chains.count; k++) {
        const cell *c = &b->cells[k];
        json_array_append_new(cells, json_pack("{s:I, s:I, s:s, s:o, s:o, s:s, s:o}", "dim",
                                               (json_int_t)c->dim, "chains", (json_int_t)c->chains,
                                               "kernel", c->kernel, "updates_per_second",
                                               json_number(c->rate), "share", json_number(c->share),
                                               "share_of", c->reads ? "reading" : "arithmetic",
                                               "read_bytes_per_second",
                                               json_number(b->reading[k / b->chains.count])));
    }
    return json_pack("{s:s, s:o, s:o, s:o}", "dtype", b->type == GBS_F32 ? "f32" : "f64",
                     "normals_per_second", json_number(b->top.normals), "fmas_per_second",
                     json_number(b->top.fmas), "cells", cells);
}

/* dtype 0 is both. */
static exit_code run(bench *b, int dtype, bool json)
{
    b->cells = take((int64_t)b->dims.count * b->chains.count, sizeof *b->cells, "table");
    if (!b->cells)
        return EXIT_FILE;
    const char *isa = gbs_isa_name(gbs_context_isa(b->ctx));
    const int threads = gbs_context_threads(b->ctx);
    json_t *types = json ? json_array() : NULL;
    if (!json)
        printf("gibbsite %s, %s, %d %s\n", gbs_version(), isa, threads,
               gbs_plural(threads, "thread", "threads"));
    exit_code code = EXIT_FINE;
    for (int type = GBS_F32; type <= GBS_F64 && code == EXIT_FINE; type++) {
        if (dtype && dtype != type + 1)
            continue;
        b->type = (gbs_type)type;
        code = measure(b, !json);
        if (code == EXIT_FINE && json)
            json_array_append_new(types, type_json(b));
    }
    free(b->cells);
    if (!json)
        return code;
    if (code != EXIT_FINE) {
        json_decref(types);
        return code;
    }
    return json_print(json_pack("{s:s, s:s, s:s, s:i, s:f, s:o}", "gibbsite", gbs_version(), "verb",
                                "bench", "isa", isa, "threads", threads, "seconds", b->seconds,
                                "types", types),
                      EXIT_FINE);
}

exit_code verb_bench(int argc, char **argv)
{
    static const char *const isas[] = {"auto", "scalar", "avx2", "avx512", "neon", NULL};
    static const char *const dtypes[] = {"both", "f32", "f64", NULL};
    const char *dims = "8,32,128,512,2048", *chains = "1,64,4096";
    int isa = GBS_ISA_AUTO, dtype = 0;
    int64_t threads = 1;
    bool json = false;
    bench b = {.seconds = 0.3};
    cli_option options[] = {
        {"--dims", "LIST", "numbers of sites (default 8,32,128,512,2048)", &dims, OPTION_TEXT,
         .required = false},
        {"--chains", "LIST", "numbers of chains (default 1,64,4096)", &chains, OPTION_TEXT,
         .required = false},
        {"--dtype", "T", "f32, f64 or both (default)", &dtype, OPTION_CHOICE, .choices = dtypes},
        {"--isa", "I", "auto (default), scalar, avx2, avx512 or neon", &isa, OPTION_CHOICE,
         .choices = isas},
        {"--threads", "N", "threads (default 1; 0: one a processor)", &threads, OPTION_COUNT,
         .least = 0, .most = MOST_THREADS},
        {"--seconds", "S", "time for each figure (default 0.3)", &b.seconds, OPTION_REAL, .low = 0,
         .high = 3600, .open = true},
        {"--json", NULL, "one JSON object on standard output", &json, OPTION_FLAG,
         .required = false},
    };
    const cli_command command = {
        .name = "bench",
        .usage = "[options]",
        .purpose =
            "Site updates a second on this machine, for every number of sites D and of "
            "chains, and\n"
            "their share of what it allows: of arithmetic, 1 / (1 / normals + D / "
            "multiply-adds), as a\n"
            "site update is one normal and D multiply-adds; or, where that is less, of "
            "reading the\n"
            "matrix once a sweep.  What the machine does of each alone is measured in the "
            "same run.\n"
            "Medians of three.  On one thread CPU time counts, on several the clock: those want a\n"
            "quiet machine.",
        .example =
            "  gibbsite bench --dims 1138 --chains 1,4096   # as a matrix of 1138 rows would run\n"
            "  gibbsite bench --dims 8,32 --chains 4096 --seconds 0.05\n"
            "  gibbsite bench --threads 2 --dtype f32 --dims 32 --json",
        .options = options,
        .count = sizeof options / sizeof *options,
    };
    exit_code code;
    if (!options_parse(&command, argc, argv, &code))
        return code;
    if (!read_sizes(dims, 65536, &b.dims))
        return usage_error(&command,
                           "--dims: '%s' is not a list of at most %d numbers from 1 to 65536", dims,
                           MOST_SIZES);
    if (!read_sizes(chains, INT64_C(1) << 40, &b.chains))
        return usage_error(&command,
                           "--chains: '%s' is not a list of at most %d numbers from 1 to 2^40",
                           chains, MOST_SIZES);
    gbs_context_options context = gbs_context_options_default();
    context.isa = (gbs_isa)isa;
    context.threads = (int32_t)threads;
    if (!gbs_isa_available(context.isa))
        return complain(EXIT_USAGE, "--isa: this machine has no %s", isas[isa]);
    if (gbs_context_create(&context, &b.ctx) != GBS_OK)
        return complain(EXIT_FILE, "no memory for a context");
    code = run(&b, dtype, json);
    gbs_context_destroy(b.ctx);
    return code;
}
