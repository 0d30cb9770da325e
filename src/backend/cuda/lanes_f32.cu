/* Instances of sweep_lanes for float. */
#include "backend/cuda/kernels.cuh"
#include "backend/cuda/lanes.cuh"

template <int LANES> static gbs_cuda_instance instance(gbs_stream kind)
{
    typedef lanes_shape<float, LANES> shape;
    const gbs_sweep_kernel kernel =
        kind == GBS_STREAM_NATIVE  ? sweep_lanes<float, LANES, GBS_STREAM_NATIVE>
        : kind == GBS_STREAM_GIVEN ? sweep_lanes<float, LANES, GBS_STREAM_GIVEN>
                                   : sweep_lanes<float, LANES, GBS_STREAM_TORCH_CUDA>;
    return {kernel, LANES_THREADS, shape::chains, shape::bytes};
}

gbs_cuda_instance gbs_cuda_lanes_f32(int64_t dim, gbs_stream kind)
{
    if (dim <= 4)
        return instance<1>(kind);
    if (dim <= 8)
        return instance<2>(kind);
    if (dim <= 16)
        return instance<4>(kind);
    if (dim <= 32)
        return instance<8>(kind);
    if (dim <= 64)
        return instance<16>(kind);
    return instance<32>(kind);
}
