/* The pieces of the diagnostics against plain definitions: order, ranks, lagged sums, ESS, and the
 * quantiles of the normal and the beta distribution. */
#include "diag/diag.h"
#include "unit/diag_fixture.h"

#include <float.h>

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void check_order(const char *what, const double *x, int64_t n)
{
    const gbs_draws d = draws_of(x, 1, n);
    void *const w = new_workspace(1, n);
    gbs_diag_work work;
    assert_int_equal(gbs_diag_open(&work, &d, w), 1);
    gbs_diag_sort(&work);
    double *const sorted = malloc((size_t)n * sizeof *sorted);
    assert_non_null(sorted);
    memcpy(sorted, x, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    for (int64_t i = 0; i < n; i++) {
        if (sorted[i] != work.sorted[i]) {
            printf("%s: place %lld: expected %.17g, got %.17g, bound 0\n", what, (long long)i,
                   sorted[i], work.sorted[i]);
            fail();
        }
        assert_true(x[work.order[i]] == work.sorted[i]);
    }
    printf("%s: %lld draws as qsort orders them\n", what, (long long)n);
    free(sorted);
    free(w);
}

static void test_sort(void **state)
{
    (void)state;
    enum { N = 3000 };
    double *const x = malloc(N * sizeof *x);
    assert_non_null(x);
    uint64_t seed = 1;
    for (int i = 0; i < N; i++)
        x[i] = next_normal(&seed);
    check_order("normals", x, N);
    check_order("one", x, 1);
    for (int i = 0; i < N; i++)
        x[i] = 1e8 + 1e-3 * next_normal(&seed);
    x[17] = -1e300; /* now all others share their leading 32 bits */
    check_order("a cluster and an outlier", x, N);
    for (int i = 0; i < N; i++)
        x[i] = floor(5 * next_normal(&seed)) * (i % 2 == 0 ? 1 : -1);
    x[0] = -0.0;
    x[1] = 0.0;
    check_order("ties and both zeros", x, N);
    for (int i = 0; i < N; i++)
        x[i] = ldexp(next_normal(&seed), (int)(next_word(&seed) % 2000) - 1060);
    check_order("every exponent, subnormals too", x, N);
    for (int i = 0; i < N; i++)
        x[i] = i / 100 + (double)(i % 50) * 0x1p-45; /* runs of 100 in the low bits */
    check_order("runs in the low bits", x, N);
    free(x);
}

/* Phi^-1 to 20 digits, by mpmath. */
static void test_normal_quantile(void **state)
{
    (void)state;
    const double table[][2] = {{0x1p-33, -6.3379577545537892525},
                               {0x1.12e0be826d695p-30, -5.9978070150076868614},
                               {0x1.0c6f7a0b5ed8dp-20, -4.7534243088228989573},
                               {0x1.0624dd2f1a9fcp-10, -3.0902323061678135354},
                               {0x1p-4, -1.5341205443525463117},
                               {0x1.3333333333333p-4, -1.4395314709384559349},
                               {0x1.339c0ebedfa44p-4, -1.4388253927525399824},
                               {0x1.999999999999ap-4, -1.2815515655446004353},
                               {0.25, -0.6744897501960817432},
                               {0.375, -0.31863936396437516302},
                               {0x1.ffe5c91d14e3cp-2, -0.00025066283008800749239},
                               {0.5, 0},
                               {0x1.3333333333333p-1, 0.25334710313579974132},
                               {0x1.d99999999999ap-1, 1.4395314709384562291},
                               {0x1.f333333333333p-1, 1.9599639845400538556},
                               {0x1.ffffep-1, 4.763001034267813957}};
    double worst = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const double got = gbs_normal_quantile(table[i][0]);
        /* About 1e-16 of the algorithm, and ten roundings of a polynomial's last steps. */
        check_relative("normal quantile", table[i][1], got, 8 * DBL_EPSILON);
        if (table[i][1] != 0)
            worst = fmax(worst, fabs(got / table[i][1] - 1));
    }
    printf("normal quantile: worst relative error %.2g, bound %.2g\n", worst, 8 * DBL_EPSILON);
}

