/* The inner loops of the torch streams in a vocabulary (vocab_*.h), included by one file per
 * instruction set, which defines KERNELS and KERNELS_NAME.
 *
 * torch's own normals come from a float or hardware logarithm and sine; these are the same
 * formulae within rounding, from the functions of the native stream.  torch has no lower
 * bound on -2 ln u, unlike the native stream: u = 1 gives 0. */
#include "rng/normal.h"
#include "rng/philox.h"
#include "rng/torch_kernels.h"

#include <string.h>

GBS_INLINE vw load_words(const uint32_t *at)
{
    vw words;
    memcpy(&words, at, sizeof words);
    return words;
}

GBS_INLINE vq load_long_words(const uint64_t *at)
{
    vq words;
    memcpy(&words, at, sizeof words);
    return words;
}

/* gbs_polar_f32 adds half a unit of 2^-32 turns to the angle, which moves a normal by at most
 * 5e-9. */
static void cpu_f32(int64_t pairs, const uint32_t *restrict radius, const uint32_t *restrict angle,
                    float *restrict cosine, float *restrict sine)
{
    for (int64_t k = 0; k < pairs; k += VF_LANES) {
        const vw fraction = vw_and(load_words(radius + k), vw_set1(0xFFFFFFu));
        const vf u = vf_fma(vf_from_signed(fraction), vf_set1(-0x1p-24f), vf_set1(1.0f));
        const vw turn = vw_shl(load_words(angle + k), 8);
        vf first, second;
        gbs_polar_f32(gbs_minus_2_log_f32(u), turn, &first, &second);
        vf_store(sine + k, first);
        vf_store(cosine + k, second);
    }
}

static void cpu_f64(int64_t pairs, const uint64_t *restrict radius, const uint64_t *restrict angle,
                    double *restrict cosine, double *restrict sine)
{
    for (int64_t k = 0; k < pairs; k += VD_LANES) {
        const vq fraction = vq_and(load_long_words(radius + k), vq_set1(0x1FFFFFFFFFFFFFu));
        const vd u = vd_fma(vd_from_unsigned(fraction), vd_set1(-0x1p-53), vd_set1(1.0));
        const vq turn = vq_shl(load_long_words(angle + k), 11);
        vd first, second, l_low;
        const vd l = gbs_minus_2_log_f64(u, &l_low);
        gbs_polar_f64(l, l_low, turn, &first, &second);
        vd_store(sine + k, first);
        vd_store(cosine + k, second);
    }
}

/* Four words each of threads thread + step * lane, at counter (round, thread). */
GBS_INLINE void thread_words(const gbs_philox_key *key, uint64_t round, uint64_t thread, int step,
                             vq words[4])
{
    const vq lanes = step == 2 ? vq_shl(vq_iota(), 1) : vq_iota();
    const vq threads = vq_add(vq_set1(thread), lanes);
    const gbs_philox_fixed fixed =
        gbs_philox_fix(key, (uint32_t)(round >> 32), threads, vq_shr(threads, 32));
    gbs_philox_words(key, &fixed, (uint32_t)round, words);
}

static void cuda_f32(uint64_t seed, uint64_t round, uint64_t thread, int output, int64_t count,
                     float *restrict out)
{
    const gbs_philox_key key = gbs_philox_schedule(seed);
    const int pair = output & 2;
    for (int64_t k = 0; k < count; k += VF_LANES) {
        vq words[4], radius[V_HALVES], angle[V_HALVES];
        for (int half = 0; half < V_HALVES; half++) {
            thread_words(&key, round, thread + (uint64_t)(k + half), V_HALVES, words);
            radius[half] = words[pair];
            angle[half] = words[pair + 1];
        }
        vf first, second;
        const vf u =
            vf_fma(vf_from_unsigned(vw_join(radius)), vf_set1(0x1p-32f), vf_set1(0x1p-33f));
        gbs_polar_f32(gbs_minus_2_log_f32(u), vw_join(angle), &first, &second);
        _Alignas(64) float z[VF_LANES];
        vf_store(z, output & 1 ? second : first);
        const int64_t left = count - k < VF_LANES ? count - k : VF_LANES;
        memcpy(out + k, z, (size_t)left * sizeof *z);
    }
}

static void cuda_f64(uint64_t seed, uint64_t round, uint64_t thread, int output, int64_t count,
                     double *restrict out)
{
    const gbs_philox_key key = gbs_philox_schedule(seed);
    for (int64_t k = 0; k < count; k += VD_LANES) {
        vq words[4];
        thread_words(&key, round, thread + (uint64_t)k, 1, words);
        const vq radius = gbs_word53(words[0], words[1]);
        const vq angle = gbs_word53(words[2], words[3]);
        const vd u = vd_fma(vd_from_unsigned(radius), vd_set1(0x1p-53), vd_set1(0x1p-54));
        const vq turn = vq_or(vq_shl(angle, 11), vq_set1(1u << 10));
        vd first, second, l_low;
        const vd l = gbs_minus_2_log_f64(u, &l_low);
        gbs_polar_f64(l, l_low, turn, &first, &second);
        _Alignas(64) double z[VD_LANES];
        vd_store(z, output & 1 ? second : first);
        const int64_t left = count - k < VD_LANES ? count - k : VD_LANES;
        memcpy(out + k, z, (size_t)left * sizeof *z);
    }
}

const gbs_torch_kernels KERNELS = {KERNELS_NAME, cpu_f32, cpu_f64, cuda_f32, cuda_f64};
