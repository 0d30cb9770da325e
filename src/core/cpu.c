/* What this processor can run.  The compiler's own once-initialised word answers, which also
 * checks that the operating system saves the wide registers. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "core/cpu.h"
#include "core/pool.h"

#include <sched.h>
#include <unistd.h>

/* Every 64-bit Arm has it. */
#if defined(__aarch64__)
#define HAS_NEON 1
#else
#define HAS_NEON 0
#endif

#if defined(__x86_64__)

static int has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static int has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}

int gbs_cpu_has_fma(void)
{
    return has_avx2();
}

#else

static int has_avx2(void)
{
    return 0;
}

static int has_avx512(void)
{
    return 0;
}

int gbs_cpu_has_fma(void)
{
    return 0;
}

#endif

int gbs_isa_available(gbs_isa isa)
{
    switch (isa) {
    case GBS_ISA_AUTO:
    case GBS_ISA_SCALAR: return 1;
    case GBS_ISA_AVX2: return has_avx2();
    case GBS_ISA_AVX512: return has_avx512();
    case GBS_ISA_NEON: return HAS_NEON;
    }
    return 0;
}

gbs_isa gbs_cpu_widest(void)
{
    if (HAS_NEON)
        return GBS_ISA_NEON;
    if (has_avx512())
        return GBS_ISA_AVX512;
    return has_avx2() ? GBS_ISA_AVX2 : GBS_ISA_SCALAR;
}

const char *gbs_isa_name(gbs_isa isa)
{
    switch (isa) {
    case GBS_ISA_AUTO: return "auto";
    case GBS_ISA_SCALAR: return "scalar";
    case GBS_ISA_AVX2: return "avx2";
    case GBS_ISA_AVX512: return "avx512";
    case GBS_ISA_NEON: return "neon";
    }
    return "unknown";
}

int32_t gbs_cpu_processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
#if defined(__linux__)
    cpu_set_t set; /* too small for more than 1,024 processors: the call then fails */
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        count = CPU_COUNT(&set);
#endif
    return count < 1 ? 1 : count > GBS_THREADS_MAX ? GBS_THREADS_MAX : (int32_t)count;
}
