/* The law of what samplers draw, against covariances known by formula: AR(1), a torus lattice and
 * a ring, by every order, with over-relaxation and by exact draws; the start; and how fast chains
 * forget, against autocorrelations and the autocorrelation time (2/w - 1) c'S D S c / c'S c.
 * Chains are independent, so that every score is that of a mean over chains. */
#define VERDICT_PLANNED 23000
#include "stat/verdict.h"

#include "exact/affine.h"

#include <string.h>

static gbs_context *widest_context(void)
{
    gbs_isa isa = GBS_ISA_NEON;
    while (!gbs_isa_available(isa))
        --isa;
    return new_context(isa);
}

/* Independent chains: as many as take seconds on the widest instruction set. */
static int64_t many_chains(void)
{
    return quick() ? 1024 : gbs_isa_available(GBS_ISA_AVX2) ? 32768 : 8192;
}

/* ---- models ---- */

typedef struct law {
    const char *what;
    int64_t dim;
    double *q;
    double variance, neighbours; /* of site 0, and of sites 0 and 1, by formula */
    int64_t warmup;              /* sweeps after which the start counts below 1e-4 */
} law;

/* The torus of numbers.md: neighbours on an 8 x 8 grid that closes on itself, 4 + k on the
 * diagonal. */
static double *torus_precision(int64_t side, double k)
{
    const int64_t n = side * side;
    double *const q = new_matrix(n);
    for (int64_t i = 0; i < n; ++i) {
        const int64_t row = i / side, column = i % side;
        const int64_t right = row * side + (column + 1) % side;
        const int64_t down = (row + 1) % side * side + column;
        q[i * n + i] = 4 + k;
        q[i * n + right] = q[right * n + i] = -1;
        q[i * n + down] = q[down * n + i] = -1;
    }
    return q;
}

static double *ring_precision(void)
{
    double *const q = new_matrix(5);
    for (int64_t i = 0; i < 5; ++i) {
        q[i * 6] = 3;
        q[i * 5 + (i + 1) % 5] = q[(i + 1) % 5 * 5 + i] = -1;
    }
    return q;
}

/* D - rho W on a star of a hub and n - 1 leaves: with t = 1 - rho^2, var(hub) = 1 / ((n-1) t),
 * cov(hub, leaf) = rho / ((n-1) t). */
static double *star_precision(int64_t n, double rho)
{
    double *const q = new_matrix(n);
    for (int64_t i = 1; i < n; ++i)
        add_edge(q, n, 0, i, rho);
    return q;
}

/* All of S = Q^-1, checked against the formula at two entries. */
static double *covariance_of(const law *m)
{
    const int64_t n = m->dim;
    long double *const copy = wide_new(n * n);
    double *const s = naive_new(n * n);
    for (int64_t k = 0; k < n * n; ++k)
        copy[k] = (long double)m->q[k];
    long double *const inverse = wide_inverse(copy, n);
    for (int64_t k = 0; k < n * n; ++k)
        s[k] = (double)inverse[k];
    assert_near("variance by formula", 0, m->variance, s[0], 1e-11);
    assert_near("covariance by formula", 1, m->neighbours, s[1], 1e-11);
    free(copy);
    free(inverse);
    return s;
}

/* ---- means and covariances ---- */

typedef struct method {
    gbs_type type;
    gbs_method method;
    gbs_order order;
    double w;
} method;

static const method methods[] = {
    {GBS_F32, GBS_METHOD_GIBBS, GBS_ORDER_FORWARD, 1},
    {GBS_F64, GBS_METHOD_GIBBS, GBS_ORDER_BACKWARD, 1.3},
    {GBS_F64, GBS_METHOD_GIBBS, GBS_ORDER_SYMMETRIC, 1},
    {GBS_F32, GBS_METHOD_GIBBS, GBS_ORDER_PERMUTED, 0.8},
    {GBS_F32, GBS_METHOD_EXACT, GBS_ORDER_FORWARD, 1},
    {GBS_F64, GBS_METHOD_EXACT, GBS_ORDER_FORWARD, 1},
};

static gbs_sampler_spec spec_of_method(const method *how, int64_t chains, uint64_t seed,
                                       const int64_t *permutation)
{
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.type = how->type;
    spec.method = how->method;
    spec.order = how->order;
    spec.omega = how->w;
    spec.permutation = how->order == GBS_ORDER_PERMUTED ? permutation : NULL;
    spec.chains = chains;
    spec.seed = seed;
    return spec;
}

