// The op's place in PyTorch's dispatcher: schemas, kernels, shapes for tracing, autocast.
//
//   gibbs_sweep ...     what a traced program calls; only gives the others their turn (tracing.h)
//   _sweep, _sweep_kept new tensors, differentiable (autograd.cpp)
//   _sweep_into         writes into its last argument, not differentiable
//
// All are tagged as random, so that a call whose result is not used stays.
#include "autograd.h"
#include "sweep.h"
#include "tracing.h"

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/library.h>

namespace gibbsite
{

namespace
{

using OptionalTensor = std::optional<at::Tensor>;
using OptionalGenerator = std::optional<at::Generator>;
using OptionalSymInt = std::optional<c10::SymInt>;

// ---- kernels ----

Call call_of(const at::Tensor &precision, const OptionalTensor &location,
             const OptionalTensor &noise, int64_t form, int64_t sweeps, int64_t stream,
             const OptionalGenerator &generator, std::optional<int64_t> seed, int64_t first_sweep,
             int64_t first_chain, double omega, bool check, const OptionalTensor &lower,
             const OptionalTensor &upper, double overrelax)
{
    return {precision,   location,
            noise,       static_cast<Form>(form),
            sweeps,      static_cast<Stream>(stream),
            generator,   seed,
            first_sweep, first_chain,
            omega,       check,
            lower,       upper,
            overrelax};
}

void run(const at::Tensor &x, const Call &call, int64_t keep, const at::Tensor &out,
         const at::Tensor &kept, bool given_out)
{
    forget_traces();
    const Inputs inputs = checked_inputs(x, call, keep, given_out ? out : at::Tensor());
    if (call.check)
        check_values(inputs, call);
    if (x.numel() == 0)
        return;
    if (x.is_cpu()) {
        run_cpu(inputs, call, keep, out, kept);
        return;
    }
    TORCH_CHECK(cuda_run != nullptr, "gibbs_sweep: x is on ", x.device(),
                ", but this build has no CUDA half: nvcc and a PyTorch with CUDA are needed when "
                "gibbsite is installed");
    cuda_run(inputs, call, keep, out, kept);
}

// As x.clone() is laid out; the usual case without a round through the dispatcher.
at::Tensor new_result(const at::Tensor &x)
{
    if (!x.is_contiguous() || !(x.is_cpu() || cuda_empty != nullptr))
        return at::empty_like(x);
    return x.is_cpu() ? at::detail::empty_cpu(x.sizes(), x.scalar_type())
                      : cuda_empty(x.sizes(), x.scalar_type(), x.device());
}

at::Tensor new_kept(const at::Tensor &x, c10::SymInt count)
{
    std::vector<c10::SymInt> sizes{std::move(count)};
    for (const auto &size : x.sym_sizes())
        sizes.push_back(size);
    return at::empty_symint(sizes, x.options());
}

c10::SymInt kept_count(const c10::SymInt &sweeps, int64_t keep)
{
    return keep > 0 ? sweeps / keep : c10::SymInt(0);
}

#define GIBBSITE_ARGUMENTS                                                                         \
    const at::Tensor &precision, const OptionalTensor &location, const OptionalTensor &noise,      \
        int64_t form, int64_t sweeps, int64_t stream, const OptionalGenerator &generator,          \
        std::optional<int64_t> seed, int64_t first_sweep, int64_t first_chain, double omega,       \
        bool check, const OptionalTensor &lower, const OptionalTensor &upper, double overrelax
#define GIBBSITE_SYMBOLIC_ARGUMENTS                                                                \
    const at::Tensor &precision, const OptionalTensor &location, const OptionalTensor &noise,      \
        int64_t form, c10::SymInt sweeps, int64_t stream, const OptionalGenerator &generator,      \
        OptionalSymInt seed, c10::SymInt first_sweep, c10::SymInt first_chain, double omega,       \
        bool check, const OptionalTensor &lower, const OptionalTensor &upper, double overrelax
#define GIBBSITE_CALL                                                                              \
    call_of(precision, location, noise, form, sweeps, stream, generator, seed, first_sweep,        \
            first_chain, omega, check, lower, upper, overrelax)

at::Tensor sweep_kernel(const at::Tensor &x, GIBBSITE_ARGUMENTS, int64_t, const OptionalTensor &)
{
    const at::Tensor out = new_result(x);
    run(x, GIBBSITE_CALL, 0, out, at::Tensor(), false);
    return out;
}

std::tuple<at::Tensor, at::Tensor> sweep_kept_kernel(const at::Tensor &x, GIBBSITE_ARGUMENTS,
                                                     int64_t, const OptionalTensor &, int64_t keep)
{
    TORCH_CHECK_VALUE(keep >= 1, "gibbs_sweep: keep is ", keep, "; at least 1 is needed");
    const at::Tensor out = new_result(x), kept = new_kept(x, kept_count(sweeps, keep));
    run(x, GIBBSITE_CALL, keep, out, kept, false);
    return {out, kept};
}

at::Tensor sweep_into_kernel(const at::Tensor &x, GIBBSITE_ARGUMENTS, int64_t,
                             const OptionalTensor &, int64_t keep, const at::Tensor &out)
{
    const at::Tensor kept = new_kept(x, kept_count(sweeps, keep));
    run(x, GIBBSITE_CALL, keep, out, kept, true);
    return kept;
}

// ---- shapes, for tracing ----

// What can be known before the program runs: it is refused while it is traced then.
void check_traced(const at::Tensor &x, const at::Tensor &precision, bool noise, int64_t stream,
                  bool bounds, double overrelax)
{
    check_bounded_call(bounds, noise, static_cast<Stream>(stream), overrelax);
    TORCH_CHECK_VALUE(x.dim() == 2 || x.dim() == 3, "gibbs_sweep: x has ", x.dim(),
                      x.dim() == 1 ? " dimension" : " dimensions", "; 2 or 3 are needed");
    TORCH_CHECK_VALUE(precision.dim() == 2 || precision.dim() == x.dim(),
                      "gibbs_sweep: precision has ", precision.dim(),
                      precision.dim() == 1 ? " dimension" : " dimensions", ", x ", x.dim());
    TORCH_CHECK_TYPE(precision.scalar_type() == x.scalar_type(), "gibbs_sweep: precision is ",
                     precision.scalar_type(), ", but x is ", x.scalar_type());
}

at::Tensor sweep_meta(const at::Tensor &x, GIBBSITE_SYMBOLIC_ARGUMENTS, int64_t,
                      const OptionalTensor &)
{
    check_traced(x, precision, noise.has_value(), stream, lower || upper, overrelax);
    return at::empty_like(x);
}

std::tuple<at::Tensor, at::Tensor> sweep_kept_meta(const at::Tensor &x, GIBBSITE_SYMBOLIC_ARGUMENTS,
                                                   int64_t, const OptionalTensor &, int64_t keep)
{
    check_traced(x, precision, noise.has_value(), stream, lower || upper, overrelax);
    return {at::empty_like(x), new_kept(x, kept_count(sweeps, keep))};
}

at::Tensor sweep_into_meta(const at::Tensor &x, GIBBSITE_SYMBOLIC_ARGUMENTS, int64_t,
                           const OptionalTensor &, int64_t keep, const at::Tensor &)
{
    check_traced(x, precision, noise.has_value(), stream, lower || upper, overrelax);
    return new_kept(x, kept_count(sweeps, keep));
}

// ---- what traced programs call ----

int64_t form_of(c10::string_view name)
{
    if (name == "offset")
        return static_cast<int64_t>(Form::offset);
    if (name == "mean")
        return static_cast<int64_t>(Form::mean);
    TORCH_CHECK_VALUE(name == "info", "gibbs_sweep: form is \"", name,
                      "\"; it must be \"offset\", \"mean\" or \"info\"");
    return static_cast<int64_t>(Form::info);
}

int64_t stream_of(c10::string_view name)
{
    if (name == "torch")
        return static_cast<int64_t>(Stream::torch);
    TORCH_CHECK_VALUE(name == "native", "gibbs_sweep: stream is \"", name,
                      "\"; it must be \"torch\" or \"native\"");
    return static_cast<int64_t>(Stream::native);
}

#define GIBBSITE_NAMED_ARGUMENTS                                                                   \
    const at::Tensor &x, const at::Tensor &precision, const OptionalTensor &location,              \
        c10::string_view form, c10::SymInt sweeps, c10::string_view stream,                        \
        const OptionalGenerator &generator, OptionalSymInt seed, c10::SymInt first_sweep,          \
        c10::SymInt first_chain, const OptionalTensor &noise, double omega,                        \
        const OptionalTensor &lower, const OptionalTensor &upper, double overrelax
#define GIBBSITE_NAMED_CALL                                                                        \
    x, precision, location, noise, form_of(form), std::move(sweeps), stream_of(stream), generator, \
        std::move(seed), std::move(first_sweep), std::move(first_chain), omega, check, lower,      \
        upper, overrelax, turn.ticket, turn.after

at::Tensor sweep_named(GIBBSITE_NAMED_ARGUMENTS, bool check)
{
    const Turn turn = next_turn(x.device());
    at::Tensor result = sweep_op().call(GIBBSITE_NAMED_CALL);
    finish_turn(turn, result);
    return result;
}

std::tuple<at::Tensor, at::Tensor> sweep_kept_named(GIBBSITE_NAMED_ARGUMENTS, int64_t keep,
                                                    bool check)
{
    const Turn turn = next_turn(x.device());
    auto results = sweep_kept_op().call(GIBBSITE_NAMED_CALL, keep);
    finish_turn(turn, std::get<0>(results));
    return results;
}

at::Tensor sweep_into_named(GIBBSITE_NAMED_ARGUMENTS, int64_t keep, bool check,
                            const at::Tensor &into)
{
    const Turn turn = next_turn(x.device());
    at::Tensor kept = sweep_into_op().call(GIBBSITE_NAMED_CALL, keep, into);
    finish_turn(turn, into);
    return kept;
}

void mark(const at::Tensor &, const at::Tensor &) {}

// ---- autocast: half and bfloat16 run as float, double stays ----

at::Tensor as_float(const at::Tensor &t, c10::DeviceType device)
{
    return at::autocast::cached_cast(at::kFloat, t, device);
}

OptionalTensor as_float(const OptionalTensor &t, c10::DeviceType device)
{
    return t ? OptionalTensor(as_float(*t, device)) : t;
}

at::Tensor sweep_autocast(const at::Tensor &x, GIBBSITE_SYMBOLIC_ARGUMENTS, int64_t ticket,
                          const OptionalTensor &after)
{
    const auto device = x.device().type();
    const c10::impl::ExcludeDispatchKeyGuard guard(c10::autocast_dispatch_keyset);
    return sweep_op().call(as_float(x, device), as_float(precision, device),
                           as_float(location, device), as_float(noise, device), form, sweeps,
                           stream, generator, seed, first_sweep, first_chain, omega, check, lower,
                           upper, overrelax, ticket, after);
}

std::tuple<at::Tensor, at::Tensor> sweep_kept_autocast(const at::Tensor &x,
                                                       GIBBSITE_SYMBOLIC_ARGUMENTS, int64_t ticket,
                                                       const OptionalTensor &after, int64_t keep)
{
    const auto device = x.device().type();
    const c10::impl::ExcludeDispatchKeyGuard guard(c10::autocast_dispatch_keyset);
    return sweep_kept_op().call(as_float(x, device), as_float(precision, device),
                                as_float(location, device), as_float(noise, device), form, sweeps,
                                stream, generator, seed, first_sweep, first_chain, omega, check,
                                lower, upper, overrelax, ticket, after, keep);
}

} // namespace

// ---- typed handles ----

const SweepHandle &sweep_op()
{
    static const SweepHandle op = c10::Dispatcher::singleton()
                                      .findSchemaOrThrow("gibbsite::_sweep", "")
                                      .typed<SweepSignature>();
    return op;
}

const SweepKeptHandle &sweep_kept_op()
{
    static const SweepKeptHandle op = c10::Dispatcher::singleton()
                                          .findSchemaOrThrow("gibbsite::_sweep_kept", "")
                                          .typed<SweepKeptSignature>();
    return op;
}

const SweepIntoHandle &sweep_into_op()
{
    static const SweepIntoHandle op = c10::Dispatcher::singleton()
                                          .findSchemaOrThrow("gibbsite::_sweep_into", "")
                                          .typed<SweepIntoSignature>();
    return op;
}

#define GIBBSITE_SPREAD(call)                                                                      \
    (call).precision, (call).location, (call).noise, static_cast<int64_t>((call).form),            \
        (call).sweeps, static_cast<int64_t>((call).stream), (call).generator,                      \
        (call).seed ? OptionalSymInt(*(call).seed) : OptionalSymInt(), (call).first_sweep,         \
        (call).first_chain, (call).omega, (call).check, (call).lower, (call).upper,                \
        (call).overrelax

// An eager call on ordinary tensors that want no gradient, and nobody watches: all that the
// dispatcher would do then is to find the kernel, and that takes longer than a small sweep.
bool is_plain(const at::Tensor &x, const Call &call, const at::Tensor *out)
{
    if (at::getStepCallbacksUnlessEmpty(at::RecordScope::FUNCTION)) // a profiler
        return false;
    c10::DispatchKeySet keys = x.key_set() | call.precision.key_set();
    keys = call.location ? keys | call.location->key_set() : keys;
    for (const auto *given : {&call.noise, &call.lower, &call.upper})
        keys = *given ? keys | (*given)->key_set() : keys;
    keys = out != nullptr ? keys | out->key_set() : keys;
    const auto local = c10::impl::tls_local_dispatch_key_set();
    keys = ((keys | local.included_) - local.excluded_) -
           c10::autograd_dispatch_keyset_with_ADInplaceOrView -
           c10::DispatchKeySet(c10::DispatchKey::BackendSelect);
    return (keys == c10::DispatchKeySet(c10::DispatchKey::CPU) ||
            keys == c10::DispatchKeySet(c10::DispatchKey::CUDA)) &&
           !wants_gradient(x, call.precision, call.location, call.noise, call.lower, call.upper) &&
           !(out != nullptr && out->requires_grad() && at::GradMode::is_enabled());
}

at::Tensor sweep(const at::Tensor &x, const Call &call)
{
    if (is_plain(x, call, nullptr)) {
        const at::AutoDispatchBelowADInplaceOrView below;
        const at::Tensor out = new_result(x);
        run(x, call, 0, out, at::Tensor(), false);
        return out;
    }
    const Turn turn = next_turn(x.device());
    at::Tensor result = sweep_op().call(x, GIBBSITE_SPREAD(call), turn.ticket, turn.after);
    finish_turn(turn, result);
    return result;
}

std::tuple<at::Tensor, at::Tensor> sweep_kept(const at::Tensor &x, const Call &call, int64_t keep)
{
    const Turn turn = next_turn(x.device());
    auto results = sweep_kept_op().call(x, GIBBSITE_SPREAD(call), turn.ticket, turn.after, keep);
    finish_turn(turn, std::get<0>(results));
    return results;
}

at::Tensor sweep_into(const at::Tensor &x, const Call &call, int64_t keep, const at::Tensor &out)
{
    if (keep == 0 && is_plain(x, call, &out)) {
        {
            const at::AutoDispatchBelowADInplaceOrView below;
            run(x, call, 0, out, at::Tensor(), true);
        }
        if (!out.is_inference())
            torch::autograd::impl::bump_version(out);
        return at::Tensor();
    }
    const Turn turn = next_turn(x.device());
    at::Tensor kept =
        sweep_into_op().call(x, GIBBSITE_SPREAD(call), turn.ticket, turn.after, keep, out);
    finish_turn(turn, out);
    return kept;
}

// ---- registration ----

#define GIBBSITE_SCHEMA                                                                            \
    "(Tensor x, Tensor precision, Tensor? location, Tensor? noise, int form, SymInt sweeps, "      \
    "int stream, Generator? generator, SymInt? seed, SymInt first_sweep, SymInt first_chain, "     \
    "float omega, bool check, Tensor? lower, Tensor? upper, float overrelax, int ticket, "         \
    "Tensor? after"
#define GIBBSITE_NAMED_SCHEMA                                                                      \
    "(Tensor x, Tensor precision, Tensor? location=None, *, str form=\"offset\", SymInt "          \
    "sweeps=1, "                                                                                   \
    "str stream=\"torch\", Generator? generator=None, SymInt? seed=None, SymInt first_sweep=0, "   \
    "SymInt first_chain=0, Tensor? noise=None, float omega=1.0, Tensor? lower=None, "              \
    "Tensor? upper=None, float overrelax=0.0, "

TORCH_LIBRARY(gibbsite, m)
{
    const std::vector<at::Tag> tags{at::Tag::nondeterministic_seeded};
    m.def("gibbs_sweep" GIBBSITE_NAMED_SCHEMA "bool check=False) -> Tensor", tags);
    m.def("gibbs_sweep_kept" GIBBSITE_NAMED_SCHEMA
          "int keep=1, bool check=False) -> (Tensor, Tensor)",
          tags);
    m.def("gibbs_sweep_into" GIBBSITE_NAMED_SCHEMA
          "int keep=0, bool check=False, Tensor(a!) into) -> Tensor",
          tags);
    m.def("_sweep" GIBBSITE_SCHEMA ") -> Tensor", tags);
    m.def("_sweep_kept" GIBBSITE_SCHEMA ", int keep) -> (Tensor, Tensor)", tags);
    m.def("_sweep_into" GIBBSITE_SCHEMA ", int keep, Tensor(a!) into) -> Tensor", tags);
    m.def("_mark(Tensor result, Tensor(a!) written) -> ()");
    m.def("_sweep_backward(Tensor? grad, Tensor? grad_kept, Tensor precision, Tensor? location, "
          "Tensor? noise, Tensor? x, Tensor? states, int form, SymInt sweeps, int keep, "
          "float omega, bool[4] needs) -> (Tensor, Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(gibbsite, CompositeImplicitAutograd, m)
{
    m.impl("gibbs_sweep", sweep_named);
    m.impl("gibbs_sweep_kept", sweep_kept_named);
    m.impl("gibbs_sweep_into", sweep_into_named);
}

TORCH_LIBRARY_IMPL(gibbsite, CompositeExplicitAutograd, m)
{
    m.impl("_mark", mark);
}

#define GIBBSITE_KERNELS(key)                                                                      \
    TORCH_LIBRARY_IMPL(gibbsite, key, m)                                                           \
    {                                                                                              \
        m.impl("_sweep", sweep_kernel);                                                            \
        m.impl("_sweep_kept", sweep_kept_kernel);                                                  \
        m.impl("_sweep_into", sweep_into_kernel);                                                  \
    }

GIBBSITE_KERNELS(CPU)
GIBBSITE_KERNELS(CUDA)

TORCH_LIBRARY_IMPL(gibbsite, Meta, m)
{
    m.impl("_sweep", sweep_meta);
    m.impl("_sweep_kept", sweep_kept_meta);
    m.impl("_sweep_into", sweep_into_meta);
}

#define GIBBSITE_AUTOCAST(key)                                                                     \
    TORCH_LIBRARY_IMPL(gibbsite, key, m)                                                           \
    {                                                                                              \
        m.impl("_sweep", sweep_autocast);                                                          \
        m.impl("_sweep_kept", sweep_kept_autocast);                                                \
    }

GIBBSITE_AUTOCAST(AutocastCPU)
GIBBSITE_AUTOCAST(Autocast)

} // namespace gibbsite
