/* Diagnostics where other programs went wrong: constant, non-finite and merging chains, numbers far
 * from zero, single chains, strides, threads, and the same bits in every run. */
#include "unit/diag_fixture.h"

#include <pthread.h>

static void check_undefined(const gbs_summary *s)
{
    check_close("rhat", NAN, s->rhat, 0);
    check_close("ess_bulk", NAN, s->ess_bulk, 0);
    check_close("ess_tail", NAN, s->ess_tail, 0);
    check_close("mcse_mean", NAN, s->mcse_mean, 0);
    check_close("mcse_sd", NAN, s->mcse_sd, 0);
}

/* Case C64. */
static void test_all_equal(void **state)
{
    (void)state;
    double *const x = ar_chains(1000, 4, 0, 64), *const flat = malloc(4000 * sizeof *flat);
    assert_non_null(flat);
    const double levels[3] = {3.0, 0.0, 0.1};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 4000; i++)
            flat[i] = levels[k];
        const gbs_summary s = k == 1 ? summary_of(flat, 1, 2000) : summary_of(flat, 4, 1000);
        check_undefined(&s);
        check_close("mean", levels[k], s.mean, 0);
        check_close("sd", 0, s.sd, 0);
        check_close("q95", levels[k], s.q95, 0);
        assert_int_equal(s.notes, GBS_NOTE_CONSTANT);
    }
    const gbs_summary plain = summary_of(x, 4, 1000);
    for (int i = 0; i < 4000; i++)
        flat[i] = 1e-30 * x[i];
    const gbs_summary tiny = summary_of(flat, 4, 1000);
    check_relative("ess_bulk of 1e-30 z", plain.ess_bulk, tiny.ess_bulk, 1e-12);
    check_relative("ess_tail of 1e-30 z", plain.ess_tail, tiny.ess_tail, 1e-12);
    assert_int_equal(tiny.notes, 0);
    printf("constants: NaN and a reason; 1e-30 z: ESS %.1f as of z\n", tiny.ess_bulk);
    free(flat);
    free(x);
}

static void test_constant_chains(void **state)
{
    (void)state;
    double *const x = ar_chains(1000, 4, 0, 65);
    for (int i = 0; i < 1000; i++)
        x[2000 + i] = 0.25;
    const gbs_summary one = summary_of(x, 4, 1000);
    assert_int_equal(one.notes, GBS_NOTE_CHAIN_CONSTANT);
    assert_int_equal(one.constant_chain, 2);
    assert_true(isfinite(one.rhat) && isfinite(one.ess_bulk) && isfinite(one.ess_tail));

    for (int i = 0; i < 4000; i++)
        x[i] = i / 1000 == 3 ? 1 : 0;
    const gbs_summary all = summary_of(x, 4, 1000);
    check_close("rhat", INFINITY, all.rhat, 0);
    check_close("ess_bulk", NAN, all.ess_bulk, 0);
    check_close("ess_tail", NAN, all.ess_tail, 0);
    check_close("mean", 0.25, all.mean, 0);
    assert_int_equal(all.notes, GBS_NOTE_CHAINS_CONSTANT);
    printf("one constant chain: named, R-hat %.3f; all constant: R-hat infinite\n", one.rhat);
    free(x);
}

/* Case C66: one chain is halved, not refused. */
static void test_single_chain(void **state)
{
    (void)state;
    double worst = 0, sum = 0;
    for (uint64_t v = 0; v < 50; v++) {
        double *const x = ar_chains(2000, 1, 0, 1000 + v);
        const gbs_summary s = summary_of(x, 1, 2000);
        assert_int_equal(s.notes & ~(uint32_t)GBS_NOTE_ESS_CAPPED, 0);
        worst = fmax(worst, s.rhat);
        sum += s.ess_bulk / 50;
        free(x);
    }
    /* Two halves of 1,000 independent draws: 1000 (R-hat^2 - 1) + 1 is a chi-square of one degree,
     * for the bulk and for the fold; 100 of them stay below 16 with probability 0.994.  One ESS
     * varies by 6 %, the mean of 50 by 1 %, and the definition lies some 2 % low. */
    check_close("largest R-hat", 1, worst, sqrt(1 + 15 / 1000.0) - 1);
    check_close("mean ESS", 2000, sum, 0.06 * 2000);
    printf("50 single chains of 2,000: mean ESS %.0f, largest R-hat %.4f\n", sum, worst);
}

