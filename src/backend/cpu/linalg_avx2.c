/* Linear algebra for AVX2 and FMA: a 4 x 12 tile fills the sixteen registers. */
#include <immintrin.h>

typedef __m256d vec;
#define WIDTH 4
#define ROWS 4
#define VECS 3
#define LOAD(p) _mm256_loadu_pd(p)
#define STORE(p, x) _mm256_storeu_pd(p, x)
#define SPREAD(x) _mm256_set1_pd(x)
#define FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define FNMA(a, b, c) _mm256_fnmadd_pd(a, b, c)
#define DIV(a, b) _mm256_div_pd(a, b)

#define KERNELS gbs_linalg_avx2
#define KERNELS_NAME "avx2"
#include "backend/cpu/linalg_body.h"
