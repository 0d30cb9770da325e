/* How a sampler uses the torch streams: call p of a pass goes to the site visited p-th, the
 * generator ends where the loop of calls leaves it, and its state carries a run on.  With Q = I and
 * no location the state after a sweep is that sweep's noise, so everything is compared exactly. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "gibbsite/gibbsite.h"
#include "rng/torch_stream.h"

enum { D = 5, CHAINS = 1000, SWEEPS = 3, SMS = 2, THREADS = 256 };

static const int64_t permutation[D] = {3, 0, 4, 2, 1};
static const int64_t chain_counts[] = {1, 7, 15, 16, 33, 513, CHAINS};

typedef struct setting {
    gbs_stream kind;
    gbs_type type;
    gbs_method method;
    gbs_order order;
    int64_t chains;
} setting;

/* ---- the loop of calls ---- */

typedef struct generators {
    gbs_torch_cpu cpu;
    gbs_torch_cuda cuda; /* more than one round a call from 513 chains on */
} generators;

static generators seeded(uint64_t seed)
{
    generators g;
    memset(&g, 0, sizeof g);
    gbs_torch_cpu_seed(&g.cpu, seed);
    g.cuda.seed = seed;
    g.cuda.multiprocessors = SMS;
    g.cuda.threads_per_multiprocessor = THREADS;
    return g;
}

/* randn(B), widened, to out[b * D]. */
static void call(generators *g, const setting *s, double *out)
{
    static float f32[CHAINS];
    static double f64[CHAINS];
    const int64_t n = s->chains;
    if (s->kind == GBS_STREAM_TORCH_CPU && s->type == GBS_F32)
        gbs_torch_cpu_randn_f32(&g->cpu, n, f32, 1);
    else if (s->kind == GBS_STREAM_TORCH_CPU)
        gbs_torch_cpu_randn_f64(&g->cpu, n, f64, 1);
    else if (s->type == GBS_F32)
        gbs_torch_cuda_randn_f32(&g->cuda, g->cuda.offset, n, 0, n, f32);
    else
        gbs_torch_cuda_randn_f64(&g->cuda, g->cuda.offset, n, 0, n, f64);
    if (s->kind == GBS_STREAM_TORCH_CUDA)
        g->cuda.offset += gbs_torch_cuda_advance(&g->cuda, s->type, n);
    for (int64_t b = 0; b < n; b++)
        out[b * D] = s->type == GBS_F32 ? (double)f32[b] : f64[b];
}

/* One sweep (or exact draw) of the loop: the state it leaves, [B, D]. */
static void sweep(generators *g, const setting *s, double *x)
{
    const int passes = s->order == GBS_ORDER_SYMMETRIC ? 2 : 1;
    for (int pass = 0; pass < passes; pass++) {
        const int back = s->order == GBS_ORDER_BACKWARD || pass == 1;
        for (int64_t p = 0; p < D; p++) {
            const int64_t q = back ? D - 1 - p : p;
            call(g, s, x + (s->order == GBS_ORDER_PERMUTED ? permutation[q] : q));
        }
    }
}

static size_t state_bytes(const setting *s)
{
    return s->kind == GBS_STREAM_TORCH_CPU ? GBS_TORCH_CPU_STATE_BYTES : GBS_TORCH_CUDA_STATE_BYTES;
}

static void loop_state(const generators *g, const setting *s, unsigned char *state)
{
    if (s->kind == GBS_STREAM_TORCH_CPU)
        gbs_torch_cpu_get_state(&g->cpu, state);
    else
        gbs_torch_cuda_get_state(&g->cuda, state);
}

/* ---- samplers ---- */

static gbs_context *ctx;
static gbs_model *identity;

static int make_identity(void **unused)
{
    (void)unused;
    double q[D * D] = {0};
    for (int i = 0; i < D; i++)
        q[i * D + i] = 1.0;
    gbs_model_spec spec = gbs_model_spec_default();
    spec.dim = D;
    spec.matrix = q;
    return gbs_context_create(NULL, &ctx) != GBS_OK ||
           gbs_model_create(ctx, &spec, &identity) != GBS_OK;
}