static double mean_ess(int64_t chains, int64_t draws, double phi, uint64_t seed)
{
    double sum = 0;
    for (uint64_t v = 0; v < 20; v++) {
        double *const x = ar_chains(draws, chains, phi, seed + v);
        sum += summary_of(x, chains, draws).ess_bulk / 20;
        free(x);
    }
    return sum;
}

/* Case C70.  One ESS spreads by 9 %, 5 % and 12 % in these three (over 400 sets), the mean of 20 by
 * that / sqrt(20); bounds are four of those, and 4 %, 2 % and 0 for the definition's bias. */
static void test_independent(void **state)
{
    (void)state;
    const double one = mean_ess(1, 1000, 0, 7000), four = mean_ess(4, 1000, 0, 7100);
    const double slow = mean_ess(4, 2000, 0.9, 7200), right = 8000 * 0.1 / 1.9;
    check_close("ESS of 1 x 1,000", 1000, one, 0.12 * 1000);
    check_close("ESS of 4 x 1,000", 4000, four, 0.065 * 4000);
    check_close("ESS of AR(1) 0.9", right, slow, 0.11 * right);

    double *const x = ar_chains(1000, 4, 0, 70);
    for (int i = 0; i < 1000; i++)
        x[3000 + i] += 5;
    const gbs_summary apart = summary_of(x, 4, 1000);
    check_close("R-hat of means 0, 0, 0, 5", 1.53, apart.rhat, 0.02);
    check_close("ESS of means 0, 0, 0, 5", 7.2, apart.ess_bulk, 0.5);
    printf(
        "mean ESS %.0f of 1,000, %.0f of 4,000, %.0f of %.0f; means apart: R-hat %.3f, ESS %.2f\n",
        one, four, slow, right, apart.rhat, apart.ess_bulk);
    free(x);
}

/* Case C71. */
static void test_not_finite(void **state)
{
    (void)state;
    double *const x = ar_chains(1000, 4, 0, 72);
    const double bad[2] = {NAN, INFINITY};
    for (int k = 0; k < 2; k++) {
        x[1005] = bad[k];
        const gbs_summary s = summary_of(x, 4, 1000);
        check_undefined(&s);
        check_close("mean", NAN, s.mean, 0);
        check_close("sd", NAN, s.sd, 0);
        check_close("median", NAN, s.median, 0);
        assert_int_equal(s.not_finite, 1);
        assert_int_equal(s.notes, GBS_NOTE_NOT_FINITE);
        assert_int_equal(s.not_finite_chain, 1);
    }
    x[3999] = -INFINITY;
    assert_int_equal(summary_of(x, 4, 1000).not_finite, 2);
    const gbs_draws d = draws_of(x, 4, 1000);
    void *const w = new_workspace(4, 1000);
    check_close("quantile", NAN, gbs_diag_quantile(&d, 0.5, w), 0);
    check_close("rhat", NAN, gbs_diag_rhat(&d, w), 0);
    check_close("ess_quantile", NAN, gbs_diag_ess_quantile(&d, 0.5, w), 0);
    printf("NaN and infinite draws: counted, everything NaN\n");
    free(w);
    free(x);
}

static void check_same_shape(const char *what, const double *x, const double *plain, double scale)
{
    const gbs_draws d = draws_of(x, 4, 1000), p = draws_of(plain, 4, 1000);
    void *const w = new_workspace(4, 1000);
    const gbs_summary s = summary_of(x, 4, 1000), t = summary_of(plain, 4, 1000);
    const double relative = 1e-12; /* sums of 4,000 terms: 4000 * 2^-53 at worst */
    check_relative(what, t.sd * scale, s.sd, relative);
    check_relative(what, t.mcse_mean * scale, s.mcse_mean, relative);
    check_relative(what, t.mcse_sd * scale, s.mcse_sd, relative);
    check_relative(what, t.ess_bulk, s.ess_bulk, relative);
    check_relative(what, t.ess_tail, s.ess_tail, relative);
    check_relative(what, t.rhat, s.rhat, relative);
    check_relative(what, gbs_diag_ess_sd(&p, w), gbs_diag_ess_sd(&d, w), relative);
    check_relative(what, gbs_diag_rhat_split(&p, w), gbs_diag_rhat_split(&d, w), relative);
    printf("%s: as the plain draws to %.0e, sd %.9g\n", what, relative, s.sd);
    free(w);
}

