/* What gbs_truncnorm_f32 and _f64 refuse, with the argument and the element named and out
 * untouched: bounds that cross or are no numbers (C25), shapes that do not broadcast (C14),
 * streams. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "gibbsite/gibbsite.h"

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

typedef struct refusal {
    const char *what;
    double m, s, lo, hi;
    gbs_status status;
    const char *message;
} refusal;

static const refusal refusals[] = {
    {"C25 a", 0, 1, 2, 1, GBS_ERROR_ARGUMENT, "lower[1]: 2 is above upper[1]: 1"},
    {"C25 b, lower", 0, 1, NAN, 1, GBS_ERROR_NOT_FINITE, "lower[1]: NaN"},
    {"C25 b, upper", 0, 1, 0, NAN, GBS_ERROR_NOT_FINITE, "upper[1]: NaN"},
    {"C25 d", 0, 1, INFINITY, INFINITY, GBS_ERROR_ARGUMENT, "lower[1]: infinity"},
    {"C25 e, below", 0, 1, -INFINITY, -INFINITY, GBS_ERROR_ARGUMENT, "upper[1]: -infinity"},
    {"mean NaN", NAN, 1, 0, 1, GBS_ERROR_NOT_FINITE, "mean[1]: nan"},
    {"mean infinite", INFINITY, 1, 0, 1, GBS_ERROR_NOT_FINITE, "mean[1]: inf"},
    {"sd NaN", 0, NAN, 0, 1, GBS_ERROR_NOT_FINITE, "sd[1]: nan"},
    {"sd 0", 0, 0, 0, 1, GBS_ERROR_ARGUMENT, "sd[1]: 0 is not in ["},
    {"sd negative", 0, -1, 0, 1, GBS_ERROR_ARGUMENT, "sd[1]: -1 is not in ["},
    {"sd infinite", 0, INFINITY, 0, 1, GBS_ERROR_ARGUMENT, "sd[1]: inf is not in ["},
};

static void check_refused(gbs_context *ctx, const char *what, gbs_type type,
                          const gbs_truncnorm_spec *spec, gbs_status status, const char *message,
                          void *out, size_t bytes)
{
    char *const before = malloc(bytes);
    memcpy(before, out, bytes);
    const gbs_status got = run(ctx, type, spec, out);
    if (got != status || strstr(gbs_context_message(ctx), message) == NULL)
        fail_msg("%s: expected %s and \"%s\", got %s and \"%s\"", what, gbs_status_name(status),
                 message, gbs_status_name(got), gbs_context_message(ctx));
    assert_memory_equal(before, out, bytes);
    free(before);
}

static void test_values_refused(void **state)
{
    (void)state;
    enum { COUNT = 3 };
    gbs_context *const ctx = context_of(GBS_ISA_AUTO, 1);
    const int64_t shape[1] = {COUNT};
    for (size_t k = 0; k < sizeof refusals / sizeof *refusals; ++k)
        for (int type = GBS_F32; type <= GBS_F64; ++type) {
            const double bad[4] = {refusals[k].m, refusals[k].s, refusals[k].lo, refusals[k].hi};
            double in[4][COUNT] = {{0, 0, 0}, {1, 1, 1}, {-1, -1, -1}, {1, 1, 1}};
            float in_f[4][COUNT];
            double out[COUNT] = {7, 7, 7};
            gbs_truncnorm_spec spec = gbs_truncnorm_spec_default();
            gbs_operand *const operand[4] = {&spec.mean, &spec.sd, &spec.lower, &spec.upper};
            spec.dims = 1;
            spec.shape[0] = COUNT;
            for (int o = 0; o < 4; ++o) {
                in[o][1] = bad[o];
                for (int i = 0; i < COUNT; ++i)
                    in_f[o][i] = (float)in[o][i];
                *operand[o] =
                    gbs_operand_array(type == GBS_F32 ? (const void *)in_f[o] : in[o], 1, shape);
            }
            check_refused(ctx, refusals[k].what, (gbs_type)type, &spec, refusals[k].status,
                          refusals[k].message, out, sizeof out);
        }
    /* the first bad element of many, on several threads, with its index */
    gbs_context *const many = context_of(GBS_ISA_AUTO, 3);
    enum { ROWS = 300, COLUMNS = 200 };
    double *const lower = calloc(ROWS * COLUMNS, sizeof *lower), one = 1;
    double *const out = calloc(ROWS * COLUMNS, sizeof *out);
    gbs_truncnorm_spec spec = gbs_truncnorm_spec_default();
    const int64_t big[2] = {ROWS, COLUMNS};
    spec.dims = 2;
    memcpy(spec.shape, big, sizeof big);
    spec.lower = gbs_operand_array(lower, 2, big);
    spec.upper = gbs_operand_array(&one, 0, NULL);
    lower[299 * COLUMNS + 7] = lower[171 * COLUMNS + 33] = lower[171 * COLUMNS + 35] = 2;
    check_refused(many, "the first of three", GBS_F64, &spec, GBS_ERROR_ARGUMENT,
                  "lower[171, 33]: 2 is above upper: 1", out, ROWS * COLUMNS * sizeof *out);
    free(lower);
    free(out);
    gbs_context_destroy(many);
    gbs_context_destroy(ctx);
    printf("checked: %d kinds of bad values of each type refused, named, out untouched\n",
           (int)(sizeof refusals / sizeof *refusals));
}

