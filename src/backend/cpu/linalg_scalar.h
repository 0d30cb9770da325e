/* The vocabulary of one double at a time, for the two scalar builds. */
typedef double vec;
#define WIDTH 1
#define ROWS 4
#define VECS 2
#define LOAD(p) (*(p))
#define STORE(p, x) (*(p) = (x))
#define SPREAD(x) (x)
#define FMA(a, b, c) __builtin_fma(a, b, c)
#define FNMA(a, b, c) __builtin_fma(-(a), b, c)
#define DIV(a, b) ((a) / (b))