/* Case C71, cancellation: far from zero, very small, very large. */
static void test_scales(void **state)
{
    (void)state;
    double *const x = ar_chains(1000, 4, 0.4, 73), *const plain = malloc(4000 * sizeof *plain);
    assert_non_null(plain);
    for (int i = 0; i < 4000; i++) {
        x[i] = 1e8 + 1e-3 * x[i];
        plain[i] = x[i] - 1e8; /* exact */
    }
    check_same_shape("1e8 + 1e-3 z", x, plain, 1);
    const int powers[4] = {-26, -1000, 1000, 1030};
    for (int k = 0; k < 4; k++) {
        char what[32];
        snprintf(what, sizeof what, "2^%d z", powers[k]);
        for (int i = 0; i < 4000; i++)
            x[i] = ldexp(plain[i], powers[k]);
        check_same_shape(what, x, plain, ldexp(1, powers[k]));
    }
    free(plain);
    free(x);
}

/* Case C56. */
static void test_identical_chains(void **state)
{
    (void)state;
    double *const x = ar_chains(1000, 4, 0.5, 56);
    assert_int_equal(summary_of(x, 4, 1000).notes, 0);
    memcpy(x + 3600, x + 1600, 400 * sizeof *x);
    gbs_summary s = summary_of(x, 4, 1000);
    assert_int_equal(s.notes, GBS_NOTE_CHAINS_IDENTICAL);
    assert_int_equal(s.identical_chain, 3);
    for (int c = 1; c < 4; c++)
        memcpy(x + 1000 * c, x, 1000 * sizeof *x);
    s = summary_of(x, 4, 1000);
    assert_int_equal(s.notes & GBS_NOTE_CHAINS_IDENTICAL, GBS_NOTE_CHAINS_IDENTICAL);
    assert_int_equal(s.identical_chain, 1);
    x[3999] += 1e-9;
    assert_int_equal(summary_of(x, 4, 1000).identical_chain, 1);
    assert_int_equal(summary_of(x + 2000, 2, 1000).notes & GBS_NOTE_CHAINS_IDENTICAL, 0);

    /* Coins that end alike prove nothing: 5 flips in 64 chains agree all the time. */
    uint64_t seed = 57;
    int alarms = 0;
    for (int v = 0; v < 500; v++) {
        for (int i = 0; i < 4000; i++)
            x[i] = next_uniform(&seed) < 0.5 ? 1 : 0;
        alarms += (summary_of(x, 64, 5).notes & GBS_NOTE_CHAINS_IDENTICAL) != 0;
        alarms += (summary_of(x, 4, 1000).notes & GBS_NOTE_CHAINS_IDENTICAL) != 0;
    }
    assert_int_equal(alarms, 0);
    memcpy(x + 1000, x, 1000 * sizeof *x);
    s = summary_of(x, 4, 1000);
    assert_int_equal(s.notes & GBS_NOTE_CHAINS_IDENTICAL, GBS_NOTE_CHAINS_IDENTICAL);
    printf("merged and copied chains named; no false alarm in 1,000 sets of coins\n");
    free(x);
}

/* A chain that stops half-way, or eight draws from its end; and what only looks so: a sampler that
 * rejects most steps, a rare event, a chain that never moved (which has its own note). */
