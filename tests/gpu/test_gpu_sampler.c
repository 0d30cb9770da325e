/* Samplers on the GPU against samplers on the CPU: the cases of tests/device, bit for bit; torch's
 * own bits; memory refused at every request; contexts, threads and devices side by side. */
#define _POSIX_C_SOURCE 200809L

#include "counted_memory.h"
#include "device/device_cases.h"
#include "gpu_harness.h"

#include <pthread.h>

static gbs_context_options gpu(void)
{
    gbs_context_options options = gbs_context_options_default();
    options.backend = GBS_BACKEND_CUDA;
    options.cuda_library = GBS_CUDA_LIBRARY;
    return options;
}

/* ---- the same bits as the CPU ---- */

static void compare(const device_case *of, void *unused)
{
    const gbs_context_options options = gpu();
    char name[256], told[1500], what[2000];
    (void)unused;
    case_name(of, name, sizeof name);
    const int same = case_compare(of, &options, told, sizeof told);
    snprintf(what, sizeof what, "%s: %s", name, told);
    check(same, what);
}

static void compare_all(int quick)
{
    static const int64_t dims[] = {1, 2, 3, 5, 8, 16, 31, 32, 33, 64, 100, 128, 129, 257};
    static const int64_t chains[] = {1, 33, 1000};
    for (int type = 0; type < 2; ++type)
        for (size_t d = 0; d < sizeof dims / sizeof *dims; ++d)
            for (size_t b = 0; b < sizeof chains / sizeof *chains; ++b)
                if (!quick || (b == 1 && d % 3 == 0))
                    case_each((gbs_type)type, dims[d], chains[b], 0, compare, NULL);
    printf("every order, stream and method: %d passed, %d failed so far\n", passed, failed);
}

/* Sites between bounds: states in shared memory and, of more sites, in a workspace. */
static void compare_bounded(int quick)
{
    static const int64_t dims[] = {1, 2, 3, 5, 8, 16, 31, 32, 33, 64, 80, 129, 257};
    static const int64_t chains[] = {1, 129, 1000};
    for (int type = 0; type < 2; ++type)
        for (size_t d = 0; d < sizeof dims / sizeof *dims; ++d)
            for (size_t b = 0; b < sizeof chains / sizeof *chains; ++b)
                if (!quick || (b == 1 && d % 3 == 0))
                    case_each_bounded((gbs_type)type, dims[d], chains[b], compare, NULL);
    printf("between bounds: %d passed, %d failed so far\n", passed, failed);
}

/* Chains enough for the kernels that give a chain to a thread, sites enough for tiles, and runs of
 * more draws and noise than the device holds at once. */
static void compare_large(void)
{
    for (int type = 0; type < 2; ++type) {
        static const int64_t dims[] = {5, 16, 32, 96};
        for (size_t d = 0; d < sizeof dims / sizeof *dims; ++d)
            for (int order = 0; order < 4; ++order)
                compare(&(device_case){.type = (gbs_type)type,
                                       .dim = dims[d],
                                       .chains = dims[d] == 96 ? 50003 : 100003,
                                       .order = (gbs_order)order,
                                       .omega = order == 1 ? 1.3 : 1.0,
                                       .location = (gbs_location)order,
                                       .warmup = 1,
                                       .draws = 3,
                                       .thin = 2},
                        NULL);
        for (int order = 0; order < 4; ++order)
            compare(&(device_case){.type = (gbs_type)type,
                                   .dim = 1000,
                                   .chains = 65,
                                   .order = (gbs_order)order,
                                   .omega = order == 2 ? 0.7 : 1.0,
                                   .location = (gbs_location)order,
                                   .warmup = 2,
                                   .draws = 3,
                                   .thin = 2},
                    NULL);
        compare(&(device_case){.type = (gbs_type)type,
                               .method = GBS_METHOD_EXACT,
                               .dim = 300,
                               .chains = 2000,
                               .omega = 1.0,
                               .location = GBS_LOCATION_MEAN,
                               .draws = 4,
                               .thin = 1},
                NULL);
        for (int stream = 0; stream < 3; ++stream) {
            device_case of = {.type = (gbs_type)type,
                              .dim = 2,
                              .chains = 1,
                              .order = GBS_ORDER_PERMUTED,
                              .omega = 1.0,
                              .stream = (gbs_stream)stream,
                              .warmup = 5000,
                              .draws = 4999,
                              .thin = 1};
            compare(&of, NULL);
            of.draws = 3;
            of.thin = 6001;
            compare(&of, NULL);
            of.order = GBS_ORDER_SYMMETRIC;
            compare(&of, NULL);
        }
    }
    printf("many chains, many sites, many draws: %d passed, %d failed so far\n", passed, failed);
}

