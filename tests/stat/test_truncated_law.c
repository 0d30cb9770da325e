/* Laws of draws between bounds against golden moments, within 5 standard errors: single normals,
 * near and far (golden section 1; the faults C01 to C16 of programs in use), and truncated
 * multivariate normals by a plain Gibbs sampler of gbs_truncnorm calls (golden section 2, C17).
 *
 * A multivariate case runs many chains from a point inside for several times its mixing time and
 * looks at the last state alone, so that its draws are independent.  About 200 scores: a correct
 * library fails one of them with a probability of 1e-4 for a fresh seed; the seeds are fixed. */
#include "stat/golden_boxes.h"

#include <float.h>
#include <string.h>

/* ---- one normal ---- */

/* Bounds as the type has them, inward, and moments only where the type resolves the law. */
static void check_box(gbs_context *ctx, gbs_type type, const box *of, int64_t n, void *x)
{
    const double in[4] = {of->m, of->s, of->lo, of->hi};
    float single[4];
    char name[64];
    gbs_truncnorm_spec spec = gbs_truncnorm_spec_default();
    gbs_operand *const operand[4] = {&spec.mean, &spec.sd, &spec.lower, &spec.upper};
    for (int k = 0; k < 4; ++k) {
        single[k] = (float)in[k];
        if (k == 2 && (double)single[k] < in[k])
            single[k] = nextafterf(single[k], (float)INF);
        if (k == 3 && (double)single[k] > in[k])
            single[k] = nextafterf(single[k], (float)-INF);
        *operand[k] =
            gbs_operand_array(type == GBS_F32 ? (const void *)&single[k] : &in[k], 0, NULL);
    }
    spec.dims = 1;
    spec.shape[0] = n;
    spec.seed = 7;
    spec.chain = of - boxes;
    assert_int_equal(type == GBS_F32 ? gbs_truncnorm_f32(ctx, &spec, x)
                                     : gbs_truncnorm_f64(ctx, &spec, x),
                     GBS_OK);
    snprintf(name, sizeof name, "%s %s", of->what, type == GBS_F32 ? "float" : "double");
    const moments r = moments_of(x, type, n, of);
    /* rounded parameters and draws move the mean by at most this */
    const double step = type == GBS_F32 ? (double)FLT_EPSILON * fmax(fabs(of->mean), of->s) : 0;
    const double error = sqrt(r.variance / (double)n);
    check_score(name, "mean", 0, r.mean, error + step / most_errors);
    if (!isnan(of->variance) && step < 0.1 * sqrt(of->variance))
        check_score(name, "variance", of->variance, r.variance,
                    sqrt((r.fourth - r.variance * r.variance) / (double)n) +
                        (of->variance * 1e-5 + step * step) / most_errors);
    if (!isnan(of->median) && step < 1e-4 * sqrt(of->variance))
        check_score(name, "share below the median", 0.5, r.below, 0.5 / sqrt((double)n));
}

static void test_boxes(void **state)
{
    (void)state;
    const int64_t n = quick() ? 1 << 16 : 1 << 20;
    double *const x = malloc((size_t)n * sizeof *x);
    gbs_context *const ctx = new_context(GBS_ISA_AUTO);
    for (int k = 0; k < BOXES; ++k)
        for (int type = 0; type < 2; ++type)
            check_box(ctx, (gbs_type)type, &boxes[k], n, x);
    gbs_context_destroy(ctx);
    free(x);
    printf("checked: %d boxes in both types, %lld draws each: mean, variance, median\n", BOXES,
           (long long)n);
}

/* C15: the law of N(14.654, 2) on [31.24, inf) has 1 and 99 % below these. */
static void test_quantiles(void **state)
{
    (void)state;
    const int64_t n = quick() ? 1 << 16 : 1 << 20;
    double *const x = malloc((size_t)n * sizeof *x);
    gbs_context *const ctx = new_context(GBS_ISA_AUTO);
    const double mean = 14.654, sd = 2, lower = 31.24, point[2] = {31.24238984, 32.30203017};
    const double share[2] = {0.01, 0.99};
    gbs_truncnorm_spec spec = gbs_truncnorm_spec_default();
    spec.dims = 1;
    spec.shape[0] = n;
    spec.mean = gbs_operand_array(&mean, 0, NULL);
    spec.sd = gbs_operand_array(&sd, 0, NULL);
    spec.lower = gbs_operand_array(&lower, 0, NULL);
    assert_int_equal(gbs_truncnorm_f64(ctx, &spec, x), GBS_OK);
    for (int k = 0; k < 2; ++k) {
        double below = 0;
        for (int64_t i = 0; i < n; ++i)
            below += (x[i] < point[k]) / (double)n;
        check_score("C15 c", k == 0 ? "1 % point" : "99 % point", share[k], below,
                    sqrt(0.01 * 0.99 / (double)n));
    }
    gbs_context_destroy(ctx);
    free(x);
    printf("checked: 1 and 99 %% points of C15, %lld draws\n", (long long)n);
}

