/* Times the library where it meets the machine's limits, beside that limit, in turns and in one
 * process: threads over one thread; few chains of many sites beside reading as many bytes; many
 * chains of many sites beside OpenBLAS's matrix product of the same shape.  Prints a table.
 *
 *     scale_bench [--threads N] [--rounds N] [--seconds S] [--core-time] [SECTION...]
 *
 * with sections threads, few, product, forms, tiles
 *
 * Wall time counts, since threads are compared: run it on a quiet machine, or as root with `chrt -f
 * 10` before the command, so that other programs wait.  The share of wall time in which the process
 * had its cores is printed next to it.  With --core-time process time over threads counts instead:
 * all that a busy machine can tell, and blind to threads that wait. */
#define _POSIX_C_SOURCE 200809L
#include "core/internal.h"
#include "sampler/forms.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if BENCH_HAS_OPENBLAS
#include <cblas.h>
#endif

enum { MOST_ROUNDS = 99, MOST_THREADS = 64 };

typedef struct settings {
    int32_t threads;
    int rounds;
    double seconds;
} settings;

/* 1: process time over threads, which neighbours do not enter, nor waiting; 0: wall time. */
static int core_time;

static double clock_now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *need(void *memory)
{
    if (memory == NULL) {
        fputs("no memory\n", stderr);
        exit(1);
    }
    return memory;
}

static void must(gbs_context *ctx, gbs_status status)
{
    if (status != GBS_OK) {
        fprintf(stderr, "%s: %s\n", gbs_status_name(status), gbs_context_message(ctx));
        exit(1);
    }
}

/* ---- rows: something that can be run a number of times ---- */

typedef struct row {
    void (*run)(void *data, int64_t times);
    void *data;
    int32_t threads;
    int64_t times;             /* that make up about settings.seconds */
    double spent[MOST_ROUNDS]; /* seconds of one time, on the clock that counts */
    double busy[MOST_ROUNDS];  /* process time / (wall time * threads) */
} row;

static void time_row(row *r, int round)
{
    const double wall = clock_now(CLOCK_MONOTONIC), cpu = clock_now(CLOCK_PROCESS_CPUTIME_ID);
    r->run(r->data, r->times);
    const double spent = clock_now(CLOCK_MONOTONIC) - wall;
    const double core = (clock_now(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (double)r->threads;
    r->spent[round] = (core_time ? core : spent) / (double)r->times;
    r->busy[round] = core / spent;
}

/* All rows in turns, so that whatever disturbs the machine disturbs them alike. */
static void time_rows(row *rows, int count, const settings *s)
{
    for (int k = 0; k < count; ++k) {
        rows[k].times = 1;
        time_row(&rows[k], 0);
        time_row(&rows[k], 0);
        const double wanted = s->seconds / rows[k].spent[0];
        rows[k].times = wanted > 1 ? (int64_t)wanted : 1;
    }
    for (int round = 0; round < s->rounds; ++round)
        for (int k = 0; k < count; ++k)
            time_row(&rows[k], round);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, int count)
{
    double sorted[MOST_ROUNDS];
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, ascending);
    return sorted[count / 2];
}

/* Median over rounds of how many times `fast` outruns `slow`. */
static double ratio(const row *fast, const row *slow, int rounds)
{
    double each[MOST_ROUNDS];
    for (int k = 0; k < rounds; ++k)
        each[k] = slow->spent[k] / fast->spent[k];
    return median(each, rounds);
}

/* ---- the library's rows ---- */

typedef struct library_row {
    gbs_context *ctx;
    gbs_sampler *sampler;
} library_row;

static void run_library(void *data, int64_t times)
{
    library_row *const r = data;
    must(r->ctx, gbs_sampler_run(r->sampler, times));
}

static library_row open_form(gbs_model *model, gbs_isa isa, gbs_form form, gbs_type type,
                             int64_t chains, int32_t threads)
{
    library_row r;
    gbs_context_options options = gbs_context_options_default();
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    options.threads = threads;
    options.isa = isa;
    must(NULL, gbs_context_create(&options, &r.ctx));
    r.ctx->form = (int)form;
    spec.type = type;
    spec.chains = chains;
    spec.start = GBS_START_ZERO;
    must(r.ctx, gbs_sampler_create(r.ctx, model, &spec, &r.sampler));
    return r;
}

static library_row open_library(gbs_model *model, gbs_type type, int64_t chains, int32_t threads)
{
    return open_form(model, GBS_ISA_AUTO, GBS_FORM_AUTO, type, chains, threads);
}

static void close_library(library_row *r)
{
    gbs_sampler_destroy(r->sampler);
    gbs_context_destroy(r->ctx);
}

/* Diagonally dominant; its values do not matter for speed. */
static gbs_model *make_model(int64_t dim)
{
    double *const q = need(malloc((size_t)(dim * dim) * sizeof *q));
    uint64_t state = 1;
    for (int64_t i = 0; i < dim; ++i)
        for (int64_t j = 0; j <= i; ++j) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            q[i * dim + j] = q[j * dim + i] =
                i == j ? (double)dim : (double)(state >> 33) * 0x1p-31 - 0.5;
        }
    gbs_context *ctx = NULL;
    gbs_model *model = NULL;
    gbs_model_spec spec = gbs_model_spec_default();
    spec.dim = dim;
    spec.matrix = q;
    must(NULL, gbs_context_create(NULL, &ctx));
    must(ctx, gbs_model_create(ctx, &spec, &model));
    gbs_context_destroy(ctx);
    free(q);
    return model;
}

