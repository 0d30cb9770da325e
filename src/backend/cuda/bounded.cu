/* Launches of sweep_bounded: where states lie, how large the launch is, and a one-call sweep's
 * model, made in its workspace. */
#include "backend/cuda/bounded.cuh"
#include "backend/cuda/device_bounds.cuh"
#include "backend/cuda/kernels.cuh"
#include "backend/cuda/launch.cuh"

#include <string.h>

int64_t gbs_cuda_bounded_columns(int64_t dim)
{
    return dim * whole_groups(dim);
}

int gbs_cuda_bounded_needs_workspace(gbs_type type, int64_t dim)
{
    return !(type == GBS_F32 ? is_shared<float>(dim) : is_shared<double>(dim));
}

template <typename T>
static gbs_status pack(int64_t dim, const T *matrix, T *columns, cudaStream_t stream,
                       gbs_device_message message)
{
    const int64_t wanted = (gbs_cuda_bounded_columns(dim) + 255) / 256;
    pack_columns<T>
        <<<(unsigned)(wanted < 65536 ? wanted : 65536), 256, 0, stream>>>(dim, matrix, columns);
    return from_cuda(cudaGetLastError(), "coefficients", message.text, message.bytes);
}

gbs_status gbs_cuda_pack_columns(int64_t dim, const float *matrix, float *columns,
                                 cudaStream_t stream, gbs_device_message message)
{
    return pack(dim, matrix, columns, stream, message);
}

gbs_status gbs_cuda_pack_columns(int64_t dim, const double *matrix, double *columns,
                                 cudaStream_t stream, gbs_device_message message)
{
    return pack(dim, matrix, columns, stream, message);
}

