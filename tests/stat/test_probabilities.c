/* Probabilities of boxes and cones (golden section 2, its column of probabilities; mvtnorm's and
 * Genz's examples among them), which the library does not give but its draws imply:
 *
 *   counts   exact draws of the untruncated law, and how many lie inside
 *   filters  a tridiagonal chain backwards, x_i | x_{i+1} by gbs_truncnorm, particles resampled by
 *            the chance of the next site's bounds: the mean weights' product is an unbiased
 * estimate (Del Moral 1996), down to the e^-726 that no count reaches
 *
 * Scores within 5 standard errors; some 40 of them, so that a correct library fails one with a
 * probability of 2e-5 for a fresh seed; the seeds are fixed. */
#include "stat/golden_boxes.h"

static const uint64_t seed = 20261201;

/* ---- counts ---- */

typedef struct region {
    const char *what;
    int64_t dim;
    gbs_matrix kind;
    const double *matrix;
    const double *mean;          /* NULL: 0 */
    const double *lower, *upper; /* [D], or [rows] */
    int64_t rows;                /* of a; 0: a box */
    const double *a;
    double probability;
} region;

typedef struct counter {
    const region *of;
    int64_t chains, inside;
} counter;

static int is_inside(const region *of, const double *x)
{
    for (int64_t r = 0; r < (of->rows > 0 ? of->rows : of->dim); ++r) {
        double value = of->rows > 0 ? 0 : x[r];
        for (int64_t j = 0; j < of->dim && of->rows > 0; ++j)
            value += of->a[r * of->dim + j] * x[j];
        if (!(value >= of->lower[r] && value <= of->upper[r]))
            return 0;
    }
    return 1;
}

static int count_draw(void *user, int64_t draw, const void *x)
{
    counter *const count = user;
    (void)draw;
    for (int64_t b = 0; b < count->chains; ++b)
        count->inside += is_inside(count->of, (const double *)x + b * count->of->dim);
    return 0;
}

/* At most 2^24 numbers are drawn. */
static void check_count(const region *of)
{
    const int64_t most = (1 << 24) / of->dim;
    int64_t draws = most < 1 << 18 ? most / 256 : 1024;
    if (quick())
        draws = draws / 16 + 1;
    gbs_context *const ctx = new_context(GBS_ISA_AUTO);
    gbs_model_spec model_spec = spec_of(of->matrix, of->dim);
    model_spec.matrix_kind = of->kind;
    model_spec.location_kind = of->mean != NULL ? GBS_LOCATION_MEAN : GBS_LOCATION_ZERO;
    model_spec.location = of->mean;
    gbs_model *const model = new_model(ctx, &model_spec);
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.method = GBS_METHOD_EXACT;
    spec.type = GBS_F64;
    spec.chains = 256;
    spec.seed = seed;
    gbs_sampler *const sampler = new_sampler(ctx, model, &spec);
    counter count = {of, spec.chains, 0};
    const gbs_sink sink = {.callback = count_draw, .user = &count};
    must(ctx, gbs_sampler_sample(sampler, draws, 1, &sink));
    const double n = (double)(draws * spec.chains), p = of->probability;
    check_score(of->what, "probability", p, (double)count.inside / n, sqrt(p * (1 - p) / n));
    printf("checked: %s: expected %.6f, got %.6f in %.0f draws\n", of->what, p,
           (double)count.inside / n, n);
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
}

static double *all(int64_t n, double value)
{
    double *const v = naive_new(n);
    for (int64_t i = 0; i < n; ++i)
        v[i] = value;
    return v;
}

