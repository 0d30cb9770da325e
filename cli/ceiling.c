/* Multiply-adds: twelve vectors that depend on themselves alone, which fills two pipes of latency
 * four with some to spare.  Normals: the library's own, a block at a time that stays in the
 * first-level cache.  Reading: lines asked for 4 KiB ahead, as the kernels do.  Every thread runs
 * its own, at the same time, and counts its own CPU time. */
#define _POSIX_C_SOURCE 200809L
#include "ceiling.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

double clock_seconds(int32_t threads)
{
    struct timespec t;
    clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { VECTORS = 12, STEPS = 1 << 14 };

/* Results go here, so that no compiler leaves the work out. */
typedef struct sink {
    unsigned char bytes[VECTORS * 64];
} sink;

/* name(out): STEPS multiply-adds of VECTORS vectors V of `lanes` T. */
#define FMA_LOOP(name, attributes, V, set1, fma_abc)                                               \
    attributes static void name(sink *out)                                                         \
    {                                                                                              \
        V sum[VECTORS];                                                                            \
        const V a = set1(0.999f), c = set1(0.5f);                                                  \
        for (int k = 0; k < VECTORS; k++)                                                          \
            sum[k] = set1((float)k);                                                               \
        for (int step = 0; step < STEPS; step++)                                                   \
            for (int k = 0; k < VECTORS; k++)                                                      \
                sum[k] = fma_abc(a, sum[k], c);                                                    \
        memcpy(out->bytes, sum, sizeof sum);                                                       \
    }

#define ITSELF(x) (x)
#define NO_ATTRIBUTES
FMA_LOOP(fma_plain_f32, NO_ATTRIBUTES, float, ITSELF, fmaf)
FMA_LOOP(fma_plain_f64, NO_ATTRIBUTES, double, ITSELF, fma)
#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f")))
FMA_LOOP(fma_scalar_f32, AVX2, __m128, _mm_set1_ps, _mm_fmadd_ss)
FMA_LOOP(fma_scalar_f64, AVX2, __m128d, _mm_set1_pd, _mm_fmadd_sd)
FMA_LOOP(fma_avx2_f32, AVX2, __m256, _mm256_set1_ps, _mm256_fmadd_ps)
FMA_LOOP(fma_avx2_f64, AVX2, __m256d, _mm256_set1_pd, _mm256_fmadd_pd)
FMA_LOOP(fma_avx512_f32, AVX512, __m512, _mm512_set1_ps, _mm512_fmadd_ps)
FMA_LOOP(fma_avx512_f64, AVX512, __m512d, _mm512_set1_pd, _mm512_fmadd_pd)
#elif defined(__aarch64__)
#define NEON_F32(a, b, c) vfmaq_f32(c, a, b)
#define NEON_F64(a, b, c) vfmaq_f64(c, a, b)
FMA_LOOP(fma_neon_f32, NO_ATTRIBUTES, float32x4_t, vdupq_n_f32, NEON_F32)
FMA_LOOP(fma_neon_f64, NO_ATTRIBUTES, float64x2_t, vdupq_n_f64, NEON_F64)
#endif

typedef struct fma_loop {
    void (*run)(sink *out);
    int lanes;
} fma_loop;

static fma_loop fma_loop_for(gbs_isa isa, gbs_type type)
{
    const int wide = type == GBS_F32 ? 2 : 1;
    switch (isa) {
#if defined(__x86_64__)
    case GBS_ISA_AVX512:
        return (fma_loop){type == GBS_F32 ? fma_avx512_f32 : fma_avx512_f64, 8 * wide};
    case GBS_ISA_AVX2: return (fma_loop){type == GBS_F32 ? fma_avx2_f32 : fma_avx2_f64, 4 * wide};
    case GBS_ISA_SCALAR:
        if (gbs_isa_available(GBS_ISA_AVX2)) /* it has the instruction, and so has our build */
            return (fma_loop){type == GBS_F32 ? fma_scalar_f32 : fma_scalar_f64, 1};
        break;
#elif defined(__aarch64__)
    case GBS_ISA_NEON: return (fma_loop){type == GBS_F32 ? fma_neon_f32 : fma_neon_f64, 2 * wide};
#endif
    default: break;
    }
    return (fma_loop){type == GBS_F32 ? fma_plain_f32 : fma_plain_f64, 1};
}

/* name(from, lines, out): reads lines of 64 bytes. */
#define READ_LOOP(name, attributes, V, zero, load, mix)                                            \
    attributes static void name(const char *from, size_t lines, sink *out)                         \
    {                                                                                              \
        enum { PIECES = 64 / sizeof(V) };                                                          \
        V mixed[PIECES];                                                                           \
        for (size_t k = 0; k < PIECES; k++)                                                        \
            mixed[k] = zero;                                                                       \
        for (size_t line = 0; line < lines; line++) {                                              \
            const char *at = from + 64 * line;                                                     \
            __builtin_prefetch(at + 4096);                                                         \
            for (size_t k = 0; k < PIECES; k++)                                                    \
                mixed[k] = mix(mixed[k], load((const void *)(at + k * sizeof(V))));                \
        }                                                                                          \
        memcpy(out->bytes, mixed, sizeof mixed);                                                   \
    }

#define PLAIN_LOAD(from) (*(const uint64_t *)(from))
#define PLAIN_MIX(a, b) ((a) ^ (b))
READ_LOOP(read_plain, NO_ATTRIBUTES, uint64_t, 0, PLAIN_LOAD, PLAIN_MIX)
#if defined(__x86_64__)
READ_LOOP(read_avx2, AVX2, __m256i, _mm256_setzero_si256(), _mm256_load_si256, _mm256_xor_si256)
READ_LOOP(read_avx512, AVX512, __m512i, _mm512_setzero_si512(), _mm512_load_si512, _mm512_xor_si512)
#elif defined(__aarch64__)
READ_LOOP(read_neon, NO_ATTRIBUTES, uint64x2_t, vdupq_n_u64(0), vld1q_u64, veorq_u64)
#endif

typedef void (*read_loop)(const char *from, size_t lines, sink *out);

static read_loop read_loop_for(gbs_isa isa)
{
    switch (isa) {
#if defined(__x86_64__)
    case GBS_ISA_AVX512: return read_avx512;
    case GBS_ISA_AVX2: return read_avx2;
#elif defined(__aarch64__)
    case GBS_ISA_NEON: return read_neon;
#endif
    default: return read_plain;
    }
}

/* 64 sites of 64 chains: 16 or 32 KiB. */
enum { BLOCK = 64 };

typedef struct worker {
    gbs_isa isa;
    gbs_type type;
    double seconds;
    atomic_int *waiting; /* threads that have not come to the start */
    size_t lines;        /* to read; 0: arithmetic instead */
    double fmas, normals, reading;
    int failed;
} worker;

/* All threads start together, so that each is measured beside the others. */
static void wait_for_all(atomic_int *waiting)
{
    atomic_fetch_sub(waiting, 1);
    while (atomic_load(waiting) > 0) {
    }
}

static void measure_fmas(worker *w)
{
    const fma_loop loop = fma_loop_for(w->isa, w->type);
    sink out;
    int64_t runs = 0;
    const double start = clock_seconds(1);
    double spent = 0;
    for (; spent < w->seconds; spent = clock_seconds(1) - start)
        for (int k = 0; k < 8; k++, runs++)
            loop.run(&out);
    w->fmas = (double)(runs * VECTORS * STEPS * loop.lanes) / spent;
}

static void measure_normals(worker *w, gbs_context *ctx, void *z)
{
    int64_t sweeps = 0;
    const double start = clock_seconds(1);
    double spent = 0;
    for (; spent < w->seconds; spent = clock_seconds(1) - start)
        for (int k = 0; k < 16; k++, sweeps++)
            gbs_native_normals(ctx, w->type, 1, sweeps, 0, BLOCK, BLOCK, z);
    w->normals = (double)(sweeps * BLOCK * BLOCK) / spent;
}

static void *measure_reading(worker *w)
{
    const read_loop loop = read_loop_for(w->isa);
    char *memory = aligned_alloc(64, 64 * w->lines + 4096 / 64 * 64); /* prefetches run over */
    w->failed = !memory;
    if (memory)
        memset(memory, 1, 64 * w->lines);
    wait_for_all(w->waiting);
    if (memory) {
        sink out;
        double lines = 0, spent = 0;
        const double start = clock_seconds(1);
        for (; spent < w->seconds; spent = clock_seconds(1) - start)
            for (size_t done = 0; done < 1 << 14; done += w->lines) {
                loop(memory, w->lines, &out);
                lines += (double)w->lines;
            }
        w->reading = 64 * lines / spent;
    }
    free(memory);
    return NULL;
}

static void *measure(void *user)
{
    worker *w = user;
    if (w->lines > 0)
        return measure_reading(w);
    gbs_context_options options = gbs_context_options_default();
    gbs_context *ctx = NULL;
    options.isa = w->isa;
    void *z = aligned_alloc(64, BLOCK * BLOCK * sizeof(double));
    w->failed = !z || gbs_context_create(&options, &ctx) != GBS_OK;
    wait_for_all(w->waiting);
    if (!w->failed) {
        measure_fmas(w);
        measure_normals(w, ctx, z);
    }
    gbs_context_destroy(ctx);
    free(z);
    return NULL;
}

/* Every thread does what `of` says; `sum` gets the sums of what they found. */
static exit_code measure_together(worker of, int32_t threads, worker *sum)
{
    worker *workers = take(threads, sizeof *workers, "threads");
    pthread_t *handles = take(threads, sizeof *handles, "threads");
    if (!workers || !handles) {
        free(workers);
        free(handles);
        return EXIT_FILE;
    }
    atomic_int waiting = threads;
    int32_t started = 1;
    for (int32_t k = 0; k < threads; k++)
        workers[k] = of, workers[k].waiting = &waiting;
    while (started < threads &&
           pthread_create(&handles[started], NULL, measure, &workers[started]) == 0)
        started++;
    atomic_fetch_sub(&waiting, threads - started); /* threads that the system refuses */
    measure(&workers[0]);
    for (int32_t k = 1; k < started; k++)
        pthread_join(handles[k], NULL);
    exit_code code = EXIT_FINE;
    for (int32_t k = 0; k < started; k++) {
        if (workers[k].failed)
            code = EXIT_FILE;
        sum->fmas += workers[k].fmas;
        sum->normals += workers[k].normals;
        sum->reading += workers[k].reading;
    }
    free(handles);
    free(workers);
    return code == EXIT_FINE ? code : complain(code, "no memory to measure with");
}

exit_code ceiling_measure(gbs_isa isa, gbs_type type, int32_t threads, double seconds,
                          ceiling *found)
{
    worker sum = {.fmas = 0};
    const exit_code code =
        measure_together((worker){.isa = isa, .type = type, .seconds = seconds}, threads, &sum);
    *found = (ceiling){sum.normals, sum.fmas};
    return code;
}

exit_code ceiling_reading(gbs_isa isa, int32_t threads, double seconds, size_t bytes,
                          double *bytes_a_second)
{
    worker sum = {.fmas = 0};
    const size_t lines = bytes / 64 / (size_t)threads;
    const exit_code code = measure_together(
        (worker){.isa = isa, .seconds = seconds, .lines = lines > 0 ? lines : 1}, threads, &sum);
    *bytes_a_second = sum.reading;
    return code;
}
