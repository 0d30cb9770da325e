"""Refusals: the exception's kind, and that it names the argument and the numbers."""
import pytest
import torch

from gibbsite.torch import _op, gibbs_sweep
from loops import random_model, states

Q, M = random_model(4)
X = states(5, 4)

WRONG_VALUES = [
    ("x has shape [5]", dict(x=X[:, 0])),
    ("x has shape [1, 1, 5, 4]", dict(x=X[None, None])),
    ("precision has shape [4, 3], but x has shape [5, 4]: [4, 4]", dict(precision=Q[:, :3])),
    ("precision has shape [2, 4, 4]", dict(precision=Q.expand(2, 4, 4))),
    ("precision has shape [3, 4, 4], but x has shape [2, 5, 4]: [4, 4] or [2, 4, 4]",
     dict(x=X.expand(2, 5, 4), precision=Q.expand(3, 4, 4))),
    ("location has shape [5], but x has shape [5, 4]: [4]", dict(location=X[:, 0])),
    ("location has shape [5, 4]", dict(location=X)),
    ("form must be", dict(form="centre")),
    ("form must be", dict(form=None)),
    ("stream must be", dict(stream="cuda")),
    ("sweeps is -1", dict(sweeps=-1)),
    ("keep is 0", dict(keep=0)),
    ("keep is -2", dict(keep=-2)),
    ("omega: 2 is not in (0, 2)", dict(omega=2)),
    ("omega: nan", dict(omega=float("nan"))),
    ("noise has shape [4, 5], but [1, 4, 5] is needed", dict(noise=torch.randn(4, 5).double())),
    ("noise has shape [1, 4, 5], but [2, 4, 5]", dict(sweeps=2, noise=torch.randn(1, 4, 5).double())),
    ("noise is given, so neither seed", dict(noise=torch.randn(1, 4, 5).double(), stream="native",
                                             seed=1)),
    ("seed belongs to stream=\"native\"", dict(seed=1)),
    ("seed and generator", dict(stream="native", seed=1, generator=torch.Generator())),
    ("seed: 18446744073709551616; a whole number in 0 .. 2^64 - 1", dict(stream="native", seed=2**64)),
    ("seed: -2; a whole number in 0 .. 2^64 - 1", dict(stream="native", seed=-2)),
    ("first_sweep is 3, first_chain 0; torch's stream cannot skip", dict(first_sweep=3)),
    ("first_chain: -1", dict(stream="native", seed=1, first_chain=-1)),
    ("2^40", dict(stream="native", seed=1, first_chain=2**40)),
    ("sweeps: 2 more", dict(stream="native", seed=1, first_sweep=2**48 - 1, sweeps=2)),
    ("first_sweep does not fit in 64 bits: 18446744073709551616", dict(stream="native", seed=1, first_sweep=2**64)),
    ("out has shape [4, 4]", dict(out=torch.empty(4, 4).double())),
    ("several elements of out", dict(out=torch.empty(1, 4).double().expand(5, 4))),
]
WRONG_TYPES = [
    ("x must be a tensor, not list", dict(x=[[1.0]])),
    ("x is Int", dict(x=torch.ones(5, 4, dtype=torch.int32))),
    ("x is Half; float32 and float64", dict(x=X.half())),
    ("precision is Float, but x is Double", dict(precision=Q.float())),
    ("location is Float", dict(location=M.float())),
    ("noise is Float", dict(noise=torch.randn(1, 4, 5))),
    ("out is Float", dict(out=torch.empty(5, 4))),
    ("generator must be a torch.Generator, not int", dict(generator=3)),
    ("seed must be an integer, not float: 1.5", dict(stream="native", seed=1.5)),
    ("seed must be an integer, not str", dict(stream="native", seed="0x10")),
    ("sweeps must be an integer, not float", dict(sweeps=1.0)),
    ("sweeps must be an integer, not bool", dict(sweeps=True)),
]
WRONG_NUMBERS = [
    ("x[3, 1] is nan", "x", (3, 1), float("nan")),
    ("x[4, 0] is inf", "x", (4, 0), float("inf")),
    ("location[2] is -inf", "location", (2,), -float("inf")),
    ("noise[0, 1, 2] is nan", "noise", (0, 1, 2), float("nan")),
    ("Q[1,2] is NaN", "precision", (1, 2), float("nan")),
    ("row 2 is not symmetric", "precision", (2, 1), 7.0),
    ("site 0 has Q[0,0] = -1", "precision", (0, 0), -1.0),
]


# Without Python's headers the op is called through torch.ops, which words these itself.
WORDED_BY_ENTRY = ("form must", "stream must", "first_sweep does not fit", "x must be a tensor",
                   "generator must", "seed must be an integer", "sweeps must be an integer")


def refused(kind, message, changes):
    if _op._call is _op._traced and message.startswith(WORDED_BY_ENTRY):
        pytest.skip("compiled without Python's headers")
    arguments = dict(x=X, precision=Q, location=M) | changes
    positional = [arguments.pop(name) for name in ("x", "precision", "location")]
    with pytest.raises(kind) as caught:
        gibbs_sweep(*positional, **arguments)
    assert message in str(caught.value), f"expected {message!r} in {str(caught.value)!r}"


@pytest.mark.parametrize("message, changes", WRONG_VALUES, ids=[m for m, _ in WRONG_VALUES])
def test_values(message, changes):
    refused(ValueError, message, changes)


@pytest.mark.parametrize("message, changes", WRONG_TYPES, ids=[m for m, _ in WRONG_TYPES])
def test_types(message, changes):
    refused(TypeError, message, changes)


@pytest.mark.parametrize("message, name, place, value", WRONG_NUMBERS,
                         ids=[m for m, *_ in WRONG_NUMBERS])
def test_check_finds_bad_numbers(message, name, place, value):
    arguments = dict(x=X, precision=Q, location=M, noise=torch.randn(1, 4, 5).double())
    spoilt = arguments[name].clone()
    spoilt[place] = value
    arguments = arguments | {name: spoilt}
    positional = [arguments.pop(n) for n in ("x", "precision", "location")]
    with pytest.raises(ValueError) as caught:
        gibbs_sweep(*positional, check=True, **arguments)
    assert message in str(caught.value), f"expected {message!r} in {str(caught.value)!r}"
    gibbs_sweep(*positional, **arguments)  # without check it is the caller's business


def test_check_names_the_group():
    precision, location = random_model(3, groups=4)
    precision[2, 1, 1] = -1
    with pytest.raises(ValueError, match=r"group 2: precision: site 1 has Q\[1,1\] = -1"):
        gibbs_sweep(states(2, 3, groups=4), precision, location, check=True)
    precision[2, 1, 1] = 3
    gibbs_sweep(states(2, 3, groups=4), precision, location, check=True)


def test_check_refuses_an_indefinite_precision():
    precision = torch.tensor([[0.3, 0.5], [0.5, 0.4]])
    with pytest.raises(ValueError, match="precision: not positive definite"):
        gibbs_sweep(torch.zeros(3, 2), precision, check=True)


def test_generator_of_another_device():
    with pytest.raises((RuntimeError, TypeError), match="generator"):
        gibbs_sweep(X, Q, M, generator="cpu")
