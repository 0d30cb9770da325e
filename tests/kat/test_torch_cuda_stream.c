/* torch.randn on a CUDA device, re-made here, against what torch drew on an H200, against values
 * of other cards quoted in a bug report, and against a plain transcription of the kernel's
 * grid-stride loop.  Bounds against torch are those of the stream: the card's __sincosf is off by
 * about 2^-21, so a float normal by up to 5e-6. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "kat/close.h"
#include "kat/records.h"
#include "rng/torch_stream.h"

#define BOUND_F32 5e-6
#define BOUND_F64 1e-14
#define BOUND_MAP_F32 0x1p-20 /* 2 ulp below 8 */
#define TWO_PI 6.283185307179586476925

static const gbs_torch_cuda h200 = {2024, 0, 132, 2048};

/* Elements first .. first + count - 1 of a call of n, widened. */
static void randn(const gbs_torch_cuda *generator, gbs_type type, int64_t n, int64_t first,
                  int64_t count, double *out)
{
    if (type == GBS_F64) {
        gbs_torch_cuda_randn_f64(generator, generator->offset, n, first, count, out);
        return;
    }
    float *narrow = malloc((size_t)count * sizeof *narrow);
    assert_non_null(narrow);
    gbs_torch_cuda_randn_f32(generator, generator->offset, n, first, count, narrow);
    for (int64_t k = 0; k < count; k++)
        out[k] = (double)narrow[k];
    free(narrow);
}

/* ---- recordings ---- */

static void compare_calls(const records *all, const char *name, gbs_type type, int64_t n,
                          closeness *c)
{
    char index_name[48];
    record index;
    snprintf(index_name, sizeof index_name, "%s_idx", name);
    const int some = records_has(all, index_name, &index);
    const record r = records_get(all, name);
    gbs_torch_cuda generator = h200;
    double *got = malloc((size_t)n * sizeof *got);
    assert_non_null(got);
    for (int64_t call = 0; call < r.rows; call++) {
        randn(&generator, type, n, 0, n, got);
        generator.offset += gbs_torch_cuda_advance(&generator, type, n);
        for (int64_t k = 0; k < r.columns; k++) {
            const int64_t element = some ? record_integer(&index, k) : k;
            closeness_add(c, element, record_value(&r, call * r.columns + k), got[element]);
        }
    }
    free(got);
}

static void matches_recorded_calls(void **unused)
{
    (void)unused;
    static const int64_t sizes[] = {1, 2, 15, 16, 17, 31, 100, 4096, 300001, 1200001};
    records all = records_load(GBS_TEST_DATA "/kat/torch_randn.bin");
    int good = 1;
    for (int type = 0; type < 2; type++) {
        closeness c =
            closeness_start(type == GBS_F32 ? "recorded calls, float" : "recorded calls, double",
                            type == GBS_F32 ? BOUND_F32 : BOUND_F64);
        for (size_t s = 0; s < (type == GBS_F32 ? 10 : 8); s++) {
            char name[40];
            snprintf(name, sizeof name, "cuda%s_%lld", type == GBS_F32 ? "" : "64",
                     (long long)sizes[s]);
            compare_calls(&all, name, (gbs_type)type, sizes[s], &c);
        }
        good &= closeness_end(&c);
    }
    free(all.bytes);
    assert_true(good);
}

/* ---- values quoted in bug reports ---- */

typedef struct quoted {
    uint64_t seed;
    int32_t multiprocessors, threads;
    int64_t n, first, count;
    double values[6];
    double rounding;
} quoted;

