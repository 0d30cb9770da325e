/* gbs_truncnorm_f32 and _f64: every shape of operand against a plain loop over the scalar map and a
 * textbook Philox, parts of an array, given words, threads and instruction sets; the faults C14,
 * C20, C23, C26 and C92 of programs in use.  test_truncnorm_refused has what is refused. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kat/native_reference.h"
#include "kat/truncated.h"
#include "unit/matrices.h"

enum { MOST = 5000, PURPOSE = 2 };

static gbs_context *context_of(gbs_isa isa, int32_t threads)
{
    gbs_context_options options = gbs_context_options_default();
    options.isa = isa;
    options.threads = threads;
    gbs_context *ctx = NULL;
    assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
    return ctx;
}

static gbs_status run(gbs_context *ctx, gbs_type type, const gbs_truncnorm_spec *spec, void *out)
{
    return type == GBS_F32 ? gbs_truncnorm_f32(ctx, spec, out) : gbs_truncnorm_f64(ctx, spec, out);
}

static size_t size_of(gbs_type type)
{
    return type == GBS_F32 ? sizeof(float) : sizeof(double);
}

/* ---- the plain loop ---- */

typedef struct arrays {
    double f64[4][MOST];
    float f32[4][MOST];
    uint64_t word64[MOST];
    uint32_t word32[MOST];
} arrays;

static void fill_arrays(arrays *a, uint64_t seed)
{
    for (int i = 0; i < MOST; ++i) {
        const double s = exp(2 * next_signed(&seed)), m = 3 * next_signed(&seed);
        const double lo = m + 4 * s * next_signed(&seed);
        const double in[4] = {m, s, lo, lo + 3 * s * (1 + next_signed(&seed))};
        for (int k = 0; k < 4; ++k) {
            a->f64[k][i] = in[k];
            a->f32[k][i] = (float)in[k];
        }
        if (a->f32[3][i] < a->f32[2][i])
            a->f32[3][i] = a->f32[2][i];
        a->word64[i] = next_word(&seed);
        a->word32[i] = (uint32_t)a->word64[i];
    }
    /* any element of lower may meet any of upper */
    for (int i = 0; i < MOST; ++i) {
        a->f64[2][i] = fmin(a->f64[2][i], 20);
        a->f32[2][i] = fminf(a->f32[2][i], 20);
        a->f64[3][i] = 20 + fabs(a->f64[3][i]);
        a->f32[3][i] = 20 + fabsf(a->f32[3][i]);
    }
}

static const void *values_of(const arrays *a, gbs_type type, int k)
{
    if (k == 4)
        return type == GBS_F32 ? (const void *)a->word32 : (const void *)a->word64;
    return type == GBS_F32 ? (const void *)a->f32[k] : (const void *)a->f64[k];
}

/* Where an operand of this shape has its element for out's flat index. */
static int64_t place_of(const gbs_operand *operand, const gbs_truncnorm_spec *spec, int64_t flat)
{
    int64_t at = 0, step = 1;
    for (int d = spec->dims - 1, e = operand->dims - 1; d >= 0; --d, --e) {
        const int64_t index = flat % spec->shape[d];
        flat /= spec->shape[d];
        if (e >= 0) {
            at += (operand->shape[e] == 1 ? 0 : index) * step;
            step *= operand->shape[e];
        }
    }
    return at;
}

static uint64_t word_of(const gbs_truncnorm_spec *spec, gbs_type type, int64_t flat)
{
    const int64_t at = place_of(&spec->word, spec, flat);
    if (spec->stream == GBS_STREAM_GIVEN)
        return type == GBS_F32 ? ((const uint32_t *)spec->word.values)[at]
                               : ((const uint64_t *)spec->word.values)[at] & 0x1fffffffffffff;
    const native_address address = {spec->seed, (uint64_t)spec->sweep, spec->chain, PURPOSE};
    const int64_t each = type == GBS_F32 ? 4 : 2, place = spec->place + flat;
    uint32_t w[4];
    reference_words(address, (uint32_t)(place / each), w);
    if (type == GBS_F32)
        return w[place % 4];
    return place % 2 == 0 ? w[0] ^ (uint64_t)w[1] << 21 : w[2] ^ (uint64_t)w[3] << 21;
}

