// Draws between bounds on CUDA tensors, on the current stream; can be captured in a CUDA graph.
#include "truncnorm.h"

#include "gibbsite/gibbsite_cuda.h"

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <array>

namespace gibbsite
{

namespace
{

void draw_on_cuda(const gbs_truncnorm_spec &spec, const at::Tensor &out)
{
    const c10::cuda::CUDAGuard guard(out.device());
    void *const stream = c10::cuda::getCurrentCUDAStream().stream();
    std::array<char, 512> message{};
    const gbs_status status =
        out.scalar_type() == at::kFloat
            ? gbs_cuda_truncnorm_f32(&spec, out.data_ptr<float>(), stream, message.data(),
                                     message.size())
            : gbs_cuda_truncnorm_f64(&spec, out.data_ptr<double>(), stream, message.data(),
                                     message.size());
    raise_unless_drawn(status, message.data());
}

[[maybe_unused]] const bool linked = (cuda_draw = draw_on_cuda, true);

} // namespace

} // namespace gibbsite
