/* One forward sweep of up to 64 places, float, w = 1: what a loop in PyTorch calls again and again.
 * LANES lanes share a chain, four rows each, and a lane works for two chains: shared memory and
 * shuffles, not sums, bound one chain a lane.  Loops are rolled, and whatever is rare has gone to
 * sweep_once: a kernel that runs once through its code waits for it to be fetched.
 *
 * All that does not need the state comes before the wait for the kernel ahead in the stream:
 * normals, and the coefficients of the precision as it then is.  After the wait the precision is
 * read once more, and coefficients are made again if a bit of it has changed.  The next kernel may
 * start only then, so that two are on their way at a time; more of them crowd on a few
 * multiprocessors.
 *
 * Coefficients lie in shared memory by column, a column's quads of rows permuted by its group
 * (q ^ g), so that neither their stores nor their loads collide. */
#ifndef GBS_CUDA_SINGLE_CUH
#define GBS_CUDA_SINGLE_CUH

#include "backend/cuda/coefficients.cuh"
#include "backend/cuda/device_noise.cuh"
#include "backend/cuda/overlap.cuh"

#define SINGLE_CHAINS 2 /* of a lane */

/* Philox's ten rounds with keys made on the way: the counter in, the words out. */
static __device__ __forceinline__ void single_philox(uint64_t seed, uint32_t w[4])
{
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
#pragma unroll
    for (int round = 0; round < GBS_PHILOX_ROUNDS; ++round) {
        const vq p0 = vq_mul_low(w[0], GBS_PHILOX_M0), p1 = vq_mul_low(w[2], GBS_PHILOX_M1);
        w[0] = (uint32_t)(p1 >> 32) ^ w[1] ^ key0;
        w[1] = (uint32_t)p1;
        w[2] = (uint32_t)(p0 >> 32) ^ w[3] ^ key1;
        w[3] = (uint32_t)p0;
        key0 += GBS_PHILOX_W0;
        key1 += GBS_PHILOX_W1;
    }
}

/* The normals of places 4 lane .. 4 lane + 3 of a lane's chains; torch's for calls of up to one
 * round of its grid.  One after another: copies of this code would cost more to fetch than to run.
 */
template <int KIND>
static __device__ __forceinline__ void single_normals(const gbs_single_args &a, int lane,
                                                      const uint32_t chain[SINGLE_CHAINS],
                                                      float z[SINGLE_CHAINS][4])
{
    const uint64_t seed =
        KIND == GBS_STREAM_TORCH_CUDA && a.device_seed != NULL ? *a.device_seed : a.seed;
#pragma unroll
    for (int c = 0; c < SINGLE_CHAINS; ++c)
#pragma unroll
        for (int k = 0; k < 4; ++k)
            z[c][k] = 0.0f;
    if constexpr (KIND == GBS_STREAM_NATIVE) {
#pragma unroll 1
        for (int c = 0; c < SINGLE_CHAINS; ++c) {
            uint32_t w[4] = {(uint32_t)lane, a.pass, a.first_chain + (c == 0 ? chain[0] : chain[1]),
                             0};
            single_philox(seed, w);
#pragma unroll
            for (int k = 0; k < 4; ++k)
                z[0][k] = z[1][k];
            gbs_normal_pair_f32(w[0], w[1], &z[1][0], &z[1][1]);
            gbs_normal_pair_f32(w[2], w[3], &z[1][2], &z[1][3]);
        }
    } else {
        uint64_t counter = a.offset;
        if (a.device_offset != NULL)
            counter += *a.device_offset;
        counter = counter / 4 + (uint32_t)(4 * lane);
#pragma unroll 1
        for (int k = 0; k < 4; ++k, ++counter)
#pragma unroll
            for (int c = 0; c < SINGLE_CHAINS; ++c) {
                uint32_t w[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), chain[c], 0};
                single_philox(seed, w);
                z[c][0] = z[c][1];
                z[c][1] = z[c][2];
                z[c][2] = z[c][3];
                z[c][3] = torch_normal_of(w[0], w[1], false);
            }
    }
}

template <int LANES> struct single_shape {
    static constexpr int rows = 4 * LANES;
    static constexpr int chains = 32; /* of a block */
    static constexpr int threads = LANES * chains / SINGLE_CHAINS;
    static constexpr int items = rows * LANES > threads ? rows *LANES / threads : 1;
};

template <int LANES> struct single_shared {
    float4 at[4 * LANES][LANES]; /* [column][quad of rows ^ column / 4] */
    float scale[4 * LANES], centre[4 * LANES];
};

