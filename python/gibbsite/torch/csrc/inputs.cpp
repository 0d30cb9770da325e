// From tensors to the library's spec: shapes, types, devices and strides, with messages that name
// the argument and the numbers.
#include "sweep.h"

#include <ATen/Functions.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/TensorOperators.h>
#include <c10/util/Exception.h>

#include <array>
#include <memory>
#include <vector>

namespace gibbsite
{

namespace
{

struct ContextDeleter {
    void operator()(gbs_context *context) const
    {
        gbs_context_destroy(context);
    }
};

gbs_type type_of(const at::Tensor &t)
{
    return t.scalar_type() == at::kFloat ? GBS_F32 : GBS_F64;
}

void check_like_x(const char *name, const at::Tensor &t, const at::Tensor &x)
{
    TORCH_CHECK_TYPE(t.scalar_type() == x.scalar_type(), "gibbs_sweep: ", name, " is ",
                     t.scalar_type(), ", but x is ", x.scalar_type());
    TORCH_CHECK_VALUE(t.device() == x.device(), "gibbs_sweep: ", name, " is on ", t.device(),
                      ", but x is on ", x.device());
}

Shape shape_of(const at::Tensor &x)
{
    TORCH_CHECK_TYPE(x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble,
                     "gibbs_sweep: x is ", x.scalar_type(), "; float32 and float64 are supported");
    TORCH_CHECK_VALUE(x.dim() == 2 || x.dim() == 3, "gibbs_sweep: x has shape ", x.sizes(),
                      "; [chains, sites] or [groups, chains, sites] is needed");
    return {x.dim() == 3 ? x.size(0) : 1, x.size(-2), x.size(-1)};
}

// [sites...] for all groups, or [groups, sites...].
void check_shape(const char *name, const at::Tensor &t, const at::Tensor &x, at::IntArrayRef one)
{
    const bool grouped = x.dim() == 3 && t.dim() == static_cast<int64_t>(one.size()) + 1;
    if (grouped ? t.size(0) == x.size(0) && t.sizes().slice(1) == one : t.sizes() == one)
        return;
    std::vector<int64_t> many{x.size(0)};
    many.insert(many.end(), one.begin(), one.end());
    TORCH_CHECK_VALUE(false, "gibbs_sweep: ", name, " has shape ", t.sizes(), ", but x has shape ",
                      x.sizes(), ": ", one,
                      x.dim() == 3 ? c10::str(" or ", at::IntArrayRef(many)) : std::string(),
                      " is needed");
}

void check_noise(const at::Tensor &noise, const at::Tensor &x, int64_t sweeps)
{
    std::vector<int64_t> wanted{sweeps, x.size(-1)};
    for (int64_t d = 0; d < x.dim() - 1; ++d)
        wanted.push_back(x.size(d));
    TORCH_CHECK_VALUE(noise.sizes() == at::IntArrayRef(wanted), "gibbs_sweep: noise has shape ",
                      noise.sizes(), ", but ", at::IntArrayRef(wanted),
                      " is needed: sweeps, sites, then the other dimensions of x");
}

void check_out(const at::Tensor &out, const at::Tensor &x)
{
    check_like_x("out", out, x);
    TORCH_CHECK_VALUE(out.sizes() == x.sizes(), "gibbs_sweep: out has shape ", out.sizes(),
                      ", but x has shape ", x.sizes());
    TORCH_CHECK_VALUE(at::has_internal_overlap(out) != at::MemOverlap::Yes,
                      "gibbs_sweep: several elements of out share one place in memory");
}

// The library's rows are contiguous.
at::Tensor with_plain_rows(const at::Tensor &t)
{
    const int64_t dim = t.size(-1);
    const bool plain = (t.stride(-1) == 1 || dim == 1) && (t.dim() < 2 || t.stride(-2) >= dim);
    return plain ? t : t.contiguous();
}

// In place the library reads a block of chains before it writes it; any other overlap is read
// from a copy.
at::Tensor apart_from(const at::Tensor &x, const at::Tensor &out)
{
    const bool in_place =
        out.defined() && x.const_data_ptr() == out.const_data_ptr() && x.strides() == out.strides();
    return !out.defined() || in_place || !x.is_alias_of(out) ? x : x.clone();
}

// Tensors other than x that out overlaps are read from copies too.
at::Tensor unshared(const at::Tensor &t, const at::Tensor &out)
{
    return !out.defined() || !t.defined() || !t.is_alias_of(out) ? t : t.clone();
}

int64_t group_stride(const at::Tensor &t, int64_t dims_of_one)
{
    return t.dim() > dims_of_one ? t.stride(0) : 0;
}

void set_strides(int64_t to[3], const at::Tensor &t)
{
    to[0] = t.dim() == 3 ? t.stride(0) : 0;
    to[1] = t.stride(-2);
    to[2] = t.stride(-1);
}

gbs_location location_kind(Form form)
{
    constexpr std::array<gbs_location, 3> kinds{GBS_LOCATION_OFFSET, GBS_LOCATION_MEAN,
                                                GBS_LOCATION_INFORMATION};
    return kinds.at(static_cast<size_t>(form));
}

void check_finite(const char *name, const at::Tensor &t)
{
    if (!t.defined())
        return;
    const at::Tensor bad = at::isfinite(t).logical_not();
    if (!bad.any().item<bool>())
        return;
    const at::Tensor where = bad.nonzero()[0];
    std::vector<int64_t> index;
    at::Tensor entry = t;
    for (int64_t d = 0; d < where.size(0); ++d) {
        index.push_back(where[d].item<int64_t>());
        entry = entry[index.back()];
    }
    TORCH_CHECK_VALUE(false, "gibbs_sweep: ", name, at::IntArrayRef(index), " is ",
                      entry.item<double>());
}

} // namespace

gbs_context *thread_context(int threads)
{
    // one for this thread alone, one for as many as were last asked for
    thread_local std::array<std::unique_ptr<gbs_context, ContextDeleter>, 2> contexts;
    thread_local std::array<int, 2> made_for{};
    const size_t which = threads > 1;
    if (made_for[which] != threads) {
        gbs_context_options options = gbs_context_options_default();
        options.threads = threads;
        gbs_context *made = nullptr;
        raise_unless_ok(gbs_context_create(&options, &made), "no memory for a context");
        contexts[which].reset(made);
        made_for[which] = threads;
    }
    return contexts[which].get();
}

void raise_unless_ok(gbs_status status, const char *message)
{
    switch (status) {
    case GBS_OK: return;
    case GBS_ERROR_ARGUMENT:
    case GBS_ERROR_LIMIT:
    case GBS_ERROR_NOT_FINITE:
    case GBS_ERROR_NOT_SYMMETRIC:
    case GBS_ERROR_NOT_POSITIVE_DEFINITE: TORCH_CHECK_VALUE(false, "gibbs_sweep: ", message); break;
    default: TORCH_CHECK(false, "gibbs_sweep: ", message, " (", gbs_status_name(status), ")");
    }
}

Inputs checked_inputs(const at::Tensor &x, const Call &call, int64_t keep, const at::Tensor &out)
{
    const Shape shape = shape_of(x);
    check_like_x("precision", call.precision, x);
    check_shape("precision", call.precision, x, {shape.dim, shape.dim});
    if (call.location) {
        check_like_x("location", *call.location, x);
        check_shape("location", *call.location, x, {shape.dim});
    }
    check_bounded_call(call.has_bounds(), call.noise.has_value(), call.stream, call.overrelax);
    TORCH_CHECK_VALUE(call.sweeps >= 0, "gibbs_sweep: sweeps is ", call.sweeps,
                      "; it must not be negative");
    TORCH_CHECK_VALUE(keep >= 0, "gibbs_sweep: keep is ", keep, "; at least 1 is needed");
    if (call.noise) {
        check_like_x("noise", *call.noise, x);
        check_noise(*call.noise, x, call.sweeps);
        TORCH_CHECK_VALUE(!call.seed && !call.generator,
                          "gibbs_sweep: noise is given, so neither seed nor generator is used");
    }
    TORCH_CHECK_VALUE(!call.seed || call.stream == Stream::native,
                      "gibbs_sweep: seed belongs to stream=\"native\"; seed torch's stream with "
                      "torch.manual_seed or a generator");
    TORCH_CHECK_VALUE(!(call.seed && call.generator),
                      "gibbs_sweep: seed and generator are both given");
    TORCH_CHECK_VALUE(call.noise || call.stream == Stream::native ||
                          (call.first_sweep == 0 && call.first_chain == 0),
                      "gibbs_sweep: first_sweep is ", call.first_sweep, ", first_chain ",
                      call.first_chain, "; torch's stream cannot skip, only stream=\"native\" can");
    if (out.defined())
        check_out(out, x);
    Bounds bounds = checked_bounds(x, call);
    bounds = {unshared(bounds.lower, out), unshared(bounds.upper, out)};
    const at::Tensor none;
    return {shape,
            apart_from(x, out),
            unshared(with_plain_rows(call.precision), out),
            call.location ? unshared(with_plain_rows(*call.location), out) : none,
            call.noise ? unshared(call.noise->contiguous(), out) : none,
            bounds};
}

gbs_sweep_spec spec_of(const Inputs &inputs, const Call &call, int64_t keep, const at::Tensor &out,
                       const at::Tensor &kept)
{
    gbs_sweep_spec spec = gbs_sweep_spec_default();
    spec.type = type_of(inputs.x);
    spec.groups = inputs.shape.groups;
    spec.chains = inputs.shape.chains;
    spec.dim = inputs.shape.dim;
    spec.precision = inputs.precision.const_data_ptr();
    spec.precision_group_stride = group_stride(inputs.precision, 2);
    spec.precision_row_stride = spec.dim == 1 ? 1 : inputs.precision.stride(-2);
    if (inputs.location.defined()) {
        spec.location_kind = location_kind(call.form);
        spec.location = inputs.location.const_data_ptr();
        spec.location_group_stride = group_stride(inputs.location, 1);
    }
    spec.x = inputs.x.const_data_ptr();
    set_strides(spec.x_stride, inputs.x);
    spec.out = out.data_ptr();
    set_strides(spec.out_stride, out);
    spec.sweeps = call.sweeps;
    spec.omega = call.omega;
    if (inputs.bounds.lower.defined()) {
        spec.lower = inputs.bounds.lower.const_data_ptr();
        spec.bounds_group_stride = group_stride(inputs.bounds.lower, 1);
    }
    if (inputs.bounds.upper.defined()) {
        spec.upper = inputs.bounds.upper.const_data_ptr();
        spec.bounds_group_stride = group_stride(inputs.bounds.upper, 1);
    }
    spec.overrelax = call.overrelax;
    spec.keep_every = keep;
    spec.kept = keep > 0 ? kept.data_ptr() : nullptr;
    spec.first_sweep = call.first_sweep;
    spec.first_chain = call.first_chain;
    if (inputs.noise.defined()) {
        spec.stream = GBS_STREAM_GIVEN;
        spec.noise = inputs.noise.const_data_ptr();
    }
    return spec;
}

void check_values(const Inputs &inputs, const Call &call)
{
    check_finite("x", inputs.x);
    check_finite("location", inputs.location);
    check_finite("noise", inputs.noise);
    check_within(inputs, call);
    const at::Tensor all = inputs.precision.cpu().contiguous();
    const int64_t groups = all.dim() == 3 ? all.size(0) : 1;
    for (int64_t g = 0; g < groups; ++g) {
        const at::Tensor one = all.dim() == 3 ? all[g] : all;
        gbs_model_spec spec = gbs_model_spec_default();
        spec.dim = inputs.shape.dim;
        spec.matrix_type = type_of(one);
        spec.matrix = one.const_data_ptr();
        gbs_model *model = nullptr;
        const gbs_status status = gbs_model_create(thread_context(), &spec, &model);
        gbs_model_release(model);
        const std::string where = groups > 1 ? c10::str("group ", g, ": ") : std::string();
        raise_unless_ok(status, (where + gbs_context_message(thread_context())).c_str());
    }
}

} // namespace gibbsite