/* By mpmath: bisection on the incomplete beta function, quadrature for large a and b. */
static void test_beta_quantile(void **state)
{
    (void)state;
    const double low = 0.1586553, high = 0.8413447;
    const double table[][4] = {{low, 1, 1, 0.1586553},
                               {high, 1, 2, 0.601684421595137639},
                               {low, 1.5, 30.25, 0.0135782136357348007},
                               {high, 711.4, 7.25, 0.993554209538877767},
                               {low, 2e4, 3e5, 0.062072094747769899299},
                               {high, 5e7, 5e7, 0.50004999999048055535},
                               {low, 1, 1e6, 1.7275381885735423e-7},
                               {high, 12.5, 1, 0.986274755303742542},
                               {high, 1e9, 2.5, 0.99999999897200470277}};
    double worst = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const double *t = table[i], a = t[1], b = t[2];
        const double got = gbs_beta_quantile(t[0], a, b);
        /* The density is good to a few eps times its exponent's terms; the quantile moves by
         * that times the distribution's width. */
        const double width = sqrt(a * b / (a + b + 1)) / (a + b);
        const double bound = 64 * DBL_EPSILON * (width + t[3]);
        check_close("beta quantile", t[3], got, bound);
        worst = fmax(worst, fabs(got - t[3]) / bound);
    }
    printf("beta quantile: worst error %.2g of its bound\n", worst);
}

/* Autocovariance sums over half-chains as defined, with a mean of the half. */
static double plain_lag(const double *y, int64_t n, int64_t halves, int64_t t)
{
    double sum = 0;
    for (int64_t h = 0; h < halves; h++) {
        const double *half = y + h * n;
        double mean = 0;
        for (int64_t i = 0; i < n; i++)
            mean += half[i] / (double)n;
        for (int64_t i = 0; i + t < n; i++)
            sum += (half[i] - mean) * (half[i + t] - mean);
    }
    return sum / (double)(n * halves);
}

/* Split halves of [chains, draws], middle draws dropped. */
static double *halves_of(const double *x, int64_t chains, int64_t draws)
{
    const int64_t n = draws / 2;
    double *const y = malloc((size_t)(2 * chains * n) * sizeof *y);
    assert_non_null(y);
    for (int64_t c = 0; c < chains; c++) {
        memcpy(y + 2 * c * n, x + c * draws, (size_t)n * sizeof *y);
        memcpy(y + (2 * c + 1) * n, x + (c + 1) * draws - n, (size_t)n * sizeof *y);
    }
    return y;
}

/* The ESS of posterior's .ess, lag by lag from the definition. */
static double plain_ess(const double *y, int64_t n, int64_t halves)
{
    double mean_of_means = 0, between = 0;
    double *const mean = calloc((size_t)halves, sizeof *mean);
    double *const rho = calloc((size_t)n + 1, sizeof *rho);
    assert_true(mean != NULL && rho != NULL);
    for (int64_t h = 0; h < halves; h++) {
        for (int64_t i = 0; i < n; i++)
            mean[h] += y[h * n + i] / (double)n;
        mean_of_means += mean[h] / (double)halves;
    }
    for (int64_t h = 0; h < halves; h++)
        between += pow(mean[h] - mean_of_means, 2) / (double)(halves - 1);
    const double within = plain_lag(y, n, halves, 0) * (double)n / (double)(n - 1);
    const double total = within * (double)(n - 1) / (double)n + between;

    double even = 1, odd = 1 - (within - plain_lag(y, n, halves, 1)) / total, sum = 0;
    int64_t t = 0;
    rho[0] = even;
    rho[1] = odd;
    while (t < n - 5 && even + odd > 0) {
        t += 2;
        even = 1 - (within - plain_lag(y, n, halves, t)) / total;
        odd = 1 - (within - plain_lag(y, n, halves, t + 1)) / total;
        if (even + odd >= 0) {
            rho[t] = even;
            rho[t + 1] = odd;
        }
    }
    const int64_t end = t;
    if (even > 0)
        rho[end] = even;
    for (t = 2; t <= end - 2; t += 2)
        if (rho[t] + rho[t + 1] > rho[t - 2] + rho[t - 1])
            rho[t] = rho[t + 1] = (rho[t - 2] + rho[t - 1]) / 2;
    for (t = 0; t < (end > 0 ? end : 1); t++)
        sum += rho[t];
    const double size = (double)(n * halves);
    const double tau = fmax(2 * sum - 1 + rho[end], 1 / log10(size));
    free(mean);
    free(rho);
    return size / tau;
}

/* Case C89: equal to the direct sum to 1e-10 of the variance; our bound is the transform's,
 * (lengths of 2,000 and more) 11 levels of a few roundings. */
