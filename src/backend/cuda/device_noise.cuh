/* Normals on the device.  The native stream is philox.h and normal.h, the very text that the CPU
 * is built from; torch's stream is what curand's Box-Muller gives inside PyTorch, with the
 * contractions that PyTorch's build has written out. */
#ifndef GBS_CUDA_DEVICE_NOISE_CUH
#define GBS_CUDA_DEVICE_NOISE_CUH

#include "backend/cuda/sweep_args.cuh"

#define GBS_INLINE static __device__ __forceinline__
#include "backend/cuda/vocab_cuda.cuh"
#include "rng/philox.h"
#include "rng/normal.h"

/* Type traits: how many places one Philox call serves. */
template <typename T> struct noise_traits;
template <> struct noise_traits<float> {
    static constexpr int places = 4;
};
template <> struct noise_traits<double> {
    static constexpr int places = 2;
};

static __device__ __forceinline__ gbs_philox_fixed native_pass(const gbs_philox_key &key,
                                                               uint64_t chain, uint64_t pass,
                                                               int purpose)
{
    const uint32_t word3 =
        (uint32_t)(pass >> 32) << 16 | (uint32_t)purpose << 8 | (uint32_t)(chain >> 32);
    return gbs_philox_fix(&key, (uint32_t)pass, (uint32_t)chain, word3);
}

static __device__ __forceinline__ void
native_normals(const gbs_philox_key &key, const gbs_philox_fixed &fixed, uint32_t block, float z[4])
{
    vq words[4];
    gbs_philox_words(&key, &fixed, block, words);
    gbs_normal_pair_f32((vw)words[0], (vw)words[1], &z[0], &z[1]);
    gbs_normal_pair_f32((vw)words[2], (vw)words[3], &z[2], &z[3]);
}

static __device__ __forceinline__ void native_normals(const gbs_philox_key &key,
                                                      const gbs_philox_fixed &fixed, uint32_t block,
                                                      double z[2])
{
    vq words[4];
    gbs_philox_words(&key, &fixed, block, words);
    gbs_normal_pair_f64(gbs_word53(words[0], words[1]), gbs_word53(words[2], words[3]), &z[0],
                        &z[1]);
}

/* Four normals of one Philox block of places: float 4k .. 4k+3, double the two blocks. */
static __device__ __forceinline__ void
native_group(const gbs_philox_key &key, const gbs_philox_fixed &fixed, uint32_t group, float z[4])
{
    native_normals(key, fixed, group, z);
}

static __device__ __forceinline__ void
native_group(const gbs_philox_key &key, const gbs_philox_fixed &fixed, uint32_t group, double z[4])
{
    native_normals(key, fixed, 2 * group, z);
    native_normals(key, fixed, 2 * group + 1, z + 2);
}

/* ---- torch ---- */

/* Where element e of a call sits in torch's grid: what does not change from call to call. */
struct torch_place {
    uint32_t thread, output; /* output: which of the thread's normals */
    gbs_philox_fixed fixed;  /* for counters below 2^32 */
};

static __device__ __forceinline__ torch_place torch_place_of(const gbs_noise_args &noise,
                                                             const gbs_philox_key &key, int64_t e)
{
    torch_place place; /* one call has fewer than 2^32 elements */
    const uint32_t threads = noise.call_threads > 0 ? noise.call_threads : 1; /* other streams */
    place.output = (uint32_t)e / threads;
    place.thread = (uint32_t)e % threads;
    place.fixed = gbs_philox_fix(&key, 0, place.thread, 0);
    return place;
}

static __device__ __forceinline__ void
torch_philox(const gbs_philox_key &key, const torch_place &place, uint64_t counter, vq words[4])
{
    if (counter >> 32 == 0) {
        gbs_philox_words(&key, &place.fixed, (uint32_t)counter, words);
    } else {
        const gbs_philox_fixed fixed =
            gbs_philox_fix(&key, (uint32_t)(counter >> 32), place.thread, 0);
        gbs_philox_words(&key, &fixed, (uint32_t)counter, words);
    }
}

/* torch's normal of two words: the first or the second of its pair. */
static __device__ __forceinline__ float torch_normal_of(uint32_t x, uint32_t y, bool second)
{
    const float u = __fmaf_rn((float)x, 0x1p-32f, 0x1p-33f);
    const float v = __fmaf_rn((float)y, 0x1.921fb6p-30f, 0x1.921fb6p-31f);
    const float l = -2.0f * logf(u);
    const float r = l == 0.0f ? l : vf_sqrt(l); /* rounded, as torch's; -0 stays */
    float sine, cosine;
    __sincosf(v, &sine, &cosine);
    return (second ? cosine : sine) * r;
}

/* This element of the call whose generator offset is `offset`. */
static __device__ __forceinline__ float
torch_normal(const gbs_philox_key &key, const torch_place &place, uint64_t offset, float)
{
    vq w[4];
    torch_philox(key, place, offset / 4 + place.output / 4, w);
    const bool late = place.output & 2;
    const uint32_t x = late ? (uint32_t)w[2] : (uint32_t)w[0],
                   y = late ? (uint32_t)w[3] : (uint32_t)w[1];
    return torch_normal_of(x, y, place.output & 1);
}