/* pytorch/pytorch#158398: above one wave of threads the normals depend on the card. */
static void depends_on_the_card(void **unused)
{
    (void)unused;
    static const quoted cases[] = {
        {0, 132, 2048, 4, 0, 4, {-0.92466247, -0.42534396, -2.6438458, 0.14518386}, 5e-8},
        {42, 132, 2048, 2, 0, 2, {0.19401887, 2.1613739}, 5e-8},
        {42, 28, 1536, 131072, 0, 3, {0.1940, 2.1614, -0.1721}, 5e-5},
        {42, 40, 1024, 131072, 0, 3, {0.1940, 2.1614, -0.1721}, 5e-5},
        {42, 28, 1536, 131072, 2045, 6, {1.4540, -2.7733, -0.8932, -0.4574, 0.8063, 0.1580}, 5e-5},
        {42, 28, 1536, 131072, 131071, 1, {-0.0282}, 5e-5},
        {42, 40, 1024, 131072, 131071, 1, {1.4141}, 5e-5},
        {42, 58, 1536, 131072, 131071, 1, {-0.0236}, 5e-5},
        {42, 132, 2048, 131072, 131071, 1, {-0.5069}, 5e-5},
    };
    int good = 1;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const quoted *q = cases + k;
        const gbs_torch_cuda generator = {q->seed, 0, q->multiprocessors, q->threads};
        char what[80];
        snprintf(what, sizeof what, "%d x %d, element %lld of %lld", q->multiprocessors, q->threads,
                 (long long)q->first, (long long)q->n);
        closeness c = closeness_start(what, BOUND_F32 + q->rounding);
        double got[6];
        randn(&generator, GBS_F32, q->n, q->first, q->count, got);
        for (int64_t j = 0; j < q->count; j++)
            closeness_add(&c, q->first + j, q->values[j], got[j]);
        good &= closeness_end(&c);
    }
    assert_true(good);
}

/* All cards agree up to the threads of the smaller one, and not beyond. */
static void agrees_within_one_wave(void **unused)
{
    (void)unused;
    static const quoted cases[] = {
        {42, 40, 1024, 40960, 0, 0, {0}, 0},
        {42, 28, 1536, 43008, 0, 0, {0}, 0},
        {42, 58, 1536, 89088, 0, 0, {0}, 0},
    };
    const gbs_torch_cuda large = {42, 0, 132, 2048};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const gbs_torch_cuda small = {42, 0, cases[k].multiprocessors, cases[k].threads};
        const int64_t limit = cases[k].n;
        double a, b;
        for (int64_t e = 0; e < limit; e += 997) {
            randn(&small, GBS_F32, limit, e, 1, &a);
            randn(&large, GBS_F32, limit, e, 1, &b);
            assert_true(a == b);
        }
        randn(&small, GBS_F32, limit + 1, limit, 1, &a);
        randn(&large, GBS_F32, limit + 1, limit, 1, &b);
        assert_true(a != b);
        printf("  %d x %d agrees with 132 x 2048 up to %lld elements\n", cases[k].multiprocessors,
               cases[k].threads, (long long)limit);
    }
}

/* ---- the kernel's own loop, transcribed ---- */

