/* Few chains of very many sites, as far as the memory goes: D = 32,768 in float, 4.3 GB of
 * coefficients, beside reading as many bytes.  The model is a lattice whose matrix lies in memory
 * that is never written but at its entries, so that it takes a few MB where it would take 8.6 GB;
 * for the same reason it is made here without its factor (8.6 GB and D^3/3 multiply-adds), which
 * sweeps do not need.  The first sweep is held against a plain loop over the entries, to the bit.
 *
 *     large_sites [--rows R] [--columns C] [--rounds N] [--core-time 1] */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "core/internal.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

enum { MOST_ROUNDS = 99 };

typedef struct lattice {
    int64_t rows, columns, dim;
} lattice;

static const double diagonal = 4.5;

static void must(const gbs_context *ctx, gbs_status status)
{
    if (status == GBS_OK)
        return;
    fprintf(stderr, "%s: %s\n", gbs_status_name(status), gbs_context_message(ctx));
    exit(1);
}

static void *map_zeros(size_t bytes)
{
    void *const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return memory;
}

/* 1: process time over threads, which neighbours do not enter; 0: wall time. */
static int core_time;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(core_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double peak_gb(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)used.ru_maxrss * 1024e-9;
}

/* The up to four neighbours of site i in ascending order; returns how many. */
static int neighbours(const lattice *l, int64_t i, int64_t at[4])
{
    int count = 0;
    if (i >= l->columns)
        at[count++] = i - l->columns;
    if (i % l->columns > 0)
        at[count++] = i - 1;
    if (i % l->columns < l->columns - 1)
        at[count++] = i + 1;
    if (i + l->columns < l->dim)
        at[count++] = i + l->columns;
    return count;
}

/* All that sweeps read of a model; small pages, so that a page without an entry stays shared. */
static void make_model(const lattice *l, gbs_model *model)
{
    const size_t n = (size_t)l->dim;
    memset(model, 0, sizeof *model);
    atomic_init(&model->references, 2); /* this one is not given back */
    model->dim = l->dim;
    model->precision = map_zeros(n * n * sizeof(double));
    madvise(model->precision, n * n * sizeof(double), MADV_NOHUGEPAGE);
    model->location = map_zeros(n * sizeof(double));
    model->mean = map_zeros(n * sizeof(double));
    for (int64_t i = 0; i < l->dim; ++i) {
        int64_t at[4];
        const int count = neighbours(l, i, at);
        model->precision[i * l->dim + i] = diagonal;
        for (int k = 0; k < count; ++k)
            model->precision[i * l->dim + at[k]] = -1;
    }
}

/* One forward sweep from zero in the canonical order: sites behind i before it, then those before.
 * x [D, chains], z likewise. */
static void plain_sweep(const lattice *l, int64_t chains, const float *z, float *x)
{
    const float a = (float)(1 / diagonal), s = (float)(1 / sqrt(diagonal));
    for (int64_t i = 0; i < l->dim; ++i) {
        int64_t at[4];
        const int count = neighbours(l, i, at);
        for (int64_t c = 0; c < chains; ++c) {
            float r = fmaf(s, z[i * chains + c], 0);
            for (int k = 0; k < count; ++k)
                if (at[k] > i)
                    r = fmaf(a, x[at[k] * chains + c], r);
            for (int k = 0; k < count; ++k)
                if (at[k] < i)
                    r = fmaf(a, x[at[k] * chains + c], r);
            x[i * chains + c] = r;
        }
    }
}

static int64_t differing(gbs_context *ctx, const lattice *l, gbs_sampler *sampler, int64_t chains)
{
    const size_t numbers = (size_t)(l->dim * chains);
    float *const z = map_zeros(numbers * sizeof *z), *const x = map_zeros(numbers * sizeof *x),
                 *const got = map_zeros(numbers * sizeof *got);
    int64_t count = 0;
    must(ctx, gbs_native_normals(ctx, GBS_F32, 0, 0, 0, chains, l->dim, z));
    plain_sweep(l, chains, z, x);
    must(ctx, gbs_sampler_run(sampler, 1));
    must(ctx, gbs_sampler_get_state(sampler, got));
    for (int64_t i = 0; i < l->dim; ++i)
        for (int64_t c = 0; c < chains; ++c)
            count += memcmp(&got[c * l->dim + i], &x[i * chains + c], sizeof *x) != 0;
    munmap(z, numbers * sizeof *z);
    munmap(x, numbers * sizeof *x);
    munmap(got, numbers * sizeof *got);
    return count;
}

