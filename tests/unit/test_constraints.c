/* Row constraints of models and what samplers make of them: input that is refused, points inside,
 * sets that contradict themselves, thin and flat ones, fixed sites, drift over many sweeps.  Cases
 * C22, C23, C25, C28, C91 and C92 of the tracker reports. */
#include "exact/trial.h"
#include "model/clp.h"
#include "unit/counting.h"

#include <float.h>
#include <string.h>

#if __has_include(<coin/Clp_C_Interface.h>)
#include <coin/Clp_C_Interface.h>
#define HAS_CLP_HEADER 1
#endif

static const double inf = (double)INFINITY;

/* The last call returned `got`; it must be `status`, with these words in the message. */
static void assert_said(gbs_context *ctx, gbs_status status, const char *words, gbs_status got)
{
    const char *const message = gbs_context_message(ctx);
    if (got != status || strstr(message, words) == NULL)
        fail_msg("expected %s and \"%s\"; got %s and \"%s\"", gbs_status_name(status), words,
                 gbs_status_name(got), message);
    printf("checked: \"%s\"\n", message);
}

static gbs_model_spec identity_of(int64_t dim)
{
    static double identity[64];
    memset(identity, 0, sizeof identity);
    for (int64_t i = 0; i < dim; ++i)
        identity[i * (dim + 1)] = 1;
    return spec_of(identity, dim);
}

static gbs_model *model_with(gbs_context *ctx, int64_t dim, gbs_constraints rows)
{
    gbs_model_spec spec = identity_of(dim);
    spec.constraints = rows;
    return new_model(ctx, &spec);
}

/* ---- refused ---- */

static void refuse(gbs_context *ctx, gbs_constraints rows, gbs_status status, const char *words)
{
    gbs_model_spec spec = identity_of(3);
    gbs_model *model = (gbs_model *)ctx;
    spec.constraints = rows;
    assert_said(ctx, status, words, gbs_model_create(ctx, &spec, &model));
    assert_null(model);
}

static void test_refused(void **state)
{
    static const double a[6] = {1, 1, 0, 0, 1, -1}, zero_row[6] = {1, 0, 0, 0, 0, 0},
                        hole[6] = {1, NAN, 0, 0, 1, 0}, lower[2] = {0, 0}, upper[2] = {1, 1},
                        crossed[2] = {0, 2}, nan[2] = {0, NAN}, high[2] = {0, INFINITY},
                        value[2] = {1, 1};
    static const int64_t start[3] = {0, 1, 2}, back[3] = {0, 1, 0}, late[3] = {1, 1, 2},
                         site[2] = {0, 2}, far[2] = {0, 3}, both[3] = {0, 2, 2}, twice[2] = {1, 1};
    const gbs_constraints good = {.rows = 2, .matrix = a, .lower = lower, .upper = upper};
    const gbs_constraints sparse = {
        .rows = 2, .start = start, .site = site, .value = value, .lower = lower};
    gbs_constraints bad = good;
    bad.rows = -1;
    refuse(*state, bad, GBS_ERROR_ARGUMENT, "-1 rows");
    bad = good, bad.start = start;
    refuse(*state, bad, GBS_ERROR_ARGUMENT, "both as a matrix and by their entries");
    bad = good, bad.matrix = NULL;
    refuse(*state, bad, GBS_ERROR_ARGUMENT, "matrix is NULL");
    bad = good, bad.lower = bad.upper = NULL;
    refuse(*state, bad, GBS_ERROR_ARGUMENT, "neither lower nor upper");
    bad = good, bad.lower = crossed;
    refuse(*state, bad, GBS_ERROR_ARGUMENT, "row 1: lower 2 is above upper 1");
    bad = good, bad.lower = nan;
    refuse(*state, bad, GBS_ERROR_NOT_FINITE, "lower of row 1 is NaN");
    bad = good, bad.lower = high, bad.upper = NULL;
    refuse(*state, bad, GBS_ERROR_ARGUMENT, "row 1: lower is inf");
    bad = good, bad.lower = upper;
    refuse(*state, bad, GBS_ERROR_ARGUMENT, "row 0: lower = upper = 1 is an equation");
    bad = good, bad.matrix = zero_row;
    refuse(*state, bad, GBS_ERROR_ARGUMENT, "row 1 has no entry but zeros");
    bad = good, bad.matrix = hole;
    refuse(*state, bad, GBS_ERROR_NOT_FINITE, "A[0,1] is nan");
    bad = sparse, bad.start = late;
    refuse(*state, bad, GBS_ERROR_ARGUMENT, "start[0] is 1, not 0");
    bad = sparse, bad.start = back;
    refuse(*state, bad, GBS_ERROR_ARGUMENT, "start[2] is 0, below start[1], 1");
    bad = sparse, bad.site = far;
    refuse(*state, bad, GBS_ERROR_ARGUMENT, "row 1 has site 3, not in 0..2");
    bad = sparse, bad.start = both, bad.site = twice;
    refuse(*state, bad, GBS_ERROR_ARGUMENT, "row 0 has site 1 after site 1");
}

