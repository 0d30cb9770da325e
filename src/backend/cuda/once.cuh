/* A warp holds four rows of 32 chains, one chain a lane: for few chains or a single sweep.  A
 * block of threads takes its 32 chains through all sweeps.
 *
 * The old part of every row is a product of a column's coefficients, the same for the whole warp,
 * and its 32 values, with no lane idle.  Then, warp after warp, a group of four rows becomes final
 * and goes through shared memory to the warps behind it, which wait at a barrier of that group's
 * own.  Each row's sum is in the canonical order.
 *
 * Normals come first and need no memory: a launch may start while the kernel ahead of it in the
 * stream still runs, and draws them meanwhile.  Padding holds A = -0 and x = +0. */
#ifndef GBS_CUDA_ONCE_CUH
#define GBS_CUDA_ONCE_CUH

#include "backend/cuda/coefficients.cuh"
#include "backend/cuda/device_noise.cuh"
#include "backend/cuda/overlap.cuh"

#define ONCE_CHAINS 32
#define ONCE_STRIDE                                                                                \
    33 /* from place to place: loads by place and by chain both spread over banks                  \
        */

template <typename T, int WARPS> struct once_shared {
    static constexpr int rows = 4 * WARPS;
    T at[WARPS][rows][4]; /* [warp][slot of column][own row] */
    T x[rows][ONCE_STRIDE];
    T scale[rows], centre[rows];

    /* Where a column's four coefficients are: neighbours in a row of the matrix, stored by
     * neighbouring threads, do not collide. */
    static __device__ __forceinline__ int slot(int column)
    {
        return column % 4 * WARPS + column / 4;
    }
};

/* The barrier of group g, of its warp, which has written the group's values, and of the warps
 * behind it, which read them.  There are 16 in hardware; 0 is __syncthreads, and the others come
 * round only when every warp concerned is past them. */
static __device__ __forceinline__ void meet_at_group(int g, int threads)
{
#ifdef GBS_CUDA_ON_HOST
    on_host::join_barrier(1 + g % 15, threads);
#else
    asm volatile("bar.sync %0, %1;" ::"r"(1 + g % 15), "r"(threads) : "memory");
#endif
}

/* The group whose rows a warp has in a pass: the first to become final are always the first warp's.
 */
template <int WARPS> static __device__ __forceinline__ int once_group(int warp, bool backward)
{
    return backward ? WARPS - 1 - warp : warp;
}

/* One pass in one direction of visit, DIRECTION: groups step = 0, 1, ..., each its warp's. */
template <typename T, int WARPS, int DIRECTION>
static __device__ __forceinline__ void
once_pass(const gbs_sweep_args &a, once_shared<T, WARPS> *shared, int warp, int lane, const T z[4])
{
    typedef once_shared<T, WARPS> shape;
    const int rows = 4 * once_group<WARPS>(warp, DIRECTION < 0);
    const T(*const at)[4] = shared->at[rows / 4];
    T r[4], own[4];
    quad<T> inner[4]; /* inner[q].v[k]: own row k's coefficient of own column q */
#pragma unroll
    for (int q = 0; q < 4; ++q) {
        inner[q] = *(const quad<T> *)at[shape::slot(rows + q)];
        own[q] = shared->x[rows + q][lane];
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        r[k] = vocab_fma(shared->scale[rows + k], z[k], shared->centre[rows + k]);
        if (a.relaxed)
            r[k] = vocab_fma((T)(1.0 - a.omega), own[k], r[k]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = i + 1; j < 4; ++j) {
            const int k = turned<DIRECTION>(i, 3), q = turned<DIRECTION>(j, 3);
            r[k] = vocab_fma(inner[q].v[k], own[q], r[k]);
        }
#pragma unroll 2
    for (int step = warp + 1; step < WARPS; ++step) {
        const int g = turned<DIRECTION>(step, WARPS - 1);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int q = 4 * g + turned<DIRECTION>(j, 3);
            const quad<T> c = *(const quad<T> *)at[shape::slot(q)];
            const T value = shared->x[q][lane];
#pragma unroll
            for (int k = 0; k < 4; ++k)
                r[k] = vocab_fma(c.v[k], value, r[k]);
        }
    }
    /* one place in the code where warps meet: the group's own, which has just written, and the rest
     */
#pragma unroll 1
    for (int step = 0; step <= warp; ++step) {
        const int g = turned<DIRECTION>(step, WARPS - 1);
        quad<T> c[4];
#pragma unroll
        for (int j = 0; j < 4; ++j)
            c[j] = *(const quad<T> *)at[shape::slot(4 * g + turned<DIRECTION>(j, 3))];
        if (step == warp) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int q = turned<DIRECTION>(i, 3);
#pragma unroll
                for (int j = i + 1; j < 4; ++j) {
                    const int k = turned<DIRECTION>(j, 3);
                    r[k] = vocab_fma(inner[q].v[k], r[q], r[k]);
                }
                shared->x[rows + q][lane] = rows + q < a.dim ? r[q] : T(0);
            }
        }
        meet_at_group(step, 32 * (WARPS - step));
        if (step == warp)
            break;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const T value = shared->x[4 * g + turned<DIRECTION>(j, 3)][lane];
