/* The seam between samplers and a device that holds their chains' state: a table of a few coarse
 * calls, which the device's own library exports (libgibbsite_cuda: src/backend/cuda), so that this
 * library needs none.  The host plans, rounds the coefficients and computes the starts as for the
 * CPU; the device sweeps, keeps draws and accumulates moments, with the same bits.
 *
 * Arrays are the host's and contiguous.  Sites are numbered by place: a site's position in the
 * order of visit where that is a permutation, else its own number.  Every call that fails writes
 * why into `message`.  All calls wait for their work, and leave the caller's current device. */
#ifndef GBS_CORE_DEVICE_H
#define GBS_CORE_DEVICE_H

#include "core/constrained_steps.h"
#include "gibbsite/gibbsite.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GBS_DEVICE_VERSION 3

typedef struct gbs_device gbs_device; /* the three are the device library's own */
typedef struct gbs_device_sampler gbs_device_sampler;
typedef struct gbs_device_moments gbs_device_moments;

typedef struct gbs_device_message {
    char *text;
    size_t bytes;
} gbs_device_message;

typedef struct gbs_device_plan {
    gbs_type type; /* T */
    gbs_method method;
    int64_t dim, chains, first_chain;
    uint64_t seed; /* torch-cuda: the generator's */
    double omega;
    gbs_order order; /* forward, backward or symmetric, by place */
    /* NATIVE and TORCH_CUDA are made on the device; GIVEN comes by put_noise. */
    gbs_stream stream;
    int32_t cuda_multiprocessors, cuda_threads_per_multiprocessor;
    const int64_t *place, *site; /* [D] of each site, and at each place; NULL: itself */
    /* A, s and c of type T.  EXACT: [j, i] holds -L_ji for i < j and L_ii for i = j, and the two
     * vectors are NULL. */
    const void *coefficients, *scale, *centre;
    const double *mean; /* [D]; EXACT only */
    /* Bounds by place, of type T, infinite where there is none; `bounded` NULL: no site has any.
     * Else the coefficients' diagonal holds the A_ii, as places differ in them, and omega is not
     * read.  overrelax r > 0: over-relaxed draws, and beside is sqrt(1 - r^2). */
    const uint8_t *bounded;
    const void *lower, *upper;
    double overrelax, beside;
    int relaxed; /* with bounds: some A_ii is not 0 */
    /* Whitened sweeps, and sweeps within rows (`kind` NULL: neither): gbs_step_kind and bounds by
     * place, the latter as above, while `bounded` is NULL; entries of rows are at places, and
     * directions are numbered by site.  WHITENED: backend/constrained.h's panels in place of A, s
     * and c, and every site at its own place. */
    const uint8_t *kind;
    const gbs_row_lists *rows;
    const void *panels;
    int64_t panel_elements;
    /* GIVEN, EXACT, and NATIVE with places and neither bounds nor kinds: a run makes at most so
     * many passes, and put_noise sends so many ahead. */
    int64_t noise_passes;
    int64_t kept_draws; /* how many states a run can keep */
    void *staging; /* whole pages of the host that most copies come from or go to: may be pinned */
    size_t staging_bytes;
} gbs_device_plan;

typedef struct gbs_device_run {
    int64_t sweeps;        /* EXACT: draws */
    int64_t first_sweep;   /* stream number of the first, in whole sweeps */
    uint64_t torch_offset; /* torch-cuda: the generator's before the first */
    int64_t keep_every;    /* k > 0: every k-th state is kept, from kept draw `keep_from` on */
    int64_t keep_from;
} gbs_device_run;

typedef struct gbs_device_functions {
    int32_t version; /* GBS_DEVICE_VERSION: the two libraries are of one build */

    /* `host` and `memory` are hooks for the device library's objects and for memory on the device;
     * the latter NULL: its own. */
    gbs_status (*open)(int32_t ordinal, const gbs_allocator *host, const gbs_allocator *memory,
                       gbs_device **out, gbs_device_message message);
    void (*close)(gbs_device *device); /* accepts NULL, as every ending does */

    gbs_status (*plan)(gbs_device *device, const gbs_device_plan *plan, gbs_device_sampler **out,
                       gbs_device_message message); /* copies what the plan points to */
    void (*end)(gbs_device_sampler *sampler);       /* before the host gives `staging` back */
    const char *(*kernel)(const gbs_device_sampler *sampler);

    gbs_status (*put_state)(gbs_device_sampler *sampler, const void *x, /* [B, D] */
                            gbs_device_message message);
    /* Normals, and the words themselves at places with bounds and at those that are HELD. */
    gbs_status (*put_noise)(gbs_device_sampler *sampler, int64_t pass, const void *z, /* [D, B] */
                            gbs_device_message message);
    gbs_status (*run)(gbs_device_sampler *sampler, const gbs_device_run *run,
                      gbs_device_message message);
    /* Kept draws first .. first + count - 1; count 0: the state. */
    gbs_status (*get)(gbs_device_sampler *sampler, int64_t first, int64_t count,
                      void *x, /* [count, B, D] */
                      gbs_device_message message);

    /* Moments outlive the device object, and are in sites: mean and m2 [B, D]. */
    gbs_status (*moments_create)(gbs_device *device, int64_t chains, int64_t dim,
                                 gbs_device_moments **out, gbs_device_message message);
    void (*moments_destroy)(gbs_device_moments *moments);
    gbs_status (*moments_put)(gbs_device_moments *moments, const double *mean, const double *m2,
                              gbs_device_message message);
    gbs_status (*moments_get)(gbs_device_moments *moments, double *mean, double *m2,
                              gbs_device_message message);
    /* Kept draws first .. first + count - 1 after `seen` earlier ones. */
    gbs_status (*accumulate)(gbs_device_sampler *sampler, gbs_device_moments *moments,
                             int64_t first, int64_t count, int64_t seen,
                             gbs_device_message message);
} gbs_device_functions;

/* What the device library exports under this name. */
typedef const gbs_device_functions *(*gbs_device_entry)(void);
#define GBS_DEVICE_ENTRY "gbs_cuda_device_functions"

/* Loads the library that `options` asks for and checks that it is of this build.
 * Fails: UNAVAILABLE; *out is then NULL. */
gbs_status gbs_device_load(const gbs_context_options *options, const gbs_device_functions **out,
                           gbs_device_message message);

#ifdef __cplusplus
}
#endif

#endif
