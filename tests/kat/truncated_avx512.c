/* AVX-512. */
#include "rng/vocab_avx512.h"

#define TRUNCATED_NAME truncated_avx512
#include "kat/truncated_body.h"
