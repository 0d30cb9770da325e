/* Which of the diagnostics' loops this machine runs. */
#include "diag/loops.h"
#include "core/cpu.h"

const gbs_diag_loops *gbs_diag_loops_at(int index)
{
    int count = 0;
#if GBS_X86_KERNELS
    if (gbs_isa_available(GBS_ISA_AVX512) && index == count++)
        return &gbs_diag_loops_avx512;
    if (gbs_isa_available(GBS_ISA_AVX2) && index == count++)
        return &gbs_diag_loops_avx2;
#endif
    return index == count ? &gbs_diag_loops_narrow : NULL;
}

const gbs_diag_loops *gbs_diag_loops_here(void)
{
    return gbs_diag_loops_at(0);
}
