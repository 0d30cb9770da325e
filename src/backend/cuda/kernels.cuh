/* The table of kernel instances: what a launch needs to know of each. */
#ifndef GBS_CUDA_KERNELS_CUH
#define GBS_CUDA_KERNELS_CUH

#include "backend/cuda/sweep_args.cuh"

struct gbs_tile_args;

typedef void (*gbs_sweep_kernel)(gbs_sweep_args);
typedef void (*gbs_tile_kernel)(gbs_sweep_args, gbs_tile_args);

struct gbs_cuda_instance {
    gbs_sweep_kernel kernel;
    int threads;
    int chains; /* of one block of threads */
    size_t shared_bytes;
};

/* `kind` is a gbs_stream or NATIVE_REPLAYED. */

/* Lanes sharing a chain; dim <= 128.  `single`: for one sweep. */
gbs_cuda_instance gbs_cuda_lanes_f32(int64_t dim, int kind, int single);
gbs_cuda_instance gbs_cuda_lanes_f64(int64_t dim, int kind, int single);

/* One thread per chain, native stream; dim <= 16. */
gbs_cuda_instance gbs_cuda_threads_f32(int64_t dim);
gbs_cuda_instance gbs_cuda_threads_f64(int64_t dim);

/* State in shared memory, native stream; dim up to GBS_CUDA_SHARED_DIM_F32 or _F64. */
#define GBS_CUDA_SHARED_DIM_F32 128
#define GBS_CUDA_SHARED_DIM_F64 96
gbs_cuda_instance gbs_cuda_shared_f32(int64_t dim);
gbs_cuda_instance gbs_cuda_shared_f64(int64_t dim);

/* Tiles, any dim; `rows` is what the coefficients are packed for. */
struct gbs_tile_instance {
    gbs_tile_kernel kernel;
    int rows;
    int threads;
    size_t shared_bytes;
};
gbs_tile_instance gbs_cuda_tiles(gbs_type type, int kind, int rows);
int gbs_cuda_tile_rows(gbs_type type, int64_t dim);
cudaError_t gbs_cuda_pack_tiles(gbs_type type, const gbs_sweep_args *args,
                                const gbs_tile_args *tiles, int rows, void *packed, void *scale,
                                void *centre, int backward, cudaStream_t stream);

#endif
