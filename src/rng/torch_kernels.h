/* The inner loops of the torch streams, once per instruction set: words to normals.  All give
 * the same bits (normal.h).  Private. */
#ifndef GBS_RNG_TORCH_KERNELS_H
#define GBS_RNG_TORCH_KERNELS_H

#include <stdint.h>

/* Arrays of pairs are aligned to GBS_ALIGNMENT and readable and writable up to the next
 * multiple of this many pairs. */
#define GBS_TORCH_PAIRS 16

typedef struct gbs_torch_kernels {
    const char *name;

    /* torch on the CPU: u = 1 - radius, angle in turns, each a fraction of 2^24 (float) or 2^53
     * (double) in the low bits of its word; higher bits are ignored. */
    void (*cpu_f32)(int64_t pairs, const uint32_t *restrict radius, const uint32_t *restrict angle,
                    float *restrict cosine, float *restrict sine);
    void (*cpu_f64)(int64_t pairs, const uint64_t *restrict radius, const uint64_t *restrict angle,
                    double *restrict cosine, double *restrict sine);

    /* torch on a CUDA device: output 0 .. 3 (float) or 0, 1 (double) of round `round` of threads
     * thread .. thread + count - 1. */
    void (*cuda_f32)(uint64_t seed, uint64_t round, uint64_t thread, int output, int64_t count,
                     float *restrict out);
    void (*cuda_f64)(uint64_t seed, uint64_t round, uint64_t thread, int output, int64_t count,
                     double *restrict out);
} gbs_torch_kernels;

/* The fastest that this machine and build have. */
const gbs_torch_kernels *gbs_torch_kernels_best(void);

/* All that this machine and build have, the reference first; NULL past the last. */
const gbs_torch_kernels *gbs_torch_kernels_at(int index);

#endif
