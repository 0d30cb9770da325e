/* Two doubles that move together, in the compilers' portable vector notation: every 64-bit machine
 * has an instruction for them, and sums written in lanes keep their order and so their bits. */
#ifndef GBS_DIAG_LANES_H
#define GBS_DIAG_LANES_H

#include <string.h>

typedef double gbs_two __attribute__((vector_size(16)));

static inline gbs_two gbs_load_two(const double *x)
{
    gbs_two pair;
    memcpy(&pair, x, sizeof pair);
    return pair;
}

static inline gbs_two gbs_twice(double x)
{
    return (gbs_two){x, x};
}

#endif
