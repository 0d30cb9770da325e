/* Draws between bounds for AVX2 and FMA. */
#define GBS_INLINE static inline __attribute__((always_inline))
#include "rng/vocab_avx2.h"

#define KERNELS gbs_truncnorm_avx2
#define KERNELS_NAME "avx2"
#include "truncnorm/truncnorm_kernels_body.h"