/* Sums of x_i - mu_i and of all products over chains; x [B, D] is centred in place. */
static void judge_covariance(const law *m, const double *s, const double *mu, gbs_type type,
                             int64_t chains, const void *x, verdict *means, verdict *covariances)
{
    const int64_t n = m->dim;
    double *const sum = naive_new(n), *const products = naive_new(n * n), *const d = naive_new(n);
    for (int64_t chain = 0; chain < chains; ++chain) {
        for (int64_t i = 0; i < n; ++i) {
            d[i] = element(type, x, chain * n + i) - mu[i];
            sum[i] += d[i];
        }
        for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j <= i; ++j)
                products[i * n + j] += d[i] * d[j];
    }
    const double count = (double)chains;
    for (int64_t i = 0; i < n; ++i) {
        verdict_add(means, 0, sum[i] / count, sqrt(s[i * n + i] / count));
        for (int64_t j = 0; j <= i; ++j) /* mu is known */
            verdict_add_product(covariances, s[i * n + i], s[j * n + j], s[i * n + j],
                                products[i * n + j] / count, count);
    }
    free(sum);
    free(products);
    free(d);
}

static void check_method(gbs_context *ctx, gbs_model *model, const law *m, const double *s,
                         const double *mu, const method *how, uint64_t seed)
{
    const int64_t chains = many_chains();
    char what[96];
    int64_t *const permutation = calloc((size_t)m->dim, sizeof *permutation);
    void *const x = calloc((size_t)(chains * m->dim), sizeof(double));
    shuffle(m->dim, seed, permutation);
    const gbs_sampler_spec spec = spec_of_method(how, chains, seed, permutation);
    gbs_sampler *const sampler = new_sampler(ctx, model, &spec);
    must(ctx, gbs_sampler_run(sampler, how->method == GBS_METHOD_EXACT ? 2 : m->warmup));
    must(ctx, gbs_sampler_get_state(sampler, x));
    snprintf(what, sizeof what, "%s, %s %s, w %g, means and covariances", m->what,
             type_name(how->type),
             how->method == GBS_METHOD_EXACT ? "exact" : order_name(how->order), how->w);
    verdict means = verdict_start(what), covariances = verdict_start(what);
    judge_covariance(m, s, mu, how->type, chains, x, &means, &covariances);
    verdict_end(&means);
    verdict_end(&covariances);
    gbs_sampler_destroy(sampler);
    free(permutation);
    free(x);
}

static void check_law(const law *m)
{
    gbs_context *const ctx = widest_context();
    double *const s = covariance_of(m), *const mu = random_vector(m->dim, 77, 10);
    gbs_model *const model = model_of(ctx, m->dim, m->q, GBS_LOCATION_MEAN, mu);
    for (int k = 0; k < COUNT(methods); ++k)
        check_method(ctx, model, m, s, mu, &methods[k], (uint64_t)(100 + k));
    gbs_model_release(model);
    gbs_context_destroy(ctx);
    free(s);
    free(mu);
    free(m->q);
}

/* Rates of forgetting: for w = 1 the square of the Jacobi radius, 0.8 (torus), 2 phi / (1 + phi^2)
 * at most (AR), rho (star); over-relaxed sweeps between 0.8 and 1.3 need at most twice as long. */
static void test_laws(void **state)
{
    (void)state;
    const law torus = {"torus 8 x 8", 64, torus_precision(8, 1), .254173997690, .067717497113, 60};
    const law ar = {"AR(1) 0.5", 50, ar1_precision(50, 0.5), 4.0 / 3, 2.0 / 3, 60};
    const law slow = {"AR(1) 0.9", 12, ar1_precision(12, 0.9), 1 / 0.19, 0.9 / 0.19, 400};
    const law ring = {"ring of 5", 5, ring_precision(), 5.0 / 11, 2.0 / 11, 40};
    const law star = {"CAR on a star",  9,  star_precision(9, 0.9), 1 / (8 * 0.19),
                      0.9 / (8 * 0.19), 120};
    check_law(&torus);
    check_law(&ar);
    check_law(&slow);
    check_law(&ring);
    check_law(&star);
}

/* ---- the start ---- */

