/* Instances of sweep_sums and sweep_sums_packed. */
#include "backend/cuda/kernels.cuh"
#include "backend/cuda/sums.cuh"

static int groups_of(int64_t dim)
{
    return (int)((dim + SUMS_ROWS - 1) / SUMS_ROWS);
}

template <typename T, int CHAINS> static gbs_cuda_instance instance(int64_t dim, int32_t direction)
{
    return {direction < 0 ? sweep_sums<T, CHAINS, -1> : sweep_sums<T, CHAINS, 1>,
            32 * groups_of(dim), 32 * CHAINS, sums_kernel_bytes<T, CHAINS>(dim), false};
}

gbs_cuda_instance gbs_cuda_sums(gbs_type type, int64_t dim, int64_t chains, int32_t direction)
{
    if (type == GBS_F64)
        return instance<double, 4>(dim, direction);
    return chains < GBS_CUDA_SUMS_WIDE ? instance<float, 4>(dim, direction)
                                       : instance<float, 8>(dim, direction);
}

template <typename T, int CHAINS> static gbs_packed_instance packed_instance(int64_t dim)
{
    return {sweep_sums_packed<T, CHAINS>, 32 * ((groups_of(dim) + 1) / 2), 16 * CHAINS,
            sums_packed_bytes<T, CHAINS>()};
}

gbs_packed_instance gbs_cuda_sums_packed(gbs_type type, int64_t dim)
{
    return type == GBS_F64 ? packed_instance<double, 4>(dim) : packed_instance<float, 8>(dim);
}