/* What a thread reads of precision and location: four columns of one row, `items` times. */
template <int LANES> struct single_rows {
    float4 entry[single_shape<LANES>::items];
    float own[single_shape<LANES>::items], location[single_shape<LANES>::items];
};

/* From the L2 cache: a line that the L1 cache took before the wait might be stale after it. */
template <int LANES>
static __device__ __forceinline__ single_rows<LANES> single_load(const gbs_single_args &a)
{
    typedef single_shape<LANES> shape;
    single_rows<LANES> rows;
#pragma unroll
    for (int item = 0; item < shape::items; ++item) {
        const int index = threadIdx.x + item * shape::threads;
        const int p = index / LANES, g = index % LANES;
        const bool mine = p < a.dim && 4 * g < a.dim;
        const float *const row = a.precision + (int64_t)p * a.row_stride;
        rows.entry[item] = {0.0f, 0.0f, 0.0f, 0.0f};
        rows.own[item] = 1.0f;
        rows.location[item] = 0.0f;
        if (mine) {
            rows.own[item] = __ldcg(row + p);
            rows.entry[item] = __ldcg((const float4 *)(row + 4 * g));
        }
        if (mine && g == 0 && a.location_kind != GBS_LOCATION_ZERO)
            rows.location[item] = __ldcg(a.location + p);
    }
    return rows;
}

static __device__ __forceinline__ uint32_t differ(float a, float b)
{
    return __float_as_uint(a) ^ __float_as_uint(b);
}

template <int LANES>
static __device__ __forceinline__ bool any_differs(const single_rows<LANES> &a,
                                                   const single_rows<LANES> &b)
{
    uint32_t bits = 0;
#pragma unroll
    for (int item = 0; item < single_shape<LANES>::items; ++item)
        bits |= differ(a.own[item], b.own[item]) | differ(a.location[item], b.location[item]) |
                differ(a.entry[item].x, b.entry[item].x) |
                differ(a.entry[item].y, b.entry[item].y) |
                differ(a.entry[item].z, b.entry[item].z) | differ(a.entry[item].w, b.entry[item].w);
    return bits != 0;
}

/* The coefficients that coefficients.cuh makes, for w = 1. */
template <int LANES>
static __device__ __forceinline__ void single_coefficients(const gbs_single_args &a,
                                                           const single_rows<LANES> &rows,
                                                           single_shared<LANES> *shared)
{
    typedef single_shape<LANES> shape;
#pragma unroll
    for (int item = 0; item < shape::items; ++item) {
        const int index = threadIdx.x + item * shape::threads;
        const int p = index / LANES, g = index % LANES;
        if (p >= a.dim || 4 * g >= a.dim)
            continue;
        const float4 entry = rows.entry[item];
        const double inverse = close_reciprocal(rows.own[item]);
        float *const to = &shared->at[4 * g][p / 4 ^ g].x + p % 4;
        to[0] = times_reciprocal(-entry.x, inverse);
        to[4 * LANES] = times_reciprocal(-entry.y, inverse);
        to[8 * LANES] = times_reciprocal(-entry.z, inverse);
        to[12 * LANES] = times_reciprocal(-entry.w, inverse);
        if (g == 0) {
            const double factor = a.location_kind == GBS_LOCATION_INFORMATION ? inverse : 1.0;
            shared->scale[p] = plain_scale(rows.own[item]);
            shared->centre[p] = times_reciprocal(rows.location[item], factor);
        }
    }
}

/* s z + c and the old values of a lane's own later places. */
static __device__ __forceinline__ void single_start(const float4 inner[4], float4 s, float4 c,
                                                    const float z[4], const float x[4], float r[4])
{
    r[0] = vocab_fma(s.x, z[0], c.x);
    r[1] = vocab_fma(s.y, z[1], c.y);
    r[2] = vocab_fma(s.z, z[2], c.z);
    r[3] = vocab_fma(s.w, z[3], c.w);
    r[0] = vocab_fma(inner[1].x, x[1], r[0]);
    r[0] = vocab_fma(inner[2].x, x[2], r[0]);
    r[0] = vocab_fma(inner[3].x, x[3], r[0]);
    r[1] = vocab_fma(inner[2].y, x[2], r[1]);
    r[1] = vocab_fma(inner[3].y, x[3], r[1]);
    r[2] = vocab_fma(inner[3].z, x[3], r[2]);
}

/* A lane's own rows among themselves: y = their new values if nothing else is missing. */
static __device__ __forceinline__ void single_finish(const float4 inner[4], const float r[4],
                                                     float y[4])
{
    y[0] = r[0];
    y[1] = vocab_fma(inner[0].y, y[0], r[1]);
    y[2] = vocab_fma(inner[0].z, y[0], r[2]);
    y[3] = vocab_fma(inner[0].w, y[0], r[3]);
    y[2] = vocab_fma(inner[1].z, y[1], y[2]);
    y[3] = vocab_fma(inner[1].w, y[1], y[3]);
    y[3] = vocab_fma(inner[2].w, y[2], y[3]);
}

