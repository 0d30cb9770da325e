/* Times the C rows on request, so that bench/compare_cpu.py can take them in turns with rows of
 * its own, all on one core.  Reads one request a line from standard input and answers on one:
 *
 *     rows                      names of all rows
 *     cell f32|f64 DIM CHAINS   "ok"; drops what was prepared for the last cell
 *     time ROW SECONDS          "SECONDS UPDATES CHAINS SWEEPS" of one measurement of at least
 *                               about SECONDS, or "absent REASON"
 *     spectrum                  tau_max of the cell's model
 *     built                     the compiler
 *
 * Time is the thread's own CPU time, which a neighbour on the same core does not enter. */
#define _POSIX_C_SOURCE 200809L
#include "cpu_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINE_BYTES = 256, MAX_ROWS = 32 };

/* A sweep of a one_by_one row takes at most about this many multiply-adds. */
#define ONE_BY_ONE_WORK ((int64_t)1 << 28)

typedef struct prepared {
    const bench_row *row;
    bench_cell cell; /* with the row's own number of chains */
    void *data;
    const char *why;
    double seconds_per_sweep;
} prepared;

typedef struct bench {
    bench_cell cell;
    prepared rows[MAX_ROWS];
    int count;
} bench;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A linear congruential generator: the matrix only has to be somewhat general. */
static double entry(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*state >> 33) * 0x1p-31 - 0.5) * 0.3464101615137755; /* variance 0.01 */
}

static int make_precision(bench_cell *cell)
{
    const int64_t dim = cell->dim;
    double *const l = malloc((size_t)(dim * dim) * sizeof *l);
    cell->precision = malloc((size_t)(dim * dim) * sizeof *cell->precision);
    uint64_t state = 1;
    if (l == NULL || cell->precision == NULL) {
        free(l);
        return 0;
    }
    for (int64_t k = 0; k < dim * dim; ++k)
        l[k] = entry(&state);
    for (int64_t i = 0; i < dim; ++i)
        for (int64_t j = 0; j <= i; ++j) {
            double sum = i == j ? 2.0 : 0.0;
            for (int64_t k = 0; k < dim; ++k)
                sum += l[i * dim + k] * l[j * dim + k];
            cell->precision[i * dim + j] = cell->precision[j * dim + i] = sum;
        }
    free(l);
    return 1;
}

static void drop_cell(bench *b)
{
    for (int r = 0; r < b->count; ++r) {
        if (b->rows[r].data != NULL)
            b->rows[r].row->finish(b->rows[r].data);
        b->rows[r].data = NULL;
        b->rows[r].why = NULL;
    }
    gbs_model_release(b->cell.model);
    gbs_context_destroy(b->cell.ctx);
    free(b->cell.precision);
    memset(&b->cell, 0, sizeof b->cell);
}

static const char *make_cell(bench *b, const char *request)
{
    char type[8];
    long long dim, chains;
    drop_cell(b);
    if (sscanf(request, "cell %7s %lld %lld", type, &dim, &chains) != 3 || dim < 1 || chains < 1)
        return "error: cell f32|f64 DIM CHAINS";
    b->cell.type = strcmp(type, "f32") == 0 ? GBS_F32 : GBS_F64;
    b->cell.dim = dim;
    b->cell.chains = chains;
    if (gbs_context_create(NULL, &b->cell.ctx) != GBS_OK || !make_precision(&b->cell))
        return "error: no memory";
    gbs_model_spec spec = gbs_model_spec_default();
    spec.dim = dim;
    spec.matrix = b->cell.precision;
    if (gbs_model_create(b->cell.ctx, &spec, &b->cell.model) != GBS_OK)
        return gbs_context_message(b->cell.ctx);
    return "ok";
}

/* Prepares a row, and learns from two short runs how long a sweep takes. */
static void prepare(bench *b, prepared *p)
{
    p->cell = b->cell;
    const int64_t most = ONE_BY_ONE_WORK / (b->cell.dim * b->cell.dim);
    if (p->row->one_by_one && p->cell.chains > most)
        p->cell.chains = most > 0 ? most : 1;
    p->data = p->row->prepare(p->row, &p->cell, &p->why);
    for (int turn = 0; turn < 2 && p->data != NULL; ++turn) {
        const double start = now();
        p->row->run(p->data, 1);
        p->seconds_per_sweep = now() - start;
    }
}

static void answer_time(bench *b, const char *request)
{
    char name[64];
    double least;
    if (sscanf(request, "time %63s %lf", name, &least) != 2 || b->cell.model == NULL) {
        puts("error: time ROW SECONDS, after a cell");
        return;
    }
    prepared *p = NULL;
    for (int r = 0; r < b->count; ++r)
        if (strcmp(b->rows[r].row->name, name) == 0)
            p = &b->rows[r];
    if (p == NULL) {
        printf("absent there is no row of this name\n");
        return;
    }
    if (p->data == NULL && p->why == NULL)
        prepare(b, p);
    if (p->data == NULL) {
        printf("absent %s\n", p->why);
        return;
    }
    const double wanted = least / p->seconds_per_sweep;
    const int64_t sweeps = wanted > 1 ? (int64_t)wanted : 1;
    const double start = now();
    p->row->run(p->data, sweeps);
    const double seconds = now() - start;
    p->seconds_per_sweep = seconds / (double)sweeps;
    printf("%.9g %lld %lld %lld\n", seconds, (long long)(sweeps * p->cell.dim * p->cell.chains),
           (long long)p->cell.chains, (long long)sweeps);
}

static void answer(bench *b, const char *request)
{
    gbs_spectrum spectrum;
    if (strncmp(request, "cell ", 5) == 0) {
        puts(make_cell(b, request));
    } else if (strncmp(request, "time ", 5) == 0) {
        answer_time(b, request);
    } else if (strcmp(request, "rows") == 0) {
        for (int r = 0; r < b->count; ++r)
            printf("%s%s", b->rows[r].row->name, r + 1 < b->count ? " " : "\n");
    } else if (strcmp(request, "spectrum") == 0 && b->cell.model != NULL &&
               gbs_model_spectrum(b->cell.ctx, b->cell.model, &spectrum) == GBS_OK) {
        printf("%.9g\n", spectrum.tau_max);
    } else if (strcmp(request, "built") == 0) {
        puts(__VERSION__);
    } else {
        puts("error: unknown request");
    }
}

int main(void)
{
    static bench b;
    for (int r = 0; r < bench_rows_gibbsite_count; ++r)
        b.rows[b.count++].row = &bench_rows_gibbsite[r];
    for (int r = 0; r < bench_rows_others_count; ++r)
        b.rows[b.count++].row = &bench_rows_others[r];
    char request[LINE_BYTES];
    while (fgets(request, sizeof request, stdin) != NULL) {
        request[strcspn(request, "\n")] = '\0';
        answer(&b, request);
        fflush(stdout);
    }
    drop_cell(&b);
    return 0;
}
