/* The same plain C, compiled with -mfma for x86 processors that have the instruction. */
#include "backend/cpu/linalg_scalar.h"

#define KERNELS gbs_linalg_scalar_fma
#define KERNELS_NAME "scalar+fma"
#include "backend/cpu/linalg_body.h"