template <typename T>
static gbs_status launch(const bounded_args<T> &a, cudaStream_t stream, gbs_device_message message)
{
    const int64_t blocks = a.groups * ((a.chains + BOUNDED_THREADS - 1) / BOUNDED_THREADS);
    const bool shared = is_shared<T>(a.dim), replayed = a.device_key != NULL;
    const size_t bytes = shared ? shared_bytes_of<T>(a.dim) : 0;
    if (blocks > 2147483647LL)
        return refuse(message.text, message.bytes, GBS_ERROR_LIMIT,
                      "chains: %lld are too many for one launch", (long long)(a.groups * a.chains));
    if (bytes > 48 * 1024) {
        const cudaError_t error =
            cudaFuncSetAttribute(replayed ? (const void *)sweep_bounded<T, true, true>
                                          : (const void *)sweep_bounded<T, true>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
        if (error != cudaSuccess)
            return from_cuda(error, "shared memory", message.text, message.bytes);
    }
    if (shared && replayed)
        sweep_bounded<T, true, true><<<(unsigned)blocks, BOUNDED_THREADS, bytes, stream>>>(a);
    else if (replayed)
        sweep_bounded<T, false, true><<<(unsigned)blocks, BOUNDED_THREADS, 0, stream>>>(a);
    else if (shared)
        sweep_bounded<T, true><<<(unsigned)blocks, BOUNDED_THREADS, bytes, stream>>>(a);
    else
        sweep_bounded<T, false><<<(unsigned)blocks, BOUNDED_THREADS, 0, stream>>>(a);
    return from_cuda(cudaGetLastError(), "sweeps", message.text, message.bytes);
}

gbs_status gbs_cuda_bounded_launch(const bounded_args<float> &args, cudaStream_t stream,
                                   gbs_device_message message)
{
    return launch(args, stream, message);
}

gbs_status gbs_cuda_bounded_launch(const bounded_args<double> &args, cudaStream_t stream,
                                   gbs_device_message message)
{
    return launch(args, stream, message);
}

/* ---- one-call sweeps ---- */

static int64_t models_of(const gbs_sweep_spec *spec)
{
    const bool one = spec->precision_group_stride == 0 && spec->location_group_stride == 0 &&
                     spec->bounds_group_stride == 0;
    return one ? 1 : spec->groups;
}

/* A piece of the workspace, which `used` goes on behind, whole cache lines. */
static unsigned char *piece(unsigned char *workspace, size_t *used, size_t bytes)
{
    unsigned char *const at = workspace + *used;
    *used += (bytes + 255) / 256 * 256;
    return at;
}

/* Where the model lies in the workspace (NULL: only how much that is). */
template <typename T>
static size_t lay_out(const gbs_sweep_spec *spec, unsigned char *workspace, bounded_args<T> *a)
{
    const size_t models = (size_t)models_of(spec), dim = (size_t)spec->dim,
                 rows = (size_t)whole_groups(spec->dim), vector = models * rows * sizeof(T);
    size_t used = 0;
    a->columns = (const T *)piece(workspace, &used, dim * vector);
    a->scale = (const T *)piece(workspace, &used, vector);
    a->centre = (const T *)piece(workspace, &used, vector);
    a->lower = (const T *)piece(workspace, &used, vector);
    a->upper = (const T *)piece(workspace, &used, vector);
    a->bounded = piece(workspace, &used, models * rows);
    a->device_key = (const uint32_t *)piece(workspace, &used, sizeof a->key);
    if (!is_shared<T>(spec->dim))
        a->workspace =
            (T *)piece(workspace, &used, (size_t)(spec->groups * spec->chains) * dim * sizeof(T));
    return used;
}

size_t gbs_cuda_bounded_workspace(const gbs_sweep_spec *spec)
{
    bounded_args<float> f32;
    bounded_args<double> f64;
    return spec->type == GBS_F32 ? lay_out(spec, NULL, &f32) : lay_out(spec, NULL, &f64);
}

template <typename T>
static gbs_status sweep(const gbs_sweep_spec *spec, const gbs_cuda_launch *how,
                        gbs_device_message message)
{
    const cudaStream_t stream = (cudaStream_t)how->stream;
    gbs_sweep_spec like = *spec;
    const gbs_sweep_args plain = gbs_cuda_arguments(&like, how);
    like.omega = 1.0 + spec->overrelax;
    const gbs_sweep_args relaxed = gbs_cuda_arguments(&like, how);
    bounded_args<T> a;
    memset(&a, 0, sizeof a);
    lay_out(spec, (unsigned char *)how->workspace, &a);
    if (how->device_seed == NULL)
        a.device_key = NULL;
    a.groups = spec->groups;
    a.chains = spec->chains;
    a.dim = spec->dim;
    a.models = models_of(spec);
    a.relaxed = relaxed.relaxed;
    a.overrelaxed = spec->overrelax > 0.0;
    a.overrelax = (T)spec->overrelax;
    a.beside = (T)sqrt((1.0 - spec->overrelax) * (1.0 + spec->overrelax));
    memcpy(a.key, plain.noise.key, sizeof a.key);
    a.first_pass = plain.noise.first_pass;
    a.first_chain = plain.noise.first_chain;
    a.x = (const T *)spec->x;
    a.out = (T *)spec->out;
    memcpy(a.x_stride, plain.x_stride, sizeof a.x_stride);
    memcpy(a.out_stride, plain.out_stride, sizeof a.out_stride);
    a.sweeps = spec->sweeps;
    a.passes = plain.passes;
    a.first_direction = plain.first_direction;
    a.keep_every = spec->keep_every;
    a.kept = (T *)spec->kept;
    const int64_t parts = a.models * (whole_groups(spec->dim) / BOUNDED_ROWS);
    if (parts > MAX_GRID)
        return refuse(message.text, message.bytes, GBS_ERROR_LIMIT,
                      "groups: %lld of %lld sites are too many for one launch",
                      (long long)spec->groups, (long long)spec->dim);
    prepare_bounded<T><<<(unsigned)parts, 256, 0, stream>>>(plain, relaxed, (const T *)spec->lower,
                                                            (const T *)spec->upper,
                                                            spec->bounds_group_stride, a);
    const gbs_status status =
        from_cuda(cudaGetLastError(), "coefficients", message.text, message.bytes);
    return status == GBS_OK ? launch(a, stream, message) : status;
}

gbs_status gbs_cuda_bounded_sweep(const gbs_sweep_spec *spec, const gbs_cuda_launch *how,
                                  gbs_device_message message)
{
    return spec->type == GBS_F32 ? sweep<float>(spec, how, message)
                                 : sweep<double>(spec, how, message);
}
