/* The native stream's maps from words to normals, in every vocabulary: the frozen bits of
 * native_normals.csv, the error bound of docs/streams.md (2 ulp, or 1e-9 in float and 1e-17 in
 * double) against functions of the next wider type, equal bits everywhere, and the share of mass
 * beyond 5, 5.768 and 6, by counting all radius words that reach so far. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kat/pairs.h"
#include "unit/matrices.h"

enum { ROWS = 1000, PADDED = 1008, CHUNK = 4096, EDGE = 1024 };

static int quick(void)
{
    return getenv("GBS_TEST_QUICK") != NULL;
}

/* ---- the frozen file ---- */

typedef struct frozen {
    uint32_t a[PADDED], b[PADDED];
    float first_f32[PADDED], second_f32[PADDED];
    uint64_t low[2][PADDED], high[2][PADDED]; /* of the radius and of the angle */
    double first_f64[PADDED], second_f64[PADDED];
} frozen;

static void read_row(char *line, int fields, uint32_t *words, double z[2])
{
    char *at = line;
    for (int k = 0; k < fields; ++k) {
        if (k < fields - 2)
            words[k] = (uint32_t)strtoul(at, &at, 16);
        else
            z[k - fields + 2] = strtod(at, &at);
        if (*at != (k + 1 < fields ? ',' : '\n'))
            fail_msg("native_normals.csv: field %d of \"%s\"", k, line);
        ++at;
    }
}

static void read_line(FILE *file, char *line, int size)
{
    if (fgets(line, size, file) == NULL)
        fail_msg("native_normals.csv ends early");
}

static void load(frozen *all)
{
    FILE *const file = fopen(GBS_TEST_DATA "/kat/native_normals.csv", "r");
    char line[256], expected[64];
    uint32_t w[4];
    double z[2];
    if (file == NULL)
        fail_msg("cannot open %s/kat/native_normals.csv", GBS_TEST_DATA);
    read_line(file, line, sizeof line);
    snprintf(expected, sizeof expected, "mapping version %d;", GBS_STREAM_NATIVE_VERSION);
    if (strstr(line, expected) == NULL)
        fail_msg("line 1: expected \"%s\", got \"%s\"", expected, line);
    for (int row = 0; row < ROWS; ++row) {
        read_line(file, line, sizeof line);
        read_row(line, 4, w, z);
        all->a[row] = w[0];
        all->b[row] = w[1];
        all->first_f32[row] = (float)z[0];
        all->second_f32[row] = (float)z[1];
    }
    for (int row = 0; row < ROWS; ++row) {
        read_line(file, line, sizeof line);
        read_row(line, 6, w, z);
        for (int k = 0; k < 2; ++k) { /* what lies above 32 bits must not matter */
            all->low[k][row] = w[2 * k] | (uint64_t)w[1] << 32;
            all->high[k][row] = w[2 * k + 1] | (uint64_t)w[0] << 32;
        }
        all->first_f64[row] = z[0];
        all->second_f64[row] = z[1];
    }
    if (fgets(line, sizeof line, file) != NULL)
        fail_msg("native_normals.csv: more lines than expected: %s", line);
    fclose(file);
}

static void same_f32(const char *who, const frozen *all, const float *expected, const float *got)
{
    for (int row = 0; row < ROWS; ++row)
        if (memcmp(&expected[row], &got[row], sizeof *got) != 0)
            fail_msg("%s, words %08x %08x: expected %a, got %a, error %g, bound 0", who,
                     all->a[row], all->b[row], (double)expected[row], (double)got[row],
                     fabs((double)got[row] - (double)expected[row]));
}

static void same_f64(const char *who, const frozen *all, const double *expected, const double *got)
{
    for (int row = 0; row < ROWS; ++row)
        if (memcmp(&expected[row], &got[row], sizeof *got) != 0)
            fail_msg("%s, words %08x %08x %08x %08x: expected %a, got %a, error %g, bound 0", who,
                     (uint32_t)all->low[0][row], (uint32_t)all->high[0][row],
                     (uint32_t)all->low[1][row], (uint32_t)all->high[1][row], expected[row],
                     got[row], fabs(got[row] - expected[row]));
}

