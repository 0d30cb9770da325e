/* Puts unsigned keys in order by radix (Knuth, The Art of Computer Programming 3, section 5.2.5):
 * the keys' common leading bits are skipped, the next 32 are packed with the key's index into one
 * word, and counting passes from the lowest digit sort the words.  Keys that still agree are few
 * and close together; they are finished by insertion, or, where they are many, by the same passes
 * on the bits that are left.
 *
 * Draws need fewer passes: their range is cut into 2^22 bins of one width, two digits, and of a
 * few thousand draws of a density hardly any two share a bin.  Where many do, an outlier having
 * stretched the range, the bin is sorted by the integers of the doubles' order. */
#include "diag/diag.h"

#include <string.h>

enum { DIGITS = 3, DIGIT_BITS = 11, BUCKETS = 1 << DIGIT_BITS, INSERTION = 64 };

/* Position of the highest set bit of a nonzero word. */
static int highest_bit(uint64_t word)
{
    int bit = 0;
    for (int step = 32; step > 0; step /= 2) {
        if (word >> step != 0) {
            word >>= step;
            bit += step;
        }
    }
    return bit;
}

static uint64_t pack(uint64_t key, int lowest, uint64_t index)
{
    return (key >> lowest) << 32 | index;
}

static uint32_t index_of(uint64_t packed)
{
    return (uint32_t)packed;
}

/* One stable counting pass; `size` holds the sizes of the buckets and is spent. */
static void scatter(const uint64_t *restrict from, uint64_t *restrict to, int64_t count, int shift,
                    uint32_t *restrict size)
{
    uint32_t sum = 0;
    for (int b = 0; b < BUCKETS; b++) {
        const uint32_t here = size[b];
        size[b] = sum;
        sum += here;
    }
    for (int64_t i = 0; i < count; i++)
        to[size[(from[i] >> shift) & (BUCKETS - 1)]++] = from[i];
}

/* Sorts the words by their upper halves, from `words` into `other`. */
static void radix_sort(uint64_t *words, uint64_t *other, int64_t count)
{
    uint32_t size[DIGITS][BUCKETS];
    memset(size, 0, sizeof size);
    for (int64_t i = 0; i < count; i++)
        for (int d = 0; d < DIGITS; d++)
            size[d][(words[i] >> (32 + DIGIT_BITS * d)) & (BUCKETS - 1)]++;
    scatter(words, other, count, 32, size[0]);
    scatter(other, words, count, 32 + DIGIT_BITS, size[1]);
    scatter(words, other, count, 32 + 2 * DIGIT_BITS, size[2]);
}

/* By the whole key; the words' upper halves are equal. */
static void insertion_sort(const uint64_t *keys, uint64_t *words, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        const uint64_t word = words[i], key = keys[index_of(word)];
        int64_t j = i;
        for (; j > 0 && keys[index_of(words[j - 1])] > key; j--)
            words[j] = words[j - 1];
        words[j] = word;
    }
}

/* Finishes each run of words with equal upper halves, by the keys' lower 32 bits. */
static void finish_runs(const uint64_t *keys, uint64_t *words, uint64_t *other, int64_t count)
{
    for (int64_t i = 0, j; i < count; i = j) {
        for (j = i + 1; j < count && words[j] >> 32 == words[i] >> 32; j++) {
        }
        if (j == i + 1)
            continue;
        if (j - i <= INSERTION) {
            insertion_sort(keys, words + i, j - i);
            continue;
        }
        for (int64_t k = i; k < j; k++)
            other[k] = pack(keys[index_of(words[k])], 0, index_of(words[k]));
        radix_sort(other + i, words + i, j - i);
    }
}

void gbs_sort_order(const uint64_t *keys, int64_t count, uint64_t *const work[2], uint32_t *order)
{
    if (count <= INSERTION) {
        for (int64_t i = 0; i < count; i++)
            work[1][i] = (uint64_t)i;
        insertion_sort(keys, work[1], count);
        for (int64_t i = 0; i < count; i++)
            order[i] = index_of(work[1][i]);
        return;
    }
    uint64_t differ = 1;
    for (int64_t i = 0; i < count; i++)
        differ |= keys[i] ^ keys[0];
    const int highest = highest_bit(differ), lowest = highest > 31 ? highest - 31 : 0;
    for (int64_t i = 0; i < count; i++)
        work[0][i] = pack(keys[i], lowest, (uint64_t)i);
    radix_sort(work[0], work[1], count);
    if (lowest > 0)
        finish_runs(keys, work[1], work[0], count);
    for (int64_t i = 0; i < count; i++)
        order[i] = index_of(work[1][i]);
}