/* An operand's element is named by the operand's own index, whatever out's shape. */
static void test_own_index(void **state)
{
    (void)state;
    enum { ROWS = 2, COLUMNS = 3 };
    gbs_context *const ctx = context_of(GBS_ISA_AUTO, 1);
    const int64_t row[1] = {COLUMNS}, column[2] = {ROWS, 1}, flat[2] = {1, COLUMNS};
    const double zero = 0, ones[COLUMNS] = {1, 1, 1}, late[COLUMNS] = {0, 0, 2};
    double out[ROWS * COLUMNS] = {0};
    gbs_truncnorm_spec good = gbs_truncnorm_spec_default();
    good.dims = 2;
    good.shape[0] = ROWS;
    good.shape[1] = COLUMNS;
    gbs_truncnorm_spec spec = good;
    spec.mean = gbs_operand_array(ones, 1, row);
    spec.sd = gbs_operand_array(&zero, 0, NULL);
    check_refused(ctx, "a number", GBS_F64, &spec, GBS_ERROR_ARGUMENT, "sd: 0 is not in [", out,
                  sizeof out);
    spec = good;
    spec.lower = gbs_operand_array(late, 1, row);
    spec.upper = gbs_operand_array(ones, 2, column);
    check_refused(ctx, "a row and a column", GBS_F64, &spec, GBS_ERROR_ARGUMENT,
                  "lower[2]: 2 is above upper[0, 0]: 1", out, sizeof out);
    spec.lower = gbs_operand_array(late + 1, 2, column);
    spec.upper = gbs_operand_array(ones, 2, flat);
    check_refused(ctx, "a column and a row", GBS_F64, &spec, GBS_ERROR_ARGUMENT,
                  "lower[1, 0]: 2 is above upper[0, 0]: 1", out, sizeof out);
    spec.lower = gbs_operand_array(late + 2, 0, NULL);
    spec.upper = gbs_operand_array(ones, 0, NULL);
    check_refused(ctx, "numbers", GBS_F64, &spec, GBS_ERROR_ARGUMENT, "lower: 2 is above upper: 1",
                  out, sizeof out);
    gbs_context_destroy(ctx);
    printf("checked: 4 operands of other shapes than out's named by their own index\n");
}

