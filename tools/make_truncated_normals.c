/* Writes tests/kat/truncated_normals.csv to standard output: boxes, words and the draws that
 * src/rng/truncnorm.h makes of them, by the scalar vocabulary.  The file was written by the
 * first implementation with this mapping; its bits are frozen with GBS_TRUNCNORM_VERSION, and a
 * change of that number is the only reason to run this again.
 *
 *     cc -std=c11 -O2 -ffp-contract=off -Iinclude -Isrc tools/make_truncated_normals.c -lm
 *     ./a.out > tests/kat/truncated_normals.csv */
#include "gibbsite/gibbsite.h"
#include "rng/vocab_scalar.h"
#include "rng/truncnorm.h"

#include <inttypes.h>
#include <stdio.h>

enum { ROWS = 1200 };

/* SplitMix64. */
static uint64_t random_word(void)
{
    static uint64_t state = 20261129;
    uint64_t w = state += UINT64_C(0x9E3779B97F4A7C15);
    w = (w ^ (w >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    w = (w ^ (w >> 27)) * UINT64_C(0x94D049BB133111EB);
    return w ^ (w >> 31);
}

static double uniform(void)
{
    return (double)(random_word() >> 11) * 0x1p-53;
}

/* Bounds in standard deviations: every kind of lane and the places where kinds meet. */
static const double lows[] = {-INFINITY, -40, -8, -2,    -0.5, -1e-3, 0,   1e-5, 0.3, 2,
                              5.5,       9,   40, 511.9, 512,  513,   1e4, 1e6,  1e9, 3e30};
static const double widths[] = {1e-13, 1e-6, 0x1p-8, 0.003, 0.03, 0.1249,
                                0.125, 0.2,  1,      3,     60,   INFINITY};

enum { LOWS = sizeof lows / sizeof *lows, WIDTHS = sizeof widths / sizeof *widths };

typedef struct row {
    double m, s, lo, hi;
    uint64_t word;
} row;

/* The first rows have mean 0 and sd 1; then means and sds of all sizes, in either orientation. */
static row row_at(int number)
{
    row r = {0, 1, lows[number / WIDTHS % LOWS], 0, random_word() >> 11};
    const double width = widths[number % WIDTHS];
    if (isinf(r.lo)) /* -inf up to a bound, or the whole line */
        r.hi = isinf(width) ? width : 3 - 10 * width;
    else
        r.hi = r.lo + width;
    if (number % 7 == 3)
        r.word = number % 2 == 0 ? 0 : UINT64_C(0x1fffffffffffff);
    if (number >= LOWS * WIDTHS) {
        r.s = ldexp(1 + uniform(), (int)(random_word() % 40) - 20);
        r.m = number % 3 == 0 ? 0 : (uniform() - 0.5) * 1000 * r.s;
        r.lo = r.m + r.s * r.lo;
        r.hi = r.m + r.s * r.hi;
    }
    if (number % 2 == 1) {
        const double lo = r.lo;
        r.m = -r.m;
        r.lo = -r.hi;
        r.hi = -lo;
    }
    return r;
}

int main(void)
{
    printf("# gibbsite draws between bounds, mapping version %d; %d rows f,mean,sd,lower,upper,"
           "word,x (float), then %d rows d,... (double)\n",
           GBS_TRUNCNORM_VERSION, ROWS, ROWS);
    for (int number = 0; number < ROWS; ++number) {
        const row r = row_at(number);
        float m = (float)r.m, s = (float)r.s, lo = (float)r.lo, hi = (float)r.hi;
        const uint32_t word = (uint32_t)(r.word >> 21);
        const float x = gbs_between_f32(m, s, lo, hi, word);
        printf("f,%a,%a,%a,%a,%08" PRIx32 ",%a\n", (double)m, (double)s, (double)lo, (double)hi,
               word, (double)x);
    }
    for (int number = 0; number < ROWS; ++number) {
        const row r = row_at(number);
        const double x = gbs_between_f64(r.m, r.s, r.lo, r.hi, r.word);
        printf("d,%a,%a,%a,%a,%014" PRIx64 ",%a\n", r.m, r.s, r.lo, r.hi, r.word, x);
    }
    return 0;
}
