/* The torch streams in plain C: the reference. */
#include "rng/vocab_scalar.h"

#define KERNELS gbs_torch_scalar
#define KERNELS_NAME "scalar"
#include "rng/torch_body.h"
