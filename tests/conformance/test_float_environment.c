/* Draws do not depend on the floating-point environment of the caller, and leave it alone.  A
 * library loaded from elsewhere and built with -Ofast sets flush-to-zero for its process; others
 * set a rounding mode or let exceptions trap.  Two of the models live among subnormal numbers, so
 * that flushing them would show. */
#include "exact/trial.h"

#include <fenv.h>
#include <float.h>
#include <stdio.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

enum { DIM = 33, CHAINS = 137, SWEEPS = 5, MOST_THREADS = 3 };

/* ---- environments ---- */

#define FLUSH_BITS 0x8040u      /* MXCSR: flush to zero, denormals are zero */
#define TRAP_BITS 0x0e80u       /* MXCSR masks: invalid, division by zero, overflow, underflow */
#define EXCEPTION_FLAGS 0x003fu /* MXCSR: sticky, not compared */

typedef struct environment {
    const char *what;
    int rounding;
    unsigned flush, trap; /* bits to set and to clear in MXCSR */
} environment;

static const environment environments[] = {
    {"round to nearest", FE_TONEAREST, 0, 0},
    {"round down", FE_DOWNWARD, 0, 0},
    {"round up", FE_UPWARD, 0, 0},
    {"round towards zero", FE_TOWARDZERO, 0, 0},
#if defined(__SSE2__)
    {"flush to zero", FE_TONEAREST, FLUSH_BITS, 0},
    {"flush to zero, round down", FE_DOWNWARD, FLUSH_BITS, 0},
    {"exceptions trap", FE_TONEAREST, 0, TRAP_BITS},
#endif
};

static void enter(const environment *e)
{
    fesetround(e->rounding);
#if defined(__SSE2__)
    _mm_setcsr((_mm_getcsr() | e->flush) & ~e->trap & ~EXCEPTION_FLAGS);
#endif
}

static void check_unchanged(const environment *e, const char *after)
{
    int same = fegetround() == e->rounding;
#if defined(__SSE2__)
    const unsigned now = _mm_getcsr();
    same &= (now & FLUSH_BITS) == e->flush && (now & TRAP_BITS) == (TRAP_BITS & ~e->trap);
#endif
    if (!same) {
        fesetenv(FE_DFL_ENV);
        fail_msg("%s: not restored after %s", e->what, after);
    }
}

/* ---- models ---- */

typedef struct scenario {
    const char *what;
    gbs_type type;
    gbs_method method;
    double scale; /* of x: Q is divided by its square */
    int tiny;     /* start among the subnormals, without noise */
} scenario;

static const scenario scenarios[] = {
    {"float", GBS_F32, GBS_METHOD_GIBBS, 1, 0},
    {"double", GBS_F64, GBS_METHOD_GIBBS, 1, 0},
    {"float, exact", GBS_F32, GBS_METHOD_EXACT, 1, 0},
    {"double, exact", GBS_F64, GBS_METHOD_EXACT, 1, 0},
    {"float, sd near 1e-37", GBS_F32, GBS_METHOD_GIBBS, 1e-36, 0},
    {"double, states near 1e-308", GBS_F64, GBS_METHOD_GIBBS, 1, 1},
};

typedef struct result {
    void *x;      /* [B, D] after SWEEPS sweeps */
    void *draws;  /* [B, SWEEPS, D] of as many more */
    double *mean; /* [B, D] over those */
} result;

typedef struct watch {
    const environment *e;
    int64_t calls;
} watch;

static int watch_draw(void *user, int64_t draw, const void *x)
{
    watch *const w = user;
    (void)draw;
    (void)x;
    check_unchanged(w->e, "entering the callback");
    w->calls++;
    return 0;
}

static gbs_sampler_spec spec_for(const scenario *s, const double *tiny, const double *noise)
{
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    spec.type = s->type;
    spec.method = s->method;
    spec.chains = CHAINS;
    spec.seed = 5;
    if (s->tiny) {
        spec.start = GBS_START_GIVEN;
        spec.initial = tiny;
        spec.initial_rows = CHAINS;
        spec.stream.kind = GBS_STREAM_GIVEN;
        spec.stream.noise = noise;
        spec.stream.noise_sweeps = 2 * SWEEPS;
    }
    return spec;
}

