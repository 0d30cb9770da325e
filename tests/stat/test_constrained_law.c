/* The law that whitened sweeps and sweeps under row constraints leave invariant: moments of
 * truncated normals by quadrature with 40 digits and more (golden section 2; C14 to C23 of programs
 * in use), by boxes and by the same boxes as rows. */
#include "stat/constrained_law.h"

/* ---- values ---- */

enum { MOST_SITES = 1000, MOST_MOMENTS = 10 };

/* E x_i with j < 0, else the covariance of x_i and x_j. */
typedef struct moment {
    int64_t i, j;
    double value;
} moment;

/* Behind the last all is 0. */
static int is_moment(const moment *m)
{
    return m->i != 0 || m->j != 0 || m->value != 0;
}

typedef struct value_case {
    const char *what;
    int64_t dim;
    gbs_matrix kind;
    double *matrix, *mean; /* mean NULL: zeros */
    double lower, upper;   /* the same for every site */
    int64_t rows;          /* beside the box */
    double a[12], row_lower[3], row_upper[3];
    double start;
    const double *starts; /* by site, instead */
    int double_alone;
    int slow; /* site by site: left out */
    moment moments[MOST_MOMENTS];
} value_case;

typedef struct value_run {
    runner base;
    const value_case *c;
} value_run;

static double mean_at(const value_case *c, int64_t site)
{
    for (int k = 0; k < MOST_MOMENTS; ++k)
        if (c->moments[k].j < 0 && c->moments[k].i == site)
            return c->moments[k].value;
    fail_msg("%s: no mean of site %lld", c->what, (long long)site);
    return 0;
}

static double state_at(const runner *run, const void *x, int64_t chain, int64_t site)
{
    const int64_t at = chain * run->dim + site;
    return run->type == GBS_F32 ? (double)((const float *)x)[at] : ((const double *)x)[at];
}

static void measure_moments(runner *run, const void *x, double *out)
{
    const value_case *const c = ((const value_run *)(const void *)run)->c;
    for (int64_t chain = 0; chain < run->chains; ++chain)
        for (int64_t f = 0; f < run->functions; ++f) {
            const moment *const m = &c->moments[f];
            double value = state_at(run, x, chain, m->i);
            if (m->j >= 0)
                value =
                    (value - mean_at(c, m->i)) * (state_at(run, x, chain, m->j) - mean_at(c, m->j));
            out[chain * run->functions + f] = value;
        }
}

/* The case's box as rows of its own, beside its rows: the same law by another way. */
static gbs_constraints rows_of(const value_case *c, int box_too, double *room)
{
    const int64_t n = c->dim, own = c->rows, rows = own + (box_too ? n : 0);
    double *const a = room, *const lower = a + rows * n, *const upper = lower + rows;
    memset(a, 0, (size_t)(rows * n) * sizeof *a);
    memcpy(a, c->a, (size_t)(own * n) * sizeof *a);
    memcpy(lower, c->row_lower, (size_t)own * sizeof *lower);
    memcpy(upper, c->row_upper, (size_t)own * sizeof *upper);
    for (int64_t i = 0; own + i < rows; ++i) {
        a[(own + i) * n + i] = 1;
        lower[own + i] = c->lower;
        upper[own + i] = c->upper;
    }
    return (gbs_constraints){.rows = rows, .matrix = a, .lower = lower, .upper = upper};
}

static double *copy_of(const double *from, int64_t count)
{
    double *const to = naive_new(count);
    memcpy(to, from, (size_t)count * sizeof *to);
    return to;
}

