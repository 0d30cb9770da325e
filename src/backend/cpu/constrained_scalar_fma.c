/* The reference again, built with the fused multiply-add instruction: the same bits. */
#include "rng/vocab_scalar.h"

#define WIDE_VECTORS 1
#define KERNELS gbs_constrained_scalar_fma
#define KERNEL_ISA "scalar_fma"
#include "backend/cpu/constrained_kernels_body.h"
