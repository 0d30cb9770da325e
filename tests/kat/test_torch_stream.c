/* torch.randn on a CPU against what torch itself drew: the recordings of tools/
 * make_torch_records.py, values quoted in PyTorch's own bug reports, and the generator's state
 * byte for byte.  Bounds are those of the stream: torch's float Box-Muller is off by up to 3e-6
 * (a float logarithm near u = 1, a float angle), its double one by rounding. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "kat/close.h"
#include "kat/records.h"
#include "rng/torch_single.h"
#include "rng/torch_stream.h"

#define BOUND_F32 3e-6
#define BOUND_F64 1e-14

enum { STATE = GBS_TORCH_CPU_STATE_BYTES, AT_NORMAL = 5024, AT_HAS_NORMAL = 5040 };
enum { LARGEST_CALL = 4096 };

/* One call of n elements, widened. */
static void randn(gbs_torch_cpu *generator, gbs_type type, int64_t n, double *out)
{
    static float narrow[LARGEST_CALL];
    if (type == GBS_F64) {
        gbs_torch_cpu_randn_f64(generator, n, out, 1);
        return;
    }
    gbs_torch_cpu_randn_f32(generator, n, narrow, 1);
    for (int64_t k = 0; k < n; k++)
        out[k] = (double)narrow[k];
}

/* ---- recordings ---- */

static void matches_recorded_calls(void **unused)
{
    (void)unused;
    static const int64_t sizes[] = {1, 2, 15, 16, 17, 31, 100, 4096};
    records all = records_load(GBS_TEST_DATA "/kat/torch_randn.bin");
    static double got[LARGEST_CALL];
    int good = 1;
    for (int type = 0; type < 2; type++) {
        closeness c =
            closeness_start(type == GBS_F32 ? "recorded calls, float" : "recorded calls, double",
                            type == GBS_F32 ? BOUND_F32 : BOUND_F64);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            char name[48];
            snprintf(name, sizeof name, "cpu%s_%lld", type == GBS_F32 ? "" : "64",
                     (long long)sizes[s]);
            const record r = records_get(&all, name);
            gbs_torch_cpu generator;
            gbs_torch_cpu_seed(&generator, 2024);
            for (int64_t call = 0; call < r.rows; call++) {
                randn(&generator, (gbs_type)type, sizes[s], got);
                for (int64_t k = 0; k < sizes[s]; k++)
                    closeness_add(&c, k, record_value(&r, call * sizes[s] + k), got[k]);
            }
        }
        good &= closeness_end(&c);
    }
    free(all.bytes);
    assert_true(good);
}

/* Byte for byte, but for the kept normal, which is a double like any drawn one. */
static int same_state(const char *when, const unsigned char *expected, const unsigned char *got)
{
    double a, b;
    memcpy(&a, expected + AT_NORMAL, sizeof a);
    memcpy(&b, got + AT_NORMAL, sizeof b);
    for (int k = 0; k < STATE; k++) {
        if ((k < AT_NORMAL || k >= AT_NORMAL + 8) && expected[k] != got[k]) {
            printf("FAILED state %s: byte %d: expected %d, got %d\n", when, k, expected[k], got[k]);
            return 0;
        }
    }
    if (!(fabs(a - b) <= BOUND_F64)) {
        printf("FAILED state %s: kept normal: expected %.17g, got %.17g, error %.3g, bound %.3g\n",
               when, a, b, fabs(a - b), BOUND_F64);
        return 0;
    }
    return 1;
}

static int matches_state(const char *when, const gbs_torch_cpu *generator, const record *states,
                         int64_t row)
{
    unsigned char got[STATE];
    gbs_torch_cpu_get_state(generator, got);
    return same_state(when, states->data + row * STATE, got);
}

/* Draws the recorded calls first .. end - 1; `at` walks through the recorded values. */
static void draw_calls(gbs_torch_cpu *generator, const record *calls, const record *values,
                       int64_t first, int64_t end, int64_t *at, closeness *f32, closeness *f64)
{
    enum { EDGE = 8 };
    static double got[LARGEST_CALL];
    for (int64_t call = first; call < end; call++) {
        const int64_t n = record_integer(calls, 2 * call);
        const gbs_type type = (gbs_type)record_integer(calls, 2 * call + 1);
        randn(generator, type, n, got);
        for (int64_t k = 0; k < n; k++) {
            if (n <= 2 * EDGE || k < EDGE || k >= n - EDGE)
                closeness_add(type == GBS_F32 ? f32 : f64, k, record_value(values, (*at)++),
                              got[k]);
        }
    }
}

