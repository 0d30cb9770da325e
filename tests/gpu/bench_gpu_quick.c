/* Times gbs_cuda_sweep on the device's clock: single sweeps in a CUDA graph of 100, and many
 * sweeps in one launch. */
#include "gpu_harness.h"

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Median microseconds of one call over `reps` replays of a graph holding `calls` of them. */
static float time_graph(const gbs_sweep_spec *spec, gbs_cuda_kernel kernel, int calls, int reps)
{
    char message[256];
    gbs_cuda_launch launch = {0};
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaEvent_t start, stop;
    float *const times = malloc(sizeof(float) * (size_t)reps);
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&stop));
    launch.stream = stream;
    launch.kernel = kernel;
    gbs_cuda_sweep_workspace(spec, kernel, &launch.workspace_bytes);
    if (launch.workspace_bytes > 0)
        CUDA(cudaMalloc(&launch.workspace, launch.workspace_bytes));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int call = 0; call < calls; ++call)
        if (gbs_cuda_sweep(spec, &launch, message, sizeof message) != GBS_OK)
            printf("FAIL %s\n", message);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    for (int rep = -2; rep < reps; ++rep) {
        CUDA(cudaEventRecord(start, stream));
        CUDA(cudaGraphLaunch(exec, stream));
        CUDA(cudaEventRecord(stop, stream));
        CUDA(cudaEventSynchronize(stop));
        float ms;
        CUDA(cudaEventElapsedTime(&ms, start, stop));
        if (rep >= 0)
            times[rep] = 1000.0f * ms / (float)calls;
    }
    qsort(times, (size_t)reps, sizeof(float), compare_floats);
    const float median = times[reps / 2];
    free(times);
    CUDA(cudaFree(launch.workspace));
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    return median;
}

static void row_with(gbs_cuda_kernel kernel, gbs_type type, int64_t dim, int64_t chains,
                     int64_t sweeps, gbs_stream stream)
{
    const size_t size = type_size(type);
    void *const q = random_precision(type, dim, 3), *const x =
                                                        random_array(type, dim * chains, 1.0, 4);
    gbs_sweep_spec spec;
    memset(&spec, 0, sizeof spec);
    void *const q_device = to_device(q, (size_t)(dim * dim) * size);
    void *const x_device = to_device(x, (size_t)(dim * chains) * size);
    spec.type = type;
    spec.groups = 1;
    spec.chains = chains;
    spec.dim = dim;
    spec.precision = q_device;
    spec.location_kind = GBS_LOCATION_ZERO;
    spec.x = x_device;
    spec.out = x_device;
    spec.sweeps = sweeps;
    spec.omega = 1.0;
    spec.stream = stream;
    spec.cuda_multiprocessors = 132;
    spec.cuda_threads_per_multiprocessor = 2048;
    const int calls = sweeps <= 2 ? 100 : 1;
    const float us = time_graph(&spec, kernel, calls, sweeps <= 2 ? 30 : 5);
    printf("%-18s D=%-5lld B=%-8lld S=%-4lld stream=%d  %10.2f us  %8.1f Gsites/s  %6.2f TFLOP/s\n",
           gbs_cuda_sweep_kernel(&spec, kernel), (long long)dim, (long long)chains,
           (long long)sweeps, (int)stream, (double)us,
           1e-3 * (double)(dim * chains * sweeps) / (double)us,
           2e-6 * (double)(dim * dim) * (double)(chains * sweeps) / (double)us);
    CUDA(cudaFree(q_device));
    CUDA(cudaFree(x_device));
    free(q);
    free(x);
}

static void row(gbs_type type, int64_t dim, int64_t chains, int64_t sweeps, gbs_stream stream)
{
    row_with(GBS_CUDA_KERNEL_AUTO, type, dim, chains, sweeps, stream);
}

int main(void)
{
    row(GBS_F32, 32, 4096, 1, GBS_STREAM_TORCH_CUDA);
    row(GBS_F32, 32, 4096, 1, GBS_STREAM_NATIVE);
    row(GBS_F32, 32, 4096, 0, GBS_STREAM_NATIVE);
    row(GBS_F32, 32, 4096, 2, GBS_STREAM_NATIVE);
    row(GBS_F32, 64, 4096, 1, GBS_STREAM_TORCH_CUDA);
    row(GBS_F32, 128, 4096, 1, GBS_STREAM_TORCH_CUDA);
    row(GBS_F64, 32, 4096, 1, GBS_STREAM_TORCH_CUDA);
    row(GBS_F32, 32, 4096, 200, GBS_STREAM_NATIVE);
    row(GBS_F32, 32, 32768, 200, GBS_STREAM_NATIVE);
    static const int64_t dims[] = {4, 8, 16, 24, 32, 64, 128};
    for (size_t d = 0; d < 7; ++d)
        row(GBS_F32, dims[d], 1048576, 50, GBS_STREAM_NATIVE);
    for (size_t d = 0; d < 3; ++d)
        for (int kernel = 2; kernel <= 3; ++kernel)
            row_with((gbs_cuda_kernel)kernel, GBS_F32, dims[d], 1048576, 50, GBS_STREAM_NATIVE);
    for (int kernel = 1; kernel <= 3; kernel += 2) {
        row_with((gbs_cuda_kernel)kernel, GBS_F32, 32, 16384, 50, GBS_STREAM_NATIVE);
        row_with((gbs_cuda_kernel)kernel, GBS_F32, 32, 32768, 50, GBS_STREAM_NATIVE);
        row_with((gbs_cuda_kernel)kernel, GBS_F32, 32, 65536, 50, GBS_STREAM_NATIVE);
        row_with((gbs_cuda_kernel)kernel, GBS_F32, 32, 131072, 50, GBS_STREAM_NATIVE);
    }
    row_with(GBS_CUDA_KERNEL_TILES, GBS_F32, 128, 1048576, 10, GBS_STREAM_NATIVE);
    row(GBS_F32, 256, 1048576, 4, GBS_STREAM_NATIVE);
    row(GBS_F64, 16, 1048576, 20, GBS_STREAM_NATIVE);
    row(GBS_F64, 32, 1048576, 20, GBS_STREAM_NATIVE);
    row(GBS_F32, 256, 4096, 10, GBS_STREAM_NATIVE);
    row(GBS_F32, 1024, 4096, 4, GBS_STREAM_NATIVE);
    row(GBS_F32, 1024, 16384, 4, GBS_STREAM_NATIVE);
    row(GBS_F32, 4096, 4096, 2, GBS_STREAM_NATIVE);
    row(GBS_F64, 1024, 4096, 2, GBS_STREAM_NATIVE);
    return 0;
}
