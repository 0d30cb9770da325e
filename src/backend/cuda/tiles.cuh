/* Many places: a block of threads takes 32 chains through all sweeps, ROWS rows at a time, so no
 * two blocks ever wait for each other.  The old part and the finished blocks are a tiled product
 * in ascending order without splitting the sum; its accumulators start at s z + c, and each row
 * first takes the old values of its own block at later places.  Then the block is finished by
 * forward substitution, eight at a time: a group becomes final in registers, goes to shared
 * memory, and every later group takes it.
 *
 * Places are counted in the order of visit, v; the state in the workspace is [place][32 chains].
 * Padding rows and columns hold A = -0 and x = +0, which change no sum. */
#ifndef GBS_CUDA_TILES_CUH
#define GBS_CUDA_TILES_CUH

#include "backend/cuda/coefficients.cuh"
#include "backend/cuda/device_noise.cuh"

#include <cuda_pipeline.h>

#define TILE_CHAINS 32
#define TILE_DEPTH 32 /* columns in flight per stage */
#define TILE_STAGES 2
#define OWN 8 /* rows of one thread */

/* Chains of one thread.  8 would halve the loads for each sum, but then half as many warps hide
 * their latency: measured a third slower. */
template <typename T> struct tile_width {
    static constexpr int chains = 4;
    static constexpr int lanes = TILE_CHAINS / chains; /* threads that share a row */
};
#define CHAINS_OF(T) tile_width<T>::chains
#define TILE_THREADS(T, ROWS) ((ROWS) / OWN * tile_width<T>::lanes)

struct gbs_tile_args {
    const void *packed[2];      /* by direction: [block][column v][ROWS] */
    const void *scale, *centre; /* [D] in storage order */
    void *state;                /* [chain block][padded dim][32] */
    int64_t padded_dim;
    int64_t packed_group_stride, vector_group_stride;
};

template <typename T, int ROWS> struct tile_shared {
    T a[TILE_STAGES][TILE_DEPTH][ROWS];
    T x[TILE_STAGES][TILE_DEPTH][TILE_CHAINS];
    T own_a[2][OWN][ROWS];
    T own_x[2][OWN][TILE_CHAINS];
};

/* Copies `count` elements (a multiple of 16 bytes) with all threads of the block. */
template <typename T, int THREADS>
static __device__ __forceinline__ void tile_copy(T *to, const T *from, int count)
{
    constexpr int each = 16 / sizeof(T);
#pragma unroll
    for (int index = threadIdx.x * each; index < count; index += THREADS * each)
        __pipeline_memcpy_async(to + index, from + index, 16);
}

static __device__ __forceinline__ int tile_row(int v, int dim, bool backward)
{
    return backward && v < dim ? dim - 1 - v : v;
}

template <typename T, int ROWS>
static __device__ __forceinline__ void tile_fetch(tile_shared<T, ROWS> *shared, int stage,
                                                  const T *packed, const T *state, int column,
                                                  int dim, bool backward)
{
    tile_copy<T, TILE_THREADS(T, ROWS)>(&shared->a[stage][0][0], packed + (int64_t)column * ROWS,
                                        TILE_DEPTH * ROWS);
    constexpr int each = 16 / sizeof(T), per_row = TILE_CHAINS / each;
#pragma unroll
    for (int index = threadIdx.x; index < TILE_DEPTH * per_row; index += TILE_THREADS(T, ROWS)) {
        const int k = index / per_row, part = index % per_row * each;
        __pipeline_memcpy_async(&shared->x[stage][k][part],
                                state + tile_row(column + k, dim, backward) * TILE_CHAINS + part,
                                16);
    }
}

template <typename T>
static __device__ __forceinline__ void tile_load(const T *from, T *to, int count)
{
#pragma unroll
    for (int k = 0; k < count; k += 4) {
        const quad<T> q = *(const quad<T> *)(from + k);
#pragma unroll
        for (int m = 0; m < 4; ++m)
            to[k + m] = q.v[m];
    }
}

/* One column for all eight rows of a thread. */
template <typename T>
static __device__ __forceinline__ void tile_column(const T *a_row, const T *x_row,
                                                   T r[OWN][CHAINS_OF(T)])
{
    T a[OWN], x[CHAINS_OF(T)];
    tile_load(a_row, a, OWN);
    tile_load(x_row, x, CHAINS_OF(T));
#pragma unroll
    for (int k = 0; k < OWN; ++k)
#pragma unroll
        for (int c = 0; c < CHAINS_OF(T); ++c)
            r[k][c] = vocab_fma(a[k], x[c], r[k][c]);
}

