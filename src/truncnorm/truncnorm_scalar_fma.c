/* The same plain C, compiled with -mfma for x86 processors that have the instruction. */
#define GBS_INLINE static inline __attribute__((always_inline))
#include "rng/vocab_scalar.h"

#define KERNELS gbs_truncnorm_scalar_fma
#define KERNELS_NAME "scalar+fma"
#include "truncnorm/truncnorm_kernels_body.h"
