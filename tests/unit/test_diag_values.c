/* Diagnostics against values from the R package posterior, on chains that any program can make. */
#include "unit/diag_fixture.h"

enum { SUPERCHAINS = 4 };

/* Values to 12 digits, so 1e-9 relative leaves room for their last one and for rounding. */
static const double RELATIVE = 1e-9;

typedef struct published {
    const char *name;
    double phi, shift_of_last;
    double rhat_split, rhat, ess_mean, ess_bulk, ess_tail, ess_sd, ess_median, mcse_mean, nested;
    double mcse_sd;
} published;

/* ess_sd, mcse_sd: NAN where no value was published. */
static const published cases[] = {
    {"A", 0.5, 0, 1.00067842881, 1.00076148157, 1454.16067173, 1417.58878344, 2114.42284916,
     2338.72019493337, 2171.6242676, 0.00860142871879, 1.0002596835013, 0.003936034896986805},
    {"B", 0.9, 0, 1.01144530467, 1.01129975979, 235.566649709, 237.86114118, 505.847605426,
     436.794295341780, 392.375623872, 0.0412976197067, 1.0017236948046, 0.022067826158198536},
    {"C", -0.5, 0, 0.999184091446, 1.00086134502, 13479.3370572, 14408.2399653, 3752.07606115, NAN,
     7070.41305217, 0.00283481022667, NAN, NAN},
    {"D", 0.5, 0.5, 1.22168439951, 1.20731866995, 13.4834788401, 14.2189443737, 31.9895700725, NAN,
     23.9655942527, 0.106793885358, 1.0974235472856, NAN},
};

static void check_published(const published *p)
{
    double *const x = lcg_chains(1000, 4, p->phi);
    for (int64_t t = 0; t < 1000; t++)
        x[3000 + t] += p->shift_of_last;
    const gbs_draws d = draws_of(x, 4, 1000);
    void *const w = new_workspace(4, 1000);
    const int32_t superchain[SUPERCHAINS] = {1, 1, 2, 2};

    check_relative("rhat_split", p->rhat_split, gbs_diag_rhat_split(&d, w), RELATIVE);
    check_relative("rhat", p->rhat, gbs_diag_rhat(&d, w), RELATIVE);
    check_relative("ess_mean", p->ess_mean, gbs_diag_ess_mean(&d, w), RELATIVE);
    check_relative("ess_bulk", p->ess_bulk, gbs_diag_ess_bulk(&d, w), RELATIVE);
    check_relative("ess_tail", p->ess_tail, gbs_diag_ess_tail(&d, w), RELATIVE);
    check_relative("ess_median", p->ess_median, gbs_diag_ess_quantile(&d, 0.5, w), RELATIVE);
    check_relative("mcse_mean", p->mcse_mean, gbs_diag_mcse_mean(&d, w), RELATIVE);
    if (!isnan(p->ess_sd))
        check_relative("ess_sd", p->ess_sd, gbs_diag_ess_sd(&d, w), RELATIVE);
    if (!isnan(p->mcse_sd))
        check_relative("mcse_sd", p->mcse_sd, gbs_diag_mcse_sd(&d, w), RELATIVE);
    if (!isnan(p->nested))
        check_relative("nested", p->nested, gbs_diag_rhat_nested(&d, superchain, w), RELATIVE);
    printf("case %s: R-hat, ESS and MCSE within %.0e of posterior's\n", p->name, RELATIVE);
    free(w);
    free(x);
}

static void test_published(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_published(&cases[i]);
    double *const x = lcg_chains(1000, 4, 0.5);
    check_relative("first draw", -0.330981621984392, x[0], 1e-14);
    const gbs_draws d = draws_of(x, 4, 1000);
    void *const w = new_workspace(4, 1000);
    check_relative("mcse_median", 0.00961601328567, gbs_diag_mcse_quantile(&d, 0.5, w), RELATIVE);
    check_relative("ess of the least", 4016.09651483144, gbs_diag_ess_quantile(&d, 0, w), RELATIVE);
    check_relative("ess of the greatest", 4016.09651483144, gbs_diag_ess_quantile(&d, 1, w),
                   RELATIVE);
    check_relative("mcse of the greatest", 0.0136383989210985, gbs_diag_mcse_quantile(&d, 1, w),
                   RELATIVE);
    free(w);
    free(x);
}

static void test_many_short_chains(void **state)
{
    (void)state;
    double *const x = lcg_chains(5, 64, 0.3);
    const gbs_draws d = draws_of(x, 64, 5);
    void *const w = new_workspace(64, 5);
    int32_t superchain[64], mixed[64];
    for (int32_t c = 0; c < 64; c++) {
        superchain[c] = c / 8;
        mixed[c] = c / 8 % 2 == 0 ? -c / 8 : 1000000 + c; /* sizes differ */
    }
    check_relative("nested", 1.0141331253645, gbs_diag_rhat_nested(&d, superchain, w), RELATIVE);
    check_close("unequal superchains", NAN, gbs_diag_rhat_nested(&d, mixed, w), 0);
    printf("64 chains of 5 draws: nested R-hat 1.0141331253645\n");
    free(w);
    free(x);
}

/* What a summary and five functions say of chains with odd lengths, ties, and few draws. */
typedef struct recorded {
    const char *name;
    int64_t draws, chains;
    double phi, levels; /* levels > 0: floor(levels x) */
    double value[15];
} recorded;