/* A row without a finite bound restricts nothing, and is taken, alone too. */
static void test_without_bounds(void **state)
{
    static const double a[6] = {1, 1, 0, 0, 1, -1}, lower[2] = {-INFINITY, -INFINITY},
                        upper[2] = {1, INFINITY};
    for (int rows = 1; rows <= 2; ++rows) {
        const gbs_constraints given = {
            .rows = rows, .matrix = a + 3 * (2 - rows), .lower = lower, .upper = upper + 2 - rows};
        gbs_model *const model = model_with(*state, 3, given);
        assert_int_equal(gbs_model_constraints(model)->rows, rows);
        assert_true(gbs_model_constraints(model)->upper[rows - 1] == inf);
        gbs_model_release(model);
    }
    printf("checked: rows from -infinity to infinity are taken\n");
}

/* Dense and by entries is the same model, and shows no zeros. */
static void test_kept(void **state)
{
    static const double a[6] = {1, 0, 2, 0, -3, 0}, value[3] = {1, 2, -3}, lower[2] = {-1, -0.0},
                        upper[2] = {2, INFINITY};
    static const int64_t start[3] = {0, 2, 3}, site[3] = {0, 2, 1};
    gbs_model *const dense = model_with(
        *state, 3, (gbs_constraints){.rows = 2, .matrix = a, .lower = lower, .upper = upper});
    gbs_model *const sparse = model_with(*state, 3,
                                         (gbs_constraints){.rows = 2,
                                                           .start = start,
                                                           .site = site,
                                                           .value = value,
                                                           .lower = lower,
                                                           .upper = upper});
    const gbs_constraints *const kept = gbs_model_constraints(dense);
    assert_int_equal(kept->rows, 2);
    assert_null(kept->matrix);
    assert_memory_equal(kept->start, start, sizeof start);
    assert_memory_equal(kept->site, site, sizeof site);
    assert_memory_equal(kept->value, value, sizeof value);
    assert_true(kept->lower[0] == -1 && !signbit(kept->lower[1]) && kept->upper[1] == inf);
    assert_true(gbs_model_hash(dense) == gbs_model_hash(sparse));
    gbs_model *const none = model_with(*state, 3, (gbs_constraints){0});
    assert_null(gbs_model_constraints(none));
    assert_true(gbs_model_hash(dense) != gbs_model_hash(none));
    gbs_model_release(dense);
    gbs_model_release(sparse);
    gbs_model_release(none);
    printf("checked: dense and sparse rows make one model, without zeros\n");
}

/* ---- points inside ---- */

static int has_clp(void)
{
    gbs_clp clp;
    if (gbs_clp_load(&clp))
        return 1;
    printf("skipped: this machine has no libClp.so.1\n");
    return 0;
}

static void contradict(gbs_context *ctx, const gbs_model_spec *spec, const char *words)
{
    double x[8] = {9, 9, 9, 9, 9, 9, 9, 9};
    gbs_model *const model = new_model(ctx, spec);
    gbs_sampler_spec sampler_spec = gbs_sampler_spec_default();
    gbs_sampler *sampler = NULL;
    assert_said(ctx, GBS_ERROR_ARGUMENT, words, gbs_model_interior(ctx, model, x));
    for (int i = 0; i < 8; ++i)
        assert_true(x[i] == 9);
    assert_said(ctx, GBS_ERROR_ARGUMENT, words,
                gbs_sampler_create(ctx, model, &sampler_spec, &sampler));
    assert_null(sampler);
    gbs_model_release(model);
}

static void test_contradictions(void **state)
{
    static const double zero[3] = {0, 0, 0}, one[3] = {1, 1, INFINITY},
                        a[9] = {1, 1, 0, 0, 1, 1, 1, 0, -1}, lower[3] = {2.5, -9, -9},
                        upper[3] = {INFINITY, 9, 9}, chain_lower[3] = {1, -INFINITY, -INFINITY},
                        chain_upper[3] = {INFINITY, 0, 0}, twice[6] = {1, 1, 0, 1, 1, 0},
                        flat_lower[2] = {0, -INFINITY}, flat_upper[2] = {INFINITY, 0};
    if (!has_clp())
        return;
    gbs_model_spec spec = identity_of(3);
    spec.lower = zero;
    spec.upper = one;
    spec.constraints = (gbs_constraints){.rows = 3, .matrix = a, .lower = lower, .upper = upper};
    contradict(*state, &spec,
               "no point keeps these together: site 0 <= 1, site 1 <= 1, row 0 >= 2.5");
    spec.lower = spec.upper = NULL;
    spec.constraints.lower = chain_lower;
    spec.constraints.upper = chain_upper;
    contradict(*state, &spec, "no point keeps these together: row 0 >= 1, row 1 <= 0, row 2 <= 0");
    spec.constraints =
        (gbs_constraints){.rows = 2, .matrix = twice, .lower = flat_lower, .upper = flat_upper};
    contradict(*state, &spec, "these leave no room between them: row 0 >= 0, row 1 <= 0");
}

/* Sets that are small beside the conditional standard deviations: an order in [0, 1] under a prior
 * of sd 1e9; C28's slab in two rows; and two rows that a billionth of their size keeps apart, or
 * together. */
