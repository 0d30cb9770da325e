/* What gbs_sweep refuses: bad arguments, each with its message and nothing written; and the k-th
 * allocation, for every k, after which nothing is left behind. */
#include "unit/sweep_fixture.h"

typedef struct refusal {
    const char *what;
    gbs_status status;
    const char *message; /* part of it */
    void (*spoil)(gbs_sweep_spec *spec);
} refusal;

static unsigned char damaged[GBS_TORCH_CPU_STATE_BYTES];

static void no_chains(gbs_sweep_spec *s)
{
    s->chains = 0;
}
static void no_groups(gbs_sweep_spec *s)
{
    s->groups = 0;
}
static void no_dim(gbs_sweep_spec *s)
{
    s->dim = 0;
}
static void huge(gbs_sweep_spec *s)
{
    s->groups = s->chains = INT64_C(1) << 40;
}
static void short_rows(gbs_sweep_spec *s)
{
    s->precision_row_stride = s->dim - 1;
}
static void negative_sweeps(gbs_sweep_spec *s)
{
    s->sweeps = -1;
}
static void negative_keep(gbs_sweep_spec *s)
{
    s->keep_every = -1;
}
static void no_precision(gbs_sweep_spec *s)
{
    s->precision = NULL;
}
static void no_x(gbs_sweep_spec *s)
{
    s->x = NULL;
}
static void no_out(gbs_sweep_spec *s)
{
    s->out = NULL;
}
static void no_location(gbs_sweep_spec *s)
{
    s->location = NULL;
}
static void no_kept(gbs_sweep_spec *s)
{
    s->kept = NULL;
}
static void odd_location(gbs_sweep_spec *s)
{
    s->location_kind = (gbs_location)9;
}
static void permuted(gbs_sweep_spec *s)
{
    s->order = GBS_ORDER_PERMUTED;
}
static void odd_order(gbs_sweep_spec *s)
{
    s->order = (gbs_order)9;
}
static void odd_type(gbs_sweep_spec *s)
{
    s->type = (gbs_type)9;
}
static void weight_two(gbs_sweep_spec *s)
{
    s->omega = 2;
}
static void weight_nan(gbs_sweep_spec *s)
{
    s->omega = NAN;
}
static void negative_chain(gbs_sweep_spec *s)
{
    s->first_chain = -1;
}
static void many_chains(gbs_sweep_spec *s)
{
    s->first_chain = (INT64_C(1) << 40) - 1;
}
static void many_sweeps(gbs_sweep_spec *s)
{
    s->first_sweep = (INT64_C(1) << 48) - 1;
}
static void odd_stream(gbs_sweep_spec *s)
{
    s->stream = (gbs_stream)9;
}
static void no_noise(gbs_sweep_spec *s)
{
    s->stream = GBS_STREAM_GIVEN, s->noise = NULL;
}
static void skipping(gbs_sweep_spec *s)
{
    s->stream = GBS_STREAM_TORCH_CPU, s->first_sweep = 1;
}
static void no_state(gbs_sweep_spec *s)
{
    s->stream = GBS_STREAM_TORCH_CPU, s->torch_state = NULL;
}
static void bad_state(gbs_sweep_spec *s)
{
    s->stream = GBS_STREAM_TORCH_CPU, s->torch_state = damaged;
}
static void odd_offset(gbs_sweep_spec *s)
{
    s->stream = GBS_STREAM_TORCH_CUDA, s->torch_offset = 6;
}
static void no_card(gbs_sweep_spec *s)
{
    s->stream = GBS_STREAM_TORCH_CUDA, s->cuda_multiprocessors = 0;
}

static void one_place(gbs_sweep_spec *s)
{
    s->out_stride[1] = 0;
}
static void other_strides(gbs_sweep_spec *s)
{
    s->out = (void *)(uintptr_t)s->x, s->out_stride[1] = s->x_stride[1] + 1;
}

