/* Instances of sweep_lanes for double. */
#include "backend/cuda/lanes_instances.cuh"

gbs_cuda_instance gbs_cuda_lanes_f64(int64_t dim, int kind, int single)
{
    return lanes_instance_for<double>(dim, kind, single);
}
