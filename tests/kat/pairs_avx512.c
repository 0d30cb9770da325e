/* AVX-512. */
#include "rng/vocab_avx512.h"

#define PAIRS_NAME pairs_avx512
#include "kat/pairs_body.h"
