/* The sums of all rows in registers: for many chains of middling size.  A warp owns eight rows of
 * all the block's chains, a lane 8 x CHAINS sums.  New values appear eight at a time, go to shared
 * memory, and every warp adds what they contribute to its rows: to those that come later as new
 * values of this sweep, to those that came before as old values of the next.  So each row meets
 * its columns in the order of the contract, and a value is loaded once for 8 rows, a coefficient
 * once for CHAINS chains.
 *
 * A step is about group g's values.  In it the warp that owns them starts its rows' next sums, the
 * one that owns the next group adds them and finishes that group's rows, the others add them, and
 * all make the normals that the next step starts with.  One barrier a step.  Sweep -1 brings the
 * old values from memory.
 *
 * Native stream, one direction.  Padding rows and columns (up to a multiple of eight) hold A = -0
 * and x = +0. */
#ifndef GBS_CUDA_SUMS_CUH
#define GBS_CUDA_SUMS_CUH

#include "backend/cuda/coefficients.cuh"
#include "backend/cuda/device_noise.cuh"

#define SUMS_ROWS 8
#define SUMS_MOST_WARPS 16

/* Chains of a lane come in pieces of 16 bytes, a piece of all lanes side by side, so that neither
 * loads nor stores of a row collide. */
template <typename T, int CHAINS> struct sums_shape {
    static constexpr int piece = 16 / (int)sizeof(T);
    static constexpr int pieces = CHAINS / piece;
    static constexpr int chains = 32 * CHAINS; /* of a block */
    static constexpr int stride = chains + 4;  /* of a row of values or normals */
    static constexpr int buffer = SUMS_ROWS * stride;
};

template <typename T> struct alignas(16) sums_piece {
    T v[16 / sizeof(T)];
};

/* A row's values of a lane's chains; `row` is the lane's first. */
template <typename T, int CHAINS>
static __device__ __forceinline__ void sums_load(const T *row, T to[CHAINS])
{
    typedef sums_shape<T, CHAINS> shape;
#pragma unroll
    for (int p = 0; p < shape::pieces; ++p) {
        const sums_piece<T> piece = *(const sums_piece<T> *)(row + p * 32 * shape::piece);
#pragma unroll
        for (int m = 0; m < shape::piece; ++m)
            to[p * shape::piece + m] = piece.v[m];
    }
}

template <typename T, int CHAINS>
static __device__ __forceinline__ void sums_store(T *row, const T from[CHAINS])
{
    typedef sums_shape<T, CHAINS> shape;
#pragma unroll
    for (int p = 0; p < shape::pieces; ++p) {
        sums_piece<T> piece;
#pragma unroll
        for (int m = 0; m < shape::piece; ++m)
            piece.v[m] = from[p * shape::piece + m];
        *(sums_piece<T> *)(row + p * 32 * shape::piece) = piece;
    }
}

/* Eight coefficients of a column. */
template <typename T>
static __device__ __forceinline__ void sums_column(const T *from, T to[SUMS_ROWS])
{
    const quad<T> low = *(const quad<T> *)from, high = *(const quad<T> *)(from + 4);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        to[k] = low.v[k];
        to[4 + k] = high.v[k];
    }
}

/* What a group's values contribute; `at` is its first column at the warp's first row. */
template <typename T, int CHAINS, int DIRECTION>
static __device__ __forceinline__ void sums_add(const T *at, int rows, const T *values,
                                                T r[SUMS_ROWS][CHAINS])
{
#pragma unroll
    for (int j = 0; j < SUMS_ROWS; ++j) {
        const int q = turned<DIRECTION>(j, SUMS_ROWS - 1);
        T a[SUMS_ROWS], x[CHAINS];
        sums_column(at + q * rows, a);
        sums_load<T, CHAINS>(values + q * sums_shape<T, CHAINS>::stride, x);
#pragma unroll
        for (int k = 0; k < SUMS_ROWS; ++k)
#pragma unroll
            for (int c = 0; c < CHAINS; ++c)
                r[k][c] = vocab_fma(a[k], x[c], r[k][c]);
    }
}

/* The warp's own rows, all other columns added, become values.  `at` is the diagonal block. */
template <typename T, int CHAINS, int DIRECTION>
static __device__ __forceinline__ void sums_finish(const T *at, int rows, int left, T *values,
                                                   T r[SUMS_ROWS][CHAINS])
{
#pragma unroll
    for (int i = 0; i < SUMS_ROWS - 1; ++i) {
        const int q = turned<DIRECTION>(i, SUMS_ROWS - 1);
        T a[SUMS_ROWS];
        sums_column(at + q * rows, a);
#pragma unroll
        for (int j = i + 1; j < SUMS_ROWS; ++j) {
            const int k = turned<DIRECTION>(j, SUMS_ROWS - 1);
#pragma unroll
            for (int c = 0; c < CHAINS; ++c)
                r[k][c] = vocab_fma(a[k], r[q][c], r[k][c]);
        }
    }
    if (left < SUMS_ROWS) { /* padding stays +0, whatever the chain holds */
#pragma unroll
        for (int k = 0; k < SUMS_ROWS; ++k)
#pragma unroll
            for (int c = 0; c < CHAINS; ++c)
                r[k][c] = k < left ? r[k][c] : T(0);
    }
#pragma unroll
    for (int k = 0; k < SUMS_ROWS; ++k)
        sums_store<T, CHAINS>(values + k * sums_shape<T, CHAINS>::stride, r[k]);
}

