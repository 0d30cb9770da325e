/* The diagnostics' loops with two doubles in a register, which every 64-bit machine has. */
#define LOOPS(name) name##_narrow
#define LOOPS_NAME "narrow"
#define LANES 2
#define LAGS_IN_FLIGHT 2
#include "diag/loops_body.h"
