// Draws between bounds on tensors: what the CPU half and the CUDA half share.
#pragma once

#include "gibbsite/gibbsite.h"

#include <ATen/core/Tensor.h>

namespace gibbsite
{

// cuda puts its launch here when it is linked in: on the current stream of out's device.
using Draw = void (*)(const gbs_truncnorm_spec &, const at::Tensor &out);
extern Draw cuda_draw;

void raise_unless_drawn(gbs_status status, const char *message);

} // namespace gibbsite
