"""gibbs_sweep: its arguments in Python, everything else in the C++ op."""
import inspect

import torch

from .._objects import refuse_masked
from .._scalars import real, seed as seed_of, shown, whole
from . import _build

_call = _build.load()
_is_dynamo_compiling = torch.compiler.is_dynamo_compiling
_op = torch.ops.gibbsite


# A call whose result is not used draws all the same: graphs must keep it.  Before PyTorch 2.9 or so
# that is not enough for Inductor; a tensor that the call writes is.
for _random_op in (_op._sweep.default, _op._sweep_kept.default):
    torch.fx.node.has_side_effect(_random_op)
_drops_unused = "impure_random" not in inspect.signature(torch.fx.Node.is_impure).parameters
_written = torch.zeros(())


def _kept(result):
    if _drops_unused:
        _op._mark(result[0] if isinstance(result, tuple) else result, _written)
    return result


def signed_seed(name, seed):
    """The 64-bit pattern that a schema can carry; None stays."""
    if seed is None:
        return None
    seed = seed_of(name, seed)
    return seed if seed < 2**63 else seed - 2**64


def _bound(name, values, x):
    """A number or a sequence as the tensor that the op takes; a number without a copy to the GPU,
    which a CUDA graph could not hold."""
    if values is None or isinstance(values, torch.Tensor) or not isinstance(x, torch.Tensor):
        return values
    if isinstance(values, (int, float)):
        return torch.full((), real(f"gibbs_sweep: {name}", values), dtype=torch.float64, device=x.device)
    refuse_masked(f"gibbs_sweep: {name}", values)
    try:
        return torch.as_tensor(values, dtype=torch.float64).to(x.device)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise TypeError(f"gibbs_sweep: {name}: {shown(values)}; a number, an array or a tensor is "
                        "needed") from None


def _traced(x, precision, location, form, sweeps, stream, generator, seed, first_sweep,
            first_chain, noise, omega, keep, check, out, lower, upper, overrelax):
    """The same call through torch.ops, for programs that are being traced."""
    if generator is not None and torch.compiler.is_compiling():
        raise RuntimeError(
            "gibbs_sweep: under torch.compile only the default generator can be used; leave "
            "generator out, or use stream='native' with a seed, or noise="
        )
    options = dict(form=form, sweeps=sweeps, stream=stream, generator=generator,
                   seed=signed_seed("gibbs_sweep: seed", seed), first_sweep=first_sweep,
                   first_chain=first_chain, noise=noise, omega=omega, check=check, lower=lower,
                   upper=upper, overrelax=overrelax)
    if keep is not None:
        given, keep = keep, whole(keep)
        if keep is None or keep < 1:
            raise ValueError(f"gibbs_sweep: keep is {shown(given)}; at least 1 is needed")
    if out is not None:
        kept = _op.gibbs_sweep_into(x, precision, location, keep=keep or 0, into=out, **options)
        return out if keep is None else (out, kept)
    if keep is not None:
        return _kept(_op.gibbs_sweep_kept(x, precision, location, keep=keep, **options))
    return _kept(_op.gibbs_sweep(x, precision, location, **options))


if _call is None:  # compiled without Python's headers
    _call = _traced


def gibbs_sweep(x, precision, location=None, *, form="offset", sweeps=1, stream="torch",
                generator=None, seed=None, first_sweep=0, first_chain=0, noise=None, omega=1.0,
                keep=None, check=False, out=None, lower=None, upper=None, overrelax=0.0):
    """Sweeps a Gaussian model's sites in order, each drawn from its law given all others.

    x          [B, D], or [G, B, D] for G models at once: B chains of D sites; float32 or
               float64, CPU or CUDA, any strides
    precision  [D, D] or [G, D, D]; row i is read as given, neither averaged nor factored.  A
               diagonal entry that is not > 0 makes that column NaN
    location   [D] or [G, D], what the conditional mean of site i is made from:
                 form="offset"  location_i - sum_{j != i} Q_ij x_j / Q_ii    (the usual loop)
                 form="mean"    mu_i - sum_{j != i} Q_ij (x_j - mu_j) / Q_ii
                 form="info"    (b_i - sum_{j != i} Q_ij x_j) / Q_ii
               the offset form has mean `location` only where that is 0; see docs/pytorch.md
    sweeps     how many, >= 0; keep=k returns (result, states after sweeps k, 2k, ...) with the
               states as [sweeps // k, *x.shape]
    stream     "torch": the numbers that torch.randn(B) (randn(G, B)) would draw, one call a
               site; the generator is left where those calls leave it.
               "native": a function of seed, sweep, site and chain, the same on every device.
               Chain (g, b) has number first_chain + g B + b, sweep n number first_sweep + n;
               seed=None takes 64 bits from the generator
    noise      [sweeps, D, B] or [sweeps, D, G, B]: the normals themselves, instead of a stream
    omega      Adler's over-relaxation, 0 < omega < 2; 1 is Gibbs sampling
    check      also refuses NaN and infinities, and precisions that are not symmetric or not
               positive definite; on a GPU also bounds that cross, and an x beyond them.  Waits for
               the device
    out        where to write the result, of x's shape; may be x.  Not differentiable
    lower,     bounds of sites, a number, [D] or [G, D], -inf and inf for none, rounded inward; x must
    upper      lie between them (on a GPU that is not looked at without check, and lower > upper gives
               NaN).  Of stream="native" alone; not differentiable
    overrelax  r in [0, 1): over-relaxed draws between bounds; without bounds an omega of 1 + r

    Differentiable in x, location, noise and precision (not twice, and not between bounds).  With torch.compile only the
    default generator can be used.  Under autocast, half types are computed in float32.
    """
    if type(overrelax) is not float:
        overrelax = real("gibbs_sweep: overrelax", overrelax)
    if overrelax and omega != 1.0:
        raise ValueError(f"gibbs_sweep: overrelax is {overrelax} and omega {omega}; one is allowed")
    if lower is not None or upper is not None:
        lower, upper = _bound("lower", lower, x), _bound("upper", upper, x)
    elif overrelax:
        if not 0 < overrelax < 1:
            raise ValueError(f"gibbs_sweep: overrelax: {overrelax} is not in [0, 1)")
        omega, overrelax = 1.0 + overrelax, 0.0
    if not _is_dynamo_compiling():
        result = _call(x, precision, location, form, sweeps, stream, generator, seed, first_sweep,
                       first_chain, noise, omega, keep, check, out, lower, upper, overrelax)
        if result is not NotImplemented:
            return result
    return _traced(x, precision, location, form, sweeps, stream, generator, seed, first_sweep,
                   first_chain, noise, omega, keep, check, out, lower, upper, overrelax)
