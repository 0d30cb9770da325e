/* The Gibbs rate by Young's formula against closed forms and against what sweeps do: a start's
 * error under the sweep's mean map, in long double.  Which matrices are consistently ordered, by
 * cases that can be checked by hand. */
#include "gibbsite/gibbsite.h"
#include "unit/matrices.h"
#include "unit/model_fixture.h"
#include "model/lanczos.h"

#include <float.h>

static double rate_of(gbs_context *ctx, const gbs_model_spec *spec, double omega)
{
    gbs_model *const model = new_model(ctx, spec);
    gbs_spectrum spectrum;
    double rate = -1;
    assert_int_equal(gbs_model_spectrum(ctx, model, &spectrum), GBS_OK);
    assert_int_equal(gbs_model_gibbs_rate(ctx, model, &spectrum, omega, &rate), GBS_OK);
    gbs_model_release(model);
    return rate;
}

/* Stationary AR(1), of n sites and coefficient phi. */
static double *chain(int64_t n, double phi)
{
    double *const q = new_matrix(n);
    for (int64_t i = 0; i < n; ++i) {
        q[i * n + i] = i == 0 || i == n - 1 ? 1 : 1 + phi * phi;
        if (i > 0)
            q[i * n + i - 1] = q[(i - 1) * n + i] = -phi;
    }
    return q;
}

/* At w = 1 the rate is m^2, m Jacobi's radius: rho for D - rho W; (1 - 1 / tau)^2 moves with tau by
 * 2 m / tau d, d the relative error of tau, that of Lanczos and tau rounding units of D sites. */
static void test_closed_forms(void **state)
{
    static const double rho[] = {0.5, 0.9, 0.999, 0.999999};
    for (size_t k = 0; k < sizeof rho / sizeof *rho; ++k) {
        double *const q = lattice(8, 9, rho[k], 0);
        const gbs_model_spec spec = spec_of(q, 72);
        const double tau = 1 / (1 - rho[k]);
        const double bound =
            2 / tau * (GBS_LANCZOS_TOLERANCE + 8 * 72 * DBL_EPSILON * tau) + 4 * DBL_EPSILON;
        const double rate = rate_of(*state, &spec, 1);
        assert_near("rate", (int64_t)k, rho[k] * rho[k], rate, bound);
        printf("checked: D - %g W: %.17g, error %.1e, bound %.1e\n", rho[k], rate,
               fabs(rate - rho[k] * rho[k]), bound);
        free(q);
    }
    /* the square of the largest eigenvalue of Jacobi's matrix, by a symmetric solver elsewhere */
    double *const q = chain(500, 0.3);
    const gbs_model_spec spec = spec_of(q, 500);
    const double expected = 0.30299290208021695, rate = rate_of(*state, &spec, 1);
    const double bound = GBS_LANCZOS_TOLERANCE + 8 * 500 * DBL_EPSILON;
    assert_near("rate of a long chain", 0, expected, rate, bound);
    printf("checked: chain of 500: %.17g, bound %.1e\n", rate, bound);
    free(q);
}

/* x becomes its image under a forward sweep's mean map; returns its norm, and scales it to 1. */
static long double sweep(const double *q, int64_t n, long double omega, long double *x)
{
    long double norm = 0;
    for (int64_t i = 0; i < n; ++i) {
        long double sum = 0;
        for (int64_t j = 0; j < n; ++j)
            sum += j == i ? 0 : (long double)q[i * n + j] * x[j];
        x[i] = (1 - omega) * x[i] - omega * sum / q[i * n + i];
    }
    for (int64_t i = 0; i < n; ++i)
        norm += x[i] * x[i];
    norm = sqrtl(norm);
    for (int64_t i = 0; i < n; ++i)
        x[i] /= norm;
    return norm;
}

/* Below the best w the leading eigenvalue is real and single, and powers find it; from there on all
 * are of size w - 1, by the formula itself and by the determinant, (1 - w)^D. */
