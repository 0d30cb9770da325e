/* Sweeps of models with bounds for AVX2 and FMA. */
#define GBS_INLINE static inline __attribute__((always_inline))
#include "rng/vocab_avx2.h"

#define WIDE_VECTORS 4
#define WIDE_ROWS 3
#define NARROW_ROWS 8
#define KERNEL_NAME(idea) idea##_avx2
#include "backend/cpu/bounded_body.h"