static void test_stuck(void **state)
{
    (void)state;
    double *const x = ar_chains(1000, 4, 0.5, 58), *const kept = ar_chains(1000, 4, 0.5, 58);
    for (int i = 2500; i < 3000; i++)
        x[i] = x[2499];
    gbs_summary s = summary_of(x, 4, 1000);
    assert_int_equal(s.notes, GBS_NOTE_CHAIN_STUCK);
    assert_int_equal(s.stuck_chain, 2);
    assert_true(s.rhat > 1.01);
    for (int last = 6; last <= 7; last++) { /* draws equal to the one before them */
        memcpy(x, kept, 4000 * sizeof *x);
        for (int i = 1000 - last; i < 1000; i++)
            x[i] = x[999 - last];
        s = summary_of(x, 4, 1000);
        assert_int_equal(s.notes, last == 7 ? GBS_NOTE_CHAIN_STUCK : 0);
        assert_int_equal(s.stuck_chain, last == 7 ? 0 : -1);
    }
    /* each note names its own chain */
    memcpy(x, kept, 4000 * sizeof *x);
    memcpy(x + 3000, x, 1000 * sizeof *x);
    for (int i = 1500; i < 2000; i++)
        x[i] = x[1499];
    for (int i = 2000; i < 3000; i++)
        x[i] = 3;
    s = summary_of(x, 4, 1000);
    assert_int_equal(s.notes,
                     GBS_NOTE_CHAIN_STUCK | GBS_NOTE_CHAINS_IDENTICAL | GBS_NOTE_CHAIN_CONSTANT);
    assert_int_equal(s.stuck_chain, 1);
    assert_int_equal(s.constant_chain, 2);
    assert_int_equal(s.identical_chain, 3);
    assert_int_equal(s.not_finite_chain, -1);
    memcpy(x, kept, 4000 * sizeof *x);
    for (int i = 0; i < 1000; i++)
        x[i] = 3;
    assert_int_equal(summary_of(x, 4, 1000).notes, GBS_NOTE_CHAIN_CONSTANT);

    uint64_t seed = 59;
    int alarms = 0;
    for (int v = 0; v < 500; v++) {
        for (int i = 0; i < 4000; i++)
            x[i] = i % 1000 > 0 && next_uniform(&seed) < 0.97 ? x[i - 1] : next_normal(&seed);
        alarms += (summary_of(x, 4, 1000).notes & GBS_NOTE_CHAIN_STUCK) != 0;
        for (int i = 0; i < 4000; i++)
            x[i] = next_uniform(&seed) < 0.01;
        alarms += (summary_of(x, 4, 1000).notes & GBS_NOTE_CHAIN_STUCK) != 0;
    }
    assert_int_equal(alarms, 0); /* by chance one in 2^32 / 8,000 at most */
    printf("chains that stop are named; no false alarm in 1,000 sets that repeat draws\n");
    free(kept);
    free(x);
}

static void test_short_and_tied(void **state)
{
    (void)state;
    double *const x = ar_chains(1000, 4, 0, 16);
    for (int64_t n = 1; n <= 6; n++) {
        const gbs_summary s = summary_of(x, 4, n);
        assert_int_equal(isnan(s.rhat), n < 4);
        assert_int_equal(isnan(s.ess_bulk), n < 6);
        assert_int_equal(s.notes & GBS_NOTE_TOO_SHORT, n < 6 ? GBS_NOTE_TOO_SHORT : 0);
        assert_true(isfinite(s.mean) && isfinite(s.sd) && isfinite(s.median));
    }
    check_close("sd of one draw", NAN, summary_of(x, 1, 1).sd, 0);

    for (int i = 0; i < 4000; i++)
        x[i] = x[i] > 0.5 ? 1 : 0; /* the 95 % quantile is 1: all draws are <= 1 */
    gbs_summary s = summary_of(x, 4, 1000);
    check_close("ess_tail", NAN, s.ess_tail, 0);
    assert_true(isfinite(s.ess_bulk) && isfinite(s.rhat) && isfinite(s.mcse_sd));
    assert_int_equal(s.notes, GBS_NOTE_TIED);
    for (int i = 0; i < 4000; i++)
        x[i] = i % 2 == (i / 7) % 2 ? 0.1 : 0.3;
    s = summary_of(x, 4, 1000); /* squared deviations agree but for rounding */
    assert_int_equal(s.notes & GBS_NOTE_TIED, GBS_NOTE_TIED);

    double *const swing = lcg_chains(1000, 4, -0.5);
    assert_int_equal(summary_of(swing, 4, 1000).notes, GBS_NOTE_ESS_CAPPED);
    printf("fewer than 4 draws: no R-hat; fewer than 6: no ESS; ties and the cap are noted\n");
    free(swing);
    free(x);
}

