/* Samplers on a device that is not there, or fails: what is said without a library, and what is
 * left when the device fails at its k-th call or there is no memory for the k-th block, here or
 * there. The device is a fake in host code (fake_device.c). */
#define _POSIX_C_SOURCE 200809L

#include "device/fake_device.h"
#include "device/fake_fixture.h"

#include <dlfcn.h>

static fake_control *control_of_fake(void)
{
    void *const library = dlopen(FAKE_DEVICE, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    fake_control_function function;
    void *const symbol = dlsym(library, "fake_device_control");
    assert_non_null(symbol);
    memcpy(&function, &symbol, sizeof function);
    dlclose(library); /* contexts have it open */
    return function();
}

/* ---- no device ---- */

static void refuse_options(gbs_context_options options, gbs_status status, const char *words)
{
    gbs_context *ctx = (gbs_context *)&options;
    char message[256] = "";
    options.message = message;
    options.message_bytes = sizeof message;
    const gbs_status got = gbs_context_create(&options, &ctx);
    if (got != status || ctx != NULL || strstr(message, words) == NULL)
        fail_msg("expected %s and \"%s\"; got %s and \"%s\"", gbs_status_name(status), words,
                 gbs_status_name(got), message);
    printf("checked: \"%s\"\n", message);
    options.message = NULL; /* without room for words the status is the same */
    assert_int_equal(gbs_context_create(&options, &ctx), status);
    assert_null(ctx);
}

static void test_no_library(void **state)
{
    (void)state;
    gbs_context_options options = fake_options();
    options.cuda_library = "/nowhere/libgibbsite_cuda.so.0";
    refuse_options(options, GBS_ERROR_UNAVAILABLE, "/nowhere/libgibbsite_cuda.so.0");
    options.cuda_library = "libm.so.6";
    refuse_options(options, GBS_ERROR_UNAVAILABLE, "libm.so.6 is not the CUDA library of gibbsite");
    options.cuda_library = NULL;
    assert_int_equal(setenv("GIBBSITE_CUDA_LIBRARY", "/nowhere/else.so", 1), 0);
    refuse_options(options, GBS_ERROR_UNAVAILABLE, "/nowhere/else.so");
    assert_int_equal(setenv("GIBBSITE_CUDA_LIBRARY", FAKE_DEVICE, 1), 0);
    gbs_context *ctx = NULL;
    assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
    gbs_context_destroy(ctx);
    assert_int_equal(unsetenv("GIBBSITE_CUDA_LIBRARY"), 0);
    refuse_options(options, GBS_ERROR_UNAVAILABLE, "libgibbsite_cuda.so.0"); /* not beside this */
    options = fake_options();
    options.cuda_device = 2;
    refuse_options(options, GBS_ERROR_UNAVAILABLE, "cuda_device");
    options.cuda_device = 0;
    options.backend = (gbs_backend)2;
    refuse_options(options, GBS_ERROR_ARGUMENT, "backend: 2 is not known");
    options = fake_options();
    options.cuda_memory.allocate = counting_allocate;
    refuse_options(options, GBS_ERROR_ARGUMENT, "cuda_memory");
    assert_string_equal(gbs_backend_name(GBS_BACKEND_CPU), "cpu");
    assert_string_equal(gbs_backend_name(GBS_BACKEND_CUDA), "cuda");
    assert_string_equal(gbs_backend_name((gbs_backend)9), "unknown");
    assert_int_equal(gbs_context_backend(NULL), GBS_BACKEND_CPU);
}

/* ---- failures ---- */

static const gbs_order orders[] = {GBS_ORDER_FORWARD, GBS_ORDER_PERMUTED};

/* Plain sweeps of every stream; whitened ones, and sweeps within rows, from the first two. */
typedef enum kind_of_sweep { PLAIN, WITHIN_ROWS, WHITENED } kind_of_sweep;

/* Everything a sampler does; GBS_OK, or the first failure, with its message. */
static gbs_status do_everything(const gbs_context_options *options, gbs_stream stream,
                                gbs_order order, kind_of_sweep kind, char *message, size_t room)
{
    static const double row[3] = {1, -1, 1}, least[1] = {-0.5};
    static const uint64_t words[90];
    static const int64_t permutation[3] = {2, 0, 1};
    static const double noise[90];
    gbs_context_options chosen = *options;
    gbs_context *ctx = NULL;
    gbs_model *model = NULL;
    gbs_sampler *sampler = NULL;
    gbs_moments *moments = NULL;
    double x[60];
    chosen.message = message;
    chosen.message_bytes = room;
    gbs_status status = gbs_context_create(&chosen, &ctx);
    if (status != GBS_OK)
        return status;
    gbs_model_spec m = spec_of(fixture_precision, 3);
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    if (kind != PLAIN)
        m.constraints = (gbs_constraints){.rows = 1, .matrix = row, .lower = least};
    spec.start = kind != PLAIN ? GBS_START_ZERO : GBS_START_OVERDISPERSED;
    spec.method = kind == WHITENED ? GBS_METHOD_WHITENED : GBS_METHOD_GIBBS;
    spec.chains = 2;
    spec.order = order;
    spec.permutation = permutation;
    spec.stream = (gbs_stream_spec){.kind = stream,
                                    .noise_type = GBS_F64,
                                    .noise = noise,
                                    .words = words,
                                    .noise_sweeps = 15,
                                    .cuda_multiprocessors = 1,
                                    .cuda_threads_per_multiprocessor = 256};
    status = gbs_model_create(ctx, &m, &model);
    if (status == GBS_OK)
        status = gbs_sampler_create(ctx, model, &spec, &sampler);
    if (status == GBS_OK)
        status = gbs_moments_create(ctx, 2, 3, &moments);
    if (status == GBS_OK)
        status = gbs_sampler_run(sampler, 2);
    const gbs_sink sink = {.out = x, .moments = moments};
    if (status == GBS_OK)
        status = gbs_sampler_sample(sampler, 3, 2, &sink);
    if (status == GBS_OK)
        status = gbs_sampler_get_state(sampler, x);
    if (status == GBS_OK)
        status = gbs_sampler_set_state(sampler, x);
    if (status == GBS_OK && gbs_moments_mean(moments) == NULL) {
        double merged[3] = {0};
        gbs_moments_merged(moments, merged, NULL);
        assert_non_null(gbs_moments_m2(moments)); /* asked again, it is there */
        status = GBS_ERROR_UNAVAILABLE;
        snprintf(message, room, "fake: moments_get failed");
    } else if (status != GBS_OK) {
        snprintf(message, room, "%s", gbs_context_message(ctx));
    }
    gbs_sampler_destroy(sampler);
    gbs_moments_destroy(moments);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
    return status;
}

/* Refuses the k-th request of one pair of hooks for every k. */
static void refuse_memory(const char *what, int on_device, kind_of_sweep kind)
{
    const int streams = kind == PLAIN ? GBS_STREAM_TORCH_CUDA : GBS_STREAM_GIVEN;
    for (int stream = GBS_STREAM_NATIVE; stream <= streams; ++stream)
        for (size_t o = 0; o < (kind == WHITENED ? 1 : 2); ++o)
            for (int64_t k = 0;; ++k) {
                counting host = {.refuse = on_device ? -1 : k},
                         device = {.refuse = on_device ? k : -1};
                gbs_context_options options = fake_options();
                options.allocator = (gbs_allocator){counting_allocate, counting_release, &host};
                options.cuda_memory = (gbs_allocator){counting_allocate, counting_release, &device};
                char message[512] = "";
                const gbs_status status = do_everything(&options, (gbs_stream)stream, orders[o],
                                                        kind, message, sizeof message);
                const int refused = (on_device ? device : host).refuse == -1;
                if (status != (refused ? GBS_ERROR_MEMORY : GBS_OK) ||
                    (refused && strstr(message, "no memory") == NULL))
                    fail_msg("%s, request %lld: got %s, \"%s\"", what, (long long)k,
                             gbs_status_name(status), message);
                if (host.taken != host.given || device.taken != device.given)
                    fail_msg("%s, request %lld: %lld and %lld blocks taken, %lld and %lld given",
                             what, (long long)k, (long long)host.taken, (long long)device.taken,
                             (long long)host.given, (long long)device.given);
                if (!refused) {
                    assert_true(k > 0);
                    printf("checked: stream %d, order %d, kind %d: each of %lld requests for "
                           "memory %s "
                           "refused in turn, nothing lost\n",
                           stream, (int)orders[o], (int)kind, (long long)k, what);
                    break;
                }
            }
}

static void test_refused_memory(void **state)
{
    (void)state;
    for (int kind = PLAIN; kind <= WHITENED; ++kind) {
        refuse_memory("here", 0, (kind_of_sweep)kind);
        refuse_memory("on the device", 1, (kind_of_sweep)kind);
    }
}

static void test_failing_device(void **state)
{
    (void)state;
    gbs_context *const keeps = fake_context(0); /* the library stays where control points */
    fake_control *const control = control_of_fake();
    for (int stream = GBS_STREAM_NATIVE; stream <= GBS_STREAM_TORCH_CUDA; ++stream)
        for (int64_t k = 0;; ++k) {
            counting host = {.refuse = -1}, device = {.refuse = -1};
            gbs_context_options options = fake_options();
            options.allocator = (gbs_allocator){counting_allocate, counting_release, &host};
            options.cuda_memory = (gbs_allocator){counting_allocate, counting_release, &device};
            char message[512] = "";
            *control = (fake_control){.refuse = k};
            const gbs_status status = do_everything(&options, (gbs_stream)stream, GBS_ORDER_FORWARD,
                                                    PLAIN, message, sizeof message);
            const int refused = control->calls > k;
            control->refuse = -1;
            if (status != (refused ? GBS_ERROR_UNAVAILABLE : GBS_OK) ||
                (refused && strstr(message, "fake: ") == NULL))
                fail_msg("call %lld: got %s, \"%s\"", (long long)k, gbs_status_name(status),
                         message);
            if (host.taken != host.given || device.taken != device.given)
                fail_msg("call %lld: %lld and %lld blocks taken, %lld and %lld given back",
                         (long long)k, (long long)host.taken, (long long)device.taken,
                         (long long)host.given, (long long)device.given);
            if (!refused) {
                assert_true(k > 8);
                printf("checked: stream %d: each of %lld calls of the device failing in turn\n",
                       stream, (long long)k);
                break;
            }
        }
    gbs_context_destroy(keeps);
}

/* A run takes no memory. */
static void test_no_allocation(void **state)
{
    (void)state;
    counting host = {.refuse = -1}, device = {.refuse = -1};
    gbs_context_options options = fake_options();
    options.allocator = (gbs_allocator){counting_allocate, counting_release, &host};
    options.cuda_memory = (gbs_allocator){counting_allocate, counting_release, &device};
    gbs_context *ctx = NULL;
    assert_int_equal(gbs_context_create(&options, &ctx), GBS_OK);
    gbs_model *const model = fixture_model(ctx);
    gbs_sampler *sampler;
    gbs_moments *moments;
    gbs_sampler_spec spec = gbs_sampler_spec_default();
    assert_int_equal(gbs_sampler_create(ctx, model, &spec, &sampler), GBS_OK);
    assert_int_equal(gbs_moments_create(ctx, 1, 3, &moments), GBS_OK);
    const int64_t taken[2] = {host.taken, device.taken};
    double x[30];
    const gbs_sink sink = {.out = x, .moments = moments};
    assert_int_equal(gbs_sampler_run(sampler, 10), GBS_OK);
    assert_int_equal(gbs_sampler_sample(sampler, 10, 3, &sink), GBS_OK);
    assert_int_equal(gbs_sampler_get_state(sampler, x), GBS_OK);
    assert_non_null(gbs_moments_mean(moments));
    assert_int_equal(host.taken, taken[0]);
    assert_int_equal(device.taken, taken[1]);
    gbs_moments_destroy(moments);
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
    printf("checked: run, sample and reading take no memory, here or there\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_library),
        cmocka_unit_test(test_refused_memory),
        cmocka_unit_test(test_failing_device),
        cmocka_unit_test(test_no_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