/* ---- torch's own bits ---- */

enum { TORCH_DIM = 13, TORCH_CHAINS = 300, TORCH_SWEEPS = 3 };

/* What the sampler makes of torch's stream, from x = 0. */
static void torch_sampler(gbs_type type, const double *q, gbs_order order,
                          const int64_t *permutation, void *out)
{
    gbs_context_options options = gpu();
    gbs_context *ctx = NULL;
    gbs_model *model = NULL;
    gbs_sampler *sampler = NULL;
    gbs_model_spec m = gbs_model_spec_default();
    gbs_sampler_spec s = gbs_sampler_spec_default();
    uint64_t state[2];
    m.dim = TORCH_DIM;
    m.matrix = q;
    s.type = type;
    s.chains = TORCH_CHAINS;
    s.seed = 41;
    s.order = order;
    s.permutation = permutation;
    s.start = GBS_START_ZERO;
    s.stream.kind = GBS_STREAM_TORCH_CUDA;
    s.stream.cuda_multiprocessors = 132;
    s.stream.cuda_threads_per_multiprocessor = 2048;
    gbs_status status = gbs_context_create(&options, &ctx);
    if (status == GBS_OK)
        status = gbs_model_create(ctx, &m, &model);
    if (status == GBS_OK)
        status = gbs_sampler_create(ctx, model, &s, &sampler);
    if (status == GBS_OK) /* in two runs: the generator's offset is carried on */
        status = gbs_sampler_run(sampler, 1);
    if (status == GBS_OK)
        status = gbs_sampler_run(sampler, TORCH_SWEEPS - 1);
    if (status == GBS_OK)
        status = gbs_sampler_get_state(sampler, out);
    if (status == GBS_OK)
        status = gbs_sampler_get_torch_state(sampler, state, sizeof state);
    check(status == GBS_OK, status == GBS_OK ? "torch-cuda" : gbs_context_message(ctx));
    const uint64_t passes = order == GBS_ORDER_SYMMETRIC ? 2 : 1;
    check(state[0] == 41 && state[1] == 4 * passes * TORCH_DIM * TORCH_SWEEPS,
          "torch's generator is where the loop leaves it");
    gbs_sampler_destroy(sampler);
    gbs_model_release(model);
    gbs_context_destroy(ctx);
}

/* What gbs_cuda_sweep makes of it, whose normals are held against torch.randn elsewhere; in
 * `kept`, if not NULL, the state after each sweep. */
static void torch_sweep(gbs_type type, const void *q, gbs_order order, void *out, void *kept)
{
    const size_t size = type_size(type), bytes = TORCH_DIM * TORCH_CHAINS * size;
    void *const zeros = calloc(TORCH_DIM * TORCH_CHAINS, size);
    gbs_sweep_spec spec = {.type = type,
                           .groups = 1,
                           .chains = TORCH_CHAINS,
                           .dim = TORCH_DIM,
                           .sweeps = TORCH_SWEEPS,
                           .order = order,
                           .omega = 1.0,
                           .stream = GBS_STREAM_TORCH_CUDA,
                           .seed = 41,
                           .cuda_multiprocessors = 132,
                           .cuda_threads_per_multiprocessor = 2048};
    void *const q_device = to_device(q, TORCH_DIM * TORCH_DIM * size);
    void *const x_device = to_device(zeros, bytes);
    void *kept_device;
    CUDA(cudaMalloc(&kept_device, TORCH_SWEEPS * bytes));
    spec.precision = q_device;
    spec.x = x_device;
    spec.out = x_device;
    spec.keep_every = kept != NULL;
    spec.kept = kept_device;
    check(run_sweep(&spec, GBS_CUDA_KERNEL_AUTO) == GBS_OK, "gbs_cuda_sweep on torch's stream");
    CUDA(cudaMemcpy(out, x_device, bytes, cudaMemcpyDeviceToHost));
    if (kept != NULL)
        CUDA(cudaMemcpy(kept, kept_device, TORCH_SWEEPS * bytes, cudaMemcpyDeviceToHost));
    CUDA(cudaFree(q_device));
    CUDA(cudaFree(x_device));
    CUDA(cudaFree(kept_device));
    free(zeros);
}

