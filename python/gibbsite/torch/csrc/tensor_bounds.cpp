// Bounds of sites as tensors: shapes, types, devices, and rounding inward to x's type by the rules
// of src/model/bounds.c, with tensor operations, so that nothing waits for a GPU.
#include "sweep.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <c10/util/Exception.h>

#include <cfloat>
#include <limits>

namespace gibbsite
{

namespace
{

constexpr double infinite = std::numeric_limits<double>::infinity();

void check_bound(const char *name, const at::Tensor &t, const at::Tensor &x)
{
    TORCH_CHECK_TYPE(!t.is_complex() && t.scalar_type() != at::kBool, "gibbs_sweep: ", name, " is ",
                     t.scalar_type(), "; real numbers are needed");
    TORCH_CHECK_VALUE(t.device() == x.device(), "gibbs_sweep: ", name, " is on ", t.device(),
                      ", but x is on ", x.device());
    const int64_t groups = x.dim() == 3 ? x.size(0) : 1, dim = x.size(-1);
    const bool fits = t.dim() == 0 || (t.dim() == 1 && t.size(0) == dim) ||
                      (t.dim() == 2 && x.dim() == 3 && t.size(0) == groups && t.size(1) == dim);
    TORCH_CHECK_VALUE(fits, "gibbs_sweep: ", name, " has shape ", t.sizes(), "; a number, [", dim,
                      "]", x.dim() == 3 ? c10::str(" or [", groups, ", ", dim, "]") : std::string(),
                      " is needed");
}

// Not below `bound`, the nearest such number of float.
at::Tensor up_to(const at::Tensor &bound)
{
    const at::Tensor near = bound.to(at::kFloat);
    const at::Tensor next = at::nextafter(near, at::full_like(near, infinite));
    return at::where(at::lt(near.to(at::kDouble), bound), next, near);
}

at::Tensor down_to(const at::Tensor &bound)
{
    return at::neg(up_to(at::neg(bound)));
}

// A box in double; one that holds no number of float becomes the nearest one.
Bounds rounded(const at::Tensor &lower, const at::Tensor &upper)
{
    constexpr double most = FLT_MAX;
    const at::Tensor up = up_to(lower), down = down_to(upper);
    const at::Tensor low = up.masked_fill(at::lt(lower, -most), -infinite);
    const at::Tensor high = down.masked_fill(at::gt(upper, most), infinite);
    const at::Tensor above = at::gt(lower, most).logical_and_(at::lt(lower, infinite));
    const at::Tensor below = at::lt(upper, -most).logical_and_(at::gt(upper, -infinite));
    const at::Tensor empty =
        at::gt(low, high).logical_or_(above).logical_or_(below).logical_and_(at::le(lower, upper));
    const at::Tensor upward =
        at::le(at::sub(up.to(at::kDouble), upper), at::sub(lower, down.to(at::kDouble)));
    const at::Tensor nearest =
        at::where(upward, up, down).masked_fill(above, most).masked_fill(below, -most);
    return {at::where(empty, nearest, low), at::where(empty, nearest, high)};
}

} // namespace

void check_bounded_call(bool bounds, bool noise, Stream stream, double overrelax)
{
    TORCH_CHECK_VALUE(bounds || overrelax == 0.0, "gibbs_sweep: overrelax is ", overrelax,
                      ", but there are no bounds; without them it is an omega of 1 more");
    TORCH_CHECK_VALUE(!bounds || !noise,
                      "gibbs_sweep: noise: sites with bounds take words, not normals");
    TORCH_CHECK_VALUE(
        !bounds || stream == Stream::native,
        "gibbs_sweep: stream=\"torch\" is of normals alone, and sites with bounds take "
        "words; use stream=\"native\"");
}

Bounds checked_bounds(const at::Tensor &x, const Call &call)
{
    if (!call.has_bounds())
        return {};
    const auto double_options = x.options().dtype(at::kDouble);
    at::Tensor lower = call.lower.value_or(at::Tensor()), upper = call.upper.value_or(at::Tensor());
    bool exact = true;
    for (const auto &[name, t] : {std::pair("lower", lower), std::pair("upper", upper)}) {
        if (!t.defined())
            continue;
        check_bound(name, t, x);
        exact = exact && t.scalar_type() == x.scalar_type();
    }
    if (!exact && x.scalar_type() == at::kDouble) {
        lower = lower.defined() ? lower.to(at::kDouble) : lower;
        upper = upper.defined() ? upper.to(at::kDouble) : upper;
    } else if (!exact) {
        const Bounds both = rounded(
            lower.defined() ? lower.to(at::kDouble) : at::full({}, -infinite, double_options),
            upper.defined() ? upper.to(at::kDouble) : at::full({}, infinite, double_options));
        lower = both.lower;
        upper = both.upper;
    }
    std::vector<int64_t> shape{x.size(-1)};
    if ((lower.defined() && lower.dim() == 2) || (upper.defined() && upper.dim() == 2))
        shape.insert(shape.begin(), x.size(0));
    return {lower.defined() ? lower.expand(shape).contiguous() : lower,
            upper.defined() ? upper.expand(shape).contiguous() : upper};
}

void check_within(const Inputs &inputs, const Call &call)
{
    if (!call.has_bounds() || inputs.x.is_cpu()) // there the library looks at every call
        return;
    const auto fetched = [](const at::Tensor &t) { return t.defined() ? t.cpu() : t; };
    const Inputs copies{
        inputs.shape,           inputs.x.cpu(),
        inputs.precision.cpu(), fetched(inputs.location),
        at::Tensor(),           {fetched(inputs.bounds.lower), fetched(inputs.bounds.upper)}};
    const at::Tensor out = at::empty_like(copies.x);
    gbs_sweep_spec spec = spec_of(copies, call, 0, out, at::Tensor());
    spec.sweeps = 0;
    raise_unless_ok(gbs_sweep(thread_context(), &spec), gbs_context_message(thread_context()));
}

} // namespace gibbsite