/* mean sd mcse_mean mcse_sd q5 median q95 ess_bulk ess_tail rhat, then rhat_basic, ess_mean,
 * ess_mean((x - mean)^2), ess_quantile(0.3), mcse_quantile(0.9), by posterior 1.4.0, R 4.2.2 */
static const recorded records[] = {
    {"odd",
     999,
     3,
     0.5,
     0,
     {-0.00571913948946004, 0.324970854219218, 0.00949086576160669, 0.00436576319272708,
      -0.533813100058055, -0.0160521322345095, 0.535935989332201, 1147.98798882716,
      1758.99864659862, 1.00132635430795, 1.00122733434766, 1172.40365149863, 1845.7285138906,
      1773.39922072288, 0.0116663329267286}},
    {"short",
     7,
     2,
     0.3,
     0,
     {0.0588721790709575, 0.289722455386091, 0.118278697120364, 0.0558750083990459,
      -0.366883530948515, 0.167886910322122, 0.430774263383006, 6, NAN, 1.04339686968029,
      0.873714011777225, 6, 6, 6, NAN}},
    {"antithetic",
     200,
     2,
     -0.95,
     0,
     {-0.022057577192754, 0.84816341082069, 0.0262900181015285, 0.111438100922348,
      -1.44500852364104, 0.00402911494342011, 1.2990921359628, 1040.82399653119, 82.6314830032163,
      1.03130339810244, 0.995303111963143, 1040.82399653119, 23.0725206231128, 246.977778697655,
      0.171361482915405}},
    {"slow",
     2001,
     2,
     0.99,
     0,
     {-0.522767369079674, 1.84661826168212, 0.391739900596971, 0.183054439335244, -3.65347174931469,
      -0.439653697557877, 2.55089771761496, 22.5637890335414, 61.1286935691723, 1.084884113493,
      1.07873371986017, 22.2207459761105, 53.633935327962, 13.4076747244197, 0.400044575372696}},
    {"tied",
     501,
     3,
     0.7,
     8,
     {-0.517631403858949, 3.15672329732862, 0.177952702368523, 0.0840849914075804, -6, -1, 5,
      306.562011929347, 436.095954438028, 1.02180974789367, 1.02123441071453, 314.676170171289,
      553.695798083285, 489.639262170368, 0}},
};

static void check_record(const recorded *r)
{
    double *const x = lcg_chains(r->draws, r->chains, r->phi);
    for (int64_t i = 0; r->levels > 0 && i < r->draws * r->chains; i++)
        x[i] = floor(r->levels * x[i]);
    const gbs_draws d = draws_of(x, r->chains, r->draws);
    void *const w = new_workspace(r->chains, r->draws);
    const gbs_summary s = summary_of(x, r->chains, r->draws);
    const double got[15] = {s.mean,
                            s.sd,
                            s.mcse_mean,
                            s.mcse_sd,
                            s.q5,
                            s.median,
                            s.q95,
                            s.ess_bulk,
                            s.ess_tail,
                            s.rhat,
                            gbs_diag_rhat_split(&d, w),
                            gbs_diag_ess_mean(&d, w),
                            gbs_diag_ess_sd(&d, w),
                            gbs_diag_ess_quantile(&d, 0.3, w),
                            gbs_diag_mcse_quantile(&d, 0.9, w)};
    for (int i = 0; i < 15; i++) {
        char what[64];
        snprintf(what, sizeof what, "%s, value %d", r->name, i);
        check_relative(what, r->value[i], got[i], RELATIVE);
    }
    /* The single functions are the summary's pieces. */
    assert_true(same_double(s.rhat, gbs_diag_rhat(&d, w)));
    assert_true(same_double(s.ess_bulk, gbs_diag_ess_bulk(&d, w)));
    assert_true(same_double(s.ess_tail, gbs_diag_ess_tail(&d, w)));
    assert_true(same_double(s.mcse_mean, gbs_diag_mcse_mean(&d, w)));
    assert_true(same_double(s.mcse_sd, gbs_diag_mcse_sd(&d, w)));
    assert_true(same_double(s.q95, gbs_diag_quantile(&d, 0.95, w)));
    printf("%s: 15 values within %.0e of posterior's\n", r->name, RELATIVE);
    free(w);
    free(x);
}

static void test_recorded(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        check_record(&records[i]);
}

/* Case C68: small enough to check by hand. */
static void test_by_hand(void **state)
{
    (void)state;
    const double x[8] = {1.0, 1.1, 1.4, 1.3, 1, 2, 3, 4};
    const double flat[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    const gbs_draws d = draws_of(x, 2, 4), e = draws_of(flat, 2, 8);
    void *const w = new_workspace(2, 8);
    /* Some twenty operations, and a division by variances that do not cancel. */
    check_relative("rhat_split", 2.3303847470550716, gbs_diag_rhat_split(&d, w), 1e-14);
    check_relative("rhat", 2.639887898167294, gbs_diag_rhat(&d, w), 1e-14);
    check_close("rhat_split of two constants", INFINITY, gbs_diag_rhat_split(&e, w), 0);
    check_close("rhat of two constants", INFINITY, gbs_diag_rhat(&e, w), 0);
    printf("2 x 4 by hand: 2.33038, 2.63989; two constant chains: infinite\n");
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_many_short_chains),
        cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
