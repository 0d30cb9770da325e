/* Samplers on a fake device in host code (fake_device.c): the same bits as the CPU's by every way
 * through the sampler, on several of them and in threads. */
#define _POSIX_C_SOURCE 200809L

#include "device/device_cases.h"
#include "device/fake_fixture.h"

#include <pthread.h>

/* ---- the same bits ---- */

static void compare(const device_case *of, void *count)
{
    const gbs_context_options options = fake_options();
    char name[256], told[1500];
    case_name(of, name, sizeof name);
    if (!case_compare(of, &options, told, sizeof told))
        fail_msg("%s: %s", name, told);
    ++*(int *)count;
}

static void test_same_bits(void **state)
{
    (void)state;
    static const int64_t dims[] = {1, 2, 5, 13};
    static const int64_t chains[] = {1, 7, 40};
    int count = 0;
    for (int type = 0; type < 2; ++type)
        for (size_t d = 0; d < sizeof dims / sizeof *dims; ++d)
            for (size_t b = 0; b < sizeof chains / sizeof *chains; ++b)
                case_each((gbs_type)type, dims[d], chains[b], 1, compare, &count);
    printf("checked: %d runs: starts, draws, states, moments and generators as on the CPU\n",
           count);
}

/* More draws than the device keeps at once (4,096), and draws longer than its noise (likewise). */
static void test_pieces(void **state)
{
    (void)state;
    int count = 0;
    for (int stream = GBS_STREAM_NATIVE; stream <= GBS_STREAM_TORCH_CUDA; ++stream)
        for (int order = GBS_ORDER_SYMMETRIC; order <= GBS_ORDER_PERMUTED; ++order) {
            device_case of = {.type = GBS_F64,
                              .dim = 2,
                              .chains = 1,
                              .order = (gbs_order)order,
                              .omega = 1.0,
                              .stream = (gbs_stream)stream,
                              .warmup = 5000,
                              .draws = 4999,
                              .thin = 1};
            compare(&of, &count);
            of.draws = 3;
            of.thin = 6001;
            compare(&of, &count);
            of.draws = 1501;
            of.thin = 3;
            compare(&of, &count);
        }
    compare(&(device_case){.type = GBS_F32,
                           .method = GBS_METHOD_EXACT,
                           .dim = 2,
                           .chains = 2,
                           .omega = 1.0,
                           .warmup = 4100,
                           .draws = 9001,
                           .thin = 1},
            &count);
    printf("checked: %d runs in several pieces\n", count);
}

/* ---- one sampler ---- */

typedef struct pair {
    gbs_context *ctx[2]; /* CPU, device */
    gbs_model *model;
    gbs_sampler *sampler[2];
} pair;

static pair open_pair(gbs_order order)
{
    static const int64_t permutation[3] = {2, 0, 1};
    pair p = {.ctx = {new_context(GBS_ISA_AUTO), fake_context(0)}};
    p.model = fixture_model(p.ctx[0]);
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.chains = 3;
    spec.order = order;
    spec.permutation = permutation;
    for (int k = 0; k < 2; ++k)
        assert_int_equal(gbs_sampler_create(p.ctx[k], p.model, &spec, &p.sampler[k]), GBS_OK);
    return p;
}

static void close_pair(pair *p)
{
    for (int k = 0; k < 2; ++k) {
        gbs_sampler_destroy(p->sampler[k]);
        gbs_context_destroy(p->ctx[k]);
    }
    gbs_model_release(p->model);
}

static void assert_same_state(const pair *p)
{
    double x[2][9];
    for (int k = 0; k < 2; ++k)
        assert_int_equal(gbs_sampler_get_state(p->sampler[k], x[k]), GBS_OK);
    assert_memory_equal(x[0], x[1], sizeof x[0]);
}

static int stop_at_third(void *user, int64_t draw, const void *x)
{
    memcpy((double *)user + 9 * draw, x, 9 * sizeof(double));
    return draw == 2;
}

