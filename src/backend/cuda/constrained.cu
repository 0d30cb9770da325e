/* Launches of sweep_rows and sweep_whitened. */
#include "backend/cuda/constrained.cuh"
#include "backend/cuda/device_bounds.cuh"

template <typename T> static bool is_in_shared(bool whitened, int64_t dim, int64_t rows)
{
    return whitened
               ? dim + rows <= (1 << 20) && whitened_bytes_of<T>(dim, rows) <= MOST_WHITENED_BYTES
               : is_shared<T>(dim, rows);
}

int gbs_cuda_constrained_needs_workspace(gbs_type type, int whitened, int64_t dim, int64_t rows)
{
    return !(type == GBS_F32 ? is_in_shared<float>(whitened, dim, rows)
                             : is_in_shared<double>(whitened, dim, rows));
}

template <typename T>
static cudaError_t launch_whitened(const constrained_args<T> &a, bool shared, unsigned blocks,
                                   cudaStream_t stream)
{
    const size_t bytes = whitened_bytes_of<T>(a.chains.dim, a.rows.rows);
    if (shared)
        sweep_whitened<T, true><<<blocks, WHITENED_THREADS, bytes, stream>>>(a);
    else
        sweep_whitened<T, false><<<blocks, WHITENED_THREADS, 0, stream>>>(a);
    return cudaGetLastError();
}

template <typename T>
static cudaError_t launch_rows(const constrained_args<T> &a, bool shared, unsigned blocks,
                               cudaStream_t stream)
{
    const size_t bytes = shared ? shared_bytes_of<T>(a.chains.dim, a.rows.rows) : 0;
    cudaError_t error = cudaSuccess;
    if (bytes > 48 * 1024)
        error = cudaFuncSetAttribute((const void *)sweep_rows<T, true>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error != cudaSuccess)
        return error;
    if (shared)
        sweep_rows<T, true><<<blocks, BOUNDED_THREADS, bytes, stream>>>(a);
    else
        sweep_rows<T, false><<<blocks, BOUNDED_THREADS, 0, stream>>>(a);
    return cudaGetLastError();
}

template <typename T>
static gbs_status launch(const constrained_args<T> &a, cudaStream_t stream,
                         gbs_device_message message)
{
    const bool whitened = a.panels != NULL;
    const int64_t threads = whitened ? WHITENED_THREADS : BOUNDED_THREADS;
    const int64_t blocks = (a.chains.chains + threads - 1) / threads;
    const bool shared = is_in_shared<T>(whitened, a.chains.dim, a.rows.rows);
    if (blocks > 2147483647LL)
        return refuse(message.text, message.bytes, GBS_ERROR_LIMIT,
                      "chains: %lld are too many for one launch", (long long)a.chains.chains);
    const cudaError_t error = whitened ? launch_whitened(a, shared, (unsigned)blocks, stream)
                                       : launch_rows(a, shared, (unsigned)blocks, stream);
    return from_cuda(error, "sweeps", message.text, message.bytes);
}

gbs_status gbs_cuda_constrained_launch(const constrained_args<float> &args, cudaStream_t stream,
                                       gbs_device_message message)
{
    return launch(args, stream, message);
}

gbs_status gbs_cuda_constrained_launch(const constrained_args<double> &args, cudaStream_t stream,
                                       gbs_device_message message)
{
    return launch(args, stream, message);
}
