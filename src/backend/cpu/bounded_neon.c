/* Sweeps of models with bounds for NEON of 64-bit Arm. */
#define GBS_INLINE static inline __attribute__((always_inline))
#include "rng/vocab_neon.h"

#define WIDE_VECTORS 4
#define WIDE_ROWS 4
#define NARROW_ROWS 8
#define KERNEL_NAME(idea) idea##_neon
#include "backend/cpu/bounded_body.h"
