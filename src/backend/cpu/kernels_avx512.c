/* The AVX-512 kernels: 32 registers hold 4 rows of 4 vectors, the values and a coefficient. */
#include "rng/vocab_avx512.h"

#define WIDE_VECTORS 4
#define WIDE_ROWS 4
#define NARROW_ROWS 8
#define KERNEL_NAME(idea) idea##_avx512
#include "backend/cpu/kernels_body.h"
