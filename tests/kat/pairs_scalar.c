/* The reference, in plain C: fma() is libm's. */
#include "rng/vocab_scalar.h"

#define PAIRS_NAME pairs_scalar
#include "kat/pairs_body.h"
