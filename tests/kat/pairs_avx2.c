/* AVX2 and FMA. */
#include "rng/vocab_avx2.h"

#define PAIRS_NAME pairs_avx2
#include "kat/pairs_body.h"