static double expected_at(const gbs_truncnorm_spec *spec, gbs_type type, int64_t flat)
{
    const gbs_operand *const operand[4] = {&spec->mean, &spec->sd, &spec->lower, &spec->upper};
    double in[4] = {0, 1, -INFINITY, INFINITY};
    for (int k = 0; k < 4; ++k) {
        const int64_t at = place_of(operand[k], spec, flat);
        if (operand[k]->values != NULL)
            in[k] = type == GBS_F32 ? (double)((const float *)operand[k]->values)[at]
                                    : ((const double *)operand[k]->values)[at];
    }
    /* the scalar map takes any number of draws */
    if (type == GBS_F64) {
        const uint64_t word = word_of(spec, type, flat);
        double x;
        truncated_scalar.draw_f64(1, &in[0], &in[1], &in[2], &in[3], &word, &x);
        return x;
    }
    const float f[4] = {(float)in[0], (float)in[1], (float)in[2], (float)in[3]};
    const uint32_t word = (uint32_t)word_of(spec, type, flat);
    float x;
    truncated_scalar.draw_f32(1, &f[0], &f[1], &f[2], &f[3], &word, &x);
    return (double)x;
}

static int64_t count_of(const gbs_truncnorm_spec *spec)
{
    int64_t count = 1;
    for (int d = 0; d < spec->dims; ++d)
        count *= spec->shape[d];
    return count;
}

static double at(const void *out, gbs_type type, int64_t i)
{
    return type == GBS_F32 ? (double)((const float *)out)[i] : ((const double *)out)[i];
}

static void check_against_loop(gbs_context *ctx, const gbs_truncnorm_spec *spec, gbs_type type)
{
    static double out[MOST];
    if (run(ctx, type, spec, out) != GBS_OK)
        fail_msg("expected draws, got: %s", gbs_context_message(ctx));
    for (int64_t i = 0; i < count_of(spec); ++i) {
        const double expected = expected_at(spec, type, i), got = at(out, type, i);
        if (expected != got)
            fail_msg("element %" PRId64 " of %d dimensions, type %d: expected %a, got %a, error "
                     "%g, bound 0",
                     i, (int)spec->dims, (int)type, expected, got, got - expected);
    }
}

/* ---- shapes ---- */

/* An operand with some of out's dimensions, from the left cut off or repeated. */
static gbs_operand random_operand(uint64_t *state, const gbs_truncnorm_spec *spec,
                                  const void *values)
{
    gbs_operand operand = gbs_operand_array(values, 0, NULL);
    operand.dims = (int32_t)(next_word(state) % (uint64_t)(spec->dims + 1));
    for (int e = 0; e < operand.dims; ++e)
        operand.shape[e] =
            next_word(state) % 3 == 0 ? 1 : spec->shape[spec->dims - operand.dims + e];
    return operand;
}

static gbs_truncnorm_spec random_spec(uint64_t *state, const arrays *a, gbs_type type)
{
    static const int64_t extents[] = {1, 2, 3, 5, 16, 33};
    gbs_truncnorm_spec spec = gbs_truncnorm_spec_default();
    int64_t count = 1;
    spec.dims = (int32_t)(next_word(state) % 6);
    for (int d = 0; d < spec.dims; ++d) {
        spec.shape[d] = extents[next_word(state) % 6];
        if (count * spec.shape[d] > MOST)
            spec.shape[d] = 1;
        count *= spec.shape[d];
    }
    gbs_operand *const operand[5] = {&spec.mean, &spec.sd, &spec.lower, &spec.upper, &spec.word};
    spec.stream = next_word(state) % 3 == 0 ? GBS_STREAM_GIVEN : GBS_STREAM_NATIVE;
    for (int k = 0; k < (spec.stream == GBS_STREAM_GIVEN ? 5 : 4); ++k)
        if (k == 4 || next_word(state) % 6 != 0)
            *operand[k] = random_operand(state, &spec, values_of(a, type, k));
    spec.seed = next_word(state);
    spec.sweep = (int64_t)(next_word(state) >> (16 + next_word(state) % 47));
    spec.chain = (int64_t)(next_word(state) >> (24 + next_word(state) % 39));
    spec.place = (int64_t)(next_word(state) % 1000000007);
    return spec;
}

