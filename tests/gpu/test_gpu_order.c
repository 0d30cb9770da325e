/* Calls that read what the call before them wrote.  A single sweep may start while the kernel ahead
 * of it in the stream still runs; what it then does early must never show.  Two states take turns,
 * each the location of the other's sweep, and the precision changes under way; results with and
 * without a wait after every call, and from a CUDA graph, must have the same bits.  Besides, the
 * kernel for plain single sweeps against the general one, torch's stream too. */
#include "gpu_harness.h"

#define CALLS 60

typedef struct turns {
    gbs_type type;
    int64_t dim, chains;
    gbs_stream stream;
    gbs_location location;
} turns;

typedef struct buffers {
    void *x[2], *q, *models[2];
    size_t state, matrix; /* bytes */
} buffers;

static gbs_sweep_spec spec_of(const turns *of, int call, const buffers *b)
{
    gbs_sweep_spec spec;
    memset(&spec, 0, sizeof spec);
    spec.type = of->type;
    spec.groups = 1;
    spec.chains = of->chains;
    spec.dim = of->dim;
    spec.precision = b->q;
    spec.location = b->x[1 - call % 2]; /* its first chain */
    spec.location_kind = of->location;
    spec.x = spec.out = b->x[call % 2];
    spec.sweeps = 1;
    spec.omega = 1.0;
    spec.stream = of->stream;
    spec.seed = 99;
    spec.first_sweep = of->stream == GBS_STREAM_NATIVE ? call : 0;
    spec.torch_offset = (uint64_t)(4 * of->dim * call);
    spec.cuda_multiprocessors = 132;
    spec.cuda_threads_per_multiprocessor = 2048;
    return spec;
}

/* All calls, into `stream`; with `wait`, the stream is empty before each. */
static void make_calls(const turns *of, const buffers *b, cudaStream_t stream, int wait)
{
    for (int call = 0; call < CALLS; ++call) {
        char message[256] = "";
        gbs_cuda_launch launch = {0};
        launch.stream = stream;
        launch.kernel = of->dim <= 128 ? GBS_CUDA_KERNEL_LANES : GBS_CUDA_KERNEL_TILES;
        const gbs_sweep_spec spec = spec_of(of, call, b);
        if (call % 7 == 0)
            CUDA(cudaMemcpyAsync(b->q, b->models[call / 7 % 2], b->matrix, cudaMemcpyDeviceToDevice,
                                 stream));
        const gbs_status status = gbs_cuda_sweep(&spec, &launch, message, sizeof message);
        if (status != GBS_OK)
            check(0, message);
        if (wait)
            CUDA(cudaStreamSynchronize(stream));
    }
}

static void start(const turns *of, const buffers *b)
{
    for (int k = 0; k < 2; ++k) {
        void *const x = random_array(of->type, of->dim * of->chains, 1.0, 30 + (uint64_t)k);
        CUDA(cudaMemcpy(b->x[k], x, b->state, cudaMemcpyHostToDevice));
        free(x);
    }
}

static void *both_states(const buffers *b)
{
    char *const host = malloc(2 * b->state);
    CUDA(cudaDeviceSynchronize());
    for (int k = 0; k < 2; ++k)
        CUDA(cudaMemcpy(host + (size_t)k * b->state, b->x[k], b->state, cudaMemcpyDeviceToHost));
    return host;
}

static void compare(const turns *of, const void *expected, void *got, size_t bytes,
                    const char *what)
{
    char line[256];
    const int same = memcmp(expected, got, bytes) == 0;
    snprintf(line, sizeof line, "%s, %s D=%lld B=%lld stream=%d location=%d: %s", what,
             of->type == GBS_F32 ? "f32" : "f64", (long long)of->dim, (long long)of->chains,
             (int)of->stream, (int)of->location, same ? "same bits" : "bits differ");
    printf("%s\n", line);
    check(same, line);
    free(got);
}

static void test_turns(const turns *of)
{
    buffers b;
    b.state = (size_t)(of->dim * of->chains) * type_size(of->type);
    b.matrix = (size_t)(of->dim * of->dim) * type_size(of->type);
    CUDA(cudaMalloc(&b.q, b.matrix));
    for (int k = 0; k < 2; ++k) {
        void *const q = random_precision(of->type, of->dim, 7 + (uint64_t)k);
        b.models[k] = to_device(q, b.matrix);
        CUDA(cudaMalloc(&b.x[k], b.state));
        free(q);
    }
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));

    start(of, &b);
    make_calls(of, &b, stream, 1);
    void *const expected = both_states(&b);
    for (int repeat = 0; repeat < 5; ++repeat) {
        start(of, &b);
        make_calls(of, &b, stream, 0);
        compare(of, expected, both_states(&b), 2 * b.state, "without waiting");
    }

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    make_calls(of, &b, stream, 0);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    for (int repeat = 0; repeat < 5; ++repeat) {
        start(of, &b);
        CUDA(cudaGraphLaunch(exec, stream));
        compare(of, expected, both_states(&b), 2 * b.state, "in a graph");
    }
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    free(expected);
    CUDA(cudaFree(b.q));
    for (int k = 0; k < 2; ++k) {
        CUDA(cudaFree(b.models[k]));
        CUDA(cudaFree(b.x[k]));
    }
}

