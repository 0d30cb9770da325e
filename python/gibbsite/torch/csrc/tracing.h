// Keeps the calls of a traced program (torch.compile, export, make_fx) apart and in order.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace gibbsite
{

// A call's place in the program.  Run eagerly it is {0, nothing}, and nothing looks at it.
struct Turn {
    int64_t ticket;
    std::optional<at::Tensor> after;
};

Turn next_turn(c10::Device device);

// `result` is what the call just made; the next one on its device comes after it.
void finish_turn(const Turn &turn, const at::Tensor &result);

// Lets go of the last traced program, once nothing is being traced any more.
void forget_traces();

} // namespace gibbsite