static const char *type_name(gbs_type type)
{
    return type == GBS_F32 ? "f32" : "f64";
}

/* ---- threads over one ---- */

/* Samplers of a share of the chains each, in threads and contexts of their own: as far as this
 * machine's cores go together. */
typedef struct apart_row {
    library_row share[MOST_THREADS];
    int32_t threads;
    int64_t times;
} apart_row;

typedef struct apart_share {
    const apart_row *row;
    int32_t number;
} apart_share;

static void *run_share(void *data)
{
    const apart_share *const own = data;
    library_row sampler = own->row->share[own->number];
    run_library(&sampler, own->row->times);
    return NULL;
}

static void run_apart(void *data, int64_t times)
{
    apart_row *const r = data;
    pthread_t other[MOST_THREADS];
    apart_share share[MOST_THREADS];
    r->times = times;
    for (int32_t k = 0; k < r->threads; ++k) {
        share[k] = (apart_share){r, k};
        if (k > 0 && pthread_create(&other[k], NULL, run_share, &share[k]) != 0) {
            fputs("no thread\n", stderr);
            exit(1);
        }
    }
    run_share(&share[0]);
    for (int32_t k = 1; k < r->threads; ++k)
        pthread_join(other[k], NULL);
}

static apart_row open_apart(gbs_model *model, gbs_type type, int64_t chains, int32_t threads)
{
    apart_row r = {.threads = threads};
    for (int32_t k = 0; k < threads; ++k)
        r.share[k] = open_library(model, type, chains / threads, 1);
    return r;
}

static void section_threads(const settings *s)
{
    static const struct {
        gbs_type type;
        int64_t dim, chains;
    } cells[] = {{GBS_F32, 32, 4096},  {GBS_F64, 32, 4096},  {GBS_F32, 8, 16384},
                 {GBS_F32, 128, 4096}, {GBS_F64, 128, 4096}, {GBS_F32, 1138, 4096}};
    printf("\n## %d threads over one; beside them as many samplers that share nothing, of a share "
           "of the chains each\n\n"
           "| type | D | B | one, Gsites/s | %d threads | ratio | target | apart | share of it "
           "| had its cores |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
           s->threads, s->threads);
    for (size_t k = 0; k < sizeof cells / sizeof *cells; ++k) {
        gbs_model *const model = make_model(cells[k].dim);
        library_row one = open_library(model, cells[k].type, cells[k].chains, 1),
                    many = open_library(model, cells[k].type, cells[k].chains, s->threads);
        apart_row apart = open_apart(model, cells[k].type, cells[k].chains, s->threads);
        row rows[3] = {{.run = run_library, .data = &one, .threads = 1},
                       {.run = run_library, .data = &many, .threads = s->threads},
                       {.run = run_apart, .data = &apart, .threads = s->threads}};
        time_rows(rows, 3, s);
        const double sites = 1e-9 * (double)(cells[k].dim * cells[k].chains),
                     library = ratio(&rows[1], &rows[0], s->rounds),
                     machine = ratio(&rows[2], &rows[0], s->rounds);
        printf("| %s | %lld | %lld | %.3f | %.3f | %.2f | %.2f | %.2f | %.0f %% | %.0f %%, %.0f %% "
               "|\n",
               type_name(cells[k].type), (long long)cells[k].dim, (long long)cells[k].chains,
               sites / median(rows[0].spent, s->rounds), sites / median(rows[1].spent, s->rounds),
               library, 0.95 * s->threads, machine, 100 * library / machine,
               100 * median(rows[0].busy, s->rounds), 100 * median(rows[1].busy, s->rounds));
        close_library(&one);
        close_library(&many);
        for (int32_t t = 0; t < s->threads; ++t)
            close_library(&apart.share[t]);
        gbs_model_release(model);
    }
}

