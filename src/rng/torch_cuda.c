/* torch.randn on a CUDA device, without the device.  A call of n elements starts a grid whose size
 * depends on the card; thread t of it is Philox subsequence t, and each of its 128-bit outputs
 * serves elements t, t + T, ... one grid of T threads apart.  Follows PyTorch's
 * native/cuda/DistributionTemplates.h (calc_execution_policy, distribution_elementwise_grid_
 * stride_kernel) and cuRAND's Box-Muller.  Up to T elements all cards agree. */
#include "rng/torch_stream.h"
#include "rng/torch_kernels.h"

enum { BLOCK_THREADS = 256, OFFSET_STEP = 4 };

/* ---- the grid of one call ---- */

/* Outputs a thread makes per Philox call: curand_normal4 gives four, curand_normal2_double two. */
static int64_t unroll(gbs_type type)
{
    return type == GBS_F32 ? 4 : 2;
}

static int64_t grid_threads(const gbs_torch_cuda *generator, int64_t n)
{
    const int64_t resident = (int64_t)generator->multiprocessors *
                             (generator->threads_per_multiprocessor / BLOCK_THREADS);
    const int64_t wanted = n / BLOCK_THREADS + (n % BLOCK_THREADS != 0);
    return BLOCK_THREADS * (wanted < resident ? wanted : resident);
}

uint64_t gbs_torch_cuda_advance(const gbs_torch_cuda *generator, gbs_type type, int64_t n)
{
    if (n == 0)
        return 0;
    const int64_t per_round = grid_threads(generator, n) * unroll(type);
    return OFFSET_STEP * (uint64_t)((n - 1) / per_round + 1);
}

/* ---- elements ---- */

/* A stretch of elements within one grid-wide slice of a call: slice k holds elements k T ..
 * k T + T - 1 and takes output k mod U of round k / U. */
typedef struct stretch {
    uint64_t round;
    uint64_t thread;
    int output;
    int64_t count;
} stretch;

static stretch stretch_at(int64_t threads, int64_t outputs, uint64_t offset, int64_t element,
                          int64_t left)
{
    const int64_t slice = element / threads, thread = element % threads;
    stretch s;
    s.round = offset / OFFSET_STEP + (uint64_t)(slice / outputs);
    s.thread = (uint64_t)thread;
    s.output = (int)(slice % outputs);
    s.count = left < threads - thread ? left : threads - thread;
    return s;
}

void gbs_torch_cuda_randn_f32(const gbs_torch_cuda *generator, uint64_t offset, int64_t n,
                              int64_t first, int64_t count, float *out)
{
    const gbs_torch_kernels *kernels = gbs_torch_kernels_best();
    const int64_t threads = grid_threads(generator, n), outputs = unroll(GBS_F32);
    for (int64_t done = 0; done < count;) {
        const stretch s = stretch_at(threads, outputs, offset, first + done, count - done);
        kernels->cuda_f32(generator->seed, s.round, s.thread, s.output, s.count, out + done);
        done += s.count;
    }
}

void gbs_torch_cuda_randn_f64(const gbs_torch_cuda *generator, uint64_t offset, int64_t n,
                              int64_t first, int64_t count, double *out)
{
    const gbs_torch_kernels *kernels = gbs_torch_kernels_best();
    const int64_t threads = grid_threads(generator, n), outputs = unroll(GBS_F64);
    for (int64_t done = 0; done < count;) {
        const stretch s = stretch_at(threads, outputs, offset, first + done, count - done);
        kernels->cuda_f64(generator->seed, s.round, s.thread, s.output, s.count, out + done);
        done += s.count;
    }
}

/* ---- the state: seed and offset, 8 bytes each, little endian ---- */

void gbs_torch_cuda_get_state(const gbs_torch_cuda *generator, unsigned char *state)
{
    for (int k = 0; k < 8; k++) {
        state[k] = (unsigned char)(generator->seed >> (8 * k));
        state[8 + k] = (unsigned char)(generator->offset >> (8 * k));
    }
}

gbs_status gbs_torch_cuda_set_state(gbs_torch_cuda *generator, const unsigned char *state)
{
    uint64_t seed = 0, offset = 0;
    for (int k = 0; k < 8; k++) {
        seed |= (uint64_t)state[k] << (8 * k);
        offset |= (uint64_t)state[8 + k] << (8 * k);
    }
    if (offset % OFFSET_STEP != 0)
        return GBS_ERROR_STATE;
    generator->seed = seed;
    generator->offset = offset;
    return GBS_OK;
}
