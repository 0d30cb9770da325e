/* State in shared memory: for many chains of middling size.  A thread owns CHAINS chains whose
 * values sit side by side, so one wide load brings a place's value for all of them; it takes
 * eight rows at a time, whose coefficients come as broadcasts.  8 x 4 sums for 8 + 4 loaded
 * numbers keep the load unit below the arithmetic.  Loops are rolled, so any size up to what
 * shared memory holds runs the same small code.
 *
 * Native stream and storage order only, so that four places share a Philox call.
 * Padding rows and columns (up to a multiple of eight) hold A = -0 and x = +0. */
#ifndef GBS_CUDA_SHARED_CUH
#define GBS_CUDA_SHARED_CUH

#include "backend/cuda/coefficients.cuh"
#include "backend/cuda/device_noise.cuh"

#define SHARED_ROWS 8

template <typename T, int CHAINS> struct alignas(CHAINS * sizeof(T)) chain_values {
    T v[CHAINS];
};

/* One place's value for all chains of a thread, with one column's eight coefficients. */
template <typename T, int CHAINS>
static __device__ __forceinline__ void shared_column(const T *a_column, const T *x_row,
                                                     T r[SHARED_ROWS][CHAINS])
{
    const quad<T> low = *(const quad<T> *)a_column, high = *(const quad<T> *)(a_column + 4);
    const chain_values<T, CHAINS> x = *(const chain_values<T, CHAINS> *)x_row;
#pragma unroll
    for (int k = 0; k < 4; ++k)
#pragma unroll
        for (int c = 0; c < CHAINS; ++c) {
            r[k][c] = vocab_fma(low.v[k], x.v[c], r[k][c]);
            r[4 + k][c] = vocab_fma(high.v[k], x.v[c], r[4 + k][c]);
        }
}

/* `groups` groups of columns from place `first` on, in the direction of the pass. */
template <typename T, int CHAINS, int DIRECTION>
static __device__ __forceinline__ void shared_columns(const T *a_group, const T *x, int rows,
                                                      int x_stride, int first, int groups,
                                                      T r[SHARED_ROWS][CHAINS])
{
    const T *a_column = a_group + first * rows;
    const T *x_row = x + first * x_stride;
#pragma unroll 1
    for (int g = 0; g < groups; ++g) {
#pragma unroll
        for (int k = 0; k < SHARED_ROWS; ++k)
            shared_column<T, CHAINS>(a_column + DIRECTION * k * rows,
                                     x_row + DIRECTION * k * x_stride, r);
        a_column += DIRECTION * SHARED_ROWS * rows;
        x_row += DIRECTION * SHARED_ROWS * x_stride;
    }
}

template <typename T, int CHAINS, int DIRECTION>
static __device__ __forceinline__ void
shared_group(const gbs_sweep_args &a, const T *at, const T *scale, int rows,
             const gbs_philox_key &key, const gbs_philox_fixed fixed[CHAINS], int g, T *x,
             int x_stride)
{
    const T *const centre = scale + rows, *const diagonal = centre + rows;
    const int base = g * SHARED_ROWS;
    const T *const a_group = at + base;
    T r[SHARED_ROWS][CHAINS];
#pragma unroll
    for (int half = 0; half < SHARED_ROWS; half += 4) {
        const quad<T> s = *(const quad<T> *)(scale + base + half),
                      t = *(const quad<T> *)(centre + base + half);
#pragma unroll
        for (int c = 0; c < CHAINS; ++c) {
            T z[4];
            native_group(key, fixed[c], (uint32_t)(base + half) / 4, z);
#pragma unroll
            for (int k = 0; k < 4; ++k)
                r[half + k][c] = vocab_fma(s.v[k], z[k], t.v[k]);
        }
    }
    if (a.relaxed) {
#pragma unroll
        for (int k = 0; k < SHARED_ROWS; ++k) {
            const chain_values<T, CHAINS> mine =
                *(const chain_values<T, CHAINS> *)(x + (base + k) * x_stride);
#pragma unroll
            for (int c = 0; c < CHAINS; ++c)
                r[k][c] = vocab_fma(diagonal[base + k], mine.v[c], r[k][c]);
        }
    }
    /* the group's own old values: column j goes to the rows before it */
#pragma unroll
    for (int j = 1; j < SHARED_ROWS; ++j) {
        const int q = turned<DIRECTION>(j, SHARED_ROWS - 1);
        const chain_values<T, CHAINS> old =
            *(const chain_values<T, CHAINS> *)(x + (base + q) * x_stride);
        const quad<T> low = *(const quad<T> *)(a_group + (base + q) * rows),
                      high = *(const quad<T> *)(a_group + (base + q) * rows + 4);
#pragma unroll
        for (int i = 0; i < j; ++i) {
            const int k = turned<DIRECTION>(i, SHARED_ROWS - 1);
            const T coefficient = k < 4 ? low.v[k % 4] : high.v[k % 4];
#pragma unroll
            for (int c = 0; c < CHAINS; ++c)
                r[k][c] = vocab_fma(coefficient, old.v[c], r[k][c]);
        }
    }
    const int before = g, after = rows / SHARED_ROWS - 1 - g; /* groups of places */
    if (DIRECTION > 0) {
        shared_columns<T, CHAINS, 1>(a_group, x, rows, x_stride, base + SHARED_ROWS, after, r);
        shared_columns<T, CHAINS, 1>(a_group, x, rows, x_stride, 0, before, r);
    } else {
        shared_columns<T, CHAINS, -1>(a_group, x, rows, x_stride, base - 1, before, r);
        shared_columns<T, CHAINS, -1>(a_group, x, rows, x_stride, rows - 1, after, r);
    }
#pragma unroll
    for (int i = 0; i < SHARED_ROWS - 1; ++i) {
        const int q = turned<DIRECTION>(i, SHARED_ROWS - 1);
        const quad<T> low = *(const quad<T> *)(a_group + (base + q) * rows),
                      high = *(const quad<T> *)(a_group + (base + q) * rows + 4);
#pragma unroll
        for (int j = i + 1; j < SHARED_ROWS; ++j) {
            const int k = turned<DIRECTION>(j, SHARED_ROWS - 1);
            const T coefficient = k < 4 ? low.v[k % 4] : high.v[k % 4];
#pragma unroll
            for (int c = 0; c < CHAINS; ++c)
                r[k][c] = vocab_fma(coefficient, r[q][c], r[k][c]);
        }
    }
    if (base + SHARED_ROWS > a.dim) { /* padding stays +0, whatever the chain holds */
#pragma unroll
        for (int k = 0; k < SHARED_ROWS; ++k)
#pragma unroll
            for (int c = 0; c < CHAINS; ++c)
                r[k][c] = base + k < a.dim ? r[k][c] : T(0);
    }
#pragma unroll
    for (int k = 0; k < SHARED_ROWS; ++k) {
        chain_values<T, CHAINS> done;
#pragma unroll
        for (int c = 0; c < CHAINS; ++c)
            done.v[c] = r[k][c];
        *(chain_values<T, CHAINS> *)(x + (base + k) * x_stride) = done;
    }
}

