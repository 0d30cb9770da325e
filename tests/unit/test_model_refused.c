/* What a model refuses, and in which words: range, finite, diagonal, symmetry, definiteness.
 * Cases by number are faults seen in other programs. */
#include "unit/comma_locale.h"
#include "unit/matrices.h"
#include "unit/model_fixture.h"

/* Creation must fail with this status and every word of the message; *out must be NULL. */
static void assert_refused(gbs_context *ctx, const gbs_model_spec *spec, gbs_status status,
                           const char *words)
{
    gbs_model *model = (gbs_model *)ctx;
    const gbs_status got = gbs_model_create(ctx, spec, &model);
    const char *const message = gbs_context_message(ctx);
    if (got != status || model != NULL || strstr(message, words) == NULL)
        fail_msg("expected %s, NULL and \"%s\"; got %s, %p and \"%s\"", gbs_status_name(status),
                 words, gbs_status_name(got), (void *)model, message);
    printf("checked: \"%s\"\n", message);
}

/* Case C31: the same verdict in both types. */
static void test_singular(void **state)
{
    gbs_context *const ctx = *state;
    double q[16];
    float f[16];
    for (int i = 0; i < 16; ++i)
        f[i] = (float)(q[i] = i % 5 == 0 ? 1 : -1.0 / 3);
    gbs_model_spec spec = spec_of(q, 4);
    assert_refused(ctx, &spec, GBS_ERROR_NOT_POSITIVE_DEFINITE,
                   "null vector (1, 1, ..., 1) over sites 0..3");
    spec.matrix = f;
    spec.matrix_type = GBS_F32;
    assert_refused(ctx, &spec, GBS_ERROR_NOT_POSITIVE_DEFINITE,
                   "null vector (1, 1, ..., 1) over sites 0..3");
    spec.matrix_kind = GBS_MATRIX_COVARIANCE;
    assert_refused(ctx, &spec, GBS_ERROR_NOT_POSITIVE_DEFINITE, "covariance: singular");
    for (int i = 0; i < 16; ++i)
        q[i] = i % 5 == 0 ? 1 : -0.333;
    spec = spec_of(q, 4);
    gbs_model_release(new_model(ctx, &spec));
}

/* Case C33: intrinsic models and sites without neighbours. */
static void test_intrinsic(void **state)
{
    gbs_context *const ctx = *state;
    double *const grid = lattice(7, 8, 1, 0);
    gbs_model_spec spec = spec_of(grid, 56);
    assert_refused(ctx, &spec, GBS_ERROR_NOT_POSITIVE_DEFINITE,
                   "null vector (1, 1, ..., 1) over sites 0..55");
    free(grid);

    double two_paths[64] = {0}; /* 0 - 2 - 4 - 6 and 1 - 3 - 5 - 7 */
    for (int64_t i = 0; i < 6; ++i)
        add_edge(two_paths, 8, i, i + 2, 1);
    spec = spec_of(two_paths, 8);
    assert_refused(ctx, &spec, GBS_ERROR_NOT_POSITIVE_DEFINITE,
                   "null vector constant over 4 sites: 0, 2, 4, 6");

    double islands[64] = {0}; /* 3 and 5 have no neighbours */
    add_edge(islands, 8, 0, 1, 1);
    add_edge(islands, 8, 1, 2, 1);
    add_edge(islands, 8, 2, 4, 1);
    add_edge(islands, 8, 6, 7, 1);
    spec = spec_of(islands, 8);
    assert_refused(ctx, &spec, GBS_ERROR_NOT_POSITIVE_DEFINITE,
                   "site 3 has Q[3,3] = 0: the model is improper there, as at a site without "
                   "neighbours (2 such sites: 3, 5)");
    for (int i = 0; i < 8; ++i)
        islands[i * 9] += 1;
    gbs_model_release(new_model(ctx, &spec));

    const double weighted[4] = {1, 2, 2, 4};
    spec = spec_of(weighted, 2);
    assert_refused(ctx, &spec, GBS_ERROR_NOT_POSITIVE_DEFINITE,
                   "with largest entries 1 at site 0, -0.5 at site 1");
}

