/* The AVX2 and FMA kernels: of 16 registers, 12 hold 3 rows of 4 vectors, which hides the latency
 * of the multiply-add (8 would just do); a coefficient takes one, and values come from memory. */
#include "rng/vocab_avx2.h"

#define WIDE_VECTORS 4
#define WIDE_ROWS 3
#define NARROW_ROWS 8
#define KERNEL_NAME(idea) idea##_avx2
#include "backend/cpu/kernels_body.h"
