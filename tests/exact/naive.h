/* The sampler by the book: the loops of the numerical contract (docs/reproducibility.md) on plain
 * arrays, one chain, one site and one coefficient at a time, each sum in its stated order by
 * fmaf() and fma().  Numbers of type T are held widened.  Slow, and what the library must equal
 * bit for bit. */
#ifndef GBS_TEST_NAIVE_H
#define GBS_TEST_NAIVE_H

#include "gibbsite/gibbsite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct naive {
    gbs_type type;
    int64_t dim;
    double *a;    /* [D, D] coefficients, rounded to T */
    double *c;    /* [D] likewise */
    double *s;    /* [D] likewise */
    double *l;    /* [D, D] lower Cholesky factor, double */
    double *mean; /* [D] of the law, double */
    double *sd;   /* [D] marginal standard deviations, double */
} naive;

static inline double *naive_new(int64_t count)
{
    double *const memory = count < 0 ? NULL : calloc((size_t)count, sizeof *memory);
    if (memory == NULL)
        abort();
    return memory;
}

static inline double naive_round(gbs_type type, double x)
{
    return type == GBS_F32 ? (double)(float)x : x;
}

/* fma in T of numbers of T. */
static inline double naive_fma(gbs_type type, double a, double b, double c)
{
    return type == GBS_F32 ? (double)fmaf((float)a, (float)b, (float)c) : fma(a, b, c);
}

static inline double naive_divide(gbs_type type, double a, double b)
{
    return type == GBS_F32 ? (double)((float)a / (float)b) : a / b;
}

/* ---- linear algebra: Cholesky, solves, diagonal of the inverse ---- */

static inline void naive_cholesky(const double *q, int64_t n, double *l)
{
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j <= i; ++j) {
            double r = q[i * n + j];
            for (int64_t k = 0; k < j; ++k)
                r = fma(-l[i * n + k], l[j * n + k], r);
            l[i * n + j] = i == j ? sqrt(r) : r / l[j * n + j];
        }
}

static inline void naive_solve_forward(const double *l, int64_t n, double *x)
{
    for (int64_t i = 0; i < n; ++i) {
        double r = x[i];
        for (int64_t k = 0; k < i; ++k)
            r = fma(-l[i * n + k], x[k], r);
        x[i] = r / l[i * n + i];
    }
}

static inline void naive_solve_backward(const double *l, int64_t n, double *x)
{
    for (int64_t i = n - 1; i >= 0; --i) {
        double r = x[i];
        for (int64_t k = n - 1; k > i; --k)
            r = fma(-l[k * n + i], x[k], r);
        x[i] = r / l[i * n + i];
    }
}

static inline void naive_deviations(const double *l, int64_t n, double *sd)
{
    double *const m = naive_new(n);
    for (int64_t i = 0; i < n; ++i) {
        memset(m, 0, (size_t)n * sizeof *m);
        m[i] = 1;
        naive_solve_forward(l, n, m);
        double r = 0;
        for (int64_t k = i; k < n; ++k)
            r = fma(m[k], m[k], r);
        sd[i] = sqrt(r);
    }
    free(m);
}

/* ---- coefficients ---- */

static inline void naive_coefficients(naive *n, const double *q, gbs_location kind,
                                      const double *location, double w)
{
    const int64_t dim = n->dim;
    for (int64_t i = 0; i < dim; ++i) {
        const double q_ii = q[i * dim + i];
        for (int64_t j = 0; j < dim; ++j)
            n->a[i * dim + j] = naive_round(n->type, w * (-q[i * dim + j] / q_ii));
        n->a[i * dim + i] = w == 1 ? 0 : naive_round(n->type, 1 - w);
        n->s[i] = naive_round(n->type, (1 / sqrt(q_ii)) * sqrt(w * (2 - w)));
        double t = 0;
        if (kind == GBS_LOCATION_MEAN) {
            t = location[i];
            for (int64_t j = 0; j < dim; ++j)
                t = fma(-n->a[i * dim + j], location[j], t);
        } else if (kind == GBS_LOCATION_INFORMATION) {
            t = w * (location[i] / q_ii);
        } else if (kind == GBS_LOCATION_OFFSET) {
            t = w * location[i];
        }
        n->c[i] = naive_round(n->type, t);
    }
}

static inline void naive_mean(naive *n, const double *q, gbs_location kind, const double *location)
{
    if (kind == GBS_LOCATION_ZERO)
        return;
    memcpy(n->mean, location, (size_t)n->dim * sizeof *n->mean);
    if (kind == GBS_LOCATION_MEAN)
        return;
    if (kind == GBS_LOCATION_OFFSET)
        for (int64_t i = 0; i < n->dim; ++i)
            n->mean[i] = q[i * n->dim + i] * location[i];
    naive_solve_forward(n->l, n->dim, n->mean);
    naive_solve_backward(n->l, n->dim, n->mean);
}

static inline naive naive_create(gbs_type type, int64_t dim, const double *q, gbs_location kind,
                                 const double *location, double w)
{
    naive n = {.type = type, .dim = dim};
    n.a = naive_new(dim * dim);
    n.c = naive_new(dim);
    n.s = naive_new(dim);
    n.l = naive_new(dim * dim);
    n.mean = naive_new(dim);
    n.sd = naive_new(dim);
    naive_coefficients(&n, q, kind, location, w);
    naive_cholesky(q, dim, n.l);
    naive_mean(&n, q, kind, location);
    naive_deviations(n.l, dim, n.sd);
    return n;
}

static inline void naive_destroy(naive *n)
{
    free(n->a);
    free(n->c);
    free(n->s);
    free(n->l);
    free(n->mean);
    free(n->sd);
}

/* ---- what a chain does; z [D] by site ---- */

static inline void naive_sweep(const naive *n, const int64_t *order, const double *z, double *x)
{
    const int64_t dim = n->dim;
    for (int64_t p = 0; p < dim; ++p) {
        const int64_t i = order[p];
        const double *const a = n->a + i * dim;
        double r = naive_fma(n->type, n->s[i], z[i], n->c[i]);
        if (a[i] != 0)
            r = naive_fma(n->type, a[i], x[i], r);
        for (int64_t k = p + 1; k < dim; ++k)
            r = naive_fma(n->type, a[order[k]], x[order[k]], r);
        for (int64_t k = 0; k < p; ++k)
            r = naive_fma(n->type, a[order[k]], x[order[k]], r);
        x[i] = r;
    }
}

static inline void naive_exact_draw(const naive *n, const double *z, double *x)
{
    const int64_t dim = n->dim;
    for (int64_t i = dim - 1; i >= 0; --i) {
        double r = z[i];
        for (int64_t j = dim - 1; j > i; --j)
            r = naive_fma(n->type, -naive_round(n->type, n->l[j * dim + i]), x[j], r);
        x[i] = naive_divide(n->type, r, naive_round(n->type, n->l[i * dim + i]));
    }
    for (int64_t i = 0; i < dim; ++i)
        x[i] = naive_round(n->type, n->mean[i] + x[i]);
}

static inline void naive_overdispersed(const naive *n, const double *z, double *x)
{
    for (int64_t i = 0; i < n->dim; ++i)
        x[i] = naive_round(n->type, fma(2 * n->sd[i], z[i], n->mean[i]));
}

#endif
