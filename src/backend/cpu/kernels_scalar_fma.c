/* The reference kernels again, built with the fused multiply-add instruction: the same bits. */
#include "rng/vocab_scalar.h"

#define WIDE_VECTORS 1
#define WIDE_ROWS 1
#define NARROW_ROWS 1
#define FEW_VECTORS_1 8
#define FEW_VECTORS_2 4
#define FEW_VECTORS_4 2
#define FEW_VECTORS_8 1
#define FEW_VECTORS_16 1
#define KERNEL_NAME(idea) idea##_scalar_fma
#include "backend/cpu/kernels_body.h"
