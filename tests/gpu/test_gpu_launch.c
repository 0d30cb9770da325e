/* How calls behave next to each other: seeds found at replay, CUDA graphs, two streams, two
 * threads, refusals, and, with --memory, that nothing is allocated.  Results are compared with the
 * same calls made plainly, one after another, bit for bit; test_gpu_bits holds those to the CPU's.
 */
#include "gpu_harness.h"

#include "rng/vocab_scalar.h"
#include "rng/philox.h"

#include <threads.h>

/* One model and its state on the device, with a workspace of its own. */
typedef struct problem {
    gbs_sweep_spec spec;
    gbs_cuda_launch launch;
    void *q, *x, *start; /* device */
    size_t bytes;        /* of the state */
} problem;

static problem make_problem(gbs_type type, int64_t dim, int64_t chains, gbs_stream stream,
                            gbs_cuda_kernel kernel)
{
    problem made;
    memset(&made, 0, sizeof made);
    void *const q = random_precision(type, dim, 17 + (uint64_t)dim);
    void *const x = random_array(type, dim * chains, 4.0, (uint64_t)chains);
    made.bytes = (size_t)(dim * chains) * type_size(type);
    made.q = to_device(q, (size_t)(dim * dim) * type_size(type));
    made.x = to_device(x, made.bytes);
    made.start = to_device(x, made.bytes);
    gbs_sweep_spec *const spec = &made.spec;
    spec->type = type;
    spec->groups = 1;
    spec->chains = chains;
    spec->dim = dim;
    spec->precision = made.q;
    spec->x = spec->out = made.x;
    spec->sweeps = 2;
    spec->omega = 1.0;
    spec->stream = stream;
    spec->seed = 77;
    spec->cuda_multiprocessors = 132;
    spec->cuda_threads_per_multiprocessor = 2048;
    made.launch.kernel = kernel;
    gbs_cuda_sweep_workspace(spec, kernel, &made.launch.workspace_bytes);
    if (made.launch.workspace_bytes > 0)
        CUDA(cudaMalloc(&made.launch.workspace, made.launch.workspace_bytes));
    free(q);
    free(x);
    return made;
}

static void free_problem(problem *p)
{
    CUDA(cudaFree(p->q));
    CUDA(cudaFree(p->x));
    CUDA(cudaFree(p->start));
    CUDA(cudaFree(p->launch.workspace));
}

static gbs_status call(const problem *p, cudaStream_t stream)
{
    char message[256] = "";
    gbs_cuda_launch launch = p->launch;
    launch.stream = stream;
    const gbs_status status = gbs_cuda_sweep(&p->spec, &launch, message, sizeof message);
    if (status != GBS_OK)
        printf("gbs_cuda_sweep: %s: %s\n", gbs_status_name(status), message);
    return status;
}

static void restart(const problem *p, cudaStream_t stream)
{
    CUDA(cudaMemcpyAsync(p->x, p->start, p->bytes, cudaMemcpyDeviceToDevice, stream));
}

/* The state, on the host; the caller frees it. */
static void *state_of(const problem *p)
{
    void *const host = malloc(p->bytes);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(host, p->x, p->bytes, cudaMemcpyDeviceToHost));
    return host;
}

/* `calls` calls from the start, one after another on the default stream. */
static void *plain_calls(const problem *p, int calls)
{
    restart(p, NULL);
    for (int k = 0; k < calls; ++k)
        check(call(p, NULL) == GBS_OK, "a plain call");
    return state_of(p);
}

static void check_same(const problem *p, void *expected, void *got, const char *what)
{
    char line[256];
    snprintf(line, sizeof line, "%s, D=%lld B=%lld stream=%d: %s", what, (long long)p->spec.dim,
             (long long)p->spec.chains, (int)p->spec.stream,
             memcmp(expected, got, p->bytes) == 0 ? "same bits" : "bits differ");
    printf("%s\n", line);
    check(memcmp(expected, got, p->bytes) == 0, line);
    free(expected);
    free(got);
}

/* ---- seeds at replay ---- */

/* What tensor.random_() draws from a torch generator: words 0 and 1 of thread 0. */
static uint64_t drawn_seed(uint64_t seed, uint64_t offset)
{
    const gbs_philox_key key = gbs_philox_schedule(seed);
    const gbs_philox_fixed fixed = gbs_philox_fix(&key, (uint32_t)(offset / 4 >> 32), 0, 0);
    vq words[4];
    gbs_philox_words(&key, &fixed, (uint32_t)(offset / 4), words);
    return (uint64_t)(uint32_t)words[0] << 32 | (uint32_t)words[1];
}