/* Mixed sizes and types; the second half again from torch's own state half-way. */
static void matches_recorded_sequences(void **unused)
{
    (void)unused;
    records all = records_load(GBS_TEST_DATA "/kat/torch_sequences.bin");
    const record seeds = records_get(&all, "seeds");
    closeness f32 = closeness_start("call sequences, float", BOUND_F32);
    closeness f64 = closeness_start("call sequences, double", BOUND_F64);
    int good = 1;
    for (int64_t s = 0; s < seeds.rows; s++) {
        char name[48];
        snprintf(name, sizeof name, "calls_%lld", (long long)s);
        const record calls = records_get(&all, name);
        snprintf(name, sizeof name, "values_%lld", (long long)s);
        const record values = records_get(&all, name);
        snprintf(name, sizeof name, "states_%lld", (long long)s);
        const record states = records_get(&all, name);
        const int64_t half = calls.rows / 2;

        gbs_torch_cpu generator, resumed;
        gbs_torch_cpu_seed(&generator, (uint64_t)record_integer(&seeds, s));
        int64_t at = 0;
        good &= matches_state("fresh", &generator, &states, 0);
        draw_calls(&generator, &calls, &values, 0, half, &at, &f32, &f64);
        good &= matches_state("half-way", &generator, &states, 1);
        assert_int_equal(gbs_torch_cpu_set_state(&resumed, states.data + STATE), GBS_OK);
        int64_t at_resumed = at;
        draw_calls(&generator, &calls, &values, half, calls.rows, &at, &f32, &f64);
        draw_calls(&resumed, &calls, &values, half, calls.rows, &at_resumed, &f32, &f64);
        good &= matches_state("after", &generator, &states, 2);
        good &= matches_state("after a resume", &resumed, &states, 2);
    }
    good &= closeness_end(&f32) & closeness_end(&f64);
    printf("  states: %lld seeds, 4 states each, 5056 bytes\n", (long long)seeds.rows);
    free(all.bytes);
    assert_true(good);
}

/* ---- values quoted in bug reports ---- */

typedef struct quoted {
    int64_t n, first, count;
    double values[4];
} quoted;

/* pytorch/pytorch#80202, #127164: seed 0, float.  Quoted to seven decimals. */
static void depends_on_the_number_of_elements(void **unused)
{
    (void)unused;
    static const quoted cases[] = {
        {7, 0, 4, {1.5409961, -0.2934289, -2.1787894, 0.5684313}},
        {8, 0, 4, {1.5409961, -0.2934289, -2.1787894, 0.5684313}},
        {14, 0, 4, {1.5409961, -0.2934289, -2.1787894, 0.5684313}},
        {15, 0, 4, {1.5409961, -0.2934289, -2.1787894, 0.5684313}},
        {16, 0, 4, {-1.1258398, -1.1523602, -0.2505786, -0.4338788}},
        {16, 4, 4, {0.8487, 0.6920, -0.3160, -2.1152}},
        {16, 12, 4, {0.1198, 1.2377, 1.1168, -0.2473}},
        {17, 0, 4, {-1.1258398, -1.6959312, 0.5666506, 0.7935084}},
        {17, 16, 1, {0.9318266}},
        {32, 0, 4, {-1.1258398, -1.1523602, -0.2505786, -0.4338788}},
    };
    int good = 1;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const int four_decimals = cases[c].values[0] == 0.8487 || cases[c].values[0] == 0.1198;
        char what[48];
        snprintf(what, sizeof what, "randn(%lld) from element %lld", (long long)cases[c].n,
                 (long long)cases[c].first);
        closeness close = closeness_start(what, BOUND_F32 + (four_decimals ? 5e-5 : 5e-8));
        gbs_torch_cpu generator;
        double got[32];
        gbs_torch_cpu_seed(&generator, 0);
        randn(&generator, GBS_F32, cases[c].n, got);
        for (int64_t k = 0; k < cases[c].count; k++)
            closeness_add(&close, cases[c].first + k, cases[c].values[k], got[cases[c].first + k]);
        good &= closeness_end(&close);
    }
    assert_true(good);
}

