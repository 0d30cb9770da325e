/* Instances of sweep_tiles, and the packing of its coefficients. */
#include "backend/cuda/kernels.cuh"
#include "backend/cuda/panel_pack.cuh"
#include "backend/cuda/tiles.cuh"

template <typename T, int HALVES, int WARPS, int BLOCKS> static gbs_tile_instance instance(void)
{
    gbs_tile_instance of = {
        sweep_tiles<T, HALVES, WARPS, BLOCKS>, HALVES * WARPS * PANEL_SLAB, 32 * WARPS, {0}};
    for (int stages = 2; stages <= PANEL_STAGES; ++stages)
        of.shared_bytes[stages] = panel_shared_bytes<T, HALVES, WARPS>(stages);
    return of;
}

/* Up to this many blocks of threads a multiprocessor gets one or none: a panel with more warps than
 * it needs then leaves one of them nothing to do but finish groups. */
#define FEW_BLOCKS 128

/* The smallest panel that holds all places, or the largest there is. */
gbs_tile_instance gbs_cuda_tiles(gbs_type type, int64_t dim, int64_t blocks)
{
    const bool small = dim <= 256 && blocks > FEW_BLOCKS;
    if (type == GBS_F64)
        return small ? instance<double, 1, 4, 2>() : instance<double, 1, 8, 1>();
    return small        ? instance<float, 1, 4, 4>()
           : dim <= 512 ? instance<float, 1, 8, 2>()
                        : instance<float, 2, 8, 1>();
}

cudaError_t gbs_cuda_pack_tiles(gbs_type type, const gbs_sweep_args *args,
                                const gbs_tile_args *tiles, int backward, cudaStream_t stream)
{
    const unsigned columns =
        (unsigned)((tiles->groups * PANEL_GROUP + PACK_COLUMNS - 1) / PACK_COLUMNS);
    const dim3 grid(columns, (unsigned)(tiles->panels * (tiles->rows / PANEL_SLAB)),
                    (unsigned)args->groups);
    void *const packed = (void *)tiles->packed[backward];
    void *const records = (void *)tiles->records[backward];
    if (type == GBS_F32)
        pack_tiles<float><<<grid, PACK_THREADS, 0, stream>>>(*args, *tiles, (float *)packed,
                                                             (float *)records, backward);
    else
        pack_tiles<double><<<grid, PACK_THREADS, 0, stream>>>(*args, *tiles, (double *)packed,
                                                              (double *)records, backward);
    return cudaGetLastError();
}
