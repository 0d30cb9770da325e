/* A sampler on a GPU, as device_sampler.cu and device_constrained.cu know it. */
#ifndef GBS_CUDA_DEVICE_SAMPLER_CUH
#define GBS_CUDA_DEVICE_SAMPLER_CUH

#include "backend/cuda/constrained_pack.cuh"
#include "backend/cuda/device.cuh"

struct gbs_device_sampler {
    gbs_device *device;
    gbs_device_plan plan; /* its pointers are the host's, and are not kept */
    cudaStream_t stream;
    void *coefficients, *scale, *centre, *mean, *place, *state, *noise, *kept, *workspace;
    size_t workspace_bytes;
    int packed; /* the workspace holds packed coefficients */
    /* a model with bounds, or rows: its coefficients by column, and what gbs_device_plan says */
    void *columns, *lower, *upper, *bounded, *site;
    /* whitened sweeps, and sweeps within rows */
    int rows;
    constrained_arrays steps;
    void *pinned; /* the host's staging memory, page-locked; NULL if the system would not */
};

static inline size_t size_of(gbs_type type)
{
    return type == GBS_F32 ? sizeof(float) : sizeof(double);
}

static inline int passes_of(const gbs_device_plan *plan)
{
    return plan->order == GBS_ORDER_SYMMETRIC ? 2 : 1;
}

/* Memory for elements that the host gives, with a few zeros behind them; NULL stays NULL. */
void *gbs_device_upload(const gbs_device_sampler *sampler, const char *what, const void *from,
                        int64_t count, size_t size, gbs_status *status, gbs_device_message message);

/* Coefficients by column from `coefficients`, which is given back; flags by place. */
gbs_status gbs_device_fill_bounded(gbs_device_sampler *sampler, const gbs_device_plan *plan,
                                   const uint8_t *flags, gbs_device_message message);

/* What a run of sweeps between bounds is told. */
template <typename T>
bounded_args<T> gbs_device_bounded_args(const gbs_device_sampler *sampler,
                                        const gbs_device_run *run);

/* What whitened sweeps, or sweeps within rows, need beside the rest, the plan's `kind` not being
 * NULL; and a run of them. */
gbs_status gbs_device_fill_constrained(gbs_device_sampler *sampler, const gbs_device_plan *plan,
                                       gbs_device_message message);
gbs_status gbs_device_run_constrained(gbs_device_sampler *sampler, const gbs_device_run *run,
                                      gbs_device_message message);

#endif