#pragma unroll
            for (int k = 0; k < 4; ++k)
                r[k] = vocab_fma(c[j].v[k], value, r[k]);
        }
    }
}

/* One thread's share of the states: four places of one chain. */
template <typename T> struct state_item {
    quad<T> value;
    int chain, place;
    bool wide; /* four in one access */
};

template <typename T, int WARPS>
static __device__ __forceinline__ state_item<T> state_item_of(const T *base,
                                                              const int64_t stride[2], int dim)
{
    state_item<T> item;
    item.chain = threadIdx.x / WARPS;
    item.place = threadIdx.x % WARPS * 4;
    item.wide = dim % 4 == 0 && stride[1] == 1 && stride[0] % 4 == 0 &&
                (uintptr_t)base % (4 * sizeof(T)) == 0;
    return item;
}

template <typename T, int WARPS>
static __device__ __forceinline__ state_item<T> load_state(const T *from, const int64_t stride[2],
                                                           int dim, int64_t chains)
{
    state_item<T> item = state_item_of<T, WARPS>(from, stride, dim);
    const T *const at = from + item.chain * stride[0] + item.place * stride[1];
    item.value = {{T(0), T(0), T(0), T(0)}};
    if (item.chain < chains && item.place < dim) {
        if (item.wide) {
            item.value = *(const quad<T> *)at;
        } else {
#pragma unroll
            for (int k = 0; k < 4; ++k)
                if (item.place + k < dim)
                    item.value.v[k] = at[k * stride[1]];
        }
    }
    return item;
}

/* The block's states from shared memory to `to`, with all threads. */
template <typename T, int WARPS>
static __device__ __forceinline__ void store_state(const once_shared<T, WARPS> *shared, T *to,
                                                   int64_t chain_stride, int64_t place_stride,
                                                   int dim, int64_t chains)
{
    const int64_t stride[2] = {chain_stride, place_stride};
    state_item<T> item = state_item_of<T, WARPS>(to, stride, dim);
    T *const at = to + item.chain * stride[0] + item.place * stride[1];
#pragma unroll
    for (int k = 0; k < 4; ++k)
        item.value.v[k] = shared->x[item.place + k][item.chain];
    if (item.chain >= chains || item.place >= dim)
        return;
    if (item.wide) {
        *(quad<T> *)at = item.value;
    } else {
#pragma unroll
        for (int k = 0; k < 4; ++k)
            if (item.place + k < dim)
                at[k * stride[1]] = item.value.v[k];
    }
}

