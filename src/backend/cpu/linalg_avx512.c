/* Linear algebra for AVX-512: an 8 x 24 tile keeps 24 of the 32 registers busy. */
#include <immintrin.h>

typedef __m512d vec;
#define WIDTH 8
#define ROWS 8
#define VECS 3
#define LOAD(p) _mm512_loadu_pd(p)
#define STORE(p, x) _mm512_storeu_pd(p, x)
#define SPREAD(x) _mm512_set1_pd(x)
#define FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define FNMA(a, b, c) _mm512_fnmadd_pd(a, b, c)
#define DIV(a, b) _mm512_div_pd(a, b)

#define KERNELS gbs_linalg_avx512
#define KERNELS_NAME "avx512"
#include "backend/cpu/linalg_body.h"