static void test_frozen_bits(void **state)
{
    (void)state;
    static frozen all;
    load(&all);
    for (int k = 0; pairs_at(k) != NULL; ++k) {
        const pairs_instance *const p = pairs_at(k);
        float f[2][PADDED];
        double d[2][PADDED];
        uint64_t word[2][PADDED];
        p->pairs_f32(PADDED, all.a, all.b, f[0], f[1]);
        same_f32(p->name, &all, all.first_f32, f[0]);
        same_f32(p->name, &all, all.second_f32, f[1]);
        for (int part = 0; part < 2; ++part)
            p->word53(PADDED, all.low[part], all.high[part], word[part]);
        p->pairs_f64(PADDED, word[0], word[1], d[0], d[1]);
        same_f64(p->name, &all, all.first_f64, d[0]);
        same_f64(p->name, &all, all.second_f64, d[1]);
        printf("checked: %s gives the %d frozen float pairs and the %d double ones\n", p->name,
               ROWS, ROWS);
    }
    const int least = gbs_isa_available(GBS_ISA_AVX512) ? 4
                      : gbs_isa_available(GBS_ISA_NEON) ? 2
                                                        : 1;
    for (int k = 0; k < least; ++k)
        assert_non_null(pairs_at(k));
}

/* ---- the bound ---- */

typedef struct worst_error {
    double ulps; /* among errors above the absolute floor */
    int64_t pairs, in_floor;
} worst_error;

static double ulp_of(double z, int digits)
{
    return ldexp(1.0, ilogb(z) - digits + 1);
}

/* `slack` is what the reference itself may be off by, in ulp. */
static void check_normal(worst_error *worst, const char *words, double error, double ulp,
                         double floor, double slack, double got)
{
    const double ulps = error / ulp;
    if (error <= floor)
        worst->in_floor++;
    else if (ulps > worst->ulps)
        worst->ulps = ulps;
    if (!(error <= floor || ulps <= 2 - slack))
        fail_msg("%s: got %a, error %.4f ulp or %g, bound %g ulp or %g", words, got, ulps, error,
                 2 - slack, floor);
}

/* Float normals against double functions, which are off by less than 1e-6 float ulp. */
static void check_pairs_f32(worst_error *worst, int64_t n, const uint32_t *a, const uint32_t *b,
                            const float *first, const float *second)
{
    for (int64_t i = 0; i < n; ++i) {
        char words[48];
        const double u = (double)fmaf((float)a[i], 0x1p-32f, 0x1p-33f);
        const double r = sqrt(fmax(-2 * log(u), 1e-20));
        /* the quadrant by integers; the rest is within an eighth of a turn of it */
        const uint32_t quadrant = (b[i] + 0x20000000u) >> 30;
        const double rest = ((double)(int32_t)(b[i] - (quadrant << 30)) + 0.5) * 0x1p-32;
        const double s = r * sin(rest * 2 * acos(-1.0)), c = r * cos(rest * 2 * acos(-1.0));
        const double x[4] = {s, c, -s, -c};
        const double exact[2] = {x[quadrant & 3], x[(quadrant + 1) & 3]};
        const double got[2] = {(double)first[i], (double)second[i]};
        snprintf(words, sizeof words, "words %08x %08x", a[i], b[i]);
        for (int k = 0; k < 2; ++k)
            check_normal(worst, words, fabs(got[k] - exact[k]), ulp_of(exact[k], FLT_MANT_DIG),
                         1e-9, 1e-6, got[k]);
    }
    worst->pairs += n;
}

