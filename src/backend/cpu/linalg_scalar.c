/* Linear algebra in plain C: correct on any processor.  Where the target has no fma
 * instruction the compiler calls fma(), which is exact and slow. */
#include "backend/cpu/linalg_scalar.h"

#define KERNELS gbs_linalg_scalar
#define KERNELS_NAME "scalar"
#include "backend/cpu/linalg_body.h"
