/* Words of the native stream for a block of chains, in one instruction set's vocabulary: what
 * normals and draws between bounds are made of. */

enum {
    CHUNK = 64,            /* sites at a time: 4 KiB of words in AVX-512 */
    ABREAST = 2 * V_HALVES /* Philox counters side by side */
};

/* Counter words 1 to 3 for the chains of one vq: lanes chain, chain + step, chain + 2 step ... */
static inline gbs_philox_fixed fix_chains(const gbs_normals_job *job, const gbs_philox_key *key,
                                          int64_t chain, int step_log2)
{
    const vq chains = vq_add(vq_set1((uint64_t)chain), vq_shl(vq_iota(), step_log2));
    const uint32_t word3 = (uint32_t)(job->sweep >> 32) << 16 | (uint32_t)job->purpose << 8;
    return gbs_philox_fix(key, (uint32_t)job->sweep, chains,
                          vq_or(vq_shr(chains, 32), vq_set1(word3)));
}

/* Words of counters fixed[0] .. fixed[count - 1] at `place`, then at the places after it. */
ALWAYS_INLINE void words_abreast(const gbs_philox_key *key, const gbs_philox_fixed *fixed,
                                 const int count, int64_t place, const int places,
                                 vq words[ABREAST][4])
{
    UNROLL for (int n = 0; n < places * count; ++n)
        gbs_philox_start(&fixed[n % count], (uint32_t)(place + n / count), words[n]);
    UNROLL for (int round = 2; round < GBS_PHILOX_ROUNDS; ++round)
        UNROLL for (int n = 0; n < places * count; ++n) gbs_philox_round(key, round, words[n]);
}

ALWAYS_INLINE void places_f32(const gbs_philox_key *key, const gbs_philox_fixed fixed[V_HALVES],
                              int64_t place, const int places, void *words, int64_t row)
{
    vq word[ABREAST][4];
    words_abreast(key, fixed, V_HALVES, place, places, word);
    UNROLL for (int n = 0; n < 4 * places; ++n)
    {
        vq halves[V_HALVES];
        for (int h = 0; h < V_HALVES; ++h)
            halves[h] = word[n / 4 * V_HALVES + h][n % 4];
        const vw joined = vw_join(halves);
        memcpy((char *)words + n * row, &joined, sizeof joined);
    }
}

ALWAYS_INLINE void places_f64(const gbs_philox_key *key, const gbs_philox_fixed *fixed,
                              int64_t place, const int places, void *words, int64_t row)
{
    vq word[ABREAST][4];
    words_abreast(key, fixed, 1, place, places, word);
    UNROLL for (int n = 0; n < places; ++n)
    {
        const vq first = gbs_word53(word[n][0], word[n][1]);
        const vq second = gbs_word53(word[n][2], word[n][3]);
        memcpy((char *)words + 2 * n * row, &first, sizeof first);
        memcpy((char *)words + (2 * n + 1) * row, &second, sizeof second);
    }
}

/* Words of `count` sites from `site` on, and of the sites that share the last one's counter; rows
 * of `words` are `row` bytes apart. */
static void words_f32(const gbs_philox_key *key, const gbs_philox_fixed fixed[V_HALVES],
                      int64_t site, int64_t count, void *words, int64_t row)
{
    enum { PLACES = ABREAST / V_HALVES };
    int64_t k = 0;
    for (; k + 4 * (PLACES - 1) < count; k += 4 * PLACES)
        places_f32(key, fixed, (site + k) / 4, PLACES, (char *)words + k * row, row);
    for (; k < count; k += 4)
        places_f32(key, fixed, (site + k) / 4, 1, (char *)words + k * row, row);
}

static void words_f64(const gbs_philox_key *key, const gbs_philox_fixed *fixed, int64_t site,
                      int64_t count, void *words, int64_t row)
{
    int64_t k = 0;
    for (; k + 2 * (ABREAST - 1) < count; k += 2 * ABREAST)
        places_f64(key, fixed, (site + k) / 2, ABREAST, (char *)words + k * row, row);
    for (; k < count; k += 2)
        places_f64(key, fixed, (site + k) / 2, 1, (char *)words + k * row, row);
}

static int64_t chunk_at(const gbs_normals_job *job, int64_t done)
{
    const int64_t left = job->sites - done;
    return left < CHUNK ? left : CHUNK;
}
