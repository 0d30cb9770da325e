/* Instances of sweep_shared. */
#include "backend/cuda/kernels.cuh"
#include "backend/cuda/shared.cuh"

template <typename T, int CHAINS, int THREADS, int ROWS>
static gbs_cuda_instance instance(int64_t dim)
{
    return {sweep_shared<T, CHAINS, THREADS, ROWS>, THREADS, THREADS * CHAINS,
            shared_kernel_bytes<T, CHAINS, THREADS>(dim), false};
}

gbs_cuda_instance gbs_cuda_shared_f32(int64_t dim)
{
    /* as many warps as shared memory holds */
    if (dim > 24 && dim <= 32)
        return instance<float, 2, 96, 32>(dim);
    if (dim <= 40 || dim > 64)
        return instance<float, 2, 96, 0>(dim);
    return instance<float, 4, 192, 0>(dim);
}

gbs_cuda_instance gbs_cuda_shared_f64(int64_t dim)
{
    return instance<double, 2, 64, 0>(dim);
}
