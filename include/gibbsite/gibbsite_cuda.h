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

/* What a launch needs besides the sweep itself. */
typedef struct gbs_cuda_launch {
    void *stream;                  /* a cudaStream_t; NULL is the legacy default stream */
    void *workspace;               /* device memory of gbs_cuda_sweep_workspace bytes, 256-aligned */
    size_t workspace_bytes;
    /* torch under graph capture: where the generator's seed and offset will be at replay.
     * Both NULL: spec.seed and spec.torch_offset; else the seed there, and the offset there plus
     * spec.torch_offset. */
    const uint64_t *device_seed;
    const uint64_t *device_offset;
} gbs_cuda_launch;

/* Device memory that the call needs beside its arrays; often 0.  Fails: ARGUMENT. */
GBS_API gbs_status gbs_cuda_sweep_workspace(const gbs_sweep_spec *spec, size_t *bytes);

/* gbs_sweep on the current device: precision, location, x, out, kept and noise are device
 * arrays.  TORCH_CPU is not available here.
 * Fails: ARGUMENT, LIMIT, UNAVAILABLE (no device, or a CUDA error); message (if not NULL, of
 * message_bytes) says what; a launch that failed may have left out undefined. */
GBS_API gbs_status gbs_cuda_sweep(const gbs_sweep_spec *spec, const gbs_cuda_launch *launch,
                                  char *message, size_t message_bytes);

/* The kernel that gbs_cuda_sweep takes for a shape, e.g. "sweep_lanes_f32". */
GBS_API const char *gbs_cuda_sweep_kernel(const gbs_sweep_spec *spec);

#ifdef __cplusplus
}
#endif

#endif