template <int LANES, int KIND>
__global__ void __launch_bounds__(single_shape<LANES>::threads, 2)
    sweep_single(const __grid_constant__ gbs_single_args a)
{
    typedef single_shape<LANES> shape;
    constexpr unsigned all = 0xFFFFFFFFu;
    __shared__ single_shared<LANES> shared;
    const int lane = threadIdx.x % LANES;
    uint32_t chain[SINGLE_CHAINS];
    bool real[SINGLE_CHAINS];
#pragma unroll
    for (int c = 0; c < SINGLE_CHAINS; ++c) {
        chain[c] =
            blockIdx.x * shape::chains + c * (shape::chains / SINGLE_CHAINS) + threadIdx.x / LANES;
        real[c] = chain[c] < (uint32_t)a.chains && 4 * lane < a.dim;
    }

    if (!a.settled)
        wait_for_previous();
    const single_rows<LANES> before = single_load<LANES>(a);
    float z[SINGLE_CHAINS][4], x[SINGLE_CHAINS][4], r[SINGLE_CHAINS][4];
    single_normals<KIND>(a, lane, chain, z);
    single_coefficients<LANES>(a, before, &shared);
    wait_for_previous();
    let_next_start();

#pragma unroll
    for (int c = 0; c < SINGLE_CHAINS; ++c) {
        float4 old = {0.0f, 0.0f, 0.0f, 0.0f};
        if (real[c])
            old = __ldcg((const float4 *)(a.x + (int64_t)chain[c] * a.x_stride + 4 * lane));
        x[c][0] = old.x;
        x[c][1] = old.y;
        x[c][2] = old.z;
        x[c][3] = old.w;
    }
    const single_rows<LANES> after = single_load<LANES>(a);
    if (__builtin_expect(__syncthreads_or(any_differs(before, after)), 0)) {
        single_coefficients<LANES>(a, after, &shared);
        __syncthreads();
    }

    float4 inner[4]; /* inner[q]: own rows' coefficients of own column q */
#pragma unroll
    for (int q = 0; q < 4; ++q)
        inner[q] = shared.at[4 * lane + q][0];
#pragma unroll
    for (int c = 0; c < SINGLE_CHAINS; ++c)
        single_start(inner, *(const float4 *)&shared.scale[4 * lane],
                     *(const float4 *)&shared.centre[4 * lane], z[c], x[c], r[c]);
    const int groups = a.dim / 4;
#pragma unroll 2
    for (int g = 1; g < groups; ++g) {
        const float4 *const at = &shared.at[4 * g][lane ^ g];
#pragma unroll
        for (int q = 0; q < 4; ++q) {
            const float4 column = at[q * LANES];
#pragma unroll
            for (int c = 0; c < SINGLE_CHAINS; ++c) {
                const float value = __shfl_sync(all, x[c][q], g, LANES);
                add_if(g > lane, column.x, column.y, value, r[c]);
                add_if(g > lane, column.z, column.w, value, r[c] + 2);
            }
        }
    }
#pragma unroll 2
    for (int g = 0; g < groups; ++g) {
        const float4 *const at = &shared.at[4 * g][lane ^ g];
        float y[SINGLE_CHAINS][4];
#pragma unroll
        for (int c = 0; c < SINGLE_CHAINS; ++c)
            single_finish(inner, r[c], y[c]);
#pragma unroll
        for (int q = 0; q < 4; ++q) {
            const float4 column = at[q * LANES];
#pragma unroll
            for (int c = 0; c < SINGLE_CHAINS; ++c) {
                const float value = __shfl_sync(all, y[c][q], g, LANES);
                x[c][q] = lane == g ? y[c][q] : x[c][q];
                /* sums of lanes that are done take it too; nobody reads them */
                r[c][0] = vocab_fma(column.x, value, r[c][0]);
                r[c][1] = vocab_fma(column.y, value, r[c][1]);
                r[c][2] = vocab_fma(column.z, value, r[c][2]);
                r[c][3] = vocab_fma(column.w, value, r[c][3]);
            }
        }
    }
#pragma unroll
    for (int c = 0; c < SINGLE_CHAINS; ++c)
        if (real[c])
            *(float4 *)(a.out + (int64_t)chain[c] * a.out_stride + 4 * lane) =
                make_float4(x[c][0], x[c][1], x[c][2], x[c][3]);
}

#endif