/* Shared memory: coefficients [rows][rows], three vectors, state [rows][threads * CHAINS + pad].
 * ROWS: the padded dim where it is known, which saves address arithmetic; else 0. */
template <typename T, int CHAINS, int THREADS, int ROWS>
__global__ void __launch_bounds__(THREADS, ROWS == 32 ? 7 : 1)
    sweep_shared(const __grid_constant__ gbs_sweep_args a)
{
    extern __shared__ __align__(32) unsigned char shared_bytes[];
    const int rows = ROWS > 0 ? ROWS : (int)((a.dim + SHARED_ROWS - 1) / SHARED_ROWS * SHARED_ROWS);
    constexpr int per_block = THREADS * CHAINS, x_stride = per_block + 4;
    T *const at = (T *)shared_bytes;
    T *const scale = at + rows * rows, *const states = scale + 3 * rows + (rows & 4);
    T *const x = states + threadIdx.x * CHAINS;
    int64_t group, first;
    find_group(a, per_block, &group, &first);
    const T *const from = (const T *)a.x + group * a.x_stride[0];
    for (int index = threadIdx.x; index < per_block * rows; index += THREADS) {
        const int chain = index / rows, p = index % rows;
        T value = T(0);
        if (p < a.dim && first + chain < a.chains)
            value = from[(first + chain) * a.x_stride[1] + p * a.x_stride[2]];
        states[p * x_stride + chain] = value;
    }
    make_coefficients<T>(a, group, rows, rows, at, scale, scale + rows, scale + 2 * rows);
    const gbs_philox_key &key = native_key(a.noise);
    int64_t e[CHAINS];
#pragma unroll
    for (int c = 0; c < CHAINS; ++c)
        e[c] = group * a.chains + first + threadIdx.x * CHAINS + c;
    __syncthreads();

    for (int64_t sweep = 0; sweep < a.sweeps; ++sweep) {
        for (int half = 0; half < a.passes; ++half) {
            const int64_t pass = sweep * a.passes + half;
            gbs_philox_fixed fixed[CHAINS];
#pragma unroll
            for (int c = 0; c < CHAINS; ++c)
                fixed[c] = native_pass(key, a.noise.first_chain + (uint64_t)e[c],
                                       a.noise.first_pass + (uint64_t)pass, a.noise.purpose);
            if ((half == 0) == (a.first_direction < 0)) {
#pragma unroll 1
                for (int g = rows / SHARED_ROWS - 1; g >= 0; --g)
                    shared_group<T, CHAINS, -1>(a, at, scale, rows, key, fixed, g, x, x_stride);
            } else {
#pragma unroll 1
                for (int g = 0; g < rows / SHARED_ROWS; ++g)
                    shared_group<T, CHAINS, 1>(a, at, scale, rows, key, fixed, g, x, x_stride);
            }
        }
        if (a.keep_every > 0 && (sweep + 1) % a.keep_every == 0) {
#pragma unroll
            for (int c = 0; c < CHAINS; ++c)
                if (first + threadIdx.x * CHAINS + c < a.chains) {
                    T *const kept =
                        (T *)a.kept +
                        (((sweep + 1) / a.keep_every - 1) * a.groups * a.chains + e[c]) * a.dim;
                    for (int p = 0; p < a.dim; ++p)
                        kept[p] = x[p * x_stride + c];
                }
        }
    }
    __syncthreads();
    T *const to = (T *)a.out + group * a.out_stride[0];
    for (int index = threadIdx.x; index < per_block * rows; index += THREADS) {
        const int chain = index / rows, p = index % rows;
        if (p < a.dim && first + chain < a.chains)
            to[(first + chain) * a.out_stride[1] + p * a.out_stride[2]] =
                states[p * x_stride + chain];
    }
}

template <typename T, int CHAINS, int THREADS> static size_t shared_kernel_bytes(int64_t dim)
{
    const size_t rows = (size_t)((dim + SHARED_ROWS - 1) / SHARED_ROWS * SHARED_ROWS);
    return sizeof(T) *
           (rows * rows + 3 * rows + (rows & 4) + rows * (size_t)(THREADS * CHAINS + 4));
}

#endif
