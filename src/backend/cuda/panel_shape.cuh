/* How the kernel for many places (tiles.cuh) cuts its work.
 *
 * A block of threads owns 32 chains.  Places are counted in the order of visit, as slots; eight
 * slots are a group, eight groups a slab, and up to HALVES * WARPS slabs a panel, whose sums stay
 * in registers: each warp owns HALVES slabs, each four lanes a group, each lane 8 rows x 8 chains
 * of it.  Columns arrive a group at a time, with what finishing a group needs: its record.
 *
 * A backward pass counts from the end of the last group, so that four places which share a Philox
 * call are four slots in a row either way; padding then comes first.  Padding rows and columns
 * hold A = -0 and x = +0, which change no sum. */
#ifndef GBS_CUDA_PANEL_SHAPE_CUH
#define GBS_CUDA_PANEL_SHAPE_CUH

#include "backend/cuda/coefficients.cuh"

#define PANEL_CHAINS 32
#define PANEL_GROUP 8
#define PANEL_SLAB 64
#define PANEL_STAGES 3 /* of columns in flight; two where shared memory is small */

/* A group's record: its own coefficients as [column][row], then s and c of its rows. */
#define RECORD_SCALE 64
#define RECORD_CENTRE 72
#define PANEL_RECORD 80

struct gbs_tile_args {
    const void *packed[2];  /* by direction: [panel][column slot][row, see slab_index] */
    const void *records[2]; /* by direction: [group][PANEL_RECORD] */
    void *state;            /* [chain block][place][32] */
    int64_t packed_group_stride, record_group_stride; /* of groups of models, in elements */
    int32_t rows, panels; /* rows of a panel, a multiple of PANEL_SLAB; `stride` in memory */
    int32_t stride;
    int32_t groups; /* of eight slots */
    int32_t stages;
};

/* What one load or store of 16 bytes carries. */
template <typename T> struct alignas(16) panel_unit {
    static constexpr int width = 16 / sizeof(T);
    T v[16 / sizeof(T)];
};

template <typename T, int HALVES, int WARPS> struct panel_stage {
    T a[PANEL_GROUP][HALVES * WARPS * PANEL_SLAB];
    T x[PANEL_GROUP][PANEL_CHAINS];
    T record[PANEL_RECORD];
};

template <typename T, int HALVES, int WARPS> struct panel_shared {
    T x[2][PANEL_GROUP][PANEL_CHAINS];      /* a group's final values, by parity of the step */
    T handed[2][PANEL_GROUP][PANEL_CHAINS]; /* a group's sums, to be finished */
    T next[2][PANEL_GROUP][PANEL_CHAINS];   /* its next sums, to go on with */
    T z[2][PANEL_SLAB][PANEL_CHAINS];       /* normals of the next sums of eight groups */
    panel_stage<T, HALVES, WARPS> stage[1]; /* and so on */
};

template <typename T, int HALVES, int WARPS> static constexpr size_t panel_shared_bytes(int stages)
{
    return sizeof(panel_shared<T, HALVES, WARPS>) +
           (size_t)(stages - 1) * sizeof(panel_stage<T, HALVES, WARPS>);
}

/* The storage place of a slot, and back. */
static __host__ __device__ __forceinline__ int panel_place(int slot, int slots, bool backward)
{
    return backward ? slots - 1 - slot : slot;
}

/* Where row k of the g-th group of a slab lies within the slab's column: the same 16 bytes of all
 * groups side by side, so that a warp's load is one run of 128 bytes. */
template <typename T> static __device__ __forceinline__ int slab_index(int group, int k)
{
    constexpr int width = panel_unit<T>::width;
    return k / width * (PANEL_GROUP * width) + group * width + k % width;
}

/* Slabs go to warps so that, of the rows beyond any point of the panel, each scheduler (warps
 * alike modulo 4) owns about a quarter: 0 1 2 3 7 6 5 4, and second halves the reverse. */
static __device__ __forceinline__ int snake(int number)
{
    return number & 4 ? number ^ 3 : number;
}

template <int WARPS> static __device__ __forceinline__ int slab_of(int warp, int half)
{
    return half == 0 ? snake(warp) : 2 * WARPS - 1 - snake(warp);
}

template <int WARPS> static __device__ __forceinline__ int half_of_slab(int slab)
{
    return slab >= WARPS;
}

template <int WARPS> static __device__ __forceinline__ int warp_of_slab(int slab)
{
    return snake(slab >= WARPS ? 2 * WARPS - 1 - slab : slab);
}

/* Eight numbers as 16-byte units that lie `step` elements apart. */
template <typename T>
static __device__ __forceinline__ void load_eight(const T *from, int step, T to[8])
{
    constexpr int width = panel_unit<T>::width;
#pragma unroll
    for (int j = 0; j < 8 / width; ++j) {
        const panel_unit<T> unit = *(const panel_unit<T> *)(from + j * step);
#pragma unroll
        for (int m = 0; m < width; ++m)
            to[j * width + m] = unit.v[m];
    }
}

template <typename T>
static __device__ __forceinline__ void store_eight(T *to, int step, const T from[8])
{
    constexpr int width = panel_unit<T>::width;
#pragma unroll
    for (int j = 0; j < 8 / width; ++j) {
        panel_unit<T> unit;
#pragma unroll
        for (int m = 0; m < width; ++m)
            unit.v[m] = from[j * width + m];
        *(panel_unit<T> *)(to + j * step) = unit;
    }
}

/* A lane's eight chains of a row of 32: 16 bytes of each half or quarter of the row. */
template <typename T> static __device__ __forceinline__ int chain_index(int lane)
{
    return lane % 4 * panel_unit<T>::width;
}
#define CHAIN_STEP(T) (4 * panel_unit<T>::width)
#define ROW_STEP(T) (PANEL_GROUP * panel_unit<T>::width)

/* The same number, known to be alike in the warp, by way of a shuffle, which compilers do not move:
 * what follows from it stays in the branch that few warps take. */
static __device__ __forceinline__ int opaque(int value)
{
#ifdef __CUDA_ARCH__
    return __shfl_sync(0xFFFFFFFFu, value, 0);
#else
    return value;
#endif
}

#endif
