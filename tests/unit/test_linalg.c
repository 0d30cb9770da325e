/* The linear algebra of draws against three plain loops, bit for bit: every set of inner loops
 * this machine runs, every size around a tile or a block, and the verdict on pivots. */
#include "backend/cpu/linalg_kernels.h"
#include "model/linalg.h"
#include "unit/matrices.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* The definitions of the numerics contract, section 9, as written. */
static void plain_cholesky(double *a, int64_t n)
{
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j <= i; ++j) {
            double r = a[i * n + j];
            for (int64_t k = 0; k < j; ++k)
                r = fma(-a[i * n + k], a[j * n + k], r);
            a[i * n + j] = i == j ? sqrt(r) : r / a[j * n + j];
        }
        for (int64_t j = i + 1; j < n; ++j)
            a[i * n + j] = 0;
    }
}

static void plain_forward(const double *l, int64_t n, double *x)
{
    for (int64_t i = 0; i < n; ++i) {
        double r = x[i];
        for (int64_t k = 0; k < i; ++k)
            r = fma(-l[i * n + k], x[k], r);
        x[i] = r / l[i * n + i];
    }
}

static void plain_backward(const double *l, int64_t n, double *x)
{
    for (int64_t i = n - 1; i >= 0; --i) {
        double r = x[i];
        for (int64_t k = n - 1; k > i; --k)
            r = fma(-l[k * n + i], x[k], r);
        x[i] = r / l[i * n + i];
    }
}

static void plain_inverse(const double *l, int64_t n, double *m, double *s)
{
    double *const unit = new_matrix(n);
    for (int64_t c = 0; c < n; ++c) {
        memset(unit, 0, (size_t)n * sizeof *unit);
        unit[c] = 1;
        plain_forward(l, n, unit);
        for (int64_t i = 0; i < n; ++i)
            m[i * n + c] = unit[i];
    }
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j <= i; ++j) {
            double r = 0;
            for (int64_t k = i; k < n; ++k)
                r = fma(m[k * n + i], m[k * n + j], r);
            s[i * n + j] = s[j * n + i] = r;
        }
    free(unit);
}

static void assert_same(const char *what, const char *kernels, int64_t n, const double *expected,
                        const double *got, int64_t count)
{
    for (int64_t i = 0; i < count; ++i)
        if (memcmp(&expected[i], &got[i], sizeof *got) != 0)
            fail_msg("%s, %s, n = %lld, element %lld: expected %a, got %a, error %g, bound 0 bits",
                     what, kernels, (long long)n, (long long)i, expected[i], got[i],
                     got[i] - expected[i]);
}

/* All operations for one matrix, on one set of inner loops. */
typedef struct answers {
    double *l, *m, *s, *diagonal, *forward, *backward;
} answers;

static answers new_answers(int64_t n)
{
    return (answers){new_matrix(n), new_matrix(n), new_matrix(n),
                     new_matrix(n), new_matrix(n), new_matrix(n)};
}

static void free_answers(answers *a)
{
    free(a->l);
    free(a->m);
    free(a->s);
    free(a->diagonal);
    free(a->forward);
    free(a->backward);
}

static void fill_right_hand_side(int64_t n, double *x)
{
    uint64_t seed = 77;
    for (int64_t i = 0; i < n; ++i)
        x[i] = next_signed(&seed);
}

static answers plain_answers(const double *q, int64_t n)
{
    answers a = new_answers(n);
    memcpy(a.l, q, (size_t)(n * n) * sizeof *q);
    plain_cholesky(a.l, n);
    plain_inverse(a.l, n, a.m, a.s);
    for (int64_t i = 0; i < n; ++i)
        a.diagonal[i] = a.s[i * n + i];
    fill_right_hand_side(n, a.forward);
    plain_forward(a.l, n, a.forward);
    fill_right_hand_side(n, a.backward);
    plain_backward(a.l, n, a.backward);
    return a;
}

