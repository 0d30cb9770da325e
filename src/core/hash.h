/* A 64-bit hash of words: one step is a bijection of the state for each word and of the word for
 * each state, so that a change within one word always changes the result, and any other with
 * probability 1 - 2^-64.  For noticing damage and mix-ups, not malice.  Private. */
#ifndef GBS_CORE_HASH_H
#define GBS_CORE_HASH_H

#include <stdint.h>

#define GBS_HASH_START UINT64_C(0x9e3779b97f4a7c15)

/* Goes on with `count` words in memory, each of `size` bytes (4 or 8) in this machine's order. */
uint64_t gbs_hash_words(uint64_t hash, const void *words, int64_t count, int size);

#endif
