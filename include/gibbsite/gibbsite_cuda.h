/* Gibbsite on NVIDIA GPUs: what libgibbsite_cuda adds to gibbsite.h.
 *
 * Arrays are on the device, work goes to the caller's stream, nothing is allocated and nothing
 * waits: every call here can be captured in a CUDA graph.  The draws of the native stream have
 * the same bits as the CPU's, whatever kernel runs.  Compute capability 8.0 and later. */
#ifndef GIBBSITE_GIBBSITE_CUDA_H
#define GIBBSITE_GIBBSITE_CUDA_H

#include "gibbsite/gibbsite.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels.  AUTO takes the fastest for the shape, from a measured table (bench/NOTES-gpu.md); the
 * others are there for tests and benchmarks.  All give the same bits. */
typedef enum gbs_cuda_kernel {
    GBS_CUDA_KERNEL_AUTO = 0,
    GBS_CUDA_KERNEL_LANES = 1,   /* lanes or warps share a chain: few chains, one sweep; dim <= 128 */
    GBS_CUDA_KERNEL_THREADS = 2, /* chains in registers: native stream, dim <= 24 (16) */
    GBS_CUDA_KERNEL_SHARED = 3,  /* chains in shared memory: native stream, dim <= 128 (96) */
    GBS_CUDA_KERNEL_TILES = 4,   /* tiles of chains and rows: any dim; needs a workspace */
    GBS_CUDA_KERNEL_SUMS = 5     /* sums of all rows in registers: native stream, one direction, dim <= 256; a
                                 workspace beyond 128 */
} gbs_cuda_kernel;

/* What a launch needs besides the sweep itself. */
typedef struct gbs_cuda_launch {
    void *stream;    /* a cudaStream_t; NULL is the legacy default stream */
    void *workspace; /* device memory of gbs_cuda_sweep_workspace bytes, 256-aligned */
    size_t workspace_bytes;
    /* NULL: spec.seed and spec.torch_offset.  Else, under graph capture, where the seed and a torch
     * generator's offset will be at replay; spec.torch_offset is added to the offset.
     * torch-cuda: that generator's numbers.  Native: device_seed alone is the seed; with
     * device_offset it is the 64 bits that tensor.random_() draws from that generator (whose
     * offset they move by 4).  The native kernels are then LANES or TILES. */
    const uint64_t *device_seed;
    const uint64_t *device_offset;
    /* Not 0: no work ahead in the stream that may still run writes those two, as under graph
     * replay, where they are set before the graph starts.  The kernel then draws its normals
     * while the kernel ahead of it still runs. */
    int32_t device_state_settled;
    gbs_cuda_kernel kernel; /* AUTO */
} gbs_cuda_launch;

/* OK if the current device can run the kernels; else UNAVAILABLE and why. */
GBS_API gbs_status gbs_cuda_available(char *message, size_t message_bytes);

/* Device memory that the call needs beside its arrays; often 0.  Fails: ARGUMENT. */
GBS_API gbs_status gbs_cuda_sweep_workspace(const gbs_sweep_spec *spec, gbs_cuda_kernel kernel,
                                            size_t *bytes);

/* gbs_sweep on the current device: precision, location, bounds, x, out, kept and noise are device
 * arrays.  TORCH_CPU is not available here.  Bounds go with NATIVE and no choice of kernel; what the CPU
 * would refuse, lower > upper or NaN, makes that site NaN, and x is not checked.
 * Fails: ARGUMENT, LIMIT, UNAVAILABLE (no device, or a CUDA error); message (if not NULL, of
 * message_bytes) says what; a launch that failed may have left out undefined. */
GBS_API gbs_status gbs_cuda_sweep(const gbs_sweep_spec *spec, const gbs_cuda_launch *launch,
                                  char *message, size_t message_bytes);

/* The kernel's name for a shape, e.g. "sweep_single_f32". */
GBS_API const char *gbs_cuda_sweep_kernel(const gbs_sweep_spec *spec, gbs_cuda_kernel kernel);

/* gbs_truncnorm on the current device, with the CPU's bits: out and the operands' values are device
 * arrays; on_bound must be NULL.  Elements that the CPU refuses (lower > upper, NaN, sd not above
 * 0) become NaN: looking at them would mean waiting.  stream is a cudaStream_t.
 * Fails: ARGUMENT, LIMIT, UNAVAILABLE (no device, or a CUDA error); message says what. */
GBS_API gbs_status gbs_cuda_truncnorm_f32(const gbs_truncnorm_spec *spec, float *out,
                                          void *stream, char *message, size_t message_bytes);
GBS_API gbs_status gbs_cuda_truncnorm_f64(const gbs_truncnorm_spec *spec, double *out,
                                          void *stream, char *message, size_t message_bytes);

#ifdef __cplusplus
}
#endif

#endif