/* Double normals against long double functions, off by about 4 x 2^-64 of the value. */
#if LDBL_MANT_DIG >= 64
static void check_pairs_f64(worst_error *worst, int64_t n, const uint64_t *a, const uint64_t *b,
                            const double *first, const double *second)
{
    const long double tau = 2 * acosl(-1.0L);
    for (int64_t i = 0; i < n; ++i) {
        char words[64];
        const double u = fma((double)a[i], 0x1p-53, 0x1p-54);
        const long double r = sqrtl(fmaxl(-2 * logl((long double)u), 1e-20L));
        const uint64_t quadrant = (b[i] + (UINT64_C(1) << 50)) >> 51;
        const int64_t left = (int64_t)(b[i] - (quadrant << 51));
        const long double rest = ((long double)left + 0.5L) * 0x1p-53L;
        const long double s = r * sinl(rest * tau), c = r * cosl(rest * tau);
        const long double x[4] = {s, c, -s, -c};
        const long double exact[2] = {x[quadrant & 3], x[(quadrant + 1) & 3]};
        const double got[2] = {first[i], second[i]};
        snprintf(words, sizeof words, "words %llx %llx", (unsigned long long)a[i],
                 (unsigned long long)b[i]);
        for (int k = 0; k < 2; ++k)
            check_normal(worst, words, (double)fabsl((long double)got[k] - exact[k]),
                         ulp_of((double)exact[k], DBL_MANT_DIG), 1e-17, 0.01, got[k]);
    }
    worst->pairs += n;
}
#endif

/* The widest instance's normals are checked against the reference, the others' against its bits. */
static void check_chunk_f32(worst_error *worst, const uint32_t *a, const uint32_t *b)
{
    float first[CHUNK], second[CHUNK], x[CHUNK], y[CHUNK];
    const pairs_instance *const widest = pairs_widest();
    widest->pairs_f32(CHUNK, a, b, first, second);
    check_pairs_f32(worst, CHUNK, a, b, first, second);
    for (int k = 0; pairs_at(k) != widest; ++k) {
        pairs_at(k)->pairs_f32(CHUNK, a, b, x, y);
        if (memcmp(x, first, sizeof x) != 0 || memcmp(y, second, sizeof y) != 0)
            fail_msg("%s differs from %s", pairs_at(k)->name, widest->name);
    }
}

static void check_chunk_f64(worst_error *worst, const uint64_t *a, const uint64_t *b)
{
    double first[CHUNK], second[CHUNK], x[CHUNK], y[CHUNK];
    const pairs_instance *const widest = pairs_widest();
    widest->pairs_f64(CHUNK, a, b, first, second);
#if LDBL_MANT_DIG >= 64
    check_pairs_f64(worst, CHUNK, a, b, first, second);
#else
    worst->pairs += CHUNK;
#endif
    for (int k = 0; pairs_at(k) != widest; ++k) {
        pairs_at(k)->pairs_f64(CHUNK, a, b, x, y);
        if (memcmp(x, first, sizeof x) != 0 || memcmp(y, second, sizeof y) != 0)
            fail_msg("%s differs from %s", pairs_at(k)->name, widest->name);
    }
}

static void report(const char *what, const worst_error *worst)
{
    printf("checked: %s: %lld pairs, largest error %.3f ulp, bound 2; %lld normals within the "
           "absolute bound\n",
           what, (long long)worst->pairs, worst->ulps, (long long)worst->in_floor);
}

static int64_t random_chunks(void)
{
    return (quick() ? 200000 : 10000000) / CHUNK + 1;
}

static void test_random_f32(void **state)
{
    (void)state;
    worst_error worst = {0};
    uint64_t random = 1;
    for (int64_t chunk = 0; chunk < random_chunks(); ++chunk) {
        uint32_t a[CHUNK], b[CHUNK];
        for (int i = 0; i < CHUNK; ++i) {
            const uint64_t w = next_word(&random);
            a[i] = (uint32_t)w;
            b[i] = (uint32_t)(w >> 32);
        }
        check_chunk_f32(&worst, a, b);
    }
    report("float, random words", &worst);
}