static void test_shapes_refused(void **state)
{
    (void)state;
    gbs_context *const ctx = context_of(GBS_ISA_AUTO, 1);
    const double mean[6] = {0};
    const uint64_t word[6] = {0};
    double out[12] = {0};
    const int64_t two_three[2] = {2, 3}, three[1] = {3}, two[1] = {2}, deep[9] = {1};
    gbs_truncnorm_spec good = gbs_truncnorm_spec_default();
    good.dims = 1;
    good.shape[0] = 3;
    gbs_truncnorm_spec spec = good;

    spec.mean = gbs_operand_array(mean, 1, two);
    check_refused(ctx, "a vector of the wrong length", GBS_F64, &spec, GBS_ERROR_ARGUMENT,
                  "mean: shape [2] does not broadcast to out's [3]", out, sizeof out);
    spec.mean = gbs_operand_array(mean, 2, two_three);
    check_refused(ctx, "more dimensions than out", GBS_F64, &spec, GBS_ERROR_ARGUMENT,
                  "mean: shape [2, 3] does not broadcast to out's [3]", out, sizeof out);
    spec.mean = gbs_operand_array(mean, 9, deep);
    check_refused(ctx, "nine dimensions", GBS_F64, &spec, GBS_ERROR_ARGUMENT,
                  "mean: dims: 9 is not in [0, 8]", out, sizeof out);
    spec.mean.dims = -1;
    check_refused(ctx, "fewer than none", GBS_F64, &spec, GBS_ERROR_ARGUMENT,
                  "mean: dims: -1 is not in [0, 8]", out, sizeof out);

    /* C14: a vector of means does not fit one draw, and is not cut to it */
    spec = gbs_truncnorm_spec_default();
    spec.mean = gbs_operand_array(mean, 1, three);
    check_refused(ctx, "C14", GBS_F64, &spec, GBS_ERROR_ARGUMENT,
                  "mean: shape [3] does not broadcast to out's []", out, sizeof out);

    spec = good;
    spec.dims = 9;
    check_refused(ctx, "dims", GBS_F64, &spec, GBS_ERROR_ARGUMENT, "dims: 9 is not in [0, 8]", out,
                  sizeof out);
    spec = good;
    spec.shape[0] = -1;
    check_refused(ctx, "shape", GBS_F64, &spec, GBS_ERROR_ARGUMENT, "shape[0]: -1 is negative", out,
                  sizeof out);
    spec = good;
    spec.dims = 2;
    spec.shape[0] = spec.shape[1] = INT64_C(1) << 40;
    check_refused(ctx, "overflow", GBS_F64, &spec, GBS_ERROR_ARGUMENT, "elements are too many", out,
                  sizeof out);

    spec = good;
    spec.stream = GBS_STREAM_GIVEN;
    check_refused(ctx, "no words", GBS_F64, &spec, GBS_ERROR_ARGUMENT, "word: NULL", out,
                  sizeof out);
    spec.stream = GBS_STREAM_NATIVE;
    spec.word = gbs_operand_array(word, 1, three);
    check_refused(ctx, "words unused", GBS_F64, &spec, GBS_ERROR_ARGUMENT,
                  "word: given, but stream is native", out, sizeof out);
    spec = good;
    spec.stream = GBS_STREAM_TORCH_CPU;
    check_refused(ctx, "torch", GBS_F64, &spec, GBS_ERROR_ARGUMENT, "stream: 2 is not", out,
                  sizeof out);
    spec = good;
    spec.chain = -1;
    check_refused(ctx, "chain", GBS_F64, &spec, GBS_ERROR_ARGUMENT, "chain: -1", out, sizeof out);
    spec = good;
    spec.sweep = INT64_C(1) << 48;
    check_refused(ctx, "sweep", GBS_F64, &spec, GBS_ERROR_LIMIT, "beyond what the stream numbers",
                  out, sizeof out);
    spec = good;
    spec.place = (INT64_C(1) << 33) - 2;
    check_refused(ctx, "place", GBS_F64, &spec, GBS_ERROR_LIMIT, "beyond what the stream numbers",
                  out, sizeof out);
    check_refused(ctx, "the same in float", GBS_F32,
                  &(gbs_truncnorm_spec){.dims = 1, .shape = {3}, .place = INT64_C(1) << 34},
                  GBS_ERROR_LIMIT, "beyond", out, sizeof out);
    assert_int_equal(gbs_truncnorm_f64(ctx, &good, NULL), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_truncnorm_f64(ctx, NULL, out), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_truncnorm_f64(NULL, &good, out), GBS_ERROR_ARGUMENT);
    gbs_context_destroy(ctx);
    printf("checked: 15 bad shapes and streams refused with the argument named, out untouched\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_refused),
        cmocka_unit_test(test_own_index),
        cmocka_unit_test(test_shapes_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
