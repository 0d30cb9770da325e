/* Whitened sweeps and sweeps under row constraints by the book: src/backend/constrained.h on plain
 * arrays, one chain and one number at a time.  Numbers of type T are held widened.  Normals are the
 * textbook stream's, draws between bounds those of gbs_truncnorm, one by one. */
#ifndef GBS_TEST_NAIVE_CONSTRAINED_H
#define GBS_TEST_NAIVE_CONSTRAINED_H

#include "exact/trial.h"
#include "kat/native_reference.h"

typedef struct naive_rows {
    int64_t rows;
    const double *a, *lower, *upper; /* [R, D], [R] */
} naive_rows;

typedef struct naive_model {
    gbs_context *ctx;
    naive n;
    const double *lower, *upper, *fixed; /* [D], of T; fixed NaN at free sites */
    naive_rows rows;
    double *w;      /* [D, D] W_ji at [i, j], double: M = L^-1 */
    double *change; /* [R, D] by how much direction i moves row r, of T; 0: not at all */
    double *sum;    /* [R] */
} naive_model;

static inline double naive_add(gbs_type type, double a, double b)
{
    return type == GBS_F32 ? (double)((float)a + (float)b) : a + b;
}

static inline double naive_times(gbs_type type, double a, double b)
{
    return type == GBS_F32 ? (double)((float)a * (float)b) : a * b;
}

static inline int is_fixed(const naive_model *m, int64_t site)
{
    return m->fixed != NULL && !isnan(m->fixed[site]);
}

/* Changes of rows along W's columns, or along the sites themselves. */
static inline void naive_changes(naive_model *m, int whitened)
{
    const int64_t dim = m->n.dim;
    const double unit = m->n.type == GBS_F32 ? 0x1p-23 : 0x1p-52;
    for (int64_t r = 0; r < m->rows.rows; ++r)
        for (int64_t i = 0; i < dim; ++i) {
            const double *const a = m->rows.a + r * dim;
            double sum = 0, size = 0, terms = 1;
            for (int64_t j = 0; j < dim; ++j) {
                const double along = !whitened                 ? (double)(i == j)
                                     : is_fixed(m, j) || j > i ? 0
                                                               : m->w[i * dim + j];
                if (a[j] == 0)
                    continue;
                sum = fma(a[j], along, sum);
                size = fma(fabs(a[j]), fabs(along), size);
                terms += 1;
            }
            if (is_fixed(m, i) || (whitened && fabs(sum) <= terms * unit * size))
                sum = 0;
            m->change[r * dim + i] = naive_round(m->n.type, sum);
        }
}

static inline naive_model naive_constrain(gbs_context *ctx, const gbs_model *model, gbs_type type,
                                          int whitened, const double *lower, const double *upper,
                                          naive_rows rows)
{
    const int64_t dim = gbs_model_dim(model);
    naive_model m = {.ctx = ctx, .lower = lower, .upper = upper, .rows = rows};
    m.fixed = gbs_model_fixed(model);
    m.n = naive_create(type, dim, gbs_model_precision(model), gbs_model_location_kind(model),
                       gbs_model_location(model), 1);
    m.w = naive_new(dim * dim);
    m.change = naive_new(rows.rows * dim);
    m.sum = naive_new(rows.rows);
    double *const column = naive_new(dim);
    for (int64_t j = 0; j < dim; ++j) { /* M e_j = L^-1 e_j */
        memset(column, 0, (size_t)dim * sizeof *column);
        column[j] = 1;
        naive_solve_forward(m.n.l, dim, column);
        for (int64_t i = 0; i < dim; ++i)
            m.w[i * dim + j] = column[i];
    }
    free(column);
    naive_changes(&m, whitened);
    return m;
}

static inline void naive_release(naive_model *m)
{
    naive_destroy(&m->n);
    free(m->w);
    free(m->change);
    free(m->sum);
}

static inline void naive_rows_begin(naive_model *m, const double *x)
{
    for (int64_t r = 0; r < m->rows.rows; ++r) {
        m->sum[r] = 0;
        for (int64_t j = 0; j < m->n.dim; ++j) {
            const double a = m->rows.a[r * m->n.dim + j];
            if (a != 0)
                m->sum[r] = naive_fma(m->n.type, naive_round(m->n.type, a), x[j], m->sum[r]);
        }
    }
}

static inline void naive_rows_move(naive_model *m, int64_t i, double step)
{
    for (int64_t r = 0; r < m->rows.rows; ++r) {
        const double by = m->change[r * m->n.dim + i];
        if (by != 0)
            m->sum[r] = naive_fma(m->n.type, by, step, m->sum[r]);
    }
}

/* What `lower <= value + by step <= upper` leaves of [low, up]; 1 if it says anything. */
static inline int naive_narrow(gbs_type type, double lower, double upper, double value, double by,
                               double *low, double *up)
{
    const double inverse = naive_round(type, 1 / by);
    const double to_lower = naive_times(type, naive_add(type, lower, -value), inverse);
    const double to_upper = naive_times(type, naive_add(type, upper, -value), inverse);
    *low = fmax(*low, by > 0 ? to_lower : to_upper);
    *up = fmin(*up, by > 0 ? to_upper : to_lower);
    return isfinite(lower) || isfinite(upper);
}

