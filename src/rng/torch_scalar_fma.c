/* The same plain C, compiled with -mfma for x86 processors that have the instruction. */
#include "rng/vocab_scalar.h"

#define KERNELS gbs_torch_scalar_fma
#define KERNELS_NAME "scalar+fma"
#include "rng/torch_body.h"
