/* torch.randn on a CPU: the 32-bit Mersenne Twister (Matsumoto and Nishimura 1998) and the two
 * ways torch turns its words into normals: blocks of 16 for calls of 16 elements or more, single
 * pairs with the second half kept below.  Follows PyTorch's CPUGeneratorImpl.cpp,
 * MT19937RNGEngine.h, cpu/DistributionTemplates.h (normal_fill) and core/DistributionsHelper.h
 * (normal_distribution).  Words and state are exact; a normal is the exact formula to rounding,
 * where torch's own float version is off by up to 3e-6 (torch_body.h). */
#include "rng/torch_stream.h"
#include "rng/torch_kernels.h"
#include "rng/torch_single.h"

#include <math.h>
#include <string.h>

enum { WORDS = 624, MIDDLE = 397, BLOCK = 16, HALF = 8, BATCH_BLOCKS = 16 };
enum { BATCH = BATCH_BLOCKS * BLOCK, BATCH_PAIRS = BATCH_BLOCKS * HALF };

/* Where torch's CPUGeneratorImplState keeps its fields. */
enum {
    AT_SEED = 0,
    AT_LEFT = 8,
    AT_SEEDED = 12,
    AT_NEXT = 16,
    AT_WORDS = 24,
    AT_UNUSED_X = 5016,
    AT_NORMAL = 5024,
    AT_UNUSED_RHO = 5032,
    AT_HAS_NORMAL = 5040,
    AT_FLOAT_NORMAL = 5048,
    AT_HAS_FLOAT_NORMAL = 5052
};

/* ---- the generator ---- */

void gbs_torch_cpu_seed(gbs_torch_cpu *generator, uint64_t seed)
{
    memset(generator, 0, sizeof *generator);
    generator->seed = seed;
    generator->words[0] = (uint32_t)seed;
    for (uint32_t k = 1; k < WORDS; k++) {
        const uint32_t last = generator->words[k - 1];
        generator->words[k] = 1812433253u * (last ^ (last >> 30)) + k;
    }
    generator->left = 1;
    generator->seeded = 1;
}

static inline uint32_t twisted(uint32_t high, uint32_t low)
{
    const uint32_t mixed = (high & 0x80000000u) | (low & 0x7fffffffu);
    return (mixed >> 1) ^ ((0u - (low & 1u)) & 0x9908b0dfu);
}

/* The next 624 words in place.  Each loop reads only what it has not yet written or wrote at
 * least 227 places ago, so both vectorise. */
static void twist(uint32_t *words)
{
    for (int k = 0; k < WORDS - MIDDLE; k++)
        words[k] = words[k + MIDDLE] ^ twisted(words[k], words[k + 1]);
    for (int k = WORDS - MIDDLE; k < WORDS - 1; k++)
        words[k] = words[k + MIDDLE - WORDS] ^ twisted(words[k], words[k + 1]);
    words[WORDS - 1] = words[MIDDLE - 1] ^ twisted(words[WORDS - 1], words[0]);
}

static inline uint32_t tempered(uint32_t w)
{
    w ^= w >> 11;
    w ^= (w << 7) & 0x9d2c5680u;
    w ^= (w << 15) & 0xefc60000u;
    return w ^ (w >> 18);
}

/* The next n words; NULL skips them.  Between calls left + next = 625, but 1 and 0 when fresh. */
static void take_words(gbs_torch_cpu *generator, int64_t n, uint32_t *restrict out)
{
    while (n > 0) {
        if (generator->left == 1) {
            twist(generator->words);
            generator->left = WORDS + 1;
            generator->next = 0;
        }
        const int64_t ready = WORDS - (int64_t)generator->next;
        const int64_t count = n < ready ? n : ready;
        if (out != NULL) {
            const uint32_t *restrict words = generator->words + generator->next;
            for (int64_t k = 0; k < count; k++)
                out[k] = tempered(words[k]);
            out += count;
        }
        generator->next += (uint64_t)count;
        generator->left -= (int32_t)count;
        n -= count;
    }
}

/* ---- words to normals ---- */

/* The pairs of up to BATCH_BLOCKS whole blocks.  In a block of 16 uniforms the first eight give
 * the radii and the last eight the angles; the normals are the eight cosines, then the sines. */
typedef struct pairs_f32 {
    _Alignas(GBS_ALIGNMENT) uint32_t radius[BATCH_PAIRS];
    _Alignas(GBS_ALIGNMENT) uint32_t angle[BATCH_PAIRS];
    _Alignas(GBS_ALIGNMENT) float cosine[BATCH_PAIRS];
    _Alignas(GBS_ALIGNMENT) float sine[BATCH_PAIRS];
} pairs_f32;

