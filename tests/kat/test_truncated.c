/* The maps from words to draws between bounds, in every vocabulary and in the device's on the host:
 * the frozen bits of truncated_normals.csv, equal bits everywhere, |F(d) - u| against long double
 * formulae that share nothing with the library, mirror images, and boxes at the ends of the type.
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kat/truncated.h"
#include "kat/truncated_exact.h"
#include "unit/matrices.h"

enum { ROWS = 1200, CHUNK = 4096, EDGE = 1024 };

static const double bound_f32 = 2e-5, bound_f64 = 4e-11;

static int quick(void)
{
    return getenv("GBS_TEST_QUICK") != NULL;
}

static double uniform(uint64_t *state)
{
    return (double)(next_word(state) >> 11) * 0x1p-53;
}

/* ---- the frozen file ---- */

typedef struct frozen {
    float in_f32[4][ROWS], x_f32[ROWS];
    uint32_t word_f32[ROWS];
    double in_f64[4][ROWS], x_f64[ROWS];
    uint64_t word_f64[ROWS];
} frozen;

static void read_row(FILE *file, char kind, double in[4], uint64_t *word, double *x)
{
    char line[256];
    if (fgets(line, sizeof line, file) == NULL || line[0] != kind)
        fail_msg("truncated_normals.csv: a row of kind %c is missing", kind);
    char *at = line + 1;
    for (int k = 0; k < 4; ++k)
        in[k] = strtod(at + 1, &at);
    *word = strtoull(at + 1, &at, 16);
    *x = strtod(at + 1, &at);
    if (*at != '\n')
        fail_msg("truncated_normals.csv: %s", line);
}

static void load(frozen *all)
{
    FILE *const file = fopen(GBS_TEST_DATA "/kat/truncated_normals.csv", "r");
    char line[256] = "", expected[64];
    if (file == NULL)
        fail_msg("cannot open %s/kat/truncated_normals.csv", GBS_TEST_DATA);
    snprintf(expected, sizeof expected, "mapping version %d;", GBS_TRUNCNORM_VERSION);
    if (fgets(line, sizeof line, file) == NULL || strstr(line, expected) == NULL)
        fail_msg("line 1: expected \"%s\", got \"%s\"", expected, line);
    for (int row = 0; row < 2 * ROWS; ++row) {
        const int i = row % ROWS;
        double in[4], x;
        uint64_t word;
        read_row(file, row < ROWS ? 'f' : 'd', in, &word, &x);
        for (int k = 0; k < 4; ++k) {
            all->in_f32[k][i] = row < ROWS ? (float)in[k] : all->in_f32[k][i];
            all->in_f64[k][i] = in[k];
        }
        if (row < ROWS) {
            all->word_f32[i] = (uint32_t)word;
            all->x_f32[i] = (float)x;
        }
        all->word_f64[i] = word;
        all->x_f64[i] = x;
    }
    fclose(file);
}

static void test_frozen_bits(void **state)
{
    (void)state;
    static frozen all;
    static float f[ROWS];
    static double d[ROWS];
    load(&all);
    for (int k = 0; truncated_at(k) != NULL; ++k) {
        const truncated_instance *const p = truncated_at(k);
        p->draw_f32(ROWS, all.in_f32[0], all.in_f32[1], all.in_f32[2], all.in_f32[3], all.word_f32,
                    f);
        p->draw_f64(ROWS, all.in_f64[0], all.in_f64[1], all.in_f64[2], all.in_f64[3], all.word_f64,
                    d);
        for (int i = 0; i < ROWS; ++i) {
            if (memcmp(&f[i], &all.x_f32[i], sizeof *f) != 0)
                fail_msg("%s, float row %d: expected %a, got %a, error %g, bound 0", p->name, i,
                         (double)all.x_f32[i], (double)f[i], (double)(f[i] - all.x_f32[i]));
            if (memcmp(&d[i], &all.x_f64[i], sizeof *d) != 0)
                fail_msg("%s, double row %d: expected %a, got %a, error %g, bound 0", p->name, i,
                         all.x_f64[i], d[i], d[i] - all.x_f64[i]);
        }
        printf("checked: %s gives the %d frozen float draws and the %d double ones\n", p->name,
               ROWS, ROWS);
    }
    for (int k = 0; k < (gbs_isa_available(GBS_ISA_AVX512) ? 5
                         : gbs_isa_available(GBS_ISA_NEON) ? 3
                                                           : 2);
         ++k)
        assert_non_null(truncated_at(k));
}

