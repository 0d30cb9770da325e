/* Ends of the spectrum and tau_max against closed forms and against Jacobi's method, which
 * keeps the small eigenvalues of a badly scaled positive definite matrix. */
#include "gibbsite/gibbsite.h"
#include "model/lanczos.h"
#include "unit/matrices.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define PI 3.14159265358979323846

static gbs_spectrum spectrum_of(const double *q, int64_t n, gbs_isa isa)
{
    gbs_context_options options = gbs_context_options_default();
    options.isa = isa;
    gbs_context *ctx;
    assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
    gbs_model_spec spec = gbs_model_spec_default();
    spec.dim = n;
    spec.matrix = q;
    gbs_model *model;
    if (gbs_model_create(ctx, &spec, &model) != GBS_OK)
        fail_msg("expected a model, got: %s", gbs_context_message(ctx));
    gbs_spectrum spectrum;
    assert_int_equal(gbs_model_spectrum(ctx, model, &spectrum), GBS_OK);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
    return spectrum;
}

static void assert_close(const char *what, double expected, double got, double relative)
{
    if (!(fabs(got - expected) <= relative * fabs(expected)))
        fail_msg("%s: expected %.17g, got %.17g, relative error %.3g, bound %.3g", what, expected,
                 got, fabs(got / expected - 1), relative);
}

/* What Lanczos promises, plus D rounding units of Q or, for the small ends, tau_max as many. */
static void assert_spectrum(const char *what, const gbs_spectrum *got, int64_t n, double least,
                            double largest, double tau)
{
    const double rounding = 8 * (double)n * DBL_EPSILON;
    const double loose = GBS_LANCZOS_TOLERANCE + rounding * tau;
    assert_close("largest eigenvalue", largest, got->eigenvalue_max,
                 GBS_LANCZOS_TOLERANCE + rounding);
    assert_close("smallest eigenvalue", least, got->eigenvalue_min, loose);
    assert_close("condition", largest / least, got->condition, 2 * loose);
    assert_close("tau_max", tau, got->tau_max, loose);
    assert_close("float error", tau * 0x1p-24, got->f32_covariance_error, loose);
    printf("checked: %s, D = %lld: %.10g .. %.10g, tau_max %.10g, errors %.1e %.1e %.1e, "
           "bound %.1e\n",
           what, (long long)n, got->eigenvalue_min, got->eigenvalue_max, got->tau_max,
           got->eigenvalue_min / least - 1, got->eigenvalue_max / largest - 1,
           got->tau_max / tau - 1, loose);
}

/* The grid's Laplacian has the eigenvalues 4 - 2 cos(pi a / r) - 2 cos(pi b / c). */
static void test_lattice(void **state)
{
    (void)state;
    double *q = lattice(10, 10, 1, 1e-4);
    gbs_spectrum got = spectrum_of(q, 100, GBS_ISA_AUTO);
    /* tau_max has no closed form here: the published value for the mean is a lower bound. */
    assert_true(got.tau_max > 36001 && got.tau_max < 36002);
    assert_spectrum("10 x 10 lattice", &got, 100, 1e-4, 1e-4 + 4 - 4 * cos(0.9 * PI), got.tau_max);
    free(q);
    q = lattice(1, 300, 1, 0.5); /* a chain: its upper eigenvalues crowd together */
    got = spectrum_of(q, 300, GBS_ISA_AUTO);
    assert_spectrum("chain", &got, 300, 0.5, 0.5 + 2 - 2 * cos(PI * 299 / 300), got.tau_max);
    free(q);
}

/* D - rho W: D^-1/2 W D^-1/2 has the largest eigenvalue 1, so tau_max = 1 / (1 - rho). */
static void test_car(void **state)
{
    (void)state;
    static const double rho[] = {0.5, 0.9, 0.99, 0.999999};
    for (size_t i = 0; i < sizeof rho / sizeof *rho; ++i) {
        double *const q = lattice(8, 9, rho[i], 0);
        const gbs_spectrum got = spectrum_of(q, 72, GBS_ISA_AUTO);
        assert_spectrum("CAR", &got, 72, got.eigenvalue_min, got.eigenvalue_max, 1 / (1 - rho[i]));
        free(q);
    }
}

/* Few distinct eigenvalues: the Krylov space ends after as many steps. */
/* More sites than basis vectors are kept, and ends whose eigenvalues lie 1e-5 apart: a ring, and a
 * path with ends like its other sites. */
