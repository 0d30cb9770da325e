/* Many variables in one call: each as in a call of its own, wherever its draws lie and however many
 * threads share the work. */
#include "unit/counting.h"
#include "unit/diag_fixture.h"

enum { CHAINS = 4, DRAWS = 101, VARIABLES = 21, SIZE = CHAINS * DRAWS };

/* [variables, chains, draws]: slow and fast ones, ties, a constant, a NaN, a stuck chain. */
static double *variables_of_all_kinds(void)
{
    double *const x = malloc(VARIABLES * SIZE * sizeof *x);
    assert_non_null(x);
    for (int v = 0; v < VARIABLES; v++) {
        double *const one = ar_chains(DRAWS, CHAINS, v / 21.0, 100 + (uint64_t)v);
        for (int i = 0; i < SIZE; i++)
            x[v * SIZE + i] = v == 5 ? 2.5 : v == 6 ? floor(3 * one[i]) : one[i];
        free(one);
    }
    x[7 * SIZE + 3] = NAN;
    for (int i = 50; i < DRAWS; i++)
        x[8 * SIZE + 2 * DRAWS + i] = 0;
    return x;
}

static const int32_t pairs_of_chains[CHAINS] = {0, 1, 0, 1};

/* What single calls say, and nested R-hat. */
static void summarise_singly(const double *x, gbs_summary *s, double *nested)
{
    void *const w = new_workspace(CHAINS, DRAWS);
    for (int v = 0; v < VARIABLES; v++) {
        const gbs_draws d = draws_of(x + v * SIZE, CHAINS, DRAWS);
        assert_int_equal(gbs_diag_summary(&d, w, &s[v]), GBS_OK);
        nested[v] = gbs_diag_rhat_nested(&d, pairs_of_chains, w);
    }
    free(w);
}

static void check_call(gbs_context *ctx, const gbs_draws *first, int64_t stride, const double *x)
{
    gbs_summary expected[VARIABLES], got[VARIABLES];
    double nested_expected[VARIABLES], nested[VARIABLES];
    summarise_singly(x, expected, nested_expected);
    assert_int_equal(
        gbs_diag_summaries(ctx, first, VARIABLES, stride, pairs_of_chains, got, nested), GBS_OK);
    for (int v = 0; v < VARIABLES; v++) {
        assert_true(same_summary(&expected[v], &got[v]));
        assert_true(same_double(nested_expected[v], nested[v]));
    }
    memset(got, 0, sizeof got);
    assert_int_equal(gbs_diag_summaries(ctx, first, VARIABLES, stride, NULL, got, NULL), GBS_OK);
    for (int v = 0; v < VARIABLES; v++)
        assert_true(same_summary(&expected[v], &got[v]));
}

static void test_layouts(void **state)
{
    (void)state;
    double *const x = variables_of_all_kinds(), *const turned =
                                                    malloc(VARIABLES * SIZE * sizeof *x);
    assert_non_null(turned);
    for (int v = 0; v < VARIABLES; v++)
        for (int i = 0; i < SIZE; i++)
            turned[i * VARIABLES + v] = x[v * SIZE + i];
    const gbs_draws apart = draws_of(x, CHAINS, DRAWS);
    const gbs_draws interleaved = {turned, CHAINS, DRAWS, DRAWS * VARIABLES, VARIABLES};
    const int32_t threads[] = {1, 2, 3, 7};
    for (int k = 0; k < 4; k++) {
        gbs_context_options options = gbs_context_options_default();
        options.threads = threads[k];
        gbs_context *ctx;
        assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
        check_call(ctx, &apart, SIZE, x);
        check_call(ctx, &interleaved, 1, x);
        printf("%d variables, apart and interleaved, %d threads: the bits of single calls\n",
               VARIABLES, gbs_context_threads(ctx));
        gbs_context_destroy(ctx);
    }
    free(turned);
    free(x);
}

static void test_refused(void **state)
{
    (void)state;
    const double x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    gbs_context *ctx;
    assert_int_equal(gbs_context_create(NULL, &ctx), GBS_OK);
    const gbs_draws good = draws_of(x, 2, 4), null = draws_of(NULL, 2, 4), none = draws_of(x, 0, 4);
    gbs_summary s, untouched;
    double nested = 7;
    memset(&s, 0x5a, sizeof s);
    memcpy(&untouched, &s, sizeof s);
    assert_int_equal(gbs_diag_summaries(NULL, &good, 1, 8, NULL, &s, NULL), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_diag_summaries(ctx, NULL, 1, 8, NULL, &s, NULL), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_diag_summaries(ctx, &null, 1, 8, NULL, &s, NULL), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_diag_summaries(ctx, &good, 1, 8, NULL, NULL, NULL), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_diag_summaries(ctx, &none, 1, 8, NULL, &s, NULL), GBS_ERROR_ARGUMENT);
    assert_non_null(strstr(gbs_context_message(ctx), "0 chains of 4 draws"));
    assert_int_equal(gbs_diag_summaries(ctx, &good, -1, 8, NULL, &s, NULL), GBS_ERROR_ARGUMENT);
    assert_non_null(strstr(gbs_context_message(ctx), "variables is -1"));
    assert_int_equal(gbs_diag_summaries(ctx, &good, 1, 8, NULL, &s, &nested), GBS_ERROR_ARGUMENT);
    assert_non_null(strstr(gbs_context_message(ctx), "go together"));
    assert_int_equal(gbs_diag_summaries(ctx, &good, 0, 8, NULL, &s, NULL), GBS_OK);
    assert_true(memcmp(&s, &untouched, sizeof s) == 0 && nested == 7);
    gbs_context_destroy(ctx);
    printf("what is refused is named, and leaves the output alone; no variables are fine\n");
}

/* Whichever allocation fails, the call says so, keeps nothing and leaves the output alone. */
static void test_memory(void **state)
{
    (void)state;
    double *const x = variables_of_all_kinds();
    const gbs_draws d = draws_of(x, CHAINS, DRAWS);
    gbs_summary s[VARIABLES], untouched[VARIABLES];
    memset(s, 0x5a, sizeof s);
    memcpy(untouched, s, sizeof s);
    int refused = 0;
    for (gbs_status status = GBS_ERROR_MEMORY; status != GBS_OK; refused++) {
        counting c = {.refuse = -1};
        const gbs_context_options options = counting_options(&c);
        gbs_context *ctx;
        assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
        const int64_t before = c.taken - c.given;
        c.refuse = c.taken + refused;
        status = gbs_diag_summaries(ctx, &d, VARIABLES, SIZE, NULL, s, NULL);
        assert_int_equal(c.taken - c.given, before);
        assert_true(status == GBS_OK ||
                    (status == GBS_ERROR_MEMORY && memcmp(s, untouched, sizeof s) == 0));
        gbs_context_destroy(ctx);
    }
    refused--; /* the last call had all it asked for */
    assert_true(refused > 0);
    printf("each of %d allocations refused in turn: a status, no leak, nothing written\n", refused);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