static void test_overdispersed_start(void **state)
{
    (void)state;
    gbs_context *const ctx = widest_context();
    const law m = {"AR(1) 0.9", 12, ar1_precision(12, 0.9), 1 / 0.19, 0.9 / 0.19, 0};
    const int64_t chains = 4 * many_chains();
    double *const s = covariance_of(&m), *const mu = random_vector(12, 78, 10);
    gbs_model *const model = model_of(ctx, 12, m.q, GBS_LOCATION_MEAN, mu);
    /* mu + 2 sd z: independent over sites, four times the variance */
    for (int64_t i = 0; i < 12; ++i)
        for (int64_t j = 0; j < 12; ++j)
            s[i * 12 + j] *= i == j ? 4 : 0;
    for (gbs_type type = GBS_F32; type <= GBS_F64; ++type) {
        const method how = {type, GBS_METHOD_GIBBS, GBS_ORDER_FORWARD, 1};
        const gbs_sampler_spec spec = spec_of_method(&how, chains, 9, NULL);
        gbs_sampler *const sampler = new_sampler(ctx, model, &spec);
        void *const x = calloc((size_t)(chains * 12), sizeof(double));
        verdict means = verdict_start("overdispersed start, means");
        verdict covariances = verdict_start("overdispersed start, variances 4 S_ii, no covariance");
        must(ctx, gbs_sampler_get_state(sampler, x));
        judge_covariance(&m, s, mu, type, chains, x, &means, &covariances);
        verdict_end(&means);
        verdict_end(&covariances);
        gbs_sampler_destroy(sampler);
        free(x);
    }
    gbs_model_release(model);
    gbs_context_destroy(ctx);
    free(s);
    free(mu);
    free(m.q);
}

/* ---- mixing ---- */

enum { MOST_LAGS = 16384 };

/* Autocovariances c'G^t S c, t = 0 .. lags, by G as the affine reading finds it. */
static void autocovariances(const affine_map *map, const double *s, const double *c, int lags,
                            double *gamma)
{
    const int64_t n = map->dim;
    double *const v = naive_new(n), *const next = naive_new(n);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
            v[i] += s[i * n + j] * c[j];
    for (int t = 0; t <= lags; ++t) {
        gamma[t] = 0;
        for (int64_t i = 0; i < n; ++i)
            gamma[t] += c[i] * v[i];
        memset(next, 0, (size_t)n * sizeof *next);
        for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j < n; ++j)
                next[i] += map->g[i * n + j] * v[j];
        memcpy(v, next, (size_t)n * sizeof *v);
    }
    free(v);
    free(next);
}

/* 1 + 2 sum of autocorrelations must be (2/w - 1) c'S D S c / c'S c for one pass a sweep. */
static double time_by_formula(const law *m, const double *s, const double *c, double w)
{
    double numerator = 0, denominator = 0;
    for (int64_t i = 0; i < m->dim; ++i) {
        double sc = 0;
        for (int64_t j = 0; j < m->dim; ++j)
            sc += s[i * m->dim + j] * c[j];
        numerator += sc * m->q[i * m->dim + i] * sc;
        denominator += c[i] * sc;
    }
    return (2 / w - 1) * numerator / denominator;
}

typedef struct mixing_run {
    const law *m;
    method how;
    int64_t chains, draws;
    double *c;          /* [D] the function c'x */
    double *sum;        /* [B] of c'x over draws */
    double *first;      /* [B] c'x of the first draw */
    double products[4]; /* of the first and those at lags[] */
} mixing_run;

static const int64_t lags[4] = {0, 1, 3, 10};

static int note_draw(void *user, int64_t draw, const void *x)
{
    mixing_run *const r = user;
    const int64_t n = r->m->dim;
    for (int64_t chain = 0; chain < r->chains; ++chain) {
        double f = 0;
        for (int64_t i = 0; i < n; ++i)
            f += r->c[i] * element(r->how.type, x, chain * n + i);
        r->sum[chain] += f;
        if (draw == 0)
            r->first[chain] = f;
        for (int k = 0; k < 4; ++k)
            if (draw == lags[k])
                r->products[k] += r->first[chain] * f;
    }
    return 0;
}

/* Chains that start from exact draws, so that every draw has the law from the first on. */
static void run_mixing(gbs_context *ctx, gbs_model *model, mixing_run *r,
                       const int64_t *permutation)
{
    const method exact = {r->how.type, GBS_METHOD_EXACT, GBS_ORDER_FORWARD, 1};
    gbs_sampler_spec spec = spec_of_method(&exact, r->chains, 11, NULL);
    void *const x = calloc((size_t)(r->chains * r->m->dim), sizeof(double));
    gbs_sampler *sampler = new_sampler(ctx, model, &spec);
    must(ctx, gbs_sampler_run(sampler, 1));
    must(ctx, gbs_sampler_get_state(sampler, x));
    gbs_sampler_destroy(sampler);
    spec = spec_of_method(&r->how, r->chains, 12, permutation);
    spec.start = GBS_START_GIVEN;
    spec.initial = x;
    spec.initial_rows = r->chains;
    sampler = new_sampler(ctx, model, &spec);
    const gbs_sink sink = {.callback = note_draw, .user = r};
    must(ctx, gbs_sampler_sample(sampler, r->draws, 1, &sink));
    gbs_sampler_destroy(sampler);
    free(x);
}