static uint64_t read_all(const uint64_t *from, size_t words)
{
    typedef uint64_t lanes __attribute__((vector_size(64)));
    lanes sum[4] = {{0}};
    const lanes *const at = (const lanes *)(const void *)from;
    for (size_t k = 0; k + 4 <= words / 8; k += 4)
        for (int line = 0; line < 4; ++line) {
            __builtin_prefetch((const char *)&at[k + (size_t)line] + 4096); /* as the kernels do */
            sum[line] ^= at[k + (size_t)line];
        }
    sum[0] ^= sum[1] ^ sum[2] ^ sum[3];
    return sum[0][0] ^ sum[0][7];
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[count / 2];
}

static void cell(const lattice *l, gbs_model *model, int64_t chains, int32_t threads, int rounds,
                 const uint64_t *memory)
{
    const double bytes = 4 * (double)l->dim * (double)l->dim;
    double sweeps[MOST_ROUNDS], reads[MOST_ROUNDS], before = seconds();
    uint64_t sink = 0;
    gbs_context *ctx;
    gbs_sampler *sampler;
    gbs_context_options options = gbs_context_options_default();
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    options.threads = threads;
    must(NULL, gbs_context_create(&options, &ctx));
    spec.type = GBS_F32;
    spec.chains = chains;
    spec.start = GBS_START_ZERO;
    must(ctx, gbs_sampler_create(ctx, model, &spec, &sampler));
    const double plan = seconds() - before;
    const int64_t wrong = differing(ctx, l, sampler, chains);
    for (int round = 0; round < rounds; ++round) {
        before = seconds();
        must(ctx, gbs_sampler_run(sampler, 1));
        sweeps[round] = (seconds() - before) / (core_time ? threads : 1);
        before = seconds();
        sink ^= read_all(memory, (size_t)(bytes / 32));
        reads[round] = 4 * (seconds() - before);
    }
    const double sweep = median(sweeps, rounds), reading = median(reads, rounds);
    printf("| %lld | %lld | %d | %.1f | %.0f | %.1f | %.1f | %.0f %% | %.1f | %lld |%s\n",
           (long long)l->dim, (long long)chains, threads, plan, 1e3 * sweep, 1e-9 * bytes / sweep,
           1e-9 * bytes / reading, 100 * reading / sweep, peak_gb(), (long long)wrong,
           sink == 1 ? " " : "");
    fflush(stdout);
    gbs_sampler_destroy(sampler);
    gbs_context_destroy(ctx);
    if (wrong)
        exit(1);
}

int main(int argc, char **argv)
{
    lattice l = {.rows = 128, .columns = 256};
    int rounds = 5;
    for (int k = 1; k + 1 < argc; k += 2) {
        const long value = strtol(argv[k + 1], NULL, 10);
        if (strcmp(argv[k], "--rows") == 0)
            l.rows = value;
        else if (strcmp(argv[k], "--columns") == 0)
            l.columns = value;
        else if (strcmp(argv[k], "--rounds") == 0)
            rounds = (int)value;
        else if (strcmp(argv[k], "--core-time") == 0)
            core_time = (int)value;
    }
    l.dim = l.rows * l.columns;
    if (l.rows < 2 || l.columns < 2 || l.dim > 65536 || rounds < 1 || rounds > MOST_ROUNDS) {
        fputs("--rows and --columns at least 2, together at most 65536; --rounds 1 to 99\n",
              stderr);
        return 2;
    }
    const size_t quarter = (size_t)(l.dim * l.dim);
    uint64_t *const memory = map_zeros(quarter);
    memset(memory, 1, quarter);
    gbs_model model;
    make_model(&l, &model);
    puts(
        "| D | B | threads | plan, s | ms a sweep | coefficients, GB/s | reading alone, one thread "
        "| share | peak, GB | numbers that differ |\n"
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for (int64_t chains = 1; chains <= 4; chains *= 2)
        for (int32_t threads = 1; threads <= 2; ++threads)
            cell(&l, &model, chains, threads, rounds, memory);
    return 0;
}