static void compare_torch(gbs_type type)
{
    const size_t size = type_size(type), bytes = TORCH_DIM * TORCH_CHAINS * size;
    void *const typed = random_precision(type, TORCH_DIM, 3); /* what a float can hold */
    double q[TORCH_DIM * TORCH_DIM];
    for (int64_t k = 0; k < TORCH_DIM * TORCH_DIM; ++k)
        q[k] = get(typed, type, k);
    void *const expected = malloc(bytes), *const got = malloc(bytes);
    for (int order = GBS_ORDER_FORWARD; order <= GBS_ORDER_SYMMETRIC; ++order) {
        torch_sampler(type, q, (gbs_order)order, NULL, got);
        torch_sweep(type, typed, (gbs_order)order, expected, NULL);
        char what[64];
        snprintf(what, sizeof what, "torch-cuda, type %d, order %d", (int)type, order);
        check(memcmp(expected, got, bytes) == 0, what);
    }
    /* permuted: the forward sweep of the permuted model */
    int64_t *const site = case_permutation(TORCH_DIM);
    void *const turned = malloc(TORCH_DIM * TORCH_DIM * size);
    for (int64_t p = 0; p < TORCH_DIM; ++p)
        for (int64_t k = 0; k < TORCH_DIM; ++k)
            put(turned, type, p * TORCH_DIM + k, q[site[p] * TORCH_DIM + site[k]]);
    torch_sampler(type, q, GBS_ORDER_PERMUTED, site, got);
    torch_sweep(type, turned, GBS_ORDER_FORWARD, expected, NULL);
    int64_t wrong = 0;
    for (int64_t chain = 0; chain < TORCH_CHAINS; ++chain)
        for (int64_t p = 0; p < TORCH_DIM; ++p)
            wrong += get(got, type, chain * TORCH_DIM + site[p]) !=
                     get(expected, type, chain * TORCH_DIM + p);
    check(wrong == 0, "torch-cuda, permuted");
    free(site);
    free(turned);
    free(expected);
    free(got);
    free(typed);
}

/* Exact draws from torch's stream are exact draws from its normals, given. */
static void compare_torch_exact(gbs_type type)
{
    const int64_t state = TORCH_DIM * TORCH_CHAINS;
    const size_t size = type_size(type), bytes = (size_t)state * size;
    void *const one = calloc(TORCH_DIM * TORCH_DIM, size), *const z = malloc(TORCH_SWEEPS * bytes),
                *const noise = malloc(TORCH_SWEEPS * bytes), *const last = malloc(bytes);
    for (int64_t i = 0; i < TORCH_DIM; ++i)
        put(one, type, i * (TORCH_DIM + 1), 1.0);
    torch_sweep(type, one, GBS_ORDER_FORWARD, last, z); /* under unit precision x is z */
    for (int64_t draw = 0; draw < TORCH_SWEEPS; ++draw)
        for (int64_t chain = 0; chain < TORCH_CHAINS; ++chain)
            for (int64_t i = 0; i < TORCH_DIM; ++i)
                put(noise, type, draw * state + i * TORCH_CHAINS + chain,
                    get(z, type, draw * state + chain * TORCH_DIM + i));
    void *const draws[2] = {malloc(TORCH_SWEEPS * bytes), malloc(TORCH_SWEEPS * bytes)};
    double *const q = case_precision(TORCH_DIM, 3);
    for (int given = 0; given < 2; ++given) {
        gbs_context_options options = gpu();
        gbs_context *ctx = NULL;
        gbs_model *model = NULL;
        gbs_sampler *sampler = NULL;
        gbs_model_spec m = gbs_model_spec_default();
        gbs_sampler_spec s = gbs_sampler_spec_default();
        m.dim = TORCH_DIM;
        m.matrix = q;
        s.type = type;
        s.method = GBS_METHOD_EXACT;
        s.chains = TORCH_CHAINS;
        s.seed = 41;
        s.stream.kind = given ? GBS_STREAM_GIVEN : GBS_STREAM_TORCH_CUDA;
        s.stream.noise = noise;
        s.stream.noise_type = type;
        s.stream.noise_sweeps = TORCH_SWEEPS;
        s.stream.cuda_multiprocessors = 132;
        s.stream.cuda_threads_per_multiprocessor = 2048;
        const gbs_sink sink = {.out = draws[given]};
        gbs_status status = gbs_context_create(&options, &ctx);
        if (status == GBS_OK)
            status = gbs_model_create(ctx, &m, &model);
        if (status == GBS_OK)
            status = gbs_sampler_create(ctx, model, &s, &sampler);
        if (status == GBS_OK)
            status = gbs_sampler_sample(sampler, TORCH_SWEEPS, 1, &sink);
        check(status == GBS_OK, status == GBS_OK ? "exact draws" : gbs_context_message(ctx));
        gbs_sampler_destroy(sampler);
        gbs_model_release(model);
        gbs_context_destroy(ctx);
    }
    check(memcmp(draws[0], draws[1], TORCH_SWEEPS * bytes) == 0, "exact draws from torch-cuda");
    free(draws[0]);
    free(draws[1]);
    free(q);
    free(one);
    free(z);
    free(noise);
    free(last);
}