/* ---- |F - u| ---- */

typedef struct chunk {
    float a_f32[CHUNK], w_f32[CHUNK], d_f32[CHUNK];
    uint32_t word_f32[CHUNK];
    double a_f64[CHUNK], w_f64[CHUNK], d_f64[CHUNK];
    uint64_t word_f64[CHUNK];
    int middle[CHUNK];
} chunk;

static double log_uniform(uint64_t *state, double low, double high)
{
    return exp(log(low) + (log(high) - log(low)) * uniform(state));
}

/* Boxes of all kinds with |a| <= |a + w|, in both types, words with many ends among them. */
static void random_box(uint64_t *state, chunk *c, int i)
{
    double w = log_uniform(state, 1e-13, 1e5), a;
    switch (next_word(state) % 8) {
    case 0: a = -w / 2 * uniform(state); break;
    case 1: a = log_uniform(state, 1e-8, 1e5); break;
    case 2: a = 0; break;
    case 3: a = 10 * uniform(state); break;
    case 4: /* around the limits of the Taylor polynomials */
        w = log_uniform(state, 1e-3, 0.3);
        a = log_uniform(state, 1e-2, 600);
        break;
    case 5:
        w = 0.02 + 0.2 * uniform(state);
        a = -w / 2 * uniform(state);
        break;
    case 6:
        w = INFINITY;
        a = -40 * uniform(state);
        break;
    default: w = INFINITY; a = log_uniform(state, 1e-3, 1e5);
    }
    uint64_t word = next_word(state);
    if (next_word(state) % 10 == 0)
        word >>= next_word(state) % 64;
    if (next_word(state) % 10 == 0)
        word = ~(word >> next_word(state) % 64);
    c->a_f64[i] = a;
    c->w_f64[i] = w;
    c->word_f64[i] = word >> 11;
    c->a_f32[i] = (float)a;
    c->w_f32[i] = (float)w;
    c->word_f32[i] = (uint32_t)(word >> 32);
    if (c->a_f32[i] < 0 && -2 * c->a_f32[i] > c->w_f32[i])
        c->a_f32[i] = -c->w_f32[i] / 2; /* rounding must not turn the box round */
    if (c->a_f64[i] < 0 && -2 * c->a_f64[i] > c->w_f64[i])
        c->a_f64[i] = -c->w_f64[i] / 2;
}

static void check_share(double *worst, const char *who, double a, double w, uint64_t word, double d,
                        int middle, long double u, double bound)
{
    const double inside = middle ? 0 : d; /* a whole draw is held between the bounds */
    const double error = (double)fabsl(exact_share(a, w, d, middle) - u);
    if (!(error <= *worst))
        *worst = error;
    if (!(error <= bound && inside >= 0 && isfinite(d)))
        fail_msg("%s, a %a, w %a, word %" PRIx64 ": d %a, u %.12Lg, error %.3g, bound %g", who, a,
                 w, word, d, u, error, bound);
}

static void check_chunk_f32(const truncated_instance *p, chunk *c, double *worst)
{
    p->map_f32(CHUNK, c->a_f32, c->w_f32, c->word_f32, c->d_f32, c->middle);
    for (int i = 0; i < CHUNK; ++i)
        check_share(worst, p->name, (double)c->a_f32[i], (double)c->w_f32[i], c->word_f32[i],
                    (double)c->d_f32[i], c->middle[i],
                    (long double)c->word_f32[i] * 0x1p-32L + 0x1p-33L, bound_f32);
}

