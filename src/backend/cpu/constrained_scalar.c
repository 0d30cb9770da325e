/* The constrained sweeps in plain C, one chain at a time: the reference.  Built as it is, fma() is
 * libm's. */
#include "rng/vocab_scalar.h"

#define WIDE_VECTORS 1
#define KERNELS gbs_constrained_scalar
#define KERNEL_ISA "scalar"
#include "backend/cpu/constrained_kernels_body.h"