/* ---- few chains beside reading ---- */

typedef struct reader {
    const char *from;
    size_t bytes; /* of one thread's share */
    int64_t times;
    uint64_t sum;
} reader;

typedef struct read_row {
    char *memory;
    size_t bytes;
    int32_t threads;
} read_row;

static void *read_share(void *argument)
{
    reader *const r = argument;
    typedef uint64_t lanes __attribute__((vector_size(64)));
    lanes a = {0}, b = {0}, c = {0}, d = {0};
    for (int64_t time = 0; time < r->times; ++time) {
        const lanes *const at = (const lanes *)(const void *)r->from;
        for (size_t k = 0; k + 4 <= r->bytes / sizeof(lanes); k += 4) {
            for (int line = 0; line < 4; ++line) /* as the kernels do */
                __builtin_prefetch((const char *)&at[k + (size_t)line] + 4096);
            a ^= at[k];
            b ^= at[k + 1];
            c ^= at[k + 2];
            d ^= at[k + 3];
        }
        __asm__ volatile("" ::: "memory");
    }
    a ^= b ^ c ^ d;
    for (int k = 0; k < 8; ++k)
        r->sum ^= a[k];
    return NULL;
}

static void run_read(void *data, int64_t times)
{
    const read_row *const r = data;
    enum { MOST = 64 };
    reader shares[MOST];
    pthread_t handles[MOST];
    const int32_t count = r->threads < MOST ? r->threads : MOST;
    const size_t share = r->bytes / (size_t)count / 256 * 256;
    for (int32_t k = 0; k < count; ++k) {
        shares[k] = (reader){r->memory + (size_t)k * share, share, times, 0};
        if (k > 0)
            pthread_create(&handles[k], NULL, read_share, &shares[k]);
    }
    read_share(&shares[0]);
    for (int32_t k = 1; k < count; ++k)
        pthread_join(handles[k], NULL);
}

static void few_cell(gbs_model *model, gbs_type type, int64_t chains, int32_t threads,
                     const settings *s)
{
    const int64_t dim = gbs_model_dim(model);
    const size_t bytes = (size_t)(dim * dim) * (type == GBS_F32 ? 4 : 8);
    read_row reading = {need(aligned_alloc(64, (bytes + 4095) / 64 * 64)), bytes, threads};
    memset(reading.memory, 1, bytes);
    library_row library = open_library(model, type, chains, threads);
    row rows[2] = {{.run = run_library, .data = &library, .threads = threads},
                   {.run = run_read, .data = &reading, .threads = threads}};
    time_rows(rows, 2, s);
    printf("| %s | %lld | %lld | %d | %.3f | %.1f | %.1f | %.0f %% | %.0f %%, %.0f %% |\n",
           type_name(type), (long long)dim, (long long)chains, threads,
           1e3 * median(rows[0].spent, s->rounds),
           1e-9 * (double)bytes / median(rows[0].spent, s->rounds),
           1e-9 * (double)bytes / median(rows[1].spent, s->rounds),
           100 * ratio(&rows[0], &rows[1], s->rounds), 100 * median(rows[0].busy, s->rounds),
           100 * median(rows[1].busy, s->rounds));
    fflush(stdout);
    close_library(&library);
    free(reading.memory);
}

