/* The scalar vocabulary on the device.  Two operations differ in their instructions.  The 32 x 32
 * bit product is written out, because the compiler otherwise adds a zero to every high word.  The
 * float square root: sqrt.rn leaves a branch and a call in the inner loop, while an approximate
 * reciprocal root and one corrected Newton step give the same bits for every argument that occurs,
 * [1e-20, 46] (tests/gpu checks all 600 million of them). */
#ifndef GBS_CUDA_VOCAB_CUDA_CUH
#define GBS_CUDA_VOCAB_CUDA_CUH

#define vf_sqrt vf_sqrt_host
#define vf_keep vf_keep_host
#define vq_mul_low vq_mul_low_host
#include "rng/vocab_scalar.h"
#undef vf_sqrt
#undef vf_keep
#undef vq_mul_low

GBS_INLINE vq vq_mul_low(vq a, vq b)
{
#ifdef __CUDA_ARCH__
    vq product;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"((uint32_t)a), "r"((uint32_t)b));
    return product;
#else
    return vq_mul_low_host(a, b);
#endif
}

GBS_INLINE vf vf_keep(vf a)
{
#ifdef __CUDA_ARCH__
    asm("" : "+f"(a));
#endif
    return a;
}

GBS_INLINE vf vf_sqrt(vf a)
{
#ifdef __CUDA_ARCH__
    float w;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(w) : "f"(a));
    const float s = a * w;
    return __fmaf_rn(__fmaf_rn(-s, s, a), 0.5f * w, s);
#else
    return sqrtf(a);
#endif
}

#endif