/* C04, C09: no draw at the far end of a wide box, all distinct where the type has the numbers. */
static void test_tails_of_wide_boxes(void **state)
{
    (void)state;
    const int64_t n = quick() ? 1 << 18 : 1 << 22;
    float *const x = malloc((size_t)n * sizeof *x);
    gbs_context *const ctx = new_context(GBS_ISA_AUTO);
    const float sds[] = {0.02f, 0.002f, 0.001f, 1e-10f}, lo = -2, hi = 2, five = 5, million = 1e6f;
    gbs_truncnorm_spec spec = gbs_truncnorm_spec_default();
    spec.dims = 1;
    spec.shape[0] = n;
    spec.lower = gbs_operand_array(&lo, 0, NULL);
    spec.upper = gbs_operand_array(&hi, 0, NULL);
    for (int k = 0; k < 4; ++k) {
        double fourth = 0;
        spec.sd = gbs_operand_array(&sds[k], 0, NULL);
        spec.chain = k;
        assert_int_equal(gbs_truncnorm_f32(ctx, &spec, x), GBS_OK);
        for (int64_t i = 0; i < n; ++i) {
            const double z = (double)x[i] / (double)sds[k];
            if (!(fabs(z) < 7))
                fail_msg("C09, sd %g: a draw at %g standard deviations", (double)sds[k], z);
            fourth += z * z * z * z / (double)n;
        }
        check_score("C09", "kurtosis", 3, fourth, sqrt(96.0 / (double)n));
    }
    spec.sd.values = NULL;
    spec.lower = gbs_operand_array(&five, 0, NULL);
    spec.upper = gbs_operand_array(&million, 0, NULL);
    assert_int_equal(gbs_truncnorm_f32(ctx, &spec, x), GBS_OK);
    int64_t beyond = 0;
    for (int64_t i = 0; i < n; ++i)
        beyond += x[i] > 7;
    const double expected = erfc(7 / sqrt(2.0)) / erfc(5 / sqrt(2.0)) * (double)n;
    check_score("C04", "draws beyond lower + 2", expected, (double)beyond, sqrt(expected));
    gbs_context_destroy(ctx);
    free(x);
    printf("checked: C04 and C09, %lld draws each\n", (long long)n);
}

/* ---- truncated multivariate normals ---- */

typedef struct problem {
    const char *what;
    int64_t dim;
    const double *precision; /* [D, D] */
    double mean[3];          /* of the first sites; 0 beyond */
    double lo, hi[3];        /* hi of site i is hi[min(i, 2)] */
    int64_t sweeps, chains;
} problem;

/* x [D, B]: all sites once, site i of chain b at place i B + b. */
static void sweep(gbs_context *ctx, const problem *p, int64_t number, double *x, double *mean)
{
    const int64_t dim = p->dim, chains = p->chains;
    for (int64_t i = 0; i < dim; ++i) {
        const double *const row = p->precision + i * dim;
        const double sd = 1 / sqrt(row[i]), *const hi = &p->hi[i < 2 ? i : 2];
        for (int64_t b = 0; b < chains; ++b)
            mean[b] = i < 3 ? p->mean[i] : 0;
        for (int64_t j = 0; j < dim; ++j) {
            const double a = -row[j] / row[i], centre = j < 3 ? p->mean[j] : 0;
            if (j != i && a != 0)
                for (int64_t b = 0; b < chains; ++b)
                    mean[b] += a * (x[j * chains + b] - centre);
        }
        gbs_truncnorm_spec spec = gbs_truncnorm_spec_default();
        spec.dims = 1;
        spec.shape[0] = chains;
        spec.mean = gbs_operand_array(mean, 1, &chains);
        spec.sd = gbs_operand_array(&sd, 0, NULL);
        spec.lower = gbs_operand_array(&p->lo, 0, NULL);
        spec.upper = gbs_operand_array(hi, 0, NULL);
        spec.seed = 20261129;
        spec.sweep = number;
        spec.place = i * chains;
        if (gbs_truncnorm_f64(ctx, &spec, x + i * chains) != GBS_OK)
            fail_msg("%s: %s", p->what, gbs_context_message(ctx));
    }
}

