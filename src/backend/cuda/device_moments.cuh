/* Welford's recurrence over draws that are kept on the device: the host's operations in the host's
 * order (src/sampler/sampler_internal.h), each chain and site by itself. */
#ifndef GBS_CUDA_DEVICE_MOMENTS_CUH
#define GBS_CUDA_DEVICE_MOMENTS_CUH

#include <cuda_runtime.h>
#include <stdint.h>

/* kept [draws, B, D] by place; mean and m2 [B, D] by site; `seen` draws came before. */
template <typename T>
__global__ void accumulate_moments(int64_t chains, int64_t dim, const int64_t *place, const T *kept,
                                   int64_t draws, int64_t seen, double *mean, double *m2)
{
    const int64_t count = chains * dim;
    for (int64_t index = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; index < count;
         index += (int64_t)gridDim.x * blockDim.x) {
        const int64_t site = index % dim;
        const T *const from = kept + index - site + (place != NULL ? place[site] : site);
        double m = mean[index], sum = m2[index];
        for (int64_t draw = 0; draw < draws; ++draw) {
            const double x = (double)from[draw * count], n = (double)(seen + draw + 1);
            const double d = __dsub_rn(x, m);
            m = __dadd_rn(m, __ddiv_rn(d, n));
            sum = __fma_rn(d, __dsub_rn(x, m), sum);
        }
        mean[index] = m;
        m2[index] = sum;
    }
}

#endif