static const refusal refusals[] = {
    {"overlap", GBS_ERROR_ARGUMENT, "out_stride[1]: 0", one_place},
    {"in place", GBS_ERROR_ARGUMENT, "and out is x", other_strides},
    {"chains", GBS_ERROR_ARGUMENT, "chains: 0", no_chains},
    {"groups", GBS_ERROR_ARGUMENT, "groups: 0", no_groups},
    {"dim", GBS_ERROR_ARGUMENT, "dim: 0", no_dim},
    {"size", GBS_ERROR_ARGUMENT, "too many", huge},
    {"rows", GBS_ERROR_ARGUMENT, "precision_row_stride: 2", short_rows},
    {"sweeps", GBS_ERROR_ARGUMENT, "sweeps: -1", negative_sweeps},
    {"keep", GBS_ERROR_ARGUMENT, "keep_every: -1", negative_keep},
    {"precision", GBS_ERROR_ARGUMENT, "precision: NULL", no_precision},
    {"x", GBS_ERROR_ARGUMENT, "x: NULL", no_x},
    {"out", GBS_ERROR_ARGUMENT, "out: NULL", no_out},
    {"location", GBS_ERROR_ARGUMENT, "location: NULL", no_location},
    {"kept", GBS_ERROR_ARGUMENT, "kept: NULL", no_kept},
    {"location kind", GBS_ERROR_ARGUMENT, "location_kind: 9", odd_location},
    {"permuted", GBS_ERROR_ARGUMENT, "forward, backward or both", permuted},
    {"order", GBS_ERROR_ARGUMENT, "order: 9", odd_order},
    {"type", GBS_ERROR_ARGUMENT, "type: 9", odd_type},
    {"omega 2", GBS_ERROR_ARGUMENT, "omega: 2", weight_two},
    {"omega NaN", GBS_ERROR_ARGUMENT, "omega: ", weight_nan},
    {"first chain", GBS_ERROR_ARGUMENT, "first_chain: -1", negative_chain},
    {"chain limit", GBS_ERROR_LIMIT, "2^40", many_chains},
    {"sweep limit", GBS_ERROR_LIMIT, "sweeps: 3 more", many_sweeps},
    {"stream", GBS_ERROR_ARGUMENT, "stream: 9", odd_stream},
    {"noise", GBS_ERROR_ARGUMENT, "noise: NULL", no_noise},
    {"skip", GBS_ERROR_ARGUMENT, "cannot skip", skipping},
    {"state", GBS_ERROR_ARGUMENT, "torch_state: NULL", no_state},
    {"bad state", GBS_ERROR_STATE, "torch_state: not", bad_state},
    {"offset", GBS_ERROR_STATE, "torch_offset: 6", odd_offset},
    {"card", GBS_ERROR_ARGUMENT, "cuda_multiprocessors: 0", no_card},
};

static void refusals_leave_all_alone(void **state)
{
    const machine *const m = *state;
    gbs_context *const ctx = m->ctx[0];
    const shape s = {GBS_F32,          2, 5, 3, 3, GBS_LOCATION_MEAN, GBS_ORDER_FORWARD, 1,
                     GBS_STREAM_NATIVE};
    for (int k = 0; k < COUNT(refusals); ++k) {
        arrays a = arrays_of(&s, 61), b = arrays_of(&s, 61);
        gbs_sweep_spec spec = spec_for(&s, &a);
        spec.first_chain = spec.first_sweep = 0;
        refusals[k].spoil(&spec);
        const gbs_status got = gbs_sweep(ctx, &spec);
        if (got != refusals[k].status ||
            strstr(gbs_context_message(ctx), refusals[k].message) == NULL)
            fail_msg("%s: expected %s with \"%s\", got %s: %s", refusals[k].what,
                     gbs_status_name(refusals[k].status), refusals[k].message, gbs_status_name(got),
                     gbs_context_message(ctx));
        assert_same("out", GBS_F32, b.out, a.out, elements(&s));
        assert_same("kept", GBS_F32, b.kept, a.kept, elements(&s));
        assert_memory_equal(b.torch_state, a.torch_state, sizeof a.torch_state);
        drop(&a);
        drop(&b);
    }
    assert_int_equal(gbs_sweep(ctx, NULL), GBS_ERROR_ARGUMENT);
    assert_int_equal(gbs_sweep(NULL, NULL), GBS_ERROR_ARGUMENT);
    printf("%d refusals, each with its message, nothing written\n", COUNT(refusals) + 2);
}

/* Each allocation refused in turn, on both ways through; then nothing is left behind. */
static void refused_memory(void **state)
{
    (void)state;
    for (gbs_stream stream = GBS_STREAM_NATIVE; stream <= GBS_STREAM_TORCH_CPU; ++stream) {
        const shape s = {GBS_F32, 2, 20, 3, 2, GBS_LOCATION_MEAN, GBS_ORDER_SYMMETRIC, 1, stream};
        arrays a = arrays_of(&s, 71), b = arrays_of(&s, 71);
        counting count = {0, 0, -1};
        const gbs_context_options options = counting_options(&count);
        gbs_context *ctx = NULL;
        assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
        const gbs_sweep_spec spec = spec_for(&s, &a);
        int64_t refused = 0;
        for (;; ++refused) {
            const int64_t before = count.taken - count.given;
            count.refuse = count.taken + refused;
            const gbs_status status = gbs_sweep(ctx, &spec);
            count.refuse = -1;
            assert_int_equal(count.taken - count.given, before);
            if (status == GBS_OK)
                break;
            assert_int_equal(status, GBS_ERROR_MEMORY);
            assert_same("out", GBS_F32, b.out, a.out, elements(&s));
            assert_memory_equal(b.torch_state, a.torch_state, sizeof a.torch_state);
        }
        gbs_context_destroy(ctx);
        assert_int_equal(count.taken, count.given);
        assert_true(refused >= 6);
        drop(&a);
        drop(&b);
        printf("stream %d: %lld allocations refused one by one\n", (int)stream, (long long)refused);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals_leave_all_alone),
        cmocka_unit_test(refused_memory),
    };
    return cmocka_run_group_tests_name("refused one-call sweeps", tests, start_machine,
                                       stop_machine);
}
