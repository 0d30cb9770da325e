/* Times the kernels of gbs_cuda_sweep one by one on the device's clock, to choose between them:
 * calls of one or two sweeps in a CUDA graph of 100, many sweeps in one launch.
 *
 *     gpu_kernels                       the rows below
 *     gpu_kernels KERNEL TYPE D B S     one row; KERNEL is auto, lanes, threads, shared, tiles or
 * sums, TYPE f32 or f64; native stream
 *
 * bench/gpu_bench.py measures what users see; this is for whoever works on the kernels. */
#include "gpu_harness.h"

typedef struct row {
    gbs_cuda_kernel kernel;
    gbs_type type;
    int64_t dim, chains, sweeps;
    gbs_stream stream;
} row;

#define AUTO GBS_CUDA_KERNEL_AUTO
#define LANES GBS_CUDA_KERNEL_LANES
#define THREADS GBS_CUDA_KERNEL_THREADS
#define SHARED GBS_CUDA_KERNEL_SHARED
#define TILES GBS_CUDA_KERNEL_TILES
#define SUMS GBS_CUDA_KERNEL_SUMS
#define MILLION 1048576

static const row table[] = {
    /* one sweep */
    {AUTO, GBS_F32, 32, 4096, 1, GBS_STREAM_TORCH_CUDA},
    {AUTO, GBS_F32, 32, 4096, 1, GBS_STREAM_NATIVE},
    {AUTO, GBS_F32, 32, 4096, 0, GBS_STREAM_NATIVE}, /* what comes before and after sweeps */
    {AUTO, GBS_F32, 32, 4096, 2, GBS_STREAM_NATIVE},
    {AUTO, GBS_F32, 64, 4096, 1, GBS_STREAM_TORCH_CUDA},
    {AUTO, GBS_F32, 128, 4096, 1, GBS_STREAM_TORCH_CUDA},
    {AUTO, GBS_F64, 32, 4096, 1, GBS_STREAM_TORCH_CUDA},
    /* many sweeps: where lanes give way to chains of their own */
    {AUTO, GBS_F32, 32, 4096, 200, GBS_STREAM_NATIVE},
    {LANES, GBS_F32, 32, 16384, 50, GBS_STREAM_NATIVE},
    {LANES, GBS_F32, 32, 32768, 200, GBS_STREAM_NATIVE},
    {LANES, GBS_F32, 32, 65536, 50, GBS_STREAM_NATIVE},
    {LANES, GBS_F32, 32, 131072, 50, GBS_STREAM_NATIVE},
    {SHARED, GBS_F32, 32, 16384, 50, GBS_STREAM_NATIVE},
    {SHARED, GBS_F32, 32, 32768, 50, GBS_STREAM_NATIVE},
    {SHARED, GBS_F32, 32, 65536, 50, GBS_STREAM_NATIVE},
    {SHARED, GBS_F32, 32, 131072, 50, GBS_STREAM_NATIVE},
    /* many chains */
    {THREADS, GBS_F32, 4, MILLION, 50, GBS_STREAM_NATIVE},
    {SHARED, GBS_F32, 4, MILLION, 50, GBS_STREAM_NATIVE},
    {THREADS, GBS_F32, 8, MILLION, 50, GBS_STREAM_NATIVE},
    {SHARED, GBS_F32, 8, MILLION, 50, GBS_STREAM_NATIVE},
    {THREADS, GBS_F32, 16, MILLION, 50, GBS_STREAM_NATIVE},
    {SHARED, GBS_F32, 16, MILLION, 50, GBS_STREAM_NATIVE},
    {AUTO, GBS_F32, 24, MILLION, 50, GBS_STREAM_NATIVE},
    {AUTO, GBS_F32, 32, MILLION, 50, GBS_STREAM_NATIVE},
    {AUTO, GBS_F32, 64, MILLION, 50, GBS_STREAM_NATIVE},
    {AUTO, GBS_F32, 128, MILLION, 50, GBS_STREAM_NATIVE},
    {TILES, GBS_F32, 128, MILLION, 10, GBS_STREAM_NATIVE},
    {AUTO, GBS_F32, 256, MILLION, 4, GBS_STREAM_NATIVE},
    {AUTO, GBS_F64, 16, MILLION, 20, GBS_STREAM_NATIVE},
    {AUTO, GBS_F64, 32, MILLION, 20, GBS_STREAM_NATIVE},
    /* many sites */
    {AUTO, GBS_F32, 256, 4096, 10, GBS_STREAM_NATIVE},
    {AUTO, GBS_F32, 512, 4096, 5, GBS_STREAM_NATIVE},
    {AUTO, GBS_F32, 1024, 4096, 1, GBS_STREAM_NATIVE},
    {AUTO, GBS_F32, 1024, 4096, 5, GBS_STREAM_NATIVE},
    {AUTO, GBS_F32, 1024, 16384, 4, GBS_STREAM_NATIVE},
    {AUTO, GBS_F32, 2048, 4096, 5, GBS_STREAM_NATIVE},
    {AUTO, GBS_F32, 4096, 4096, 2, GBS_STREAM_NATIVE},
    {AUTO, GBS_F64, 1024, 4096, 2, GBS_STREAM_NATIVE},
};

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
    CUDA(cudaEventDestroy(start));
    CUDA(cudaEventDestroy(stop));
    CUDA(cudaStreamDestroy(stream));
    return median;
}

