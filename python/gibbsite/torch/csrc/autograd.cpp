// Derivatives.  With x' the state after a sweep, L and U the strictly lower part of A and the rest,
// a sweep is (I - L) x' = U x + c + S z, row by row (docs/reproducibility.md).  So with g =
// dloss/dx'
//
//     v = (I - L)^-T g        the adjoint sweep: last site first
//     dloss/dx = U' v,   dloss/dc = v,   dloss/dz = S v,
//     dloss/dA_ij = v_i x'_j for j before i, v_i x_j for j after,   dloss/ds_i = v_i z_i,
//
// exact for any number of sweeps, one adjoint sweep each, the last first.  Only the precision's own
// gradient needs the states between sweeps: where it is wanted, the forward call keeps them all.
// The backward pass is one op, so that a traced program does not unroll its sweeps.
#include "autograd.h"
#include "sweep.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/library.h>

#include <cmath>
#include <utility>

namespace gibbsite
{

namespace
{

using OptionalTensor = std::optional<at::Tensor>;
using OptionalGenerator = std::optional<at::Generator>;
using OptionalSymInt = std::optional<c10::SymInt>;
using Four = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;
using BackwardSignature = Four(const OptionalTensor &, const OptionalTensor &, const at::Tensor &,
                               const OptionalTensor &, const OptionalTensor &,
                               const OptionalTensor &, const OptionalTensor &, int64_t, c10::SymInt,
                               int64_t, double, std::array<bool, 4>);

enum Needs : size_t { need_x = 0, need_precision = 1, need_location = 2, need_noise = 3 };

const c10::TypedOperatorHandle<BackwardSignature> &backward_op()
{
    static const auto op = c10::Dispatcher::singleton()
                               .findSchemaOrThrow("gibbsite::_sweep_backward", "")
                               .typed<BackwardSignature>();
    return op;
}

// ---- one adjoint sweep after the other ----

// The coefficients of the sweep, from the rows as given.
struct Coefficients {
    at::Tensor diagonal; // [.., D] of the precision
    at::Tensor a;        // [.., D, D], A_ii = 1 - w
    at::Tensor scale;    // [.., D]
    at::Tensor unit;     // I - L: the unit diagonal is implied where it is used
    at::Tensor later;    // U
};

Coefficients coefficients_of(const at::Tensor &precision, double omega)
{
    Coefficients c;
    c.diagonal = precision.diagonal(0, -2, -1);
    c.a = at::mul(at::div(at::neg(precision), c.diagonal.unsqueeze(-1)), omega);
    c.a.diagonal(0, -2, -1).fill_(1.0 - omega);
    c.scale = at::mul(at::reciprocal(at::sqrt(c.diagonal)), std::sqrt(omega * (2.0 - omega)));
    c.unit = at::neg(c.a.tril(-1));
    c.later = c.a.triu();
    return c;
}

// Sums over what `like` does not have: groups that share one precision or location.
at::Tensor summed_to(const at::Tensor &t, const at::Tensor &like)
{
    return t.dim() > like.dim() ? t.sum(0) : t;
}

struct Adjoint {
    at::Tensor centre;       // dloss/dc, [(G,) D]
    at::Tensor coefficients; // dloss/dA off the diagonal, [(G,) D, D]
    at::Tensor scale;        // dloss/ds, [(G,) D]
};

// c as the sweep uses it, [.., 1, D]; zero without a location.
at::Tensor centre_of(const Coefficients &c, const OptionalTensor &location, Form form, double omega)
{
    if (!location)
        return at::zeros({1}, c.a.options());
    at::Tensor centre = at::mul(*location, omega);
    if (form == Form::info)
        centre = at::div(centre, c.diagonal);
    if (form == Form::mean)
        centre = at::sub(*location, at::matmul(c.a, location->unsqueeze(-1)).squeeze(-1));
    return centre.unsqueeze(-2);
}

// Adds one sweep's share of the precision's gradient; `before` and `after` are its states.
void add_coefficients(Adjoint &sum, const Coefficients &c, const at::Tensor &v,
                      const at::Tensor &before, const at::Tensor &after, const at::Tensor &centre,
                      const OptionalTensor &noise, int64_t sweep)
{
    const at::Tensor vt = v.mT();
    sum.coefficients.add_(at::matmul(vt, after).tril_(-1)).add_(at::matmul(vt, before).triu_(1));
    at::Tensor z;
    if (noise) {
        z = noise->select(0, sweep).movedim(0, -1);
    } else { // what the sweep itself added, over s
        const at::Tensor known = at::add(
            at::sub(at::matmul(before, c.later.mT()), at::matmul(after, c.unit.mT())), centre);
        z = at::div(at::sub(after, known), c.scale.unsqueeze(-2));
    }
    sum.scale.add_(at::mul(v, z).sum(-2));
}

at::Tensor location_gradient(const Adjoint &sum, const Coefficients &c, const at::Tensor &location,
                             Form form, double omega)
{
    at::Tensor g = at::mul(sum.centre, omega);
    if (form == Form::info)
        g = at::div(g, c.diagonal);
    if (form == Form::mean)
        g = at::sub(sum.centre, at::matmul(sum.centre.unsqueeze(-2), c.a).squeeze(-2));
    return summed_to(g, location);
}

at::Tensor precision_gradient(Adjoint &sum, const Coefficients &c, const at::Tensor &precision,
                              const OptionalTensor &location, Form form, double omega)
{
    at::Tensor &a = sum.coefficients;
    if (location && form == Form::mean) // c = mu - A mu
        a = at::sub(a, at::mul(sum.centre.unsqueeze(-1), location->unsqueeze(-2)));
    a.diagonal(0, -2, -1).zero_();
    const at::Tensor inverse = at::reciprocal(c.diagonal);
    at::Tensor diagonal =
        at::sub(at::mul(at::mul(a, precision).sum(-1), at::mul(at::mul(inverse, inverse), omega)),
                at::mul(at::mul(sum.scale, c.scale), at::mul(inverse, 0.5)));
    if (location && form == Form::info)
        diagonal = at::sub(diagonal, at::mul(at::mul(sum.centre, *location),
                                             at::mul(at::mul(inverse, inverse), omega)));
    at::Tensor g = at::mul(a, at::mul(inverse, -omega).unsqueeze(-1));
    g.diagonal(0, -2, -1).copy_(diagonal);
    return summed_to(g, precision);
}

Four sweep_backward(const OptionalTensor &grad, const OptionalTensor &grad_kept,
                    const at::Tensor &precision, const OptionalTensor &location,
                    const OptionalTensor &noise, const OptionalTensor &x,
                    const OptionalTensor &states, int64_t form_number, int64_t sweeps, int64_t keep,
                    double omega, std::array<bool, 4> needs)
{
    const Form form = static_cast<Form>(form_number);
    const Coefficients c = coefficients_of(precision, omega);
    const at::Tensor centre =
        needs[need_precision] ? centre_of(c, location, form, omega) : at::Tensor();
    at::Tensor g = grad ? grad->clone(at::MemoryFormat::Contiguous)
                        : at::zeros(grad_kept->sizes().slice(1), grad_kept->options());
    at::Tensor grad_noise;
    if (needs[need_noise])
        grad_noise = at::empty(noise->sizes(), g.options());
    const at::Tensor vector = g.select(-2, 0);
    Adjoint sum{at::zeros_like(vector), at::Tensor(), at::zeros_like(vector)};
    if (needs[need_precision])
        sum.coefficients = at::zeros_like(at::matmul(g.mT(), g));
    for (int64_t sweep = sweeps - 1; sweep >= 0; --sweep) {
        if (grad_kept && keep > 0 && (sweep + 1) % keep == 0)
            g = at::add(g, grad_kept->select(0, (sweep + 1) / keep - 1));
        const at::Tensor v = at::linalg_solve_triangular(c.unit, g, /*upper=*/false,
                                                         /*left=*/false, /*unitriangular=*/true);
        if (needs[need_noise])
            grad_noise.select(0, sweep).copy_(at::mul(v, c.scale.unsqueeze(-2)).movedim(-1, 0));
        sum.centre.add_(v.sum(-2));
        if (needs[need_precision])
            add_coefficients(sum, c, v, sweep == 0 ? *x : states->select(0, sweep - 1),
                             states->select(0, sweep), centre, noise, sweep);
        g = at::matmul(v, c.later);
    }
    const at::Tensor none = at::empty({0}, g.options());
    return {needs[need_x] ? g : none,
            needs[need_precision] ? precision_gradient(sum, c, precision, location, form, omega)
                                  : none,
            needs[need_location] ? location_gradient(sum, c, *location, form, omega) : none,
            needs[need_noise] ? grad_noise : none};
}

Four sweep_backward_meta(const OptionalTensor &grad, const OptionalTensor &grad_kept,
                         const at::Tensor &precision, const OptionalTensor &location,
                         const OptionalTensor &noise, const OptionalTensor &,
                         const OptionalTensor &, int64_t, c10::SymInt, int64_t, double,
                         std::array<bool, 4> needs)
{
    const auto plain = [&](c10::SymIntArrayRef sizes) {
        return at::empty_symint(sizes, precision.options());
    };
    const at::Tensor none = at::empty({0}, precision.options());
    return {needs[need_x] ? plain(grad ? grad->sym_sizes() : grad_kept->sym_sizes().slice(1))
                          : none,
            needs[need_precision] ? plain(precision.sym_sizes()) : none,
            needs[need_location] ? plain(location->sym_sizes()) : none,
            needs[need_noise] ? plain(noise->sym_sizes()) : none};
}

// ---- the graph ----

using Context = torch::autograd::AutogradContext;
using Variables = torch::autograd::variable_list;

// What a call is, for Function::apply.
struct Rest {
    int64_t form;
    c10::SymInt sweeps;
    int64_t stream;
    OptionalGenerator generator;
    OptionalSymInt seed;
    c10::SymInt first_sweep, first_chain;
    double omega;
    bool check;
    int64_t ticket;
    OptionalTensor after;
    int64_t keep; // 0: none
};

OptionalTensor some(const at::Tensor &t)
{
    return t.defined() ? OptionalTensor(t) : std::nullopt;
}

// Runs the call; keeps every state too where the precision's gradient will need them.
Variables run_forward(const at::Tensor &x, const at::Tensor &precision,
                      const OptionalTensor &location, const OptionalTensor &noise, const Rest &r,
                      bool all_states, at::Tensor &states)
{
    if (!all_states && r.keep == 0)
        return {sweep_op().call(x, precision, location, noise, r.form, r.sweeps, r.stream,
                                r.generator, r.seed, r.first_sweep, r.first_chain, r.omega, r.check,
                                std::nullopt, std::nullopt, 0.0, r.ticket, r.after)};
    const int64_t keep = all_states ? 1 : r.keep;
    auto [y, kept] =
        sweep_kept_op().call(x, precision, location, noise, r.form, r.sweeps, r.stream, r.generator,
                             r.seed, r.first_sweep, r.first_chain, r.omega, r.check, std::nullopt,
                             std::nullopt, 0.0, r.ticket, r.after, keep);
    if (!all_states)
        return {y, kept};
    states = kept;
    if (r.keep == 0)
        return {y};
    const c10::SymInt last = r.sweeps / r.keep * r.keep; // whole intervals only
    return {y, kept.narrow_symint(0, 0, last)
                   .slice_symint(0, r.keep - 1, std::nullopt, r.keep)
                   .clone(at::MemoryFormat::Contiguous)};
}

class SweepFunction : public torch::autograd::Function<SweepFunction>
{
  public:
    static Variables forward(Context *ctx, const at::Tensor &x, const at::Tensor &precision,
                             const OptionalTensor &location, const OptionalTensor &noise,
                             const Rest &r)
    {
        const at::AutoDispatchBelowADInplaceOrView below;
        const bool all_states = precision.requires_grad();
        at::Tensor states;
        Variables result = run_forward(x, precision, location, noise, r, all_states, states);
        ctx->save_for_backward({precision, location.value_or(at::Tensor()),
                                noise.value_or(at::Tensor()), all_states ? x : at::Tensor(),
                                states});
        ctx->saved_data["form"] = r.form;
        ctx->saved_data["sweeps"] = r.sweeps;
        ctx->saved_data["keep"] = r.keep;
        ctx->saved_data["omega"] = r.omega;
        ctx->set_materialize_grads(false);
        return result;
    }

