/* The AVX-512 kernels: 32 registers hold 4 rows of 4 vectors, the values and a coefficient. */
#include "rng/vocab_avx512.h"

#define WIDE_VECTORS 4
#define WIDE_ROWS 4
#define NARROW_ROWS 8
#define FEW_VECTORS_1 8
#define FEW_VECTORS_2 8
#define FEW_VECTORS_4 4
#define FEW_VECTORS_8 2
#define FEW_VECTORS_16 1
#define KERNEL_NAME(idea) idea##_avx512
#include "backend/cpu/kernels_body.h"
