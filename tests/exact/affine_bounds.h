/* What rounding may do to the map x' = G x + N z + k that a sweep of the library is.
 *
 * In scaled variables (unit diagonal of Q) a pass solves M x' = U x + s z + c, M = I - L.  Row i
 * is one chain of fused multiply-adds with rounded coefficients, which moves each of them by a
 * factor of at most 1 + gamma_i, gamma_i = (k_i + 7) u for k_i coefficients (Higham, Accuracy and
 * Stability, section 3.1: a rounding each, 5 in double and one to T), so that column by column the
 * map X = [G N] is off by at most
 *     E = |M^-1| gamma (|L| |X| + |U| |X before| + s |Z|), plus |G| E of the pass before.
 * |M^-1| is |N| / s.  A count of roundings times eps times size; the condition number comes in
 * with S. */
#ifndef GBS_TEST_AFFINE_BOUNDS_H
#define GBS_TEST_AFFINE_BOUNDS_H

#include "exact/affine.h"

#include <float.h>

/* Q with its inverse in scaled variables, in long double: accurate to far below double. */
typedef struct target {
    int64_t dim;
    const double *q;
    long double *root; /* [D] sqrt(Q_ii) */
    long double *s;    /* [D, D] */
    double s_norm;
    double *count; /* [D] coefficients in each row that are not 0 */
} target;

static inline target target_of(int64_t dim, const double *q)
{
    target a = {dim, q, wide_new(dim), NULL, 0, naive_new(dim)};
    long double *const scaled = wide_new(dim * dim);
    for (int64_t i = 0; i < dim; ++i)
        a.root[i] = sqrtl((long double)q[i * dim + i]);
    for (int64_t i = 0; i < dim; ++i)
        for (int64_t j = 0; j < dim; ++j) {
            scaled[i * dim + j] = (long double)q[i * dim + j] / a.root[i] / a.root[j];
            a.count[i] += q[i * dim + j] != 0;
        }
    a.s = wide_inverse(scaled, dim);
    a.s_norm = wide_norm(a.s, dim * dim);
    free(scaled);
    return a;
}

static inline void free_target(target *a)
{
    free(a->root);
    free(a->s);
    free(a->count);
}

/* ---- non-negative matrices, for bounds ---- */

/* out [n, columns] += a [n, n] b [n, columns]. */
static inline void add_product(const double *a, const double *b, int64_t n, int64_t columns,
                               double *out)
{
    for (int64_t i = 0; i < n; ++i)
        for (int64_t k = 0; k < n; ++k) {
            const double factor = a[i * n + k];
            for (int64_t j = 0; j < columns && factor != 0; ++j)
                out[i * columns + j] += factor * b[k * columns + j];
        }
}

/* One pass in scaled variables, by absolute values. */
typedef struct pass {
    double *l, *u, *inverse, *g; /* |L|, |U|, |M^-1|, |G|: [D, D] */
} pass;

static inline pass pass_of(const target *a, const sweep_options *how, int half,
                           const affine_map *map)
{
    const int64_t dim = a->dim;
    pass p = {new_matrix(dim), new_matrix(dim), new_matrix(dim), new_matrix(dim)};
    int64_t *const order = calloc((size_t)dim, sizeof *order);
    int64_t *const place = calloc((size_t)dim, sizeof *place);
    visits(how->order, half, dim, how->permutation, order);
    for (int64_t k = 0; k < dim; ++k)
        place[order[k]] = k;
    for (int64_t i = 0; i < dim; ++i)
        for (int64_t j = 0; j < dim; ++j) {
            const int64_t at = i * dim + j;
            const double ratio = (double)(a->root[i] / a->root[j]), q_ii = a->q[i * dim + i];
            const double size = i == j ? fabs(1 - how->w) : how->w * fabs(a->q[at]) / q_ii * ratio;
            (place[j] < place[i] ? p.l : p.u)[at] = size;
            p.g[at] = fabs(map->g[at]) * ratio;
            p.inverse[at] = fabs(map->n[at]) * (double)a->root[i] / sqrt(how->w * (2 - how->w));
        }
    free(order);
    free(place);
    return p;
}

static inline void free_pass(pass *p)
{
    free(p->l);
    free(p->u);
    free(p->inverse);
    free(p->g);
}

/* error = |G| error + |M^-1| (gamma (|L| |after| + |U| |before|) + own), all [D, columns]. */
static inline void pass_error(const target *a, const pass *p, double unit, int64_t columns,
                              const double *before, const double *after, const double *own,
                              double *error)
{
    const int64_t dim = a->dim;
    double *const row = naive_new(dim * columns), *const out = naive_new(dim * columns);
    add_product(p->l, after, dim, columns, row);
    add_product(p->u, before, dim, columns, row);
    for (int64_t k = 0; k < dim * columns; ++k)
        row[k] = (a->count[k / columns] + 7) * unit * row[k] + own[k];
    add_product(p->g, error, dim, columns, out);
    add_product(p->inverse, row, dim, columns, out);
    memcpy(error, out, (size_t)(dim * columns) * sizeof *out);
    free(row);
    free(out);
}

