/* Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
 * SC 2011), written in a vocabulary (vocab_*.h): the lanes are chains.
 *
 * Words live in the low halves of 64-bit lanes, so that a product is its own low word and the
 * high halves never need clearing.  Counter words 1 to 3 (sweep, chain, purpose) stay fixed
 * while word 0 runs over the sites, so the part of rounds 1 and 2 that depends on them alone is
 * done once (gbs_philox_fixed): 3 of the 20 products. */
#ifndef GBS_RNG_PHILOX_H
#define GBS_RNG_PHILOX_H

#define GBS_PHILOX_M0 0xD2511F53u
#define GBS_PHILOX_M1 0xCD9E8D57u
#define GBS_PHILOX_W0 0x9E3779B9u
#define GBS_PHILOX_W1 0xBB67AE85u
#define GBS_PHILOX_ROUNDS 10

typedef struct gbs_philox_key {
    uint32_t word[GBS_PHILOX_ROUNDS][2];
} gbs_philox_key;

GBS_INLINE gbs_philox_key gbs_philox_schedule(uint64_t seed)
{
    gbs_philox_key key;
    for (uint32_t round = 0; round < GBS_PHILOX_ROUNDS; ++round) {
        key.word[round][0] = (uint32_t)seed + round * GBS_PHILOX_W0;
        key.word[round][1] = (uint32_t)(seed >> 32) + round * GBS_PHILOX_W1;
    }
    return key;
}

/* What rounds 1 and 2 make of counter words 1, 2 and 3. */
typedef struct gbs_philox_fixed {
    vq word1_key; /* word 1 after round 1, xor key word 0 of round 2 */
    vq word3_key; /* counter word 3 xor key word 1 of round 1 */
    vq product0;  /* M0 times word 0 after round 1 */
    vq high0_key; /* its high word xor key word 1 of round 2 */
} gbs_philox_fixed;

GBS_INLINE gbs_philox_fixed gbs_philox_fix(const gbs_philox_key *key, uint32_t word1, vq word2,
                                           vq word3)
{
    gbs_philox_fixed fixed;
    const vq product1 = vq_mul_low(word2, vq_set1(GBS_PHILOX_M1));
    const vq word0 = vq_xor(vq_shr(product1, 32), vq_set1(word1 ^ key->word[0][0]));
    fixed.word1_key = vq_xor(product1, vq_set1(key->word[1][0]));
    fixed.word3_key = vq_xor(word3, vq_set1(key->word[0][1]));
    fixed.product0 = vq_mul_low(word0, vq_set1(GBS_PHILOX_M0));
    fixed.high0_key = vq_xor(vq_shr(fixed.product0, 32), vq_set1(key->word[1][1]));
    return fixed;
}

/* The counter of word 0 = place after rounds 0 and 1. */
GBS_INLINE void gbs_philox_start(const gbs_philox_fixed *fixed, uint32_t place, vq word[4])
{
    const uint64_t product = (uint64_t)place * GBS_PHILOX_M0;
    const vq word2 = vq_xor(fixed->word3_key, vq_set1(product >> 32));
    const vq product1 = vq_mul_low(word2, vq_set1(GBS_PHILOX_M1));
    word[0] = vq_xor(vq_shr(product1, 32), fixed->word1_key);
    word[1] = product1;
    word[2] = vq_xor(fixed->high0_key, vq_set1(product & 0xFFFFFFFFu));
    word[3] = fixed->product0;
}

GBS_INLINE void gbs_philox_round(const gbs_philox_key *key, int round, vq word[4])
{
    const vq p0 = vq_mul_low(word[0], vq_set1(GBS_PHILOX_M0));
    const vq p1 = vq_mul_low(word[2], vq_set1(GBS_PHILOX_M1));
    word[0] = vq_xor3(vq_shr(p1, 32), word[1], vq_set1_low(key->word[round][0]));
    word[1] = p1;
    word[2] = vq_xor3(vq_shr(p0, 32), word[3], vq_set1_low(key->word[round][1]));
    word[3] = p0;
}

/* The four output words for counter word 0 = place; high halves are not clean. */
GBS_INLINE void gbs_philox_words(const gbs_philox_key *key, const gbs_philox_fixed *fixed,
                                 uint32_t place, vq out[4])
{
    gbs_philox_start(fixed, place, out);
    for (int round = 2; round < GBS_PHILOX_ROUNDS; ++round)
        gbs_philox_round(key, round, out);
}

#endif
