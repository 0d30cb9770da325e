/* What sweep_bounded is told: arrays by place, on the device. */
#ifndef GBS_CUDA_BOUNDED_ARGS_CUH
#define GBS_CUDA_BOUNDED_ARGS_CUH

#include <cuda_runtime.h>
#include <stdint.h>

#define BOUNDED_THREADS 128 /* of a block, each with a chain */

template <typename T> struct bounded_args {
    int64_t dim, chains;
    const T *columns; /* [D][D padded]: [j][i] is A_ij, A_ii on the diagonal */
    const T *scale, *centre, *lower, *upper; /* [D]; the bounds infinite where there are none */
    const uint8_t *bounded;                  /* [D] */
    const int64_t *site;                     /* [D] at each place; NULL: its own number */
    int relaxed;                             /* some A_ii is not 0 */
    int overrelaxed;
    T overrelax, beside; /* r, sqrt(1 - r^2) */
    uint32_t key[10][2]; /* Philox's, of every round */
    uint64_t first_pass, first_chain;
    const T *given; /* [passes, D, B]: normals, and words at bounded places; NULL: native */
    T *state;       /* [B, D] */
    T *workspace;   /* [D, B], or NULL where states fit shared memory */
    int64_t sweeps;
    int32_t passes, first_direction; /* of a sweep; +1 or -1 */
    int64_t keep_every;              /* 0: never */
    T *kept;                         /* [draws, B, D] */
};

#endif