static void test_lags(void **state)
{
    (void)state;
    const int64_t lengths[6] = {999, 1000, 1024, 1025, 12, 4097};
    const double phi[2] = {0.2, 0.99}; /* summed, and transformed */
    double worst = 0;
    for (int k = 0; k < 12; k++) {
        const int64_t draws = lengths[k / 2], n = draws / 2, chains = 3;
        double *const x = ar_chains(draws, chains, phi[k % 2], 7);
        double *const y = halves_of(x, chains, draws);
        const gbs_draws d = draws_of(x, chains, draws);
        void *const w = new_workspace(chains, draws);
        gbs_diag_work work;
        assert_int_equal(gbs_diag_open(&work, &d, w), 1);
        gbs_diag_keep(&work, work.centred, work.y);
        (void)gbs_split_halves(&work, work.y);
        gbs_lags lags = {.work = &work, .y = work.y, .sum = work.lag_sum[0]};
        const double variance = plain_lag(y, n, 2 * chains, 0);
        for (int64_t t = 0; t < n; t += t < 70 ? 1 : 53) {
            const double got = gbs_lag(&lags, t) * work.scale * work.scale;
            const double bound = 64 * DBL_EPSILON * variance;
            check_close("lag", plain_lag(y, n, 2 * chains, t), got, bound);
            worst = fmax(worst, fabs(got - plain_lag(y, n, 2 * chains, t)) / variance);
        }
        free(w);
        free(y);
        free(x);
    }
    printf("autocovariances: worst error %.2g of the variance, bound %.2g\n", worst,
           64 * DBL_EPSILON);
}

static void check_indicator(const double *x, int64_t chains, int64_t draws, int64_t count)
{
    const int64_t n = draws / 2;
    const gbs_draws d = draws_of(x, chains, draws);
    void *const w = new_workspace(chains, draws);
    gbs_diag_work work;
    assert_int_equal(gbs_diag_open(&work, &d, w), 1);
    gbs_diag_sort(&work);
    const double q = work.sorted[count - 1];
    double *const member = malloc((size_t)(chains * draws) * sizeof *member);
    assert_non_null(member);
    for (int64_t i = 0; i < chains * draws; i++)
        member[i] = x[i] <= q;
    double *const y = halves_of(member, chains, draws);
    (void)gbs_indicate(&work, gbs_count_up_to(work.sorted, work.total, q));
    gbs_lags lags = {.work = &work, .y = work.y, .sum = work.lag_sum[0], .of_bits = 1};
    for (int64_t t = 0; t < n; t += t < 150 ? 1 : 37)
        check_close("lag of an indicator", plain_lag(y, n, 2 * chains, t), gbs_lag(&lags, t),
                    64 * DBL_EPSILON * 0.25);
    const double prob = ((double)count - 0.5) / (double)(chains * draws - 1);
    check_relative("ess_quantile", plain_ess(y, n, 2 * chains), gbs_diag_ess_quantile(&d, prob, w),
                   1e-10);
    free(y);
    free(member);
    free(w);
}

/* 1,300 draws make halves of 650, so that lags beyond 512 come from the transform. */
static void test_indicators(void **state)
{
    (void)state;
    double *const x = ar_chains(1300, 2, 0.995, 8);
    check_indicator(x, 2, 1300, 130);
    check_indicator(x, 2, 1300, 2000);
    check_indicator(x, 2, 129, 100);
    check_indicator(x, 2, 128, 30);
    check_indicator(x, 3, 77, 50);
    printf("indicators: counted bits and transforms equal the definition\n");
    free(x);
}

static void test_ess(void **state)
{
    (void)state;
    const double phi[5] = {-0.9, 0, 0.6, 0.95, 0.999};
    const int64_t lengths[4] = {6, 11, 400, 1501};
    double worst = 0;
    for (int k = 0; k < 20; k++) {
        const int64_t draws = lengths[k % 4], chains = 1 + k % 3;
        double *const x = ar_chains(draws, chains, phi[k / 4], 9 + (uint64_t)k);
        double *const y = halves_of(x, chains, draws);
        const gbs_draws d = draws_of(x, chains, draws);
        void *const w = new_workspace(chains, draws);
        const double expected = plain_ess(y, draws / 2, 2 * chains);
        const double got = gbs_diag_ess_mean(&d, w);
        check_relative("ess_mean", expected, got, 1e-10);
        worst = fmax(worst, fabs(got / expected - 1));
        free(w);
        free(y);
        free(x);
    }
    printf("ESS from the definition, 20 sets of chains: worst relative difference %.2g\n", worst);
}

/* Average rank of v among n numbers, by counting. */
static double plain_rank(const double *x, int64_t n, double v)
{
    int64_t below = 0, equal = 0;
    for (int64_t i = 0; i < n; i++) {
        below += x[i] < v;
        equal += x[i] == v;
    }
    return (double)below + (double)(equal + 1) / 2;
}

