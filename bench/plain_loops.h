/* The C loops that the library is compared with; each is compiled several times, by different
 * compilers or flags, under different names. */
#ifndef GBS_BENCH_PLAIN_LOOPS_H
#define GBS_BENCH_PLAIN_LOOPS_H

#include <stdint.h>

/* One sweep of every chain.  Shape: precision [dim, dim], mean [dim], x [chains, dim]. */
typedef struct naive_job {
    int64_t dim, chains;
    const void *precision, *mean;
    void *x;
    uint64_t state; /* of its generator */
    double kept;    /* the pair's second normal, while have is 1 */
    int have;
} naive_job;

typedef void (*naive_function)(naive_job *job);

/* The native stream's normals for LANES consecutive chains: z [sites, LANES]. */
enum { AUTOVEC_LANES = 64 };

typedef struct autovec_job {
    uint64_t seed, sweep;
    int64_t chain, sites;
    void *z;
} autovec_job;

typedef void (*autovec_function)(const autovec_job *job);

void naive_o3_f32(naive_job *job);
void naive_o3_f64(naive_job *job);
void naive_fast_f32(naive_job *job);
void naive_fast_f64(naive_job *job);
void autovec_clang_f32(const autovec_job *job);
void autovec_clang_f64(const autovec_job *job);
void autovec_clang512_f32(const autovec_job *job);
void autovec_clang512_f64(const autovec_job *job);
void autovec_cc512_f32(const autovec_job *job);
void autovec_cc512_f64(const autovec_job *job);

#endif