/* Case C34: asymmetric and indefinite input. */
static void test_asymmetric_and_indefinite(void **state)
{
    gbs_context *const ctx = *state;
    double sign[9] = {0.01, -0.01, 0.005, 0.01, 0.01, 0.01, 0.005, 0.01, 0.01};
    gbs_model_spec spec = spec_of(sign, 3);
    assert_refused(ctx, &spec, GBS_ERROR_NOT_SYMMETRIC,
                   "precision: row 1 is not symmetric: Q[1,0] = 0.01, Q[0,1] = -0.01; they differ "
                   "by 0.02");
    spec.matrix_kind = GBS_MATRIX_COVARIANCE;
    assert_refused(ctx, &spec, GBS_ERROR_NOT_SYMMETRIC,
                   "covariance: row 1 is not symmetric: C[1,0]");
    const double indefinite[4] = {0.3, 0.5, 0.5, 0.4};
    spec = spec_of(indefinite, 2);
    assert_refused(
        ctx, &spec, GBS_ERROR_NOT_POSITIVE_DEFINITE,
        "pivot -0.433333 at site 1; v'Qv = -0.156 for v with largest entries 1 at site 0, "
        "-0.6 at site 1");
    /* v'Qv = 0 for v = (1, -1, 0), but Qv is not 0. */
    const double saddle[9] = {1, 1, 0, 1, 1, 1, 0, 1, 1};
    spec = spec_of(saddle, 3);
    assert_refused(ctx, &spec, GBS_ERROR_NOT_POSITIVE_DEFINITE, "not positive definite: pivot 0");
    const double huge[4] = {1e-300, 1e300, 1e300, 1e-300};
    spec = spec_of(huge, 2);
    assert_refused(ctx, &spec, GBS_ERROR_NOT_POSITIVE_DEFINITE, "not positive definite: pivot");
}

/* Messages are the same wherever the caller lives, and its locale stays. */
static void test_locale(void **state)
{
    gbs_context *const ctx = *state;
    const char *const name = set_comma_locale();
    const double sign[4] = {1, -0.25, 0.5, 1};
    gbs_model_spec spec = spec_of(sign, 2);
    assert_refused(ctx, &spec, GBS_ERROR_NOT_SYMMETRIC,
                   "Q[1,0] = 0.5, Q[0,1] = -0.25; they differ by 0.75");
    const double indefinite[4] = {0.5, 0.75, 0.75, 0.5};
    spec = spec_of(indefinite, 2);
    assert_refused(ctx, &spec, GBS_ERROR_NOT_POSITIVE_DEFINITE, "pivot -0.625 at site 1");
    const double a[4] = {1, 1, 1, 1}, lower[2] = {-INFINITY, 0.75}, upper[2] = {0.25, INFINITY};
    spec = spec_of(sign, 2);
    const double unit[4] = {1, 0, 0, 1};
    spec.matrix = unit;
    spec.constraints = (gbs_constraints){.rows = 2, .matrix = a, .lower = lower, .upper = upper};
    gbs_model *const model = new_model(ctx, &spec);
    double x[2];
    if (gbs_model_interior(ctx, model, x) != GBS_ERROR_UNAVAILABLE) /* without Clp */
        assert_non_null(strstr(gbs_context_message(ctx), "row 0 <= 0.25, row 1 >= 0.75"));
    gbs_model_release(model);
    assert_string_equal(localeconv()->decimal_point, ",");
    setlocale(LC_ALL, "C");
    print_message("%s: messages have a point\n", name);
}

