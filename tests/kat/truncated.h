/* truncnorm.h as functions on arrays, once per instruction set and once in the device's vocabulary
 * built for the host: what the tests of truncated draws drive.  Each truncated_*.c is
 * truncated_body.h in one vocabulary, built with that vocabulary's flags. */
#ifndef GBS_TEST_TRUNCATED_H
#define GBS_TEST_TRUNCATED_H

#include "gibbsite/gibbsite.h"

/* Lengths n are multiples of this, the most lanes any vocabulary has. */
#define TRUNCATED_GRANULE 16

/* A box in standard deviations from the mean, |a| <= |a + w|, and what a draw makes of it:
 * d from a on, or z from the mean where the box holds it (middle). */
typedef struct truncated_instance {
    const char *name;
    void (*map_f32)(int64_t n, const float *a, const float *w, const uint32_t *word, float *d,
                    int *middle);
    void (*map_f64)(int64_t n, const double *a, const double *w, const uint64_t *word, double *d,
                    int *middle);
    void (*draw_f32)(int64_t n, const float *m, const float *s, const float *lo, const float *hi,
                     const uint32_t *word, float *x);
    void (*draw_f64)(int64_t n, const double *m, const double *s, const double *lo,
                     const double *hi, const uint64_t *word, double *x);
} truncated_instance;

extern const truncated_instance truncated_scalar, truncated_device;
#if defined(__x86_64__)
extern const truncated_instance truncated_scalar_fma, truncated_avx2, truncated_avx512;
#elif defined(__aarch64__)
extern const truncated_instance truncated_neon;
#endif

/* The k-th instance that this machine can run, the scalar reference first; NULL past the last. */
static inline const truncated_instance *truncated_at(int k)
{
#if defined(__x86_64__)
    const truncated_instance *const all[] = {&truncated_scalar, &truncated_device,
                                             &truncated_scalar_fma, &truncated_avx2,
                                             &truncated_avx512};
    const int count = gbs_isa_available(GBS_ISA_AVX512) ? 5
                      : gbs_isa_available(GBS_ISA_AVX2) ? 4
                                                        : 2;
#elif defined(__aarch64__)
    const truncated_instance *const all[] = {&truncated_scalar, &truncated_device, &truncated_neon};
    const int count = 3;
#else
    const truncated_instance *const all[] = {&truncated_scalar, &truncated_device};
    const int count = 2;
#endif
    return k < count ? all[k] : NULL;
}

/* The widest, for long runs. */
static inline const truncated_instance *truncated_widest(void)
{
    int k = 0;
    while (truncated_at(k + 1) != NULL)
        ++k;
    return truncated_at(k);
}

#endif
