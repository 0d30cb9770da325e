/* From an instruction set to its table of kernels. */
#include "backend/backend.h"
#include "core/cpu.h"

const gbs_kernels *gbs_cpu_kernels(gbs_isa isa)
{
#if GBS_X86_KERNELS
    if (isa == GBS_ISA_AVX512)
        return &gbs_kernels_avx512;
    if (isa == GBS_ISA_AVX2)
        return &gbs_kernels_avx2;
    if (gbs_cpu_has_fma())
        return &gbs_kernels_scalar_fma;
#elif defined(__aarch64__)
    if (isa == GBS_ISA_NEON)
        return &gbs_kernels_neon;
#else
    (void)isa;
#endif
    return &gbs_kernels_scalar;
}