static void test_small_sets(void **state)
{
    static const double flat[9] = {1e-18, 0, 0, 0, 1e-18, 0, 0, 0, 1e-18},
                        order[12] = {1, 0, 0, -1, 1, 0, 0, -1, 1, 0, 0, -1},
                        order_lower[4] = {0, 0, 0, -1}, slab[6] = {1, -1, 0, 1, -1, 0},
                        lower[2] = {0, -INFINITY}, upper[2] = {INFINITY, 1e-9},
                        scaled[6] = {1, 1, 0, 1000, 1000, 0}, above[2] = {1, -INFINITY},
                        just[2] = {INFINITY, 1000.000001}, under[2] = {INFINITY, 999.9999999};
    if (!has_clp())
        return;
    double x[3];
    gbs_model_spec spec = spec_of(flat, 3);
    spec.constraints = (gbs_constraints){.rows = 4, .matrix = order, .lower = order_lower};
    gbs_model *model = new_model(*state, &spec);
    must(*state, gbs_model_interior(*state, model, x));
    printf("checked: 0 < %g < %g < %g < 1, each by more than 0.1\n", x[0], x[1], x[2]);
    assert_true(x[0] > 0.1 && x[1] > x[0] + 0.1 && x[2] > x[1] + 0.1 && x[2] < 0.9);
    gbs_model_release(model);

    spec = identity_of(3);
    spec.constraints = (gbs_constraints){.rows = 2, .matrix = slab, .lower = lower, .upper = upper};
    model = new_model(*state, &spec);
    must(*state, gbs_model_interior(*state, model, x));
    assert_true(x[0] - x[1] > 1e-10 && x[0] - x[1] < 9e-10);
    gbs_model_release(model);

    spec.constraints =
        (gbs_constraints){.rows = 2, .matrix = scaled, .lower = above, .upper = just};
    model = new_model(*state, &spec);
    must(*state, gbs_model_interior(*state, model, x));
    assert_true(x[0] + x[1] > 1 + 1e-10 && x[0] + x[1] < 1 + 9e-10);
    gbs_model_release(model);
    spec.constraints.upper = under;
    contradict(*state, &spec, "no point keeps these together: row 0 >= 1, row 1 <= 999.9999999");
}

/* Bounds that Clp takes for infinite, or aborts at: refused, and not as contradictions. */
static void test_far_out(void **state)
{
    static const double a[3] = {1, -1, 0}, far_out[4] = {1e26, 1e30, 1e50, 1e300};
    static const char *const words[4] = {
        "row 0 >= 1e+26 is too far from the mean", "row 0 >= 1e+30 is too far from the mean",
        "row 0 >= 1e+50 is too far from the mean", "row 0 >= 1e+300 is too far from the mean"};
    if (!has_clp())
        return;
    for (int k = 0; k < 4; ++k) {
        double x[3] = {9, 9, 9};
        const double loose = -far_out[k];
        gbs_model_spec spec = identity_of(3);
        spec.constraints = (gbs_constraints){.rows = 1, .matrix = a, .lower = &far_out[k]};
        gbs_model *model = new_model(*state, &spec);
        assert_said(*state, GBS_ERROR_UNAVAILABLE, words[k], gbs_model_interior(*state, model, x));
        assert_true(x[0] == 9);
        gbs_model_release(model);
        spec.constraints.lower = &loose;
        model = new_model(*state, &spec);
        assert_int_equal(gbs_model_interior(*state, model, x), GBS_OK);
        assert_true(x[0] == 0);
        gbs_model_release(model);
    }
}

/* Rows of random signs about a point: the one found keeps them with room to spare. */
static void test_interior(void **state)
{
    enum { SITES = 20, ROWS = 60 };
    double x[SITES], lower[ROWS], box_lower[SITES], box_upper[SITES];
    if (!has_clp())
        return;
    double *const a = random_vector(ROWS * SITES, 1, 1), *const q = dense_precision(SITES, 2),
                  *const centre = random_vector(SITES, 3, 100);
    for (int r = 0; r < ROWS; ++r) {
        lower[r] = -0.1;
        for (int i = 0; i < SITES; ++i)
            lower[r] += a[r * SITES + i] * centre[i];
    }
    for (int i = 0; i < SITES; ++i) {
        box_lower[i] = i % 3 == 0 ? centre[i] - 1e-6 : -inf;
        box_upper[i] = i % 2 == 0 ? centre[i] + 1e-6 : inf;
    }
    gbs_model_spec spec = spec_of(q, SITES);
    spec.lower = box_lower;
    spec.upper = box_upper;
    spec.constraints = (gbs_constraints){.rows = ROWS, .matrix = a, .lower = lower};
    gbs_model *const model = new_model(*state, &spec);
    must(*state, gbs_model_interior(*state, model, x));
    double least = inf;
    for (int r = 0; r < ROWS; ++r) {
        double sum = 0;
        for (int i = 0; i < SITES; ++i)
            sum += a[r * SITES + i] * x[i];
        least = fmin(least, sum - lower[r]);
    }
    for (int i = 0; i < SITES; ++i)
        least = fmin(least, fmin(x[i] - box_lower[i], box_upper[i] - x[i]));
    printf("checked: %d rows and boxes of 2e-6: least room %.3g, bound 1e-8\n", ROWS, least);
    assert_true(least >= 1e-8);
    gbs_model_release(model);
    free(a);
    free(q);
    free(centre);
}