/* The last state; the caller frees it. */
static double *sample(problem *p)
{
    if (quick())
        p->chains /= 16;
    gbs_context *const ctx = new_context(GBS_ISA_AUTO);
    double *const x = malloc((size_t)(p->dim * p->chains) * sizeof *x);
    double *const mean = malloc((size_t)p->chains * sizeof *mean);
    for (int64_t i = 0; i < p->dim; ++i)
        for (int64_t b = 0; b < p->chains; ++b) {
            const double hi = p->hi[i < 2 ? i : 2];
            x[i * p->chains + b] = isinf(p->lo) ? hi - 0.5
                                   : isinf(hi)  ? p->lo + 0.5
                                                : (p->lo + hi) / 2;
        }
    for (int64_t n = 0; n < p->sweeps; ++n)
        sweep(ctx, p, n, x, mean);
    free(mean);
    gbs_context_destroy(ctx);
    return x;
}

static void check_mean(const problem *p, const double *x, int64_t i, double expected)
{
    double mean = 0, square = 0;
    char of[32];
    for (int64_t b = 0; b < p->chains; ++b) {
        const double d = x[i * p->chains + b] - expected;
        mean += d / (double)p->chains;
        square += d * d / (double)p->chains;
    }
    snprintf(of, sizeof of, "mean of site %d", (int)i);
    check_score(p->what, of, 0, mean, sqrt(square / (double)p->chains));
}

static void check_covariance(const problem *p, const double *x, int64_t i, int64_t j, double at_i,
                             double at_j, double expected)
{
    double mean = 0, square = 0;
    char of[48];
    for (int64_t b = 0; b < p->chains; ++b) {
        const double d = (x[i * p->chains + b] - at_i) * (x[j * p->chains + b] - at_j) - expected;
        mean += d / (double)p->chains;
        square += d * d / (double)p->chains;
    }
    snprintf(of, sizeof of, "covariance of sites %d and %d", (int)i, (int)j);
    check_score(p->what, of, 0, mean, sqrt(square / (double)p->chains));
}

static void test_small_problems(void **state)
{
    (void)state;
    /* S = [1 .6 .3; .6 1 .2; .3 .2 2] inverted; x <= 1 */
    const double det =
        1 * (1 * 2 - 0.2 * 0.2) - 0.6 * (0.6 * 2 - 0.2 * 0.3) + 0.3 * (0.6 * 0.2 - 1 * 0.3);
    const double mw[9] = {(2 - 0.04) / det,        (0.06 - 1.2) / det, (0.12 - 0.3) / det,
                          (0.06 - 1.2) / det,      (2 - 0.09) / det,   (0.18 - 0.2) / det,
                          (0.6 * 0.2 - 0.3) / det, (0.18 - 0.2) / det, (1 - 0.36) / det};
    problem p = {"Manjunath-Wilhelm", 3, mw, {0.5, 0.5, 0.5}, -INF, {1, 1, 1}, 60, 1 << 16};
    const double m[3] = {-.152414542, -.126129680, -.404914674};
    double *x = sample(&p);
    for (int i = 0; i < 3; ++i)
        check_mean(&p, x, i, m[i]);
    check_covariance(&p, x, 0, 0, m[0], m[0], .522424919);
    check_covariance(&p, x, 0, 1, m[0], m[1], .220486591);
    check_covariance(&p, x, 0, 2, m[0], m[2], .077433052);
    check_covariance(&p, x, 1, 1, m[1], m[1], .515885112);
    check_covariance(&p, x, 1, 2, m[1], m[2], .039505744);
    check_covariance(&p, x, 2, 2, m[2], m[2], .946339061);
    free(x);

    const double two[4] = {3.0 / 8, -2.0 / 8, -2.0 / 8, 4.0 / 8};
    p = (problem){"mu (1, 2), x <= (1, 0)", 2, two, {1, 2, 0}, -INF, {1, 0, 0}, 60, 1 << 16};
    x = sample(&p);
    check_mean(&p, x, 0, -1.321794657);
    check_mean(&p, x, 1, -.900543514);
    check_covariance(&p, x, 0, 0, -1.321794657, -1.321794657, 1.952978421);
    check_covariance(&p, x, 0, 1, -1.321794657, -.900543514, .281096842);
    check_covariance(&p, x, 1, 1, -.900543514, -.900543514, .573921332);
    free(x);

    double *const eight = equicorrelated(4, 0.8);
    p = (problem){"equicorrelated .8, [-4, -1]^4", 4, eight, {0}, -4, {-1, -1, -1}, 150, 1 << 16};
    x = sample(&p);
    for (int i = 0; i < 4; ++i)
        check_mean(&p, x, i, -1.776817226921);
    check_covariance(&p, x, 1, 1, -1.776817226921, -1.776817226921, .256941605351);
    check_covariance(&p, x, 0, 3, -1.776817226921, -1.776817226921, .111510562148);
    free(x);
    free(eight);

    /* C17: covariance [.1 -.19; -.19 .4], box [0, 1]^2, and the two variables swapped */
    const double d17 = 0.1 * 0.4 - 0.19 * 0.19;
    for (int swapped = 0; swapped < 2; ++swapped) {
        const double c17[4] = {(swapped ? 0.1 : 0.4) / d17, 0.19 / d17, 0.19 / d17,
                               (swapped ? 0.4 : 0.1) / d17};
        const double at[2] = {swapped ? 0.124805 : 0.062403, swapped ? 0.062403 : 0.124805};
        p = (problem){"C17", 2, c17, {0}, 0, {1, 1, 1}, 400, 1 << 14};
        x = sample(&p);
        check_mean(&p, x, 0, at[0]);
        check_mean(&p, x, 1, at[1]);
        check_covariance(&p, x, 0, 1, at[0], at[1], -0.0011328);
        check_covariance(&p, x, 0, 0, at[0], at[0], swapped ? 0.0107782 : 0.0026946);
        free(x);
    }
    printf("checked: five small truncated normals\n");
}

