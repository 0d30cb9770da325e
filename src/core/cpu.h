/* What this processor can run. */
#ifndef GBS_CORE_CPU_H
#define GBS_CORE_CPU_H

#include "gibbsite/gibbsite.h"

gbs_isa gbs_cpu_widest(void);

/* 1 if the processor has the fused multiply-add instruction the scalar kernels may use. */
int gbs_cpu_has_fma(void);

/* Processors that this process may run on, from 1 to GBS_THREADS_MAX. */
int32_t gbs_cpu_processors(void);

#endif
