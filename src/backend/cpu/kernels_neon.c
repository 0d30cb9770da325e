/* The NEON kernels of 64-bit Arm: of 32 registers, 16 hold 4 rows of 4 vectors; processors with
 * four vector pipes have 16 multiply-adds in flight. */
#include "rng/vocab_neon.h"

#define WIDE_VECTORS 4
#define WIDE_ROWS 4
#define NARROW_ROWS 8
#define FEW_VECTORS_1 8
#define FEW_VECTORS_2 8
#define FEW_VECTORS_4 4
#define FEW_VECTORS_8 2
#define FEW_VECTORS_16 1
#define KERNEL_NAME(idea) idea##_neon
#include "backend/cpu/kernels_body.h"
