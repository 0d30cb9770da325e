/* The constrained sweeps for AVX-512. */
#define GBS_INLINE static inline __attribute__((always_inline))
#include "rng/vocab_avx512.h"

#define WIDE_VECTORS 4
#define KERNELS gbs_constrained_avx512
#define KERNEL_ISA "avx512"
#include "backend/cpu/constrained_kernels_body.h"
