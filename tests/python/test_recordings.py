"""GibbsSweep against recordings of the reference module (torch 2.11), and against the module
itself: construction, result, generator state."""
import re

import pytest
import torch

from gibbsite.torch import GibbsSweep, gibbs_sweep
from loops import ReferenceGibbsSweep, assert_close, assert_rng_state
from records import read_records

RECORDS = read_records("reference_module.bin")
NAMES = sorted({re.match(r"(d\d+_b\d+_s\d+_n\d+)_y", k[4:]).group(1)
                for k in RECORDS if re.match(r"cpu_d\d+_b\d+_s\d+_n\d+_y$", k)})


def record(name, what, device=""):
    key = f"{device}_{name}_{what}" if device else f"{name}_{what}"
    return torch.from_numpy(RECORDS[key].copy())


def start_of(name):
    """The recorded start: all chains re-made from torch's seeds, those recorded put in."""
    dim, chains, seed, sweeps = map(int, re.findall(r"\d+", name))
    torch.manual_seed(100 + dim)
    torch.randn(dim)
    torch.randn(dim, dim)
    x = torch.randn(chains, dim)
    rows = record(name, "rows")
    x[rows] = record(name, "x")
    return x, rows, seed, sweeps


@pytest.mark.parametrize("name", NAMES)
def test_recorded_module(name):
    x, rows, seed, sweeps = start_of(name)
    module = GibbsSweep(x.shape[1])
    module.precision.copy_(record(name, "precision"))
    module.mu.copy_(record(name, "mu"))
    expected = record(name, "y", "cpu")
    torch.manual_seed(seed)
    y = x
    for _ in range(sweeps):
        y = module(y)
    state = torch.get_rng_state()
    assert_close(f"cpu {name}", expected, y[rows], 1e-5)
    assert_rng_state(record(name, "state_after", "cpu").to(torch.uint8), state)
    torch.manual_seed(seed)
    at_once = gibbs_sweep(x, module.precision, module.mu, sweeps=sweeps)
    assert_close(f"cpu {name}, one call", expected, at_once[rows], 1e-5)
    assert torch.equal(state, torch.get_rng_state())


@pytest.mark.parametrize("dim, chains", [(1, 1), (4, 9), (32, 100), (33, 1000)])
def test_module_stands_in_for_the_reference(dim, chains):
    torch.manual_seed(dim)
    theirs = ReferenceGibbsSweep(dim)
    x = torch.randn(chains, dim)
    expected, state = theirs(theirs(x)), torch.get_rng_state()
    torch.manual_seed(dim)
    ours = GibbsSweep(dim)
    assert torch.equal(ours.precision, theirs.precision) and torch.equal(ours.mu, theirs.mu)
    assert torch.equal(x, torch.randn(chains, dim))
    assert_close(f"D={dim} B={chains}", expected, ours(ours(x)), 1e-5)
    assert_rng_state(state, torch.get_rng_state())
    assert list(ours.state_dict()) == list(theirs.state_dict()) == ["precision", "mu"]
    ours.load_state_dict(theirs.state_dict())
    assert ours.double()(x.double()).dtype == torch.float64