static int drop_identity(void **unused)
{
    (void)unused;
    gbs_model_release(identity);
    gbs_context_destroy(ctx);
    return 0;
}

static gbs_sampler_spec spec_of(const setting *s)
{
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.type = s->type;
    spec.method = s->method;
    spec.chains = s->chains;
    spec.seed = 77;
    spec.order = s->order;
    spec.permutation = s->order == GBS_ORDER_PERMUTED ? permutation : NULL;
    spec.stream.kind = s->kind;
    if (s->kind == GBS_STREAM_TORCH_CUDA) {
        spec.stream.cuda_multiprocessors = SMS;
        spec.stream.cuda_threads_per_multiprocessor = THREADS;
    }
    return spec;
}

static gbs_sampler *create(const gbs_sampler_spec *spec)
{
    gbs_sampler *sampler = NULL;
    if (gbs_sampler_create(ctx, identity, spec, &sampler) != GBS_OK)
        fail_msg("%s", gbs_context_message(ctx));
    return sampler;
}

static void assert_state_is(const gbs_sampler *sampler, const setting *s, const double *expected)
{
    static float f32[CHAINS * D];
    static double f64[CHAINS * D];
    assert_int_equal(gbs_sampler_get_state(sampler, s->type == GBS_F32 ? (void *)f32 : f64),
                     GBS_OK);
    for (int64_t k = 0; k < s->chains * D; k++) {
        const double got = s->type == GBS_F32 ? (double)f32[k] : f64[k];
        if (got != expected[k])
            fail_msg("stream %d type %d method %d order %d chain %lld of %lld site %lld: "
                     "expected %.17g, got %.17g, bound 0",
                     s->kind, s->type, s->method, s->order, (long long)(k / D),
                     (long long)s->chains, (long long)(k % D), expected[k], got);
    }
}

static void assert_generator_is(const gbs_sampler *sampler, const setting *s, const generators *g)
{
    unsigned char expected[GBS_TORCH_CPU_STATE_BYTES], got[GBS_TORCH_CPU_STATE_BYTES];
    loop_state(g, s, expected);
    assert_int_equal(gbs_sampler_get_torch_state(sampler, got, state_bytes(s)), GBS_OK);
    assert_memory_equal(got, expected, state_bytes(s));
}

/* Sweep by sweep, next to the loop; then a new sampler goes on from the loop's state, two sweeps
 * at once, while the first runs too: neither disturbs the other. */
static void follow(const setting *s)
{
    static double x[CHAINS * D];
    unsigned char state[GBS_TORCH_CPU_STATE_BYTES];
    generators g = seeded(77);
    gbs_sampler_spec spec = spec_of(s);
    gbs_sampler *first = create(&spec);
    for (int n = 0; n < SWEEPS; n++) {
        sweep(&g, s, x);
        assert_int_equal(gbs_sampler_run(first, 1), GBS_OK);
        assert_state_is(first, s, x);
        assert_generator_is(first, s, &g);
    }
    loop_state(&g, s, state);
    spec.seed = 1;
    spec.stream.torch_state = state;
    spec.stream.torch_state_bytes = state_bytes(s);
    gbs_sampler *resumed = create(&spec);
    memset(state, 0xee, sizeof state); /* it was copied */
    assert_generator_is(resumed, s, &g);
    sweep(&g, s, x);
    assert_int_equal(gbs_sampler_run(first, 1), GBS_OK);
    assert_state_is(first, s, x);
    sweep(&g, s, x);
    assert_int_equal(gbs_sampler_run(resumed, 2), GBS_OK);
    assert_int_equal(gbs_sampler_run(first, 1), GBS_OK);
    assert_state_is(resumed, s, x);
    assert_state_is(first, s, x);
    assert_generator_is(resumed, s, &g);
    assert_generator_is(first, s, &g);
    gbs_sampler_destroy(first);
    gbs_sampler_destroy(resumed);
}

