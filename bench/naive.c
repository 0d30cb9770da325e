/* The loop that one writes first: chain by chain, site by site, a dot product, the conditional
 * mean, a Box-Muller normal from libm.  Built twice, as -O3 and as -O3 -ffast-math; NAIVE(x)
 * names the build's functions. */
#define _DEFAULT_SOURCE
#include "plain_loops.h"

#include <math.h>

/* splitmix64 (Steele, Lea and Flood 2014), the shortest generator worth using. */
static double uniform(naive_job *job)
{
    uint64_t w = job->state += 0x9E3779B97F4A7C15u;
    w = (w ^ (w >> 30)) * 0xBF58476D1CE4E5B9u;
    w = (w ^ (w >> 27)) * 0x94D049BB133111EBu;
    return (double)((w ^ (w >> 31)) >> 11) * 0x1p-53 + 0x1p-54;
}

#define DEFINE(T, suffix, LOG, SQRT, SIN, COS)                                                     \
    static T normal_##suffix(naive_job *job)                                                       \
    {                                                                                              \
        if (job->have) {                                                                           \
            job->have = 0;                                                                         \
            return (T)job->kept;                                                                   \
        }                                                                                          \
        const T r = SQRT((T)-2 * LOG((T)uniform(job)));                                            \
        const T angle = (T)6.283185307179586 * (T)uniform(job);                                    \
        job->kept = (double)(r * SIN(angle));                                                      \
        job->have = 1;                                                                             \
        return r * COS(angle);                                                                     \
    }                                                                                              \
    void NAIVE(suffix)(naive_job * job)                                                            \
    {                                                                                              \
        const T *const Q = job->precision, *const mean = job->mean;                                \
        for (int64_t b = 0; b < job->chains; b++) {                                                \
            T *const x = (T *)job->x + b * job->dim;                                               \
            for (int64_t i = 0; i < job->dim; i++) {                                               \
                const T *const row = Q + i * job->dim;                                             \
                T sum = 0;                                                                         \
                for (int64_t j = 0; j < job->dim; j++)                                             \
                    sum += row[j] * (x[j] - mean[j]);                                              \
                sum -= row[i] * (x[i] - mean[i]);                                                  \
                x[i] = mean[i] - sum / row[i] + normal_##suffix(job) / SQRT(row[i]);               \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE(float, f32, logf, sqrtf, sinf, cosf)
DEFINE(double, f64, log, sqrt, sin, cos)
