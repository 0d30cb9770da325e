/* Exact draws: back substitution with the Cholesky factor's transpose, one thread per draw and
 * chain.  Eight rows at a time share each value loaded; a row's sum is in the canonical order, from
 * the last site down.  Then the mean is added in double. */
#ifndef GBS_CUDA_EXACT_SOLVE_CUH
#define GBS_CUDA_EXACT_SOLVE_CUH

#include "backend/cuda/coefficients.cuh"

#define SOLVE_ROWS 8

template <typename T> struct exact_args {
    int64_t dim, chains, draws;
    const T *factor;    /* [j, i]: -L_ji for i < j, L_ii */
    const double *mean; /* [D] */
    T *y;               /* [draws, D, B]: normals, then the solution */
    T *kept;            /* [draws, B, D], or NULL */
    T *state;           /* [B, D]: the last draw */
};

/* Rows low .. low + rows - 1 of one draw, given all later ones; y is that draw's, chain 0. */
template <typename T>
static __device__ __forceinline__ void solve_rows(const exact_args<T> &a, T *y, int64_t chain,
                                                  int64_t low, int rows, T r[SOLVE_ROWS])
{
#pragma unroll
    for (int k = 0; k < SOLVE_ROWS; ++k)
        r[k] = k < rows ? y[(low + k) * a.chains + chain] : T(0);
#pragma unroll 4
    for (int64_t j = a.dim - 1; j >= low + rows; --j) {
        const T value = y[j * a.chains + chain];
        const T *const row = a.factor + j * a.dim + low;
#pragma unroll
        for (int k = 0; k < SOLVE_ROWS; ++k) /* rows beyond the last are read and not used */
            r[k] = vocab_fma(row[k], value, r[k]);
    }
#pragma unroll
    for (int k = SOLVE_ROWS - 1; k >= 0; --k)
        if (k < rows) {
            const T *const row = a.factor + (low + k) * a.dim + low;
            r[k] = divided(r[k], row[k]);
            y[(low + k) * a.chains + chain] = r[k];
#pragma unroll
            for (int m = 0; m < k; ++m)
                r[m] = vocab_fma(row[m], r[k], r[m]);
        }
}

template <typename T> __global__ void exact_solve(const __grid_constant__ exact_args<T> a)
{
    const int64_t index = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= a.draws * a.chains)
        return;
    const int64_t draw = index / a.chains, chain = index % a.chains;
    T *const y = a.y + draw * a.dim * a.chains;
    for (int64_t top = a.dim; top > 0; top -= SOLVE_ROWS) {
        const int64_t low = top > SOLVE_ROWS ? top - SOLVE_ROWS : 0;
        const int rows = (int)(top - low);
        T r[SOLVE_ROWS];
        solve_rows(a, y, chain, low, rows, r);
#pragma unroll
        for (int k = 0; k < SOLVE_ROWS; ++k)
            if (k < rows) {
                const T x = (T)__dadd_rn(a.mean[low + k], (double)r[k]);
                if (a.kept != NULL)
                    a.kept[index * a.dim + low + k] = x;
                if (draw == a.draws - 1)
                    a.state[chain * a.dim + low + k] = x;
            }
    }
}

#endif