static void follows_the_loop(void **unused)
{
    (void)unused;
    static const gbs_stream kinds[] = {GBS_STREAM_TORCH_CPU, GBS_STREAM_TORCH_CUDA};
    int count = 0;
    for (int k = 0; k < 2; k++) {
        for (int type = 0; type < 2; type++) {
            for (size_t c = 0; c < sizeof chain_counts / sizeof *chain_counts; c++) {
                setting s = {kinds[k], (gbs_type)type, GBS_METHOD_EXACT, GBS_ORDER_FORWARD,
                             chain_counts[c]};
                follow(&s);
                s.method = GBS_METHOD_GIBBS;
                for (int order = 0; order < 4; order++, count++) {
                    s.order = (gbs_order)order;
                    follow(&s);
                }
            }
        }
    }
    printf("  %d settings of stream, type, order and chains: noise and generator exactly\n", count);
}

/* ---- what is refused ---- */

static void assert_refused(const gbs_sampler_spec *spec, gbs_status expected)
{
    gbs_sampler *sampler = (gbs_sampler *)1;
    const gbs_status got = gbs_sampler_create(ctx, identity, spec, &sampler);
    printf("  %s: %s\n", gbs_status_name(got), gbs_context_message(ctx));
    assert_int_equal(got, expected);
    assert_null(sampler);
}

static void refuses_wrong_states(void **unused)
{
    (void)unused;
    unsigned char state[GBS_TORCH_CPU_STATE_BYTES] = {0};
    const setting cpu = {GBS_STREAM_TORCH_CPU, GBS_F32, GBS_METHOD_GIBBS, GBS_ORDER_FORWARD, 4};
    const setting cuda = {GBS_STREAM_TORCH_CUDA, GBS_F32, GBS_METHOD_GIBBS, GBS_ORDER_FORWARD, 4};

    gbs_sampler_spec spec = spec_of(&cpu);
    spec.stream.torch_state = state; /* all zero: not seeded */
    spec.stream.torch_state_bytes = GBS_TORCH_CPU_STATE_BYTES;
    assert_refused(&spec, GBS_ERROR_STATE);
    spec.stream.torch_state_bytes = GBS_TORCH_CUDA_STATE_BYTES;
    assert_refused(&spec, GBS_ERROR_STATE);

    spec = spec_of(&cuda);
    state[8] = 6; /* an offset that is no multiple of 4 */
    spec.stream.torch_state = state;
    spec.stream.torch_state_bytes = GBS_TORCH_CUDA_STATE_BYTES;
    assert_refused(&spec, GBS_ERROR_STATE);
    spec = spec_of(&cuda);
    spec.stream.cuda_threads_per_multiprocessor = 255;
    assert_refused(&spec, GBS_ERROR_ARGUMENT);
    spec = spec_of(&cuda);
    spec.chains = ((int64_t)1 << 29) + 1;
    assert_refused(&spec, GBS_ERROR_LIMIT);
    spec = spec_of(&cpu);
    spec.first_sweep = 1;
    assert_refused(&spec, GBS_ERROR_ARGUMENT);
    spec = spec_of(&cpu);
    spec.first_chain = 1;
    assert_refused(&spec, GBS_ERROR_ARGUMENT);

    spec = spec_of(&cpu);
    gbs_sampler *sampler = create(&spec);
    assert_int_equal(gbs_sampler_get_torch_state(sampler, state, GBS_TORCH_CUDA_STATE_BYTES),
                     GBS_ERROR_ARGUMENT);
    gbs_sampler_destroy(sampler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_loop),
        cmocka_unit_test(refuses_wrong_states),
    };
    return cmocka_run_group_tests_name("torch streams in a sampler", tests, make_identity,
                                       drop_identity);
}
