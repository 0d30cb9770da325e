/* A short run of the library, from the context to the last figure, with the k-th request for memory
 * refused, for every k: the call that meets it says so and changes nothing, for the same call again
 * succeeds and the run ends with the bits of an undisturbed one; and all memory is given back. */
#include "gibbsite/gibbsite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "unit/counting.h"

enum { D = 5, B = 40, DRAWS = 6, SWEEPS = 4, FIGURES = 11 };

/* What a run leaves: compared bit for bit. */
typedef struct result {
    double x[B * D], draws[B * DRAWS * D], mean[B * D], lp[B], swept[B * D];
    double figures[FIGURES]; /* of the summary, which has padding */
    gbs_spectrum spectrum;
    double rate;
} result;

typedef struct run {
    gbs_context *ctx;
    gbs_model *model;
    gbs_sampler *sampler;
    gbs_moments *moments;
    const gbs_sampler_spec *spec;
    int32_t threads;
    int refusals; /* calls that had no memory */
    result *out;
} run;

/* Does a call, and once more if it was refused memory. */
#define CALL(r, call)                                                                              \
    do {                                                                                           \
        gbs_status status_ = (call);                                                               \
        if (status_ == GBS_ERROR_MEMORY) {                                                         \
            (r)->refusals++;                                                                       \
            if ((r)->ctx && strstr(gbs_context_message((r)->ctx), "no memory") == NULL)            \
                fail_msg("%s: the message is \"%s\"", #call, gbs_context_message((r)->ctx));       \
            status_ = (call);                                                                      \
        }                                                                                          \
        if (status_ != GBS_OK)                                                                     \
            fail_msg("%s: expected GBS_OK, got %s", #call, gbs_status_name(status_));              \
    } while (0)

static void make_objects(run *r, counting *memory)
{
    static const double covariance[D * D] = {4, 1, 0, 0, 0, 1, 3, 1, 0, 0, 0, 1, 5,
                                             1, 0, 0, 0, 1, 3, 1, 0, 0, 0, 1, 4};
    static const double mean[D] = {1, -1, 0, 2, 0.5};
    gbs_context_options options = counting_options(memory);
    gbs_model_spec m = gbs_model_spec_default();
    options.threads = r->threads;
    m.dim = D;
    m.matrix_kind = GBS_MATRIX_COVARIANCE;
    m.matrix = covariance;
    m.location_kind = GBS_LOCATION_MEAN;
    m.location = mean;
    CALL(r, gbs_context_create(&options, &r->ctx));
    CALL(r, gbs_model_create(r->ctx, &m, &r->model));
    CALL(r, gbs_model_spectrum(r->ctx, r->model, &r->out->spectrum));
    CALL(r, gbs_model_gibbs_rate(r->ctx, r->model, &r->out->spectrum, 1, &r->out->rate));
    CALL(r, gbs_sampler_create(r->ctx, r->model, r->spec, &r->sampler));
    CALL(r, gbs_moments_create(r->ctx, B, D, &r->moments));
}

/* Draws, a checkpoint read back half-way, moments and log densities. */
static void draw(run *r)
{
    const gbs_sink sink = {
        .out = r->out->draws, .chain_stride = DRAWS * D, .draw_stride = D, .site_stride = 1};
    size_t bytes;
    CALL(r, gbs_sampler_run(r->sampler, SWEEPS));
    CALL(r, gbs_checkpoint_size(r->sampler, r->moments, &bytes));
    void *checkpoint = malloc(bytes);
    assert_non_null(checkpoint);
    CALL(r, gbs_checkpoint_write(r->sampler, r->moments, NULL, checkpoint, bytes));
    CALL(r, gbs_sampler_run(r->sampler, 1));
    CALL(r, gbs_checkpoint_read(r->sampler, r->moments, checkpoint, bytes));
    free(checkpoint);
    CALL(r,
         gbs_sampler_sample(r->sampler, DRAWS, r->spec->method == GBS_METHOD_EXACT ? 1 : 2, &sink));
    CALL(r, gbs_sampler_get_state(r->sampler, r->out->x));
    CALL(r, gbs_model_log_density(r->ctx, r->model, GBS_F64, r->out->x, B, 0, r->out->lp));
}

static void sweep(run *r)
{
    memcpy(r->out->mean, gbs_moments_mean(r->moments), sizeof r->out->mean);
    memcpy(r->out->swept, r->out->x, sizeof r->out->swept);
    gbs_sweep_spec s = gbs_sweep_spec_default();
    s.type = GBS_F64;
    s.dim = D;
    s.chains = B;
    s.precision = gbs_model_precision(r->model);
    s.precision_row_stride = D;
    s.x_stride[1] = s.out_stride[1] = D;
    s.x_stride[2] = s.out_stride[2] = 1;
    s.x = r->out->swept;
    s.out = r->out->swept;
    s.sweeps = 2;
    CALL(r, gbs_sweep(r->ctx, &s));
}

static void summarise(run *r)
{
    const gbs_draws draws = {.values = r->out->draws,
                             .chains = B,
                             .draws = DRAWS,
                             .chain_stride = DRAWS * D,
                             .draw_stride = D};
    void *workspace = malloc(gbs_diag_workspace(B, DRAWS));
    assert_non_null(workspace);
    gbs_summary summary;
    assert_int_equal(gbs_diag_summary(&draws, workspace, &summary), GBS_OK);
    const double figures[FIGURES] = {summary.mean,    summary.sd,       summary.mcse_mean,
                                     summary.mcse_sd, summary.q5,       summary.median,
                                     summary.q95,     summary.ess_bulk, summary.ess_tail,
                                     summary.rhat,    summary.notes};
    memcpy(r->out->figures, figures, sizeof figures);
    free(workspace);
}

/* The whole run with request `refuse` refused, -1 for none; returns how many there were. */
static int64_t perform(const char *what, const gbs_sampler_spec *spec, int32_t threads,
                       int64_t refuse, result *out)
{
    counting memory = {.refuse = refuse};
    run r = {.spec = spec, .threads = threads, .out = out};
    memset(out, 0, sizeof *out);
    make_objects(&r, &memory);
    draw(&r);
    sweep(&r);
    summarise(&r);
    gbs_moments_destroy(r.moments);
    gbs_sampler_destroy(r.sampler);
    gbs_model_release(r.model);
    gbs_context_destroy(r.ctx);
    if (memory.taken != memory.given)
        fail_msg("%s, request %lld: %lld blocks taken, %lld given back", what, (long long)refuse,
                 (long long)memory.taken, (long long)memory.given);
    if (refuse >= 0 && r.refusals > 1)
        fail_msg("%s, request %lld: %d calls failed, expected at most 1", what, (long long)refuse,
                 r.refusals);
    return memory.taken;
}

static void refuse_each(const char *what, const gbs_sampler_spec *spec, int32_t threads)
{
    static result undisturbed, disturbed;
    const int64_t requests = perform(what, spec, threads, -1, &undisturbed);
    for (int64_t k = 0; k < requests; k++) {
        perform(what, spec, threads, k, &disturbed);
        if (memcmp(&disturbed, &undisturbed, sizeof disturbed) != 0)
            fail_msg("%s, request %lld of %lld: the run ends with other bits", what, (long long)k,
                     (long long)requests);
    }
    print_message("%s: %lld requests, each refused once\n", what, (long long)requests);
}

static void test_streams(void **state)
{
    (void)state;
    static const double noise[2 * (SWEEPS + 2 * DRAWS) * D * B];
    static const struct {
        const char *what;
        gbs_stream kind;
        gbs_method method;
        gbs_order order;
    } cases[] = {
        {"native, forward", GBS_STREAM_NATIVE, GBS_METHOD_GIBBS, GBS_ORDER_FORWARD},
        {"native, symmetric", GBS_STREAM_NATIVE, GBS_METHOD_GIBBS, GBS_ORDER_SYMMETRIC},
        {"native, exact", GBS_STREAM_NATIVE, GBS_METHOD_EXACT, GBS_ORDER_FORWARD},
        {"given", GBS_STREAM_GIVEN, GBS_METHOD_GIBBS, GBS_ORDER_BACKWARD},
        {"torch-cpu", GBS_STREAM_TORCH_CPU, GBS_METHOD_GIBBS, GBS_ORDER_FORWARD},
        {"torch-cuda", GBS_STREAM_TORCH_CUDA, GBS_METHOD_GIBBS, GBS_ORDER_FORWARD},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbs_sampler_spec s = gbs_sampler_spec_default();
        s.type = GBS_F64;
        s.chains = B;
        s.seed = 7;
        s.method = cases[i].method;
        s.order = cases[i].order;
        s.stream.kind = cases[i].kind;
        s.stream.noise = noise;
        s.stream.noise_type = GBS_F64;
        s.stream.noise_sweeps = 2 * (SWEEPS + 2 * DRAWS);
        s.stream.cuda_multiprocessors = 132;
        s.stream.cuda_threads_per_multiprocessor = 2048;
        refuse_each(cases[i].what, &s, 1);
    }
}

static void test_threads(void **state)
{
    (void)state;
    gbs_sampler_spec s = gbs_sampler_spec_default();
    s.type = GBS_F64;
    s.chains = B;
    refuse_each("two threads", &s, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_streams),
                                       cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
