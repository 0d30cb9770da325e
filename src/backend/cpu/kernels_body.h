/* All CPU kernels of one instruction set, in its vocabulary.  The including file has chosen the
 * vocabulary and defines
 *   KERNEL_NAME(idea)  the name of a function: idea plus the instruction set
 *   WIDE_VECTORS, WIDE_ROWS, NARROW_ROWS  the shape of the sweep's register block
 *   FEW_VECTORS_1, _2, ... _16  vectors of rows in a panel for that many chains. */
#include "backend/backend.h"
#include "rng/philox.h"
#include "rng/normal.h"

#include <math.h>
#include <string.h>

#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#include "backend/cpu/normals_body.h"

static void normals_wide_f32(const gbs_normals_job *job)
{
    normals_f32(job, WIDE_VECTORS);
}
static void normals_wide_f64(const gbs_normals_job *job)
{
    normals_f64(job, WIDE_VECTORS);
}
static void normals_narrow_f32(const gbs_normals_job *job)
{
    normals_f32(job, 1);
}
static void normals_narrow_f64(const gbs_normals_job *job)
{
    normals_f64(job, 1);
}

/* sweep_body.h four times: both types, both widths; in steps for the wide ones. */
#define T float
#define V vf
#define V_LANES VF_LANES
#define V_(operation) vf_##operation
#define VECTORS WIDE_VECTORS
#define ROWS WIDE_ROWS
#define TILE(step) KERNEL_NAME(tile_##step##_f32)
#define SWEEP KERNEL_NAME(sweep_dense_f32)
#define SOLVE solve_wide_f32
#include "backend/cpu/sweep_body.h"
#define VECTORS 1
#define ROWS NARROW_ROWS
#define SWEEP KERNEL_NAME(sweep_dense_narrow_f32)
#define SOLVE solve_narrow_f32
#include "backend/cpu/sweep_body.h"
#undef T
#undef V
#undef V_LANES
#undef V_

#define T double
#define V vd
#define V_LANES VD_LANES
#define V_(operation) vd_##operation
#define VECTORS WIDE_VECTORS
#define ROWS WIDE_ROWS
#define TILE(step) KERNEL_NAME(tile_##step##_f64)
#define SWEEP KERNEL_NAME(sweep_dense_f64)
#define SOLVE solve_wide_f64
#include "backend/cpu/sweep_body.h"
#define VECTORS 1
#define ROWS NARROW_ROWS
#define SWEEP KERNEL_NAME(sweep_dense_narrow_f64)
#define SOLVE solve_narrow_f64
#include "backend/cpu/sweep_body.h"
#undef T
#undef V
#undef V_LANES
#undef V_

/* few_body.h for 1, 2, 4, 8 and 16 chains of both types; FEW_VECTORS_n vectors of rows each. */
#define FEW_NAME_(idea, type, chains) KERNEL_NAME(few_##idea##_##type##_##chains)
#define FEW_NAME(idea, type, chains) FEW_NAME_(idea, type, chains)
#define FEW_KERNELS(type, lanes, n)                                                                \
    {                                                                                              \
        n, FEW_VECTORS_##n *lanes, FEW_NAME(begin, type, n), FEW_NAME(add, type, n),               \
            FEW_NAME(finish, type, n)                                                              \
    }
#define FEW_TABLE(type, lanes)                                                                     \
    {                                                                                              \
        FEW_KERNELS(type, lanes, 1), FEW_KERNELS(type, lanes, 2), FEW_KERNELS(type, lanes, 4),     \
            FEW_KERNELS(type, lanes, 8), FEW_KERNELS(type, lanes, 16)                              \
    }

/* Bytes ahead that coefficients are asked for: the processor's own prefetching stops at each page.
 */
enum { FEW_AHEAD = 4096 };

/* All bits in the lanes from n on, as FEW_MASK(n) gives them for n from 0 to the lanes of a vector.
 */
#define BITS_4(bits) bits, bits, bits, bits
#define BITS_16(bits) BITS_4(bits), BITS_4(bits), BITS_4(bits), BITS_4(bits)
static const uint32_t few_masks_f32[32] = {BITS_16(0), BITS_16(UINT32_MAX)};
static const uint64_t few_masks_f64[32] = {BITS_16(0), BITS_16(UINT64_MAX)};

#define T float
#define T_NAME f32
#define W vw
#define W_(operation) vw_##operation
#define FEW_MASK(lane) (few_masks_f32 + 16 - (lane))
#define V vf
#define V_LANES VF_LANES
#define V_(operation) vf_##operation
#define FMA fmaf
#include "backend/cpu/few_sizes.h"
#undef T
#undef T_NAME
#undef W
#undef W_
#undef FEW_MASK
#undef V
#undef V_LANES
#undef V_
#undef FMA

#define T double
#define T_NAME f64
#define W vq
#define W_(operation) vq_##operation
#define FEW_MASK(lane) (few_masks_f64 + 16 - (lane))
#define V vd
#define V_LANES VD_LANES
#define V_(operation) vd_##operation
#define FMA fma
#include "backend/cpu/few_sizes.h"

/* A panel of tiles: whole groups, about 128 rows. */
#define TILE_ROWS (128 / WIDE_ROWS * WIDE_ROWS)
#define TILE_KERNELS(type)                                                                         \
    {                                                                                              \
        TILE_ROWS, KERNEL_NAME(tile_begin_##type), KERNEL_NAME(tile_add_##type),                   \
            KERNEL_NAME(tile_finish_##type)                                                        \
    }

#define KERNEL_STRING_(name) #name
#define KERNEL_STRING(name) KERNEL_STRING_(name)

const gbs_kernels KERNEL_NAME(gbs_kernels) = {
    {KERNEL_STRING(KERNEL_NAME(sweep_dense_f32)), KERNEL_STRING(KERNEL_NAME(sweep_dense_f64))},
    {KERNEL_STRING(KERNEL_NAME(sweep_few_f32)), KERNEL_STRING(KERNEL_NAME(sweep_few_f64))},
    {KERNEL_STRING(KERNEL_NAME(sweep_tiles_f32)), KERNEL_STRING(KERNEL_NAME(sweep_tiles_f64))},
    {{WIDE_VECTORS * VF_LANES, WIDE_ROWS, normals_wide_f32, KERNEL_NAME(sweep_dense_f32),
      solve_wide_f32},
     {WIDE_VECTORS * VD_LANES, WIDE_ROWS, normals_wide_f64, KERNEL_NAME(sweep_dense_f64),
      solve_wide_f64}},
    {{VF_LANES, NARROW_ROWS, normals_narrow_f32, KERNEL_NAME(sweep_dense_narrow_f32),
      solve_narrow_f32},
     {VD_LANES, NARROW_ROWS, normals_narrow_f64, KERNEL_NAME(sweep_dense_narrow_f64),
      solve_narrow_f64}},
    {FEW_TABLE(f32, VF_LANES), FEW_TABLE(f64, VD_LANES)},
    {TILE_KERNELS(f32), TILE_KERNELS(f64)},
    &KERNEL_NAME(gbs_bounded),
};
