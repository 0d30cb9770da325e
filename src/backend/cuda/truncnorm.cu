/* gbs_cuda_truncnorm_f32 and _f64: draws between bounds on the device, from the very text that the
 * CPU is built from.  A thread makes the draws of one Philox counter, 4 floats or 2 doubles; all
 * threads do the same operations wherever their bounds lie, but for parts that a whole warp can
 * leave out.  Nothing here allocates or waits. */
#include "backend/cuda/device_noise.cuh"
#include "rng/truncnorm.h"
#include "truncnorm/truncnorm_plan.h"

#include <cfloat>
#include <math_constants.h>

#define PURPOSE_TRUNCATED 2
#define THREADS 256

struct truncnorm_args {
    gbs_truncnorm_plan plan;
    gbs_philox_key key;
    uint32_t word1, word2, word3;
    uint64_t place, first_group;
    int given, aligned; /* aligned: all pointers and place allow whole groups at once */
    void *out;
};

template <typename T> struct group_of;
template <> struct group_of<float> {
    typedef uint32_t word;
    typedef float4 values;
    static constexpr int size = 4;
};
template <> struct group_of<double> {
    typedef uint64_t word;
    typedef double2 values;
    static constexpr int size = 2;
};

/* ---- one draw; NaN for what the CPU refuses; bounds are numbers of the type, as there ---- */

static __device__ __forceinline__ float draw(float m, float s, float lo, float hi, uint32_t word)
{
    const bool good = fabsf(m) < CUDART_INF_F && s >= 0x1p-126f && s < CUDART_INF_F &&
                      lo < CUDART_INF_F && hi > -CUDART_INF_F && lo <= hi;
    return good ? gbs_between_f32(m, s, fmaxf(lo, -FLT_MAX), fminf(hi, FLT_MAX), word)
                : CUDART_NAN_F;
}

static __device__ __forceinline__ double draw(double m, double s, double lo, double hi,
                                              uint64_t word)
{
    const bool good = fabs(m) < CUDART_INF && s >= 0x1p-1022 && s < CUDART_INF && lo < CUDART_INF &&
                      hi > -CUDART_INF && lo <= hi;
    return good ? gbs_between_f64(m, s, fmax(lo, -DBL_MAX), fmin(hi, DBL_MAX),
                                  word & 0x1fffffffffffffull)
                : CUDART_NAN;
}

static __device__ __forceinline__ void group_words(const truncnorm_args &a, uint32_t group,
                                                   uint32_t word[4])
{
    const gbs_philox_fixed fixed = gbs_philox_fix(&a.key, a.word1, a.word2, a.word3);
    vq w[4];
    gbs_philox_words(&a.key, &fixed, group, w);
    for (int k = 0; k < 4; ++k)
        word[k] = (uint32_t)w[k];
}

static __device__ __forceinline__ void group_words(const truncnorm_args &a, uint32_t group,
                                                   uint64_t word[2])
{
    const gbs_philox_fixed fixed = gbs_philox_fix(&a.key, a.word1, a.word2, a.word3);
    vq w[4];
    gbs_philox_words(&a.key, &fixed, group, w);
    word[0] = gbs_word53(w[0], w[1]);
    word[1] = gbs_word53(w[2], w[3]);
}

/* ---- operands ---- */

/* Where operand k has its element for out's flat index. */
static __device__ __forceinline__ int64_t element(const gbs_truncnorm_plan &plan, int k, int64_t i)
{
    if (plan.dims == 1)
        return i * plan.stride[k][0];
    int64_t at = 0;
    for (int d = plan.dims - 1; d >= 0; --d) {
        const int64_t rest = i >> 31 == 0 && plan.extent[d] >> 31 == 0
                                 ? (int64_t)((uint32_t)i / (uint32_t)plan.extent[d])
                                 : i / plan.extent[d];
        at += (i - rest * plan.extent[d]) * plan.stride[k][d];
        i = rest;
    }
    return at;
}

template <typename T>
static __device__ __forceinline__ T value(const truncnorm_args &a, int k, int64_t i, T otherwise)
{
    const T *const values = (const T *)a.plan.values[k];
    return values != NULL ? values[element(a.plan, k, i)] : otherwise;
}

/* A whole group of a contiguous operand, or one number for it. */
template <typename T>
static __device__ __forceinline__ void load_group(const truncnorm_args &a, int k, int64_t i,
                                                  T otherwise, T *to)
{
    typedef typename group_of<T>::values values;
    const T *const from = (const T *)a.plan.values[k];
    if (from != NULL && a.plan.stride[k][0] == 1) {
        const values v = *(const values *)(from + i);
        memcpy(to, &v, sizeof v);
        return;
    }
    const T one = from != NULL ? from[0] : otherwise;
    for (int e = 0; e < group_of<T>::size; ++e)
        to[e] = one;
}

/* ---- kernels ---- */

