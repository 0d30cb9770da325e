/* The constrained sweeps for 64-bit Arm's NEON. */
#define GBS_INLINE static inline __attribute__((always_inline))
#include "rng/vocab_neon.h"

#define WIDE_VECTORS 4
#define KERNELS gbs_constrained_neon
#define KERNEL_ISA "neon"
#include "backend/cpu/constrained_kernels_body.h"
