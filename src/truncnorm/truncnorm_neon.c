/* Draws between bounds for NEON. */
#define GBS_INLINE static inline __attribute__((always_inline))
#include "rng/vocab_neon.h"

#define KERNELS gbs_truncnorm_neon
#define KERNELS_NAME "neon"
#include "truncnorm/truncnorm_kernels_body.h"
