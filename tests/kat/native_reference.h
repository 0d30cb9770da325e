/* The native stream by the book: textbook Philox4x32-10 on 32-bit words (Salmon, Moraes, Dror and
 * Shaw 2011) and the counter of docs/streams.md, written without the library's stream code.  Only
 * the map from two words to two normals is the library's, in its scalar vocabulary; its bits are
 * checked by native_normals.csv. */
#ifndef GBS_TEST_NATIVE_REFERENCE_H
#define GBS_TEST_NATIVE_REFERENCE_H

#include "gibbsite/gibbsite.h"
#include "rng/vocab_scalar.h"
#include "rng/normal.h"

/* Where a normal comes from, but for its place. */
typedef struct native_address {
    uint64_t seed;
    uint64_t sweep;
    int64_t chain;
    uint32_t purpose;
} native_address;

static inline void reference_philox(const uint32_t counter[4], uint64_t seed, uint32_t out[4])
{
    uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]};
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; ++round) {
        const uint64_t p0 = (uint64_t)c[0] * 0xD2511F53u, p1 = (uint64_t)c[2] * 0xCD9E8D57u;
        const uint32_t next[4] = {(uint32_t)(p1 >> 32) ^ c[1] ^ key0, (uint32_t)p1,
                                  (uint32_t)(p0 >> 32) ^ c[3] ^ key1, (uint32_t)p0};
        memcpy(c, next, sizeof c);
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    memcpy(out, c, sizeof c);
}

static inline void reference_words(native_address at, uint32_t group, uint32_t out[4])
{
    const uint32_t counter[4] = {group, (uint32_t)at.sweep, (uint32_t)at.chain,
                                 (uint32_t)(at.sweep >> 32) << 16 | at.purpose << 8 |
                                     (uint32_t)((uint64_t)at.chain >> 32)};
    reference_philox(counter, at.seed, out);
}

/* The normals of places 0 .. sites-1, widened. */
static inline void reference_normals(gbs_type type, native_address at, int64_t sites, double *z)
{
    const int64_t each = type == GBS_F32 ? 4 : 2;
    for (int64_t group = 0; group * each < sites; ++group) {
        uint32_t w[4];
        double four[4];
        reference_words(at, (uint32_t)group, w);
        if (type == GBS_F32) {
            float f[4];
            gbs_normal_pair_f32(w[0], w[1], &f[0], &f[1]);
            gbs_normal_pair_f32(w[2], w[3], &f[2], &f[3]);
            for (int k = 0; k < 4; ++k)
                four[k] = (double)f[k];
        } else {
            const uint64_t radius = w[0] ^ (uint64_t)w[1] << 21,
                           angle = w[2] ^ (uint64_t)w[3] << 21;
            gbs_normal_pair_f64(radius, angle, &four[0], &four[1]);
        }
        for (int64_t k = 0; k < each && group * each + k < sites; ++k)
            z[group * each + k] = four[k];
    }
}

#endif