template <typename T>
static __global__ void __launch_bounds__(THREADS) truncnorm_aligned(truncnorm_args a)
{
    constexpr int size = group_of<T>::size;
    const int64_t group = (int64_t)blockIdx.x * THREADS + threadIdx.x, i = group * size;
    if (i >= a.plan.count)
        return;
    T in[4][size], x[size];
    typename group_of<T>::word word[size];
    load_group<T>(a, 0, i, (T)0, in[0]);
    load_group<T>(a, 1, i, (T)1, in[1]);
    load_group<T>(a, 2, i, (T)-CUDART_INF, in[2]);
    load_group<T>(a, 3, i, (T)CUDART_INF, in[3]);
    group_words(a, (uint32_t)(a.first_group + (uint64_t)group), word);
#pragma unroll
    for (int e = 0; e < size; ++e)
        x[e] = draw(in[0][e], in[1][e], in[2][e], in[3][e], word[e]);
    typename group_of<T>::values out;
    memcpy(&out, x, sizeof out);
    ((typename group_of<T>::values *)a.out)[group] = out;
}

template <typename T>
static __global__ void __launch_bounds__(THREADS) truncnorm_any(truncnorm_args a)
{
    typedef typename group_of<T>::word word_type;
    constexpr int size = group_of<T>::size;
    const uint64_t group = a.first_group + (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    word_type word[size];
    if (!a.given)
        group_words(a, (uint32_t)group, word);
#pragma unroll 1
    for (int e = 0; e < size; ++e) {
        const int64_t i = (int64_t)(group * size + (uint64_t)e - a.place);
        if (i < 0 || i >= a.plan.count)
            continue;
        word_type w = a.given ? ((const word_type *)a.plan.values[4])[element(a.plan, 4, i)] : 0;
#pragma unroll
        for (int k = 0; k < size; ++k)
            w = !a.given && k == e ? word[k] : w;
        ((T *)a.out)[i] =
            draw(value<T>(a, 0, i, (T)0), value<T>(a, 1, i, (T)1),
                 value<T>(a, 2, i, (T)-CUDART_INF), value<T>(a, 3, i, (T)CUDART_INF), w);
    }
}

/* ---- the call ---- */

static gbs_status from_cuda(cudaError_t error, char *message, size_t bytes)
{
    if (error == cudaSuccess)
        return GBS_OK;
    return gbs_plan_refuse(message, bytes, GBS_ERROR_UNAVAILABLE, "truncnorm: CUDA says %s (%s)",
                           cudaGetErrorName(error), cudaGetErrorString(error));
}

/* Whole groups can be loaded and stored at once. */
static int is_aligned(const truncnorm_args *a, int64_t size)
{
    uintptr_t bits = (uintptr_t)a->out;
    for (int k = 0; k < 4; ++k)
        bits |= a->plan.stride[k][0] != 0 ? (uintptr_t)a->plan.values[k] : 0;
    return !a->given && a->plan.dims == 1 && bits % 16 == 0 && a->place % (uint64_t)size == 0 &&
           a->plan.count % size == 0;
}

template <typename T>
static gbs_status truncnorm(const gbs_truncnorm_spec *spec, gbs_type type, T *out, void *stream,
                            char *message, size_t bytes)
{
    constexpr int size = group_of<T>::size;
    truncnorm_args a;
    memset(&a, 0, sizeof a);
    if (spec == NULL)
        return gbs_plan_refuse(message, bytes, GBS_ERROR_ARGUMENT, "spec: NULL");
    const gbs_status status = gbs_truncnorm_plan_make(spec, type, &a.plan, message, bytes);
    if (status != GBS_OK || a.plan.count == 0)
        return status;
    if (out == NULL || spec->on_bound != NULL)
        return gbs_plan_refuse(message, bytes, GBS_ERROR_ARGUMENT,
                               out == NULL ? "out: NULL" : "on_bound: not counted on the device");
    for (uint32_t round = 0; round < GBS_PHILOX_ROUNDS; ++round) {
        a.key.word[round][0] = (uint32_t)spec->seed + round * GBS_PHILOX_W0;
        a.key.word[round][1] = (uint32_t)(spec->seed >> 32) + round * GBS_PHILOX_W1;
    }
    a.word1 = (uint32_t)spec->sweep;
    a.word2 = (uint32_t)spec->chain;
    a.word3 = (uint32_t)(spec->sweep >> 32) << 16 | PURPOSE_TRUNCATED << 8 |
              (uint32_t)(spec->chain >> 32);
    a.given = spec->stream == GBS_STREAM_GIVEN;
    a.place = a.given ? 0 : (uint64_t)spec->place;
    a.first_group = a.place / size;
    a.out = out;
    const uint64_t groups = (a.place + (uint64_t)a.plan.count - 1) / size - a.first_group + 1;
    const unsigned blocks = (unsigned)((groups + THREADS - 1) / THREADS);
    if (is_aligned(&a, size))
        truncnorm_aligned<T><<<blocks, THREADS, 0, (cudaStream_t)stream>>>(a);
    else
        truncnorm_any<T><<<blocks, THREADS, 0, (cudaStream_t)stream>>>(a);
    return from_cuda(cudaGetLastError(), message, bytes);
}

extern "C" gbs_status gbs_cuda_truncnorm_f32(const gbs_truncnorm_spec *spec, float *out,
                                             void *stream, char *message, size_t message_bytes)
{
    return truncnorm<float>(spec, GBS_F32, out, stream, message, message_bytes);
}

extern "C" gbs_status gbs_cuda_truncnorm_f64(const gbs_truncnorm_spec *spec, double *out,
                                             void *stream, char *message, size_t message_bytes)
{
    return truncnorm<double>(spec, GBS_F64, out, stream, message, message_bytes);
}
