// What the parts of the PyTorch op share: one call in torch's terms, and the C library's view of
// it.  The arithmetic is all behind gbs_sweep and gbs_cuda_sweep.
#pragma once

#include "gibbsite/gibbsite.h"

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <c10/core/SymInt.h>

#include <optional>

namespace gibbsite
{

enum class Form : int64_t { offset = 0, mean = 1, info = 2 };
enum class Stream : int64_t { torch = 0, native = 1 };

// Everything about a call but x and out.  noise, where given, replaces the stream; bounds may be of
// any type and of any shape that `checked_bounds` takes.
struct Call {
    const at::Tensor &precision;
    const std::optional<at::Tensor> &location;
    const std::optional<at::Tensor> &noise;
    Form form;
    int64_t sweeps;
    Stream stream;
    const std::optional<at::Generator> &generator;
    std::optional<int64_t> seed; // the 64 bits of it
    int64_t first_sweep, first_chain;
    double omega;
    bool check;
    const std::optional<at::Tensor> &lower, &upper;
    double overrelax;

    bool has_bounds() const
    {
        return lower || upper;
    }
};

// Sizes of x: [B, D] is one group.
struct Shape {
    int64_t groups, chains, dim;
};

// [D] or [G, D], both of one shape, contiguous; undefined where there is no such bound.
struct Bounds {
    at::Tensor lower, upper;
};

// Contiguous enough for the library, and alive as long as the spec that points into them.
struct Inputs {
    Shape shape;
    at::Tensor x, precision, location, noise; // the last two may be undefined
    Bounds bounds;
};

// What goes with bounds and over-relaxation; looks at no tensor's values.
void check_bounded_call(bool bounds, bool noise, Stream stream, double overrelax);

// The call's bounds in x's type, rounded inward.
Bounds checked_bounds(const at::Tensor &x, const Call &call);

// check=True: bounds that leave room, and an x between them, where the library cannot look.
void check_within(const Inputs &inputs, const Call &call);

// Checks every tensor against x and raises naming the argument, shapes and types; then makes
// copies of those whose layout the library does not take.  `out` may be undefined.
Inputs checked_inputs(const at::Tensor &x, const Call &call, int64_t keep, const at::Tensor &out);

// The library's spec but for the stream; `kept` may be undefined with keep 0.
gbs_sweep_spec spec_of(const Inputs &inputs, const Call &call, int64_t keep, const at::Tensor &out,
                       const at::Tensor &kept);

// check=True: finite entries, and every precision symmetric and positive definite by the library's
// own verdict.  Waits for the device.
void check_values(const Inputs &inputs, const Call &call);

// This thread's context: the library's memory and messages.  Work that is worth it is shared out
// among `threads`.
gbs_context *thread_context(int threads = 1);

// Turns a failed status into the Python exception that fits it.
void raise_unless_ok(gbs_status status, const char *message);

// Runs the sweeps of x into out.  All three are given, checked and not empty.
void run_cpu(const Inputs &inputs, const Call &call, int64_t keep, const at::Tensor &out,
             const at::Tensor &kept);
void run_cuda(const Inputs &inputs, const Call &call, int64_t keep, const at::Tensor &out,
              const at::Tensor &kept);

// cuda.cpp puts its run_cuda here when it is linked in.
using Run = void (*)(const Inputs &, const Call &, int64_t, const at::Tensor &, const at::Tensor &);
extern Run cuda_run;

// Likewise: a contiguous tensor without a round through the dispatcher.
using Empty = at::Tensor (*)(at::IntArrayRef, at::ScalarType, c10::Device);
extern Empty cuda_empty;

// Raises unless torch.randn on this device still draws what stream="torch" reproduces.
void verify_torch_stream(Run run, c10::Device device, int64_t elements);

// The op's entry for C++ callers that have everything at hand (python.cpp): through the
// dispatcher, so that autograd, autocast and tracing see it.
at::Tensor sweep(const at::Tensor &x, const Call &call);
std::tuple<at::Tensor, at::Tensor> sweep_kept(const at::Tensor &x, const Call &call, int64_t keep);
at::Tensor sweep_into(const at::Tensor &x, const Call &call, int64_t keep, const at::Tensor &out);

} // namespace gibbsite