static void check_chunk_f64(const truncated_instance *p, chunk *c, double *worst)
{
    p->map_f64(CHUNK, c->a_f64, c->w_f64, c->word_f64, c->d_f64, c->middle);
    for (int i = 0; i < CHUNK; ++i)
        check_share(worst, p->name, c->a_f64[i], c->w_f64[i], c->word_f64[i], c->d_f64[i],
                    c->middle[i], (long double)c->word_f64[i] * 0x1p-53L + 0x1p-54L, bound_f64);
}

static void test_shares(void **state)
{
    (void)state;
    static chunk c;
    const truncated_instance *const p = truncated_widest();
    const int float_chunks = quick() ? 120 : 2442, double_chunks = quick() ? 60 : 732;
    uint64_t seed = 31;
    double worst_f32 = 0, worst_f64 = 0;
    for (int k = 0; k < float_chunks; ++k) {
        for (int i = 0; i < CHUNK; ++i)
            random_box(&seed, &c, i);
        check_chunk_f32(p, &c, &worst_f32);
        if (k < double_chunks)
            check_chunk_f64(p, &c, &worst_f64);
    }
    printf("checked: %s, %d float maps, largest |F - u| %.3g, bound %g; %d double ones, %.3g, "
           "bound %g\n",
           p->name, float_chunks * CHUNK, worst_f32, bound_f32, double_chunks * CHUNK, worst_f64,
           bound_f64);
}

/* Every word within EDGE of an end, in the boxes of golden section 1 and at the limits of kinds. */
static void test_ends_of_the_words(void **state)
{
    (void)state;
    static const double boxes[][2] = {
        {0, INFINITY},  {-1, 2},  {1, 1},           {-2, INFINITY},   {3, INFINITY}, {5, 0.5},
        {10, 1e30},     {40, 1},  {100, 1e9},       {1000, INFINITY}, {0, 1e-8},     {0, 0.125},
        {-0.05, 0.124}, {512, 1}, {-0.0625, 0.125}, {1e5, INFINITY},  {1e5, 1e-9}};
    static chunk c;
    const truncated_instance *const p = truncated_widest();
    double worst_f32 = 0, worst_f64 = 0;
    int checked = 0;
    for (size_t box = 0; box < sizeof boxes / sizeof *boxes; ++box) {
        for (int i = 0; i < CHUNK; ++i) {
            const uint64_t up = (uint64_t)(i / 2 % EDGE);
            c.a_f64[i] = boxes[box][0];
            c.w_f64[i] = boxes[box][1];
            c.a_f32[i] = (float)boxes[box][0];
            c.w_f32[i] = (float)boxes[box][1];
            c.word_f64[i] = i % 2 == 0 ? up : UINT64_C(0x1fffffffffffff) - up;
            c.word_f32[i] = i % 2 == 0 ? (uint32_t)up : ~(uint32_t)up;
        }
        check_chunk_f32(p, &c, &worst_f32);
        check_chunk_f64(p, &c, &worst_f64);
        checked += 2 * EDGE;
    }
    printf("checked: %s, %d words at the ends, largest |F - u| %.3g float, %.3g double\n", p->name,
           checked, worst_f32, worst_f64);
}

/* ---- whole draws ---- */

typedef struct draws {
    float in_f32[4][CHUNK], mirror_f32[4][CHUNK], x_f32[3][CHUNK];
    uint32_t word_f32[CHUNK], mirror_word_f32[CHUNK];
    double in_f64[4][CHUNK], mirror_f64[4][CHUNK], x_f64[3][CHUNK];
    uint64_t word_f64[CHUNK], mirror_word_f64[CHUNK];
} draws;