static void test_long_chains(void **state)
{
    (void)state;
    enum { LONG = 1500 };
    static const double kappas[] = {1e-3, 1};
    double *const q = malloc(LONG * LONG * sizeof *q);
    for (int turn = 0; turn < 4; ++turn) {
        const double kappa = kappas[turn / 2];
        const int ring = turn % 2;
        memset(q, 0, LONG * LONG * sizeof *q);
        for (int64_t i = 0; i < LONG; ++i)
            q[i * LONG + i] = 2 + kappa;
        for (int64_t i = 0; i + 1 < LONG; ++i)
            q[i * LONG + i + 1] = q[(i + 1) * LONG + i] = -1;
        if (ring)
            q[LONG - 1] = q[(LONG - 1) * LONG] = -1;
        /* a constant diagonal, so that tau_max is that over the least eigenvalue */
        const double step = ring ? 0 : PI / (LONG + 1);
        const double least = kappa + 4 * pow(sin(step / 2), 2);
        const double largest = kappa + 4 * pow(cos(step / 2), 2);
        const gbs_spectrum got = spectrum_of(q, LONG, GBS_ISA_AUTO);
        assert_spectrum(ring ? "a ring" : "a path", &got, LONG, least, largest,
                        (2 + kappa) / least);
    }
    free(q);
}

static void test_few_eigenvalues(void **state)
{
    (void)state;
    const double one = 7;
    gbs_spectrum got = spectrum_of(&one, 1, GBS_ISA_AUTO);
    assert_spectrum("one site", &got, 1, 7, 7, 1);
    assert_int_equal(got.asymmetry_row, -1);

    double *q = new_matrix(50);
    for (int i = 0; i < 50; ++i)
        q[i * 51] = 3;
    got = spectrum_of(q, 50, GBS_ISA_AUTO);
    assert_spectrum("3 I", &got, 50, 3, 3, 1);

    for (int i = 0; i < 2500; ++i) /* a I + b 11' */
        q[i] = i % 51 == 0 ? 2.719298246 : -0.02;
    got = spectrum_of(q, 50, GBS_ISA_AUTO);
    const double flat = 2.719298246 - 0.02 * 49, other = 2.719298246 + 0.02;
    assert_spectrum("equal correlations", &got, 50, flat, other, 2.719298246 / flat);
    free(q);
}

/* Units of 1e-200 and 1e200 in turn, and a diagonal from 1e-6 to 1e6. */
static void test_scales(void **state)
{
    (void)state;
    static const double unit[] = {1e-200, 1e200};
    for (int u = 0; u < 2; ++u) {
        double *const q = lattice(4, 4, 0.9, 0);
        const gbs_spectrum plain = spectrum_of(q, 16, GBS_ISA_AUTO);
        for (int i = 0; i < 256; ++i)
            q[i] *= unit[u];
        const gbs_spectrum got = spectrum_of(q, 16, GBS_ISA_AUTO);
        assert_spectrum(u ? "unit 1e200" : "unit 1e-200", &got, 16, plain.eigenvalue_min * unit[u],
                        plain.eigenvalue_max * unit[u], 10);
        free(q);
    }
    double *const q = new_matrix(13);
    for (int i = 0; i < 13; ++i)
        q[i * 14] = pow(10, i - 6);
    const gbs_spectrum got = spectrum_of(q, 13, GBS_ISA_AUTO);
    assert_spectrum("diagonal 1e-6 .. 1e6", &got, 13, 1e-6, 1e6, 1);
    free(q);
}

/* One rotation of Jacobi's method, on rows and columns p and q. */
static void rotate(long double *a, int64_t n, int64_t p, int64_t q)
{
    const long double apq = a[p * n + q];
    if (apq == 0)
        return;
    const long double theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
    const long double t = (theta < 0 ? -1 : 1) / (fabsl(theta) + sqrtl(theta * theta + 1));
    const long double c = 1 / sqrtl(t * t + 1), s = t * c;
    for (int64_t k = 0; k < n; ++k) {
        const long double x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for (int64_t k = 0; k < n; ++k) {
        const long double x = a[p * n + k], y = a[q * n + k];
        a[p * n + k] = c * x - s * y;
        a[q * n + k] = s * x + c * y;
    }
}

static void jacobi(long double *a, int64_t n, double *least, double *largest)
{
    for (int sweep = 0; sweep < 30; ++sweep)
        for (int64_t p = 0; p < n; ++p)
            for (int64_t q = p + 1; q < n; ++q)
                rotate(a, n, p, q);
    *least = HUGE_VAL;
    *largest = 0;
    for (int64_t i = 0; i < n; ++i) {
        *least = fmin(*least, (double)a[i * n + i]);
        *largest = fmax(*largest, (double)a[i * n + i]);
    }
}

/* Q = D H D with D from 1 to 1e6: a condition number near 1e14, of which the small end feels
 * only tau_max = 1000, that of H. */
static void test_badly_scaled(void **state)
{
    (void)state;
    enum { N = 40 };
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        double *const q = lattice(5, 8, 0.999, 0);
        long double *const a = malloc(N * N * sizeof *a), *const h = malloc(N * N * sizeof *h);
        assert_true(a != NULL && h != NULL);
        double scale[N], least, largest, least_of_h, unused;
        uint64_t words = seed;
        for (int i = 0; i < N; ++i)
            scale[i] = ldexp(1, (int)(next_word(&words) % 21));
        for (int i = 0; i < N; ++i)
            for (int j = 0; j < N; ++j)
                q[i * N + j] *= scale[i] * scale[j];
        for (int i = 0; i < N * N; ++i) {
            a[i] = q[i];
            h[i] = a[i] / sqrtl((long double)q[i / N * (N + 1)] * q[i % N * (N + 1)]);
        }
        jacobi(a, N, &least, &largest);
        jacobi(h, N, &least_of_h, &unused);
        const gbs_spectrum got = spectrum_of(q, N, GBS_ISA_AUTO);
        assert_spectrum("badly scaled", &got, N, least, largest, 1 / least_of_h);
        free(a);
        free(h);
        free(q);
    }
}

