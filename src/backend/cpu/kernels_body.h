/* All CPU kernels of one instruction set, in its vocabulary.  The including file has chosen the
 * vocabulary and defines
 *   KERNEL_NAME(idea)  the name of a function: idea plus the instruction set
 *   WIDE_VECTORS, WIDE_ROWS, NARROW_ROWS  the shape of the sweep's register block. */
#include "backend/backend.h"
#include "rng/philox.h"
#include "rng/normal.h"

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

/* sweep_body.h four times: both types, both widths. */
#define T float
#define V vf
#define V_LANES VF_LANES
#define V_(operation) vf_##operation
#define VECTORS WIDE_VECTORS
#define ROWS WIDE_ROWS
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

#define KERNEL_STRING_(name) #name
#define KERNEL_STRING(name) KERNEL_STRING_(name)

const gbs_kernels KERNEL_NAME(gbs_kernels) = {
    {KERNEL_STRING(KERNEL_NAME(sweep_dense_f32)), KERNEL_STRING(KERNEL_NAME(sweep_dense_f64))},
    {{WIDE_VECTORS * VF_LANES, WIDE_ROWS, normals_wide_f32, KERNEL_NAME(sweep_dense_f32),
      solve_wide_f32},
     {WIDE_VECTORS * VD_LANES, WIDE_ROWS, normals_wide_f64, KERNEL_NAME(sweep_dense_f64),
      solve_wide_f64}},
    {{VF_LANES, NARROW_ROWS, normals_narrow_f32, KERNEL_NAME(sweep_dense_narrow_f32),
      solve_narrow_f32},
     {VD_LANES, NARROW_ROWS, normals_narrow_f64, KERNEL_NAME(sweep_dense_narrow_f64),
      solve_narrow_f64}},
};