static void section_few(const settings *s)
{
    static const int64_t dims[] = {512, 1138, 2048, 4096}, chains[] = {1, 2, 4, 8, 16};
    puts("\n## Few chains: each coefficient read once a sweep (target 65 % at D = 4096, B <= 4)\n\n"
         "| type | D | B | threads | ms a sweep | coefficients, GB/s | reading alone | share | had "
         "its cores |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    for (size_t d = 0; d < sizeof dims / sizeof *dims; ++d) {
        gbs_model *const model = make_model(dims[d]);
        for (gbs_type type = GBS_F32; type <= GBS_F64; ++type)
            for (size_t c = 0; c < sizeof chains / sizeof *chains; ++c)
                for (int32_t threads = 1; threads <= s->threads; threads += s->threads - 1) {
                    few_cell(model, type, chains[c], threads, s);
                    if (s->threads == 1)
                        break;
                }
        gbs_model_release(model);
    }
}

/* ---- many chains beside a matrix product ---- */

#if BENCH_HAS_OPENBLAS
typedef struct product_row {
    gbs_type type;
    int64_t dim, chains;
    void *a, *x, *r; /* r += a x: [dim, dim], [dim, chains] */
} product_row;

static void run_product(void *data, int64_t times)
{
    const product_row *const p = data;
    const int dim = (int)p->dim, chains = (int)p->chains;
    for (int64_t k = 0; k < times; ++k) {
        if (p->type == GBS_F32)
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, dim, chains, dim, 1.0f, p->a,
                        dim, p->x, chains, 1.0f, p->r, chains);
        else
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, dim, chains, dim, 1.0, p->a, dim,
                        p->x, chains, 1.0, p->r, chains);
    }
}

static void product_cell(gbs_model *model, gbs_type type, int64_t chains, int32_t threads,
                         const settings *s)
{
    const int64_t dim = gbs_model_dim(model);
    const size_t size = type == GBS_F32 ? 4 : 8;
    product_row product = {type,
                           dim,
                           chains,
                           need(calloc((size_t)(dim * dim), size)),
                           need(calloc((size_t)(dim * chains), size)),
                           need(calloc((size_t)(dim * chains), size))};
    library_row library = open_library(model, type, chains, threads);
    row rows[2] = {{.run = run_library, .data = &library, .threads = threads},
                   {.run = run_product, .data = &product, .threads = threads}};
    openblas_set_num_threads(threads);
    time_rows(rows, 2, s);
    const double flops = 2e-9 * (double)dim * (double)dim * (double)chains;
    printf("| %s | %lld | %lld | %d | %.1f | %.1f | %.0f %% | %.0f %%, %.0f %% |\n",
           type_name(type), (long long)dim, (long long)chains, threads,
           flops / median(rows[0].spent, s->rounds), flops / median(rows[1].spent, s->rounds),
           100 * ratio(&rows[0], &rows[1], s->rounds), 100 * median(rows[0].busy, s->rounds),
           100 * median(rows[1].busy, s->rounds));
    fflush(stdout);
    close_library(&library);
    free(product.a);
    free(product.x);
    free(product.r);
}

static void section_product(const settings *s)
{
    static const int64_t dims[] = {512, 1024, 1138, 2048, 4096};
    static const int64_t chains[] = {1024};
    printf(
        "\n## Many chains of many sites, noise included, beside OpenBLAS %s, D x D times D x B "
        "(target 70 %%)\n\n| type | D | B | threads | sweeps, Gflop/s | product | share | had its "
        "cores |\n|---|---:|---:|---:|---:|---:|---:|---:|\n",
        openblas_get_corename());
    for (size_t d = 0; d < sizeof dims / sizeof *dims; ++d) {
        gbs_model *const model = make_model(dims[d]);
        for (gbs_type type = GBS_F32; type <= GBS_F64; ++type)
            for (size_t c = 0; c < sizeof chains / sizeof *chains; ++c)
                for (int32_t threads = 1; threads <= s->threads; threads += s->threads - 1) {
                    product_cell(model, type, chains[c], threads, s);
                    if (s->threads == 1)
                        break;
                }
        gbs_model_release(model);
    }
}
#else
static void section_product(const settings *s)
{
    (void)s;
    puts("\nleft out: the matrix product, since this build did not find OpenBLAS");
}
#endif

/* ---- forms beside each other: what src/sampler/forms.c chooses by ---- */