static void test_random_f64(void **state)
{
    (void)state;
    worst_error worst = {0};
    uint64_t random = 2;
    for (int64_t chunk = 0; chunk < random_chunks(); ++chunk) {
        uint64_t a[CHUNK], b[CHUNK];
        for (int i = 0; i < CHUNK; ++i) {
            a[i] = next_word(&random) >> 11;
            b[i] = next_word(&random) >> 11;
        }
        check_chunk_f64(&worst, a, b);
    }
    report("double, random words", &worst);
}

/* ---- ends and edges: integers of `bits` bits within EDGE of a multiple of 2^(bits - 3) ---- */

enum { NEIGHBOURS = 2 * EDGE, OCTANTS = 8, EDGE_WORDS = OCTANTS * NEIGHBOURS };

/* The k-th of them: 0 .. EDGE-1 and the top EDGE for octant 0, and round the others. */
static uint64_t edge_integer(int k, int bits)
{
    const uint64_t octant = (uint64_t)(k / NEIGHBOURS) << (bits - 3);
    const uint64_t near = octant + (uint64_t)(k % NEIGHBOURS) - EDGE;
    return near & (UINT64_MAX >> (64 - bits));
}

/* Every edge of one word with `partners` values of the other, edges first and then random. */
static void check_edges(worst_error *worst, int bits, int radius_too, int partners)
{
    uint64_t random = 3;
    for (int partner = 0; partner < partners; ++partner)
        for (int start = 0; start < EDGE_WORDS; start += CHUNK) {
            uint64_t edge[CHUNK], other[CHUNK];
            uint32_t edge32[CHUNK], other32[CHUNK];
            for (int i = 0; i < CHUNK; ++i) {
                edge[i] = edge_integer(start + i, bits);
                other[i] = partner < OCTANTS ? edge_integer(partner * NEIGHBOURS + EDGE, bits)
                                             : next_word(&random) >> (64 - bits);
                edge32[i] = (uint32_t)edge[i];
                other32[i] = (uint32_t)other[i];
            }
            if (bits == 32)
                check_chunk_f32(worst, radius_too ? edge32 : other32,
                                radius_too ? other32 : edge32);
            else
                check_chunk_f64(worst, radius_too ? edge : other, radius_too ? other : edge);
        }
}

static void test_edges(void **state)
{
    (void)state;
    const int partners = quick() ? 12 : 40;
    for (int bits = 32; bits <= 53; bits += 21) {
        worst_error radius = {0}, angle = {0};
        check_edges(&radius, bits, 1, partners);
        check_edges(&angle, bits, 0, partners);
        report(bits == 32 ? "float, radius words at the ends and eighths"
                          : "double, radius words at the ends and eighths",
               &radius);
        report(bits == 32 ? "float, angles at the quadrants and eighths"
                          : "double, angles at the quadrants and eighths",
               &angle);
    }
}

/* Case C53: the extreme words give finite normals of the size the map allows. */
static void test_extremes(void **state)
{
    (void)state;
    for (int k = 0; pairs_at(k) != NULL; ++k) {
        uint32_t a[PAIRS_GRANULE] = {0, 0, UINT32_MAX, UINT32_MAX};
        uint32_t b[PAIRS_GRANULE] = {0, UINT32_MAX, 0, UINT32_MAX};
        uint64_t radius[PAIRS_GRANULE], angle[PAIRS_GRANULE];
        float f[2][PAIRS_GRANULE];
        double d[2][PAIRS_GRANULE];
        for (int i = 0; i < PAIRS_GRANULE; ++i) {
            radius[i] = a[i] == 0 ? 0 : UINT64_MAX >> 11;
            angle[i] = b[i] == 0 ? 0 : UINT64_MAX >> 11;
        }
        pairs_at(k)->pairs_f32(PAIRS_GRANULE, a, b, f[0], f[1]);
        pairs_at(k)->pairs_f64(PAIRS_GRANULE, radius, angle, d[0], d[1]);
        const double largest[2] = {sqrt(66 * log(2)), sqrt(108 * log(2))};
        for (int i = 0; i < 4; ++i) {
            const double r[2] = {hypot((double)f[0][i], (double)f[1][i]), hypot(d[0][i], d[1][i])};
            for (int type = 0; type < 2; ++type) {
                const double expected = i < 2 ? largest[type] : 1e-10;
                if (!(fabs(r[type] - expected) <= 1e-6 * expected))
                    fail_msg(
                        "%s: words %08x %08x: expected radius %.9g, got %.9g, bound 1e-6 of it",
                        pairs_at(k)->name, a[i], b[i], expected, r[type]);
            }
        }
    }
    printf(
        "checked: words 0 give radius 6.764 and 8.653, words all ones 1e-10; never inf or NaN\n");
}