/* Rows one element apart keep the plain kernel from taking the call. */
static void *one_sweep(const turns *of, const void *q, const void *x, int64_t row)
{
    const size_t bytes = (size_t)(row * of->chains) * sizeof(float);
    float *const wide = calloc((size_t)(row * of->chains), sizeof(float));
    for (int64_t c = 0; c < of->chains; ++c)
        memcpy(wide + c * row, (const float *)x + c * of->dim, (size_t)of->dim * sizeof(float));
    void *const device = to_device(wide, bytes), *const matrix =
                                                     to_device(q, (size_t)(of->dim * of->dim) *
                                                                      sizeof(float));
    const buffers b = {{device, device}, matrix, {NULL, NULL}, 0, 0};
    gbs_sweep_spec spec = spec_of(of, 0, &b);
    spec.location = matrix;
    spec.x_stride[2] = spec.out_stride[2] = 1;
    spec.x_stride[1] = spec.out_stride[1] = row;
    spec.torch_offset = 4 * 1000;
    check(run_sweep(&spec, GBS_CUDA_KERNEL_LANES) == GBS_OK, "a single sweep");
    CUDA(cudaMemcpy(wide, device, bytes, cudaMemcpyDeviceToHost));
    float *const tight = malloc((size_t)(of->dim * of->chains) * sizeof(float));
    for (int64_t c = 0; c < of->chains; ++c)
        memcpy(tight + c * of->dim, wide + c * row, (size_t)of->dim * sizeof(float));
    free(wide);
    CUDA(cudaFree(device));
    CUDA(cudaFree(matrix));
    return tight;
}

static void test_single(const turns *of)
{
    float *const q = random_precision(GBS_F32, of->dim, 3);
    void *const x = random_array(GBS_F32, of->dim * of->chains, 2.0, 4);
    for (int64_t i = 0; i < of->dim; ++i) { /* rows of very different sizes, some entries 0 */
        const float size = i % 4 == 1 ? 0x1p-80f : i % 4 == 2 ? 0x1p90f : 1.0f;
        for (int64_t j = 0; j < of->dim; ++j)
            q[i * of->dim + j] *= (i + j) % 5 == 4 && i != j ? 0.0f : size;
    }
    void *const expected = one_sweep(of, q, x, of->dim + 1);
    compare(of, expected, one_sweep(of, q, x, of->dim),
            (size_t)(of->dim * of->chains) * sizeof(float), "plain kernel against general one");
    free(expected);
    free(x);
    free(q);
}

int main(void)
{
    static const gbs_stream streams[] = {GBS_STREAM_NATIVE, GBS_STREAM_TORCH_CUDA};
    static const int64_t dims[] = {4, 8, 12, 16, 20, 32, 36, 64};
    static const int64_t chains[] = {1, 33, 4097, 100000};
    for (int s = 0; s < 2; ++s) {
        test_turns(&(turns){GBS_F32, 8, 100, streams[s], GBS_LOCATION_OFFSET});
        test_turns(&(turns){GBS_F32, 32, 4096, streams[s], GBS_LOCATION_OFFSET});
        test_turns(&(turns){GBS_F32, 32, 4096, streams[s], GBS_LOCATION_MEAN});
        test_turns(&(turns){GBS_F32, 64, 20000, streams[s], GBS_LOCATION_INFORMATION});
        test_turns(&(turns){GBS_F32, 30, 5000, streams[s], GBS_LOCATION_OFFSET});
        test_turns(&(turns){GBS_F64, 32, 4096, streams[s], GBS_LOCATION_OFFSET});
        test_turns(&(turns){GBS_F32, 100, 2000, streams[s], GBS_LOCATION_OFFSET});
        for (size_t d = 0; d < sizeof dims / sizeof dims[0]; ++d)
            for (size_t b = 0; b < sizeof chains / sizeof chains[0]; ++b)
                test_single(&(turns){GBS_F32, dims[d], chains[b], streams[s],
                                     b % 2 == 0 ? GBS_LOCATION_INFORMATION : GBS_LOCATION_OFFSET});
    }
    return finish();
}