/* Means, sds and bounds of any size, some bounds infinite, equal, or symmetric about the mean. */
static void random_draw(uint64_t *state, draws *r, int i)
{
    double s = exp(20 * next_signed(state)), m = s * 100 * next_signed(state);
    double lo = m + s * exp(12 * next_signed(state)) * (next_word(state) % 2 == 0 ? 1 : -1);
    double hi = lo + s * exp(12 * next_signed(state));
    switch (next_word(state) % 12) {
    case 0: lo = -INFINITY; break;
    case 1: hi = INFINITY; break;
    case 2:
        lo = -INFINITY;
        hi = INFINITY;
        break;
    case 3: hi = lo; break;
    case 4:
        m = 0;
        hi = fabs(lo);
        lo = -hi;
        break;
    case 5:
        lo = 1e30;
        hi = INFINITY;
        break;
    case 6: lo = -1e30; break;
    default: break;
    }
    if (!(hi >= lo))
        hi = lo;
    const uint64_t word = next_word(state) >> (next_word(state) % 8 == 0 ? 50 : 0);
    const double in[4] = {m, s, lo, hi};
    for (int k = 0; k < 4; ++k) {
        r->in_f64[k][i] = in[k];
        r->in_f32[k][i] = (float)in[k];
    }
    if (r->in_f32[2][i] > r->in_f32[3][i])
        r->in_f32[3][i] = r->in_f32[2][i];
    r->word_f64[i] = word >> 11;
    r->word_f32[i] = (uint32_t)(word >> 32);
    for (int k = 0; k < 4; ++k) {
        const int from = k < 2 ? k : 5 - k;
        r->mirror_f64[k][i] = k == 1 ? r->in_f64[1][i] : -r->in_f64[from][i];
        r->mirror_f32[k][i] = k == 1 ? r->in_f32[1][i] : -r->in_f32[from][i];
    }
    r->mirror_word_f64[i] = r->word_f64[i] ^ UINT64_C(0x1fffffffffffff);
    r->mirror_word_f32[i] = ~r->word_f32[i];
}

static void draw_all(const truncated_instance *p, draws *r, int to)
{
    p->draw_f32(CHUNK, r->in_f32[0], r->in_f32[1], r->in_f32[2], r->in_f32[3], r->word_f32,
                r->x_f32[to]);
    p->draw_f64(CHUNK, r->in_f64[0], r->in_f64[1], r->in_f64[2], r->in_f64[3], r->word_f64,
                r->x_f64[to]);
}

static void check_draw(const char *who, const double in[4], double x, double mirrored)
{
    if (!(isfinite(x) && x >= in[2] && x <= in[3]))
        fail_msg("%s: N(%a, %a) on [%a, %a] gave %a", who, in[0], in[1], in[2], in[3], x);
    if (x != -mirrored)
        fail_msg("%s: N(%a, %a) on [%a, %a]: expected %a from the mirror image, got %a", who, in[0],
                 in[1], in[2], in[3], -mirrored, x);
}

static void test_draws(void **state)
{
    (void)state;
    static draws r;
    uint64_t seed = 77;
    const int chunks = quick() ? 4 : 40;
    for (int k = 0; k < chunks; ++k) {
        for (int i = 0; i < CHUNK; ++i)
            random_draw(&seed, &r, i);
        draw_all(truncated_at(0), &r, 0);
        for (int n = 1; truncated_at(n) != NULL; ++n) {
            draw_all(truncated_at(n), &r, 1);
            if (memcmp(r.x_f32[0], r.x_f32[1], sizeof r.x_f32[0]) != 0 ||
                memcmp(r.x_f64[0], r.x_f64[1], sizeof r.x_f64[0]) != 0)
                fail_msg("%s: other bits than scalar in chunk %d", truncated_at(n)->name, k);
        }
        const truncated_instance *const p = truncated_widest();
        p->draw_f32(CHUNK, r.mirror_f32[0], r.mirror_f32[1], r.mirror_f32[2], r.mirror_f32[3],
                    r.mirror_word_f32, r.x_f32[2]);
        p->draw_f64(CHUNK, r.mirror_f64[0], r.mirror_f64[1], r.mirror_f64[2], r.mirror_f64[3],
                    r.mirror_word_f64, r.x_f64[2]);
        for (int i = 0; i < CHUNK; ++i) {
            const double f32[4] = {(double)r.in_f32[0][i], (double)r.in_f32[1][i],
                                   (double)r.in_f32[2][i], (double)r.in_f32[3][i]};
            const double f64[4] = {r.in_f64[0][i], r.in_f64[1][i], r.in_f64[2][i], r.in_f64[3][i]};
            check_draw("float", f32, (double)r.x_f32[0][i], (double)r.x_f32[2][i]);
            check_draw("double", f64, r.x_f64[0][i], r.x_f64[2][i]);
        }
    }
    printf("checked: %d draws of each type: inside, finite, the mirror image exact, the same bits "
           "in every vocabulary\n",
           chunks * CHUNK);
}

