/* The constrained sweeps for AVX2 and FMA. */
#define GBS_INLINE static inline __attribute__((always_inline))
#include "rng/vocab_avx2.h"

#define WIDE_VECTORS 4
#define KERNELS gbs_constrained_avx2
#define KERNEL_ISA "avx2"
#include "backend/cpu/constrained_kernels_body.h"
