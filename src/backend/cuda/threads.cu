/* Instances of sweep_threads. */
#include "backend/cuda/kernels.cuh"
#include "backend/cuda/threads.cuh"

template <typename T, int GROUPS, int CHAINS> static gbs_cuda_instance instance(void)
{
    return {sweep_threads<T, GROUPS, CHAINS>, THREADS_THREADS, THREADS_THREADS * CHAINS,
            threads_shape<T, GROUPS, CHAINS>::bytes, false};
}

gbs_cuda_instance gbs_cuda_threads_f32(int64_t dim)
{
    if (dim <= 4)
        return instance<float, 1, 2>();
    if (dim <= 8)
        return instance<float, 2, 2>();
    if (dim <= 16)
        return instance<float, 4, 2>();
    return instance<float, 6, 2>();
}

gbs_cuda_instance gbs_cuda_threads_f64(int64_t dim)
{
    if (dim <= 4)
        return instance<double, 1, 1>();
    if (dim <= 8)
        return instance<double, 2, 1>();
    return instance<double, 4, 1>();
}
