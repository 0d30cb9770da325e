/* What every sweep kernel is told.  Plain numbers and device pointers, passed by value. */
#ifndef GBS_CUDA_SWEEP_ARGS_CUH
#define GBS_CUDA_SWEEP_ARGS_CUH

#include "gibbsite/gibbsite_cuda.h"

#include <cuda_runtime.h>
#include <stdint.h>

/* Kernels are compiled for the streams, and for one more kind of noise: the native stream with a
 * seed that is known only when the kernel runs, so that its key is in registers instead of being
 * an operand from the arguments. */
#define NATIVE_REPLAYED 16

/* Where normals come from. */
struct gbs_noise_args {
    gbs_stream kind;
    uint32_t key[10][2];           /* Philox's key of every round, of the seed */
    const uint64_t *device_seed;   /* NULL, or where the seed is at replay */
    const uint64_t *device_offset; /* likewise, added to torch_offset */
    bool settled;                  /* nothing ahead in the stream writes these two */
    uint64_t torch_offset;
    uint64_t call_advance; /* offset from one torch call to the next */
    uint32_t call_threads; /* threads of torch's grid for one call */
    int64_t call_elements; /* normals in one call, G B */
    uint64_t first_pass;   /* stream number of the first pass */
    uint64_t first_chain;
    int32_t purpose;
    const void *given; /* [passes, D, G B] of the sweep's type */
};

struct gbs_sweep_args {
    int64_t groups, chains, dim;
    /* Row i of the precision as given; the kernels make the coefficients. */
    const void *precision;
    int64_t precision_group_stride, precision_row_stride;
    const void *location;
    int64_t location_group_stride;
    gbs_location location_kind;
    /* Or coefficients that are ready: `precision` is A, and these are s and c [D]; one group. */
    const void *ready_scale, *ready_centre;
    double omega;
    const void *x;
    int64_t x_stride[3];
    void *out;
    int64_t out_stride[3];
    int64_t sweeps;
    int32_t first_direction; /* +1 or -1: of the first pass */
    int32_t passes;          /* 1, or 2: the second goes the other way */
    int32_t relaxed;         /* omega != 1 */
    int64_t keep_every;
    void *kept;
    gbs_noise_args noise;
};

/* The same for sweep_single, in two lines of a cache: one model, one sweep, places side by side. */
struct gbs_single_args {
    const float *precision, *location, *x;
    float *out;
    const uint64_t *device_seed, *device_offset;
    uint64_t seed, offset; /* offset: of torch's generator */
    int32_t dim, chains, row_stride, x_stride, out_stride;
    int32_t location_kind; /* zero, offset or information */
    uint32_t first_chain, pass;
    int32_t settled;
};

#endif