static void check_scores(const char *what, const gbs_diag_work *work, const double *y)
{
    const int64_t kept = work->kept;
    for (int64_t i = 0; i < kept; i++) {
        const double p = (plain_rank(y, kept, y[i]) - 0.375) / ((double)kept + 0.25);
        /* The table mirrors its lower half, so p is off by one rounding; the quantile's slope is
         * below 4 / min(p, 1 - p). */
        check_close(what, gbs_normal_quantile(p), work->y[i], 8 * DBL_EPSILON / fmin(p, 1 - p));
    }
}

static void test_ranks(void **state)
{
    (void)state;
    const int64_t lengths[3] = {40, 41, 7};
    for (int k = 0; k < 6; k++) {
        const int64_t draws = lengths[k / 2], chains = 3;
        double *const x = ar_chains(draws, chains, 0.3, 20);
        for (int64_t i = 0; k % 2 == 1 && i < draws * chains; i++)
            x[i] = floor(3 * x[i]) / 10; /* ties */
        const gbs_draws d = draws_of(x, chains, draws);
        void *const w = new_workspace(chains, draws);
        gbs_diag_work work;
        assert_int_equal(gbs_diag_open(&work, &d, w), 1);
        gbs_diag_sort(&work);
        gbs_score_table(&work);
        double *const y = halves_of(x, chains, draws);
        gbs_rank_draws(&work);
        check_scores("score", &work, y);

        const double median = gbs_quantile_sorted(work.sorted, work.total, 0.5);
        for (int64_t i = 0; i < work.kept; i++)
            y[i] = fabs(y[i] - median);
        gbs_rank_folded(&work);
        check_scores("folded score", &work, y);
        free(y);
        free(w);
        free(x);
    }
    printf("normal scores and folded scores: as by counting, with ties and odd lengths\n");
}

static gbs_summary summary_with(const gbs_diag_loops *loops, const gbs_draws *d)
{
    gbs_diag_work work;
    void *const w = malloc(gbs_diag_layout(&work, loops, d->chains, d->draws, NULL));
    assert_non_null(w);
    gbs_diag_layout(&work, loops, d->chains, d->draws, w);
    const gbs_summary s = gbs_diag_summarise(&work, d);
    free(w);
    return s;
}

/* Sums in lanes, transforms and counted bits come out alike however wide a register is. */
static void test_loops(void **state)
{
    (void)state;
    const int64_t shapes[5][2] = {{4, 1000}, {3, 137}, {1, 6}, {9, 4097}, {2, 9000}};
    const double phi[4] = {-0.5, 0.2, 0.9, 0.995};
    int count = 0, sets = 0;
    for (; gbs_diag_loops_at(count) != NULL; count++)
        printf("loops: %s\n", gbs_diag_loops_at(count)->name);
    assert_ptr_equal(gbs_diag_loops_here(), gbs_diag_loops_at(0));
    assert_ptr_equal(gbs_diag_loops_at(count - 1), &gbs_diag_loops_narrow);
    for (int k = 0; k < 20; k++, sets++) {
        const int64_t chains = shapes[k / 4][0], draws = shapes[k / 4][1];
        double *const x = ar_chains(draws, chains, phi[k % 4], 60 + (uint64_t)k);
        for (int64_t i = 0; k % 3 == 2 && i < chains * draws; i++)
            x[i] = floor(4 * x[i]); /* ties */
        const gbs_draws d = draws_of(x, chains, draws);
        const gbs_summary narrow = summary_with(&gbs_diag_loops_narrow, &d);
        for (int l = 0; l + 1 < count; l++) {
            const gbs_summary s = summary_with(gbs_diag_loops_at(l), &d);
            assert_true(same_summary(&narrow, &s));
        }
        free(x);
    }
    printf("%d kinds of loops on %d sets of chains: the same bits\n", count, sets);
}

/* Hyndman and Fan's definition 7 by hand. */
static void test_quantile(void **state)
{
    (void)state;
    const double x[5] = {40, 10, 50, 20, 30};
    const gbs_draws d = draws_of(x, 1, 5);
    void *const w = new_workspace(1, 5);
    const double table[6][2] = {{0, 10}, {1, 50}, {0.5, 30}, {0.25, 20}, {0.1, 14}, {0.95, 48}};
    for (int i = 0; i < 6; i++)
        check_relative("quantile", table[i][1], gbs_diag_quantile(&d, table[i][0], w),
                       16 * DBL_EPSILON);
    printf("quantiles of 10 ... 50: 14 at 10 %%, 48 at 95 %%\n");
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sort),          cmocka_unit_test(test_normal_quantile),
        cmocka_unit_test(test_beta_quantile), cmocka_unit_test(test_lags),
        cmocka_unit_test(test_indicators),    cmocka_unit_test(test_ess),
        cmocka_unit_test(test_ranks),         cmocka_unit_test(test_quantile),
        cmocka_unit_test(test_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