/* Case C89: nothing that was not written is read, so what the workspace held does not matter. */
static void test_same_bits(void **state)
{
    (void)state;
    const int64_t lengths[4] = {999, 1000, 1024, 1025};
    for (int k = 0; k < 4; k++) {
        const int64_t n = lengths[k];
        double *const x = ar_chains(n, 4, 0.95, 89);
        const gbs_summary first = summary_of(x, 4, n);
        const gbs_draws d = draws_of(x, 4, n);
        const size_t bytes = gbs_diag_workspace(4, n);
        void *const w = new_workspace(4, n);
        for (int run = 0; run < 100; run++) {
            gbs_summary s;
            memset(w, run * 37 & 0xff, bytes);
            assert_int_equal(gbs_diag_summary(&d, w, &s), GBS_OK);
            assert_true(same_summary(&first, &s));
        }
        free(w);
        free(x);
    }
    printf("lengths 999, 1000, 1024, 1025: 100 runs each, the same bits\n");
}

/* [chain, draw, site] as a sampler writes it, and a buffer that ends where the draws do. */
static void test_strides(void **state)
{
    (void)state;
    double *const x = ar_chains(250, 4, 0.7, 90);
    const int64_t sites = 3;
    double *const all = malloc(1000 * 3 * sizeof *all);
    assert_non_null(all);
    for (int64_t i = 0; i < 1000 * sites; i++)
        all[i] = i % sites == 1 ? x[i / sites] : -1;
    const gbs_draws strided = {all + 1, 4, 250, 250 * sites, sites};
    const gbs_draws backward = {x + 999, 4, 250, -250, -1};
    void *const w = new_workspace(4, 250);
    const gbs_summary plain = summary_of(x, 4, 250);
    gbs_summary s;
    assert_int_equal(gbs_diag_summary(&strided, w, &s), GBS_OK);
    assert_true(same_summary(&plain, &s));
    assert_int_equal(gbs_diag_summary(&backward, w, &s), GBS_OK);
    check_relative("time and chains reversed", plain.ess_tail, s.ess_tail, 1e-12);
    printf("strided and reversed draws: as contiguous ones\n");
    free(w);
    free(all);
    free(x);
}

static void test_refused(void **state)
{
    (void)state;
    const double x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    void *const w = new_workspace(2, 4);
    gbs_summary s, untouched;
    memset(&s, 0x5a, sizeof s);
    memcpy(&untouched, &s, sizeof s);
    const gbs_draws good = draws_of(x, 2, 4), null = draws_of(NULL, 2, 4);
    const gbs_draws none = draws_of(x, 0, 4), empty = draws_of(x, 2, 0);
    const gbs_draws *const bad[4] = {NULL, &null, &none, &empty};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(gbs_diag_summary(bad[i], w, &s), GBS_ERROR_ARGUMENT);
        check_close("rhat", NAN, gbs_diag_rhat(bad[i], w), 0);
        check_close("quantile", NAN, gbs_diag_quantile(bad[i], 0.5, w), 0);
    }
    assert_int_equal(gbs_diag_summary(&good, NULL, &s), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_diag_summary(&good, w, NULL), GBS_ERROR_ARGUMENT);
    assert_memory_equal(&s, &untouched, sizeof s);
    check_close("prob 1.5", NAN, gbs_diag_quantile(&good, 1.5, w), 0);
    check_close("prob NaN", NAN, gbs_diag_ess_quantile(&good, NAN, w), 0);
    check_close("no superchains", NAN, gbs_diag_rhat_nested(&good, NULL, w), 0);
    assert_int_equal(gbs_diag_workspace(0, 4), 0);
    assert_int_equal(gbs_diag_workspace(4, -1), 0);
    assert_int_equal(gbs_diag_workspace(INT64_MAX, INT64_MAX), 0);
    assert_int_equal(gbs_diag_workspace(1, ((int64_t)1 << 29) + 1), 0);
    assert_int_equal(gbs_diag_workspace((int64_t)1 << 20, (int64_t)1 << 12), 0);
    printf("NULL, counts below 1 and beyond the range: refused, output untouched\n");
    free(w);
}