    static Variables backward(Context *ctx, const Variables &grads)
    {
        const Variables saved = ctx->get_saved_variables();
        const at::Tensor grad_kept = grads.size() > 1 ? grads[1] : at::Tensor();
        if (!grads[0].defined() && !grad_kept.defined())
            return Variables(5);
        // inputs are counted without those that were not given
        const size_t noise_place = saved[1].defined() ? 3 : 2;
        const std::array<bool, 4> needs{ctx->needs_input_grad(0), ctx->needs_input_grad(1),
                                        saved[1].defined() && ctx->needs_input_grad(2),
                                        saved[2].defined() && ctx->needs_input_grad(noise_place)};
        const auto [x, precision, location, noise] = backward_op().call(
            some(grads[0]), some(grad_kept), saved[0], some(saved[1]), some(saved[2]),
            some(saved[3]), some(saved[4]), ctx->saved_data["form"].toInt(),
            ctx->saved_data["sweeps"].toSymInt(), ctx->saved_data["keep"].toInt(),
            ctx->saved_data["omega"].toDouble(), needs);
        const at::Tensor none;
        return {needs[need_x] ? x : none, needs[need_precision] ? precision : none,
                needs[need_location] ? location : none, needs[need_noise] ? noise : none, none};
    }
};

} // namespace

bool wants_gradient(const at::Tensor &x, const at::Tensor &precision,
                    const OptionalTensor &location, const OptionalTensor &noise,
                    const OptionalTensor &lower, const OptionalTensor &upper)
{
    if (!at::GradMode::is_enabled())
        return false;
    for (const OptionalTensor *given : {&location, &noise, &lower, &upper})
        if (*given && (*given)->requires_grad())
            return true;
    return x.requires_grad() || precision.requires_grad();
}

namespace
{

// A draw between bounds is no affine function of what its law depends on.
void refuse_between_bounds(const at::Tensor &x, const at::Tensor &precision,
                           const OptionalTensor &location, const OptionalTensor &lower,
                           const OptionalTensor &upper)
{
    if (!(lower || upper) || !at::GradMode::is_enabled())
        return;
    const std::pair<const char *, const OptionalTensor> given[] = {{"x", x},
                                                                   {"precision", precision},
                                                                   {"location", location},
                                                                   {"lower", lower},
                                                                   {"upper", upper}};
    for (const auto &[name, t] : given)
        TORCH_CHECK(!t || !t->requires_grad(), "gibbs_sweep: ", name,
                    " requires grad, but draws between bounds are not differentiable: give ", name,
                    ".detach(), or call under torch.no_grad()");
}

#define GIBBSITE_SYMBOLIC_ARGUMENTS                                                                \
    const at::Tensor &precision, const OptionalTensor &location, const OptionalTensor &noise,      \
        int64_t form, c10::SymInt sweeps, int64_t stream, const OptionalGenerator &generator,      \
        OptionalSymInt seed, c10::SymInt first_sweep, c10::SymInt first_chain, double omega,       \
        bool check, const OptionalTensor &lower, const OptionalTensor &upper, double overrelax,    \
        int64_t ticket, const OptionalTensor &after
// Calls that want no gradient go on as they are.
#define GIBBSITE_FORWARDED                                                                         \
    x, precision, location, noise, form, std::move(sweeps), stream, generator, std::move(seed),    \
        std::move(first_sweep), std::move(first_chain), omega, check, lower, upper, overrelax,     \
        ticket, after

at::Tensor sweep_autograd(const at::Tensor &x, GIBBSITE_SYMBOLIC_ARGUMENTS)
{
    refuse_between_bounds(x, precision, location, lower, upper);
    if (!wants_gradient(x, precision, location, noise, lower, upper)) {
        const at::AutoDispatchBelowADInplaceOrView below;
        return sweep_op().call(GIBBSITE_FORWARDED);
    }
    const Rest rest{form,        sweeps, stream, generator, seed,  first_sweep,
                    first_chain, omega,  check,  ticket,    after, 0};
    return SweepFunction::apply(x, precision, location, noise, rest)[0];
}

std::tuple<at::Tensor, at::Tensor> sweep_kept_autograd(const at::Tensor &x,
                                                       GIBBSITE_SYMBOLIC_ARGUMENTS, int64_t keep)
{
    TORCH_CHECK_VALUE(keep >= 1, "gibbs_sweep: keep is ", keep, "; at least 1 is needed");
    refuse_between_bounds(x, precision, location, lower, upper);
    if (!wants_gradient(x, precision, location, noise, lower, upper)) {
        const at::AutoDispatchBelowADInplaceOrView below;
        return sweep_kept_op().call(GIBBSITE_FORWARDED, keep);
    }
    const Rest rest{form,        sweeps, stream, generator, seed,  first_sweep,
                    first_chain, omega,  check,  ticket,    after, keep};
    const Variables result = SweepFunction::apply(x, precision, location, noise, rest);
    return {result[0], result[1]};
}

at::Tensor sweep_into_autograd(const at::Tensor &x, GIBBSITE_SYMBOLIC_ARGUMENTS, int64_t keep,
                               const at::Tensor &out)
{
    refuse_between_bounds(x, precision, location, lower, upper);
    TORCH_CHECK(!wants_gradient(x, precision, location, noise, lower, upper) &&
                    !(at::GradMode::is_enabled() && out.requires_grad()),
                "gibbs_sweep: out= does not support automatic differentiation, but one of the "
                "arguments requires grad");
    at::Tensor kept;
    {
        const at::AutoDispatchBelowADInplaceOrView below;
        kept = sweep_into_op().call(GIBBSITE_FORWARDED, keep, out);
    }
    torch::autograd::impl::bump_version(out);
    return kept;
}

} // namespace

TORCH_LIBRARY_IMPL(gibbsite, Autograd, m)
{
    m.impl("_sweep", sweep_autograd);
    m.impl("_sweep_kept", sweep_kept_autograd);
    m.impl("_sweep_into", sweep_into_autograd);
    m.impl("_sweep_backward", torch::autograd::autogradNotImplementedFallback());
}

TORCH_LIBRARY_IMPL(gibbsite, CPU, m)
{
    m.impl("_sweep_backward", sweep_backward);
}

TORCH_LIBRARY_IMPL(gibbsite, CUDA, m)
{
    m.impl("_sweep_backward", sweep_backward);
}

TORCH_LIBRARY_IMPL(gibbsite, Meta, m)
{
    m.impl("_sweep_backward", sweep_backward_meta);
}

} // namespace gibbsite
