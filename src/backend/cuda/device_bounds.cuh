/* Sweeps of models with bounds and rows: a device's sampler, and one-call sweeps. */
#ifndef GBS_CUDA_DEVICE_BOUNDS_CUH
#define GBS_CUDA_DEVICE_BOUNDS_CUH

#include "backend/cuda/constrained_args.cuh"
#include "backend/cuda/messages.cuh"
#include "core/device.h"

/* Elements of packed coefficients. */
int64_t gbs_cuda_bounded_columns(int64_t dim);
int gbs_cuda_bounded_needs_workspace(gbs_type type, int64_t dim);

gbs_status gbs_cuda_pack_columns(int64_t dim, const float *matrix, float *columns,
                                 cudaStream_t stream, gbs_device_message message);
gbs_status gbs_cuda_pack_columns(int64_t dim, const double *matrix, double *columns,
                                 cudaStream_t stream, gbs_device_message message);
gbs_status gbs_cuda_bounded_launch(const bounded_args<float> &args, cudaStream_t stream,
                                   gbs_device_message message);
gbs_status gbs_cuda_bounded_launch(const bounded_args<double> &args, cudaStream_t stream,
                                   gbs_device_message message);

/* Whitened sweeps (args.panels is not NULL), and sweeps within rows.  The workspace holds
 * (D + rows) B numbers. */
int gbs_cuda_constrained_needs_workspace(gbs_type type, int whitened, int64_t dim, int64_t rows);
gbs_status gbs_cuda_constrained_launch(const constrained_args<float> &args, cudaStream_t stream,
                                       gbs_device_message message);
gbs_status gbs_cuda_constrained_launch(const constrained_args<double> &args, cudaStream_t stream,
                                       gbs_device_message message);

/* gbs_cuda_sweep with bounds, the spec being checked, and the workspace that it needs. */
size_t gbs_cuda_bounded_workspace(const gbs_sweep_spec *spec);
gbs_status gbs_cuda_bounded_sweep(const gbs_sweep_spec *spec, const gbs_cuda_launch *how,
                                  gbs_device_message message);

#endif
