/* The reference again, built with the fused multiply-add instruction. */
#include "rng/vocab_scalar.h"

#define TRUNCATED_NAME truncated_scalar_fma
#include "kat/truncated_body.h"
