"""torch.library.opcheck: schemas, fake kernels, autograd registration, tracing with dynamic
shapes.  Deterministic calls (given noise, a native seed), since opcheck compares runs."""
import pytest
import torch
from torch.library import opcheck

import gibbsite.torch  # noqa: F401  (loads the op)
from loops import random_model, states

OFFSET, MEAN, INFO = range(3)
TORCH, NATIVE = range(2)


def arguments(dtype, groups=None, form=OFFSET, noise=False, grad=False, sweeps=2, bounds=None):
    precision, location = random_model(4, dtype, groups=groups)
    x = states(5, 4, dtype, groups=groups)
    z = torch.randn(sweeps, 4, *x.shape[:-1], dtype=dtype) if noise else None
    tensors = [x, precision, location, z]
    if grad:
        tensors = [None if t is None else t.clone().requires_grad_() for t in tensors]
    seed = None if noise else 7
    if bounds is None:
        return (*tensors, form, sweeps, NATIVE, None, seed, 3, 2, 1.2, False, None, None, 0.0, 0, None)
    lower = torch.full((groups, 4) if groups else (4,), -1.0, dtype=bounds)
    tensors[0] = tensors[0].clamp(-1, 2)
    upper = torch.tensor(2.0, dtype=torch.float64)
    return (*tensors, form, sweeps, NATIVE, None, seed, 3, 2, 1.0, False, lower, upper, 0.5, 0, None)


CASES = [
    dict(dtype=torch.float32),
    dict(dtype=torch.float64, groups=3, form=MEAN),
    dict(dtype=torch.float64, noise=True, form=INFO, grad=True),
    dict(dtype=torch.float32, groups=2, grad=True),
    dict(dtype=torch.float32, bounds=torch.float32),
    dict(dtype=torch.float64, groups=3, form=MEAN, bounds=torch.float32),
]


@pytest.mark.parametrize("case", CASES)
def test_sweep(case):
    opcheck(torch.ops.gibbsite._sweep.default, arguments(**case))


@pytest.mark.parametrize("case", CASES)
def test_sweep_kept(case):
    opcheck(torch.ops.gibbsite._sweep_kept.default, (*arguments(**case), 2))


@pytest.mark.parametrize("bounds", [None, torch.float32])
@pytest.mark.parametrize("keep", [0, 1])
def test_sweep_into(keep, bounds):
    made = arguments(torch.float32, bounds=bounds)
    opcheck(torch.ops.gibbsite._sweep_into.default, (*made, keep, torch.empty_like(made[0])))


@pytest.mark.parametrize("case", CASES)
def test_named(case):
    x, precision, location, noise, *_ = arguments(**case)
    options = dict(form="mean", stream="native", seed=None if noise is not None else 3,
                   noise=noise, sweeps=2)
    if case.get("bounds"):
        options |= dict(lower=torch.tensor(-1.0), upper=torch.full((4,), 2.0), overrelax=0.5)
    opcheck(torch.ops.gibbsite.gibbs_sweep.default, (x, precision, location), options)
    opcheck(torch.ops.gibbsite.gibbs_sweep_kept.default, (x, precision, location),
            options | {"keep": 1})


def test_tags():
    for name in ("gibbs_sweep", "gibbs_sweep_kept", "gibbs_sweep_into", "_sweep", "_sweep_kept",
                 "_sweep_into"):
        assert torch.Tag.nondeterministic_seeded in getattr(torch.ops.gibbsite, name).default.tags


def test_meta_tensors():
    x = torch.empty(7, 5, device="meta")
    q = torch.empty(5, 5, device="meta")
    assert gibbsite.torch.gibbs_sweep(x, q).shape == (7, 5)
    bounded = gibbsite.torch.gibbs_sweep(x, q, stream="native", lower=0, upper=[1.0] * 5)
    assert bounded.shape == (7, 5) and bounded.device.type == "meta"
    y, kept = gibbsite.torch.gibbs_sweep(x, q, sweeps=9, keep=2)
    assert kept.shape == (4, 7, 5) and kept.device.type == "meta"
    transposed = torch.empty(5, 7, device="meta").t()
    assert gibbsite.torch.gibbs_sweep(transposed, q).stride() == (1, 7)
