/* The torch streams for AVX-512. */
#include "rng/vocab_avx512.h"

#define KERNELS gbs_torch_avx512
#define KERNELS_NAME "avx512"
#include "rng/torch_body.h"