/* The smallest and largest numbers that a caller may give. */
static void test_extremes(void **state)
{
    (void)state;
    static const double boxes[][4] = {/* mean, sd, lower, upper */
                                      {0, 1, DBL_MAX, INFINITY},
                                      {0, 1, -INFINITY, -DBL_MAX},
                                      {0, 1, 1e300, INFINITY},
                                      {0, DBL_MIN, -1, 1},
                                      {DBL_MAX, 1, -DBL_MAX, DBL_MAX},
                                      {0, DBL_MAX, -DBL_MAX, DBL_MAX},
                                      {-DBL_MAX, DBL_MIN, 0, INFINITY},
                                      {0, 1, -1e300, INFINITY},
                                      {0, DBL_MAX / 2, DBL_MAX, DBL_MAX},
                                      {3, DBL_MIN, 3, INFINITY},
                                      {1, 1e-300, 0, 1},
                                      {-1e15, 1, 0, INFINITY}};
    enum { BOXES = sizeof boxes / sizeof *boxes };
    for (int box = 0; box < BOXES; ++box) {
        double in[4][TRUNCATED_GRANULE], x[TRUNCATED_GRANULE];
        float in_f[4][TRUNCATED_GRANULE], x_f[TRUNCATED_GRANULE];
        uint64_t word[TRUNCATED_GRANULE];
        uint32_t word_f[TRUNCATED_GRANULE];
        for (int i = 0; i < TRUNCATED_GRANULE; ++i) {
            for (int k = 0; k < 4; ++k) {
                const double v = boxes[box][k];
                in[k][i] = v;
                in_f[k][i] = fabs(v) >= FLT_MAX && isfinite(v) ? copysignf(FLT_MAX, (float)v)
                             : k == 1 && v < (double)FLT_MIN   ? FLT_MIN
                                                               : (float)v;
            }
            word[i] = (uint64_t)i * UINT64_C(0x1fffffffffffff) / 15;
            word_f[i] = (uint32_t)(word[i] >> 21);
        }
        for (int k = 0; truncated_at(k) != NULL; ++k) {
            truncated_at(k)->draw_f64(TRUNCATED_GRANULE, in[0], in[1], in[2], in[3], word, x);
            truncated_at(k)->draw_f32(TRUNCATED_GRANULE, in_f[0], in_f[1], in_f[2], in_f[3], word_f,
                                      x_f);
            for (int i = 0; i < TRUNCATED_GRANULE; ++i)
                if (!(isfinite(x[i]) && x[i] >= in[2][i] && x[i] <= in[3][i] && isfinite(x_f[i]) &&
                      x_f[i] >= in_f[2][i] && x_f[i] <= in_f[3][i]))
                    fail_msg("%s, box %d, word %d: %g, %g", truncated_at(k)->name, box, i, x[i],
                             (double)x_f[i]);
        }
    }
    printf("checked: %d boxes at the ends of each type: finite and inside\n", BOXES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frozen_bits),       cmocka_unit_test(test_shares),
        cmocka_unit_test(test_ends_of_the_words), cmocka_unit_test(test_draws),
        cmocka_unit_test(test_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
