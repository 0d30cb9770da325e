/* The reference kernels again, built with the fused multiply-add instruction: the same bits. */
#include "rng/vocab_scalar.h"

#define WIDE_VECTORS 1
#define WIDE_ROWS 1
#define NARROW_ROWS 1
#define KERNEL_NAME(idea) idea##_scalar_fma
#include "backend/cpu/kernels_body.h"
