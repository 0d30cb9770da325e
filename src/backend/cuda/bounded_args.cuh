/* What sweep_bounded is told: arrays by place, on the device; those of a model group after group.
 */
#ifndef GBS_CUDA_BOUNDED_ARGS_CUH
#define GBS_CUDA_BOUNDED_ARGS_CUH

#include <cuda_runtime.h>
#include <stdint.h>

#define BOUNDED_THREADS 128 /* of a block, each with a chain */
#define BOUNDED_PADDING 7   /* elements at most behind a vector, whose values nothing depends on */

template <typename T> struct bounded_args {
    int64_t groups, chains, dim;
    /* From group to group: columns dim padded(dim) elements, vectors padded(dim); one group's may
     * serve all, with models = 1. */
    int64_t models;
    const T *columns; /* [D][D padded]: [j][i] is A_ij, A_ii on the diagonal */
    const T *scale, *centre, *lower, *upper; /* [D padded]; bounds infinite where there are none */
    const uint8_t *bounded;                  /* [D padded] */
    const int64_t *site;                     /* [D] at each place; NULL: its own number */
    int relaxed;                             /* some A_ii is not 0 */
    int overrelaxed;
    T overrelax, beside;        /* r, sqrt(1 - r^2) */
    uint32_t key[10][2];        /* Philox's, of every round */
    const uint32_t *device_key; /* the same where prepare_bounded made it of a seed that is known
                                   only when it runs; NULL: above */
    uint64_t first_pass, first_chain;
    const T *given; /* [passes, D, G B]: normals, and words at bounded places; NULL: native */
    const T *x;     /* [G, B, D] */
    T *out;
    int64_t x_stride[3], out_stride[3];
    T *workspace; /* [G, D, B], or NULL where states fit shared memory */
    int64_t sweeps;
    int32_t passes, first_direction; /* of a sweep; +1 or -1 */
    int64_t keep_every;              /* 0: never */
    T *kept;                         /* [draws, G, B, D] */
};

#endif