/* A captured call takes seed and offset from the device at every replay. */
static void check_replays(problem *p, int with_offset)
{
    static const uint64_t values[][2] = {{5, 0}, {5, 8}, {0xFEDCBA9876543210u, 4ull << 32}};
    const uint64_t extra = with_offset ? 12 : 0; /* spec.torch_offset, added to the device's */
    uint64_t *device;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CUDA(cudaMalloc((void **)&device, 2 * sizeof *device));
    CUDA(cudaStreamCreate(&stream));
    p->launch.device_seed = device;
    p->launch.device_offset = with_offset ? device + 1 : NULL;
    p->spec.torch_offset = extra;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    check(call(p, stream) == GBS_OK, "a captured call");
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    p->launch.device_seed = p->launch.device_offset = NULL;
    for (size_t k = 0; k < sizeof values / sizeof values[0]; ++k) {
        CUDA(cudaMemcpyAsync(device, values[k], sizeof values[k], cudaMemcpyHostToDevice, stream));
        restart(p, stream);
        CUDA(cudaGraphLaunch(exec, stream));
        void *const got = state_of(p);
        const uint64_t offset = values[k][1] + extra;
        const int drawn = p->spec.stream == GBS_STREAM_NATIVE && with_offset;
        p->spec.seed = drawn ? drawn_seed(values[k][0], offset) : values[k][0];
        p->spec.torch_offset = offset;
        check_same(p, plain_calls(p, 1), got,
                   with_offset ? "replay, seed and offset" : "replay, seed");
    }
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(device));
}

static void test_seeds_at_replay(const int64_t *dims, size_t count)
{
    static const gbs_stream streams[] = {GBS_STREAM_NATIVE, GBS_STREAM_TORCH_CUDA};
    for (int type = 0; type < 2; ++type)
        for (size_t d = 0; d < count; ++d)
            for (int s = 0; s < 2; ++s)
                for (int with_offset = streams[s] == GBS_STREAM_TORCH_CUDA; with_offset < 2;
                     ++with_offset) {
                    problem p =
                        make_problem((gbs_type)type, dims[d], 65, streams[s], GBS_CUDA_KERNEL_AUTO);
                    p.spec.sweeps = 1 + (int64_t)(d % 2);
                    check_replays(&p, with_offset);
                    free_problem(&p);
                }
}

/* A plain call of so many chains takes another kernel than one whose seed is found at replay. */
static void test_many_chains_at_replay(void)
{
    problem p = make_problem(GBS_F32, 16, 60000, GBS_STREAM_NATIVE, GBS_CUDA_KERNEL_AUTO);
    check_replays(&p, 1);
    free_problem(&p);
}

/* ---- streams and threads ---- */

enum { ROUNDS = 20 };

/* Lanes and tiles at once on two streams, each with its own state and workspace. */
static void test_two_streams(void)
{
    problem p[2] = {make_problem(GBS_F32, 32, 4096, GBS_STREAM_NATIVE, GBS_CUDA_KERNEL_LANES),
                    make_problem(GBS_F64, 200, 500, GBS_STREAM_TORCH_CUDA, GBS_CUDA_KERNEL_TILES)};
    void *const expected[2] = {plain_calls(&p[0], ROUNDS), plain_calls(&p[1], ROUNDS)};
    cudaStream_t stream[2];
    for (int k = 0; k < 2; ++k) {
        CUDA(cudaStreamCreateWithFlags(&stream[k], cudaStreamNonBlocking));
        restart(&p[k], stream[k]);
    }
    for (int round = 0; round < ROUNDS; ++round)
        for (int k = 0; k < 2; ++k)
            check(call(&p[k], stream[k]) == GBS_OK, "a call on its own stream");
    for (int k = 0; k < 2; ++k) {
        check_same(&p[k], expected[k], state_of(&p[k]), "two streams");
        CUDA(cudaStreamDestroy(stream[k]));
        free_problem(&p[k]);
    }
}

typedef struct worker {
    problem p;
    cudaStream_t stream;
    int refused, good; /* calls */
} worker;

/* Good calls and refused ones in turn: a refusal must not disturb anybody. */
static int work(void *argument)
{
    worker *const w = argument;
    CUDA(cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking));
    restart(&w->p, w->stream);
    for (int round = 0; round < ROUNDS; ++round) {
        gbs_sweep_spec bad = w->p.spec;
        bad.omega = 2.5;
        w->refused += gbs_cuda_sweep(&bad, NULL, NULL, 0) == GBS_ERROR_ARGUMENT;
        w->good += call(&w->p, w->stream) == GBS_OK;
    }
    CUDA(cudaStreamSynchronize(w->stream));
    CUDA(cudaStreamDestroy(w->stream));
    return 0;
}

