/* The torch streams for AVX2 and FMA. */
#include "rng/vocab_avx2.h"

#define KERNELS gbs_torch_avx2
#define KERNELS_NAME "avx2"
#include "rng/torch_body.h"
