/* Normals of the native stream for a block of chains, in one instruction set's vocabulary.
 *
 * They are made in three steps through small buffers: words, squared radii, normals.  Each step
 * is a loop of short iterations that do not depend on each other, so that a processor works on
 * several at once.  In one loop the chains of Philox (70 cycles), logarithm (60) and square root
 * with what follows (50) would stand in its scheduler one after the other: with the steps apart
 * AVX-512 makes half as many normals again (bench/NOTES.md).  For the same reason ABREAST
 * counters go through Philox's rounds side by side. */

#include "backend/cpu/words_body.h"

/* `count` sites of one vector of chains, from `site` on. */
ALWAYS_INLINE void chunk_f32(const gbs_philox_key *key, const gbs_philox_fixed fixed[V_HALVES],
                             int64_t site, int64_t count, float *z, int64_t z_row)
{
    vw words[CHUNK];
    vf radius2[CHUNK / 2], first, second;
    words_f32(key, fixed, site, count, words, (int64_t)sizeof *words);
    for (int64_t k = 0; 2 * k < count; ++k)
        radius2[k] = gbs_radius2_f32(words[2 * k]);
    for (int64_t k = 0; 2 * k < count; ++k, z += 2 * z_row) {
        gbs_polar_f32(radius2[k], words[2 * k + 1], &first, &second);
        vf_store(z, first);
        if (2 * k + 1 < count)
            vf_store(z + z_row, second);
    }
}

ALWAYS_INLINE void chunk_f64(const gbs_philox_key *key, const gbs_philox_fixed *fixed, int64_t site,
                             int64_t count, double *z, int64_t z_row)
{
    vq words[CHUNK];
    vd radius2[CHUNK / 2], low[CHUNK / 2], first, second;
    words_f64(key, fixed, site, count, words, (int64_t)sizeof *words);
    for (int64_t k = 0; 2 * k < count; ++k)
        radius2[k] = gbs_radius2_f64(words[2 * k], &low[k]);
    for (int64_t k = 0; 2 * k < count; ++k, z += 2 * z_row) {
        gbs_polar_f64(radius2[k], low[k], gbs_turn_f64(words[2 * k + 1]), &first, &second);
        vd_store(z, first);
        if (2 * k + 1 < count)
            vd_store(z + z_row, second);
    }
}

static void normals_f32(const gbs_normals_job *job, int vectors)
{
    const gbs_philox_key key = gbs_philox_schedule(job->seed);
    for (int u = 0; u < vectors; ++u) {
        gbs_philox_fixed fixed[V_HALVES];
        for (int h = 0; h < V_HALVES; ++h)
            fixed[h] = fix_chains(job, &key, job->chain + u * VF_LANES + h, V_HALVES - 1);
        float *const z = (float *)job->z + u * VF_LANES;
        for (int64_t k = 0; k < job->sites; k += CHUNK)
            chunk_f32(&key, fixed, job->first_site + k, chunk_at(job, k), z + k * job->z_row,
                      job->z_row);
    }
}

static void normals_f64(const gbs_normals_job *job, int vectors)
{
    const gbs_philox_key key = gbs_philox_schedule(job->seed);
    for (int u = 0; u < vectors; ++u) {
        const gbs_philox_fixed fixed = fix_chains(job, &key, job->chain + u * VD_LANES, 0);
        double *const z = (double *)job->z + u * VD_LANES;
        for (int64_t k = 0; k < job->sites; k += CHUNK)
            chunk_f64(&key, &fixed, job->first_site + k, chunk_at(job, k), z + k * job->z_row,
                      job->z_row);
    }
}
