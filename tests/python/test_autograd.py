"""Exact derivatives: finite differences in double, autograd through the loop itself, several
sweeps, kept states, groups, and what is not differentiable."""
import pytest
import torch
from torch.autograd import gradcheck

from gibbsite.torch import GibbsSweep, gibbs_sweep
from loops import assert_close, loop_sweep, random_model, states

FORMS = ("offset", "mean", "info")


def inputs(chains, dim, sweeps, groups=None, location_groups=None, precision_groups=None):
    precision, _ = random_model(dim, groups=precision_groups)
    _, location = random_model(dim, groups=location_groups)
    x = states(chains, dim, groups=groups)
    noise = torch.randn(sweeps, dim, *x.shape[:-1], dtype=torch.float64,
                        generator=torch.Generator().manual_seed(1))
    return [t.clone().requires_grad_() for t in (x, precision, location, noise)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("omega", [1.0, 1.4])
@pytest.mark.parametrize("sweeps", [1, 3])
def test_gradcheck(form, omega, sweeps):
    """x, precision, location and noise at once, with every second state as an output too."""
    def run(x, precision, location, noise):
        return gibbs_sweep(x, precision, location, form=form, omega=omega, sweeps=sweeps,
                           noise=noise, keep=2)

    assert gradcheck(run, inputs(3, 4, sweeps))


@pytest.mark.parametrize("shared", ["nothing", "precision", "location", "both"])
def test_gradcheck_groups(shared):
    options = dict(groups=2, precision_groups=2, location_groups=2)
    if shared in ("precision", "both"):
        options["precision_groups"] = None
    if shared in ("location", "both"):
        options["location_groups"] = None
    for form in FORMS:
        assert gradcheck(lambda x, q, m, z: gibbs_sweep(x, q, m, form=form, sweeps=2, noise=z),
                         inputs(3, 3, 2, **options))


@pytest.mark.parametrize("stream", ["native", "torch"])
def test_gradcheck_drawn_noise(stream):
    """The precision's gradient finds the noise in the states it kept."""
    x, precision, location, _ = inputs(4, 3, 1)

    def run(x, precision, location):
        torch.manual_seed(2)
        options = dict(seed=5) if stream == "native" else {}
        return gibbs_sweep(x, precision, location, sweeps=3, stream=stream, keep=1, **options)

    assert gradcheck(run, (x, precision, location))


@pytest.mark.parametrize("wanted", range(4))
def test_each_argument_alone(wanted):
    """Only what is asked for is computed, and it is what all together give."""
    every = inputs(5, 4, 2)
    weights = torch.randn(5, 4, dtype=torch.float64)

    def loss(arguments):
        x, precision, location, noise = arguments
        return (gibbs_sweep(x, precision, location, noise=noise, sweeps=2) * weights).sum()

    expected = torch.autograd.grad(loss(every), every)
    alone = [t.detach().requires_grad_(k == wanted) for k, t in enumerate(every)]
    got, = torch.autograd.grad(loss(alone), alone[wanted])
    assert_close(f"argument {wanted}", expected[wanted], got, 1e-12)


def test_gradient_is_the_loops():
    """Against autograd through the loop, float too."""
    for dtype, bound in ((torch.float64, 1e-12), (torch.float32, 1e-4)):
        found = []
        for sweep in (loop_sweep, gibbs_sweep):
            precision, location = random_model(6, dtype)
            arguments = [t.clone().requires_grad_() for t in (states(20, 6, dtype), precision,
                                                              location)]
            torch.manual_seed(3)
            y = sweep(sweep(*arguments), *arguments[1:])
            found.append(torch.autograd.grad((y * states(20, 6, dtype, seed=1)).sum(), arguments))
        for name, expected, got in zip(("x", "precision", "location"), *found):
            assert_close(f"{name} {dtype}", expected, got, bound * (1 + expected.abs().max().item()))


def test_adjoint_identity():
    """<g, J x> = <J' g, x> with many sweeps: the backward pass is the transposed sweep."""
    precision, _ = random_model(12)
    x, g = states(7, 12).requires_grad_(), states(7, 12, seed=5)
    noise = torch.zeros(50, 12, 7, dtype=torch.float64)
    y = gibbs_sweep(x, precision, noise=noise, sweeps=50, omega=1.3)
    back, = torch.autograd.grad((y * g).sum(), x)
    forward, backward = (g * y).sum().item(), (back * x).sum().item()
    assert abs(forward - backward) <= 1e-12 * (g.norm() * y.norm()).item() + 1e-15


def test_second_derivatives_are_refused():
    x, precision, location, noise = inputs(3, 3, 1)
    y = gibbs_sweep(x, precision, location, noise=noise)
    g, = torch.autograd.grad((y**2).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="_sweep_backward"):
        g.sum().backward()


def test_out_is_refused_where_a_gradient_is_wanted():
    x, precision, location, noise = inputs(3, 3, 1)
    with pytest.raises(RuntimeError, match="out= does not support automatic differentiation"):
        gibbs_sweep(x, precision, location, noise=noise, out=torch.empty_like(x))
    with torch.no_grad():
        gibbs_sweep(x, precision, location, noise=noise, out=torch.empty_like(x))


def test_random_state_is_not_touched_by_backward():
    torch.manual_seed(1)
    module = GibbsSweep(5)
    x = torch.randn(9, 5, requires_grad=True)
    y = module(x)
    before = torch.get_rng_state()
    y.sum().backward()
    assert torch.equal(before, torch.get_rng_state())
    assert x.grad.shape == x.shape


def test_autocast_computes_in_float():
    """bfloat16 arguments under autocast: as float32 arguments of the same values."""
    precision, location = random_model(4, torch.float32)
    x = states(9, 4, torch.float32).bfloat16()
    torch.manual_seed(1)
    expected = gibbs_sweep(x.float(), precision, location)
    with torch.autocast("cpu", torch.bfloat16):
        torch.manual_seed(1)
        got = gibbs_sweep(x, precision, location)
        assert got.dtype == torch.float32 and torch.equal(expected, got)
        torch.manual_seed(1)
        kept = gibbs_sweep(x, precision, location, keep=1)[1]
        assert torch.equal(expected, kept[0])
        double = gibbs_sweep(x.double(), precision.double(), location.double())
        assert double.dtype == torch.float64
    with pytest.raises(TypeError, match="x is BFloat16"):
        gibbs_sweep(x, precision, location)
