/* NEON. */
#include "rng/vocab_neon.h"

#define PAIRS_NAME pairs_neon
#include "kat/pairs_body.h"
