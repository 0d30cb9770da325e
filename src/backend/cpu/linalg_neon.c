/* Linear algebra for NEON: a 4 x 12 tile keeps 24 of the 32 registers busy. */
#include <arm_neon.h>

typedef float64x2_t vec;
#define WIDTH 2
#define ROWS 4
#define VECS 6
#define LOAD(p) vld1q_f64(p)
#define STORE(p, x) vst1q_f64(p, x)
#define SPREAD(x) vdupq_n_f64(x)
#define FMA(a, b, c) vfmaq_f64(c, a, b)
#define FNMA(a, b, c) vfmsq_f64(c, a, b)
#define DIV(a, b) vdivq_f64(a, b)

#define KERNELS gbs_linalg_neon
#define KERNELS_NAME "neon"
#include "backend/cpu/linalg_body.h"