/* Normals of the block's rows for its 32 chains, [row][chain], by all threads: one item is a
 * group of four places of one chain, so that four places share a Philox call either way round. */
template <typename T, int KIND, int ROWS>
static __device__ __forceinline__ void
tile_normals(const gbs_sweep_args &a, const gbs_philox_key &key, uint64_t offset, int64_t pass,
             bool backward, int v, int64_t group, int64_t first, T *z)
{
    const int dim = (int)a.dim, end = v + ROWS < dim ? v + ROWS : dim; /* real rows: v .. end-1 */
    const int low = backward ? dim - end : v, high = backward ? dim - 1 - v : end - 1;
    const int groups = high / 4 - low / 4 + 1;
    const int chain = threadIdx.x % TILE_CHAINS;
    const int64_t e = group * a.chains + (first + chain < a.chains ? first + chain : 0);
    const gbs_philox_fixed fixed =
        native_pass(native_key<KIND>(a.noise, key), a.noise.first_chain + (uint64_t)e,
                    a.noise.first_pass + (uint64_t)pass, a.noise.purpose);
    const torch_place torch = torch_place_of(a.noise, key, KIND == GBS_STREAM_TORCH_CUDA ? e : 0);
#pragma unroll 1
    for (int item = threadIdx.x / TILE_CHAINS; item < groups;
         item += TILE_THREADS(T, ROWS) / TILE_CHAINS) {
        const int place = (low / 4 + item) * 4;
        T four[4];
        group_normals<T, KIND, 4>(a, key, fixed, torch, offset, pass, backward, place, e, four);
#pragma unroll
        for (int k = 0; k < 4; ++k)
            if (place + k >= low && place + k <= high) {
                const int row = (backward ? dim - 1 - (place + k) : place + k) - v;
                z[row * TILE_CHAINS + chain] = four[k];
            }
    }
}

/* s z + c for a thread's eight rows and its chains; padding rows start at 0. */
template <typename T>
static __device__ __forceinline__ void tile_start(const gbs_sweep_args &a, const T *scale,
                                                  const T *centre, bool backward, int v, const T *z,
                                                  T r[OWN][CHAINS_OF(T)])
{
#pragma unroll
    for (int k = 0; k < OWN; ++k) {
        const bool real = v + k < (int)a.dim;
        const int p = tile_row(real ? v + k : 0, (int)a.dim, backward);
        const T s = scale[p], t = centre[p];
#pragma unroll
        for (int c = 0; c < CHAINS_OF(T); ++c)
            r[k][c] = real ? vocab_fma(s, z[k * TILE_CHAINS + c], t) : T(0);
    }
}

/* Finishes a thread's eight rows among themselves, given their columns' coefficients. */
template <typename T, int ROWS>
static __device__ __forceinline__ void tile_finish(const T (*own_a)[ROWS], int row,
                                                   T r[OWN][CHAINS_OF(T)])
{
#pragma unroll
    for (int q = 0; q < OWN - 1; ++q)
#pragma unroll
        for (int k = q + 1; k < OWN; ++k) {
            const T coefficient = own_a[q][row + k];
#pragma unroll
            for (int c = 0; c < CHAINS_OF(T); ++c)
                r[k][c] = vocab_fma(coefficient, r[q][c], r[k][c]);
        }
}

