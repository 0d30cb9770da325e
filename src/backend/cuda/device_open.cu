/* The device's side of the seam: opening a GPU, its memory, moments, and the table of calls that
 * the core library looks up.  Nothing here is global: a context's device is a number and the
 * caller's hooks, so that ending one context leaves every other as it was. */
#include "backend/cuda/device.cuh"

#include <string.h>

static void *allocate_by_cuda(size_t bytes, void *)
{
    void *memory = NULL;
    return cudaMalloc(&memory, bytes) == cudaSuccess ? memory : NULL;
}

static void release_by_cuda(void *memory, void *)
{
    cudaFree(memory);
}

void *gbs_device_take(const gbs_device *device, const char *what, int64_t count, size_t size,
                      gbs_status *status, gbs_device_message message)
{
    void *memory = NULL;
    if (*status != GBS_OK)
        return NULL;
    if (count >= 0 && (uint64_t)count <= SIZE_MAX / size)
        memory = device->memory.allocate((size_t)count * size, device->memory.user);
    if (memory != NULL)
        return memory;
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess && error != cudaErrorMemoryAllocation)
        *status = from_cuda(error, what, message.text, message.bytes);
    else
        *status = refuse(message.text, message.bytes, GBS_ERROR_MEMORY,
                         "%s: no memory for %lld elements of %zu bytes on GPU %d", what,
                         (long long)count, size, device->ordinal);
    return NULL;
}

void gbs_device_give(const gbs_device *device, void *memory)
{
    if (memory != NULL)
        device->memory.release(memory, device->memory.user);
}

static void close_device(gbs_device *device)
{
    if (device == NULL)
        return;
    const gbs_allocator host = device->host;
    host.release(device, host.user);
}

/* Is there such a GPU, with a driver that this library can use? */
static gbs_status check_device(const gbs_device *device, gbs_device_message message)
{
    int count = 0;
    gbs_status status =
        from_cuda(cudaGetDeviceCount(&count), "backend cuda: no GPU", message.text, message.bytes);
    if (status != GBS_OK)
        return status;
    if (device->ordinal < 0 || device->ordinal >= count)
        return refuse(message.text, message.bytes, GBS_ERROR_UNAVAILABLE,
                      "cuda_device: %d, but the GPUs are numbered from 0 to %d", device->ordinal,
                      count - 1);
    const current_device current(device, message);
    status = current.status;
    return status == GBS_OK ? gbs_cuda_available(message.text, message.bytes) : status;
}

static gbs_status open_device(int32_t ordinal, const gbs_allocator *host,
                              const gbs_allocator *memory, gbs_device **out,
                              gbs_device_message message)
{
    const gbs_allocator own = {allocate_by_cuda, release_by_cuda, NULL};
    *out = NULL;
    gbs_device *const device = (gbs_device *)host->allocate(sizeof *device, host->user);
    if (device == NULL)
        return refuse(message.text, message.bytes, GBS_ERROR_MEMORY,
                      "device: no memory for %zu bytes", sizeof *device);
    device->ordinal = ordinal;
    device->host = *host;
    device->memory = memory != NULL ? *memory : own;
    const gbs_status status = check_device(device, message);
    if (status != GBS_OK) {
        close_device(device);
        return status;
    }
    *out = device;
    return GBS_OK;
}

/* ---- moments ---- */

static size_t moment_bytes(const gbs_device_moments *moments)
{
    return (size_t)(moments->chains * moments->dim) * sizeof(double);
}

static void moments_destroy(gbs_device_moments *moments)
{
    if (moments == NULL)
        return;
    const gbs_device device = moments->device;
    {
        const current_device current(&device, gbs_device_message{NULL, 0});
        gbs_device_give(&device, moments->mean);
        gbs_device_give(&device, moments->m2);
    }
    device.host.release(moments, device.host.user);
}

static gbs_status moments_create(gbs_device *device, int64_t chains, int64_t dim,
                                 gbs_device_moments **out, gbs_device_message message)
{
    *out = NULL;
    gbs_device_moments *const moments =
        (gbs_device_moments *)device->host.allocate(sizeof *moments, device->host.user);
    if (moments == NULL)
        return refuse(message.text, message.bytes, GBS_ERROR_MEMORY,
                      "moments: no memory for %zu bytes", sizeof *moments);
    memset(moments, 0, sizeof *moments);
    moments->device = *device;
    moments->chains = chains;
    moments->dim = dim;
    gbs_status status;
    {
        const current_device current(device, message);
        status = current.status;
        moments->mean = (double *)gbs_device_take(device, "moments", chains * dim, sizeof(double),
                                                  &status, message);
        moments->m2 = (double *)gbs_device_take(device, "moments", chains * dim, sizeof(double),
                                                &status, message);
    }
    if (status != GBS_OK)
        moments_destroy(moments);
    else
        *out = moments;
    return status;
}

static gbs_status copy_moments(const gbs_device_moments *moments, double *to[2],
                               const double *const from[2], cudaMemcpyKind kind,
                               gbs_device_message message)
{
    const current_device current(&moments->device, message);
    gbs_status status = current.status;
    for (int k = 0; k < 2 && status == GBS_OK; ++k)
        status = from_cuda(
            cudaMemcpyAsync(to[k], from[k], moment_bytes(moments), kind, cudaStreamPerThread),
            "moments", message.text, message.bytes);
    if (status == GBS_OK)
        status = from_cuda(cudaStreamSynchronize(cudaStreamPerThread), "moments", message.text,
                           message.bytes);
    return status;
}

static gbs_status moments_put(gbs_device_moments *moments, const double *mean, const double *m2,
                              gbs_device_message message)
{
    double *to[2] = {moments->mean, moments->m2};
    const double *const from[2] = {mean, m2};
    return copy_moments(moments, to, from, cudaMemcpyHostToDevice, message);
}

static gbs_status moments_get(gbs_device_moments *moments, double *mean, double *m2,
                              gbs_device_message message)
{
    double *to[2] = {mean, m2};
    const double *const from[2] = {moments->mean, moments->m2};
    return copy_moments(moments, to, from, cudaMemcpyDeviceToHost, message);
}

/* ---- the table ---- */

extern "C" GBS_API const gbs_device_functions *gbs_cuda_device_functions(void)
{
    static const gbs_device_functions functions = {
        GBS_DEVICE_VERSION,
        open_device,
        close_device,
        gbs_device_sampler_plan,
        gbs_device_sampler_end,
        gbs_device_sampler_kernel,
        gbs_device_sampler_put_state,
        gbs_device_sampler_put_noise,
        gbs_device_sampler_run,
        gbs_device_sampler_get,
        moments_create,
        moments_destroy,
        moments_put,
        moments_get,
        gbs_device_sampler_accumulate,
    };
    return &functions;
}