static void test_small_regions(void **state)
{
    (void)state;
    const double none = -(double)INFINITY;
    const double manjunath[9] = {1, .6, .3, .6, 1, .2, .3, .2, 2}, halves[3] = {.5, .5, .5};
    const double below[3] = {none, none, none}, ones[3] = {1, 1, 1};
    const double two[4] = {4, 2, 2, 3}, mu[2] = {1, 2}, corner[2] = {1, 0};
    const double genz[9] = {1, 3.0 / 5, 1.0 / 3, 3.0 / 5, 1, 11.0 / 15, 1.0 / 3, 11.0 / 15, 1},
                 genz_upper[3] = {1, 4, 2};
    const double wide[4] = {10, 0, 0, 1}, diagonal[4] = {1, 1, 1, -1}, minus2[2] = {-2, -2},
                 plus2[2] = {2, 2};
    const double unit[4] = {1, 0, 0, 1}, three[6] = {1, 1, 1, -1, .5, -1}, low3[3] = {-1, -.5, -1},
                 high3[3] = {1, 1.5, .5};
    double *const eight = equicorrelated(4, .8), *const five = equicorrelated(5, .5);
    const double low4[4] = {-4, -4, -4, -4}, high4[4] = {-1, -1, -1, -1};
    const double low5[5] = {-1, -1, -1, -1, -1}, high5[5] = {3, 3, 3, 3, 3};
    const gbs_matrix covariance = GBS_MATRIX_COVARIANCE, precision = GBS_MATRIX_PRECISION;
    const region regions[] = {
        {"Manjunath and Wilhelm", 3, covariance, manjunath, halves, below, ones, 0, NULL,
         0.387256676937},
        {"mu (1, 2), x <= (1, 0)", 2, covariance, two, mu, below, corner, 0, NULL, 0.107796047614},
        {"equicorrelated .8, [-4, -1]^4", 4, precision, eight, NULL, low4, high4, 0, NULL,
         0.061307998763},
        {"mvtnorm's example, [-1, 3]^5", 5, precision, five, NULL, low5, high5, 0, NULL,
         0.58004765169602},
        {"Genz's example", 3, covariance, genz, NULL, below, genz_upper, 0, NULL, 0.827984897457},
        {"a rotated square", 2, covariance, wide, NULL, minus2, plus2, 2, diagonal, 0.296134456441},
        {"C22", 2, covariance, unit, NULL, low3, high3, 3, three, 0.1655404196},
    };
    for (int k = 0; k < COUNT(regions); ++k)
        check_count(&regions[k]);
    free(eight);
    free(five);
}

static void test_orthants(void **state)
{
    (void)state;
    static const int64_t dims[] = {2, 3, 10, 50, 100, 1000};
    static const double rhos[] = {-0.9, -0.5, 0, 0.3, 0.9};
    double *const zero = all(1000, 0), *const infinite = all(1000, (double)INFINITY);
    char what[48];
    for (int k = 0; k < COUNT(dims) - quick(); ++k) {
        double *const q = equicorrelated(dims[k], 0.5);
        snprintf(what, sizeof what, "orthant of %d", (int)dims[k]);
        check_count(&(region){what, dims[k], GBS_MATRIX_PRECISION, q, NULL, zero, infinite, 0, NULL,
                              1 / (double)(dims[k] + 1)});
        free(q);
    }
    for (int k = 0; k < COUNT(rhos); ++k) {
        double *const q = equicorrelated(2, rhos[k]);
        snprintf(what, sizeof what, "pair, rho = %g", rhos[k]);
        check_count(&(region){what, 2, GBS_MATRIX_PRECISION, q, NULL, zero, infinite, 0, NULL,
                              0.25 + asin(rhos[k]) / (2 * acos(-1.0))});
        free(q);
    }
    free(zero);
    free(infinite);
}

/* ---- filters ---- */

enum { FILTERS = 64, PARTICLES = 1024 };

typedef struct chain {
    const char *what;
    int64_t dim;
    double first, inner, last, off, upper; /* Q's diagonal and what is beside it; lower is 0 */
    double log_probability;
} chain;

/* The tail above z. */
static double above(double z)
{
    return 0.5 * erfc(z / sqrt(2.0));
}

/* Particles of one filter by systematic resampling (Kitagawa 1996); returns the mean weight. */
static double resample(double *x, const double *weight, double u)
{
    double total = 0, sum = 0, old[PARTICLES];
    for (int k = 0; k < PARTICLES; ++k)
        total += weight[k];
    memcpy(old, x, sizeof old);
    for (int k = 0, from = 0; k < PARTICLES; ++k) {
        const double wanted = (k + u) / (double)PARTICLES * total;
        while (from < PARTICLES - 1 && sum + weight[from] < wanted)
            sum += weight[from++];
        x[k] = old[from];
    }
    return total / (double)PARTICLES;
}

