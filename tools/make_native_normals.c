/* Writes tests/kat/native_normals.csv to standard output: words and the normals that the native
 * stream makes of them, by the scalar vocabulary.  The file was written once, by the first accepted
 * implementation; its bits are frozen with GBS_STREAM_NATIVE_VERSION, and a change of that number
 * is the only reason to run this again.
 *
 *     cc -std=c11 -O2 -ffp-contract=off -Iinclude -Isrc tools/make_native_normals.c -lm
 *     ./a.out > tests/kat/native_normals.csv */
#include "gibbsite/gibbsite.h"
#include "rng/vocab_scalar.h"
#include "rng/normal.h"

#include <stdio.h>

enum { ROWS = 1000 };

/* SplitMix64. */
static uint32_t random_word(void)
{
    static uint64_t state = 20240501;
    uint64_t w = state += UINT64_C(0x9E3779B97F4A7C15);
    w = (w ^ (w >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    w = (w ^ (w >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (uint32_t)((w ^ (w >> 31)) >> 32);
}

/* The ends, where u rounds to 1 (the last 128 words), where the logarithm's interval ends, powers
 * of two. */
static const uint32_t radius_edges[] = {
    0,          1,          2,          3,          0x7f,       0x80,       0xffffff,   0x1000000,
    0x1000001,  0x2aaaaaaa, 0x55555555, 0x55555556, 0x7fffffff, 0x80000000, 0x80000001, 0xaaaaaaaa,
    0xaaaaaaab, 0xfffffeff, 0xffffff00, 0xffffff7e, 0xffffff7f, 0xffffff80, 0xfffffffe, 0xffffffff};

/* Multiples of an eighth of a turn and their neighbours. */
static uint32_t angle_edge(int k)
{
    return (uint32_t)(k / 3 % 8) * 0x20000000u + (uint32_t)(k % 3) - 1u;
}

enum { RADII = sizeof radius_edges / sizeof *radius_edges, ANGLES = 24, EDGES = RADII * ANGLES };

/* Every edge of the radius with every edge of the angle, then random words. */
static uint32_t radius_word(int row)
{
    return row < EDGES ? radius_edges[row / ANGLES] : random_word();
}

static uint32_t angle_word(int row)
{
    return row < EDGES ? angle_edge(row % ANGLES) : random_word();
}

/* In double the edge is the upper word, whose low 11 bits meet the lower word's high ones: 0 and
 * 0x1fffff leave them and make the 53-bit integer an end of its own; all ones flip them. */
static uint32_t low_word(int row, uint32_t high)
{
    if (row >= EDGES)
        return random_word();
    return (high & 1) == 0 ? 0 : row % 2 == 0 ? 0x1fffffu : 0xffffffffu;
}

int main(void)
{
    printf("# gibbsite native normals, mapping version %d; %d rows w0,w1,z0,z1 (float), then %d "
           "rows w0,w1,w2,w3,z0,z1 (double)\n",
           GBS_STREAM_NATIVE_VERSION, ROWS, ROWS);
    for (int row = 0; row < ROWS; ++row) {
        const uint32_t a = radius_word(row), b = angle_word(row);
        float first, second;
        gbs_normal_pair_f32(a, b, &first, &second);
        printf("%08x,%08x,%a,%a\n", a, b, (double)first, (double)second);
    }
    for (int row = 0; row < ROWS; ++row) {
        const uint32_t w1 = radius_word(row), w0 = low_word(row, w1);
        const uint32_t w3 = angle_word(row), w2 = low_word(row, w3);
        double first, second;
        gbs_normal_pair_f64(gbs_word53(w0, w1), gbs_word53(w2, w3), &first, &second);
        printf("%08x,%08x,%08x,%08x,%a,%a\n", w0, w1, w2, w3, first, second);
    }
    return 0;
}
