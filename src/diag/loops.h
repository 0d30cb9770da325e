/* The diagnostics' loops over draws, built once per instruction set from loops_body.h and
 * transform_body.h.  Sums run in sixteen lanes whatever the width of a register, and are joined in
 * one order, so every instruction set gives the same bits. */
#ifndef GBS_DIAG_LOOPS_H
#define GBS_DIAG_LOOPS_H

#include <stddef.h>
#include <stdint.h>

enum {
    GBS_LAGS_TOGETHER = 8, /* lags that `products` sums in one pass */
    GBS_MOST_SERIES = 3    /* statistics that one call of `transform` takes */
};

typedef struct gbs_transform gbs_transform;

typedef struct gbs_diag_loops {
    const char *name;
    int lanes; /* doubles in a vector of the transform */

    double (*sum)(const double *x, int64_t n, double shift); /* of x - shift */
    double (*sum_squares)(const double *x, int64_t n, double shift);
    double (*sum_fourths)(const double *x, int64_t n, double shift);
    void (*range)(const double *x, int64_t n, double *low, double *high);
    int64_t (*equal_neighbours)(const double *x, int64_t n); /* how many x[i] = x[i-1] */
    int64_t (*count_not_finite)(const double *x, int64_t n);

    /* to = x factor, x - shift, (x - shift)^2, |(x - origin) - middle|; to may be x */
    void (*scale)(double *to, const double *x, int64_t n, double factor);
    void (*subtract)(double *to, const double *x, int64_t n, double shift);
    void (*squares)(double *to, const double *x, int64_t n, double shift);
    void (*distances)(double *to, const double *x, int64_t n, double origin, double middle);

    /* words[i] = (whole part of (x[i] - low) factor, below 2^31) 2^32 + i */
    void (*bins)(uint64_t *words, const double *x, int64_t n, double low, double factor);

    /* sum[k] = sum over half-chains of n draws and over i of y_i y_{i+t+k} */
    void (*products)(const double *y, int64_t n, int64_t halves, int64_t t,
                     double sum[GBS_LAGS_TOGETHER]);
    /* in how many places, over all half-chains, both bit i and bit i + t are set */
    int64_t (*common_bits)(const uint64_t *bits, int64_t words, int64_t halves, int64_t t);

    /* Fourier transforms of half-chains of n draws: plan and arrays take plan_bytes and
     * scratch_bytes, aligned to 64, and the scratch may hold anything between calls. */
    size_t (*plan_bytes)(int64_t n);
    size_t (*scratch_bytes)(int64_t n);
    gbs_transform *(*plan)(int64_t n, void *memory);
    /* lag_sum[s][t] = sum over half-chains and i of y_i y_{i+t}, y = series[s], t < n */
    void (*transform)(const gbs_transform *plan, void *scratch, int count,
                      const double *const *series, double *const *lag_sum, int64_t n,
                      int64_t halves);
} gbs_diag_loops;

extern const gbs_diag_loops gbs_diag_loops_narrow;
#if GBS_X86_KERNELS
extern const gbs_diag_loops gbs_diag_loops_avx2;
extern const gbs_diag_loops gbs_diag_loops_avx512;
#endif

/* The widest that this machine runs; and all of them, NULL beyond the last. */
const gbs_diag_loops *gbs_diag_loops_here(void);
const gbs_diag_loops *gbs_diag_loops_at(int index);

#endif
