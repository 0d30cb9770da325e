/* The affine identity: with S = Q^-1 a sweep x' = G x + N z + k must satisfy S = G S G' + N N' and
 * k = (I - G) mu, which proves that it leaves N(mu, S) alone, for any order, kernel and type and
 * without statistics.  And its mixing: the sum of all autocorrelations of c'x is
 * (2/w - 1) c'S D S c / c'S c, in any order of visit.
 * affine_bounds.h derives the bounds. */
#include "exact/affine_bounds.h"

#include <stdio.h>

static const int64_t dims[] = {1,  2,  3,  4,  5,  7,   8,   15,  16,  17,  31,
                               32, 33, 63, 64, 65, 100, 128, 129, 255, 256, 257};
static const double weights[] = {0.5, 1, 1.3, 1.9};

enum { SMALL = 33 };

typedef struct tally {
    int64_t sets;
    double worst_identity, worst_mean; /* as shares of their bounds */
    double largest_bound[2];           /* by type, as a share of |S| */
} tally;

/* What the test's own long double arithmetic may lose: its inverse and products of maps of norm g.
 */
static double own_error(const target *a, double g)
{
    return 8 * (double)a->dim * (double)LDBL_EPSILON * a->s_norm * a->s_norm * (1 + g * g);
}

/* |2 E_G |S G'| + E_G |S| E_G' + 2 E_N |N'| + E_N E_N'|, Frobenius; gs = G S. */
static double identity_bound(const target *a, const finding *f, const long double *gs)
{
    const int64_t dim = a->dim, columns = f->columns - dim;
    long double sum = 0;
    double *const es = naive_new(dim);
    for (int64_t i = 0; i < dim; ++i) {
        const double *const e = f->error + i * f->columns;
        for (int64_t k = 0; k < dim; ++k) {
            es[k] = 0;
            for (int64_t j = 0; j < dim; ++j)
                es[k] += e[j] * (double)fabsl(a->s[k * dim + j]);
        }
        for (int64_t j = 0; j < dim; ++j) {
            const double *const other = f->error + j * f->columns;
            double entry = 0;
            for (int64_t k = 0; k < dim; ++k)
                entry += 2 * e[k] * (double)fabsl(gs[j * dim + k]) + es[k] * other[k];
            for (int64_t k = 0; k < columns; ++k)
                entry += e[dim + k] * (2 * (double)fabsl(f->n[j * columns + k]) + other[dim + k]);
            sum += (long double)entry * (long double)entry;
        }
    }
    free(es);
    return (double)sqrtl(sum) + own_error(a, wide_norm(f->g, dim * dim));
}

static void check_identity(const target *a, const finding *f, tally *t)
{
    const int64_t dim = a->dim;
    long double *const gs = wide_new(dim * dim), *const left = wide_new(dim * dim);
    long double *const nn = wide_new(dim * dim);
    wide_product(f->g, a->s, dim, dim, dim, gs);
    wide_product(gs, f->g, dim, dim, dim, left);
    wide_product(f->n, f->n, dim, f->columns - dim, dim, nn);
    for (int64_t k = 0; k < dim * dim; ++k)
        left[k] += nn[k] - a->s[k];
    const double error = wide_norm(left, dim * dim), bound = identity_bound(a, f, gs);
    if (!(error <= bound))
        fail_msg("D %lld %s %s w %g: G S G' + N N' - S: expected 0, got %g, bound %g (|S| %g)",
                 (long long)dim, type_name(f->how.type), order_name(f->how.order), f->how.w, error,
                 bound, a->s_norm);
    t->sets++;
    t->worst_identity = fmax(t->worst_identity, error / bound);
    t->largest_bound[f->how.type] = fmax(t->largest_bound[f->how.type], bound / a->s_norm);
    free(gs);
    free(left);
    free(nn);
}

/* ---- k = (I - G) mu ---- */

/* mu in long double, scaled. */
static long double *mean_of(const target *a, gbs_location kind, const double *location)
{
    const int64_t dim = a->dim;
    long double *const mu = wide_new(dim);
    for (int64_t i = 0; i < dim; ++i) {
        if (kind == GBS_LOCATION_MEAN)
            mu[i] = a->root[i] * (long double)location[i];
        for (int64_t j = 0; j < dim && kind > GBS_LOCATION_MEAN; ++j)
            mu[i] += a->s[i * dim + j] * (long double)location[j] *
                     (kind == GBS_LOCATION_OFFSET ? a->root[j] : 1 / a->root[j]);
    }
    return mu;
}

