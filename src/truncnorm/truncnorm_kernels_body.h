/* truncnorm_kernels.h in one vocabulary.  The including file has chosen the vocabulary, with
 * GBS_INLINE forced, and defines KERNELS and KERNELS_NAME.
 *
 * A draw is a chain of some 270 dependent operations, of which a processor sees only a part at a
 * time.  So each step is done for ABREAST vectors before the next one begins: within a
 * step the vectors do not depend on each other and are worked on side by side (bench/NOTES.md). */
#include "truncnorm/truncnorm_kernels.h"
#include "rng/philox.h"
#include "rng/truncnorm.h"

#include <math.h>
#include <string.h>

enum { ABREAST = 8 };

#if defined(__clang__)
#define NO_UNROLL _Pragma("nounroll")
#define UNROLL _Pragma("unroll")
#else
#define NO_UNROLL _Pragma("GCC unroll 1")
#define UNROLL _Pragma("GCC unroll 16")
#endif

#define T float
#define V vf
#define M vfm
#define W vw
#define LANES VF_LANES
#define V_(operation) vf_##operation
#define M_(operation) vfm_##operation
#define TYPED(idea) idea##_f32
#define BELOW_NORMAL 0x1.fffffcp-127f /* the largest subnormal number */
#define LARGEST 0x1.fffffep127f
#define INFINITE ((float)INFINITY)
#include "truncnorm/truncnorm_stretch.h"

#define T double
#define V vd
#define M vdm
#define W vq
#define LANES VD_LANES
#define V_(operation) vd_##operation
#define M_(operation) vdm_##operation
#define TYPED(idea) idea##_f64
#define BELOW_NORMAL 0x1.ffffffffffffep-1023
#define LARGEST 0x1.fffffffffffffp1023
#define INFINITE ((double)INFINITY)
#include "truncnorm/truncnorm_stretch.h"

/* ---- native words: the lanes are groups ---- */

enum { COUNTERS = 4 }; /* side by side */

/* Words 1 to 3 do not change, so that of round 0 only the product of word 0 is left to do. */
GBS_INLINE void philox_lanes(const gbs_philox_key *key, const gbs_truncnorm_words *job,
                             int64_t group, vq words[COUNTERS][4])
{
    const uint64_t product1 = (uint64_t)job->word2 * GBS_PHILOX_M1;
    const vq word0 = vq_set1((product1 >> 32) ^ job->word1 ^ key->word[0][0]);
    const vq word2 = vq_set1(job->word3 ^ key->word[0][1]);
    UNROLL for (int n = 0; n < COUNTERS; ++n)
    {
        const uint64_t first = job->group + (uint64_t)group + (uint64_t)(n * VD_LANES);
        const vq product0 = vq_mul_low(vq_add(vq_set1(first), vq_iota()), vq_set1(GBS_PHILOX_M0));
        words[n][0] = word0;
        words[n][1] = vq_set1(product1);
        words[n][2] = vq_xor(vq_shr(product0, 32), word2);
        words[n][3] = product0;
    }
    UNROLL for (int round = 1; round < GBS_PHILOX_ROUNDS; ++round)
        UNROLL for (int n = 0; n < COUNTERS; ++n) gbs_philox_round(key, round, words[n]);
}

static void words_f32(const gbs_truncnorm_words *job)
{
    const gbs_philox_key key = gbs_philox_schedule(job->seed);
    uint32_t *out = job->out;
    for (int64_t group = 0; group < job->groups; group += COUNTERS * VD_LANES) {
        vq words[COUNTERS][4];
        philox_lanes(&key, job, group, words);
        for (int n = 0; n < COUNTERS; ++n, out += 4 * VD_LANES)
            vw_store_fours(out, words[n]);
    }
}

static void words_f64(const gbs_truncnorm_words *job)
{
    const gbs_philox_key key = gbs_philox_schedule(job->seed);
    uint64_t *out = job->out;
    for (int64_t group = 0; group < job->groups; group += COUNTERS * VD_LANES) {
        vq words[COUNTERS][4];
        philox_lanes(&key, job, group, words);
        for (int n = 0; n < COUNTERS; ++n, out += 2 * VD_LANES)
            vq_store_pairs(out, gbs_word53(words[n][0], words[n][1]),
                           gbs_word53(words[n][2], words[n][3]));
    }
}

const gbs_truncnorm_kernels KERNELS = {
    KERNELS_NAME, {draw_f32, draw_f64}, {valid_f32, valid_f64}, {words_f32, words_f64}};