/* Fills at, scale and centre with all threads; the entries of a thread's first item are loaded. */
template <typename T, int WARPS>
static __device__ __forceinline__ void once_coefficients(const gbs_sweep_args &a, int64_t group,
                                                         row_item<T> item,
                                                         once_shared<T, WARPS> *shared)
{
    typedef once_shared<T, WARPS> shape;
    const T *const matrix = (const T *)a.precision + group * a.precision_group_stride;
    const T *const location = (const T *)a.location + group * a.location_group_stride;
#pragma unroll 1
    for (int index = threadIdx.x; index < shape::rows * WARPS; index += 32 * WARPS) {
        if (index != (int)threadIdx.x)
            item = load_row_item(a, matrix, index / WARPS, index % WARPS * 4);
        make_row_item(a, &item);
        const int p = item.p, q = item.q / 4;
#pragma unroll
        for (int m = 0; m < 4; ++m)
            shared->at[p / 4][m * WARPS + q][p % 4] = item.entry.v[m];
        if (q == 0) {
            const bool real = p < a.dim;
            shared->scale[p] = real ? row_scale(a, item.own, p) : T(0);
            shared->centre[p] =
                real ? row_centre(a, matrix + p * a.precision_row_stride, location, p) : T(0);
        }
    }
}

template <typename T, int WARPS, int KIND>
__global__ void __launch_bounds__(32 * WARPS) sweep_once(const __grid_constant__ gbs_sweep_args a)
{
    extern __shared__ __align__(32) unsigned char shared_bytes[];
    once_shared<T, WARPS> *const shared = (once_shared<T, WARPS> *)shared_bytes;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, dim = (int)a.dim;
    int64_t group, first;
    find_group(a, ONCE_CHAINS, &group, &first);
    const int64_t present = a.chains - first; /* chains of this block, 32 or fewer */
    const int64_t e = group * a.chains + first + (lane < present ? lane : 0);

    if (KIND == GBS_STREAM_GIVEN || !a.noise.settled)
        wait_for_previous();
    const gbs_philox_key key = noise_key<KIND>(a.noise);
    const uint64_t offset = KIND == GBS_STREAM_TORCH_CUDA ? torch_offset(a.noise) : 0;
    const torch_place torch = torch_place_of(a.noise, key, KIND == GBS_STREAM_TORCH_CUDA ? e : 0);
    const auto normals = [&](int64_t pass, bool backward, T z[4]) {
        const gbs_philox_fixed fixed =
            native_pass(native_key<KIND>(a.noise, key), a.noise.first_chain + (uint64_t)e,
                        a.noise.first_pass + (uint64_t)pass, a.noise.purpose);
        group_normals<T, KIND, 4>(a, key, fixed, torch, offset, pass, backward,
                                  4 * once_group<WARPS>(warp, backward), e, z);
    };
    T z[4];
    normals(0, a.first_direction < 0, z);
    wait_for_previous();
    let_next_start(); /* not before: with more than two on their way, blocks crowd on a few SMs */

    const T *const matrix = (const T *)a.precision + group * a.precision_group_stride;
    const state_item<T> mine =
        load_state<T, WARPS>((const T *)a.x + group * a.x_stride[0] + first * a.x_stride[1],
                             a.x_stride + 1, dim, present);
    once_coefficients<T, WARPS>(
        a, group, load_row_item(a, matrix, threadIdx.x / WARPS, threadIdx.x % WARPS * 4), shared);
#pragma unroll
    for (int k = 0; k < 4; ++k)
        shared->x[mine.place + k][mine.chain] = mine.value.v[k];
    __syncthreads();

    const int64_t passes = a.sweeps * a.passes;
    int64_t until_kept = a.keep_every * a.passes; /* 0: never */
    T *kept = (T *)a.kept + (group * a.chains + first) * a.dim;
    for (int64_t pass = 0; pass < passes; ++pass) {
        const bool backward = (pass % a.passes == 0) == (a.first_direction < 0);
        if (backward)
            once_pass<T, WARPS, -1>(a, shared, warp, lane, z);
        else
            once_pass<T, WARPS, 1>(a, shared, warp, lane, z);
        if (pass + 1 < passes)
            normals(pass + 1, a.passes == 2 ? !backward : backward, z);
        __syncthreads();
        if (--until_kept == 0) {
            store_state<T, WARPS>(shared, kept, a.dim, 1, dim, present);
            kept += a.groups * a.chains * a.dim;
            until_kept = a.keep_every * a.passes;
            __syncthreads();
        }
    }
    store_state<T, WARPS>(shared, (T *)a.out + group * a.out_stride[0] + first * a.out_stride[1],
                          a.out_stride[1], a.out_stride[2], dim, present);
}

#endif
