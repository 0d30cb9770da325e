/* The constrained sweeps of one instruction set, in its vocabulary.  The including file has chosen
 * the vocabulary, with GBS_INLINE forced, and defines
 *   KERNELS             the name of the table
 *   KERNEL_ISA          the instruction set's name, as text
 *   WIDE_VECTORS        vectors in a wide block, as in kernels_body.h. */
#include "backend/constrained.h"
#include "rng/philox.h"
#include "rng/truncnorm.h"

#include <math.h>
#include <string.h>

#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#define NO_UNROLL _Pragma("nounroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#define NO_UNROLL _Pragma("GCC unroll 1")
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#include "backend/cpu/words_body.h"

#define T float
#define V vf
#define W vw
#define V_LANES VF_LANES
#define WORD_VECTORS V_HALVES
#define V_(operation) vf_##operation
#define TYPED(idea) idea##_f32
#include "backend/cpu/constrained_draw.h"
#define VECTORS WIDE_VECTORS
#define WIDTH (VECTORS * V_LANES)
#define SHAPE wide_f32
#include "backend/cpu/constrained_body.h"
#undef VECTORS
#undef SHAPE
#define VECTORS 1
#define SHAPE narrow_f32
#include "backend/cpu/constrained_body.h"
#undef VECTORS
#undef SHAPE
#undef T
#undef V
#undef W
#undef V_LANES
#undef WORD_VECTORS
#undef V_
#undef TYPED

#define T double
#define V vd
#define W vq
#define V_LANES VD_LANES
#define WORD_VECTORS 1
#define V_(operation) vd_##operation
#define TYPED(idea) idea##_f64
#include "backend/cpu/constrained_draw.h"
#define VECTORS WIDE_VECTORS
#define SHAPE wide_f64
#include "backend/cpu/constrained_body.h"
#undef VECTORS
#undef SHAPE
#define VECTORS 1
#define SHAPE narrow_f64
#include "backend/cpu/constrained_body.h"

const gbs_constrained_kernels KERNELS = {
    {"whitened_f32_" KERNEL_ISA, "whitened_f64_" KERNEL_ISA},
    {"sweep_rows_f32_" KERNEL_ISA, "sweep_rows_f64_" KERNEL_ISA},
    {{whitened_narrow_f32, whitened_wide_f32}, {whitened_narrow_f64, whitened_wide_f64}},
    {{sweep_narrow_f32, sweep_wide_f32}, {sweep_narrow_f64, sweep_wide_f64}},
    {{words_narrow_f32, words_wide_f32}, {words_narrow_f64, words_wide_f64}},
};
