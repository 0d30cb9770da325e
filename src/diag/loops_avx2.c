/* The diagnostics' loops for AVX2. */
#define LOOPS(name) name##_avx2
#define LOOPS_NAME "avx2"
#define LANES 4
#define LAGS_IN_FLIGHT 4
#include "diag/loops_body.h"
