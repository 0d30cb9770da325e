/* gbs_sweep against samplers and against itself: one group is a sampler's run bit for bit (every
 * stream, order, weight, form, type and instruction set); many groups are single calls with
 * shifted chains; strides, in place, kept states; an asymmetric precision read row by row; a bad
 * diagonal. */
#include "unit/sweep_fixture.h"

static const double weights[] = {1, 1.3};

/* ---- one group is a sampler ---- */

static gbs_sampler *sampler_like(gbs_context *ctx, const shape *s, const gbs_sweep_spec *call,
                                 unsigned char *cuda_state)
{
    gbs_model_spec m = gbs_model_spec_default();
    m.dim = s->dim;
    m.matrix_type = m.location_type = s->type;
    m.matrix = call->precision;
    m.location_kind = s->kind;
    m.location = s->kind == GBS_LOCATION_ZERO ? NULL : call->location;
    gbs_model *const model = new_model(ctx, &m);
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.type = s->type;
    spec.chains = s->chains;
    spec.first_chain = call->first_chain;
    spec.first_sweep = call->first_sweep;
    spec.seed = call->seed;
    spec.order = s->order;
    spec.omega = s->omega;
    spec.start = GBS_START_GIVEN;
    spec.initial = call->x;
    spec.initial_rows = s->chains;
    spec.stream.kind = s->stream;
    spec.stream.noise_type = s->type;
    spec.stream.noise = call->noise;
    spec.stream.noise_sweeps = 2 * s->sweeps;
    spec.stream.cuda_multiprocessors = SMS;
    spec.stream.cuda_threads_per_multiprocessor = THREADS;
    const gbs_torch_cuda generator = {call->seed, call->torch_offset, SMS, THREADS};
    gbs_torch_cuda_get_state(&generator, cuda_state);
    if (s->stream == GBS_STREAM_TORCH_CPU) {
        spec.stream.torch_state = call->torch_state;
        spec.stream.torch_state_bytes = GBS_TORCH_CPU_STATE_BYTES;
    } else if (s->stream == GBS_STREAM_TORCH_CUDA) {
        spec.stream.torch_state = cuda_state;
        spec.stream.torch_state_bytes = GBS_TORCH_CUDA_STATE_BYTES;
    }
    gbs_sampler *const sampler = new_sampler(ctx, model, &spec);
    gbs_model_release(model);
    return sampler;
}

static void compare_with_sampler(gbs_context *ctx, const shape *s)
{
    arrays a = arrays_of(s, 3);
    gbs_sweep_spec spec = spec_for(s, &a);
    unsigned char cuda_state[GBS_TORCH_CUDA_STATE_BYTES];
    gbs_sampler *const sampler = sampler_like(ctx, s, &spec, cuda_state);
    void *const expected = new_array(s->type, elements(s));
    sweep(ctx, &spec);
    for (int64_t done = 0; done < s->sweeps; ++done) {
        must(ctx, gbs_sampler_run(sampler, 1));
        must(ctx, gbs_sampler_get_state(sampler, expected));
        if ((done + 1) % KEEP == 0)
            assert_same("kept", s->type, expected,
                        (char *)a.kept + (size_t)((done / KEEP) * elements(s)) * type_size(s->type),
                        elements(s));
    }
    assert_same("out", s->type, expected, a.out, elements(s));
    if (s->stream == GBS_STREAM_TORCH_CPU) {
        unsigned char state[GBS_TORCH_CPU_STATE_BYTES];
        must(ctx, gbs_sampler_get_torch_state(sampler, state, sizeof state));
        assert_memory_equal(state, a.torch_state, sizeof state);
    }
    if (s->stream == GBS_STREAM_TORCH_CUDA) {
        uint64_t state[2];
        must(ctx, gbs_sampler_get_torch_state(sampler, state, sizeof state));
        assert_int_equal(state[1], spec.torch_offset + gbs_sweep_torch_cuda_advance(&spec));
    }
    gbs_sampler_destroy(sampler);
    free(expected);
    drop(&a);
}