/* Every single function where the summary has NaN. */
static void check_all_undefined(const char *what, const double *x, int64_t chains, int64_t n)
{
    const gbs_draws d = draws_of(x, chains, n);
    void *const w = new_workspace(chains, n);
    const int32_t superchain[4] = {0, 0, 1, 1};
    const double got[11] = {gbs_diag_rhat(&d, w),
                            gbs_diag_rhat_split(&d, w),
                            gbs_diag_ess_mean(&d, w),
                            gbs_diag_ess_sd(&d, w),
                            gbs_diag_ess_bulk(&d, w),
                            gbs_diag_ess_tail(&d, w),
                            gbs_diag_ess_quantile(&d, 0.5, w),
                            gbs_diag_mcse_mean(&d, w),
                            gbs_diag_mcse_sd(&d, w),
                            gbs_diag_mcse_quantile(&d, 0.5, w),
                            gbs_diag_rhat_nested(&d, superchain, w)};
    for (int i = 0; i < 11; i++)
        check_close(what, NAN, got[i], 0);
    free(w);
}

static void test_single_functions(void **state)
{
    (void)state;
    double x[80] = {0};
    check_all_undefined("all equal", x, 4, 20);
    x[33] = NAN;
    check_all_undefined("one NaN", x, 4, 20);

    /* Each chain constant: R-hat is infinite, nested too unless superchains agree. */
    for (int i = 0; i < 80; i++)
        x[i] = i / 40;
    const gbs_draws d = draws_of(x, 4, 20);
    void *const w = new_workspace(4, 20);
    const int32_t apart[4] = {7, 7, -7, -7}, alike[4] = {1, 2, 1, 2}, one[4] = {1, 1, 1, 1};
    check_close("nested, groups apart", INFINITY, gbs_diag_rhat_nested(&d, apart, w), 0);
    check_close("nested, groups alike", 1, gbs_diag_rhat_nested(&d, alike, w), 0);
    check_close("nested, one group", NAN, gbs_diag_rhat_nested(&d, one, w), 0);
    check_close("ess_bulk", NAN, gbs_diag_ess_bulk(&d, w), 0);
    check_close("mcse_mean", NAN, gbs_diag_mcse_mean(&d, w), 0);

    /* Seven draws of one value and one of another: no draw is above the 90 % quantile. */
    for (int i = 0; i < 80; i++)
        x[i] = i % 8 == 0 ? 0 : 1;
    check_close("mcse_quantile", NAN, gbs_diag_mcse_quantile(&d, 0.9, w), 0);
    printf("single functions: NaN where the summary has it; nested R-hat of constant chains\n");
    free(w);
}

typedef struct job {
    gbs_draws draws;
    gbs_summary last;
    int same;
} job;

static void *summarise(void *user)
{
    job *const j = user;
    void *const w = new_workspace(j->draws.chains, j->draws.draws);
    gbs_summary s;
    (void)gbs_diag_summary(&j->draws, w, &j->last);
    j->same = 1;
    for (int run = 0; run < 20; run++) {
        (void)gbs_diag_summary(&j->draws, w, &s);
        j->same = j->same && same_summary(&j->last, &s);
    }
    free(w);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    double *const x = ar_chains(1001, 4, 0.98, 91);
    const gbs_summary alone = summary_of(x, 4, 1001);
    pthread_t thread[4];
    job jobs[4];
    for (int i = 0; i < 4; i++) {
        jobs[i].draws = draws_of(x, 4, 1001);
        assert_int_equal(pthread_create(&thread[i], NULL, summarise, &jobs[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], NULL);
        assert_true(jobs[i].same && same_summary(&alone, &jobs[i].last));
    }
    printf("four threads, a workspace each: the bits of one\n");
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_equal),        cmocka_unit_test(test_constant_chains),
        cmocka_unit_test(test_single_chain),     cmocka_unit_test(test_independent),
        cmocka_unit_test(test_not_finite),       cmocka_unit_test(test_scales),
        cmocka_unit_test(test_identical_chains), cmocka_unit_test(test_short_and_tied),
        cmocka_unit_test(test_same_bits),        cmocka_unit_test(test_strides),
        cmocka_unit_test(test_refused),          cmocka_unit_test(test_threads),
        cmocka_unit_test(test_single_functions), cmocka_unit_test(test_stuck),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
