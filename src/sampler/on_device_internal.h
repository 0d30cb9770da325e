/* What the files of samplers on a device share.  Private. */
#ifndef GBS_SAMPLER_ON_DEVICE_INTERNAL_H
#define GBS_SAMPLER_ON_DEVICE_INTERNAL_H

#include "sampler/boxes.h"
#include "sampler/constrained.h"
#include "sampler/on_device.h"

struct gbs_on_device {
    const gbs_device_functions *functions;
    gbs_device_sampler *sampler;
    const int64_t *place; /* the sampler's; NULL: a site's place is its number */
    /* [D], NaN at free sites, or NULL.  With w != 1 a device relaxes every site alike, and a fixed
     * one would leave its value by a rounding: it is 0 there, which nothing reads, and its value
     * here.  (Sweeps between bounds have a w for every site.) */
    const double *values;
    int64_t kept_draws, noise_passes;
    /* [kept_draws, B, D] by place: on the way to the device or from it.  Whole pages of its own, so
     * that pinning them touches nobody else's memory. */
    void *staging;
    size_t staging_bytes;
    void *block; /* what it lies in */
};

static inline gbs_device_message gbs_device_message_of(const gbs_sampler *sampler)
{
    return (gbs_device_message){sampler->ctx->message, sizeof sampler->ctx->message};
}

static inline int64_t gbs_device_place_of(const struct gbs_on_device *device, int64_t site)
{
    return device->place != NULL ? device->place[site] : site;
}

/* Is each pass's noise made here, for the device? */
static inline int gbs_device_is_fed(const gbs_sampler *sampler)
{
    return sampler->stream.kind == GBS_STREAM_GIVEN || sampler->stream.kind == GBS_STREAM_TORCH_CPU;
}

/* Does this site take words for its draws, which are between bounds? */
static inline int gbs_device_takes_words(const gbs_sampler *sampler, int64_t site)
{
    return sampler->constrained != NULL ? sampler->constrained->kind[site] == GBS_STEP_HELD
                                        : gbs_boxes_any(sampler) && sampler->boxes.bounded[site];
}

/* Is the device's number for this site 0, and not its value? */
static inline int gbs_device_is_elsewhere(const struct gbs_on_device *device, int64_t site)
{
    return device->values != NULL && !isnan(device->values[site]);
}

static inline void gbs_device_store(gbs_type type, void *array, int64_t at, double value)
{
    if (type == GBS_F32)
        ((float *)array)[at] = (float)value;
    else
        ((double *)array)[at] = value;
}

static inline void gbs_device_copy(gbs_type type, const void *from, int64_t from_at,
                                   int64_t from_step, void *to, int64_t to_at, int64_t to_step,
                                   int64_t count)
{
    if (type == GBS_F32)
        for (int64_t k = 0; k < count; ++k)
            ((float *)to)[to_at + k * to_step] = ((const float *)from)[from_at + k * from_step];
    else
        for (int64_t k = 0; k < count; ++k)
            ((double *)to)[to_at + k * to_step] = ((const double *)from)[from_at + k * from_step];
}

/* Rounds the coefficients and hands the plan to the device: device->sampler. */
gbs_status gbs_on_device_plan(gbs_sampler *sampler);

#endif