template <typename T, int KIND, int ROWS>
__global__ void __launch_bounds__(TILE_THREADS(T, ROWS))
    sweep_tiles(const __grid_constant__ gbs_sweep_args a, const __grid_constant__ gbs_tile_args t)
{
    extern __shared__ __align__(32) unsigned char shared_bytes[];
    tile_shared<T, ROWS> *const shared = (tile_shared<T, ROWS> *)shared_bytes;
    const int dim = (int)a.dim, padded = (int)t.padded_dim;
    int64_t group, first;
    find_group(a, TILE_CHAINS, &group, &first);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    constexpr int lanes = tile_width<T>::lanes;
    const int own = warp * (32 / lanes) + lane / lanes, row = own * OWN,
              chain = lane % lanes * CHAINS_OF(T);
    T *const state = (T *)t.state + (int64_t)blockIdx.x * t.padded_dim * TILE_CHAINS;
    const T *const scale = (const T *)t.scale + group * t.vector_group_stride;
    const T *const centre = (const T *)t.centre + group * t.vector_group_stride;

    for (int64_t index = threadIdx.x; index < t.padded_dim * TILE_CHAINS;
         index += TILE_THREADS(T, ROWS)) {
        const int64_t p = index / TILE_CHAINS, c = first + index % TILE_CHAINS;
        T value = T(0);
        if (p < a.dim && c < a.chains) {
            value = ((const T *)a.x)[group * a.x_stride[0] + c * a.x_stride[1] + p * a.x_stride[2]];
        }
        state[index] = value;
    }
    const gbs_philox_key key = noise_key<KIND>(a.noise);
    const uint64_t offset = KIND == GBS_STREAM_TORCH_CUDA ? torch_offset(a.noise) : 0;
    const int chunks = padded / TILE_DEPTH, own_chunks = ROWS / TILE_DEPTH;
    const T a_diagonal = a.relaxed ? (T)(1.0 - a.omega) : T(-0.0);
    __syncthreads();

    const int64_t all_passes = a.sweeps * a.passes;
    for (int64_t pass = 0; pass < all_passes; ++pass) {
        const bool backward = (pass % a.passes == 0) == (a.first_direction < 0);
        const T *const matrix = (const T *)t.packed[backward] + group * t.packed_group_stride;
        for (int v = 0; v < dim; v += ROWS) {
            const T *const packed = matrix + (int64_t)v * padded; /* this block's columns */
            T r[OWN][CHAINS_OF(T)];
            /* columns in canonical order: own block, later blocks, round to the earlier ones */
            int column = v;
            for (int stage = 0; stage < TILE_STAGES - 1;
                 ++stage) { /* an own block has more chunks */
                tile_fetch<T, ROWS>(shared, stage, packed, state, column, dim, backward);
                __pipeline_commit();
                column += TILE_DEPTH;
            }
            int fill = TILE_STAGES - 1, use = 0;
            /* the stage that is not being filled yet holds the normals */
            T *const z = &shared->a[TILE_STAGES - 1][0][0];
            static_assert(TILE_DEPTH * ROWS >= ROWS * TILE_CHAINS,
                          "a stage holds a block's normals");
            tile_normals<T, KIND, ROWS>(a, key, offset, pass, backward, v, group, first, z);
            __syncthreads();
            tile_start<T>(a, scale, centre, backward, v + row, z + row * TILE_CHAINS + chain, r);
            if (a.relaxed) {
#pragma unroll
                for (int k = 0; k < OWN; ++k) {
                    const T *const from =
                        state + tile_row(v + row + k, dim, backward) * TILE_CHAINS + chain;
#pragma unroll
                    for (int c = 0; c < CHAINS_OF(T); ++c)
                        r[k][c] = vocab_fma(a_diagonal, from[c], r[k][c]);
                }
            }
            for (int chunk = 0; chunk < chunks; ++chunk) {
                __pipeline_wait_prior(TILE_STAGES - 2);
                __syncthreads();
                if (chunk + TILE_STAGES - 1 < chunks) {
                    column = column < padded ? column : 0;
                    tile_fetch<T, ROWS>(shared, fill, packed, state, column, dim, backward);
                    column += TILE_DEPTH;
                }
                __pipeline_commit();
                const int stage = use;
                fill = fill + 1 < TILE_STAGES ? fill + 1 : 0;
                use = use + 1 < TILE_STAGES ? use + 1 : 0;
                if (chunk >= own_chunks) {
#pragma unroll
                    for (int k = 0; k < TILE_DEPTH; ++k)
                        tile_column(&shared->a[stage][k][row], &shared->x[stage][k][chain], r);
                } else {
                    /* old values of this block: only at places after the row's own */
#pragma unroll 1
                    for (int k = 0; k < TILE_DEPTH; ++k) {
                        const int place = chunk * TILE_DEPTH + k; /* within the block */
                        if (place >= row + OWN) {
                            tile_column(&shared->a[stage][k][row], &shared->x[stage][k][chain], r);
                        } else if (place > row) {
#pragma unroll
                            for (int q = 0; q < OWN; ++q)
                                if (place > row + q) {
#pragma unroll
                                    for (int c = 0; c < CHAINS_OF(T); ++c)
                                        r[q][c] =
                                            vocab_fma(shared->a[stage][k][row + q],
                                                      shared->x[stage][k][chain + c], r[q][c]);
                                }
                        }
                    }
                }
            }
            __pipeline_wait_prior(0);
            tile_copy<T, TILE_THREADS(T, ROWS)>(&shared->own_a[0][0][0], packed + (int64_t)v * ROWS,
                                                OWN * ROWS);
            __pipeline_commit();
            for (int step = 0; step < ROWS / OWN; ++step) {
                const int now = step % 2;
                __pipeline_wait_prior(0);
                __syncthreads();
                if (step + 1 < ROWS / OWN)
                    tile_copy<T, TILE_THREADS(T, ROWS)>(
                        &shared->own_a[1 - now][0][0],
                        packed + (int64_t)(v + (step + 1) * OWN) * ROWS, OWN * ROWS);
                __pipeline_commit();
                if (own == step) {
                    tile_finish<T, ROWS>(shared->own_a[now], row, r);
#pragma unroll
                    for (int k = 0; k < OWN; ++k)
#pragma unroll
                        for (int c = 0; c < CHAINS_OF(T); ++c) {
                            const bool real = v + row + k < dim;
                            shared->own_x[now][k][chain + c] = real ? r[k][c] : T(0);
                            if (real)
                                state[tile_row(v + row + k, dim, backward) * TILE_CHAINS + chain +
                                      c] = r[k][c];
                        }
                }
                __syncthreads();
                if (own > step) {
#pragma unroll
                    for (int k = 0; k < OWN; ++k)
                        tile_column(&shared->own_a[now][k][row], &shared->own_x[now][k][chain], r);
                }
            }
            __syncthreads();
        }
        const int64_t sweep = pass / a.passes;
        if (a.keep_every > 0 && pass % a.passes == a.passes - 1 &&
            (sweep + 1) % a.keep_every == 0) {
            T *const kept =
                (T *)a.kept + ((sweep + 1) / a.keep_every - 1) * a.groups * a.chains * a.dim;
            for (int64_t index = threadIdx.x; index < a.dim * TILE_CHAINS;
                 index += TILE_THREADS(T, ROWS)) {
                const int64_t p = index / TILE_CHAINS, c = first + index % TILE_CHAINS;
                if (c < a.chains)
                    kept[(group * a.chains + c) * a.dim + p] = state[index];
            }
        }
    }
    for (int64_t index = threadIdx.x; index < a.dim * TILE_CHAINS; index += TILE_THREADS(T, ROWS)) {
        const int64_t p = index / TILE_CHAINS, c = first + index % TILE_CHAINS;
        if (c < a.chains)
            ((T *)a.out)[group * a.out_stride[0] + c * a.out_stride[1] + p * a.out_stride[2]] =
                state[index];
    }
}