typedef struct pairs_f64 {
    _Alignas(GBS_ALIGNMENT) uint64_t radius[BATCH_PAIRS];
    _Alignas(GBS_ALIGNMENT) uint64_t angle[BATCH_PAIRS];
    _Alignas(GBS_ALIGNMENT) double cosine[BATCH_PAIRS];
    _Alignas(GBS_ALIGNMENT) double sine[BATCH_PAIRS];
} pairs_f64;

static void draw_blocks_f32(gbs_torch_cpu *generator, int64_t blocks, float *out, int64_t stride)
{
    uint32_t words[BATCH];
    pairs_f32 p;
    take_words(generator, blocks * BLOCK, words);
    for (int64_t b = 0; b < blocks; b++) {
        memcpy(p.radius + b * HALF, words + b * BLOCK, HALF * sizeof *words);
        memcpy(p.angle + b * HALF, words + b * BLOCK + HALF, HALF * sizeof *words);
    }
    gbs_torch_kernels_best()->cpu_f32(blocks * HALF, p.radius, p.angle, p.cosine, p.sine);
    for (int64_t b = 0; b < blocks; b++) {
        for (int64_t j = 0; j < HALF; j++) {
            out[(b * BLOCK + j) * stride] = p.cosine[b * HALF + j];
            out[(b * BLOCK + j + HALF) * stride] = p.sine[b * HALF + j];
        }
    }
}

/* A double's word: the first of two is the upper half. */
static inline uint64_t long_word(const uint32_t *words)
{
    return (uint64_t)words[0] << 32 | words[1];
}

static void draw_blocks_f64(gbs_torch_cpu *generator, int64_t blocks, double *out, int64_t stride)
{
    uint32_t words[2 * BATCH] = {0}; /* zeros for the static analyser, which loses count */
    pairs_f64 p;
    take_words(generator, 2 * blocks * BLOCK, words);
    for (int64_t b = 0; b < blocks; b++) {
        for (int64_t j = 0; j < HALF; j++) {
            p.radius[b * HALF + j] = long_word(words + 2 * (b * BLOCK + j));
            p.angle[b * HALF + j] = long_word(words + 2 * (b * BLOCK + j + HALF));
        }
    }
    gbs_torch_kernels_best()->cpu_f64(blocks * HALF, p.radius, p.angle, p.cosine, p.sine);
    for (int64_t b = 0; b < blocks; b++) {
        for (int64_t j = 0; j < HALF; j++) {
            out[(b * BLOCK + j) * stride] = p.cosine[b * HALF + j];
            out[(b * BLOCK + j + HALF) * stride] = p.sine[b * HALF + j];
        }
    }
}

/* A draw of a call of fewer than 16: one pair at a time, angle first, and the sine is kept for
 * the next draw of such a call, of either type. */
static double draw_single(gbs_torch_cpu *generator)
{
    if (generator->has_normal) {
        const double kept = generator->normal;
        generator->has_normal = 0;
        generator->normal = 0.0;
        return kept;
    }
    uint32_t words[4] = {0};
    double cosine;
    take_words(generator, 4, words);
    gbs_torch_single_pair(long_word(words + 2), long_word(words), &cosine, &generator->normal);
    generator->has_normal = 1;
    return cosine;
}

/* Whole blocks in order; then, where n is no multiple of 16, the words of the ragged end are
 * drawn for nothing and a fresh block replaces the last 16 elements. */
void gbs_torch_cpu_randn_f32(gbs_torch_cpu *generator, int64_t n, float *out, int64_t stride)
{
    if (n < BLOCK) {
        for (int64_t k = 0; k < n; k++)
            out[k * stride] = (float)draw_single(generator);
        return;
    }
    for (int64_t done = 0; done + BLOCK <= n; done += BATCH) {
        const int64_t blocks = n - done < BATCH ? (n - done) / BLOCK : BATCH_BLOCKS;
        draw_blocks_f32(generator, blocks, out + done * stride, stride);
    }
    if (n % BLOCK != 0) {
        take_words(generator, n % BLOCK, NULL);
        draw_blocks_f32(generator, 1, out + (n - BLOCK) * stride, stride);
    }
}

void gbs_torch_cpu_randn_f64(gbs_torch_cpu *generator, int64_t n, double *out, int64_t stride)
{
    if (n < BLOCK) {
        for (int64_t k = 0; k < n; k++)
            out[k * stride] = draw_single(generator);
        return;
    }
    for (int64_t done = 0; done + BLOCK <= n; done += BATCH) {
        const int64_t blocks = n - done < BATCH ? (n - done) / BLOCK : BATCH_BLOCKS;
        draw_blocks_f64(generator, blocks, out + done * stride, stride);
    }
    if (n % BLOCK != 0) {
        take_words(generator, 2 * (n % BLOCK), NULL);
        draw_blocks_f64(generator, 1, out + (n - BLOCK) * stride, stride);
    }
}

