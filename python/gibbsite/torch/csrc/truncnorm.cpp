// gibbsite::truncnorm: draws between bounds on tensors.  A function of its arguments, since the seed
// is one of them, so that tracing may treat it as any other.  The Python side has made all operands
// tensors of one type on one device; the library checks shapes and, on the CPU, values.
#include "truncnorm.h"
#include "sweep.h"

#include <ATen/Functions.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

namespace gibbsite
{

Draw cuda_draw = nullptr;

void raise_unless_drawn(gbs_status status, const char *message)
{
    const bool about_values = status == GBS_ERROR_ARGUMENT || status == GBS_ERROR_NOT_FINITE ||
                              status == GBS_ERROR_LIMIT;
    TORCH_CHECK_VALUE(!about_values, "truncnorm: ", message);
    TORCH_CHECK(status == GBS_OK, "truncnorm: ", message, " (", gbs_status_name(status), ")");
}

namespace
{

gbs_operand operand_of(const char *name, const at::Tensor &t)
{
    TORCH_CHECK_VALUE(t.dim() <= GBS_DIMS, "truncnorm: ", name, " has ", t.dim(),
                      " dimensions; at most ", GBS_DIMS, " are taken");
    return gbs_operand_array(t.const_data_ptr(), static_cast<int32_t>(t.dim()), t.sizes().data());
}

void check_alike(const char *name, const at::Tensor &t, const at::Tensor &mean)
{
    TORCH_CHECK_TYPE(t.scalar_type() == mean.scalar_type(), "truncnorm: ", name, " is ",
                     t.scalar_type(), ", but mean is ", mean.scalar_type());
    TORCH_CHECK_VALUE(t.device() == mean.device(), "truncnorm: ", name, " is on ", t.device(),
                      ", but mean is on ", mean.device());
}

void draw_on_cpu(const gbs_truncnorm_spec &spec, const at::Tensor &out)
{
    gbs_context *const context = thread_context();
    const gbs_status status = out.scalar_type() == at::kFloat
                                  ? gbs_truncnorm_f32(context, &spec, out.data_ptr<float>())
                                  : gbs_truncnorm_f64(context, &spec, out.data_ptr<double>());
    raise_unless_drawn(status, gbs_context_message(context));
}

at::Tensor truncnorm(const at::Tensor &mean, const at::Tensor &sd, const at::Tensor &lower,
                     const at::Tensor &upper, const std::optional<at::Tensor> &word,
                     at::IntArrayRef size, int64_t seed, int64_t sweep, int64_t chain,
                     int64_t place)
{
    TORCH_CHECK_TYPE(mean.scalar_type() == at::kFloat || mean.scalar_type() == at::kDouble,
                     "truncnorm: mean is ", mean.scalar_type());
    TORCH_CHECK_VALUE(size.size() <= GBS_DIMS, "truncnorm: size has ", size.size(),
                      " dimensions; at most ", GBS_DIMS, " are taken");
    check_alike("sd", sd, mean);
    check_alike("lower", lower, mean);
    check_alike("upper", upper, mean);
    const at::Tensor kept[] = {mean.contiguous(), sd.contiguous(), lower.contiguous(),
                               upper.contiguous(), word ? word->contiguous() : at::Tensor()};
    gbs_truncnorm_spec spec = gbs_truncnorm_spec_default();
    spec.dims = static_cast<int32_t>(size.size());
    std::copy(size.begin(), size.end(), spec.shape);
    spec.mean = operand_of("mean", kept[0]);
    spec.sd = operand_of("sd", kept[1]);
    spec.lower = operand_of("lower", kept[2]);
    spec.upper = operand_of("upper", kept[3]);
    if (word) {
        const bool single = mean.scalar_type() == at::kFloat;
        TORCH_CHECK_TYPE(word->scalar_type() == (single ? at::kInt : at::kLong),
                         "truncnorm: word is ", word->scalar_type());
        spec.word = operand_of("word", kept[4]);
        spec.stream = GBS_STREAM_GIVEN;
    }
    spec.seed = static_cast<uint64_t>(seed);
    spec.sweep = sweep;
    spec.chain = chain;
    spec.place = place;
    const at::Tensor out = at::empty(size, mean.options());
    if (out.numel() == 0)
        return out;
    if (out.is_cpu()) {
        draw_on_cpu(spec, out);
        return out;
    }
    TORCH_CHECK(cuda_draw != nullptr, "truncnorm: mean is on ", mean.device(),
                ", but this build has no CUDA half: nvcc and a PyTorch with CUDA are needed when "
                "gibbsite is installed");
    cuda_draw(spec, out);
    return out;
}

at::Tensor truncnorm_meta(const at::Tensor &mean, const at::Tensor &, const at::Tensor &,
                          const at::Tensor &, const std::optional<at::Tensor> &,
                          c10::SymIntArrayRef size, int64_t, const c10::SymInt &,
                          const c10::SymInt &, const c10::SymInt &)
{
    return at::empty_symint(size, mean.options());
}

} // namespace

TORCH_LIBRARY_FRAGMENT(gibbsite, m)
{
    m.def("truncnorm(Tensor mean, Tensor sd, Tensor lower, Tensor upper, Tensor? word, "
          "SymInt[] size, int seed, SymInt sweep, SymInt chain, SymInt place) -> Tensor");
}

TORCH_LIBRARY_IMPL(gibbsite, CPU, m)
{
    m.impl("truncnorm", truncnorm);
}

TORCH_LIBRARY_IMPL(gibbsite, CUDA, m)
{
    m.impl("truncnorm", truncnorm);
}

TORCH_LIBRARY_IMPL(gibbsite, Meta, m)
{
    m.impl("truncnorm", truncnorm_meta);
}

} // namespace gibbsite