static void test_orthants(void **state)
{
    (void)state;
    static const struct {
        int64_t dim, sweeps, chains;
        double mean, variance, covariance;
    } rows[] = {{2, 60, 1 << 16, .897620130903, .401026436380, .107774772164},
                {3, 60, 1 << 16, .970504408850, .425673789350, .109450087824},
                {10, 120, 1 << 15, 1.233957892590, .494863177061, .107920427921},
                {50, 600, 1 << 11, 1.627700752675, .547538419736, .092374096471}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        double *const q = equicorrelated(rows[k].dim, 0.5);
        char what[32];
        snprintf(what, sizeof what, "orthant of %d", (int)rows[k].dim);
        problem p = {what, rows[k].dim, q, {0}, 0, {INF, INF, INF}, rows[k].sweeps, rows[k].chains};
        double *const x = sample(&p);
        const double m = rows[k].mean;
        check_mean(&p, x, 0, m);
        check_mean(&p, x, rows[k].dim - 1, m);
        check_covariance(&p, x, 0, 0, m, m, rows[k].variance);
        check_covariance(&p, x, 0, rows[k].dim - 1, m, m, rows[k].covariance);
        free(x);
        free(q);
    }
    printf("checked: equicorrelated orthants of 2, 3, 10 and 50 sites\n");
}

static void test_chains(void **state)
{
    (void)state;
    double *q = tridiagonal(1000, .5625, .625, -.1875);
    q[1000 * 1000 - 1] = .625;
    problem p = {"tmvtnorm's sparse example", 1000, q, {0}, 0, {2, 2, 2}, 40, 1 << 10};
    double *x = sample(&p);
    check_mean(&p, x, 0, .880301563548);
    check_mean(&p, x, 1, .912305685991);
    check_mean(&p, x, 499, .914229870573);
    check_mean(&p, x, 999, .862687089702);
    check_covariance(&p, x, 0, 0, .880301563548, .880301563548, .301456708855);
    check_covariance(&p, x, 499, 499, .914229870573, .914229870573, .303205346036);
    free(x);
    free(q);

    q = tridiagonal(50, 1, 1.25, -.5);
    p = (problem){"AR(1) .5, x >= 0", 50, q, {0}, 0, {INF, INF, INF}, 80, 1 << 13};
    x = sample(&p);
    check_mean(&p, x, 0, 1.0820757710);
    check_mean(&p, x, 24, 1.2593602345);
    check_covariance(&p, x, 0, 0, 1.0820757710, 1.0820757710, .5663161176);
    check_covariance(&p, x, 24, 24, 1.2593602345, 1.2593602345, .6393301126);
    check_covariance(&p, x, 24, 25, 1.2593602345, 1.2593602345, .1956596908);
    free(x);
    free(q);

    q = tridiagonal(50, 1, 1.81, -.9);
    p = (problem){"AR(1) .9, x >= 0", 50, q, {0}, 0, {INF, INF, INF}, 1200, 1 << 11};
    x = sample(&p);
    check_mean(&p, x, 0, 2.5200161944);
    check_mean(&p, x, 24, 3.1777539417);
    check_covariance(&p, x, 24, 24, 3.1777539417, 3.1777539417, 2.5189538143);
    free(x);
    free(q);

    q = tridiagonal(64, 1.005, 2.005, -1);
    p = (problem){"RW1 + .005 I, x >= 0", 64, q, {0}, 0, {INF, INF, INF}, 1200, 1 << 11};
    x = sample(&p);
    check_mean(&p, x, 0, 4.2229274974);
    check_mean(&p, x, 31, 3.8086831093);
    check_covariance(&p, x, 31, 31, 3.8086831093, 3.8086831093, 3.3924263653);
    free(x);
    free(q);
    printf("checked: four chains of 50 to 1,000 sites\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_tails_of_wide_boxes),
        cmocka_unit_test(test_small_problems),
        cmocka_unit_test(test_orthants),
        cmocka_unit_test(test_chains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
