/* Instances of sweep_single. */
#include "backend/cuda/kernels.cuh"
#include "backend/cuda/single.cuh"

template <int LANES> static gbs_single_instance instance(gbs_stream kind)
{
    return {kind == GBS_STREAM_NATIVE ? sweep_single<LANES, GBS_STREAM_NATIVE>
                                      : sweep_single<LANES, GBS_STREAM_TORCH_CUDA>,
            single_shape<LANES>::threads, single_shape<LANES>::chains};
}

gbs_single_instance gbs_cuda_single(int64_t dim, gbs_stream kind)
{
    if (dim <= 8)
        return instance<2>(kind);
    if (dim <= 16)
        return instance<4>(kind);
    return dim <= 32 ? instance<8>(kind) : instance<16>(kind);
}