/* pytorch/pytorch#80202: the eighth normal is the kept half of the fourth pair. */
static void keeps_the_second_half_of_a_pair(void **unused)
{
    (void)unused;
    closeness c = closeness_start("eighth normal, quoted to seven decimals", BOUND_F32 + 5e-8);
    gbs_torch_cpu generator, other, restored;
    unsigned char state[STATE];
    double seven[7], large[16], eighth;
    gbs_torch_cpu_seed(&generator, 0);
    gbs_torch_cpu_seed(&other, 99);
    for (int64_t k = 0; k < 7; k++) { /* two generators in turn */
        randn(&generator, GBS_F32, 1, seven + k);
        randn(&other, GBS_F64, 1, large);
    }
    gbs_torch_cpu_get_state(&generator, state);
    gbs_torch_cpu_seed(&restored, 5);
    assert_int_equal(gbs_torch_cpu_set_state(&restored, state), GBS_OK);
    randn(&restored, GBS_F64, 16, large);  /* leaves the kept normal alone */
    randn(&restored, GBS_F64, 1, &eighth); /* and serves either type */
    closeness_add(&c, 8, 0.8380263, eighth);
    randn(&generator, GBS_F32, 1, &eighth);
    closeness_add(&c, 8, 0.8380263, eighth);
    assert_true(closeness_end(&c));

    gbs_torch_cpu_seed(&generator, 0);
    randn(&generator, GBS_F32, 1, seven);
    gbs_torch_cpu_seed(&generator, 0);
    assert_int_equal(generator.has_normal, 0);
}

/* pytorch/pytorch#33546: the state holds all 64 bits, the words come from the low 32. */
static void takes_all_seeds(void **unused)
{
    (void)unused;
    static const uint64_t seeds[] = {UINT64_MAX, UINT64_C(1) << 63, UINT64_C(5) << 32 | 7, 0};
    for (size_t s = 0; s < sizeof seeds / sizeof *seeds; s++) {
        gbs_torch_cpu whole, low;
        unsigned char state[STATE];
        double a[16], b[16];
        gbs_torch_cpu_seed(&whole, seeds[s]);
        gbs_torch_cpu_seed(&low, seeds[s] & UINT32_MAX);
        gbs_torch_cpu_get_state(&whole, state);
        uint64_t reported;
        memcpy(&reported, state, sizeof reported);
        assert_true(reported == seeds[s]);
        assert_int_equal(gbs_torch_cpu_set_state(&whole, state), GBS_OK);
        assert_true(whole.seed == seeds[s]);
        randn(&whole, GBS_F64, 16, a);
        randn(&low, GBS_F64, 16, b);
        assert_memory_equal(a, b, sizeof a);
    }
    printf("  seeds 0, 2^63, 2^64 - 1 and 5 2^32 + 7 survive the state\n");
}

/* ---- extremes: the generator's words forced through its state ---- */

static uint32_t untempered(uint32_t y)
{
    y ^= y >> 18;
    y ^= (y << 15) & 0xefc60000u;
    uint32_t x = y;
    for (int k = 0; k < 4; k++)
        x = y ^ ((x << 7) & 0x9d2c5680u);
    y = x;
    for (int k = 0; k < 2; k++)
        x = y ^ (x >> 11);
    return x;
}

/* A generator whose next 300 words are all `word`. */
static gbs_torch_cpu forced(uint32_t word)
{
    unsigned char state[STATE];
    gbs_torch_cpu generator;
    gbs_torch_cpu_seed(&generator, 1);
    double one;
    randn(&generator, GBS_F64, 1, &one);
    generator.has_normal = 0;
    generator.normal = 0.0;
    for (int k = 4; k < 304; k++)
        generator.words[k] = untempered(word);
    gbs_torch_cpu_get_state(&generator, state);
    assert_int_equal(gbs_torch_cpu_set_state(&generator, state), GBS_OK);
    return generator;
}