/* ---- memory ---- */

static void refuse_memory(void)
{
    device_case of = {
        .type = GBS_F32, .dim = 150, .chains = 3, .omega = 1.0, .warmup = 1, .draws = 2, .thin = 1};
    for (int turn = 0; turn < 3; ++turn) {
        of.order = turn == 1 ? GBS_ORDER_PERMUTED : GBS_ORDER_SYMMETRIC;
        of.method = turn == 2 ? GBS_METHOD_EXACT : GBS_METHOD_GIBBS;
        of.order = turn == 2 ? GBS_ORDER_FORWARD : of.order;
        for (int64_t k = 0;; ++k) {
            counted c = {.refuse = k};
            gbs_context_options options = gpu();
            options.cuda_memory = (gbs_allocator){take_counted, give_counted, &c};
            device_result r = case_result(&of, &options);
            const int refused = c.refuse == -1;
            char what[700];
            snprintf(what, sizeof what,
                     "device request %lld refused: %s, \"%s\", %lld taken, %lld given",
                     (long long)k, gbs_status_name(r.status), r.message, (long long)c.taken,
                     (long long)c.given);
            check(r.status == (refused ? GBS_ERROR_MEMORY : GBS_OK) && c.taken == c.given &&
                      (!refused || strstr(r.message, "no memory for") != NULL),
                  what);
            case_free(&r);
            if (!refused) {
                printf("each of %lld requests for device memory refused in turn\n", (long long)k);
                break;
            }
        }
    }
}

/* More than is left of the card: MEMORY in words, and the device goes on working.  Nothing else may
 * want the card's memory meanwhile. */
static void exhaust_memory(void)
{
    gbs_context_options options = gpu();
    gbs_context *ctx = NULL;
    gbs_moments *moments = NULL;
    char what[600];
    check(gbs_context_create(&options, &ctx) == GBS_OK, "a context");
    size_t free_bytes, all_bytes;
    CUDA(cudaMemGetInfo(&free_bytes, &all_bytes));
    void *hoard; /* leave little, so that little host memory is asked for */
    CUDA(cudaMalloc(&hoard, free_bytes - ((size_t)64 << 20)));
    const gbs_status status = gbs_moments_create(ctx, 1 << 20, 16, &moments); /* 2 x 128 MiB */
    snprintf(what, sizeof what, "a full card: %s, \"%s\"", gbs_status_name(status),
             gbs_context_message(ctx));
    check(status == GBS_ERROR_MEMORY && moments == NULL, what);
    printf("%s\n", what);
    CUDA(cudaFree(hoard));
    check(gbs_moments_create(ctx, 1 << 20, 16, &moments) == GBS_OK, "the card is free again");
    gbs_moments_destroy(moments);
    gbs_context_destroy(ctx);
}