/* Both sides of both tolerances; the average; the record. */
static void test_symmetry_tolerance(void **state)
{
    gbs_context *const ctx = *state;
    static const double tolerance[2] = {1e-4, 1e-8};
    for (int type = GBS_F32; type <= GBS_F64; ++type)
        for (int within = 0; within < 2; ++within) {
            const double apart = tolerance[type] * (within ? 0.99 : 1.01) * 6; /* sqrt(4 * 9) */
            const double q[9] = {4, 0.5, 0, 0.5 + apart, 9, -0.0, 0, 0.0, 1};
            float f[9];
            for (int i = 0; i < 9; ++i)
                f[i] = (float)q[i];
            gbs_model_spec spec = spec_of(q, 3);
            spec.matrix_type = (gbs_type)type;
            spec.matrix = type == GBS_F32 ? (const void *)f : q;
            if (!within) {
                assert_refused(ctx, &spec, GBS_ERROR_NOT_SYMMETRIC, "row 1 is not symmetric");
                continue;
            }
            gbs_model *const model = new_model(ctx, &spec);
            const double *const kept = gbs_model_precision(model);
            const double lower = type == GBS_F32 ? (double)f[3] : q[3];
            assert_near("average", 1, (0.5 + lower) / 2, kept[1], 0);
            assert_near("average", 3, kept[1], kept[3], 0);
            assert_true(!signbit(kept[5]) && !signbit(kept[7]));
            gbs_spectrum spectrum;
            assert_int_equal(gbs_model_spectrum(ctx, model, &spectrum), GBS_OK);
            assert_near("asymmetry", 0, (lower - 0.5) / 6, spectrum.asymmetry, 1e-15);
            assert_int_equal(spectrum.asymmetry_row, 1);
            assert_int_equal(spectrum.asymmetry_column, 0);
            gbs_model_release(model);
        }
    printf("checked: 1e-8 and 1e-4 times sqrt(Q_ii Q_jj), then the average, and where it was\n");
}

static void test_not_finite(void **state)
{
    gbs_context *const ctx = *state;
    double q[9] = {-1, 0, NAN, 5, 2, 0, 0, 0, 2}, mean[3] = {0, 0, INFINITY};
    gbs_model_spec spec = spec_of(q, 3);
    assert_refused(ctx, &spec, GBS_ERROR_NOT_FINITE, "precision: Q[0,2] is NaN");
    q[2] = -INFINITY;
    spec.matrix_kind = GBS_MATRIX_COVARIANCE;
    assert_refused(ctx, &spec, GBS_ERROR_NOT_FINITE, "covariance: C[0,2] is minus infinity");
    float f[9] = {1, 0, 0, 0, 1, 0, 0, 0, INFINITY};
    spec = spec_of(NULL, 3);
    spec.matrix = f;
    spec.matrix_type = GBS_F32;
    assert_refused(ctx, &spec, GBS_ERROR_NOT_FINITE, "precision: Q[2,2] is infinite");
    const double fine[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2};
    spec = spec_of(fine, 3);
    spec.location_kind = GBS_LOCATION_INFORMATION;
    spec.location = mean;
    assert_refused(ctx, &spec, GBS_ERROR_NOT_FINITE, "information: site 2 is infinite");

    const double tiny[1] = {1e-320}, large[1] = {1e300}; /* beyond double's range after division */
    spec = spec_of(tiny, 1);
    spec.matrix_kind = GBS_MATRIX_COVARIANCE;
    assert_refused(ctx, &spec, GBS_ERROR_NOT_FINITE, "covariance: Q[0,0] of its inverse");
    spec.matrix_kind = GBS_MATRIX_PRECISION;
    spec.location_kind = GBS_LOCATION_INFORMATION;
    spec.location = large;
    assert_refused(ctx, &spec, GBS_ERROR_NOT_FINITE, "location: the mean it gives site 0");
}