static void test_shapes(void **state)
{
    (void)state;
    static arrays a;
    fill_arrays(&a, 5);
    uint64_t seed = 6;
    gbs_context *ctx[GBS_ISA_NEON + 1] = {NULL};
    for (int isa = GBS_ISA_SCALAR; isa <= GBS_ISA_NEON; ++isa)
        if (gbs_isa_available((gbs_isa)isa))
            ctx[isa] = context_of((gbs_isa)isa, isa);
    const int turns = getenv("GBS_TEST_QUICK") != NULL ? 60 : 300;
    for (int turn = 0; turn < turns; ++turn) {
        const gbs_type type = (gbs_type)(turn % 2);
        const gbs_truncnorm_spec spec = random_spec(&seed, &a, type);
        for (int isa = GBS_ISA_SCALAR; isa <= GBS_ISA_NEON; ++isa)
            if (ctx[isa] != NULL)
                check_against_loop(ctx[isa], &spec, type);
    }
    for (int isa = GBS_ISA_SCALAR; isa <= GBS_ISA_NEON; ++isa)
        gbs_context_destroy(ctx[isa]);
    printf("checked: %d calls of 0 to 5 dimensions against a plain loop, on every instruction "
           "set, on 1 to 3 threads\n",
           turns);
}

/* A large array in one call, in parts, and in place, on any number of threads. */
static void test_parts(void **state)
{
    (void)state;
    enum { COUNT = 100003 };
    for (int type = GBS_F32; type <= GBS_F64; ++type) {
        const size_t size = size_of((gbs_type)type);
        char *const whole = calloc(COUNT, 8), *const parts = calloc(COUNT, 8);
        const double lower64[1] = {1.5};
        const float lower32[1] = {1.5f};
        gbs_truncnorm_spec spec = gbs_truncnorm_spec_default();
        spec.dims = 1;
        spec.shape[0] = COUNT;
        spec.lower = gbs_operand_array(type == GBS_F32 ? (const void *)lower32 : lower64, 0, NULL);
        spec.seed = 9;
        spec.chain = 3;
        for (int32_t threads = 1; threads <= 4; ++threads) {
            gbs_context *const ctx = context_of(GBS_ISA_AUTO, threads);
            assert_int_equal(run(ctx, (gbs_type)type, &spec, threads == 1 ? whole : parts), GBS_OK);
            if (threads > 1)
                assert_memory_equal(whole, parts, COUNT * size);
            gbs_context_destroy(ctx);
        }
        gbs_context *const ctx = context_of(GBS_ISA_AUTO, 1);
        memset(parts, 0, COUNT * size);
        for (int64_t from = 0, step = 1; from < COUNT; from += step, step = step * 3 % 1013 + 1) {
            gbs_truncnorm_spec part = spec;
            part.place = from;
            part.shape[0] = from + step < COUNT ? step : COUNT - from;
            assert_int_equal(run(ctx, (gbs_type)type, &part, parts + (size_t)from * size), GBS_OK);
        }
        assert_memory_equal(whole, parts, COUNT * size);

        /* in place: the means become the draws */
        gbs_truncnorm_spec in_place = spec;
        const int64_t shape[1] = {COUNT};
        memset(parts, 0, COUNT * size);
        in_place.mean = gbs_operand_array(parts, 1, shape);
        assert_int_equal(run(ctx, (gbs_type)type, &in_place, parts), GBS_OK);
        assert_memory_equal(whole, parts, COUNT * size);
        gbs_context_destroy(ctx);
        free(whole);
        free(parts);
    }
    printf("checked: %d draws of each type in one call on 1 to 4 threads, in parts, in place\n",
           COUNT);
}

/* ---- faults of programs in use ---- */