static void check_kernels(const gbs_linalg_kernels *kernels, const double *q, int64_t n,
                          const answers *expected)
{
    answers a = new_answers(n);
    double pivot = 0;
    memcpy(a.l, q, (size_t)(n * n) * sizeof *q);
    for (int64_t i = 0; i < n; ++i) /* only the lower triangle may be read */
        for (int64_t j = i + 1; j < n; ++j)
            a.l[i * n + j] = NAN;
    assert_int_equal(gbs_blocked_cholesky(kernels, a.l, n, &pivot), -1);
    gbs_blocked_inverse_factor(kernels, a.l, n, a.m);
    gbs_blocked_gram(kernels, a.m, n, a.s);
    for (int64_t k = 0; k < n; ++k)
        kernels->add_squares(k + 1, a.m + k * n, a.diagonal);
    fill_right_hand_side(n, a.forward);
    kernels->solve_forward(n, a.l, n, a.forward);
    fill_right_hand_side(n, a.backward);
    kernels->solve_backward(n, a.l, n, a.backward);
    assert_same("cholesky", kernels->name, n, expected->l, a.l, n * n);
    assert_same("inverse of the factor", kernels->name, n, expected->m, a.m, n * n);
    assert_same("inverse", kernels->name, n, expected->s, a.s, n * n);
    assert_same("diagonal of the inverse", kernels->name, n, expected->diagonal, a.diagonal, n);
    assert_same("forward solve", kernels->name, n, expected->forward, a.forward, n);
    assert_same("backward solve", kernels->name, n, expected->backward, a.backward, n);
    free_answers(&a);
}

static void check_size(int64_t n)
{
    double *const q = random_matrix(n, (uint64_t)n);
    answers expected = plain_answers(q, n);
    for (int i = 0; gbs_linalg_kernels_at(i) != NULL; ++i)
        check_kernels(gbs_linalg_kernels_at(i), q, n, &expected);
    free_answers(&expected);
    free(q);
}

static void test_every_size(void **state)
{
    (void)state;
    static const int64_t bigger[] = {191, 192, 193, 256, 257, 333, 448, 521};
    for (int64_t n = 1; n <= 130; ++n)
        check_size(n);
    for (size_t i = 0; i < sizeof bigger / sizeof *bigger; ++i)
        check_size(bigger[i]);
    printf("checked: cholesky, inverse, diagonal and solves equal the plain loops bit for bit, "
           "n = 1..130 and eight more up to 521\n");
}

static void test_instances(void **state)
{
    (void)state;
    int count = 0;
    printf("checked: inner loops that ran:");
    for (; gbs_linalg_kernels_at(count) != NULL; ++count)
        printf(" %s", gbs_linalg_kernels_at(count)->name);
    printf("\n");
    const int least = gbs_isa_available(GBS_ISA_AVX512) ? 4
                      : gbs_isa_available(GBS_ISA_AVX2) ? 3
                      : gbs_isa_available(GBS_ISA_NEON) ? 2
                                                        : 1;
    if (count < least)
        fail_msg("sets of inner loops: expected %d, got %d, bound 0", least, count);
    for (gbs_isa isa = GBS_ISA_AVX2; isa <= GBS_ISA_NEON; ++isa)
        if (gbs_isa_available(isa))
            assert_string_equal(gbs_linalg_kernels_for(isa)->name, gbs_isa_name(isa));
    assert_ptr_equal(gbs_linalg_kernels_for(GBS_ISA_AUTO), gbs_linalg_kernels_at(count - 1));
}

/* The functions the model calls, by instruction set. */
static void test_by_isa(void **state)
{
    (void)state;
    const int64_t n = 150;
    double *const q = random_matrix(n, 5);
    answers expected = plain_answers(q, n);
    double *const work = new_matrix(n);
    for (gbs_isa isa = GBS_ISA_AUTO; isa <= GBS_ISA_NEON; ++isa) {
        if (!gbs_isa_available(isa)) {
            printf("skipped: %s is not available here\n", gbs_isa_name(isa));
            continue;
        }
        answers a = new_answers(n);
        double pivot;
        memcpy(a.l, q, (size_t)(n * n) * sizeof *q);
        assert_int_equal(gbs_cholesky(a.l, n, isa, &pivot), -1);
        gbs_inverse_from_factor(a.l, n, isa, work, a.s);
        gbs_inverse_diagonal(a.l, n, isa, work, a.diagonal);
        fill_right_hand_side(n, a.forward);
        gbs_solve_forward(a.l, n, a.forward);
        fill_right_hand_side(n, a.backward);
        gbs_solve_backward(a.l, n, a.backward);
        assert_same("cholesky", gbs_isa_name(isa), n, expected.l, a.l, n * n);
        assert_same("inverse", gbs_isa_name(isa), n, expected.s, a.s, n * n);
        assert_same("diagonal", gbs_isa_name(isa), n, expected.diagonal, a.diagonal, n);
        assert_same("forward", gbs_isa_name(isa), n, expected.forward, a.forward, n);
        assert_same("backward", gbs_isa_name(isa), n, expected.backward, a.backward, n);
        free_answers(&a);
    }
    printf("checked: the model's calls give one answer, by auto, scalar, avx2 and avx512\n");
    free(work);
    free_answers(&expected);
    free(q);
}

