/* All kernels for models with bounds of one instruction set, in its vocabulary.  The including file
 * has chosen the vocabulary, with GBS_INLINE forced, and defines
 *   KERNEL_NAME(idea)  the name of a function: idea plus the instruction set
 *   WIDE_VECTORS       of a wide block, as in its kernels_*.c
 *   WIDE_ROWS, NARROW_ROWS  rows in a group. */
#include "backend/backend.h"
#include "rng/philox.h"
#include "rng/truncnorm.h"

#include <math.h>
#include <string.h>

#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#define NO_UNROLL _Pragma("nounroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#define NO_UNROLL _Pragma("GCC unroll 1")
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#include "backend/cpu/words_body.h"

/* Are all words of the job's sites first .. first + count - 1 wanted?  Then, and if they are those
 * of whole counters, they go straight to where they are read. */
static int all_wanted(const gbs_words_job *job, int64_t first, int64_t count)
{
    return job->wanted == NULL ||
           memchr(job->wanted + job->like.first_site + first, 0, (size_t)count) == NULL;
}

static void store_words_f32(const gbs_words_job *job, int vectors)
{
    const gbs_normals_job *const like = &job->like;
    const gbs_philox_key key = gbs_philox_schedule(like->seed);
    for (int u = 0; u < vectors; ++u) {
        gbs_philox_fixed fixed[V_HALVES];
        vw words[CHUNK];
        for (int h = 0; h < V_HALVES; ++h)
            fixed[h] = fix_chains(like, &key, like->chain + u * VF_LANES + h, V_HALVES - 1);
        float *const to = (float *)like->z + u * VF_LANES;
        for (int64_t first = 0; first < like->sites; first += CHUNK) {
            const int64_t count = chunk_at(like, first);
            if (all_wanted(job, first, count) && count % 4 == 0) {
                words_f32(&key, fixed, like->first_site + first, count, to + first * like->z_row,
                          like->z_row * (int64_t)sizeof *to);
                continue;
            }
            words_f32(&key, fixed, like->first_site + first, count, words, (int64_t)sizeof *words);
            for (int64_t k = 0; k < count; ++k)
                if (job->wanted == NULL || job->wanted[like->first_site + first + k])
                    memcpy(to + (first + k) * like->z_row, &words[k], sizeof words[k]);
        }
    }
}

static void store_words_f64(const gbs_words_job *job, int vectors)
{
    const gbs_normals_job *const like = &job->like;
    const gbs_philox_key key = gbs_philox_schedule(like->seed);
    for (int u = 0; u < vectors; ++u) {
        const gbs_philox_fixed fixed = fix_chains(like, &key, like->chain + u * VD_LANES, 0);
        vq words[CHUNK];
        double *const to = (double *)like->z + u * VD_LANES;
        for (int64_t first = 0; first < like->sites; first += CHUNK) {
            const int64_t count = chunk_at(like, first);
            if (all_wanted(job, first, count) && count % 2 == 0) {
                words_f64(&key, &fixed, like->first_site + first, count, to + first * like->z_row,
                          like->z_row * (int64_t)sizeof *to);
                continue;
            }
            words_f64(&key, &fixed, like->first_site + first, count, words, (int64_t)sizeof *words);
            for (int64_t k = 0; k < count; ++k)
                if (job->wanted == NULL || job->wanted[like->first_site + first + k])
                    memcpy(to + (first + k) * like->z_row, &words[k], sizeof words[k]);
        }
    }
}

static void words_wide_f32(const gbs_words_job *job)
{
    store_words_f32(job, WIDE_VECTORS);
}
static void words_wide_f64(const gbs_words_job *job)
{
    store_words_f64(job, WIDE_VECTORS);
}
static void words_narrow_f32(const gbs_words_job *job)
{
    store_words_f32(job, 1);
}
static void words_narrow_f64(const gbs_words_job *job)
{
    store_words_f64(job, 1);
}

/* bounded_pass.h four times: both types, both widths. */
#define T float
#define V vf
#define W vw
#define V_LANES VF_LANES
#define V_(operation) vf_##operation
#define TYPED(idea) idea##_f32
#include "rng/truncnorm_abreast.h"
#define VECTORS WIDE_VECTORS
#define JOBS GBS_BOUNDED_TOGETHER
#define ROWS WIDE_ROWS
#define SWEEP KERNEL_NAME(sweep_bounded_f32)
#include "backend/cpu/bounded_pass.h"
#define VECTORS 1
#define JOBS 1
#define ROWS NARROW_ROWS
#define SWEEP KERNEL_NAME(sweep_bounded_narrow_f32)
#include "backend/cpu/bounded_pass.h"
#undef T
#undef V
#undef W
#undef V_LANES
#undef V_
#undef TYPED

#define T double
#define V vd
#define W vq
#define V_LANES VD_LANES
#define V_(operation) vd_##operation
#define TYPED(idea) idea##_f64
#include "rng/truncnorm_abreast.h"
#define VECTORS WIDE_VECTORS
#define JOBS GBS_BOUNDED_TOGETHER
#define ROWS WIDE_ROWS
#define SWEEP KERNEL_NAME(sweep_bounded_f64)
#include "backend/cpu/bounded_pass.h"
#define VECTORS 1
#define JOBS 1
#define ROWS NARROW_ROWS
#define SWEEP KERNEL_NAME(sweep_bounded_narrow_f64)
#include "backend/cpu/bounded_pass.h"

#define KERNEL_STRING_(name) #name
#define KERNEL_STRING(name) KERNEL_STRING_(name)

const gbs_bounded_kernels KERNEL_NAME(gbs_bounded) = {
    {KERNEL_STRING(KERNEL_NAME(sweep_bounded_f32)), KERNEL_STRING(KERNEL_NAME(sweep_bounded_f64))},
    {{WIDE_VECTORS * VF_LANES, WIDE_ROWS, words_wide_f32, KERNEL_NAME(sweep_bounded_f32)},
     {WIDE_VECTORS * VD_LANES, WIDE_ROWS, words_wide_f64, KERNEL_NAME(sweep_bounded_f64)}},
    {{VF_LANES, NARROW_ROWS, words_narrow_f32, KERNEL_NAME(sweep_bounded_narrow_f32)},
     {VD_LANES, NARROW_ROWS, words_narrow_f64, KERNEL_NAME(sweep_bounded_narrow_f64)}},
};
