/* NEON. */
#include "rng/vocab_neon.h"

#define TRUNCATED_NAME truncated_neon
#include "kat/truncated_body.h"
