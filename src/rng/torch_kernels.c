/* Which inner loops of the torch streams this machine runs. */
#include "rng/torch_kernels.h"
#include "core/cpu.h"

#include <stddef.h>

extern const gbs_torch_kernels gbs_torch_scalar;

#if defined(__x86_64__)
extern const gbs_torch_kernels gbs_torch_scalar_fma, gbs_torch_avx2, gbs_torch_avx512;
static const gbs_torch_kernels *const all[] = {&gbs_torch_scalar, &gbs_torch_scalar_fma,
                                               &gbs_torch_avx2, &gbs_torch_avx512};
#else
static const gbs_torch_kernels *const all[] = {&gbs_torch_scalar};
#endif

/* How many of the list, from its start, this machine has. */
static int available(void)
{
    if (gbs_isa_available(GBS_ISA_AVX512))
        return 4;
    if (gbs_isa_available(GBS_ISA_AVX2))
        return 3;
    return 1 + gbs_cpu_has_fma();
}

const gbs_torch_kernels *gbs_torch_kernels_best(void)
{
    return all[available() - 1];
}

const gbs_torch_kernels *gbs_torch_kernels_at(int index)
{
    return index >= 0 && index < available() ? all[index] : NULL;
}
