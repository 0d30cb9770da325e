/* The AVX2 and FMA kernels: of 16 registers, 12 hold 3 rows of 4 vectors, which hides the latency
 * of the multiply-add (8 would just do); a coefficient takes one, and values come from memory. */
#include "rng/vocab_avx2.h"

#define WIDE_VECTORS 4
#define WIDE_ROWS 3
#define NARROW_ROWS 8
#define FEW_VECTORS_1 8
#define FEW_VECTORS_2 4
#define FEW_VECTORS_4 2
#define FEW_VECTORS_8 1
#define FEW_VECTORS_16 1
#define KERNEL_NAME(idea) idea##_avx2
#include "backend/cpu/kernels_body.h"