static void test_arguments(void **state)
{
    gbs_context *const ctx = *state;
    const double q[4] = {2, 0, 0, 2};
    gbs_model *model = NULL;
    const gbs_model_spec good = spec_of(q, 2);
    gbs_model_spec spec = gbs_model_spec_default();
    assert_int_equal(gbs_model_create(ctx, &good, NULL), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_model_create(NULL, &good, &model), GBS_ERROR_ARGUMENT);
    assert_refused(ctx, NULL, GBS_ERROR_ARGUMENT, "spec: NULL");
    assert_refused(ctx, &spec, GBS_ERROR_ARGUMENT, "dim: 0 is not in 1 ..");
    spec = good, spec.dim = INT64_MAX;
    assert_refused(ctx, &spec, GBS_ERROR_ARGUMENT, "dim: 9223372036854775807");
    spec = good, spec.matrix = NULL;
    assert_refused(ctx, &spec, GBS_ERROR_ARGUMENT, "matrix: NULL");
    spec = good, spec.row_stride = 1;
    assert_refused(ctx, &spec, GBS_ERROR_ARGUMENT,
                   "row_stride: 1 is neither 0 nor at least dim, 2");
    spec = good, spec.row_stride = -2;
    assert_refused(ctx, &spec, GBS_ERROR_ARGUMENT, "row_stride: -2");
    spec = good, spec.row_stride = INT64_MAX;
    assert_refused(ctx, &spec, GBS_ERROR_ARGUMENT, "overflow");
    spec = good, spec.matrix_kind = (gbs_matrix)2;
    assert_refused(ctx, &spec, GBS_ERROR_ARGUMENT, "matrix_kind: 2");
    spec = good, spec.matrix_type = (gbs_type)7;
    assert_refused(ctx, &spec, GBS_ERROR_ARGUMENT, "matrix_type: 7");
    spec = good, spec.location_type = (gbs_type)7;
    assert_refused(ctx, &spec, GBS_ERROR_ARGUMENT, "location_type: 7");
    spec = good, spec.location_kind = (gbs_location)4;
    assert_refused(ctx, &spec, GBS_ERROR_ARGUMENT, "location_kind: 4");
    spec = good, spec.location_kind = GBS_LOCATION_MEAN;
    assert_refused(ctx, &spec, GBS_ERROR_ARGUMENT, "location: NULL");
    spec = good, spec.location = q;
    assert_refused(ctx, &spec, GBS_ERROR_ARGUMENT, "location_kind says ZERO");
    const double negative[4] = {2, 0, 0, -3}, flat[4] = {1, 0, 0, 0};
    spec = spec_of(negative, 2);
    assert_refused(ctx, &spec, GBS_ERROR_NOT_POSITIVE_DEFINITE, "site 1 has Q[1,1] = -3");
    spec = spec_of(flat, 2);
    spec.matrix_kind = GBS_MATRIX_COVARIANCE;
    assert_refused(ctx, &spec, GBS_ERROR_NOT_POSITIVE_DEFINITE,
                   "covariance: site 1 has C[1,1] = 0");

    model = new_model(ctx, &good);
    double out[2];
    gbs_spectrum spectrum;
    assert_int_equal(gbs_model_sd(ctx, model, NULL), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_model_sd(ctx, NULL, out), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_model_spectrum(ctx, model, NULL), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_model_spectrum(NULL, model, &spectrum), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_model_spectrum(ctx, model, &spectrum), GBS_OK);
    double rate = 7;
    assert_int_equal(gbs_model_gibbs_rate(NULL, model, &spectrum, 1, &rate), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_model_gibbs_rate(ctx, NULL, &spectrum, 1, &rate), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_model_gibbs_rate(ctx, model, NULL, 1, &rate), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_model_gibbs_rate(ctx, model, &spectrum, 1, NULL), GBS_ERROR_ARGUMENT);
    static const double omega[] = {-1, 0, 2, NAN, INFINITY};
    for (size_t k = 0; k < sizeof omega / sizeof *omega; ++k)
        assert_int_equal(gbs_model_gibbs_rate(ctx, model, &spectrum, omega[k], &rate),
                         GBS_ERROR_ARGUMENT);
    assert_true(rate == 7);
    assert_int_equal(gbs_model_log_density(ctx, model, GBS_F64, q, 1, 1, out), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_model_log_density(ctx, model, GBS_F64, q, -1, 0, out), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_model_log_density(ctx, model, (gbs_type)2, q, 1, 0, out),
                     GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_model_log_density(ctx, model, GBS_F64, NULL, 1, 0, out),
                     GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_model_log_density(ctx, model, GBS_F64, NULL, 0, 0, NULL), GBS_OK);
    gbs_model_release(model);
    gbs_model_release(NULL);
    gbs_model_retain(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_singular),
        cmocka_unit_test(test_intrinsic),
        cmocka_unit_test(test_asymmetric_and_indefinite),
        cmocka_unit_test(test_locale),
        cmocka_unit_test(test_symmetry_tolerance),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