/* An unsigned integer in the order of the doubles: negative ones reversed, below the others. */
static uint64_t key_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint64_t negative = (uint64_t)0 - (bits >> 63);
    return bits ^ (negative | (uint64_t)1 << 63);
}

static void sort_by_insertion(const double *x, uint64_t *words, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        const uint64_t word = words[i];
        const double value = x[index_of(word)];
        int64_t j = i;
        for (; j > 0 && x[index_of(words[j - 1])] > value; j--)
            words[j] = words[j - 1];
        words[j] = word;
    }
}

/* A bin of many draws: `words` and `other` are its places in the work's two arrays of words. */
static void sort_by_keys(const gbs_diag_work *work, uint64_t *words, uint64_t *other, int64_t count)
{
    uint64_t *const keys = work->keys;
    uint32_t *const index = work->order, *const rank = (uint32_t *)work->values;
    for (int64_t i = 0; i < count; i++) {
        index[i] = index_of(words[i]);
        keys[i] = key_of(work->x[index[i]]);
    }
    uint64_t *const room[2] = {words, other};
    gbs_sort_order(keys, count, room, rank);
    for (int64_t i = 0; i < count; i++)
        words[i] = index[rank[i]];
}

/* Finishes each bin of more than one draw. */
static void finish_bins(const gbs_diag_work *work, uint64_t *words, uint64_t *other)
{
    const int64_t total = work->total;
    for (int64_t i = 1; i < total; i++) {
        if ((words[i] ^ words[i - 1]) >> 32 != 0)
            continue;
        const int64_t first = i - 1;
        for (i++; i < total && (words[i] ^ words[i - 1]) >> 32 == 0; i++) {
        }
        if (i - first > INSERTION)
            sort_by_keys(work, words + first, other + first, i - first);
        else
            sort_by_insertion(work->x, words + first, i - first);
    }
}

/* Bins of the centred draws: centring may round different draws to one, but never swaps two. */
static void sort_by_bins(const gbs_diag_work *work)
{
    const int64_t total = work->total;
    uint64_t *const words = work->sorting[0], *const other = work->sorting[1];
    double low, high;
    work->loops->range(work->centred, total, &low, &high);
    const double most = (double)(((uint32_t)1 << 2 * DIGIT_BITS) - 1);
    work->loops->bins(words, work->centred, total, low, high > low ? most / (high - low) : 0);

    uint32_t size[2][BUCKETS];
    memset(size, 0, sizeof size);
    for (int64_t i = 0; i < total; i++) {
        size[0][(words[i] >> 32) & (BUCKETS - 1)]++;
        size[1][words[i] >> (32 + DIGIT_BITS)]++;
    }
    scatter(words, other, total, 32, size[0]);
    scatter(other, words, total, 32 + DIGIT_BITS, size[1]);
    finish_bins(work, words, other);
}

/* Where draw t of chain c goes in y: its chain's first half, its second, or nowhere. */
static void set_places(const gbs_diag_work *work, uint32_t *place_of)
{
    const int64_t n = work->half, gap = work->draws - n;
    for (int64_t c = 0; c < work->chains; c++) {
        uint32_t *chain = place_of + c * work->draws;
        const uint32_t start = (uint32_t)(2 * c * n);
        for (int64_t t = 0; t < n; t++) {
            chain[t] = start + (uint32_t)t;
            chain[gap + t] = start + (uint32_t)(n + t);
        }
        if (gap > n)
            chain[n] = GBS_PLACE_NONE;
    }
}

void gbs_diag_sort(gbs_diag_work *work)
{
    const int64_t total = work->total;
    const uint64_t *const words = work->sorting[0];
    sort_by_bins(work);
    for (int64_t i = 0; i < total; i++) {
        work->order[i] = index_of(words[i]);
        work->sorted[i] = work->x[work->order[i]];
    }
    if (work->kept == total) {
        memcpy(work->place, work->order, (size_t)total * sizeof *work->place);
        return;
    }
    uint32_t *place_of = (uint32_t *)work->keys;
    set_places(work, place_of);
    for (int64_t i = 0; i < total; i++)
        work->place[i] = place_of[work->order[i]];
}