/* Everything from the model's creation on, in the environment `e`. */
static result run_in(const environment *e, gbs_isa isa, int32_t threads, const scenario *s,
                     const double *q, const double *tiny, const double *noise)
{
    const size_t bytes = CHAINS * DIM * type_size(s->type);
    result r = {calloc(1, bytes), calloc(SWEEPS, bytes), naive_new(CHAINS * DIM)};
    gbs_context_options options = gbs_context_options_default();
    options.isa = isa;
    options.threads = threads;
    gbs_context *ctx = NULL;
    assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
    const gbs_sampler_spec spec = spec_for(s, tiny, noise);
    gbs_model_spec model_spec = spec_of(q, DIM);
    gbs_model *model = NULL;
    gbs_sampler *sampler = NULL;
    gbs_moments *moments = NULL;
    watch w = {e, 0};
    enter(e);
    gbs_status status = gbs_model_create(ctx, &model_spec, &model);
    check_unchanged(e, "gbs_model_create");
    if (status == GBS_OK)
        status = gbs_sampler_create(ctx, model, &spec, &sampler);
    check_unchanged(e, "gbs_sampler_create");
    if (status == GBS_OK)
        status = gbs_sampler_run(sampler, SWEEPS);
    check_unchanged(e, "gbs_sampler_run");
    if (status == GBS_OK)
        status = gbs_sampler_get_state(sampler, r.x);
    if (status == GBS_OK)
        status = gbs_moments_create(ctx, CHAINS, DIM, &moments);
    const gbs_sink sink = {.out = r.draws, .callback = watch_draw, .user = &w, .moments = moments};
    if (status == GBS_OK)
        status = gbs_sampler_sample(sampler, SWEEPS, 1, &sink);
    check_unchanged(e, "gbs_sampler_sample");
    fesetenv(FE_DFL_ENV);
    must(ctx, status);
    assert_int_equal(w.calls, SWEEPS);
    memcpy(r.mean, gbs_moments_mean(moments), CHAINS * DIM * sizeof *r.mean);
    gbs_moments_destroy(moments);
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
    return r;
}

static void free_result(result *r)
{
    free(r->x);
    free(r->draws);
    free(r->mean);
}

static int64_t count_subnormals(gbs_type type, const void *x)
{
    int64_t count = 0;
    for (int64_t at = 0; at < CHAINS * DIM; ++at)
        count += type == GBS_F32 ? fpclassify(((const float *)x)[at]) == FP_SUBNORMAL
                                 : fpclassify(((const double *)x)[at]) == FP_SUBNORMAL;
    return count;
}

static void check_scenario(gbs_isa isa, const scenario *s)
{
    const size_t bytes = CHAINS * DIM * type_size(s->type);
    double *const q = random_matrix(DIM, 12), *const noise = naive_new(2 * SWEEPS * DIM * CHAINS);
    double *const tiny = random_vector(CHAINS * DIM, 4, 4 * DBL_MIN);
    for (int64_t k = 0; k < DIM * DIM; ++k)
        q[k] = q[k] / s->scale / s->scale;
    result expected = run_in(&environments[0], isa, 1, s, q, tiny, noise);
    const int64_t subnormals = count_subnormals(s->type, expected.x);
    if ((s->tiny || s->scale < 1) && subnormals == 0)
        fail_msg("%s: no state is subnormal, so that nothing would show", s->what);
    for (int turn = 1; turn < MOST_THREADS * COUNT(environments); ++turn) {
        const int k = turn % COUNT(environments), threads = 1 + turn / COUNT(environments);
        result got = run_in(&environments[k], isa, threads, s, q, tiny, noise);
        if (memcmp(got.x, expected.x, bytes) != 0 ||
            memcmp(got.draws, expected.draws, SWEEPS * bytes) != 0 ||
            memcmp(got.mean, expected.mean, CHAINS * DIM * sizeof(double)) != 0)
            fail_msg("%s, %s, %s, %d threads: the draws differ from those of the default "
                     "environment",
                     gbs_isa_name(isa), s->what, environments[k].what, threads);
        free_result(&got);
    }
    printf("checked: %s, %s: the same bits in %d environments on 1 to %d threads, all restored; "
           "%lld of %d states subnormal\n",
           gbs_isa_name(isa), s->what, COUNT(environments), MOST_THREADS, (long long)subnormals,
           CHAINS * DIM);
    free_result(&expected);
    free(q);
    free(noise);
    free(tiny);
}

static void test_environments(void **state)
{
    (void)state;
    for (gbs_isa isa = GBS_ISA_SCALAR; isa <= GBS_ISA_NEON; ++isa)
        for (int k = 0; k < COUNT(scenarios) && gbs_isa_available(isa); ++k)
            check_scenario(isa, &scenarios[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_environments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
