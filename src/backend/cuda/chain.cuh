/* What kernels that give a thread a chain of its own share: the chain's numbers, its states and
 * the loop over its sweeps. */
#ifndef GBS_CUDA_CHAIN_CUH
#define GBS_CUDA_CHAIN_CUH

#include "backend/cuda/bounded_args.cuh"
#include "backend/cuda/device_noise.cuh"
#include "rng/truncnorm.h"

#define PURPOSE_TRUNCATED 2 /* counter word 3 (backend/backend.h) */
#define PURPOSE_CELL 3

template <typename T> struct bounded_traits;
template <> struct bounded_traits<float> {
    typedef uint32_t word;
    static constexpr int sites = 4; /* of a Philox call */
};
template <> struct bounded_traits<double> {
    typedef uint64_t word;
    static constexpr int sites = 2;
};

static __device__ __forceinline__ float between(float m, float s, float lo, float hi, uint32_t word)
{
    return gbs_between_f32(m, s, lo, hi, word);
}

static __device__ __forceinline__ double between(double m, double s, double lo, double hi,
                                                 uint64_t word)
{
    return gbs_between_f64(m, s, lo, hi, word);
}

static __device__ __forceinline__ float overrelaxed(float m, float s, float lo, float hi, float x,
                                                    float z, uint32_t word, float r, float beside)
{
    return gbs_overrelaxed_f32(m, s, lo, hi, x, z, word, r, beside);
}

static __device__ __forceinline__ double overrelaxed(double m, double s, double lo, double hi,
                                                     double x, double z, uint64_t word, double r,
                                                     double beside)
{
    return gbs_overrelaxed_f64(m, s, lo, hi, x, z, word, r, beside);
}

/* One number of a few in registers. */
template <typename V, int COUNT>
static __device__ __forceinline__ V picked(const V values[COUNT], int k)
{
    V value = values[0];
#pragma unroll
    for (int j = 1; j < COUNT; ++j)
        value = k == j ? values[j] : value;
    return value;
}

static __device__ __forceinline__ void words_of(const vq w[4], uint32_t words[4])
{
#pragma unroll
    for (int k = 0; k < 4; ++k)
        words[k] = (uint32_t)w[k];
}

static __device__ __forceinline__ void words_of(const vq w[4], uint64_t words[2])
{
    words[0] = gbs_word53(w[0], w[1]);
    words[1] = gbs_word53(w[2], w[3]);
}

/* The numbers of one chain in one pass, site by site.  Neighbours share a call of Philox, so the
 * last call's numbers are kept. */
template <typename T> struct chain_noise {
    static constexpr int sites = bounded_traits<T>::sites;
    typedef typename bounded_traits<T>::word word_type;
    const bounded_args<T> &a;
    const gbs_philox_key &key;
    int64_t chain, pass; /* of this run; chains of all groups are numbered through */
    gbs_philox_fixed for_normals, for_words;
    int normals_call, words_call;
    T normals[sites];
    word_type words[sites];

    __device__ __forceinline__ chain_noise(const bounded_args<T> &args, const gbs_philox_key &k,
                                           int64_t c)
        : a(args), key(k), chain(c)
    {
    }

    __device__ __forceinline__ void start(int64_t number)
    {
        pass = number;
        normals_call = words_call = -1;
        const uint64_t global = a.first_chain + (uint64_t)chain,
                       sweep = a.first_pass + (uint64_t)number;
        for_normals = native_pass(key, global, sweep, 0);
        for_words =
            native_pass(key, global, sweep, a.overrelaxed ? PURPOSE_CELL : PURPOSE_TRUNCATED);
    }

    __device__ __forceinline__ const T *given(int place) const
    {
        return a.given + (pass * a.dim + place) * a.groups * a.chains + chain;
    }

    __device__ __forceinline__ T normal(int place)
    {
        if (a.given != NULL)
            return *given(place);
        const int site = a.site != NULL ? (int)a.site[place] : place, call = site / sites;
        if (call != normals_call) {
            native_normals(key, for_normals, (uint32_t)call, normals);
            normals_call = call;
        }
        return picked<T, sites>(normals, site % sites);
    }

    __device__ __forceinline__ word_type word(int place)
    {
        if (a.given != NULL)
            return *(const word_type *)given(place);
        const int site = a.site != NULL ? (int)a.site[place] : place, call = site / sites;
        if (call != words_call) {
            vq w[4];
            gbs_philox_words(&key, &for_words, (uint32_t)call, w);
            words_of(w, words);
            words_call = call;
        }
        return picked<word_type, sites>(words, site % sites);
    }
};

/* A thread's states, in shared memory [place][THREADS], whose offsets fit an int, or with THREADS 0
 * in a workspace [place][chains]. */
template <typename T, int THREADS> struct chain_states {
    T *states;
    int64_t chains; /* not read in shared memory */

    __device__ __forceinline__ T &x(int p) const
    {
        if constexpr (THREADS > 0)
            return states[p * THREADS];
        else
            return states[p * chains];
    }
};

/* Brings a chain's state, makes its sweeps by `pass(noise, half)`, keeps what is to be kept and
 * takes the state back. */
template <typename T, typename STATES, typename PASS>
static __device__ __forceinline__ void run_chain(const bounded_args<T> &a,
                                                 const gbs_philox_key &key, const STATES &at,
                                                 int64_t group, int64_t chain, const PASS &pass)
{
    const int dim = (int)a.dim;
    const T *const from = a.x + group * a.x_stride[0] + chain * a.x_stride[1];
    for (int p = 0; p < dim; ++p)
        at.x(p) = from[p * a.x_stride[2]];
    const int64_t number = group * a.chains + chain;
    chain_noise<T> noise(a, key, number);
    T *kept = a.kept + number * dim;
    int64_t until_kept = a.keep_every; /* 0: never */
    for (int64_t sweep = 0; sweep < a.sweeps; ++sweep) {
        for (int half = 0; half < a.passes; ++half) {
            noise.start(sweep * a.passes + half);
            pass(&noise, half);
        }
        if (--until_kept == 0) {
            for (int p = 0; p < dim; ++p)
                kept[p] = at.x(p);
            kept += a.groups * a.chains * dim;
            until_kept = a.keep_every;
        }
    }
    T *const to = a.out + group * a.out_stride[0] + chain * a.out_stride[1];
    for (int p = 0; p < dim; ++p)
        to[p * a.out_stride[2]] = at.x(p);
}

#endif
