/* Sweeps of models with bounds for plain C, built with the fused multiply-add instruction: the same
 * bits. */
#define GBS_INLINE static inline __attribute__((always_inline))
#include "rng/vocab_scalar.h"

#define WIDE_VECTORS 1
#define WIDE_ROWS 1
#define NARROW_ROWS 1
#define KERNEL_NAME(idea) idea##_scalar_fma
#include "backend/cpu/bounded_body.h"