/* The same of all rows along direction i. */
static inline int naive_narrow_rows(const naive_model *m, int64_t i, double *low, double *up)
{
    int held = 0;
    for (int64_t r = 0; r < m->rows.rows; ++r) {
        const double by = m->change[r * m->n.dim + i];
        if (by == 0)
            continue;
        naive_narrow(m->n.type, m->rows.lower[r], m->rows.upper[r], m->sum[r], by, low, up);
        held = 1;
    }
    return held;
}

/* An interval that is closed holds `here` again. */
static inline void naive_open(double here, double *low, double *up)
{
    if (*low < *up)
        return;
    *low = fmin(*low, here);
    *up = fmax(*up, here);
}

static inline double naive_between(const naive_model *m, native_address at, int64_t place,
                                   double mean, double sd, double lower, double upper)
{
    const float f[4] = {(float)mean, (float)sd, (float)lower, (float)upper};
    const double d[4] = {mean, sd, lower, upper};
    gbs_truncnorm_spec spec = gbs_truncnorm_spec_default();
    gbs_operand *const operand[4] = {&spec.mean, &spec.sd, &spec.lower, &spec.upper};
    for (int k = 0; k < 4; ++k)
        *operand[k] = gbs_operand_array(
            m->n.type == GBS_F32 ? (const void *)&f[k] : (const void *)&d[k], 0, NULL);
    spec.seed = at.seed;
    spec.sweep = (int64_t)at.sweep;
    spec.chain = at.chain;
    spec.place = place;
    float narrow;
    double wide;
    if (m->n.type == GBS_F32)
        must(m->ctx, gbs_truncnorm_f32(m->ctx, &spec, &narrow));
    else
        must(m->ctx, gbs_truncnorm_f64(m->ctx, &spec, &wide));
    return m->n.type == GBS_F32 ? (double)narrow : wide;
}

/* z [D] the normals of the sweep. */
static inline void naive_whitened(naive_model *m, native_address at, const double *z, double *x)
{
    const gbs_type type = m->n.type;
    const int64_t dim = m->n.dim;
    naive_rows_begin(m, x);
    for (int64_t i = 0; i < dim; ++i) {
        double y = 0, low = -(double)INFINITY, up = (double)INFINITY;
        if (is_fixed(m, i))
            continue;
        for (int64_t j = i; j < dim; ++j)
            y = naive_fma(type, naive_round(type, m->n.l[j * dim + i]),
                          naive_add(type, x[j], -naive_round(type, m->n.mean[j])), y);
        int held = naive_narrow_rows(m, i, &low, &up);
        for (int64_t j = 0; j <= i; ++j) {
            const double w = is_fixed(m, j) ? 0 : naive_round(type, m->w[i * dim + j]);
            if (w != 0)
                held |= naive_narrow(type, m->lower[j], m->upper[j], x[j], w, &low, &up);
        }
        naive_open(0, &low, &up);
        const double step =
            held ? naive_between(m, at, i, -y, 1, low, up) : naive_add(type, z[i], -y);
        for (int64_t j = 0; j <= i; ++j) {
            const double w = is_fixed(m, j) ? 0 : naive_round(type, m->w[i * dim + j]);
            x[j] = fmin(fmax(naive_fma(type, w, step, x[j]), m->lower[j]), m->upper[j]);
        }
        naive_rows_move(m, i, step);
    }
}

static inline void naive_rows_sweep(naive_model *m, native_address at, const int64_t *order,
                                    const double *z, double *x)
{
    const gbs_type type = m->n.type;
    const int64_t dim = m->n.dim;
    naive_rows_begin(m, x);
    for (int64_t p = 0; p < dim; ++p) {
        const int64_t i = order[p];
        const double *const a = m->n.a + i * dim;
        double low = -(double)INFINITY, up = (double)INFINITY;
        if (is_fixed(m, i))
            continue;
        const int held =
            naive_narrow_rows(m, i, &low, &up) || isfinite(m->lower[i]) || isfinite(m->upper[i]);
        double r = held ? m->n.c[i] : naive_fma(type, m->n.s[i], z[i], m->n.c[i]);
        for (int64_t k = p + 1; k < dim; ++k)
            r = naive_fma(type, a[order[k]], x[order[k]], r);
        for (int64_t k = 0; k < p; ++k)
            r = naive_fma(type, a[order[k]], x[order[k]], r);
        low = fmax(naive_add(type, x[i], low), m->lower[i]);
        up = fmin(naive_add(type, x[i], up), m->upper[i]);
        naive_open(x[i], &low, &up);
        if (held)
            r = naive_between(m, at, i, r, m->n.s[i], low, up);
        const double step = naive_add(type, r, -x[i]);
        x[i] = r;
        naive_rows_move(m, i, step);
    }
}

#endif