/* The variance over chains of the mean over draws, and the autocovariances at a few lags. */
static void judge_mixing(const mixing_run *r, const double *gamma, double formula)
{
    const double count = (double)r->chains, n = (double)r->draws;
    double expected = gamma[0] / n, got = 0, time = 1;
    for (int64_t t = 1; t < r->draws; ++t)
        expected += 2 * (1 - (double)t / n) * gamma[t] / n;
    for (int t = 1; t <= MOST_LAGS; ++t)
        time += 2 * gamma[t] / gamma[0];
    for (int64_t chain = 0; chain < r->chains; ++chain)
        got += r->sum[chain] / n * (r->sum[chain] / n) / count;
    verdict v = verdict_start("variance of a chain's mean, autocovariances at 0, 1, 3, 10");
    verdict_add_product(&v, expected, expected, expected, got, count);
    for (int k = 0; k < 4; ++k)
        verdict_add_product(&v, gamma[0], gamma[0], gamma[lags[k]], r->products[k] / count, count);
    printf("%s, %s, w %g: autocorrelation time by G %.6f", r->m->what, order_name(r->how.order),
           r->how.w, time);
    if (r->how.order != GBS_ORDER_SYMMETRIC) { /* which has two passes a sweep */
        printf(", by formula %.6f", formula);
        assert_near("autocorrelation time", 0, formula, time, 1e-9 * formula);
    }
    printf("; over %lld draws expected %.4f, got %.4f\n", (long long)r->draws,
           expected * n / gamma[0], got * n / gamma[0]);
    verdict_end(&v);
}

static void check_mixing(gbs_context *ctx, const law *m, const method *how, int64_t draws)
{
    double *const s = covariance_of(m), *const gamma = naive_new(MOST_LAGS + 1);
    gbs_model *const model = model_of(ctx, m->dim, m->q, GBS_LOCATION_ZERO, NULL);
    int64_t *const permutation = calloc((size_t)m->dim, sizeof *permutation);
    const int64_t chains = quick() ? 512 : 8192;
    shuffle(m->dim, 4, permutation);
    const sweep_options options = {GBS_F64, how->order, how->w, permutation};
    affine_map map = read_affine(ctx, model, &options);
    mixing_run r = {.m = m, .how = *how, .chains = chains, .draws = draws};
    r.c = random_vector(m->dim, 6, 1);
    r.sum = naive_new(chains);
    r.first = naive_new(chains);
    autocovariances(&map, s, r.c, MOST_LAGS, gamma);
    run_mixing(ctx, model, &r, permutation);
    judge_mixing(&r, gamma, time_by_formula(m, s, r.c, how->w));
    free(r.c);
    free(r.sum);
    free(r.first);
    free(s);
    free(gamma);
    free(permutation);
    free_affine(&map);
    gbs_model_release(model);
}

static void test_mixing(void **state)
{
    (void)state;
    static const method how[] = {
        {GBS_F64, GBS_METHOD_GIBBS, GBS_ORDER_FORWARD, 1},
        {GBS_F32, GBS_METHOD_GIBBS, GBS_ORDER_BACKWARD, 0.5},
        {GBS_F64, GBS_METHOD_GIBBS, GBS_ORDER_PERMUTED, 1.3},
        {GBS_F32, GBS_METHOD_GIBBS, GBS_ORDER_SYMMETRIC, 1},
        {GBS_F64, GBS_METHOD_GIBBS, GBS_ORDER_SYMMETRIC, 1.7},
    };
    gbs_context *const ctx = widest_context();
    const law ring = {"ring of 5", 5, ring_precision(), 5.0 / 11, 2.0 / 11, 0};
    const law slow = {"AR(1) 0.9", 12, ar1_precision(12, 0.9), 1 / 0.19, 0.9 / 0.19, 0};
    for (int k = 0; k < COUNT(how); ++k) {
        check_mixing(ctx, &ring, &how[k], 100);
        check_mixing(ctx, &slow, &how[k], 200);
    }
    gbs_context_destroy(ctx);
    free(ring.q);
    free(slow.q);
}

int main(void)
{
    if (quick())
        printf("GBS_TEST_QUICK is set: fewer chains\n");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_laws),
        cmocka_unit_test(test_overdispersed_start),
        cmocka_unit_test(test_mixing),
        cmocka_unit_test(test_verdicts_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
