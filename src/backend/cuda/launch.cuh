/* Inside libgibbsite_cuda: a sweep whose coefficients are ready. */
#ifndef GBS_CUDA_LAUNCH_CUH
#define GBS_CUDA_LAUNCH_CUH

#include "backend/cuda/sweep_args.cuh"

/* Coefficients rounded by a sampler's plan, in place of those that a kernel makes of a precision:
 * spec.precision holds A, these are s and c; one group. */
struct gbs_cuda_ready {
    const void *scale, *centre;
    int packed; /* the workspace still holds what an earlier launch packed of them */
};

/* gbs_cuda_sweep, with or without ready coefficients (NULL). */
gbs_status gbs_cuda_sweep_ready(const gbs_sweep_spec *spec, const gbs_cuda_launch *launch,
                                const gbs_cuda_ready *ready, char *message, size_t message_bytes);

/* What the kernels are told; the spec has been checked. */
gbs_sweep_args gbs_cuda_arguments(const gbs_sweep_spec *spec, const gbs_cuda_launch *launch);

/* Philox's keys of every round. */
void gbs_cuda_set_key(uint64_t seed, uint32_t key[10][2]);

#endif
