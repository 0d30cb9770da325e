/* The AVX2 and FMA kernels: 16 registers hold 4 rows of 2 vectors, the values and a coefficient. */
#include "rng/vocab_avx2.h"

#define WIDE_VECTORS 2
#define WIDE_ROWS 4
#define NARROW_ROWS 8
#define KERNEL_NAME(idea) idea##_avx2
#include "backend/cpu/kernels_body.h"
