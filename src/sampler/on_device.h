/* A sampler whose chains live on a device: the same plan, the same starts, the same bookkeeping of
 * sweeps and generators as on the CPU; only the sweeps run elsewhere (core/device.h).  Each call
 * answers the public one of the same name, after its checks. */
#ifndef GBS_SAMPLER_ON_DEVICE_H
#define GBS_SAMPLER_ON_DEVICE_H

#include "sampler/sampler_internal.h"

/* Moves a planned sampler, chains at their starts, to the device of its context. */
gbs_status gbs_on_device_start(gbs_sampler *sampler);
void gbs_on_device_end(gbs_sampler *sampler);

gbs_status gbs_on_device_run(gbs_sampler *sampler, int64_t sweeps);
/* `sink` with strides that are set; `callers` is the environment in which its callback runs. */
gbs_status gbs_on_device_sample(gbs_sampler *sampler, int64_t draws, int64_t thin,
                                const gbs_sink *sink, fenv_t *callers);
gbs_status gbs_on_device_get_state(const gbs_sampler *sampler, void *x);
gbs_status gbs_on_device_set_state(gbs_sampler *sampler, const void *x);
const char *gbs_on_device_kernel(const gbs_sampler *sampler);

#endif