/* C14, C20: a row of means against scalar bounds, and boxes that move with the means. */
static void test_means_are_not_recycled(void **state)
{
    (void)state;
    enum { DRAWS = 40000, D = 3 };
    gbs_context *const ctx = context_of(GBS_ISA_AUTO, 1);
    const int64_t shape[2] = {DRAWS, D}, row[1] = {D};
    const double c14[D] = {1, 2, 3}, c20[D] = {10, -10, 0}, sd = 0.1, lo = 0, hi = 2;
    const double c20_lo[D] = {9, -11, -1}, c20_hi[D] = {11, -9, 1};
    const double c14_mean[D] = {1.0, 1.92021154392, 1.99019067660};
    double *const out = malloc(sizeof *out * DRAWS * D);
    gbs_truncnorm_spec spec = gbs_truncnorm_spec_default();
    spec.dims = 2;
    memcpy(spec.shape, shape, sizeof shape);
    spec.seed = 14;
    for (int c = 0; c < 2; ++c) {
        spec.mean = gbs_operand_array(c == 0 ? c14 : c20, 1, row);
        spec.sd = gbs_operand_array(c == 0 ? &sd : NULL, 0, NULL);
        spec.lower = c == 0 ? gbs_operand_array(&lo, 0, NULL) : gbs_operand_array(c20_lo, 1, row);
        spec.upper = c == 0 ? gbs_operand_array(&hi, 0, NULL) : gbs_operand_array(c20_hi, 1, row);
        assert_int_equal(gbs_truncnorm_f64(ctx, &spec, out), GBS_OK);
        for (int j = 0; j < D; ++j) {
            double mean = 0, square = 0;
            for (int i = 0; i < DRAWS; ++i) {
                const double x = out[i * D + j];
                assert_true(x >= (c == 0 ? lo : c20_lo[j]) && x <= (c == 0 ? hi : c20_hi[j]));
                mean += x / (double)DRAWS;
                square += (x - c20[j]) * (x - c20[j]) / (double)DRAWS;
            }
            const double expected = c == 0 ? c14_mean[j] : c20[j];
            const double bound = 5 * (c == 0 ? 0.1 : 0.5396) / sqrt((double)DRAWS);
            if (!(fabs(mean - expected) <= bound))
                fail_msg("case %s, column %d: expected %g, got %g, error %g, bound %g",
                         c == 0 ? "C14" : "C20", j, expected, mean, mean - expected, bound);
            if (c == 1 && !(fabs(sqrt(square) - 0.5396) <= bound))
                fail_msg("C20, column %d: expected sd 0.5396, got %g, bound %g", j, sqrt(square),
                         bound);
        }
    }
    free(out);
    gbs_context_destroy(ctx);
    printf("checked: C14 and C20, %d draws: each column has its own mean and box\n", DRAWS);
}

/* C23: equal bounds give that number; C92: one draw, one element, none; C26: a batch of boxes. */
static void test_small_and_equal(void **state)
{
    (void)state;
    gbs_context *const ctx = context_of(GBS_ISA_AUTO, 1);
    const double lo[3] = {1, -1, -1}, hi[3] = {1, 1, 1};
    const int64_t three[1] = {3}, batch[2] = {10, 25};
    double x[3], one = -5, many[250], single[25], mean[10];
    gbs_truncnorm_spec spec = gbs_truncnorm_spec_default();
    assert_int_equal(gbs_truncnorm_f64(ctx, &spec, &one), GBS_OK);
    assert_true(fabs(one) < 9 && one != -5);
    spec.dims = 1;
    spec.shape[0] = 0;
    assert_int_equal(gbs_truncnorm_f64(ctx, &spec, NULL), GBS_OK);
    spec.shape[0] = 3;
    spec.lower = gbs_operand_array(lo, 1, three);
    spec.upper = gbs_operand_array(hi, 1, three);
    assert_int_equal(gbs_truncnorm_f64(ctx, &spec, x), GBS_OK);
    if (x[0] != 1 || x[1] == x[2])
        fail_msg("C23: expected 1 and two different numbers, got %g, %g, %g", x[0], x[1], x[2]);

    spec = gbs_truncnorm_spec_default();
    spec.dims = 2;
    memcpy(spec.shape, batch, sizeof batch);
    for (int g = 0; g < 10; ++g)
        mean[g] = g - 4.5;
    const int64_t column[2] = {10, 1};
    const double ten = 10, minus_ten = -10;
    spec.mean = gbs_operand_array(mean, 2, column);
    spec.lower = gbs_operand_array(&minus_ten, 0, NULL);
    spec.upper = gbs_operand_array(&ten, 0, NULL);
    assert_int_equal(gbs_truncnorm_f64(ctx, &spec, many), GBS_OK);
    for (int g = 0; g < 10; ++g) {
        gbs_truncnorm_spec alone = spec;
        alone.dims = 1;
        alone.shape[0] = 25;
        alone.mean = gbs_operand_array(&mean[g], 0, NULL);
        alone.place = 25 * g;
        assert_int_equal(gbs_truncnorm_f64(ctx, &alone, single), GBS_OK);
        assert_memory_equal(single, many + 25 * g, sizeof single);
    }
    gbs_context_destroy(ctx);
    printf(
        "checked: C23, C26, C92: equal bounds, ten boxes at once and one by one, single draws\n");
}