static void test_two_threads(void)
{
    worker w[2];
    void *expected[2];
    thrd_t thread[2];
    memset(w, 0, sizeof w);
    w[0].p = make_problem(GBS_F32, 100, 700, GBS_STREAM_NATIVE, GBS_CUDA_KERNEL_AUTO);
    w[1].p = make_problem(GBS_F64, 40, 3000, GBS_STREAM_NATIVE, GBS_CUDA_KERNEL_TILES);
    for (int k = 0; k < 2; ++k)
        expected[k] = plain_calls(&w[k].p, ROUNDS);
    for (int k = 0; k < 2; ++k)
        check(thrd_create(&thread[k], work, &w[k]) == thrd_success, "a thread");
    for (int k = 0; k < 2; ++k) {
        check(thrd_join(thread[k], NULL) == thrd_success, "a thread's end");
        check(w[k].good == ROUNDS && w[k].refused == ROUNDS, "every call's status in a thread");
        check_same(&w[k].p, expected[k], state_of(&w[k].p), "two threads");
        free_problem(&w[k].p);
    }
}

/* ---- refusals and memory ---- */

static void check_refused(const problem *p, const char *part)
{
    char message[256] = "", line[512];
    const gbs_status status = gbs_cuda_sweep(&p->spec, &p->launch, message, sizeof message);
    snprintf(line, sizeof line, "refusal: expected ARGUMENT and \"%s\", got %s and \"%s\"", part,
             gbs_status_name(status), message);
    printf("%s\n", line);
    check(status == GBS_ERROR_ARGUMENT && strstr(message, part) != NULL, line);
}

static void test_refusals(void)
{
    problem p = make_problem(GBS_F32, 16, 100, GBS_STREAM_NATIVE, GBS_CUDA_KERNEL_TILES);
    void *const expected = plain_calls(&p, 1);
    restart(&p, NULL);
    problem bad = p;
    bad.launch.workspace_bytes -= 1;
    check_refused(&bad, "workspace");
    bad = p;
    bad.launch.device_seed = p.x;
    bad.launch.kernel = GBS_CUDA_KERNEL_SHARED;
    check_refused(&bad, "device_seed");
    bad.spec.stream = GBS_STREAM_GIVEN;
    bad.spec.noise = p.x;
    check_refused(&bad, "device_seed");
    bad = p;
    bad.spec.dim = 200;
    bad.launch.kernel = GBS_CUDA_KERNEL_LANES;
    check_refused(&bad, "kernel: 1 does not take dim 200");
    check(call(&p, NULL) == GBS_OK, "a call after refusals");
    check_same(&p, expected, state_of(&p), "after refusals");
    free_problem(&p);
}

/* The card's memory, so nothing else may use the card meanwhile. */
static void test_nothing_is_allocated(void)
{
    problem p[2] = {make_problem(GBS_F32, 32, 4096, GBS_STREAM_NATIVE, GBS_CUDA_KERNEL_AUTO),
                    make_problem(GBS_F32, 300, 4096, GBS_STREAM_NATIVE, GBS_CUDA_KERNEL_AUTO)};
    for (int k = 0; k < 2; ++k)
        free(plain_calls(&p[k], 1));
    size_t before, after, total;
    CUDA(cudaMemGetInfo(&before, &total));
    for (int k = 0; k < 2; ++k)
        free(plain_calls(&p[k], 100));
    CUDA(cudaMemGetInfo(&after, &total));
    printf("200 calls: %zu bytes free before, %zu after\n", before, after);
    check(before == after, "a call allocates device memory");
    for (int k = 0; k < 2; ++k)
        free_problem(&p[k]);
}

int main(int argc, char **argv)
{
    static const int64_t dims[] = {1, 7, 20, 32, 60, 100, 300}, short_dims[] = {20, 150};
    if (argc > 1 && strcmp(argv[1], "--sanitizer") == 0) {
        test_seeds_at_replay(short_dims, sizeof short_dims / sizeof short_dims[0]);
        return finish();
    }
    if (argc > 1 && strcmp(argv[1], "--memory") == 0) {
        test_nothing_is_allocated();
        return finish();
    }
    test_seeds_at_replay(dims, sizeof dims / sizeof dims[0]);
    test_many_chains_at_replay();
    test_two_streams();
    test_two_threads();
    test_refusals();
    return finish();
}