static void forms_cell(gbs_model *model, gbs_isa isa, gbs_type type, int64_t chains, gbs_form other,
                       const settings *s)
{
    library_row blocks = open_form(model, isa, GBS_FORM_BLOCKS, type, chains, 1),
                form = open_form(model, isa, other, type, chains, 1);
    row rows[2] = {{.run = run_library, .data = &form, .threads = 1},
                   {.run = run_library, .data = &blocks, .threads = 1}};
    time_rows(rows, 2, s);
    printf(" %.2f |", ratio(&rows[0], &rows[1], s->rounds));
    fflush(stdout);
    close_library(&blocks);
    close_library(&form);
}

static void section_forms(const settings *s)
{
    static const int64_t dims[] = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
    puts("\n## Few chains with rows in lanes: times as fast as with chains in lanes, one thread\n\n"
         "| D | isa | type | B = 1 | 2 | 4 | 8 | 16 |\n|---:|---|---|---:|---:|---:|---:|---:|");
    for (size_t d = 0; d < sizeof dims / sizeof *dims; ++d) {
        gbs_model *const model = make_model(dims[d]);
        for (gbs_isa isa = GBS_ISA_AVX2; isa <= GBS_ISA_NEON; ++isa)
            for (gbs_type type = GBS_F32; type <= GBS_F64 && gbs_isa_available(isa); ++type) {
                printf("| %lld | %s | %s |", (long long)dims[d], gbs_isa_name(isa),
                       type_name(type));
                for (int64_t chains = 1; chains <= GBS_FEW_CHAINS; chains *= 2)
                    forms_cell(model, isa, type, chains, GBS_FORM_FEW, s);
                puts("");
            }
        gbs_model_release(model);
    }
}

static void section_tiles(const settings *s)
{
    static const int64_t dims[] = {512, 1024, 2048, 4096}, chains[] = {64, 256, 1024};
    puts("\n## Many chains tile by tile: times as fast as block by block, one thread\n\n"
         "| D | isa | type | B = 64 | 256 | 1024 |\n|---:|---|---|---:|---:|---:|");
    for (size_t d = 0; d < sizeof dims / sizeof *dims; ++d) {
        gbs_model *const model = make_model(dims[d]);
        for (gbs_isa isa = GBS_ISA_AVX2; isa <= GBS_ISA_AVX512; ++isa)
            for (gbs_type type = GBS_F32; type <= GBS_F64 && gbs_isa_available(isa); ++type) {
                printf("| %lld | %s | %s |", (long long)dims[d], gbs_isa_name(isa),
                       type_name(type));
                for (size_t c = 0; c < sizeof chains / sizeof *chains; ++c)
                    forms_cell(model, isa, type, chains[c], GBS_FORM_TILES, s);
                puts("");
            }
        gbs_model_release(model);
    }
}

/* ---- the command line ---- */

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(const settings *s);
    } sections[] = {{"threads", section_threads},
                    {"few", section_few},
                    {"product", section_product},
                    {"forms", section_forms},
                    {"tiles", section_tiles}};
    settings s = {.threads = 2, .rounds = 11, .seconds = 0.2};
    int chosen = 0;
    for (int k = 1; k < argc; ++k) {
        if (k + 1 < argc && strcmp(argv[k], "--threads") == 0)
            s.threads = (int32_t)strtol(argv[++k], NULL, 10);
        else if (k + 1 < argc && strcmp(argv[k], "--rounds") == 0)
            s.rounds = (int)strtol(argv[++k], NULL, 10);
        else if (k + 1 < argc && strcmp(argv[k], "--seconds") == 0)
            s.seconds = strtod(argv[++k], NULL);
        else if (strcmp(argv[k], "--core-time") == 0)
            core_time = 1;
        else
            chosen = 1;
    }
    if (s.threads < 1 || s.threads > MOST_THREADS || s.rounds < 1 || s.rounds > MOST_ROUNDS) {
        fprintf(stderr, "--threads 1 to %d, --rounds 1 to %d\n", MOST_THREADS, MOST_ROUNDS);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0); /* a row is seen when it is known, through a pipe too */
    printf("%s; medians of %d rounds of %g s\n",
           core_time ? "process time over threads" : "wall time", s.rounds, s.seconds);
    for (size_t section = 0; section < sizeof sections / sizeof *sections; ++section) {
        int wanted = !chosen;
        for (int k = 1; k < argc; ++k)
            wanted |= strcmp(argv[k], sections[section].name) == 0;
        if (wanted)
            sections[section].run(&s);
    }
    return 0;
}