/* The own rows' sums of the next sweep as far as their own group goes.  `vectors` are the rows'
 * scales, with centres and diagonals `rows` and 2 `rows` further. */
template <typename T, int CHAINS, int DIRECTION>
static __device__ __forceinline__ void sums_start(const T *at, int rows, const T *vectors,
                                                  bool relaxed, const T *normals, const T *values,
                                                  T r[SUMS_ROWS][CHAINS])
{
    constexpr int stride = sums_shape<T, CHAINS>::stride;
#pragma unroll
    for (int k = 0; k < SUMS_ROWS; ++k) {
        T z[CHAINS];
        sums_load<T, CHAINS>(normals + k * stride, z);
#pragma unroll
        for (int c = 0; c < CHAINS; ++c)
            r[k][c] = vocab_fma(vectors[k], z[c], vectors[rows + k]);
    }
    if (relaxed) {
#pragma unroll
        for (int k = 0; k < SUMS_ROWS; ++k) {
            T mine[CHAINS];
            sums_load<T, CHAINS>(values + k * stride, mine);
#pragma unroll
            for (int c = 0; c < CHAINS; ++c)
                r[k][c] = vocab_fma(vectors[2 * rows + k], mine[c], r[k][c]);
        }
    }
#pragma unroll
    for (int j = 1; j < SUMS_ROWS; ++j) {
        const int q = turned<DIRECTION>(j, SUMS_ROWS - 1);
        T a[SUMS_ROWS], old[CHAINS];
        sums_column(at + q * rows, a);
        sums_load<T, CHAINS>(values + q * stride, old);
#pragma unroll
        for (int i = 0; i < j; ++i) {
            const int k = turned<DIRECTION>(i, SUMS_ROWS - 1);
#pragma unroll
            for (int c = 0; c < CHAINS; ++c)
                r[k][c] = vocab_fma(a[k], old[c], r[k][c]);
        }
    }
}

/* A group's normals of a pass, by all warps.  A warp makes those of four places and 32 chains at a
 * time.  `turn` is how far from the warp that starts sums it is, against the direction: that one
 * has time for most, and the last, which finishes rows, for none. */
template <typename T, int CHAINS>
static __device__ __forceinline__ void sums_normals(const gbs_sweep_args &a, int64_t first_element,
                                                    int g, int64_t sweep, int turn, T *to)
{
    typedef sums_shape<T, CHAINS> shape;
    const gbs_philox_key &key = native_key(a.noise);
    const int last = (int)blockDim.x / 32 - 1, makers = last > 0 ? last : 1;
#pragma unroll 1
    for (int job = turn < makers ? turn : 2 * CHAINS; job < 2 * CHAINS; job += makers) {
        const int half = job / CHAINS, chain = job % CHAINS * 32 + (int)threadIdx.x % 32;
        const gbs_philox_fixed fixed =
            native_pass(key, a.noise.first_chain + (uint64_t)(first_element + chain),
                        a.noise.first_pass + (uint64_t)sweep, a.noise.purpose);
        T z[4];
        native_group(key, fixed, (uint32_t)(2 * g + half), z);
#pragma unroll
        for (int k = 0; k < 4; ++k)
            to[(4 * half + k) * shape::stride + chain] = z[k];
    }
}

/* A group's values from or to memory, by all threads: eight places of a chain lie together. */
template <typename T, int CHAINS>
static __device__ __forceinline__ void sums_fetch(const gbs_sweep_args &a, const T *from, int base,
                                                  int64_t first, T *values)
{
    typedef sums_shape<T, CHAINS> shape;
#pragma unroll 1
    for (int index = (int)threadIdx.x; index < SUMS_ROWS * shape::chains;
         index += (int)blockDim.x) {
        const int chain = index / SUMS_ROWS, k = index % SUMS_ROWS;
        T value = T(0);
        if (base + k < a.dim && first + chain < a.chains)
            value = from[(first + chain) * a.x_stride[1] + (base + k) * a.x_stride[2]];
        values[k * shape::stride + chain] = value;
    }
}