static void run_row(const row *of)
{
    const size_t size = type_size(of->type);
    void *const q = random_precision(of->type, of->dim, 3);
    void *const x = random_array(of->type, of->dim * of->chains, 1.0, 4);
    gbs_sweep_spec spec;
    memset(&spec, 0, sizeof spec);
    void *const q_device = to_device(q, (size_t)(of->dim * of->dim) * size);
    void *const x_device = to_device(x, (size_t)(of->dim * of->chains) * size);
    spec.type = of->type;
    spec.groups = 1;
    spec.chains = of->chains;
    spec.dim = of->dim;
    spec.precision = q_device;
    spec.location_kind = GBS_LOCATION_ZERO;
    spec.x = x_device;
    spec.out = x_device;
    spec.sweeps = of->sweeps;
    spec.omega = 1.0;
    spec.stream = of->stream;
    spec.cuda_multiprocessors = 132;
    spec.cuda_threads_per_multiprocessor = 2048;
    const int single = of->sweeps <= 2;
    const float us = time_graph(&spec, of->kernel, single ? 100 : 1, single ? 30 : 5);
    printf("%-18s D=%-5lld B=%-8lld S=%-4lld stream=%d  %10.2f us  %8.1f Gsites/s  %6.2f TFLOP/s\n",
           gbs_cuda_sweep_kernel(&spec, of->kernel), (long long)of->dim, (long long)of->chains,
           (long long)of->sweeps, (int)of->stream, (double)us,
           1e-3 * (double)(of->dim * of->chains * of->sweeps) / (double)us,
           2e-6 * (double)(of->dim * of->dim) * (double)(of->chains * of->sweeps) / (double)us);
    fflush(stdout);
    CUDA(cudaFree(q_device));
    CUDA(cudaFree(x_device));
    free(q);
    free(x);
}

static int usage(const char *program)
{
    fprintf(stderr, "usage: %s [auto|lanes|threads|shared|tiles|sums f32|f64 D B S]\n", program);
    return 2;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"auto", "lanes", "threads", "shared", "tiles", "sums"};
    if (argc == 1) {
        for (size_t k = 0; k < sizeof table / sizeof table[0]; ++k)
            run_row(&table[k]);
        return 0;
    }
    if (argc != 6)
        return usage(argv[0]);
    for (int kernel = AUTO; kernel <= SUMS; ++kernel)
        if (strcmp(argv[1], names[kernel]) == 0) {
            const row one = {
                (gbs_cuda_kernel)kernel,    strcmp(argv[2], "f64") == 0 ? GBS_F64 : GBS_F32,
                strtoll(argv[3], NULL, 10), strtoll(argv[4], NULL, 10),
                strtoll(argv[5], NULL, 10), GBS_STREAM_NATIVE};
            if (one.dim >= 1 && one.chains >= 1 && one.sweeps >= 0) {
                run_row(&one);
                return 0;
            }
        }
    return usage(argv[0]);
}
