/* The maps of src/rng as functions on arrays, once per instruction set: what the tests of the
 * native stream drive.  Each pairs_*.c is pairs_body.h in one vocabulary, built with that
 * vocabulary's flags. */
#ifndef GBS_TEST_PAIRS_H
#define GBS_TEST_PAIRS_H

#include "gibbsite/gibbsite.h"

/* Lengths n are multiples of this, the most lanes any vocabulary has. */
#define PAIRS_GRANULE 16

typedef struct pairs_instance {
    const char *name;
    /* Philox4x32-10 in every lane; returns 0 if the lanes differ. */
    int (*philox)(const uint32_t counter[4], uint64_t seed, uint32_t out[4]);
    void (*pairs_f32)(int64_t n, const uint32_t *a, const uint32_t *b, float *first, float *second);
    void (*pairs_f64)(int64_t n, const uint64_t *radius, const uint64_t *angle, double *first,
                      double *second);
    /* The 53-bit integer of two words in the low halves of low and high. */
    void (*word53)(int64_t n, const uint64_t *low, const uint64_t *high, uint64_t *out);
} pairs_instance;

extern const pairs_instance pairs_scalar;
#if defined(__x86_64__)
extern const pairs_instance pairs_scalar_fma, pairs_avx2, pairs_avx512;
#elif defined(__aarch64__)
extern const pairs_instance pairs_neon;
#endif

/* The k-th instance that this machine can run, the scalar reference first; NULL past the last. */
static inline const pairs_instance *pairs_at(int k)
{
#if defined(__x86_64__)
    const pairs_instance *const all[] = {&pairs_scalar, &pairs_scalar_fma, &pairs_avx2,
                                         &pairs_avx512};
    const int count = gbs_isa_available(GBS_ISA_AVX512) ? 4
                      : gbs_isa_available(GBS_ISA_AVX2) ? 3
                                                        : 1;
#elif defined(__aarch64__)
    const pairs_instance *const all[] = {&pairs_scalar, &pairs_neon};
    const int count = 2;
#else
    const pairs_instance *const all[] = {&pairs_scalar};
    const int count = 1;
#endif
    return k < count ? all[k] : NULL;
}

/* The widest, for long runs. */
static inline const pairs_instance *pairs_widest(void)
{
    int k = 0;
    while (pairs_at(k + 1) != NULL)
        ++k;
    return pairs_at(k);
}

#endif
