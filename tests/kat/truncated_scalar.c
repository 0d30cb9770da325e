/* The reference, in plain C: fma() is the C library's. */
#include "rng/vocab_scalar.h"

#define TRUNCATED_NAME truncated_scalar
#include "kat/truncated_body.h"
