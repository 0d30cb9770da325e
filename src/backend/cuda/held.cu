/* Instances of sweep_held. */
#include "backend/cuda/held.cuh"
#include "backend/cuda/kernels.cuh"

template <typename T, int LANES, bool FULL> static gbs_cuda_instance instance(int relaxed)
{
    typedef held_shape<T, LANES> shape;
    return {relaxed ? sweep_held<T, LANES, FULL, true> : sweep_held<T, LANES, FULL, false>,
            HELD_THREADS, shape::chains, shape::bytes, false};
}

gbs_cuda_instance gbs_cuda_held_f32(int64_t dim, int relaxed)
{
    if (dim <= 8)
        return instance<float, 2, false>(relaxed);
    if (dim <= 16)
        return instance<float, 4, false>(relaxed);
    return dim < 32 ? instance<float, 8, false>(relaxed) : instance<float, 8, true>(relaxed);
}

gbs_cuda_instance gbs_cuda_held_f64(int64_t dim, int relaxed)
{
    return dim <= 8 ? instance<double, 2, false>(relaxed) : instance<double, 4, false>(relaxed);
}