/* Draws that collapse onto a bound are counted; ordinary ones are not. */
static void test_on_bound(void **state)
{
    (void)state;
    enum { COUNT = 4096 };
    gbs_context *const ctx = context_of(GBS_ISA_AUTO, 2);
    static float x[COUNT];
    const float far = 1e9f, near = 3;
    int64_t on_bound = -1;
    gbs_truncnorm_spec spec = gbs_truncnorm_spec_default();
    spec.dims = 1;
    spec.shape[0] = COUNT;
    spec.on_bound = &on_bound;
    spec.lower = gbs_operand_array(&far, 0, NULL);
    assert_int_equal(gbs_truncnorm_f32(ctx, &spec, x), GBS_OK);
    assert_int_equal(on_bound, COUNT);
    spec.lower = gbs_operand_array(&near, 0, NULL);
    assert_int_equal(gbs_truncnorm_f32(ctx, &spec, x), GBS_OK);
    assert_int_equal(on_bound, 0);
    spec.upper = spec.lower; /* a point is no box */
    assert_int_equal(gbs_truncnorm_f32(ctx, &spec, x), GBS_OK);
    assert_int_equal(on_bound, 0);
    gbs_context_destroy(ctx);
    printf("checked: %d draws beyond the type's resolution are counted, others are not\n", COUNT);
}

/* A normal as wide as the type: every draw is a number, by the law within the type's range. */
static void test_as_wide_as_the_type(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    gbs_context *const ctx = context_of(GBS_ISA_AUTO, 1);
    static union {
        float f32[COUNT];
        double f64[COUNT];
    } x;
    for (int type = GBS_F32; type <= GBS_F64; ++type)
        for (int half = 0; half < 2; ++half) {
            const float sd32 = 2e38f, zero32 = 0;
            const double sd64 = 1e308, zero64 = 0;
            const double largest = type == GBS_F32 ? (double)FLT_MAX : DBL_MAX;
            const double reach = largest / (type == GBS_F32 ? (double)sd32 : sd64);
            gbs_truncnorm_spec spec = gbs_truncnorm_spec_default();
            spec.dims = 1;
            spec.shape[0] = COUNT;
            spec.sd = gbs_operand_array(type == GBS_F32 ? (const void *)&sd32 : &sd64, 0, NULL);
            if (half)
                spec.lower =
                    gbs_operand_array(type == GBS_F32 ? (const void *)&zero32 : &zero64, 0, NULL);
            assert_int_equal(run(ctx, (gbs_type)type, &spec, &x), GBS_OK);
            int outside = 0, within = 0;
            for (int i = 0; i < COUNT; ++i) {
                const double v = type == GBS_F32 ? (double)x.f32[i] : x.f64[i];
                outside += !isfinite(v) || (half && v < 0);
                within += fabs(v) < largest / 2;
            }
            const double p = erf(reach / 2 / sqrt(2)) / erf(reach / sqrt(2));
            const double error = sqrt(p * (1 - p) / COUNT), got = (double)within / COUNT;
            if (outside != 0 || fabs(got - p) > 5 * error)
                fail_msg("%s, %s: %d draws infinite or outside; below half the type's range "
                         "expected %.4f, got %.4f, bound %.4f",
                         type == GBS_F32 ? "float" : "double", half ? "above 0" : "free", outside,
                         p, got, 5 * error);
        }
    gbs_context_destroy(ctx);
    printf("checked: sd 2e38 in float and 1e308 in double: %d draws each, all numbers\n", COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_means_are_not_recycled),
        cmocka_unit_test(test_small_and_equal),
        cmocka_unit_test(test_on_bound),
        cmocka_unit_test(test_as_wide_as_the_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