static void test_repeatable(void **state)
{
    (void)state;
    double *const q = random_matrix(90, 12);
    const gbs_spectrum expected = spectrum_of(q, 90, GBS_ISA_SCALAR);
    for (gbs_isa isa = GBS_ISA_AUTO; isa <= GBS_ISA_NEON; ++isa) {
        if (!gbs_isa_available(isa))
            continue;
        const gbs_spectrum got = spectrum_of(q, 90, isa);
        assert_memory_equal(&expected, &got, sizeof got);
        printf("checked: %s gives scalar's bits\n", gbs_isa_name(isa));
    }
    free(q);
}

/* Floats are 1 apart at 1e7, 2 at 3e7: variances of draws grow by about h^2 Q_ii / 12, which the
 * sampler's own show at 1e7.  A bound or a fixed value keeps draws away from there. */
static void test_far_mean(void **state)
{
    (void)state;
    enum { CHAINS = 20000 };
    static const double q[4] = {2, -1, -1, 2}, lower[2] = {-INFINITY, 0};
    static double x[2 * CHAINS];
    static float f[2 * CHAINS];
    gbs_context *ctx;
    assert_int_equal(gbs_context_create(NULL, &ctx), GBS_OK);
    for (int k = 0; k < 3; ++k) {
        const double mean[2] = {40, k == 0 ? 1e7 : -3e7};
        gbs_model_spec spec = gbs_model_spec_default();
        spec.dim = 2;
        spec.matrix = q;
        spec.location_kind = GBS_LOCATION_MEAN;
        spec.location = mean;
        spec.lower = k == 2 ? lower : NULL;
        gbs_model *model;
        gbs_spectrum s;
        assert_int_equal(gbs_model_create(ctx, &spec, &model), GBS_OK);
        assert_int_equal(gbs_model_spectrum(ctx, model, &s), GBS_OK);
        assert_int_equal(s.f32_site, k == 2 ? -1 : 1);
        assert_close("float error",
                     k == 0   ? 1.0 / 6
                     : k == 1 ? 4.0 / 6
                              : 0x1p-23,
                     s.f32_covariance_error, 1e-12);
        if (k == 0) {
            gbs_sampler_spec with = gbs_sampler_spec_default();
            with.type = GBS_F32;
            with.chains = CHAINS;
            gbs_sampler *sampler;
            assert_int_equal(gbs_sampler_create(ctx, model, &with, &sampler), GBS_OK);
            assert_int_equal(gbs_sampler_run(sampler, 50), GBS_OK);
            assert_int_equal(gbs_sampler_get_state(sampler, f), GBS_OK);
            double sum = 0, square = 0;
            for (int c = 0; c < CHAINS; ++c) {
                x[c] = (double)f[2 * c + 1] - 1e7;
                sum += x[c] / CHAINS;
            }
            for (int c = 0; c < CHAINS; ++c)
                square += (x[c] - sum) * (x[c] - sum) / CHAINS;
            printf("checked: variance 2/3 at 1e7 in float: %.3f, 2/3 (1 + 1/6) = 0.778\n", square);
            assert_true(square > 0.70 && square < 0.86);
            gbs_sampler_destroy(sampler);
        }
        gbs_model_release(model);
    }
    gbs_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lattice),     cmocka_unit_test(test_car),
        cmocka_unit_test(test_long_chains), cmocka_unit_test(test_few_eigenvalues),
        cmocka_unit_test(test_scales),      cmocka_unit_test(test_badly_scaled),
        cmocka_unit_test(test_repeatable),  cmocka_unit_test(test_far_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