/* ---- one set of options ---- */

/* What a sweep was found to do, on every instruction set alike. */
typedef struct finding {
    sweep_options how;
    double unit;
    int64_t columns;    /* of [G N] */
    affine_map map;     /* as read */
    affine_map half[2]; /* each pass alone */
    pass pass[2];
    long double *g, *n; /* scaled */
    double *error;      /* [D, columns] bound on what is wrong with [G N], scaled */
} finding;

static inline affine_map read_everywhere(const machine *m, gbs_model *const *models,
                                         const sweep_options *how)
{
    affine_map map = read_affine(m->ctx[0], models[0], how);
    const size_t squares = (size_t)(map.dim * map.dim) * sizeof(double);
    for (int k = 1; k < m->count; ++k) {
        affine_map other = read_affine(m->ctx[k], models[k], how);
        if (memcmp(map.g, other.g, squares) != 0 ||
            memcmp(map.n, other.n, (size_t)map.passes * squares) != 0)
            fail_msg("D %lld: %s differs from %s", (long long)map.dim,
                     gbs_isa_name(gbs_context_isa(m->ctx[k])),
                     gbs_isa_name(gbs_context_isa(m->ctx[0])));
        free_affine(&other);
    }
    return map;
}

/* |[G N]| after the first `passes` passes, scaled; noise of later passes has not come yet. */
static inline double *columns_after(const target *a, const finding *f, int passes)
{
    const int64_t dim = a->dim;
    const affine_map *const map = passes == f->map.passes ? &f->map : &f->half[0];
    double *const x = naive_new(dim * f->columns);
    for (int64_t i = 0; i < dim; ++i)
        for (int64_t j = 0; j < dim * (1 + passes); ++j) {
            const double root = (double)a->root[i];
            x[i * f->columns + j] = passes == 0 ? (i == j ? 1 : 0)
                                    : j < dim
                                        ? fabs(map->g[i * dim + j]) * root / (double)a->root[j]
                                        : fabs(map->n[i * map->passes * dim + j - dim]) * root;
        }
    return x;
}

static inline void bound_map_error(const target *a, finding *f)
{
    const int64_t dim = a->dim;
    double *const own = naive_new(dim * f->columns);
    f->error = naive_new(dim * f->columns);
    for (int half = 0; half < f->map.passes; ++half) {
        double *const before = columns_after(a, f, half), *const after =
                                                              columns_after(a, f, half + 1);
        memset(own, 0, (size_t)(dim * f->columns) * sizeof *own);
        for (int64_t i = 0; i < dim; ++i)
            own[i * f->columns + (1 + half) * dim + i] =
                (a->count[i] + 7) * f->unit * sqrt(f->how.w * (2 - f->how.w));
        pass_error(a, &f->pass[half], f->unit, f->columns, before, after, own, f->error);
        free(before);
        free(after);
    }
    free(own);
}

static inline finding find_map(const machine *m, const target *a, gbs_model *const *models,
                               const sweep_options *how)
{
    const int64_t dim = a->dim;
    finding f = {.how = *how, .unit = (how->type == GBS_F32 ? FLT_EPSILON : DBL_EPSILON) / 2};
    f.map = read_everywhere(m, models, how);
    f.columns = (1 + f.map.passes) * dim;
    for (int half = 0; half < f.map.passes; ++half) {
        sweep_options one = *how;
        if (f.map.passes == 2)
            one.order = half == 0 ? GBS_ORDER_FORWARD : GBS_ORDER_BACKWARD;
        f.half[half] = read_affine(m->ctx[0], models[0], &one);
        f.pass[half] = pass_of(a, how, half, &f.half[half]);
    }
    f.g = wide_new(dim * dim);
    f.n = wide_new(dim * (f.columns - dim));
    for (int64_t k = 0; k < dim * dim; ++k)
        f.g[k] = a->root[k / dim] * (long double)f.map.g[k] / a->root[k % dim];
    for (int64_t k = 0; k < dim * (f.columns - dim); ++k)
        f.n[k] = a->root[k / (f.columns - dim)] * (long double)f.map.n[k];
    bound_map_error(a, &f);
    return f;
}

static inline void free_finding(finding *f)
{
    for (int half = 0; half < f->map.passes; ++half) {
        free_affine(&f->half[half]);
        free_pass(&f->pass[half]);
    }
    free_affine(&f->map);
    free(f->g);
    free(f->n);
    free(f->error);
}

#endif