/* ---- the tails ---- */

/* Mass beyond |t|: every radius word with r > t, each with `angles` equidistant angles. */
static double tail_mass(double t, int64_t words, int64_t angles)
{
    const pairs_instance *const p = pairs_widest();
    int64_t beyond = 0;
    for (int64_t word = 0; word < words; ++word)
        for (int64_t start = 0; start < angles; start += CHUNK) {
            uint32_t a[CHUNK], b[CHUNK];
            float x[2][CHUNK];
            for (int i = 0; i < CHUNK; ++i) {
                a[i] = (uint32_t)word;
                b[i] = (uint32_t)((uint64_t)(start + i) * (UINT64_C(1) << 32) / (uint64_t)angles);
            }
            p->pairs_f32(CHUNK, a, b, x[0], x[1]);
            for (int i = 0; i < CHUNK; ++i)
                beyond += (fabsf(x[0][i]) > (float)t) + (fabsf(x[1][i]) > (float)t);
        }
    return (double)beyond / (2 * (double)angles) * 0x1p-32;
}

static void test_tail_mass(void **state)
{
    (void)state;
    static const struct {
        double t, known; /* per 1e9 normals */
        int64_t angles;
    } tails[] = {{5, 573.3, 4096}, {5.768, 8.02, 16384}, {6, 1.97, 65536}};
    for (size_t k = 0; k < sizeof tails / sizeof *tails; ++k) {
        const double t = tails[k].t;
        const int64_t words = (int64_t)(0x1p32 * exp(-t * t / 2)) + 2;
        const double expected = 1e9 * erfc(t / sqrt(2.0));
        const double got = 1e9 * tail_mass(t, words, tails[k].angles);
        /* Two arcs a word, each counted to one angle; the sum over words stands for an integral of
         * a function that starts as a square root, off by less than one word's share at the start.
         */
        const double arcs = 1e9 * 0x1p-32 * (double)words * 2 / (double)tails[k].angles;
        const double first = 1e9 * 0x1p-32 * 2 / acos(-1.0) * acos(1 - 1 / ((double)words * t * t));
        const double bound = arcs + first;
        printf(
            "checked: beyond %g: expected %.4f in 1e9 (golden %.4g), got %.4f, error %.2g, bound "
            "%.2g\n",
            t, expected, tails[k].known, got, fabs(got - expected), bound);
        assert_true(fabs(got - expected) <= bound);
        assert_true(fabs(expected - tails[k].known) <= 0.0051 * (k == 0 ? 10 : 1));
    }
}

int main(void)
{
    if (quick())
        printf("GBS_TEST_QUICK is set: fewer random words\n");
#if LDBL_MANT_DIG < 64
    printf("long double is no wider than double here: double normals are compared by bits only\n");
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frozen_bits), cmocka_unit_test(test_random_f32),
        cmocka_unit_test(test_random_f64),  cmocka_unit_test(test_edges),
        cmocka_unit_test(test_extremes),    cmocka_unit_test(test_tail_mass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
