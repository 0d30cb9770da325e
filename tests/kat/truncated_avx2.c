/* AVX2 and FMA. */
#include "rng/vocab_avx2.h"

#define TRUNCATED_NAME truncated_avx2
#include "kat/truncated_body.h"
