/* What the CPU benchmark can time.  A row is one way of doing the work, a cell one problem:
 * element type, sites, chains.  Rows are prepared once per cell and then timed many times, in
 * turns, by cpu_bench.c. */
#ifndef GBS_BENCH_CPU_ROWS_H
#define GBS_BENCH_CPU_ROWS_H

#include "gibbsite/gibbsite.h"

typedef struct bench_cell {
    gbs_type type;
    int64_t dim, chains;
    double *precision; /* [dim, dim], L L' + 2 I as in the PyTorch loop */
    gbs_context *ctx;
    gbs_model *model;
} bench_cell;

typedef struct bench_row {
    const char *name;
    /* The row's own data, or NULL with *why set to the reason why it cannot run here. */
    void *(*prepare)(const struct bench_row *row, const bench_cell *cell, const char **why);
    void (*run)(void *data, int64_t sweeps);
    void (*finish)(void *data);
    /* Rows that take one chain at a time are timed on fewer chains where a sweep is long. */
    int one_by_one;
    gbs_isa isa;          /* rows of the library */
    const void *function; /* other rows: a bench_loop[2], by type */
} bench_row;

extern const bench_row bench_rows_gibbsite[];
extern const bench_row bench_rows_others[];
extern const int bench_rows_gibbsite_count, bench_rows_others_count;

#endif