/* Site k is a copy of site k - 1 (of itself for 0, by a zero): its pivot is 0 or nearly so. */
static void test_failing_site(void **state)
{
    (void)state;
    const int64_t n = 150;
    static const int64_t sites[] = {1, 7, 8, 63, 64, 65, 127, 128, 129, 148, 149};
    double *const q = random_matrix(n, 9), *const l = new_matrix(n), *const a = new_matrix(n);
    memcpy(l, q, (size_t)(n * n) * sizeof *q);
    plain_cholesky(l, n);
    for (size_t s = 0; s < sizeof sites / sizeof *sites; ++s)
        for (int x = 0; gbs_linalg_kernels_at(x) != NULL; ++x) {
            const int64_t k = sites[s];
            const gbs_linalg_kernels *const kernels = gbs_linalg_kernels_at(x);
            double pivot = NAN;
            memcpy(a, q, (size_t)(n * n) * sizeof *q);
            memcpy(a + k * n, a + (k - 1) * n, (size_t)k * sizeof *a);
            a[k * n + k] = a[(k - 1) * n + k - 1];
            const int64_t failed = gbs_blocked_cholesky(kernels, a, n, &pivot);
            if (failed != k || !(fabs(pivot) <= (double)(n * n) * 0x1p-52))
                fail_msg("%s: expected site %lld and pivot 0, got %lld and %g, bound %g",
                         kernels->name, (long long)k, (long long)failed, pivot,
                         (double)(n * n) * 0x1p-52);
            assert_same("rows before the site", kernels->name, n, l, a, k * n);
        }
    printf("checked: a failing pivot is found at its site, and the rows before it are L's\n");
    free(q);
    free(l);
    free(a);
}

/* [[1, 1], [1, 1 + d]] has the pivots 1 and d, exactly. */
static void test_pivot_rule(void **state)
{
    (void)state;
    static const struct {
        double d;
        int64_t failed;
    } cases[] = {{0x1p-51, 1}, {0x3p-52, -1}, {0, 1}, {-0x1p-52, 1}, {1, -1}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c)
        for (int x = 0; gbs_linalg_kernels_at(x) != NULL; ++x) {
            double a[4] = {1, 1, 1, 1 + cases[c].d}, pivot = cases[c].d;
            const int64_t failed = gbs_blocked_cholesky(gbs_linalg_kernels_at(x), a, 2, &pivot);
            if (failed != cases[c].failed || pivot != cases[c].d)
                fail_msg("%s, d = %a: expected %lld, got %lld, pivot %a",
                         gbs_linalg_kernels_at(x)->name, cases[c].d, (long long)cases[c].failed,
                         (long long)failed, pivot);
        }
    double bad[1] = {NAN}, zero[1] = {0}, one[1] = {4}, pivot;
    assert_int_equal(gbs_cholesky(bad, 1, GBS_ISA_AUTO, &pivot), 0);
    assert_int_equal(gbs_cholesky(zero, 1, GBS_ISA_AUTO, &pivot), 0);
    assert_int_equal(gbs_cholesky(one, 1, GBS_ISA_AUTO, &pivot), -1);
    assert_true(one[0] == 2);
    printf("checked: a pivot of D 2^-52 Q_ii is refused, the next double above is not\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instances),  cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_by_isa),     cmocka_unit_test(test_failing_site),
        cmocka_unit_test(test_pivot_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