static void run_values(gbs_context *ctx, const value_case *c, gbs_method method, int box_as_rows,
                       verdict *v)
{
    const int64_t n = c->dim;
    double *const lower = constant(n, c->lower), *const upper = constant(n, c->upper),
                  *const start = c->starts != NULL ? copy_of(c->starts, n) : constant(n, c->start),
                  *const room = naive_new((c->rows + n) * (n + 2));
    gbs_model_spec spec = spec_of(c->matrix, n);
    spec.matrix_kind = c->kind;
    spec.location_kind = c->mean == NULL ? GBS_LOCATION_ZERO : GBS_LOCATION_MEAN;
    spec.location = c->mean;
    spec.lower = box_as_rows ? NULL : lower;
    spec.upper = box_as_rows ? NULL : upper;
    spec.constraints = rows_of(c, box_as_rows, room);
    gbs_model *const model = new_model(ctx, &spec);
    for (int type = c->double_alone; type < 2; ++type) {
        value_run run = {{.ctx = ctx,
                          .model = model,
                          .type = (gbs_type)type,
                          .chains = many_chains() / (n < 200 ? 1 : 8),
                          .dim = n,
                          .measure = measure_moments},
                         c};
        while (run.base.functions < MOST_MOMENTS && is_moment(&c->moments[run.base.functions]))
            run.base.functions++;
        run_chains(&run.base, method, start, n < 200 ? 500 : 100, n < 200 ? 500 : 100);
        for (int64_t f = 0; f < run.base.functions; ++f)
            score(&run.base, f, c->moments[f].value, v);
        end_run(&run.base);
    }
    gbs_model_release(model);
    free(lower);
    free(upper);
    free(start);
    free(room);
}

static double *autoregression(int64_t n, double phi)
{
    return tridiagonal(n, 1, 1 + phi * phi, 1, -phi);
}

/* Whitened, and where the model has rows or they stand for its box, site by site too. */
static void check_case(gbs_context *ctx, value_case c)
{
    verdict v = verdict_start(c.what);
    run_values(ctx, &c, GBS_METHOD_WHITENED, 0, &v);
    if (c.dim < 64) {
        run_values(ctx, &c, GBS_METHOD_WHITENED, 1, &v);
        if (!c.slow)
            run_values(ctx, &c, GBS_METHOD_GIBBS, 1, &v);
    }
    if (c.rows > 0)
        run_values(ctx, &c, GBS_METHOD_GIBBS, 0, &v);
    verdict_end(&v);
    free(c.matrix);
    free(c.mean);
}

static void test_boxes(void **state)
{
    static const double manjunath[9] = {1, .6, .3, .6, 1, .2, .3, .2, 2}, halves[3] = {.5, .5, .5};
    static const double reordered[4] = {0.1, -0.19, -0.19, 0.4},
                        swapped[4] = {0.4, -0.19, -0.19, 0.1};
    check_case(*state, (value_case){"Manjunath and Wilhelm", 3, GBS_MATRIX_COVARIANCE,
                                    copy_of(manjunath, 9), copy_of(halves, 3), -inf, 1,
                                    .moments = {{0, -1, -.152414542},
                                                {1, -1, -.126129680},
                                                {2, -1, -.404914674},
                                                {0, 0, .522424919},
                                                {0, 1, .220486591},
                                                {0, 2, .077433052},
                                                {1, 1, .515885112},
                                                {1, 2, .039505744},
                                                {2, 2, .946339061}}});
    check_case(*state, (value_case){"equicorrelated .8, [-4, -1]^4", 4, GBS_MATRIX_COVARIANCE,
                                    equicorrelated(4, .8), NULL, -4, -1, .start = -2,
                                    .moments = {{0, -1, -1.776817226921},
                                                {3, -1, -1.776817226921},
                                                {0, 0, .256941605351},
                                                {0, 3, .111510562148}}});
    check_case(*state,
               (value_case){"C17", 2, GBS_MATRIX_COVARIANCE, copy_of(reordered, 4), NULL, 0, 1,
                            .start = .1, .moments = {{0, -1, .062403}, {1, -1, .124805}}});
    check_case(*state,
               (value_case){"C17 swapped", 2, GBS_MATRIX_COVARIANCE, copy_of(swapped, 4), NULL, 0,
                            1, .start = .1, .moments = {{0, -1, .124805}, {1, -1, .062403}}});
}

