/* Which instance of sweep_lanes takes a shape. */
#ifndef GBS_CUDA_LANES_INSTANCES_CUH
#define GBS_CUDA_LANES_INSTANCES_CUH

#include "backend/cuda/kernels.cuh"
#include "backend/cuda/lanes.cuh"

template <typename T, int OWN_ROWS, int LANES> static gbs_cuda_instance lanes_instance(int kind)
{
    typedef lanes_shape<T, LANES, OWN_ROWS> shape;
    const gbs_sweep_kernel kernel =
        kind == GBS_STREAM_NATIVE  ? sweep_lanes<T, OWN_ROWS, LANES, GBS_STREAM_NATIVE>
        : kind == NATIVE_REPLAYED  ? sweep_lanes<T, OWN_ROWS, LANES, NATIVE_REPLAYED>
        : kind == GBS_STREAM_GIVEN ? sweep_lanes<T, OWN_ROWS, LANES, GBS_STREAM_GIVEN>
                                   : sweep_lanes<T, OWN_ROWS, LANES, GBS_STREAM_TORCH_CUDA>;
    return {kernel, LANES_THREADS, shape::chains, shape::bytes};
}

template <typename T> static gbs_cuda_instance lanes_instance_for(int64_t dim, int kind, int single)
{
    /* native floats come four to a Philox call: two lanes would make each call twice */
    if (single && dim > 8 && dim <= 32 &&
        (sizeof(T) == 8 || (kind != GBS_STREAM_NATIVE && kind != NATIVE_REPLAYED)))
        return lanes_instance<T, 2, 16>(kind);
    if (dim <= 4)
        return lanes_instance<T, 4, 1>(kind);
    if (dim <= 8)
        return lanes_instance<T, 4, 2>(kind);
    if (dim <= 16)
        return lanes_instance<T, 4, 4>(kind);
    if (dim <= 32)
        return lanes_instance<T, 4, 8>(kind);
    if (dim <= 64)
        return lanes_instance<T, 4, 16>(kind);
    return lanes_instance<T, 4, 32>(kind);
}

#endif