/* Words 0 and all-ones: u = 1 gives 0, u = 2^-24 or 2^-53 the largest radius, never an infinity. */
static void extreme_words_stay_finite(void **unused)
{
    (void)unused;
    static const int64_t sizes[] = {4, 16, 20};
    for (int ones = 0; ones < 2; ones++) {
        for (int type = 0; type < 2; type++) {
            for (size_t s = 0; s < 3; s++) {
                const int single = sizes[s] < 16;
                const double smallest = type == GBS_F32 && !single ? 0x1p-24 : 0x1p-53;
                const double radius = ones ? sqrt(-2.0 * log(smallest)) : 0.0;
                const double angle = ones ? 2.0 * 3.14159265358979323846 * (1.0 - smallest) : 0.0;
                gbs_torch_cpu generator = forced(ones ? UINT32_MAX : 0);
                double got[20];
                randn(&generator, (gbs_type)type, sizes[s], got);
                closeness c = closeness_start(ones ? "all words ones" : "all words zero",
                                              type == GBS_F32 ? BOUND_F32 : BOUND_F64);
                const double cosine = radius * cos(angle);
                /* sin(2 pi (1 - eps)) = -2 pi eps: libm's argument has lost eps, so not sin(). */
                const double sine = ones ? radius * -6.283185307179586 * smallest : 0.0;
                for (int64_t k = 0; k < sizes[s]; k++) {
                    const int is_cosine = single ? k % 2 == 0 : k % 16 < 8;
                    if (sizes[s] != 20 || k < 4) /* 20: the last 16 are redrawn */
                        closeness_add(&c, k, is_cosine ? cosine : sine, got[k]);
                    assert_true(isfinite(got[k]));
                }
                assert_true(closeness_end(&c));
            }
        }
    }
}

/* A pair of a small call against its formula, by this machine's C library as torch's is: a rounding
 * or two apart, mostly none.  Every fourth radius is near 0, every fourth near 1. */
static void small_calls_follow_the_formula(void **unused)
{
    (void)unused;
    enum { COUNT = 400000 };
    const uint64_t most = (UINT64_C(1) << 53) - 1;
    closeness c = closeness_start("pairs against log1p, sin and cos", BOUND_F64);
    uint64_t word = 1;
    int64_t same = 0;
    for (int64_t k = 0; k < COUNT; k++) {
        uint64_t w[2];
        for (int j = 0; j < 2; j++) {
            word = word * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            w[j] = (word ^ word >> 29) & most;
        }
        if (k % 4 < 2)
            w[0] = (k % 4 == 0 ? 0 : most) ^ w[0] >> (k / 4 % 54);
        const double u1 = (double)w[1] * 0x1p-53, u2 = (double)w[0] * 0x1p-53;
        const double r = sqrt(-2.0 * log1p(-u2)), angle = 6.283185307179586 * u1;
        double cosine, sine;
        gbs_torch_single_pair(w[0], w[1], &cosine, &sine);
        closeness_add(&c, k, r * cos(angle), cosine);
        closeness_add(&c, k, r * sin(angle), sine);
        same += (r * cos(angle) == cosine) + (r * sin(angle) == sine);
    }
    printf("  %.2f %% have this C library's bits\n", 50.0 * (double)same / (double)COUNT);
    assert_true(closeness_end(&c));
}

/* ---- strides and damaged states ---- */

static void strided_output_is_the_same(void **unused)
{
    (void)unused;
    enum { N = 100, STRIDE = 3 };
    gbs_torch_cpu a, b;
    float plain[N], strided[N * STRIDE];
    double plain64[N], strided64[N * STRIDE];
    gbs_torch_cpu_seed(&a, 3);
    gbs_torch_cpu_seed(&b, 3);
    for (int64_t n = 0; n <= N; n++) {
        memset(strided, 0, sizeof strided);
        memset(strided64, 0, sizeof strided64);
        gbs_torch_cpu_randn_f32(&a, n, plain, 1);
        gbs_torch_cpu_randn_f32(&b, n, strided, STRIDE);
        gbs_torch_cpu_randn_f64(&a, n, plain64, 1);
        gbs_torch_cpu_randn_f64(&b, n, strided64, STRIDE);
        for (int64_t k = 0; k < N * STRIDE; k++) {
            const int used = k % STRIDE == 0 && k / STRIDE < n;
            assert_true(strided[k] == (used ? plain[k / STRIDE] : 0.0f));
            assert_true(strided64[k] == (used ? plain64[k / STRIDE] : 0.0));
        }
    }
    printf("  n = 0 ... %d with stride %d: same bits, nothing else written\n", N, STRIDE);
}