/* Packs coefficients for one direction: [block][column v][tile_rows], and scale and centre. */
template <typename T>
__global__ void pack_tiles(const __grid_constant__ gbs_sweep_args a,
                           const __grid_constant__ gbs_tile_args t, int tile_rows, T *packed,
                           T *scale, T *centre, int backward)
{
    const int64_t group = blockIdx.y;
    const int64_t elements = t.padded_dim * t.padded_dim;
    const T *const precision = (const T *)a.precision + group * a.precision_group_stride;
    for (int64_t index = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; index < elements;
         index += (int64_t)gridDim.x * blockDim.x) {
        const int64_t block = index / (t.padded_dim * tile_rows),
                      rest = index % (t.padded_dim * tile_rows);
        const int64_t vi = block * tile_rows + rest % tile_rows, vj = rest / tile_rows;
        T value = T(-0.0);
        if (vi < a.dim && vj < a.dim && vi != vj) {
            const int p = tile_row((int)vi, (int)a.dim, backward),
                      q = tile_row((int)vj, (int)a.dim, backward);
            const T *const row = precision + p * a.precision_row_stride;
            value = raw_coefficient(a, row[q], row[p]);
        }
        packed[group * t.packed_group_stride + index] = value;
    }
    const T *const location = (const T *)a.location + group * a.location_group_stride;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < a.dim;
         i += (int64_t)gridDim.x * blockDim.x) {
        const T *const row = precision + i * a.precision_row_stride;
        scale[group * t.vector_group_stride + i] = row_scale(a, row[i], i);
        centre[group * t.vector_group_stride + i] = row_centre(a, row, location, i);
    }
}

#endif