/* The bound on k - (I - G) mu by site: k's own error, as one more column of the map with
 * c = (I - L - U) mu, rounded, and the error of G times |mu|. */
static double *mean_bound(const target *a, const finding *f, const double *const *k,
                          const long double *mu)
{
    const int64_t dim = a->dim;
    double *const own = naive_new(dim), *const error = naive_new(dim), *const size = naive_new(dim);
    for (int64_t i = 0; i < dim; ++i)
        size[i] = (double)fabsl(mu[i]);
    for (int half = 0; half < f->map.passes; ++half) {
        memcpy(own, size, (size_t)dim * sizeof *own);
        add_product(f->pass[half].l, size, dim, 1, own);
        add_product(f->pass[half].u, size, dim, 1, own);
        for (int64_t i = 0; i < dim; ++i)
            own[i] *= (a->count[i] + 8) * f->unit + (double)dim * 0x1p-53;
        pass_error(a, &f->pass[half], f->unit, 1, k[half], k[half + 1], own, error);
    }
    for (int64_t i = 0; i < dim; ++i)
        for (int64_t j = 0; j < dim; ++j)
            error[i] += f->error[i * f->columns + j] * size[j];
    free(own);
    free(size);
    return error;
}

/* |k| after one pass or two, scaled. */
static double *read_scaled(gbs_context *ctx, gbs_model *model, const target *a, sweep_options how,
                           int passes)
{
    if (how.order == GBS_ORDER_SYMMETRIC && passes == 1)
        how.order = GBS_ORDER_FORWARD;
    double *const k = read_constant(ctx, model, &how);
    for (int64_t i = 0; i < a->dim; ++i)
        k[i] *= (double)a->root[i];
    return k;
}

static void check_mean(gbs_context *ctx, const target *a, const finding *f, gbs_location kind,
                       const double *location, tally *t)
{
    const int64_t dim = a->dim;
    gbs_model *const model = model_of(ctx, dim, a->q, kind, location);
    long double *const mu = mean_of(a, kind, location);
    double *k[3] = {naive_new(dim), NULL, NULL}, *size[3];
    for (int passes = 1; passes <= f->map.passes; ++passes)
        k[passes] = read_scaled(ctx, model, a, f->how, passes);
    for (int h = 0; h <= f->map.passes; ++h) {
        size[h] = naive_new(dim);
        for (int64_t i = 0; i < dim; ++i)
            size[h][i] = fabs(k[h][i]);
    }
    double *const bound = mean_bound(a, f, (const double *const *)size, mu);
    for (int64_t i = 0; i < dim; ++i) {
        long double left = (long double)k[f->map.passes][i] - mu[i];
        for (int64_t j = 0; j < dim; ++j)
            left += f->g[i * dim + j] * mu[j];
        const double error = (double)fabsl(left);
        if (!(error <= bound[i]))
            fail_msg(
                "D %lld %s %s w %g %s, site %lld: k - (I - G) mu: expected 0, got %g, bound %g",
                (long long)dim, type_name(f->how.type), order_name(f->how.order), f->how.w,
                location_name(kind), (long long)i, error, bound[i]);
        if (error > 0)
            t->worst_mean = fmax(t->worst_mean, error / bound[i]);
    }
    for (int h = 0; h <= f->map.passes; ++h) {
        free(k[h]);
        free(size[h]);
    }
    free(bound);
    free(mu);
    gbs_model_release(model);
}

static void check_dim(const machine *m, int64_t dim, int step, tally *t)
{
    double *const q = dim % 2 == 0 ? ar1_precision(dim, 0.9) : dense_precision(dim, (uint64_t)dim);
    double *const location = random_vector(dim, 7, 10);
    int64_t *const permutation = calloc((size_t)dim, sizeof *permutation);
    gbs_model *models[ISAS];
    target a = target_of(dim, q);
    for (int k = 0; k < m->count; ++k)
        models[k] = model_of(m->ctx[k], dim, q, GBS_LOCATION_ZERO, NULL);
    for (int k = 0; k < 2 * 4 * COUNT(weights); ++k) {
        if ((k + (int)dim) % step != 0)
            continue;
        shuffle(dim, (uint64_t)k, permutation);
        const sweep_options how = {(gbs_type)(k % 2), (gbs_order)(k / 2 % 4), weights[k / 8],
                                   permutation};
        finding f = find_map(m, &a, models, &how);
        check_identity(&a, &f, t);
        for (int isa = 0; isa < m->count; ++isa)
            for (gbs_location kind = GBS_LOCATION_ZERO; kind <= GBS_LOCATION_OFFSET; ++kind)
                check_mean(m->ctx[isa], &a, &f, kind, location, t);
        free_finding(&f);
    }
    for (int k = 0; k < m->count; ++k)
        gbs_model_release(models[k]);
    free_target(&a);
    free(permutation);
    free(location);
    free(q);
}

