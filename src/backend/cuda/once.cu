/* Instances of sweep_once. */
#include "backend/cuda/kernels.cuh"
#include "backend/cuda/once.cuh"

template <typename T, int WARPS> static gbs_cuda_instance instance(int kind)
{
    const gbs_sweep_kernel kernel =
        kind == GBS_STREAM_NATIVE  ? sweep_once<T, WARPS, GBS_STREAM_NATIVE>
        : kind == NATIVE_REPLAYED  ? sweep_once<T, WARPS, NATIVE_REPLAYED>
        : kind == GBS_STREAM_GIVEN ? sweep_once<T, WARPS, GBS_STREAM_GIVEN>
                                   : sweep_once<T, WARPS, GBS_STREAM_TORCH_CUDA>;
    return {kernel, 32 * WARPS, ONCE_CHAINS, sizeof(once_shared<T, WARPS>), true};
}

template <typename T> static gbs_cuda_instance instance_for(int64_t dim, int kind)
{
    if (dim <= 8)
        return instance<T, 2>(kind);
    if (dim <= 16)
        return instance<T, 4>(kind);
    if (dim <= 32)
        return instance<T, 8>(kind);
    return dim <= 64 ? instance<T, 16>(kind) : instance<T, 32>(kind);
}

gbs_cuda_instance gbs_cuda_once(gbs_type type, int64_t dim, int kind)
{
    return type == GBS_F32 ? instance_for<float>(dim, kind) : instance_for<double>(dim, kind);
}
