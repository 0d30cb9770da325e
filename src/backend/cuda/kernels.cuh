/* The table of kernel instances: what a launch needs to know of each. */
#ifndef GBS_CUDA_KERNELS_CUH
#define GBS_CUDA_KERNELS_CUH

#include "backend/cuda/sweep_args.cuh"

struct gbs_tile_args;

typedef void (*gbs_sweep_kernel)(gbs_sweep_args);
typedef void (*gbs_tile_kernel)(gbs_sweep_args, gbs_tile_args);

#define MAX_GRID 2147483647LL /* blocks of threads of a launch */

struct gbs_cuda_instance {
    gbs_sweep_kernel kernel;
    int threads;
    int chains; /* of one block of threads */
    size_t shared_bytes;
    bool waits; /* may start early: it waits itself before it reads what others write */
};

/* `kind` is a gbs_stream or NATIVE_REPLAYED. */

/* A warp to four rows of 32 chains: a single sweep; dim <= 128. */
gbs_cuda_instance gbs_cuda_once(gbs_type type, int64_t dim, int kind);

/* One plain forward sweep of floats in as little code as possible; dim <= GBS_CUDA_SINGLE_DIM. */
#define GBS_CUDA_SINGLE_DIM 64
struct gbs_single_args;
struct gbs_single_instance {
    void (*kernel)(gbs_single_args);
    int threads, chains;
};
gbs_single_instance gbs_cuda_single(int64_t dim, gbs_stream kind);

/* Lanes that share a chain, coefficients in registers: many sweeps in one direction, native stream;
 * dim <= GBS_CUDA_HELD_DIM_F32 or _F64. */
#define GBS_CUDA_HELD_DIM_F32 32
#define GBS_CUDA_HELD_DIM_F64 16
gbs_cuda_instance gbs_cuda_held_f32(int64_t dim, int relaxed);
gbs_cuda_instance gbs_cuda_held_f64(int64_t dim, int relaxed);

/* One thread per chain, native stream; dim <= 24 (float) or 16. */
gbs_cuda_instance gbs_cuda_threads_f32(int64_t dim);
gbs_cuda_instance gbs_cuda_threads_f64(int64_t dim);

/* State in shared memory, native stream; dim up to GBS_CUDA_SHARED_DIM_F32 or _F64. */
#define GBS_CUDA_SHARED_DIM_F32 128
#define GBS_CUDA_SHARED_DIM_F64 96
gbs_cuda_instance gbs_cuda_shared_f32(int64_t dim);
gbs_cuda_instance gbs_cuda_shared_f64(int64_t dim);

/* The sums of all rows in registers, native stream, one direction; `chains` of all groups together.
 * Beyond GBS_CUDA_SUMS_HELD_DIM coefficients come from the workspace, packed as for the panels. */
#define GBS_CUDA_SUMS_DIM 256
#define GBS_CUDA_SUMS_HELD_DIM 128
#define GBS_CUDA_SUMS_WIDE 32768 /* from this many chains on eight a lane, else four */
gbs_cuda_instance gbs_cuda_sums(gbs_type type, int64_t dim, int64_t chains, int32_t direction);
struct gbs_packed_instance {
    gbs_tile_kernel kernel;
    int threads, chains; /* of a block */
    size_t shared_bytes;
};
gbs_packed_instance gbs_cuda_sums_packed(gbs_type type, int64_t dim);

/* Panels of rows, any dim.  A launch packs the coefficients into the caller's workspace first,
 * unless an earlier one has. */
struct gbs_tile_instance {
    gbs_tile_kernel kernel;
    int rows; /* at most, of a panel */
    int threads;
    size_t shared_bytes[4]; /* by stages, 2 or 3 */
};
gbs_tile_instance gbs_cuda_tiles(gbs_type type, int64_t dim, int64_t blocks);
cudaError_t gbs_cuda_pack_tiles(gbs_type type, const gbs_sweep_args *args,
                                const gbs_tile_args *tiles, int backward, cudaStream_t stream);
size_t gbs_cuda_tiles_workspace(const gbs_sweep_spec *spec);
/* `kernel`: tiles or sums. */
gbs_status gbs_cuda_tiles_launch(const gbs_sweep_spec *spec, const gbs_cuda_launch *launch,
                                 gbs_cuda_kernel kernel, const gbs_sweep_args *args, int packed,
                                 char *message, size_t message_bytes);

#endif