static void report(const char *what, const tally *t)
{
    printf("checked: %s: %lld sets of options: S = G S G' + N N' within %.3f of its bound (at most "
           "%.2g |S| in float, %.2g in double), k = (I - G) mu within %.3f of its bound\n",
           what, (long long)t->sets, t->worst_identity, t->largest_bound[GBS_F32],
           t->largest_bound[GBS_F64], t->worst_mean);
}

static void test_identity(void **state)
{
    tally small = {0}, large = {0};
    for (int d = 0; d < COUNT(dims); ++d) {
        const int big = dims[d] > SMALL;
        /* steps prime to 32, so that every option meets every size in turn */
        const int step = quick() ? (big ? 31 : 7) : (big ? 3 : 1);
        check_dim(*state, dims[d], step, big ? &large : &small);
    }
    report("D = 1 .. 33", &small);
    report("D = 63 .. 257", &large);
}

/* ---- mixing ---- */

/* (I - G)^-1 S + its transpose - S = (2/w - 1) S S in scaled variables; the error is at most twice
 * that of G, times |(I - G)^-1|^2 |S|. */
static void check_mixing(const target *a, const finding *f, double *worst)
{
    const int64_t dim = a->dim;
    long double *const x = wide_new(dim * dim), *const ss = wide_new(dim * dim);
    long double *const system = wide_new(dim * dim);
    double error = 0, e_g = 0;
    for (int64_t k = 0; k < dim * dim; ++k) {
        system[k] = (k % (dim + 1) == 0 ? 1 : 0) - f->g[k];
        e_g = hypot(e_g, f->error[k / dim * f->columns + k % dim]);
    }
    long double *const inverse = wide_inverse(system, dim);
    wide_product(inverse, a->s, dim, dim, dim, x);
    wide_product(a->s, a->s, dim, dim, dim, ss);
    for (int64_t i = 0; i < dim; ++i)
        for (int64_t j = 0; j < dim; ++j)
            error = hypot(error, (double)(x[i * dim + j] + x[j * dim + i] - a->s[i * dim + j] -
                                          (2 / (long double)f->how.w - 1) * ss[i * dim + j]));
    const double norm = wide_norm(inverse, dim * dim);
    const double bound = 2.02 * e_g * norm * norm * a->s_norm + own_error(a, norm);
    if (!(error <= bound))
        fail_msg("D %lld %s w %g: autocorrelation times: expected 0, got %g, bound %g",
                 (long long)dim, order_name(f->how.order), f->how.w, error, bound);
    *worst = fmax(*worst, error / bound);
    free(x);
    free(ss);
    free(system);
    free(inverse);
}

static void test_mixing(void **state)
{
    const machine *const m = *state;
    static const gbs_order orders[] = {GBS_ORDER_FORWARD, GBS_ORDER_BACKWARD, GBS_ORDER_PERMUTED};
    double worst = 0;
    for (int d = 0; dims[d] <= SMALL; ++d) {
        const int64_t dim = dims[d];
        double *const q = d % 2 == 0 ? ar1_precision(dim, 0.9) : dense_precision(dim, 3);
        int64_t permutation[SMALL];
        gbs_model *model = model_of(m->ctx[m->count - 1], dim, q, GBS_LOCATION_ZERO, NULL);
        target a = target_of(dim, q);
        shuffle(dim, 17, permutation);
        for (int k = 0; k < COUNT(orders) * COUNT(weights); ++k) {
            const sweep_options how = {GBS_F64, orders[k % 3], weights[k / 3], permutation};
            const machine widest = {{m->ctx[m->count - 1]}, 1};
            finding f = find_map(&widest, &a, &model, &how);
            check_mixing(&a, &f, &worst);
            free_finding(&f);
        }
        gbs_model_release(model);
        free_target(&a);
        free(q);
    }
    printf("checked: autocorrelation times are (2/w - 1) c'S D S c / c'S c for every c, in every "
           "order, within %.3g of their bound\n",
           worst);
}

int main(void)
{
    if (quick())
        printf("GBS_TEST_QUICK is set: fewer sets of options\n");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_mixing),
    };
    return cmocka_run_group_tests(tests, start_machine, stop_machine);
}
