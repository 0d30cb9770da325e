/* Instances of sweep_shared. */
#include "backend/cuda/kernels.cuh"
#include "backend/cuda/shared.cuh"

template <typename T, int CHAINS, int THREADS> static gbs_cuda_instance instance(int64_t dim)
{
    return {sweep_shared<T, CHAINS, THREADS>, THREADS, THREADS * CHAINS,
            shared_kernel_bytes<T, CHAINS, THREADS>(dim)};
}

gbs_cuda_instance gbs_cuda_shared_f32(int64_t dim)
{
    /* as many warps as shared memory holds */
    if (dim <= 40 || dim > 64)
        return instance<float, 4, 64>(dim);
    return instance<float, 4, 192>(dim);
}

gbs_cuda_instance gbs_cuda_shared_f64(int64_t dim)
{
    return instance<double, 2, 64>(dim);
}
