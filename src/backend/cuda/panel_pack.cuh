/* Coefficients for the kernel for many places: one block of threads turns 64 rows x 32 columns of
 * the precision into the order in which sweep_tiles reads them, through shared memory, so that
 * both sides are read and written in runs. */
#ifndef GBS_CUDA_PANEL_PACK_CUH
#define GBS_CUDA_PANEL_PACK_CUH

#include "backend/cuda/panel_shape.cuh"

#define PACK_COLUMNS 32
#define PACK_THREADS 256

/* A of two slots; -0 on the diagonal and in padding. */
template <typename T>
static __device__ __forceinline__ T slot_coefficient(const gbs_sweep_args &a, const T *precision,
                                                     int row, int column, int slots, bool backward)
{
    const int p = panel_place(row, slots, backward), q = panel_place(column, slots, backward);
    if (row >= slots || column >= slots || p >= (int)a.dim || q >= (int)a.dim || p == q)
        return T(-0.0);
    const T *const from = precision + p * a.precision_row_stride;
    return raw_coefficient(a, from[q], from[p]);
}

template <typename T>
static __device__ __forceinline__ T record_entry(const gbs_sweep_args &a, const T *precision,
                                                 const T *location, int group, int entry, int slots,
                                                 bool backward)
{
    const int first = group * PANEL_GROUP;
    if (entry < RECORD_SCALE)
        return slot_coefficient(a, precision, first + entry % PANEL_GROUP,
                                first + entry / PANEL_GROUP, slots, backward);
    const int p = panel_place(first + entry % PANEL_GROUP, slots, backward);
    if (p >= (int)a.dim)
        return T(0);
    const T *const row = precision + p * a.precision_row_stride;
    return entry < RECORD_CENTRE ? row_scale(a, row[p], p) : row_centre(a, row, location, p);
}

/* grid: (columns / 32, slabs of all panels, groups of models) */
template <typename T>
__global__ void __launch_bounds__(PACK_THREADS)
    pack_tiles(const __grid_constant__ gbs_sweep_args a, const __grid_constant__ gbs_tile_args t,
               T *packed, T *records, int backward)
{
    __shared__ T tile[PACK_COLUMNS][PANEL_SLAB + 1];
    const int slots = t.groups * PANEL_GROUP;
    const int column = blockIdx.x * PACK_COLUMNS, row = blockIdx.y * PANEL_SLAB;
    const int64_t model = blockIdx.z;
    const T *const precision = (const T *)a.precision + model * a.precision_group_stride;
    const T *const location = (const T *)a.location + model * a.location_group_stride;
    const int k = threadIdx.x % PACK_COLUMNS;
#pragma unroll 4
    for (int m = threadIdx.x / PACK_COLUMNS; m < PANEL_SLAB; m += PACK_THREADS / PACK_COLUMNS)
        tile[k][slab_index<T>(m / PANEL_GROUP, m % PANEL_GROUP)] =
            slot_coefficient(a, precision, row + m, column + k, slots, backward != 0);
    __syncthreads();
    T *const to = packed + model * t.packed_group_stride +
                  (int64_t)(row / t.rows) * slots * t.stride + row % t.rows;
    const int index = threadIdx.x % PANEL_SLAB;
#pragma unroll 4
    for (int c = threadIdx.x / PANEL_SLAB; c < PACK_COLUMNS; c += PACK_THREADS / PANEL_SLAB)
        if (column + c < slots)
            to[(int64_t)(column + c) * t.stride + index] = tile[c][index];
    if (blockIdx.x == 0) {
        T *const out = records + model * t.record_group_stride;
        for (int item = threadIdx.x; item < PANEL_GROUP * PANEL_RECORD; item += PACK_THREADS) {
            const int group = row / PANEL_GROUP + item / PANEL_RECORD;
            if (group < t.groups)
                out[(int64_t)group * PANEL_RECORD + item % PANEL_RECORD] = record_entry(
                    a, precision, location, group, item % PANEL_RECORD, slots, backward != 0);
        }
    }
}

#endif
