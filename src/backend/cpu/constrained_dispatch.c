/* From an instruction set to its constrained sweeps. */
#include "backend/constrained.h"
#include "core/cpu.h"

const gbs_constrained_kernels *gbs_constrained_kernels_for(gbs_isa isa)
{
#if GBS_X86_KERNELS
    if (isa == GBS_ISA_AVX512)
        return &gbs_constrained_avx512;
    if (isa == GBS_ISA_AVX2)
        return &gbs_constrained_avx2;
    if (gbs_cpu_has_fma())
        return &gbs_constrained_scalar_fma;
#elif defined(__aarch64__)
    if (isa == GBS_ISA_NEON)
        return &gbs_constrained_neon;
#else
    (void)isa;
#endif
    return &gbs_constrained_scalar;
}