/* ---- the state in torch's bytes, little endian ---- */

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

static inline void put(unsigned char *state, int at, int bytes, uint64_t value)
{
    memcpy(state + at, &value, (size_t)bytes);
}

static inline uint64_t get(const unsigned char *state, int at, int bytes)
{
    uint64_t value = 0;
    memcpy(&value, state + at, (size_t)bytes);
    return value;
}

#else

static void put(unsigned char *state, int at, int bytes, uint64_t value)
{
    for (int k = 0; k < bytes; k++)
        state[at + k] = (unsigned char)(value >> (8 * k));
}

static uint64_t get(const unsigned char *state, int at, int bytes)
{
    uint64_t value = 0;
    for (int k = 0; k < bytes; k++)
        value |= (uint64_t)state[at + k] << (8 * k);
    return value;
}

#endif

void gbs_torch_cpu_get_state(const gbs_torch_cpu *generator, unsigned char *state)
{
    uint64_t normal;
    memcpy(&normal, &generator->normal, sizeof normal);
    memset(state, 0, GBS_TORCH_CPU_STATE_BYTES);
    put(state, AT_SEED, 8, generator->seed);
    put(state, AT_LEFT, 4, (uint32_t)generator->left);
    put(state, AT_SEEDED, 4, (uint32_t)generator->seeded);
    put(state, AT_NEXT, 8, generator->next);
    for (int k = 0; k < WORDS; k++)
        put(state, AT_WORDS + 8 * k, 8, generator->words[k]);
    put(state, AT_NORMAL, 8, normal);
    put(state, AT_HAS_NORMAL, 4, (uint32_t)generator->has_normal);
    put(state, AT_FLOAT_NORMAL, 4, generator->float_normal);
    put(state, AT_HAS_FLOAT_NORMAL, 1, (uint32_t)generator->has_float_normal);
}

/* Torch itself would take more, and then read past its own array; a state that its generator
 * cannot reach is refused here. */
static int counters_possible(uint64_t left, uint64_t next)
{
    return (left == 1 && next == 0) || (left >= 1 && left <= WORDS && next == WORDS + 1 - left);
}

/* Every word fits 32 bits, and the 19,937 bits that matter are not all zero: from there the
 * twister never leaves zero, and no seed leads there. */
static int words_possible(const unsigned char *state)
{
    uint64_t any = get(state, AT_WORDS, 8) & 0x80000000u;
    for (int k = 0; k < WORDS; k++) {
        const uint64_t word = get(state, AT_WORDS + 8 * k, 8);
        if (word > UINT32_MAX)
            return 0;
        if (k > 0)
            any |= word;
    }
    return any != 0;
}

/* A flag of 0 or 1, a normal only with the flag, and a finite one. */
static int normals_possible(const unsigned char *state, double normal)
{
    const uint64_t flag = get(state, AT_HAS_NORMAL, 4);
    const uint64_t float_flag = get(state, AT_HAS_FLOAT_NORMAL, 1);
    if (flag > 1 || float_flag > 1 || !isfinite(normal))
        return 0;
    if (flag == 0 && get(state, AT_NORMAL, 8) != 0)
        return 0;
    if (float_flag == 0 && get(state, AT_FLOAT_NORMAL, 4) != 0)
        return 0;
    return get(state, AT_UNUSED_X, 8) == 0 && get(state, AT_UNUSED_RHO, 8) == 0;
}

gbs_status gbs_torch_cpu_set_state(gbs_torch_cpu *generator, const unsigned char *state)
{
    const uint64_t left = get(state, AT_LEFT, 4), next = get(state, AT_NEXT, 8);
    const uint64_t normal_bits = get(state, AT_NORMAL, 8);
    double normal;
    memcpy(&normal, &normal_bits, sizeof normal);
    if (get(state, AT_SEEDED, 4) != 1 || !counters_possible(left, next) || !words_possible(state) ||
        !normals_possible(state, normal))
        return GBS_ERROR_STATE;

    generator->seed = get(state, AT_SEED, 8);
    generator->left = (int32_t)left;
    generator->seeded = 1;
    generator->next = next;
    for (int k = 0; k < WORDS; k++)
        generator->words[k] = (uint32_t)get(state, AT_WORDS + 8 * k, 8);
    generator->normal = normal;
    generator->has_normal = (int32_t)get(state, AT_HAS_NORMAL, 4);
    generator->float_normal = (uint32_t)get(state, AT_FLOAT_NORMAL, 4);
    generator->has_float_normal = (int32_t)get(state, AT_HAS_FLOAT_NORMAL, 1);
    return GBS_OK;
}