/* ---- side by side ---- */

typedef struct worker {
    device_case of;
    char told[1500];
    int same;
} worker;

static void *work(void *argument)
{
    worker *const w = argument;
    const gbs_context_options options = gpu();
    w->same = 1;
    for (int round = 0; round < 4 && w->same; ++round) /* contexts come and go meanwhile */
        w->same = case_compare(&w->of, &options, w->told, sizeof w->told);
    return NULL;
}

static void run_threads(void)
{
    enum { THREADS = 4 };
    static worker workers[THREADS];
    pthread_t threads[THREADS];
    for (int k = 0; k < THREADS; ++k) {
        workers[k].of = (device_case){.type = (gbs_type)(k % 2),
                                      .method = k == 3 ? GBS_METHOD_EXACT : GBS_METHOD_GIBBS,
                                      .dim = 20 + 60 * k,
                                      .chains = 500,
                                      .order = k == 3 ? GBS_ORDER_FORWARD : (gbs_order)(k + 1),
                                      .omega = 1.0,
                                      .warmup = 10,
                                      .draws = 20,
                                      .thin = k == 3 ? 1 : 2};
        pthread_create(&threads[k], NULL, work, &workers[k]);
    }
    for (int k = 0; k < THREADS; ++k) {
        char what[1600];
        pthread_join(threads[k], NULL);
        snprintf(what, sizeof what, "thread %d: %s", k, workers[k].told);
        check(workers[k].same, what);
    }
}

/* Device numbers, and the caller's current device. */
static void try_devices(void)
{
    int count = 0, current = -1;
    CUDA(cudaGetDeviceCount(&count));
    gbs_context_options options = gpu();
    char message[256] = "", what[400];
    gbs_context *ctx = NULL;
    options.message = message;
    options.message_bytes = sizeof message;
    for (int k = 0; k < 2; ++k) {
        options.cuda_device = k == 0 ? -1 : count;
        const gbs_status status = gbs_context_create(&options, &ctx);
        snprintf(what, sizeof what, "device %d: %s", (int)options.cuda_device, message);
        check(status == GBS_ERROR_UNAVAILABLE && ctx == NULL &&
                  strstr(message, "cuda_device: ") != NULL,
              what);
    }
    if (count < 2) {
        printf("one GPU: samplers on a second one are not tried\n");
        return;
    }
    CUDA(cudaSetDevice(0));
    options.cuda_device = 1;
    const device_case of = {
        .type = GBS_F32, .dim = 40, .chains = 70, .omega = 1.0, .draws = 5, .thin = 2};
    char told[1500];
    check(case_compare(&of, &options, told, sizeof told), told);
    CUDA(cudaGetDevice(&current));
    check(current == 0, "the caller's device is as it was");
}

int main(int argc, char **argv)
{
    const char *const mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "--sanitizer") == 0) { /* for tools that run hundreds of times slower */
        for (int type = 0; type < 2; ++type) {
            case_each((gbs_type)type, 5, 9, 0, compare, NULL);
            case_each_bounded((gbs_type)type, 11, 9, compare, NULL);
            case_each_bounded((gbs_type)type, 130, 2, compare, NULL);
            compare_torch((gbs_type)type);
            compare_torch_exact((gbs_type)type);
            compare(&(device_case){.type = (gbs_type)type,
                                   .dim = 150,
                                   .chains = 3,
                                   .order = GBS_ORDER_SYMMETRIC,
                                   .omega = 1.3,
                                   .draws = 2,
                                   .thin = 1},
                    NULL);
        }
        return finish();
    }
    if (strcmp(mode, "--memory") == 0) {
        exhaust_memory();
        return finish();
    }
    compare_all(strcmp(mode, "--quick") == 0);
    compare_bounded(strcmp(mode, "--quick") == 0);
    if (strcmp(mode, "--quick") != 0)
        compare_large();
    for (int type = 0; type < 2; ++type) {
        compare_torch((gbs_type)type);
        compare_torch_exact((gbs_type)type);
    }
    refuse_memory();
    run_threads();
    try_devices();
    return finish();
}
