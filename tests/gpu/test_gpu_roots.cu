/* The device's own square root and reciprocal root, which avoid slow instructions, against the
 * correctly rounded ones: every float that a squared radius can be, and every float that the fast
 * path of the conditional standard deviation takes. */
#define GBS_INLINE static __device__ __forceinline__
#include "backend/cuda/coefficients.cuh"
#include "backend/cuda/vocab_cuda.cuh"

#include <stdio.h>

template <int WHICH>
__global__ void compare(uint32_t first, uint32_t last, unsigned long long *wrong)
{
    for (uint64_t bits = first + (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; bits <= last;
         bits += (uint64_t)gridDim.x * blockDim.x) {
        const float a = __uint_as_float((uint32_t)bits);
        const float got = WHICH == 0 ? vf_sqrt(a) : rounded_rsqrt(a);
        const float expected = WHICH == 0 ? __fsqrt_rn(a) : (float)(1.0 / sqrt((double)a));
        if (__float_as_uint(got) != __float_as_uint(expected))
            atomicAdd(wrong, 1ull);
    }
}

template <int WHICH> static int run(const char *what, float low, float high)
{
    unsigned long long *wrong, host = ~0ull;
    uint32_t first, last;
    memcpy(&first, &low, 4);
    memcpy(&last, &high, 4);
    cudaMalloc(&wrong, sizeof *wrong);
    cudaMemset(wrong, 0, sizeof *wrong);
    compare<WHICH><<<4096, 256>>>(first, last, wrong);
    cudaMemcpy(&host, wrong, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(wrong);
    printf("%s: %llu of %u arguments differ, expected 0\n", what, host, last - first + 1);
    return host == 0;
}

int main()
{
    const int good = run<0>("square root on [1e-20, 46]", 1e-20f, 46.0f) +
                     run<1>("reciprocal root on [2^-60, 2^60]", 0x1p-60f, 0x1p60f);
    printf("%d passed, %d failed\n", good, 2 - good);
    return good != 2;
}
