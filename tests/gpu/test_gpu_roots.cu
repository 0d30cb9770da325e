/* The device's own square root, reciprocal root and quotient, which avoid slow instructions, against
 * the correctly rounded ones: every float that a squared radius can be, every diagonal entry, and
 * 2^32 quotients of floats of every kind. */
#define GBS_INLINE static __device__ __forceinline__
#include "backend/cuda/coefficients.cuh"
#include "backend/cuda/vocab_cuda.cuh"

#include <math.h>
#include <stdio.h>

template <int WHICH>
__global__ void compare(uint32_t first, uint32_t last, unsigned long long *wrong)
{
    for (uint64_t bits = first + (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; bits <= last;
         bits += (uint64_t)gridDim.x * blockDim.x) {
        const float a = __uint_as_float((uint32_t)bits);
        float got, expected;
        if (WHICH == 0) {
            got = vf_sqrt(a);
            expected = __fsqrt_rn(a);
        } else if (WHICH == 1) {
            got = plain_scale(a);
            expected = (float)(1.0 / sqrt((double)a));
        } else { /* the argument only numbers the pair; one in eight is near a power of two */
            const uint64_t mixed = (bits + 1) * 0x9E3779B97F4A7C15u;
            const uint32_t near = (bits & 7) == 0 ? 0x807FFFFFu : 0u;
            const float n = __uint_as_float((uint32_t)(mixed >> 32) & ~(near & 0x007FFFF0u));
            const float d = fabsf(__uint_as_float((uint32_t)mixed | (near & 0x007FFFF0u)));
            got = d > 0.0f ? times_reciprocal(n, close_reciprocal(d)) : 0.0f;
            expected = d > 0.0f ? __fdiv_rn(n, d) : 0.0f;
        }
        if (__float_as_uint(got) != __float_as_uint(expected) && !(isnan(got) && isnan(expected)))
            atomicAdd(wrong, 1ull);
    }
}

template <int WHICH> static int run(const char *what, float low, float high)
{
    unsigned long long *wrong, host = ~0ull;
    uint32_t first, last; /* compared as words: positive floats are in order */
    memcpy(&first, &low, 4);
    memcpy(&last, &high, 4);
    cudaMalloc(&wrong, sizeof *wrong);
    cudaMemset(wrong, 0, sizeof *wrong);
    compare<WHICH><<<4096, 256>>>(first, last, wrong);
    cudaMemcpy(&host, wrong, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(wrong);
    printf("%s: %llu of %llu arguments differ, expected 0\n", what, host,
           (unsigned long long)last - first + 1);
    return host == 0;
}

int main()
{
    const int good = run<0>("square root on [1e-20, 46]", 1e-20f, 46.0f) +
                     run<1>("standard deviation of every positive float", 0x1p-149f, INFINITY) +
                     run<2>("quotients", 0.0f, -NAN);
    printf("%d passed, %d failed\n", good, 3 - good);
    return good != 3;
}
