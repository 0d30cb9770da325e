/* The diagnostics' loops for AVX-512. */
#define LOOPS(name) name##_avx512
#define LOOPS_NAME "avx512"
#define LANES 8
#define LAGS_IN_FLIGHT 8
#include "diag/loops_body.h"
