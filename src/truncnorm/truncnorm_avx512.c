/* Draws between bounds for AVX-512. */
#define GBS_INLINE static inline __attribute__((always_inline))
#include "rng/vocab_avx512.h"

#define KERNELS gbs_truncnorm_avx512
#define KERNELS_NAME "avx512"
#include "truncnorm/truncnorm_kernels_body.h"