/* Q = L L' leaves x_i | x_{i+1} ~ N(-L_{i+1,i} x_{i+1} / L_ii, 1 / L_ii^2). */
static void check_chain(const chain *of)
{
    const int64_t n = of->dim, count = FILTERS * PARTICLES;
    double *const pivot = naive_new(n), *const beside = naive_new(n), *const x = naive_new(count),
                  *const mean = naive_new(count), *const weight = naive_new(count);
    double log_sum[FILTERS] = {0}, lower = 0, average = 0, square = 0;
    uint64_t random = 5;
    for (int64_t i = 0; i < n; ++i) { /* beside[i] = L_{i,i-1} */
        const double q = i == 0 ? of->first : i == n - 1 ? of->last : of->inner;
        beside[i] = i == 0 ? 0 : of->off / pivot[i - 1];
        pivot[i] = sqrt(q - beside[i] * beside[i]);
    }
    gbs_context *const ctx = new_context(GBS_ISA_AUTO);
    gbs_truncnorm_spec spec = gbs_truncnorm_spec_default();
    spec.dims = 1;
    spec.shape[0] = count;
    spec.seed = seed;
    spec.lower = gbs_operand_array(&lower, 0, NULL);
    spec.upper = gbs_operand_array(&of->upper, 0, NULL);
    spec.mean = gbs_operand_array(mean, 1, &count);
    for (int64_t i = n - 1; i >= 0; --i) {
        const double sd = 1 / pivot[i], slope = i == n - 1 ? 0 : -beside[i + 1] / pivot[i];
        for (int64_t k = 0; k < count; ++k)
            weight[k] = above((0 - slope * x[k]) / sd) - above((of->upper - slope * x[k]) / sd);
        for (int64_t f = 0; f < FILTERS; ++f)
            log_sum[f] += log(resample(x + f * PARTICLES, weight + f * PARTICLES,
                                       (next_signed(&random) + 1) / 2));
        for (int64_t k = 0; k < count; ++k)
            mean[k] = slope * x[k];
        spec.sd = gbs_operand_array(&sd, 0, NULL);
        spec.sweep = i;
        must(ctx, gbs_truncnorm_f64(ctx, &spec, x));
    }
    for (int f = 0; f < FILTERS; ++f) {
        const double ratio = exp(log_sum[f] - of->log_probability);
        average += ratio / (double)FILTERS;
        square += ratio * ratio / (double)FILTERS;
    }
    const double error = sqrt((square - average * average) / (FILTERS - 1));
    check_score(of->what, "probability over its golden value", 1, average, error);
    printf("checked: %s: ln P = %.9g, estimate over it %.4f, standard error %.2g\n", of->what,
           of->log_probability, average, error);
    gbs_context_destroy(ctx);
    free(pivot);
    free(beside);
    free(x);
    free(mean);
    free(weight);
}

static void test_filters(void **state)
{
    (void)state;
    const double infinite = (double)INFINITY;
    const chain chains[] = {
        {"AR(1) .5, x >= 0", 50, 1, 1.25, 1, -.5, infinite, log(7.06133102e-9)},
        {"AR(1) .9, x >= 0", 50, 1, 1.81, 1, -.9, infinite, log(6.46346354e-3)},
        {"AR(1) .99, x >= 0", 50, 1, 1.9801, 1, -.99, infinite, log(.234252238)},
        {"RW1 + .005 I, x >= 0", 64, 1.005, 2.005, 1.005, -1, infinite, log(.0152510641)},
        {"tmvtnorm's sparse example", 1000, .5625, .625, .625, -.1875, 2, -726.103818170},
    };
    for (int k = 0; k < COUNT(chains) - quick(); ++k)
        check_chain(&chains[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_regions),
        cmocka_unit_test(test_orthants),
        cmocka_unit_test(test_filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