typedef struct damage {
    const char *what;
    int at;
    int bytes;
    uint64_t value;
} damage;

static void refuses_damaged_states(void **unused)
{
    (void)unused;
    static const damage cases[] = {
        {"seeded 0", 12, 4, 0},
        {"seeded 2", 12, 4, 2},
        {"left 0", 8, 4, 0},
        {"left -1", 8, 4, UINT32_MAX},
        {"left 625", 8, 4, 625},
        {"next out of step with left", 16, 8, 17},
        {"next beyond 32 bits", 16, 8, UINT64_C(1) << 32 | 4},
        {"word 0 beyond 32 bits", 24, 8, UINT64_C(1) << 32},
        {"word 623 beyond 32 bits", 24 + 8 * 623, 8, UINT64_MAX},
        {"flag 2", AT_HAS_NORMAL, 4, 2},
        {"normal without flag", AT_HAS_NORMAL, 4, 0},
        {"normal NaN", AT_NORMAL, 8, UINT64_C(0x7ff8000000000000)},
        {"normal infinite", AT_NORMAL, 8, UINT64_C(0x7ff0000000000000)},
        {"normal_x set", 5016, 8, 1},
        {"normal_rho set", 5032, 8, 1},
        {"float normal without flag", 5048, 4, 1},
        {"float flag 3", 5052, 1, 3},
    };
    gbs_torch_cpu generator;
    unsigned char good[STATE], bad[STATE], after[STATE];
    double one;
    gbs_torch_cpu_seed(&generator, 11);
    randn(&generator, GBS_F64, 1, &one);
    gbs_torch_cpu_get_state(&generator, good);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        memcpy(bad, good, STATE);
        for (int k = 0; k < cases[c].bytes; k++)
            bad[cases[c].at + k] = (unsigned char)(cases[c].value >> (8 * k));
        const gbs_status status = gbs_torch_cpu_set_state(&generator, bad);
        if (status != GBS_ERROR_STATE)
            print_error("%s: expected %d, got %d\n", cases[c].what, GBS_ERROR_STATE, status);
        assert_int_equal(status, GBS_ERROR_STATE);
        gbs_torch_cpu_get_state(&generator, after);
        assert_memory_equal(after, good, STATE);
    }
    memcpy(bad, good, STATE);
    memset(bad + 24, 0, 8 * 624);
    assert_int_equal(gbs_torch_cpu_set_state(&generator, bad), GBS_ERROR_STATE);
    memset(bad, 0, STATE);
    assert_int_equal(gbs_torch_cpu_set_state(&generator, bad), GBS_ERROR_STATE);
    printf("  %d damaged states refused, generator unchanged\n",
           (int)(sizeof cases / sizeof *cases) + 2);
}

/* A float normal kept by other code of torch's is carried along. */
static void carries_the_float_normal(void **unused)
{
    (void)unused;
    gbs_torch_cpu generator;
    unsigned char state[STATE], again[STATE];
    gbs_torch_cpu_seed(&generator, 12);
    gbs_torch_cpu_get_state(&generator, state);
    state[5048 + 3] = 0x3f;
    state[5052] = 1;
    assert_int_equal(gbs_torch_cpu_set_state(&generator, state), GBS_OK);
    gbs_torch_cpu_get_state(&generator, again);
    assert_memory_equal(again, state, STATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_recorded_calls),
        cmocka_unit_test(matches_recorded_sequences),
        cmocka_unit_test(depends_on_the_number_of_elements),
        cmocka_unit_test(keeps_the_second_half_of_a_pair),
        cmocka_unit_test(takes_all_seeds),
        cmocka_unit_test(extreme_words_stay_finite),
        cmocka_unit_test(small_calls_follow_the_formula),
        cmocka_unit_test(strided_output_is_the_same),
        cmocka_unit_test(refuses_damaged_states),
        cmocka_unit_test(carries_the_float_normal),
    };
    return cmocka_run_group_tests_name("torch stream on a CPU", tests, NULL, NULL);
}