static __device__ __forceinline__ double
torch_normal(const gbs_philox_key &key, const torch_place &place, uint64_t offset, double)
{
    vq w[4];
    torch_philox(key, place, offset / 4 + place.output / 2, w);
    const double u = __fma_rn((double)gbs_word53(w[0], w[1]), 0x1p-53, 0x1p-54);
    const double v = __fma_rn((double)gbs_word53(w[2], w[3]), 0x1p-52, 0x1p-53);
    const double r = sqrt(-2.0 * log(u));
    double sine, cosine;
    sincospi(v, &sine, &cosine);
    return ((place.output & 1) ? cosine : sine) * r;
}

static __device__ __forceinline__ uint64_t torch_offset(const gbs_noise_args &noise)
{
    return noise.torch_offset + (noise.device_offset != NULL ? *noise.device_offset : 0);
}

/* The native stream's key is read where it lies, in the kernel's arguments: an operand that costs
 * no instruction. */
static __device__ __forceinline__ const gbs_philox_key &native_key(const gbs_noise_args &noise)
{
    return *(const gbs_philox_key *)noise.key;
}

/* A native seed found at replay: what is there, or, with an offset, what tensor.random_() would
 * draw from that torch generator: words 0 and 1 of its thread 0, the first the high one. */
static __device__ __forceinline__ uint64_t replayed_seed(const gbs_noise_args &noise)
{
    if (noise.device_offset == NULL)
        return *noise.device_seed;
    const gbs_philox_key key = gbs_philox_schedule(*noise.device_seed);
    const uint64_t counter = torch_offset(noise) / 4;
    const gbs_philox_fixed fixed = gbs_philox_fix(&key, (uint32_t)(counter >> 32), 0, 0);
    vq words[4];
    gbs_philox_words(&key, &fixed, (uint32_t)counter, words);
    return (uint64_t)(uint32_t)words[0] << 32 | (uint32_t)words[1];
}

/* The key of a kernel's noise, made at its start. */
template <int KIND>
static __device__ __forceinline__ gbs_philox_key noise_key(const gbs_noise_args &noise)
{
    if constexpr (KIND == NATIVE_REPLAYED)
        return gbs_philox_schedule(replayed_seed(noise));
    if (KIND == GBS_STREAM_TORCH_CUDA && noise.device_seed != NULL)
        return gbs_philox_schedule(*noise.device_seed);
    return native_key(noise);
}

/* The same where the native stream uses it; `made` is noise_key's. */
template <int KIND>
static __device__ __forceinline__ const gbs_philox_key &native_key(const gbs_noise_args &noise,
                                                                   const gbs_philox_key &made)
{
    return KIND == NATIVE_REPLAYED ? made : native_key(noise);
}

/* The normals of COUNT places in a row (4, or 2) from p on (a multiple of COUNT) of pass `pass`,
 * for chain e.  `key` is noise_key's, `fixed` serves the native stream and `torch` torch's; places
 * at or beyond dim get 0.  A pass that goes `backward` makes torch's calls in its own order of
 * visit. */
template <typename T, int KIND, int COUNT>
static __device__ __forceinline__ void
group_normals(const gbs_sweep_args &a, const gbs_philox_key &key, const gbs_philox_fixed &fixed,
              const torch_place &torch, uint64_t offset, int64_t pass, bool backward, int p,
              int64_t e, T z[COUNT])
{
    const gbs_noise_args &noise = a.noise;
    if constexpr (KIND == GBS_STREAM_NATIVE || KIND == NATIVE_REPLAYED) {
        T four[4];
        native_group(native_key<KIND>(noise, key), fixed, (uint32_t)p / 4, four);
#pragma unroll
        for (int k = 0; k < COUNT; ++k)
            z[k] = COUNT == 2 && p % 4 != 0 ? four[2 + k % 2] : four[k];
    } else {
#pragma unroll
        for (int k = 0; k < COUNT; ++k)
            z[k] = T(0);
            /* one after another: copies of this code would cost more to fetch than to run */
#pragma unroll 1
        for (int site = p; site < p + COUNT; ++site) {
            T value = T(0);
            if (site < a.dim) {
                if constexpr (KIND == GBS_STREAM_GIVEN) {
                    value =
                        ((const T *)noise.given)[(pass * a.dim + site) * noise.call_elements + e];
                } else {
                    const int64_t call = pass * a.dim + (backward ? a.dim - 1 - site : site);
                    value =
                        torch_normal(key, torch, offset + (uint64_t)call * noise.call_advance, T());
                }
            }
            /* the array stays in registers: the newest enters from the right */
#pragma unroll
            for (int k = 0; k < COUNT - 1; ++k)
                z[k] = z[k + 1];
            z[COUNT - 1] = value;
        }
    }
}

#endif
