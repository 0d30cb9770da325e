/* Launches of sweep_bounded: where a sampler's states lie, and how large the launch is. */
#include "backend/cuda/bounded.cuh"
#include "backend/cuda/device_bounds.cuh"

/* Beyond this a multiprocessor holds too few blocks of threads to hide a draw's latency. */
#define MOST_SHARED_BYTES ((size_t)64 << 10)

template <typename T> static size_t shared_bytes_of(int64_t dim)
{
    const size_t rows = (size_t)whole_groups(dim), d = (size_t)dim;
    return sizeof(T) * (d * rows + 4 * rows + d * BOUNDED_THREADS) + d;
}

template <typename T> static bool is_shared(int64_t dim)
{
    return dim <= 1024 && shared_bytes_of<T>(dim) <= MOST_SHARED_BYTES;
}

int64_t gbs_cuda_bounded_columns(int64_t dim)
{
    return dim * whole_groups(dim);
}

int gbs_cuda_bounded_needs_workspace(gbs_type type, int64_t dim)
{
    return !(type == GBS_F32 ? is_shared<float>(dim) : is_shared<double>(dim));
}

template <typename T>
static gbs_status pack(int64_t dim, const T *matrix, T *columns, cudaStream_t stream,
                       gbs_device_message message)
{
    const int64_t wanted = (gbs_cuda_bounded_columns(dim) + 255) / 256;
    pack_columns<T>
        <<<(unsigned)(wanted < 65536 ? wanted : 65536), 256, 0, stream>>>(dim, matrix, columns);
    return from_cuda(cudaGetLastError(), "coefficients", message.text, message.bytes);
}

gbs_status gbs_cuda_pack_columns(int64_t dim, const float *matrix, float *columns,
                                 cudaStream_t stream, gbs_device_message message)
{
    return pack(dim, matrix, columns, stream, message);
}

gbs_status gbs_cuda_pack_columns(int64_t dim, const double *matrix, double *columns,
                                 cudaStream_t stream, gbs_device_message message)
{
    return pack(dim, matrix, columns, stream, message);
}

template <typename T>
static gbs_status launch(const bounded_args<T> &a, cudaStream_t stream, gbs_device_message message)
{
    const int64_t blocks = (a.chains + BOUNDED_THREADS - 1) / BOUNDED_THREADS;
    const bool shared = is_shared<T>(a.dim);
    const size_t bytes = shared ? shared_bytes_of<T>(a.dim) : 0;
    if (blocks > 2147483647LL)
        return refuse(message.text, message.bytes, GBS_ERROR_LIMIT,
                      "chains: %lld are too many for one launch", (long long)a.chains);
    if (bytes > 48 * 1024) {
        const cudaError_t error =
            cudaFuncSetAttribute((const void *)sweep_bounded<T, true>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
        if (error != cudaSuccess)
            return from_cuda(error, "shared memory", message.text, message.bytes);
    }
    if (shared)
        sweep_bounded<T, true><<<(unsigned)blocks, BOUNDED_THREADS, bytes, stream>>>(a);
    else
        sweep_bounded<T, false><<<(unsigned)blocks, BOUNDED_THREADS, 0, stream>>>(a);
    return from_cuda(cudaGetLastError(), "sweeps", message.text, message.bytes);
}

gbs_status gbs_cuda_bounded_launch(const bounded_args<float> &args, cudaStream_t stream,
                                   gbs_device_message message)
{
    return launch(args, stream, message);
}

gbs_status gbs_cuda_bounded_launch(const bounded_args<double> &args, cudaStream_t stream,
                                   gbs_device_message message)
{
    return launch(args, stream, message);
}