static void one_group_is_a_sampler(void **state)
{
    const machine *const m = *state;
    static const int64_t dims[] = {1, 2, 5, 8, 33, 130}, chains[] = {1, 15, 16, 17, 100, 600};
    int64_t compared = 0;
    for (int k = 0; k < m->count; ++k)
        for (gbs_type type = GBS_F32; type <= GBS_F64; ++type)
            for (gbs_stream stream = GBS_STREAM_NATIVE; stream <= GBS_STREAM_TORCH_CUDA; ++stream)
                for (gbs_order order = GBS_ORDER_FORWARD; order <= GBS_ORDER_SYMMETRIC; ++order)
                    for (int size = 0; size < COUNT(dims); ++size) {
                        const int turn = (int)stream + (int)order + size; /* mix the rest */
                        const shape s = {type,
                                         1,
                                         chains[(size + (int)order) % COUNT(chains)],
                                         dims[size],
                                         3,
                                         (gbs_location)(turn % 4),
                                         order,
                                         weights[turn / 4 % 2],
                                         stream};
                        compare_with_sampler(m->ctx[k], &s);
                        compared++;
                    }
    printf("%lld calls equal to samplers, bit for bit\n", (long long)compared);
}

/* ---- groups ---- */

/* Group g alone, from the arrays of all: native with its chain numbers, given with its noise. */
static void compare_group(gbs_context *ctx, const shape *s, const arrays *a,
                          const gbs_sweep_spec *all, int64_t g)
{
    shape one = *s;
    one.groups = 1;
    arrays b = arrays_of(&one, 1);
    gbs_sweep_spec spec = *all;
    const size_t size = type_size(s->type);
    const int64_t each = s->chains * s->dim;
    spec.groups = 1;
    spec.precision =
        (const char *)all->precision + (size_t)(g * all->precision_group_stride) * size;
    spec.location = (const char *)all->location + (size_t)(g * all->location_group_stride) * size;
    spec.x = (const char *)all->x + (size_t)(g * all->x_stride[0]) * size;
    spec.out = b.out;
    spec.kept = b.kept;
    spec.noise = b.noise;
    spec.first_chain = all->first_chain + g * s->chains;
    for (int64_t row = 0; row < 2 * s->sweeps * s->dim; ++row)
        memcpy((char *)b.noise + (size_t)(row * s->chains) * size,
               (const char *)all->noise + (size_t)((row * s->groups + g) * s->chains) * size,
               (size_t)s->chains * size);
    sweep(ctx, &spec);
    assert_same("group's out", s->type, b.out, (const char *)a->out + (size_t)(g * each) * size,
                each);
    for (int64_t draw = 0; draw < s->sweeps / KEEP; ++draw)
        assert_same("group's kept", s->type, (const char *)b.kept + (size_t)(draw * each) * size,
                    (const char *)a->kept + (size_t)((draw * s->groups + g) * each) * size, each);
    drop(&b);
}

static void groups_are_single_calls(void **state)
{
    const machine *const m = *state;
    gbs_context *const ctx = m->ctx[m->count - 1];
    int64_t compared = 0;
    for (gbs_type type = GBS_F32; type <= GBS_F64; ++type)
        for (int shared = 0; shared < 3; ++shared)
            for (gbs_stream stream = GBS_STREAM_NATIVE; stream <= GBS_STREAM_GIVEN; ++stream) {
                const shape s = {type, 7,     19, 6, 4, GBS_LOCATION_MEAN, GBS_ORDER_SYMMETRIC,
                                 1.2,  stream};
                arrays a = arrays_of(&s, 11);
                gbs_sweep_spec spec = spec_for(&s, &a);
                if (shared >= 1)
                    spec.precision_group_stride = 0;
                if (shared == 2)
                    spec.location_group_stride = 0;
                sweep(ctx, &spec);
                for (int64_t g = 0; g < s.groups; ++g, ++compared)
                    compare_group(ctx, &s, &a, &spec, g);
                drop(&a);
            }
    printf("%lld groups equal to calls of their own, bit for bit\n", (long long)compared);
}