/* src/model/clp.h says what the header says. */
static void test_clp_header(void **state)
{
    (void)state;
#ifdef HAS_CLP_HEADER
#define GBS_X(name, result, arguments)                                                             \
    _Static_assert(__builtin_types_compatible_p(__typeof__(Clp_##name), result arguments),         \
                   "Clp_" #name);
    GBS_CLP_FUNCTIONS(GBS_X)
#undef GBS_X
    printf("checked: the declarations of Clp, by its header\n");
#else
    printf("skipped: coin/Clp_C_Interface.h is not installed\n");
#endif
}

/* ---- samplers ---- */

static gbs_sampler_spec spec_for(gbs_method method, gbs_type type, int64_t chains,
                                 const void *start)
{
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.method = method;
    spec.type = type;
    spec.chains = chains;
    spec.seed = 3;
    spec.start = GBS_START_GIVEN;
    spec.initial = start;
    spec.initial_rows = 1;
    return spec;
}

static void refuse_sampler(gbs_context *ctx, gbs_model *model, const gbs_sampler_spec *spec,
                           gbs_status status, const char *words)
{
    gbs_sampler *sampler = NULL;
    assert_said(ctx, status, words, gbs_sampler_create(ctx, model, spec, &sampler));
    assert_null(sampler);
}

static void test_samplers_refused(void **state)
{
    static const double a[3] = {1, 1, 1}, lower = 0, upper = 1, tight = 1e-12,
                        inside[3] = {.1, .1, .1}, outside[3] = {1, 1, 1}, noise[3] = {0};
    gbs_context *const ctx = *state;
    gbs_model *const model = model_with(
        ctx, 3, (gbs_constraints){.rows = 1, .matrix = a, .lower = &lower, .upper = &upper});
    gbs_sampler_spec spec = spec_for(GBS_METHOD_GIBBS, GBS_F64, 2, outside);
    refuse_sampler(ctx, model, &spec, GBS_ERROR_ARGUMENT,
                   "start: chain 0 gives row 0 of the constraints 3, not between 0 and 1");
    spec.initial = inside;
    spec.method = GBS_METHOD_EXACT;
    spec.start = GBS_START_OVERDISPERSED;
    refuse_sampler(ctx, model, &spec, GBS_ERROR_ARGUMENT, "exact draws would not keep them");
    spec.method = GBS_METHOD_WHITENED;
    spec.start = GBS_START_GIVEN;
    spec.order = GBS_ORDER_SYMMETRIC;
    refuse_sampler(ctx, model, &spec, GBS_ERROR_ARGUMENT, "order: whitened sweeps have one order");
    spec.order = GBS_ORDER_FORWARD;
    spec.omega = 1.2;
    refuse_sampler(ctx, model, &spec, GBS_ERROR_ARGUMENT, "omega: whitened sweeps take 1");
    spec.omega = 1;
    spec.stream.kind = GBS_STREAM_GIVEN;
    spec.stream.noise = noise;
    spec.stream.noise_sweeps = 1;
    refuse_sampler(ctx, model, &spec, GBS_ERROR_ARGUMENT,
                   "words: NULL, but the stream is given, and whitened");
    spec.method = GBS_METHOD_GIBBS;
    refuse_sampler(ctx, model, &spec, GBS_ERROR_ARGUMENT,
                   "words: NULL, but the stream is given, and sweeps under row");
    spec.stream = (gbs_stream_spec){.kind = GBS_STREAM_TORCH_CPU};
    refuse_sampler(ctx, model, &spec, GBS_ERROR_ARGUMENT, "stream: torch's streams are of normals");
    gbs_model_release(model);
    const double high = 1 + tight, one = 1;
    gbs_model *const narrow = model_with(
        ctx, 3, (gbs_constraints){.rows = 1, .matrix = a, .lower = &one, .upper = &high});
    float third[3] = {1.0f / 3, 1.0f / 3, 1.0f / 3};
    spec = spec_for(GBS_METHOD_GIBBS, GBS_F32, 2, third);
    refuse_sampler(ctx, narrow, &spec, GBS_ERROR_ARGUMENT, "there is no interval of float numbers");
    gbs_model_release(narrow);
}

static void test_set_state(void **state)
{
    static const double a[3] = {1, 1, 1}, lower = 0, upper = 1, inside[3] = {.1, .1, .1};
    gbs_context *const ctx = *state;
    gbs_model *const model = model_with(
        ctx, 3, (gbs_constraints){.rows = 1, .matrix = a, .lower = &lower, .upper = &upper});
    const gbs_sampler_spec spec = spec_for(GBS_METHOD_WHITENED, GBS_F64, 2, inside);
    gbs_sampler *const sampler = new_sampler(ctx, model, &spec);
    double before[6], after[6];
    const double bad[6] = {.1, .1, .1, 0, -.1, 0};
    must(ctx, gbs_sampler_get_state(sampler, before));
    assert_said(ctx, GBS_ERROR_ARGUMENT, "x: chain 1 gives row 0 of the constraints -0.1",
                gbs_sampler_set_state(sampler, bad));
    must(ctx, gbs_sampler_get_state(sampler, after));
    assert_memory_equal(before, after, sizeof before);
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
}

/* Starts by rule are held within the boxes; a given one outside is refused. */
static void test_starts(void **state)
{
    static const double lower[3] = {0, -INFINITY, 2}, upper[3] = {.25, -1, INFINITY},
                        outside[3] = {.1, 0, 3};
    gbs_context *const ctx = *state;
    gbs_model_spec model_spec = identity_of(3);
    model_spec.lower = lower;
    model_spec.upper = upper;
    gbs_model *const model = new_model(ctx, &model_spec);
    for (int k = GBS_START_OVERDISPERSED; k <= GBS_START_MEAN; ++k) {
        gbs_sampler_spec spec = spec_for(GBS_METHOD_WHITENED, GBS_F32, 37, NULL);
        spec.start = (gbs_start)k;
        gbs_sampler *const sampler = new_sampler(ctx, model, &spec);
        float x[3 * 37];
        for (int sweep = 0; sweep < 3; ++sweep) {
            must(ctx, gbs_sampler_get_state(sampler, x));
            for (int64_t at = 0; at < 3 * 37; ++at)
                if (!((double)x[at] >= lower[at % 3] && (double)x[at] <= upper[at % 3]))
                    fail_msg("start %d, sweep %d: site %lld is %g", k, sweep, (long long)at % 3,
                             (double)x[at]);
            must(ctx, gbs_sampler_run(sampler, 1));
        }
        gbs_sampler_destroy(sampler);
    }
    printf("checked: overdispersed, zero and mean starts are held within the boxes\n");
    const gbs_sampler_spec spec = spec_for(GBS_METHOD_WHITENED, GBS_F64, 2, outside);
    refuse_sampler(ctx, model, &spec, GBS_ERROR_ARGUMENT, "chain 0, site 1 is 0");
    gbs_model_release(model);
}

/* By how much x [chains, dim] breaks a row at most, in units of what its sum is good to. */
static double worst_break(const gbs_model *model, gbs_type type, const void *x, int64_t chains)
{
    const gbs_constraints *const rows = gbs_model_constraints(model);
    const int64_t dim = gbs_model_dim(model);
    double worst = 0;
    for (int64_t c = 0; c < chains; ++c)
        for (int64_t r = 0; r < rows->rows; ++r) {
            double sum = 0, size = DBL_MIN;
            for (int64_t e = rows->start[r]; e < rows->start[r + 1]; ++e) {
                const double value = element(type, x, c * dim + rows->site[e]);
                sum = fma(rows->value[e], value, sum);
                size += fabs(rows->value[e] * value);
            }
            const double beyond = fmax(rows->lower[r] - sum, sum - rows->upper[r]);
            const double unit = (double)(rows->start[r + 1] - rows->start[r] + 1) * size *
                                (type == GBS_F32 ? (double)FLT_EPSILON : DBL_EPSILON);
            worst = fmax(worst, beyond / unit);
        }
    return worst;
}

/* Rows hold to the rounding of their sums, boxes to the bit, after a million sweeps as after ten:
 * nothing is carried from sweep to sweep but x. */
static void test_drift(void **state)
{
    static const double q[9] = {2, -1, 0, -1, 2, -1, 0, -1, 2}, mean[3] = {3, -2, 40},
                        a[9] = {1, 1, 1, 1, -1, 0, .5, 0, -1}, row_lower[3] = {-1, -.5, -INFINITY},
                        row_upper[3] = {1, 1.5, .5}, lower[3] = {-1, -1, -INFINITY},
                        upper[3] = {.5, INFINITY, INFINITY}, zero[3] = {0};
    static const float narrow_zero[3] = {0};
    enum { CHAINS = 16 };
    gbs_context *const ctx = *state;
    const int64_t sweeps = quick() ? 10000 : 1000000;
    gbs_model_spec spec = spec_of(q, 3);
    spec.location_kind = GBS_LOCATION_MEAN;
    spec.location = mean;
    spec.lower = lower;
    spec.upper = upper;
    spec.constraints =
        (gbs_constraints){.rows = 3, .matrix = a, .lower = row_lower, .upper = row_upper};
    gbs_model *const model = new_model(ctx, &spec);
    for (int run = 0; run < 4; ++run) {
        const gbs_type type = (gbs_type)(run % 2);
        const gbs_sampler_spec s =
            spec_for(run < 2 ? GBS_METHOD_WHITENED : GBS_METHOD_GIBBS, type, CHAINS,
                     type == GBS_F32 ? (const void *)narrow_zero : (const void *)zero);
        gbs_sampler *const sampler = new_sampler(ctx, model, &s);
        double x[3 * CHAINS];
        must(ctx, gbs_sampler_run(sampler, sweeps));
        must(ctx, gbs_sampler_get_state(sampler, x));
        for (int64_t k = 0; k < 3 * CHAINS; ++k)
            assert_true(element(type, x, k) >= lower[k % 3] && element(type, x, k) <= upper[k % 3]);
        const double worst = worst_break(model, type, x, CHAINS);
        printf(
            "checked: %s: after %lld sweeps rows are broken by %.2g of their rounding, bound 4\n",
            gbs_sampler_kernel(sampler), (long long)sweeps, worst);
        assert_true(worst <= 4);
        gbs_sampler_destroy(sampler);
    }
    gbs_model_release(model);
}

/* Rows beyond a type's range would count as none. */
static void test_range(void **state)
{
    static const double tiny[6] = {1e-60, 0, 0, 0, 0, 1e-320}, least[3] = {1e-320, 0, 0},
                        huge[3] = {1e38, 0, 0}, mixed[3] = {1, 1e-60, 0}, lower[2] = {0, 0};
    static const float start[3] = {1, 1, 1}, far_start[3] = {1e30f, 0, 0};
    gbs_context *const ctx = *state;
    const double wide_start[3] = {1, 1, 1};
    const struct {
        const double *a;
        gbs_type type;
        const char *words;
    } refused[] = {
        {tiny, GBS_F32, "constraints: A[0,0], 9.9999999999999997e-61, is too small for float"},
        {least, GBS_F64, "is too small for double"},
        {huge, GBS_F32,
         "constraints: row 0: its terms within 64 standard deviations of the mean "
         "make 6.4e+39, which does not fit in float"},
    };
    for (size_t k = 0; k < sizeof refused / sizeof *refused; ++k) {
        gbs_model *const model = model_with(
            ctx, 3, (gbs_constraints){.rows = 1, .matrix = refused[k].a, .lower = lower});
        for (int whitened = 0; whitened < 2; ++whitened) {
            const gbs_sampler_spec spec =
                spec_for(whitened ? GBS_METHOD_WHITENED : GBS_METHOD_GIBBS, refused[k].type, 1,
                         refused[k].type == GBS_F32 ? (const void *)start : wide_start);
            refuse_sampler(ctx, model, &spec, GBS_ERROR_NOT_FINITE, refused[k].words);
        }
        gbs_model_release(model);
    }
    /* beside 1 an entry of 1e-60 does not matter */
    static const double large[3] = {1e30, 0, 0};
    gbs_model *model =
        model_with(ctx, 3, (gbs_constraints){.rows = 1, .matrix = mixed, .lower = lower});
    gbs_sampler_spec spec = spec_for(GBS_METHOD_GIBBS, GBS_F32, 1, start);
    gbs_sampler_destroy(new_sampler(ctx, model, &spec));
    gbs_model_release(model);
    model = model_with(ctx, 3, (gbs_constraints){.rows = 1, .matrix = large, .lower = lower});
    spec.initial = far_start;
    refuse_sampler(ctx, model, &spec, GBS_ERROR_NOT_FINITE,
                   "start: chain 0 gives row 0 of the constraints terms that do not fit in float");
    gbs_model_release(model);
}

/* From 1e6 down to where N(-1e5, 1) is held by 3 x >= 1: the first step's rounding leaves the row
 * broken by far more than the row's own, and the next one leads back inside. */
static void test_far_start(void **state)
{
    static const double one = 1, mean = -1e5, three = 3, wide = 1e6;
    static const float narrow = 1e6f;
    enum { CHAINS = 16 };
    gbs_context *const ctx = *state;
    gbs_model_spec spec = spec_of(&one, 1);
    spec.location_kind = GBS_LOCATION_MEAN;
    spec.location = &mean;
    spec.constraints = (gbs_constraints){.rows = 1, .matrix = &three, .lower = &one};
    gbs_model *const model = new_model(ctx, &spec);
    for (int run = 0; run < 4; ++run) {
        const gbs_type type = (gbs_type)(run % 2);
        const gbs_sampler_spec s =
            spec_for(run < 2 ? GBS_METHOD_WHITENED : GBS_METHOD_GIBBS, type, CHAINS,
                     type == GBS_F32 ? (const void *)&narrow : &wide);
        gbs_sampler *const sampler = new_sampler(ctx, model, &s);
        double x[CHAINS], all = 0;
        must(ctx, gbs_sampler_run(sampler, 3));
        must(ctx, gbs_sampler_get_state(sampler, x));
        for (int c = 0; c < CHAINS; ++c)
            all += element(type, x, c) / CHAINS;
        const double worst = worst_break(model, type, x, CHAINS);
        printf("checked: %s: after 3 sweeps the row is broken by %.2g of its rounding, bound 4; "
               "mean 1/3 + %.2g\n",
               gbs_sampler_kernel(sampler), worst, all - 1.0 / 3);
        assert_true(worst <= 4);
        assert_true(all > 1.0 / 3 - 1e-7 && all < 1.0 / 3 + 3e-5);
        gbs_sampler_destroy(sampler);
    }
    gbs_model_release(model);
}

/* C28: a slab of 1e-9 whose mean is far outside. */
static void test_thin(void **state)
{
    static const double mean[2] = {5, -5}, lower[2] = {-1, -1}, upper[2] = {1, 1}, a[2] = {1, -1},
                        row_lower = 0, row_upper = 1e-9, start[2] = {5e-10, 0};
    enum { CHAINS = 8 };
    gbs_context *const ctx = *state;
    gbs_model_spec spec = identity_of(2);
    spec.location_kind = GBS_LOCATION_MEAN;
    spec.location = mean;
    spec.lower = lower;
    spec.upper = upper;
    spec.constraints =
        (gbs_constraints){.rows = 1, .matrix = a, .lower = &row_lower, .upper = &row_upper};
    gbs_model *const model = new_model(ctx, &spec);
    for (int whitened = 0; whitened < 2; ++whitened) {
        const gbs_sampler_spec s =
            spec_for(whitened ? GBS_METHOD_WHITENED : GBS_METHOD_GIBBS, GBS_F64, CHAINS, start);
        gbs_sampler *const sampler = new_sampler(ctx, model, &s);
        double x[2 * CHAINS], most = 0, least = 1;
        for (int sweep = 0; sweep < 1000; ++sweep) {
            must(ctx, gbs_sampler_run(sampler, 1));
            must(ctx, gbs_sampler_get_state(sampler, x));
            for (int c = 0; c < CHAINS; ++c) {
                most = fmax(most, x[2 * c] - x[2 * c + 1]);
                least = fmin(least, x[2 * c] - x[2 * c + 1]);
            }
        }
        /* 4 (2 + 1) roundings of numbers up to 2 in all */
        const double bound = 24 * DBL_EPSILON;
        printf("checked: %s: x0 - x1 from %.17g to %.17g, bound %.2g outside [0, 1e-9]\n",
               gbs_sampler_kernel(sampler), least, most, bound);
        assert_true(least >= -bound && most <= 1e-9 + bound && most - least > 5e-10);
        gbs_sampler_destroy(sampler);
    }
    gbs_model_release(model);
}

/* C23: x0 in [1, 1], x1 + x2 >= 0; and C92: one site, one chain. */
static void test_fixed_and_small(void **state)
{
    static const double lower[3] = {1, -1, -1}, upper[3] = {1, 1, 1}, a[3] = {0, 1, 1},
                        row_lower = 0, start[3] = {1, .1, .1}, one = 1, half = .5;
    enum { DRAWS = 200 };
    gbs_context *const ctx = *state;
    gbs_model_spec spec = identity_of(3);
    spec.lower = lower;
    spec.upper = upper;
    spec.constraints = (gbs_constraints){.rows = 1, .matrix = a, .lower = &row_lower};
    gbs_model *const model = new_model(ctx, &spec);
    gbs_model *const tiny = model_with(
        ctx, 1, (gbs_constraints){.rows = 1, .matrix = &one, .lower = &row_lower, .upper = &one});
    for (int whitened = 0; whitened < 2; ++whitened) {
        const gbs_method method = whitened ? GBS_METHOD_WHITENED : GBS_METHOD_GIBBS;
        gbs_sampler_spec s = spec_for(method, GBS_F64, 1, start);
        gbs_sampler *sampler = new_sampler(ctx, model, &s);
        double x[DRAWS][3], square[3] = {0}, sum[3] = {0};
        const gbs_sink sink = {.out = x};
        must(ctx, gbs_sampler_sample(sampler, DRAWS, 1, &sink));
        for (int k = 0; k < DRAWS; ++k) {
            assert_true(x[k][0] == 1 && x[k][1] + x[k][2] >= -8 * DBL_EPSILON);
            for (int i = 0; i < 3; ++i) {
                sum[i] += x[k][i] / (double)DRAWS;
                square[i] += x[k][i] * x[k][i] / (double)DRAWS;
            }
        }
        printf("checked: %s: x0 = 1, variances %.3g and %.3g, at least 0.05\n",
               gbs_sampler_kernel(sampler), square[1] - sum[1] * sum[1],
               square[2] - sum[2] * sum[2]);
        assert_true(square[1] - sum[1] * sum[1] > 0.05 && square[2] - sum[2] * sum[2] > 0.05);
        gbs_sampler_destroy(sampler);
        s = spec_for(method, GBS_F64, 1, &half);
        sampler = new_sampler(ctx, tiny, &s);
        double y[5];
        const gbs_sink small = {.out = y};
        must(ctx, gbs_sampler_sample(sampler, 5, 1, &small));
        for (int k = 0; k < 5; ++k)
            assert_true(y[k] >= 0 && y[k] <= 1 && (k == 0 || y[k] != y[k - 1]));
        gbs_sampler_destroy(sampler);
    }
    gbs_model_release(model);
    gbs_model_release(tiny);
}

/* Rows whose sites are all fixed hold, or are refused. */
static void test_fixed_rows(void **state)
{
    static const double fixed[3] = {2, NAN, 1}, a[3] = {1, 0, 1}, lower = 2.5, high = 3.5,
                        start[3] = {2, 0, 1};
    gbs_context *const ctx = *state;
    gbs_model_spec spec = identity_of(3);
    spec.fixed = fixed;
    spec.constraints = (gbs_constraints){.rows = 1, .matrix = a, .lower = &high};
    gbs_model *model = NULL;
    assert_said(ctx, GBS_ERROR_ARGUMENT, "row 0: its sites are fixed, and give it 3",
                gbs_model_create(ctx, &spec, &model));
    spec.constraints.lower = &lower;
    model = new_model(ctx, &spec);
    double x[3];
    if (has_clp()) {
        must(ctx, gbs_model_interior(ctx, model, x));
        assert_true(x[0] == 2 && x[2] == 1);
    }
    const gbs_sampler_spec s = spec_for(GBS_METHOD_GIBBS, GBS_F64, 1, start);
    gbs_sampler *const sampler = new_sampler(ctx, model, &s);
    must(ctx, gbs_sampler_run(sampler, 3));
    must(ctx, gbs_sampler_get_state(sampler, x));
    assert_true(x[0] == 2 && x[2] == 1 && x[1] != 0);
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
}

/* A checkpoint of other constraints is told apart. */
static void test_checkpoint(void **state)
{
    static const double a[3] = {1, 1, 1}, lower = 0, other = -1, inside[3] = {.1, .1, .1};
    gbs_context *const ctx = *state;
    gbs_model *const first =
        model_with(ctx, 3, (gbs_constraints){.rows = 1, .matrix = a, .lower = &lower});
    gbs_model *const second =
        model_with(ctx, 3, (gbs_constraints){.rows = 1, .matrix = a, .lower = &other});
    const gbs_sampler_spec spec = spec_for(GBS_METHOD_GIBBS, GBS_F64, 2, inside);
    gbs_sampler *const from = new_sampler(ctx, first, &spec), *const to =
                                                                  new_sampler(ctx, second, &spec);
    size_t bytes;
    must(ctx, gbs_checkpoint_size(from, NULL, &bytes));
    void *const room = malloc(bytes);
    must(ctx, gbs_checkpoint_write(from, NULL, NULL, room, bytes));
    gbs_sampler_spec later = spec;
    later.start = GBS_START_LATER;
    gbs_sampler *const next = new_sampler(ctx, first, &later);
    assert_said(ctx, GBS_ERROR_ARGUMENT, "no state has been set yet", gbs_sampler_run(next, 1));
    must(ctx, gbs_checkpoint_read(next, NULL, room, bytes));
    must(ctx, gbs_sampler_run(next, 1));
    gbs_sampler_destroy(next);
    assert_said(ctx, GBS_ERROR_STATE, "its set of constraints is another one",
                gbs_checkpoint_read(to, NULL, room, bytes));
    free(room);
    gbs_sampler_destroy(from);
    gbs_sampler_destroy(to);
    gbs_model_release(first);
    gbs_model_release(second);
}

/* A model with rows and boxes, a sampler of it, its start by Clp, and ten sweeps, which take
 * nothing; GBS_ERROR_MEMORY where the k-th request is refused. */
static gbs_status attempt(gbs_context *ctx, gbs_method method, const counting *memory)
{
    static const double a[6] = {1, 1, 1, 0, 1, -1}, row_lower[2] = {-1, -2}, lower[3] = {-1, -1, 0},
                        upper[3] = {1, INFINITY, 4}, start[3] = {0, 0, .5};
    gbs_model_spec spec = identity_of(3);
    gbs_model *model = NULL;
    gbs_sampler *sampler = NULL;
    spec.lower = lower;
    spec.upper = upper;
    spec.constraints = (gbs_constraints){.rows = 2, .matrix = a, .lower = row_lower};
    gbs_status status = gbs_model_create(ctx, &spec, &model);
    gbs_sampler_spec s = spec_for(method, GBS_F32, 40, start);
    static const float narrow[3] = {0, 0, .5f};
    s.initial = narrow;
    if (has_clp())
        s.start = GBS_START_OVERDISPERSED;
    if (status == GBS_OK)
        status = gbs_sampler_create(ctx, model, &s, &sampler);
    const int64_t before = memory->taken;
    if (status == GBS_OK)
        status = gbs_sampler_run(sampler, 10);
    assert_true(status != GBS_OK || memory->taken == before);
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    for (int method = 0; method < 2; ++method)
        for (int64_t k = 0;; ++k) {
            counting memory = {.refuse = -1};
            const gbs_context_options options = counting_options(&memory);
            gbs_context *ctx = NULL;
            assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
            memory.refuse = memory.taken + k;
            const gbs_status got =
                attempt(ctx, method ? GBS_METHOD_WHITENED : GBS_METHOD_GIBBS, &memory);
            const int refused = memory.refuse == -1;
            if (got != (refused ? GBS_ERROR_MEMORY : GBS_OK))
                fail_msg("request %lld: expected %s, got %s: %s", (long long)k,
                         refused ? "GBS_ERROR_MEMORY" : "GBS_OK", gbs_status_name(got),
                         gbs_context_message(ctx));
            gbs_context_destroy(ctx);
            if (memory.taken != memory.given)
                fail_msg("request %lld: %lld blocks taken, %lld given back", (long long)k,
                         (long long)memory.taken, (long long)memory.given);
            if (!refused) {
                printf("checked: %s: each of %lld requests refused in turn, nothing lost\n",
                       method ? "whitened" : "site by site", (long long)k);
                break;
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_without_bounds),
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_far_out),
        cmocka_unit_test(test_small_sets),
        cmocka_unit_test(test_range),
        cmocka_unit_test(test_far_start),
        cmocka_unit_test(test_interior),
        cmocka_unit_test(test_clp_header),
        cmocka_unit_test(test_samplers_refused),
        cmocka_unit_test(test_set_state),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_thin),
        cmocka_unit_test(test_fixed_and_small),
        cmocka_unit_test(test_fixed_rows),
        cmocka_unit_test(test_checkpoint),
        cmocka_unit_test(test_starts),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