template <typename T, int CHAINS>
static __device__ __forceinline__ void sums_put(const gbs_sweep_args &a, const T *values, int base,
                                                int64_t first, T *to, int64_t chain_stride,
                                                int64_t place_stride)
{
    typedef sums_shape<T, CHAINS> shape;
#pragma unroll 1
    for (int index = (int)threadIdx.x; index < SUMS_ROWS * shape::chains;
         index += (int)blockDim.x) {
        const int chain = index / SUMS_ROWS, k = index % SUMS_ROWS;
        if (base + k < a.dim && first + chain < a.chains)
            to[(first + chain) * chain_stride + (base + k) * place_stride] =
                values[k * shape::stride + chain];
    }
}

/* Shared memory: coefficients [rows][rows], three vectors [rows], two buffers of values and two of
 * normals.  As many warps as groups of eight rows. */
template <typename T, int CHAINS, int DIRECTION>
__global__ void __launch_bounds__(32 * SUMS_MOST_WARPS, 1)
    sweep_sums(const __grid_constant__ gbs_sweep_args a)
{
    typedef sums_shape<T, CHAINS> shape;
    extern __shared__ __align__(32) unsigned char shared_bytes[];
    const int groups = (int)blockDim.x / 32, rows = groups * SUMS_ROWS;
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    T *const at = (T *)shared_bytes, *const vectors = at + rows * rows;
    T *const values = vectors + 3 * rows, *const normals = values + 2 * shape::buffer;
    int64_t group, first;
    find_group(a, shape::chains, &group, &first);
    const T *const from = (const T *)a.x + group * a.x_stride[0];
    T *const out = (T *)a.out + group * a.out_stride[0];
    const int64_t first_element = group * a.chains + first;
    const int64_t kept_stride = a.groups * a.chains * a.dim;
    make_coefficients<T>(a, group, rows, rows, at, vectors, vectors + rows, vectors + 2 * rows);

    const int g_first = turned<DIRECTION>(0, groups - 1), g_last = groups - 1 - g_first;
    const int base = warp * SUMS_ROWS, mine = lane * shape::piece;
    const T *const at_own = at + base * rows + base;
    T r[SUMS_ROWS][CHAINS] = {};
    sums_fetch<T, CHAINS>(a, from, g_first * SUMS_ROWS, first, values);
    sums_normals<T, CHAINS>(a, first_element, g_first, 0, warp, normals);
    int g = g_first, buffer = 0;
    int64_t sweep = -1;
#pragma unroll 1
    for (;;) {
        __syncthreads();
        const T *const now = values + buffer * shape::buffer, *const now_normals =
                                                                  normals + buffer * shape::buffer;
        buffer = 1 - buffer;
        T *const next = values + buffer * shape::buffer;
        const int g_next = g == g_last ? g_first : g + DIRECTION;
        const int64_t sweep_next = g == g_last ? sweep + 1 : sweep;
        const int ahead = DIRECTION > 0 ? g - warp : warp - g,
                  turn = ahead < 0 ? ahead + groups : ahead;
        const bool visited = DIRECTION > 0 ? warp < g : warp > g;

        if (warp == g) {
            if (sweep + 1 < a.sweeps)
                sums_start<T, CHAINS, DIRECTION>(at_own, rows, vectors + base, a.relaxed != 0,
                                                 now_normals + mine, now + mine, r);
        } else if (visited ? sweep + 1 < a.sweeps : sweep >= 0) {
            sums_add<T, CHAINS, DIRECTION>(at + g * SUMS_ROWS * rows + base, rows, now + mine, r);
        }
        if (sweep_next < 0)
            sums_fetch<T, CHAINS>(a, from, g_next * SUMS_ROWS, first, next);
        else if (warp == g_next && sweep_next < a.sweeps)
            sums_finish<T, CHAINS, DIRECTION>(at_own, rows, (int)a.dim - base, next + mine, r);
        if (sweep_next + 1 < a.sweeps)
            sums_normals<T, CHAINS>(a, first_element, g_next, sweep_next + 1, turn,
                                    normals + buffer * shape::buffer);

        if (a.keep_every > 0 && sweep >= 0 && (sweep + 1) % a.keep_every == 0)
            sums_put<T, CHAINS>(a, now, g * SUMS_ROWS, first,
                                (T *)a.kept + ((sweep + 1) / a.keep_every - 1) * kept_stride +
                                    group * a.chains * a.dim,
                                a.dim, 1);
        if (sweep + 1 == a.sweeps)
            sums_put<T, CHAINS>(a, now, g * SUMS_ROWS, first, out, a.out_stride[1],
                                a.out_stride[2]);
        if (sweep + 1 == a.sweeps && g == g_last)
            return;
        g = g_next;
        sweep = sweep_next;
    }
}

template <typename T, int CHAINS> static size_t sums_kernel_bytes(int64_t dim)
{
    const size_t rows = (size_t)((dim + SUMS_ROWS - 1) / SUMS_ROWS * SUMS_ROWS);
    return sizeof(T) * (rows * rows + 3 * rows + 4 * (size_t)sums_shape<T, CHAINS>::buffer);
}

#endif