/* A torch call draws for all groups together: the same numbers given as noise give the same. */
static void torch_calls_span_groups(void **state)
{
    const machine *const m = *state;
    gbs_context *const ctx = m->ctx[m->count - 1];
    for (gbs_type type = GBS_F32; type <= GBS_F64; ++type)
        for (gbs_stream stream = GBS_STREAM_TORCH_CPU; stream <= GBS_STREAM_TORCH_CUDA; ++stream)
            for (int shared = 0; shared < 2; ++shared) {
                shape s = {type, 5, 211, 3, 4, GBS_LOCATION_OFFSET, GBS_ORDER_BACKWARD, 1, stream};
                arrays a = arrays_of(&s, 21);
                gbs_sweep_spec spec = spec_for(&s, &a);
                const int64_t n = s.groups * s.chains;
                gbs_torch_cpu cpu;
                gbs_torch_cuda cuda = {spec.seed, spec.torch_offset, SMS, THREADS};
                gbs_torch_cpu_set_state(&cpu, a.torch_state);
                if (shared)
                    spec.precision_group_stride = spec.location_group_stride = 0;
                sweep(ctx, &spec);
                void *const expected = new_array(type, elements(&s));
                memcpy(expected, a.out, (size_t)elements(&s) * type_size(type));
                for (int64_t call = 0; call < s.sweeps * s.dim; ++call) {
                    const int64_t site = s.dim - 1 - call % s.dim;
                    void *const row = (char *)a.noise +
                                      (size_t)((call / s.dim * s.dim + site) * n) * type_size(type);
                    if (stream == GBS_STREAM_TORCH_CPU && type == GBS_F32)
                        gbs_torch_cpu_randn_f32(&cpu, n, row, 1);
                    else if (stream == GBS_STREAM_TORCH_CPU)
                        gbs_torch_cpu_randn_f64(&cpu, n, row, 1);
                    else if (type == GBS_F32)
                        gbs_torch_cuda_randn_f32(&cuda, cuda.offset, n, 0, n, row);
                    else
                        gbs_torch_cuda_randn_f64(&cuda, cuda.offset, n, 0, n, row);
                    cuda.offset += gbs_torch_cuda_advance(&cuda, type, n);
                }
                if (stream == GBS_STREAM_TORCH_CPU) {
                    unsigned char end[GBS_TORCH_CPU_STATE_BYTES];
                    gbs_torch_cpu_get_state(&cpu, end);
                    assert_memory_equal(end, a.torch_state, sizeof end);
                } else {
                    assert_int_equal(cuda.offset,
                                     spec.torch_offset + gbs_sweep_torch_cuda_advance(&spec));
                }
                spec.stream = GBS_STREAM_GIVEN;
                sweep(ctx, &spec);
                assert_same("given the torch normals", type, expected, a.out, elements(&s));
                free(expected);
                drop(&a);
            }
    printf("torch-cpu and torch-cuda over 5 groups of 211 chains: one call of 1055 a site\n");
}

/* ---- layouts ---- */

/* x read from [dim, chains, groups] spaced out by 2, written there again, in place and not. */
static void strides_and_in_place(void **state)
{
    const machine *const m = *state;
    gbs_context *const ctx = m->ctx[m->count - 1];
    for (gbs_stream stream = GBS_STREAM_NATIVE; stream <= GBS_STREAM_TORCH_CPU; ++stream)
        for (int in_place = 0; in_place < 2; ++in_place) {
            const shape s = {GBS_F32,           3, 37,    9, 3, GBS_LOCATION_INFORMATION,
                             GBS_ORDER_FORWARD, 1, stream};
            arrays a = arrays_of(&s, 31);
            gbs_sweep_spec spec = spec_for(&s, &a);
            const int64_t spaced[3] = {2, 2 * s.groups, 2 * s.groups * s.chains};
            float *const wide = new_array(GBS_F32, 2 * elements(&s));
            float *const to = in_place ? wide : new_array(GBS_F32, 2 * elements(&s));
            unsigned char torch_state[GBS_TORCH_CPU_STATE_BYTES];
            memcpy(torch_state, a.torch_state, sizeof torch_state);
            sweep(ctx, &spec);
            for (int64_t at = 0; at < 2 * elements(&s); ++at)
                wide[at] = to[at] = -7;
            for (int64_t g = 0; g < s.groups; ++g)
                for (int64_t b = 0; b < s.chains; ++b)
                    for (int64_t i = 0; i < s.dim; ++i)
                        wide[g * spaced[0] + b * spaced[1] + i * spaced[2]] =
                            ((const float *)a.x)[(g * s.chains + b) * s.dim + i];
            spec.x = wide;
            spec.out = to;
            spec.torch_state = torch_state;
            memcpy(spec.x_stride, spaced, sizeof spaced);
            memcpy(spec.out_stride, spaced, sizeof spaced);
            sweep(ctx, &spec);
            for (int64_t g = 0; g < s.groups; ++g)
                for (int64_t b = 0; b < s.chains; ++b)
                    for (int64_t i = 0; i < s.dim; ++i) {
                        const int64_t at = g * spaced[0] + b * spaced[1] + i * spaced[2];
                        const float expected =
                            ((const float *)a.out)[(g * s.chains + b) * s.dim + i];
                        if (to[at] != expected || to[at + 1] != -7)
                            fail_msg("strided [%lld, %lld, %lld]: expected %.9g beside -7, got "
                                     "%.9g beside %.9g",
                                     (long long)g, (long long)b, (long long)i, (double)expected,
                                     (double)to[at], (double)to[at + 1]);
                    }
            if (!in_place)
                free(to);
            free(wide);
            drop(&a);
        }
    printf("spaced and transposed arrays, in place and not: the contiguous call's bits, the gaps "
           "untouched\n");
}

