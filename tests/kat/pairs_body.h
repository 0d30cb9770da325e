/* pairs.h in one vocabulary.  The including file has chosen the vocabulary and defines
 *   PAIRS_NAME  the name of the instance: pairs_scalar ... */
#include "kat/pairs.h"
#include "rng/philox.h"
#include "rng/normal.h"

#include <string.h>

static int philox(const uint32_t counter[4], uint64_t seed, uint32_t out[4])
{
    const gbs_philox_key key = gbs_philox_schedule(seed);
    const gbs_philox_fixed fixed =
        gbs_philox_fix(&key, counter[1], vq_set1(counter[2]), vq_set1(counter[3]));
    vq words[4];
    gbs_philox_words(&key, &fixed, counter[0], words);
    int same = 1;
    for (int k = 0; k < 4; ++k) {
        uint64_t lanes[VD_LANES];
        memcpy(lanes, &words[k], sizeof lanes);
        out[k] = (uint32_t)lanes[0];
        for (int lane = 1; lane < VD_LANES; ++lane)
            same &= (uint32_t)lanes[lane] == out[k];
    }
    return same;
}

static void pairs_f32(int64_t n, const uint32_t *a, const uint32_t *b, float *first, float *second)
{
    for (int64_t i = 0; i < n; i += VF_LANES) {
        vw radius, angle;
        vf x, y;
        memcpy(&radius, a + i, sizeof radius);
        memcpy(&angle, b + i, sizeof angle);
        gbs_normal_pair_f32(radius, angle, &x, &y);
        memcpy(first + i, &x, sizeof x);
        memcpy(second + i, &y, sizeof y);
    }
}

static void pairs_f64(int64_t n, const uint64_t *radius, const uint64_t *angle, double *first,
                      double *second)
{
    for (int64_t i = 0; i < n; i += VD_LANES) {
        vq a, b;
        vd x, y;
        memcpy(&a, radius + i, sizeof a);
        memcpy(&b, angle + i, sizeof b);
        gbs_normal_pair_f64(a, b, &x, &y);
        memcpy(first + i, &x, sizeof x);
        memcpy(second + i, &y, sizeof y);
    }
}

static void word53(int64_t n, const uint64_t *low, const uint64_t *high, uint64_t *out)
{
    for (int64_t i = 0; i < n; i += VD_LANES) {
        vq a, b;
        memcpy(&a, low + i, sizeof a);
        memcpy(&b, high + i, sizeof b);
        const vq word = gbs_word53(a, b);
        memcpy(out + i, &word, sizeof word);
    }
}

#define PAIRS_STRING_(name) #name
#define PAIRS_STRING(name) PAIRS_STRING_(name)

const pairs_instance PAIRS_NAME = {
    .name = PAIRS_STRING(PAIRS_NAME),
    .philox = philox,
    .pairs_f32 = pairs_f32,
    .pairs_f64 = pairs_f64,
    .word53 = word53,
};
