/* Each word is added by exclusive or and mixed by the finaliser of splitmix64 (Steele, Lea and
 * Flood 2014, variant 13 of Stafford's mixers), which is bijective. */
#include "core/hash.h"

#include <string.h>

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t gbs_hash_words(uint64_t hash, const void *words, int64_t count, int size)
{
    const char *at = words;
    for (int64_t k = 0; k < count; ++k, at += size) {
        uint64_t word = 0;
        if (size == 4) {
            uint32_t half;
            memcpy(&half, at, sizeof half);
            word = half;
        } else {
            memcpy(&word, at, sizeof word);
        }
        hash = mix(hash ^ word) + GBS_HASH_START; /* the constant keeps zeros from standing still */
    }
    return hash;
}