static void no_sweeps_copy(void **state)
{
    const machine *const m = *state;
    const shape s = {
        GBS_F64, 2, 5, 3, 0, GBS_LOCATION_ZERO, GBS_ORDER_FORWARD, 1, GBS_STREAM_TORCH_CPU};
    arrays a = arrays_of(&s, 41);
    unsigned char before[GBS_TORCH_CPU_STATE_BYTES];
    memcpy(before, a.torch_state, sizeof before);
    const gbs_sweep_spec spec = spec_for(&s, &a);
    sweep(m->ctx[0], &spec);
    assert_same("no sweeps", GBS_F64, a.x, a.out, elements(&s));
    assert_memory_equal(before, a.torch_state, sizeof before);
    assert_int_equal(gbs_sweep_torch_cuda_advance(&spec), 0);
    drop(&a);
    printf("0 sweeps: out is x, the generator untouched\n");
}

/* ---- rows as given ---- */

/* Row i alone decides site i: an asymmetric precision is neither refused nor averaged. */
static void rows_are_read_as_given(void **state)
{
    const machine *const m = *state;
    const double q[4] = {2, 0.5, -1, 4}, x[2] = {10, 20}, z[2] = {1, -1}, c[2] = {0.25, 0.75};
    double out[2];
    gbs_sweep_spec spec = gbs_sweep_spec_default();
    spec.type = GBS_F64;
    spec.chains = 1;
    spec.dim = spec.precision_row_stride = 2;
    spec.precision = q;
    spec.location_kind = GBS_LOCATION_OFFSET;
    spec.location = c;
    spec.x = x;
    spec.out = out;
    spec.x_stride[1] = spec.out_stride[1] = 2;
    spec.x_stride[2] = spec.out_stride[2] = 1;
    spec.stream = GBS_STREAM_GIVEN;
    spec.noise = z;
    sweep(m->ctx[0], &spec);
    const double first = fma(-0.25, 20, fma(1 / sqrt(2.0), 1, 0.25));
    const double second = fma(0.25, first, fma(0.5, -1, 0.75));
    assert_near("asymmetric", 0, first, out[0], 0);
    assert_near("asymmetric", 1, second, out[1], 0);
    printf("Q = [[2, 0.5], [-1, 4]]: rows read as given, %.17g and %.17g\n", out[0], out[1]);
}

/* With zeros off the diagonal nothing else sees the bad site in the same sweep but 0 NaN = NaN
 * does: as in the loop, sites before it stay, it and those after it become NaN; other groups and
 * the rest of the bits are those of a good diagonal. */
static void bad_diagonals_are_nan(void **state)
{
    const machine *const m = *state;
    static const double bad[] = {0, -0.0, -3, NAN};
    const int64_t site = 4;
    for (int k = 0; k < m->count; ++k)
        for (gbs_type type = GBS_F32; type <= GBS_F64; ++type)
            for (int kind = 0; kind < COUNT(bad); ++kind) {
                const shape s = {
                    type, 2, 50, 7, 1, GBS_LOCATION_MEAN, GBS_ORDER_FORWARD, 1, GBS_STREAM_NATIVE};
                arrays a = arrays_of(&s, 51), b = arrays_of(&s, 51);
                gbs_sweep_spec good = spec_for(&s, &a), spoilt = spec_for(&s, &b);
                put_element(type, b.precision, site * s.dim + site, bad[kind]);
                sweep(m->ctx[k], &good);
                sweep(m->ctx[k], &spoilt);
                for (int64_t at = 0; at < elements(&s); ++at) {
                    const int expect_nan = at < s.chains * s.dim && at % s.dim >= site;
                    const double got = element(type, b.out, at),
                                 expected = element(type, a.out, at);
                    if (expect_nan ? !isnan(got) : got != expected)
                        fail_msg("diagonal %g, element %lld: expected %s%.9g, got %.9g", bad[kind],
                                 (long long)at, expect_nan ? "NaN instead of " : "", expected, got);
                }
                drop(&a);
                drop(&b);
            }
    printf("diagonals 0, -0, -3 and NaN: NaN from that site on in that group, nothing else\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_group_is_a_sampler),  cmocka_unit_test(groups_are_single_calls),
        cmocka_unit_test(torch_calls_span_groups), cmocka_unit_test(strides_and_in_place),
        cmocka_unit_test(no_sweeps_copy),          cmocka_unit_test(rows_are_read_as_given),
        cmocka_unit_test(bad_diagonals_are_nan),
    };
    return cmocka_run_group_tests_name("one-call sweeps", tests, start_machine, stop_machine);
}
