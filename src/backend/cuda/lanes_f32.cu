/* Instances of sweep_lanes for float. */
#include "backend/cuda/lanes_instances.cuh"

gbs_cuda_instance gbs_cuda_lanes_f32(int64_t dim, int kind, int single)
{
    return lanes_instance_for<float>(dim, kind, single);
}
