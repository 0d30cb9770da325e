/* The reference again, built with the fused multiply-add instruction. */
#include "rng/vocab_scalar.h"

#define PAIRS_NAME pairs_scalar_fma
#include "kat/pairs_body.h"