static void philox(uint64_t seed, uint64_t round, uint64_t thread, uint32_t c[4])
{
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    c[0] = (uint32_t)round;
    c[1] = (uint32_t)(round >> 32);
    c[2] = (uint32_t)thread;
    c[3] = (uint32_t)(thread >> 32);
    for (int r = 0; r < 10; r++) {
        const uint64_t p0 = UINT64_C(0xD2511F53) * c[0], p1 = UINT64_C(0xCD9E8D57) * c[2];
        const uint32_t next[4] = {(uint32_t)(p1 >> 32) ^ c[1] ^ k0, (uint32_t)p1,
                                  (uint32_t)(p0 >> 32) ^ c[3] ^ k1, (uint32_t)p0};
        memcpy(c, next, sizeof next);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
}

/* curand_normal4 and curand_normal2_double, by libm in double and with an unrounded angle. */
static void normals_of(gbs_type type, const uint32_t w[4], double z[4])
{
    if (type == GBS_F32) {
        for (int k = 0; k < 4; k += 2) {
            const float u = fmaf((float)w[k], 0x1p-32f, 0x1p-33f);
            const double angle = TWO_PI * fma((double)w[k + 1], 0x1p-32, 0x1p-33);
            const double radius = sqrt(-2.0 * log((double)u));
            z[k] = radius * sin(angle);
            z[k + 1] = radius * cos(angle);
        }
        return;
    }
    const double u = fma((double)(w[0] ^ (uint64_t)w[1] << 21), 0x1p-53, 0x1p-54);
    const double v = fma((double)(w[2] ^ (uint64_t)w[3] << 21), 0x1p-53, 0x1p-54);
    const double radius = sqrt(-2.0 * log(u));
    z[0] = radius * sin(TWO_PI * v);
    z[1] = radius * cos(TWO_PI * v);
}

typedef struct counter_log {
    uint64_t *used; /* round * 2^20 + thread */
    int64_t count, room;
} counter_log;

/* One call, thread by thread and round by round; logs each counter that served an element. */
static void transcribed(const gbs_torch_cuda *g, gbs_type type, int64_t n, double *out,
                        counter_log *log)
{
    const int64_t unroll = type == GBS_F32 ? 4 : 2;
    int64_t grid = (n + 255) / 256;
    const int64_t resident = (int64_t)g->multiprocessors * (g->threads_per_multiprocessor / 256);
    if (grid > resident)
        grid = resident;
    const int64_t stride = 256 * grid * unroll;
    const int64_t rounded = ((n - 1) / stride + 1) * stride;
    for (int64_t thread = 0; thread < 256 * grid; thread++) {
        uint64_t round = g->offset / 4;
        for (int64_t linear = thread; linear < rounded; linear += stride, round++) {
            uint32_t words[4];
            double z[4];
            philox(g->seed, round, (uint64_t)thread, words);
            normals_of(type, words, z);
            for (int64_t k = 0; k < unroll; k++) {
                if (linear + 256 * grid * k < n)
                    out[linear + 256 * grid * k] = z[k];
            }
            if (linear < n) {
                assert_true(log->count < log->room);
                log->used[log->count++] = round << 20 | (uint64_t)thread;
            }
        }
    }
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Odd sizes, both types, small cards, so that calls take many rounds; a call read whole and in
 * pieces; and no counter used twice (pytorch/pytorch#50169).  The bound in float is 2 ulp of
 * a normal below 8; in double the angle, up to 2 pi, is rounded on the libm side. */
static void matches_the_kernel_loop(void **unused)
{
    (void)unused;
    enum { LARGEST = 7001, ROOM = 200000 };
    static const int64_t sizes[] = {1, 255, 256, 257, 1000, 1023, 2049, 4097, LARGEST, 3, 0, 513};
    static const int32_t cards[][2] = {{1, 256}, {1, 512}, {3, 1536}, {2, 1000}, {132, 2048}};
    static double expected[LARGEST], got[LARGEST], piece[LARGEST];
    closeness f32 = closeness_start("kernel loop, float", BOUND_MAP_F32);
    closeness f64 = closeness_start("kernel loop, double", BOUND_F64);
    counter_log log = {malloc(ROOM * sizeof(uint64_t)), 0, ROOM};
    assert_non_null(log.used);
    for (size_t c = 0; c < sizeof cards / sizeof *cards; c++) {
        gbs_torch_cuda g = {UINT64_C(0x123456789abcdef), UINT64_C(1) << 34, cards[c][0],
                            cards[c][1]};
        log.count = 0;
        for (size_t s = 0; s < 2 * sizeof sizes / sizeof *sizes; s++) {
            const gbs_type type = s % 3 == 1 ? GBS_F64 : GBS_F32;
            const int64_t n = sizes[s % (sizeof sizes / sizeof *sizes)];
            if (n == 0) {
                assert_true(gbs_torch_cuda_advance(&g, type, 0) == 0);
                continue;
            }
            transcribed(&g, type, n, expected, &log);
            randn(&g, type, n, 0, n, got);
            for (int64_t k = 0; k < n; k++)
                closeness_add(type == GBS_F32 ? &f32 : &f64, k, expected[k], got[k]);
            for (int64_t first = 0, count = 1; first < n; first += count, count = count % 97 + 7) {
                const int64_t left = n - first;
                randn(&g, type, n, first, count < left ? count : left, piece + first);
            }
            assert_memory_equal(piece, got, (size_t)n * sizeof *got);
            g.offset += gbs_torch_cuda_advance(&g, type, n);
            assert_true(g.offset % 4 == 0);
        }
        qsort(log.used, (size_t)log.count, sizeof *log.used, ascending);
        for (int64_t k = 1; k < log.count; k++)
            assert_true(log.used[k] != log.used[k - 1]);
        printf("  %d x %d: %lld counters, none twice\n", cards[c][0], cards[c][1],
               (long long)log.count);
    }
    free(log.used);
    const int good = closeness_end(&f32) & closeness_end(&f64);
    assert_true(good);
}

/* ---- extremes ---- */

/* Counters of seed 0, thread 0 whose word `word` is 0 or all ones, found by search. */
typedef struct extreme {
    uint64_t counter;
    int word;
    uint32_t value;
} extreme;

static void extreme_words_stay_finite(void **unused)
{
    (void)unused;
    static const extreme cases[] = {
        {UINT64_C(5145262111), 0, 0}, {UINT64_C(9339129252), 0, UINT32_MAX},
        {UINT64_C(6144536686), 1, 0}, {UINT64_C(1538303059), 1, UINT32_MAX},
        {UINT64_C(3230741590), 2, 0}, {UINT64_C(2024541361), 2, UINT32_MAX},
        {UINT64_C(1498094372), 3, 0}, {UINT64_C(6949911343), 3, UINT32_MAX},
    };
    /* sqrt(-2 ln 2^-33): the smallest u is 2^-33 in float. */
    const double largest = 6.7637;
    closeness f32 = closeness_start("words 0 and all ones, float", BOUND_MAP_F32);
    closeness f64 = closeness_start("words 0 and all ones, double", BOUND_F64);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const gbs_torch_cuda g = {0, 4 * cases[k].counter, 1, 256};
        uint32_t words[4];
        double expected[4], got;
        philox(0, cases[k].counter, 0, words);
        assert_true(words[cases[k].word] == cases[k].value);
        for (int type = 0; type < 2; type++) {
            normals_of((gbs_type)type, words, expected);
            for (int64_t out = 0; out < (type == GBS_F32 ? 4 : 2); out++) {
                randn(&g, (gbs_type)type, 1024, 256 * out, 1, &got);
                assert_true(isfinite(got) && (type == GBS_F64 || fabs(got) <= largest));
                closeness_add(type == GBS_F32 ? &f32 : &f64, out, expected[out], got);
            }
        }
    }
    const int good = closeness_end(&f32) & closeness_end(&f64);
    assert_true(good);
}

/* ---- state ---- */

static void state_is_seed_and_offset(void **unused)
{
    (void)unused;
    static const unsigned char bytes[16] = {1, 2, 3, 4, 5, 6, 7, 0xff, 8, 0, 0, 0, 1, 0, 0, 0x80};
    gbs_torch_cuda g = h200;
    unsigned char out[16], bad[16];
    assert_int_equal(gbs_torch_cuda_set_state(&g, bytes), GBS_OK);
    assert_true(g.seed == UINT64_C(0xff07060504030201));
    assert_true(g.offset == UINT64_C(0x8000000100000008));
    gbs_torch_cuda_get_state(&g, out);
    assert_memory_equal(out, bytes, sizeof out);
    for (unsigned char odd = 1; odd < 4; odd++) {
        memcpy(bad, bytes, sizeof bad);
        bad[8] = odd;
        assert_int_equal(gbs_torch_cuda_set_state(&g, bad), GBS_ERROR_STATE);
        gbs_torch_cuda_get_state(&g, out);
        assert_memory_equal(out, bytes, sizeof out);
    }
    printf("  16 bytes, little endian; offsets 1, 2, 3 refused\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_recorded_calls),    cmocka_unit_test(depends_on_the_card),
        cmocka_unit_test(agrees_within_one_wave),    cmocka_unit_test(matches_the_kernel_loop),
        cmocka_unit_test(extreme_words_stay_finite), cmocka_unit_test(state_is_seed_and_offset),
    };
    return cmocka_run_group_tests_name("torch stream on a CUDA device", tests, NULL, NULL);
}
