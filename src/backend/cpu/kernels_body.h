/* All CPU kernels of one instruction set, in its vocabulary.  The including file has chosen the
 * vocabulary and defines
 *   KERNEL_NAME(idea)  the name of a function: idea plus the instruction set
 *   WIDE_VECTORS, WIDE_ROWS, NARROW_ROWS  the shape of the sweep's register block. */
#include "backend/backend.h"
#include "rng/philox.h"
#include "rng/normal.h"

#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* Counter words 1 to 3 for the chains of one vq: lanes chain, chain + step, chain + 2 step ... */
static inline gbs_philox_fixed fix_chains(const gbs_normals_job *job, const gbs_philox_key *key,
                                          int64_t chain, int step_log2)
{
    const vq chains = vq_add(vq_set1((uint64_t)chain), vq_shl(vq_iota(), step_log2));
    const uint32_t word3 = (uint32_t)(job->sweep >> 32) << 16 | (uint32_t)job->purpose << 8;
    return gbs_philox_fix(key, (uint32_t)job->sweep, chains,
                          vq_or(vq_shr(chains, 32), vq_set1(word3)));
}

static void normals_f32(const gbs_normals_job *job, int vectors)
{
    const gbs_philox_key key = gbs_philox_schedule(job->seed);
    for (int u = 0; u < vectors; ++u) {
        gbs_philox_fixed fixed[V_HALVES];
        for (int h = 0; h < V_HALVES; ++h)
            fixed[h] = fix_chains(job, &key, job->chain + u * VF_LANES + h, V_HALVES - 1);
        float *z = (float *)job->z + u * VF_LANES;
        for (int64_t site = 0; site < job->sites; site += 4, z += 4 * job->z_row) {
            vq half_words[V_HALVES][4];
            for (int h = 0; h < V_HALVES; ++h)
                gbs_philox_words(&key, &fixed[h], (uint32_t)(site / 4), half_words[h]);
            vw words[4];
            for (int k = 0; k < 4; ++k) {
                vq halves[V_HALVES];
                for (int h = 0; h < V_HALVES; ++h)
                    halves[h] = half_words[h][k];
                words[k] = vw_join(halves);
            }
            vf normal[4];
            gbs_normal_pair_f32(words[0], words[1], &normal[0], &normal[1]);
            gbs_normal_pair_f32(words[2], words[3], &normal[2], &normal[3]);
            const int64_t left = job->sites - site;
            for (int k = 0; k < 4; ++k)
                if (k < left)
                    vf_store(z + k * job->z_row, normal[k]);
        }
    }
}

static void normals_f64(const gbs_normals_job *job, int vectors)
{
    const gbs_philox_key key = gbs_philox_schedule(job->seed);
    for (int u = 0; u < vectors; ++u) {
        const gbs_philox_fixed fixed = fix_chains(job, &key, job->chain + u * VD_LANES, 0);
        double *z = (double *)job->z + u * VD_LANES;
        for (int64_t site = 0; site < job->sites; site += 2, z += 2 * job->z_row) {
            vq words[4];
            gbs_philox_words(&key, &fixed, (uint32_t)(site / 2), words);
            vd first, second;
            gbs_normal_pair_f64(gbs_word53(words[0], words[1]), gbs_word53(words[2], words[3]),
                                &first, &second);
            vd_store(z, first);
            if (site + 1 < job->sites)
                vd_store(z + job->z_row, second);
        }
    }
}

static void normals_wide_f32(const gbs_normals_job *job)
{
    normals_f32(job, WIDE_VECTORS);
}
static void normals_wide_f64(const gbs_normals_job *job)
{
    normals_f64(job, WIDE_VECTORS);
}
static void normals_narrow_f32(const gbs_normals_job *job)
{
    normals_f32(job, 1);
}
static void normals_narrow_f64(const gbs_normals_job *job)
{
    normals_f64(job, 1);
}

/* sweep_body.h four times: both types, both widths. */
#define T float
#define V vf
#define V_LANES VF_LANES
#define V_(operation) vf_##operation
#define VECTORS WIDE_VECTORS
#define ROWS WIDE_ROWS
#define SWEEP KERNEL_NAME(sweep_dense_f32)
#define SOLVE solve_wide_f32
#include "backend/cpu/sweep_body.h"
#define VECTORS 1
#define ROWS NARROW_ROWS
#define SWEEP KERNEL_NAME(sweep_dense_narrow_f32)
#define SOLVE solve_narrow_f32
#include "backend/cpu/sweep_body.h"
#undef T
#undef V
#undef V_LANES
#undef V_

#define T double
#define V vd
#define V_LANES VD_LANES
#define V_(operation) vd_##operation
#define VECTORS WIDE_VECTORS
#define ROWS WIDE_ROWS
#define SWEEP KERNEL_NAME(sweep_dense_f64)
#define SOLVE solve_wide_f64
#include "backend/cpu/sweep_body.h"
#define VECTORS 1
#define ROWS NARROW_ROWS
#define SWEEP KERNEL_NAME(sweep_dense_narrow_f64)
#define SOLVE solve_narrow_f64
#include "backend/cpu/sweep_body.h"
#undef T
#undef V
#undef V_LANES
#undef V_

#define KERNEL_STRING_(name) #name
#define KERNEL_STRING(name) KERNEL_STRING_(name)

const gbs_kernels KERNEL_NAME(gbs_kernels) = {
    {KERNEL_STRING(KERNEL_NAME(sweep_dense_f32)), KERNEL_STRING(KERNEL_NAME(sweep_dense_f64))},
    {{WIDE_VECTORS * VF_LANES, WIDE_ROWS, normals_wide_f32, KERNEL_NAME(sweep_dense_f32),
      solve_wide_f32},
     {WIDE_VECTORS * VD_LANES, WIDE_ROWS, normals_wide_f64, KERNEL_NAME(sweep_dense_f64),
      solve_wide_f64}},
    {{VF_LANES, NARROW_ROWS, normals_narrow_f32, KERNEL_NAME(sweep_dense_narrow_f32),
      solve_narrow_f32},
     {VD_LANES, NARROW_ROWS, normals_narrow_f64, KERNEL_NAME(sweep_dense_narrow_f64),
      solve_narrow_f64}},
};
