/* Instances of sweep_sums. */
#include "backend/cuda/kernels.cuh"
#include "backend/cuda/sums.cuh"

template <typename T, int CHAINS>
static gbs_cuda_instance instance(int64_t dim, int32_t direction)
{
    const int warps = (int)((dim + SUMS_ROWS - 1) / SUMS_ROWS);
    return {direction < 0 ? sweep_sums<T, CHAINS, -1> : sweep_sums<T, CHAINS, 1>, 32 * warps,
            sums_shape<T, CHAINS>::chains, sums_kernel_bytes<T, CHAINS>(dim), false};
}

gbs_cuda_instance gbs_cuda_sums(gbs_type type, int64_t dim, int64_t chains, int32_t direction)
{
    if (type == GBS_F64)
        return instance<double, 4>(dim, direction);
    return chains < GBS_CUDA_SUMS_WIDE ? instance<float, 4>(dim, direction)
                                       : instance<float, 8>(dim, direction);
}
