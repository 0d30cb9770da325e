/* The library's own normals, from its scalar vocabulary, left to the compiler: a loop over
 * chains with nothing in it that a vectoriser cannot take.  AUTOVEC(x) names the build's
 * functions. */
#include "rng/vocab_scalar.h"
#include "rng/philox.h"
#include "rng/normal.h"
#include "plain_loops.h"

/* Restrict and a constant trip count spare the compiler its checks. */
void AUTOVEC(f32)(const autovec_job *job)
{
    const gbs_philox_key key = gbs_philox_schedule(job->seed);
    for (int64_t site = 0; site < job->sites; site += 4) {
        float *const restrict z = (float *)job->z + site * AUTOVEC_LANES;
        for (int lane = 0; lane < AUTOVEC_LANES; ++lane) {
            const uint64_t chain = (uint64_t)job->chain + (uint64_t)lane;
            const gbs_philox_fixed fixed = gbs_philox_fix(&key, (uint32_t)job->sweep, chain,
                                                          chain >> 32 | job->sweep >> 32 << 16);
            vq w[4];
            gbs_philox_words(&key, &fixed, (uint32_t)(site / 4), w);
            vf n[4];
            gbs_normal_pair_f32((vw)w[0], (vw)w[1], &n[0], &n[1]);
            gbs_normal_pair_f32((vw)w[2], (vw)w[3], &n[2], &n[3]);
            z[lane] = n[0];
            z[AUTOVEC_LANES + lane] = n[1];
            z[2 * AUTOVEC_LANES + lane] = n[2];
            z[3 * AUTOVEC_LANES + lane] = n[3];
        }
    }
}

void AUTOVEC(f64)(const autovec_job *job)
{
    const gbs_philox_key key = gbs_philox_schedule(job->seed);
    for (int64_t site = 0; site < job->sites; site += 2) {
        double *const restrict z = (double *)job->z + site * AUTOVEC_LANES;
        for (int lane = 0; lane < AUTOVEC_LANES; ++lane) {
            const uint64_t chain = (uint64_t)job->chain + (uint64_t)lane;
            const gbs_philox_fixed fixed = gbs_philox_fix(&key, (uint32_t)job->sweep, chain,
                                                          chain >> 32 | job->sweep >> 32 << 16);
            vq w[4];
            gbs_philox_words(&key, &fixed, (uint32_t)(site / 2), w);
            gbs_normal_pair_f64(gbs_word53(w[0], w[1]), gbs_word53(w[2], w[3]), &z[lane],
                                &z[AUTOVEC_LANES + lane]);
        }
    }
}
