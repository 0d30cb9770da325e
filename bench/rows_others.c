/* The C rows that are not the library's: naive loops, and the compiler's own vectorisation of
 * the library's normals. */
#include "cpu_rows.h"
#include "plain_loops.h"

#include <stdlib.h>

/* ---- naive loops ---- */

typedef struct naive_row {
    naive_function function;
    naive_job job;
} naive_row;

static void finish_naive(void *data)
{
    naive_row *const row = data;
    free((void *)row->job.precision);
    free((void *)row->job.mean);
    free(row->job.x);
    free(row);
}

static void *prepare_naive(const bench_row *of, const bench_cell *cell, const char **why)
{
    const size_t size = cell->type == GBS_F32 ? sizeof(float) : sizeof(double);
    const size_t dim = (size_t)cell->dim;
    void *const precision = malloc(dim * dim * size);
    naive_row *const row = calloc(1, sizeof *row);
    if (row == NULL || precision == NULL) {
        *why = "no memory";
        free(precision);
        free(row);
        return NULL;
    }
    for (size_t k = 0; k < dim * dim; ++k)
        if (cell->type == GBS_F32)
            ((float *)precision)[k] = (float)cell->precision[k];
        else
            ((double *)precision)[k] = cell->precision[k];
    row->function = ((const naive_function *)of->function)[cell->type];
    row->job = (naive_job){
        .dim = cell->dim,
        .chains = cell->chains,
        .precision = precision,
        .mean = calloc(dim, size),
        .x = calloc(dim * (size_t)cell->chains, size),
    };
    if (row->job.mean == NULL || row->job.x == NULL) {
        *why = "no memory";
        finish_naive(row);
        return NULL;
    }
    return row;
}

static void run_naive(void *data, int64_t sweeps)
{
    naive_row *const row = data;
    for (int64_t sweep = 0; sweep < sweeps; ++sweep)
        row->function(&row->job);
}

static const naive_function naive_o3[2] = {naive_o3_f32, naive_o3_f64};
static const naive_function naive_fast[2] = {naive_fast_f32, naive_fast_f64};

/* ---- normals vectorised by a compiler ---- */

typedef struct autovec_row {
    autovec_function function;
    int64_t chains;
    autovec_job job;
} autovec_row;

static void finish_autovec(void *data)
{
    autovec_row *const row = data;
    free(row->job.z);
    free(row);
}

static void *prepare_autovec(const bench_row *of, const bench_cell *cell, const char **why)
{
    if (of->function == NULL) {
        *why = "clang was not found when this was built";
        return NULL;
    }
    autovec_row *const row = calloc(1, sizeof *row);
    const size_t sites = ((size_t)cell->dim + 3) / 4 * 4;
    void *const z = aligned_alloc(64, sites * AUTOVEC_LANES * sizeof(double));
    if (row == NULL || z == NULL) {
        *why = "no memory";
        free(z);
        free(row);
        return NULL;
    }
    row->function = ((const autovec_function *)of->function)[cell->type];
    row->chains = cell->chains;
    row->job = (autovec_job){.seed = 1, .sites = cell->dim, .z = z};
    return row;
}

static void run_autovec(void *data, int64_t sweeps)
{
    autovec_row *const row = data;
    for (int64_t chain = 0; chain < row->chains; chain += AUTOVEC_LANES) {
        row->job.chain = chain;
        for (int64_t sweep = 0; sweep < sweeps; ++sweep, ++row->job.sweep)
            row->function(&row->job);
    }
}

static const autovec_function cc512[2] = {autovec_cc512_f32, autovec_cc512_f64};
#if BENCH_HAS_CLANG
static const autovec_function clang[2] = {autovec_clang_f32, autovec_clang_f64};
static const autovec_function clang512[2] = {autovec_clang512_f32, autovec_clang512_f64};
#define CLANG clang
#define CLANG512 clang512
#else
#define CLANG NULL
#define CLANG512 NULL
#endif

#define NAIVE_ROW(name, of)                                                                        \
    {                                                                                              \
        name, prepare_naive, run_naive, finish_naive, 1, GBS_ISA_AUTO, of                          \
    }
#define AUTOVEC_ROW(name, of)                                                                      \
    {                                                                                              \
        name, prepare_autovec, run_autovec, finish_autovec, 0, GBS_ISA_AUTO, of                    \
    }

const bench_row bench_rows_others[] = {
    AUTOVEC_ROW("normals_clang", CLANG),      AUTOVEC_ROW("normals_clang512", CLANG512),
    AUTOVEC_ROW("normals_cc512", cc512),      NAIVE_ROW("naive_o3", naive_o3),
    NAIVE_ROW("naive_fast_math", naive_fast),
};
const int bench_rows_others_count = (int)(sizeof bench_rows_others / sizeof bench_rows_others[0]);
