/* Which inner loops of draws between bounds this machine runs. */
#include "truncnorm/truncnorm_kernels.h"
#include "core/cpu.h"

#include <stddef.h>

extern const gbs_truncnorm_kernels gbs_truncnorm_scalar;

#if defined(__x86_64__)
extern const gbs_truncnorm_kernels gbs_truncnorm_scalar_fma, gbs_truncnorm_avx2,
    gbs_truncnorm_avx512;

const gbs_truncnorm_kernels *gbs_truncnorm_kernels_for(gbs_isa isa)
{
    if (isa == GBS_ISA_AVX512)
        return &gbs_truncnorm_avx512;
    if (isa == GBS_ISA_AVX2)
        return &gbs_truncnorm_avx2;
    return gbs_cpu_has_fma() ? &gbs_truncnorm_scalar_fma : &gbs_truncnorm_scalar;
}

const gbs_truncnorm_kernels *gbs_truncnorm_kernels_at(int index)
{
    const gbs_truncnorm_kernels *const all[] = {&gbs_truncnorm_scalar, &gbs_truncnorm_scalar_fma,
                                                &gbs_truncnorm_avx2, &gbs_truncnorm_avx512};
    const int count = gbs_isa_available(GBS_ISA_AVX512) ? 4
                      : gbs_isa_available(GBS_ISA_AVX2) ? 3
                                                        : 1 + gbs_cpu_has_fma();
    return index >= 0 && index < count ? all[index] : NULL;
}
#elif defined(__aarch64__)
extern const gbs_truncnorm_kernels gbs_truncnorm_neon;

const gbs_truncnorm_kernels *gbs_truncnorm_kernels_for(gbs_isa isa)
{
    return isa == GBS_ISA_NEON ? &gbs_truncnorm_neon : &gbs_truncnorm_scalar;
}

const gbs_truncnorm_kernels *gbs_truncnorm_kernels_at(int index)
{
    const gbs_truncnorm_kernels *const all[] = {&gbs_truncnorm_scalar, &gbs_truncnorm_neon};
    return index >= 0 && index < 2 ? all[index] : NULL;
}
#else
const gbs_truncnorm_kernels *gbs_truncnorm_kernels_for(gbs_isa isa)
{
    (void)isa;
    return &gbs_truncnorm_scalar;
}

const gbs_truncnorm_kernels *gbs_truncnorm_kernels_at(int index)
{
    return index == 0 ? &gbs_truncnorm_scalar : NULL;
}
#endif