static void test_sinks(void **state)
{
    (void)state;
    for (int order = GBS_ORDER_FORWARD; order <= GBS_ORDER_PERMUTED; ++order) {
        pair p = open_pair((gbs_order)order);
        double seen[2][45] = {{0}}, out[2][400] = {{0}};
        for (int k = 0; k < 2; ++k) {
            const gbs_sink stopping = {.out = out[k],
                                       .chain_stride = 3, /* [draw, chain, site] with gaps */
                                       .draw_stride = 12,
                                       .site_stride = 1,
                                       .callback = stop_at_third,
                                       .user = seen[k]};
            assert_int_equal(gbs_sampler_sample(p.sampler[k], 5, 2, &stopping), GBS_STOPPED);
            assert_int_equal(gbs_sampler_next_sweep(p.sampler[k]), 6);
            const gbs_sink backwards = {
                .out = out[k] + 399, .chain_stride = -1, .draw_stride = -9, .site_stride = -3};
            assert_int_equal(gbs_sampler_sample(p.sampler[k], 4, 1, &backwards), GBS_OK);
            const gbs_sink nothing = {.out = NULL};
            assert_int_equal(gbs_sampler_sample(p.sampler[k], 3, 2, &nothing), GBS_OK);
            assert_int_equal(gbs_sampler_sample(p.sampler[k], 0, 1, &backwards), GBS_OK);
        }
        assert_memory_equal(seen[0], seen[1], sizeof seen[0]);
        assert_memory_equal(out[0], out[1], sizeof out[0]);
        assert_same_state(&p);
        close_pair(&p);
    }
    printf("checked: callbacks that stop, strides with gaps and backwards, draws for nobody\n");
}

static void test_set_state(void **state)
{
    (void)state;
    pair p = open_pair(GBS_ORDER_PERMUTED);
    double x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(gbs_sampler_set_state(p.sampler[k], x), GBS_OK);
        double back[9];
        assert_int_equal(gbs_sampler_get_state(p.sampler[k], back), GBS_OK);
        assert_memory_equal(x, back, sizeof x);
        assert_int_equal(gbs_sampler_run(p.sampler[k], 3), GBS_OK);
    }
    x[4] = INFINITY;
    assert_int_equal(gbs_sampler_set_state(p.sampler[1], x), GBS_ERROR_NOT_FINITE);
    assert_int_equal(gbs_sampler_run(p.sampler[1], -1), GBS_ERROR_ARGUMENT);
    assert_same_state(&p);
    close_pair(&p);
    printf("checked: a state set and read; one that is refused changes nothing\n");
}

/* Within rows a sweep leaves fixed sites as they are, so that a state which is set gets their
 * values, here and there. */
static void test_set_state_fixed(void **state)
{
    (void)state;
    static const double row[3] = {1, -1, 0}, least[1] = {-1}, fixed[3] = {NAN, NAN, 0.5};
    static const double given[3] = {0.25, 0.5, 7}, expected[3] = {0.25, 0.5, 0.5};
    gbs_context *const ctx[2] = {new_context(GBS_ISA_AUTO), fake_context(0)};
    gbs_model_spec m = spec_of(fixture_precision, 3);
    m.constraints = (gbs_constraints){.rows = 1, .matrix = row, .lower = least};
    m.fixed = fixed;
    gbs_model *const model = new_model(ctx[0], &m);
    double got[2][3], after[2][3];
    for (int k = 0; k < 2; ++k) {
        gbs_sampler_spec spec = gbs_sampler_spec_default();
        gbs_sampler *sampler = NULL;
        spec.start = GBS_START_ZERO;
        assert_int_equal(gbs_sampler_create(ctx[k], model, &spec, &sampler), GBS_OK);
        assert_int_equal(gbs_sampler_set_state(sampler, given), GBS_OK);
        assert_int_equal(gbs_sampler_get_state(sampler, got[k]), GBS_OK);
        assert_int_equal(gbs_sampler_run(sampler, 3), GBS_OK);
        assert_int_equal(gbs_sampler_get_state(sampler, after[k]), GBS_OK);
        assert_memory_equal(got[k], expected, sizeof expected);
        assert_true(after[k][2] == 0.5);
        gbs_sampler_destroy(sampler);
    }
    assert_memory_equal(after[0], after[1], sizeof after[0]);
    gbs_model_release(model);
    for (int k = 0; k < 2; ++k)
        gbs_context_destroy(ctx[k]);
    printf("checked: a state of 7 at a site fixed at 0.5 is 0.5 there, and stays it\n");
}

