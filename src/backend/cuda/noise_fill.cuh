/* Normals into memory, for what cannot draw them as it goes: a permuted order, whose places do not
 * share Philox calls, and exact draws. */
#ifndef GBS_CUDA_NOISE_FILL_CUH
#define GBS_CUDA_NOISE_FILL_CUH

#include "backend/cuda/device_noise.cuh"

/* z [passes, D, B] by place, place[site] (NULL: the site itself).  A thread makes the normals of
 * four sites of one chain, which the native stream gives with one Philox call. */
template <typename T, int KIND>
__global__ void fill_noise(const __grid_constant__ gbs_sweep_args a, const int64_t *place,
                           int64_t passes, T *z)
{
    const int64_t groups = (a.dim + 3) / 4, count = passes * groups * a.chains;
    const gbs_philox_key key = noise_key<KIND>(a.noise);
    const uint64_t offset = KIND == GBS_STREAM_TORCH_CUDA ? torch_offset(a.noise) : 0;
    for (int64_t index = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; index < count;
         index += (int64_t)gridDim.x * blockDim.x) {
        const int64_t e = index % a.chains, rest = index / a.chains, pass = rest / groups;
        const int first = (int)(rest % groups) * 4;
        const gbs_philox_fixed fixed =
            native_pass(native_key(a.noise), a.noise.first_chain + (uint64_t)e,
                        a.noise.first_pass + (uint64_t)pass, a.noise.purpose);
        const torch_place torch =
            torch_place_of(a.noise, key, KIND == GBS_STREAM_TORCH_CUDA ? e : 0);
        T four[4];
        group_normals<T, KIND, 4>(a, key, fixed, torch, offset, pass, false, first, e, four);
#pragma unroll
        for (int k = 0; k < 4; ++k)
            if (first + k < a.dim) {
                const int64_t p = place != NULL ? place[first + k] : first + k;
                z[(pass * a.dim + p) * a.chains + e] = four[k];
            }
    }
}

#endif
