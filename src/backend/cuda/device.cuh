/* What the device's calls (core/device.h) share: the opened device, its memory, the caller's
 * current device. */
#ifndef GBS_CUDA_DEVICE_CUH
#define GBS_CUDA_DEVICE_CUH

#include "backend/cuda/launch.cuh"
#include "backend/cuda/messages.cuh"
#include "core/device.h"

struct gbs_device {
    int ordinal;
    gbs_allocator host, memory;
};

/* Makes a device current while it lives, then the caller's again. */
class current_device
{
  public:
    current_device(const gbs_device *device, gbs_device_message message)
    {
        cudaError_t error = cudaGetDevice(&before);
        change = error == cudaSuccess && before != device->ordinal;
        if (change)
            error = cudaSetDevice(device->ordinal);
        status = from_cuda(error, "device", message.text, message.bytes);
    }
    ~current_device()
    {
        if (change)
            cudaSetDevice(before);
    }
    gbs_status status;

  private:
    int before;
    bool change;
};

/* count * size bytes on the current device, not cleared; NULL and *status set on failure, or if
 * *status is a failure already. */
void *gbs_device_take(const gbs_device *device, const char *what, int64_t count, size_t size,
                      gbs_status *status, gbs_device_message message);
void gbs_device_give(const gbs_device *device, void *memory); /* accepts NULL */

/* Moments' arrays on the device, [B, D] each. */
struct gbs_device_moments {
    gbs_device device; /* a copy: the context's may be gone */
    int64_t chains, dim;
    double *mean, *m2;
};

gbs_status gbs_device_sampler_plan(gbs_device *device, const gbs_device_plan *plan,
                                   gbs_device_sampler **out, gbs_device_message message);
void gbs_device_sampler_end(gbs_device_sampler *sampler);
const char *gbs_device_sampler_kernel(const gbs_device_sampler *sampler);
gbs_status gbs_device_sampler_put_state(gbs_device_sampler *sampler, const void *x,
                                        gbs_device_message message);
gbs_status gbs_device_sampler_put_noise(gbs_device_sampler *sampler, int64_t pass, const void *z,
                                        gbs_device_message message);
gbs_status gbs_device_sampler_run(gbs_device_sampler *sampler, const gbs_device_run *run,
                                  gbs_device_message message);
gbs_status gbs_device_sampler_get(gbs_device_sampler *sampler, int64_t first, int64_t count,
                                  void *x, gbs_device_message message);
gbs_status gbs_device_sampler_accumulate(gbs_device_sampler *sampler, gbs_device_moments *moments,
                                         int64_t first, int64_t count, int64_t seen,
                                         gbs_device_message message);

#endif