static void test_orthants(void **state)
{
    static const struct {
        int64_t n;
        double mean, variance, covariance;
    } known[] = {{2, .897620130903, .401026436380, .107774772164},
                 {3, .970504408850, .425673789350, .109450087824},
                 {10, 1.233957892590, .494863177061, .107920427921},
                 {50, 1.627700752675, .547538419736, .092374096471},
                 {100, 1.793406439643, .556084463243, .084088413960},
                 {1000, 2.294536391874, .556020858206, .060846602061}};
    for (int k = 0; k < (quick() ? 4 : COUNT(known)); ++k)
        check_case(*state,
                   (value_case){"equicorrelated .5 orthant", known[k].n, GBS_MATRIX_COVARIANCE,
                                equicorrelated(known[k].n, .5), NULL, 0, inf, .start = 1,
                                .moments = {{0, -1, known[k].mean},
                                            {known[k].n - 1, -1, known[k].mean},
                                            {0, 0, known[k].variance},
                                            {0, known[k].n - 1, known[k].covariance}}});
}

static void test_chains(void **state)
{
    static const struct {
        double phi, first, middle, var_first, var_middle, beside;
    } known[] = {{.5, 1.0820757710, 1.2593602345, .5663161176, .6393301126, .1956596908},
                 {.9, 2.5200161944, 3.1777539417, 2.3458266263, 2.5189538143, 2.0341251826},
                 {.99, 7.8716460812, 8.4949412296, 19.4936557333, 17.0745689746, 16.5804800730}};
    for (int k = 0; k < COUNT(known); ++k)
        check_case(*state, (value_case){"AR(1) that stays positive", 50, GBS_MATRIX_PRECISION,
                                        autoregression(50, known[k].phi), NULL, 0, inf, .start = 2,
                                        .slow = known[k].phi > .95,
                                        .moments = {{0, -1, known[k].first},
                                                    {24, -1, known[k].middle},
                                                    {25, -1, known[k].middle},
                                                    {0, 0, known[k].var_first},
                                                    {24, 24, known[k].var_middle},
                                                    {24, 25, known[k].beside}}});
    check_case(*state, (value_case){"RW1 + .005 I, x >= 0", 64, GBS_MATRIX_PRECISION,
                                    random_walk(64, .005), NULL, 0, inf, .start = 3,
                                    .moments = {{0, -1, 4.2229274974},
                                                {31, -1, 3.8086831093},
                                                {32, -1, 3.8086831093},
                                                {0, 0, 6.0117879089},
                                                {31, 31, 3.3924263653},
                                                {31, 32, 2.9364193752}}});
    check_case(*state, (value_case){"RW1 + .05 I, x >= 0", 8, GBS_MATRIX_PRECISION,
                                    random_walk(8, .05), NULL, 0, inf, .start = 2,
                                    .moments = {{3, -1, 2.07236950},
                                                {3, 3, 5.56942846 - 2.07236950 * 2.07236950}}});
    if (!quick())
        check_case(*state, (value_case){"sparse example of tmvtnorm", 1000, GBS_MATRIX_PRECISION,
                                        tridiagonal(1000, .5625, .625, .625, -.1875), NULL, 0, 2,
                                        .start = 1,
                                        .moments = {{0, -1, .880301563548},
                                                    {1, -1, .912305685991},
                                                    {499, -1, .914229870573},
                                                    {500, -1, .914229870573},
                                                    {999, -1, .862687089702},
                                                    {0, 0, .301456708855},
                                                    {499, 499, .303205346036},
                                                    {499, 500, .017207269897}}});
}