/* A run begun on one and gone on with on the other. */
static void test_checkpoint(void **state)
{
    (void)state;
    pair p = open_pair(GBS_ORDER_PERMUTED);
    gbs_moments *moments[2];
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(gbs_moments_create(p.ctx[k], 3, 3, &moments[k]), GBS_OK);
        const gbs_sink sink = {.moments = moments[k]};
        assert_int_equal(gbs_sampler_sample(p.sampler[k], 5, 1, &sink), GBS_OK);
    }
    size_t bytes;
    assert_int_equal(gbs_checkpoint_size(p.sampler[1], moments[1], &bytes), GBS_OK);
    void *const saved[2] = {malloc(bytes), malloc(bytes)};
    for (int k = 0; k < 2; ++k)
        assert_int_equal(gbs_checkpoint_write(p.sampler[k], moments[k], NULL, saved[k], bytes),
                         GBS_OK);
    assert_memory_equal(saved[0], saved[1], bytes);
    const gbs_sink on = {.moments = moments[0]}, on_device = {.moments = moments[1]};
    assert_int_equal(gbs_sampler_sample(p.sampler[0], 4, 1, &on), GBS_OK);
    assert_int_equal(gbs_sampler_sample(p.sampler[1], 9, 1, &on_device), GBS_OK);
    assert_int_equal(gbs_checkpoint_read(p.sampler[1], moments[1], saved[0], bytes), GBS_OK);
    assert_int_equal(gbs_sampler_sample(p.sampler[1], 4, 1, &on_device), GBS_OK);
    assert_same_state(&p);
    assert_memory_equal(gbs_moments_mean(moments[0]), gbs_moments_mean(moments[1]),
                        9 * sizeof(double));
    assert_memory_equal(gbs_moments_m2(moments[0]), gbs_moments_m2(moments[1]), 9 * sizeof(double));
    for (int k = 0; k < 2; ++k) {
        gbs_moments_destroy(moments[k]);
        free(saved[k]);
    }
    close_pair(&p);
    printf("checked: checkpoints of %zu bytes are the same, and go on on either side\n", bytes);
}

/* ---- moments ---- */

/* Moments made by the CPU's context, the sampler's, and one of another device; begun on the device
 * and gone on with on the CPU; read in between, and after their contexts have ended. */
static void test_moments(void **state)
{
    (void)state;
    gbs_context *const cpu = new_context(GBS_ISA_AUTO), *const first = fake_context(0),
                       *const second = fake_context(1);
    gbs_context *const makers[3] = {cpu, first, second};
    gbs_context *const runners[3] = {cpu, first, first};
    gbs_model *const model = fixture_model(cpu);
    gbs_moments *moments[3];
    for (int k = 0; k < 3; ++k) {
        gbs_sampler *sampler[2];
        gbs_sampler_spec spec = gbs_sampler_spec_default();
        assert_int_equal(gbs_moments_create(makers[k], 1, 3, &moments[k]), GBS_OK);
        for (int turn = 0; turn < 2; ++turn) { /* the second time on the CPU */
            const gbs_sink sink = {.moments = moments[k]};
            spec.first_sweep = 10 * turn;
            assert_int_equal(
                gbs_sampler_create(turn == 0 ? runners[k] : cpu, model, &spec, &sampler[turn]),
                GBS_OK);
            assert_int_equal(gbs_sampler_sample(sampler[turn], 7, 1, &sink), GBS_OK);
            gbs_sampler_destroy(sampler[turn]);
            if (turn == 0)
                assert_non_null(gbs_moments_m2(moments[k]));
        }
    }
    for (int k = 0; k < 3; ++k)
        gbs_context_destroy(makers[k]);
    for (int k = 1; k < 3; ++k) {
        assert_memory_equal(gbs_moments_mean(moments[0]), gbs_moments_mean(moments[k]),
                            3 * sizeof(double));
        assert_memory_equal(gbs_moments_m2(moments[0]), gbs_moments_m2(moments[k]),
                            3 * sizeof(double));
    }
    gbs_model_release(model);
    for (int k = 0; k < 3; ++k)
        gbs_moments_destroy(moments[k]);
    printf("checked: moments begun on a device and gone on with on the CPU\n");
}