static void test_sweeps(void **state)
{
    enum { ROWS = 4, COLUMNS = 5, N = ROWS * COLUMNS };
    static const double omega[] = {0.3, 1, 1.1, 1.6, 1.9};
    double *const q = lattice(ROWS, COLUMNS, 0.8, 0);
    const gbs_model_spec spec = spec_of(q, N);
    for (size_t k = 0; k < sizeof omega / sizeof *omega; ++k) {
        const double rate = rate_of(*state, &spec, omega[k]);
        if (omega[k] > 1.5) {
            assert_near("rate beyond the best omega", (int64_t)k, omega[k] - 1, rate, 0);
            continue;
        }
        long double x[N], got = 0;
        for (int i = 0; i < N; ++i)
            x[i] = 1 + i % 3;
        for (int s = 0; s < 2000; ++s)
            got = sweep(q, N, omega[k], x);
        /* m moves by d / tau, and the rate here by at most twice that a tau; sweeps have converged
         */
        const double bound = 2 * (GBS_LANCZOS_TOLERANCE + 8 * N * DBL_EPSILON * 5);
        assert_near("rate by sweeps", (int64_t)k, (double)got, rate, bound);
        printf("checked: omega %g: %.17g, error %.1e, bound %.1e\n", omega[k], rate,
               fabs(rate - (double)got), bound);
    }
    free(q);
}

static double *cycle(int64_t n)
{
    double *const q = new_matrix(n);
    for (int64_t i = 0; i < n; ++i)
        add_edge(q, n, i, (i + 1) % n, 1);
    for (int64_t i = 0; i < n; ++i)
        q[i * n + i] += 1;
    return q;
}

static void test_orderings(void **state)
{
    double *q = cycle(4); /* 0 to 3 rises by 3 along the path and by 1 across */
    gbs_model_spec spec = spec_of(q, 4);
    assert_true(isnan(rate_of(*state, &spec, 1)));
    /* without site 3 it is a path, whose Jacobi matrix has the radius sqrt(2) / 3 */
    static const double fixed[4] = {NAN, NAN, NAN, 2};
    spec.fixed = fixed;
    assert_near("rate given site 3", 0, 2.0 / 9, rate_of(*state, &spec, 1),
                GBS_LANCZOS_TOLERANCE + 64 * DBL_EPSILON);
    static const double all[4] = {1, 1, 1, 1};
    spec.fixed = all;
    assert_near("rate of none", 0, 0, rate_of(*state, &spec, 1), DBL_EPSILON);
    free(q);

    /* the same cycle in the order 0 1 3 2, the 2 x 2 lattice, has the heights 0 1 1 2 */
    q = lattice(2, 2, 1, 1);
    q[3] = q[12] = -0.0;
    spec = spec_of(q, 4);
    assert_near("rate of the 2 x 2 lattice", 0, 4.0 / 9, rate_of(*state, &spec, 1),
                GBS_LANCZOS_TOLERANCE + 64 * DBL_EPSILON);
    q[3] = q[12] = 1e-300; /* one edge that joins heights 0 and 2 */
    assert_true(isnan(rate_of(*state, &spec, 1)));
    free(q);

    q = cycle(3);
    spec = spec_of(q, 3);
    assert_true(isnan(rate_of(*state, &spec, 1)));
    free(q);
    printf("checked: cycles, a lattice, fixed sites, zeros of both signs\n");
}

static void test_no_tau(void **state)
{
    static const double q[4] = {2, -1, -1, 2}, tau[] = {NAN, INFINITY};
    const gbs_model_spec spec = spec_of(q, 2);
    gbs_model *const model = new_model(*state, &spec);
    for (int k = 0; k < 2; ++k) {
        double rate = 0;
        assert_int_equal(
            gbs_model_gibbs_rate(*state, model, &(gbs_spectrum){.tau_max = tau[k]}, 1, &rate),
            GBS_OK);
        assert_true(isnan(rate));
    }
    gbs_model_release(model);
    printf("checked: NAN of a tau_max beyond double's range\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_sweeps),
        cmocka_unit_test(test_orderings),
        cmocka_unit_test(test_no_tau),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