static void test_rows(void **state)
{
    static const double stiff[16] = {0.05, -0.03, 0,           0,         -0.03,      0.06,
                                     0,    0,     0,           0,         1336227.01, -1336226.98,
                                     0,    0,     -1336226.98, 1336227.07};
    static const double far[4] = {-0.08, -0.51, -17.52, 16.37};
    check_case(*state, (value_case){"C19", 4, GBS_MATRIX_COVARIANCE, copy_of(stiff, 16),
                                    copy_of(far, 4), 0, inf, .start = .1, .double_alone = 1,
                                    .moments = {{0, -1, 0.071053},
                                                {1, -1, 0.059147},
                                                {2, -1, 0.085968},
                                                {3, -1, 0.085968}}});
    check_case(
        *state,
        (value_case){
            "a rotated square",
            2,
            GBS_MATRIX_COVARIANCE,
            tridiagonal(2, 10, 0, 1, 0),
            NULL,
            -inf,
            inf,
            2,
            {1, 1, 1, -1},
            {-2, -2},
            {2, 2},
            .moments = {
                {0, -1, 0}, {1, -1, 0}, {0, 0, .742365305228}, {0, 1, 0}, {1, 1, .442840693457}}});
    check_case(*state, (value_case){"C22",
                                    2,
                                    GBS_MATRIX_PRECISION,
                                    equicorrelated(2, 0),
                                    NULL,
                                    -inf,
                                    inf,
                                    3,
                                    {1, 1, 1, -1, .5, -1},
                                    {-1, -.5, -1},
                                    {1, 1.5, .5},
                                    .moments = {{0, -1, 0.0859031298},
                                                {1, -1, -0.0037936554},
                                                {0, 0, 0.1307118180},
                                                {0, 1, 0.0445253458},
                                                {1, 1, 0.0839238750}}});
}

/* Boxes that differ from site to site, as rows: mu = (1, 2), x <= (1, 0); C14: means on and beyond
 * an upper bound; C20: boxes that move with the means.  And C23's row, x + y >= 0 in a square. */
static void test_boxes_by_rows(void **state)
{
    static const double mu[2] = {1, 2}, low[2] = {0, -1}, mu14[3] = {1, 2, 3};
    static const double mu20[3] = {10, -10, 0};
    const double v = 0.291125094772793;
    check_case(*state, (value_case){"mu (1, 2), x <= (1, 0)",
                                    2,
                                    GBS_MATRIX_COVARIANCE,
                                    tridiagonal(2, 4, 0, 3, 2),
                                    copy_of(mu, 2),
                                    -inf,
                                    inf,
                                    2,
                                    {1, 0, 0, 1},
                                    {-inf, -inf},
                                    {1, 0},
                                    .starts = low,
                                    .moments = {{0, -1, -1.321794657},
                                                {1, -1, -.900543514},
                                                {0, 0, 1.952978421},
                                                {0, 1, .281096842},
                                                {1, 1, .573921332}}});
    check_case(*state, (value_case){"C14",
                                    3,
                                    GBS_MATRIX_PRECISION,
                                    tridiagonal(3, 100, 100, 100, 0),
                                    copy_of(mu14, 3),
                                    -inf,
                                    inf,
                                    3,
                                    {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                    {0, 0, 0},
                                    {2, 2, 2},
                                    .start = 1.9,
                                    .moments = {{0, -1, 1},
                                                {1, -1, 1.92021154392},
                                                {2, -1, 1.99019067660},
                                                {1, 1, 0.003633802276}}});
    check_case(*state, (value_case){"C20",
                                    3,
                                    GBS_MATRIX_PRECISION,
                                    tridiagonal(3, 1, 1, 1, 0),
                                    copy_of(mu20, 3),
                                    -inf,
                                    inf,
                                    3,
                                    {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                    {9, -11, -1},
                                    {11, -9, 1},
                                    .starts = mu20,
                                    .moments = {{0, -1, 10},
                                                {1, -1, -10},
                                                {2, -1, 0},
                                                {0, 0, v},
                                                {1, 1, v},
                                                {2, 2, v},
                                                {0, 1, 0}}});
    check_case(*state, (value_case){"C23's row",
                                    2,
                                    GBS_MATRIX_PRECISION,
                                    tridiagonal(2, 1, 0, 1, 0),
                                    NULL,
                                    -1,
                                    1,
                                    1,
                                    {1, 1},
                                    {0},
                                    {inf},
                                    .start = .5,
                                    .moments = {{0, -1, .31124689732987},
                                                {1, -1, .31124689732987},
                                                {0, 0, .19425046367532},
                                                {0, 1, -.09687463109747}}});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes),         cmocka_unit_test(test_orthants),
        cmocka_unit_test(test_chains),        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_boxes_by_rows), cmocka_unit_test(test_verdicts_planned),
    };
    return cmocka_run_group_tests(tests, open_context, stop);
}
