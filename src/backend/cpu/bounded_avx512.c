/* Sweeps of models with bounds for AVX-512. */
#define GBS_INLINE static inline __attribute__((always_inline))
#include "rng/vocab_avx512.h"

#define WIDE_VECTORS 4
#define WIDE_ROWS 4
#define NARROW_ROWS 8
#define KERNEL_NAME(idea) idea##_avx512
#include "backend/cpu/bounded_body.h"
