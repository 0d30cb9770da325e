/* Instances of sweep_tiles and of the packing of its coefficients. */
#include "backend/cuda/kernels.cuh"
#include "backend/cuda/tiles.cuh"

template <typename T, int ROWS> static gbs_tile_instance instance(int kind)
{
    const gbs_tile_kernel kernel =
        kind == GBS_STREAM_NATIVE  ? sweep_tiles<T, GBS_STREAM_NATIVE, ROWS>
        : kind == NATIVE_REPLAYED  ? sweep_tiles<T, NATIVE_REPLAYED, ROWS>
        : kind == GBS_STREAM_GIVEN ? sweep_tiles<T, GBS_STREAM_GIVEN, ROWS>
                                   : sweep_tiles<T, GBS_STREAM_TORCH_CUDA, ROWS>;
    return {kernel, ROWS, TILE_THREADS(T, ROWS), sizeof(tile_shared<T, ROWS>)};
}

gbs_tile_instance gbs_cuda_tiles(gbs_type type, int kind, int rows)
{
    if (type == GBS_F64)
        return instance<double, 128>(kind);
    return rows == 128 ? instance<float, 128>(kind) : instance<float, 256>(kind);
}

int gbs_cuda_tile_rows(gbs_type type, int64_t dim)
{
    return type == GBS_F64 || dim <= 384 ? 128 : 256;
}

cudaError_t gbs_cuda_pack_tiles(gbs_type type, const gbs_sweep_args *args,
                                const gbs_tile_args *tiles, int rows, void *packed, void *scale,
                                void *centre, int backward, cudaStream_t stream)
{
    const int64_t elements = tiles->padded_dim * tiles->padded_dim, threads = 256;
    const int64_t wanted = (elements + threads - 1) / threads;
    const dim3 grid((unsigned)(wanted < 4096 ? wanted : 4096), (unsigned)args->groups);
    if (type == GBS_F32)
        pack_tiles<float><<<grid, (unsigned)threads, 0, stream>>>(
            *args, *tiles, rows, (float *)packed, (float *)scale, (float *)centre, backward);
    else
        pack_tiles<double><<<grid, (unsigned)threads, 0, stream>>>(
            *args, *tiles, rows, (double *)packed, (double *)scale, (double *)centre, backward);
    return cudaGetLastError();
}
