/* PyTorch's random normals, re-made on the CPU: the numbers that torch.randn(n) draws on a CPU
 * and on a CUDA device, and the generators' states in torch's own layout.  Private. */
#ifndef GBS_RNG_TORCH_STREAM_H
#define GBS_RNG_TORCH_STREAM_H

#include "core/internal.h"

/* ---- torch on the CPU: mt19937, vectorised Box-Muller for n >= 16, pairs below ---- */
typedef struct gbs_torch_cpu {
    uint64_t seed; /* as torch reports it: initial_seed() */
    uint32_t words[624];
    int32_t left; /* torch's own counters, see numerics: after m words */
    uint64_t next;
    int32_t seeded;
    int32_t has_normal; /* kept second half of a pair, for calls with n < 16 */
    double normal;
    int32_t has_float_normal; /* torch's float twin of it: randn never uses it, the state has it */
    uint32_t float_normal;    /* its bits */
} gbs_torch_cpu;

void gbs_torch_cpu_seed(gbs_torch_cpu *generator, uint64_t seed);

/* The 5,056 bytes of torch.get_rng_state(); set fails with GBS_ERROR_STATE (no message) if
 * the bytes cannot be such a state, and then leaves the generator as it was. */
void gbs_torch_cpu_get_state(const gbs_torch_cpu *generator, unsigned char *state);
gbs_status gbs_torch_cpu_set_state(gbs_torch_cpu *generator, const unsigned char *state);

/* torch.randn(n): out[k * stride], k = 0 .. n-1. */
void gbs_torch_cpu_randn_f32(gbs_torch_cpu *generator, int64_t n, float *out, int64_t stride);
void gbs_torch_cpu_randn_f64(gbs_torch_cpu *generator, int64_t n, double *out, int64_t stride);

/* ---- torch on a CUDA device: Philox, one call's layout depends on the card ---- */
typedef struct gbs_torch_cuda {
    uint64_t seed;
    uint64_t offset; /* multiple of 4 */
    int32_t multiprocessors;
    int32_t threads_per_multiprocessor;
} gbs_torch_cuda;

/* How far one call of n elements moves the offset. */
uint64_t gbs_torch_cuda_advance(const gbs_torch_cuda *generator, gbs_type type, int64_t n);

/* Elements first .. first + count - 1 of a call of n elements made when the generator's
 * offset is `offset`; does not move the generator. */
void gbs_torch_cuda_randn_f32(const gbs_torch_cuda *generator, uint64_t offset, int64_t n,
                              int64_t first, int64_t count, float *out);
void gbs_torch_cuda_randn_f64(const gbs_torch_cuda *generator, uint64_t offset, int64_t n,
                              int64_t first, int64_t count, double *out);

void gbs_torch_cuda_get_state(const gbs_torch_cuda *generator, unsigned char *state); /* 16 bytes */
gbs_status gbs_torch_cuda_set_state(gbs_torch_cuda *generator, const unsigned char *state);

#endif
