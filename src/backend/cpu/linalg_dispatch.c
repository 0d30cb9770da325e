/* Which inner loops of the linear algebra this machine runs. */
#include "backend/cpu/linalg_kernels.h"
#include "core/cpu.h"

#if defined(__x86_64__)

const gbs_linalg_kernels *gbs_linalg_kernels_for(gbs_isa isa)
{
    if (isa == GBS_ISA_AUTO)
        isa = gbs_cpu_widest();
    if (isa == GBS_ISA_AVX512 && gbs_isa_available(isa))
        return &gbs_linalg_avx512;
    if (isa == GBS_ISA_AVX2 && gbs_isa_available(isa))
        return &gbs_linalg_avx2;
    return gbs_cpu_has_fma() ? &gbs_linalg_scalar_fma : &gbs_linalg_scalar;
}

const gbs_linalg_kernels *gbs_linalg_kernels_at(int index)
{
    const gbs_linalg_kernels *const all[] = {&gbs_linalg_scalar, &gbs_linalg_scalar_fma,
                                             &gbs_linalg_avx2, &gbs_linalg_avx512};
    const int count = gbs_isa_available(GBS_ISA_AVX512) ? 4
                      : gbs_isa_available(GBS_ISA_AVX2) ? 3
                                                        : 1 + gbs_cpu_has_fma();
    return index >= 0 && index < count ? all[index] : NULL;
}

#elif defined(__aarch64__)

const gbs_linalg_kernels *gbs_linalg_kernels_for(gbs_isa isa)
{
    return isa == GBS_ISA_AUTO || isa == GBS_ISA_NEON ? &gbs_linalg_neon : &gbs_linalg_scalar;
}

const gbs_linalg_kernels *gbs_linalg_kernels_at(int index)
{
    const gbs_linalg_kernels *const all[] = {&gbs_linalg_scalar, &gbs_linalg_neon};
    return index >= 0 && index < 2 ? all[index] : NULL;
}

#else

const gbs_linalg_kernels *gbs_linalg_kernels_for(gbs_isa isa)
{
    (void)isa;
    return &gbs_linalg_scalar;
}

const gbs_linalg_kernels *gbs_linalg_kernels_at(int index)
{
    return index == 0 ? &gbs_linalg_scalar : NULL;
}

#endif
