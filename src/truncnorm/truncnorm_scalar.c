/* Draws between bounds in plain C: the reference. */
#define GBS_INLINE static inline __attribute__((always_inline))
#include "rng/vocab_scalar.h"

#define KERNELS gbs_truncnorm_scalar
#define KERNELS_NAME "scalar"
#include "truncnorm/truncnorm_kernels_body.h"