/* ---- several at once ---- */

/* Two samplers of one context and one of another in turn, and the other ended in between. */
static void test_several(void **state)
{
    (void)state;
    pair p = open_pair(GBS_ORDER_FORWARD);
    gbs_context *const other = fake_context(0);
    gbs_sampler *guests[2];
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.seed = 9;
    assert_int_equal(gbs_sampler_create(p.ctx[1], p.model, &spec, &guests[0]), GBS_OK);
    assert_int_equal(gbs_sampler_create(other, p.model, &spec, &guests[1]), GBS_OK);
    for (int turn = 0; turn < 6; ++turn) {
        for (int k = 0; k < 2; ++k)
            assert_int_equal(gbs_sampler_run(p.sampler[k], 1), GBS_OK);
        if (turn < 3)
            for (int k = 0; k < 2; ++k)
                assert_int_equal(gbs_sampler_run(guests[k], 2), GBS_OK);
        if (turn == 2) {
            double x[2][3];
            for (int k = 0; k < 2; ++k)
                assert_int_equal(gbs_sampler_get_state(guests[k], x[k]), GBS_OK);
            assert_memory_equal(x[0], x[1], sizeof x[0]);
            gbs_sampler_destroy(guests[1]);
            gbs_context_destroy(other);
        }
    }
    assert_same_state(&p);
    gbs_sampler_destroy(guests[0]);
    close_pair(&p);
    printf("checked: three samplers of two contexts in turn, one context ended on the way\n");
}

enum { THREADS = 3 };

static void *work(void *told)
{
    const gbs_context_options options = fake_options();
    const device_case of = {.type = GBS_F32,
                            .dim = 9,
                            .chains = 11,
                            .order = GBS_ORDER_SYMMETRIC,
                            .omega = 1.2,
                            .warmup = 3,
                            .draws = 20,
                            .thin = 2};
    return case_compare(&of, &options, told, 1500) ? NULL : told;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    static char told[THREADS][1500];
    for (int k = 0; k < THREADS; ++k)
        assert_int_equal(pthread_create(&threads[k], NULL, work, told[k]), 0);
    for (int k = 0; k < THREADS; ++k) {
        void *failed;
        pthread_join(threads[k], &failed);
        if (failed != NULL)
            fail_msg("thread %d: %s", k, told[k]);
    }
    printf("checked: %d threads, each with a context of its own on one device\n", THREADS);
}

/* Bounds of every kind beside free and fixed sites, in every order, from native words and given
 * ones, plain and over-relaxed. */
static void test_bounds(void **state)
{
    (void)state;
    int count = 0;
    for (int type = 0; type < 2; ++type)
        for (int64_t dim = 1; dim < 14; dim += 4)
            case_each_bounded((gbs_type)type, dim, 1 + 3 * dim, compare, &count);
    printf("checked: %d runs between bounds\n", count);
}

/* Whitened, and within rows, from native numbers and given ones. */
static void test_constrained(void **state)
{
    (void)state;
    int count = 0;
    for (int type = 0; type < 2; ++type)
        for (int64_t dim = 1; dim < 14; dim += 4)
            case_each_constrained((gbs_type)type, dim, 1 + 3 * dim, compare, &count);
    printf("checked: %d runs whitened or within rows\n", count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),       cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_sinks),           cmocka_unit_test(test_set_state),
        cmocka_unit_test(test_set_state_fixed), cmocka_unit_test(test_checkpoint),
        cmocka_unit_test(test_moments),         cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_constrained),     cmocka_unit_test(test_several),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
