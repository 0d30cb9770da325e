"""Compares a candidate with its reference, as a random operation has to be compared.

    python check.py [REFERENCE.py CANDIDATE.py]      the two pairs of this folder if none is named

Each trial takes a seed that nobody could have prepared for, sets it before each construction and
before each call, and allows an error of 1e-3 conditional standard deviations, so that the noise
itself is checked however small it is.  Then the generator must be where the reference left it, and
another seed must give other numbers.
"""
import importlib.util
import pathlib
import random
import sys

import torch

FOLDER = pathlib.Path(__file__).resolve().parent
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
TOLERANCE = 1e-3  # of a conditional standard deviation


class Mismatch(Exception):
    """What differs, in words."""


def load(path):
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def generator_state():
    return torch.cuda.get_rng_state() if DEVICE == "cuda" else torch.get_rng_state()


def made(kind, arguments, seed):
    torch.manual_seed(seed)
    return kind(*arguments).to(DEVICE).eval()


def called(model, inputs, seed):
    """The result and the generator's state after; inputs are copies, so that neither side can pass
    something on in them."""
    copies = [t.clone() for t in inputs]
    torch.manual_seed(seed)
    with torch.no_grad():
        result = model(*copies)
    return result, generator_state()


def compare(model, candidate, inputs, seeds, takes_noise=False):
    """Raises Mismatch, or returns the largest error in conditional standard deviations."""
    sd = model.precision.diagonal().rsqrt()
    worst, results = 0.0, []
    for seed in seeds:
        expected, state = called(model, inputs, seed)
        got, after = called(candidate, inputs, seed)
        if got.shape != expected.shape or got.dtype != expected.dtype:
            raise Mismatch(f"{got.dtype}{list(got.shape)} instead of "
                           f"{expected.dtype}{list(expected.shape)}")
        error = ((got - expected).abs() / sd).max().item()
        if not error <= TOLERANCE:
            raise Mismatch(f"seed {seed}: off by {error:.3g} conditional standard deviations, "
                           f"allowed are {TOLERANCE}")
        if not torch.equal(state, after):
            raise Mismatch(f"seed {seed}: the generator's state is another one")
        worst = max(worst, error)
        results.append(got)
    if not takes_noise and any(torch.equal(a, b) for a, b in zip(results, results[1:])):
        raise Mismatch("two seeds gave the same numbers")
    return worst


def check(reference_file, candidate_file, trials=3):
    reference, candidate = load(reference_file), load(candidate_file)
    seeds = [random.SystemRandom().getrandbits(32) for _ in range(trials + 1)]
    arguments = reference.get_init_inputs()
    model = made(reference.Model, arguments, seeds[0])
    new = made(candidate.ModelNew, arguments, seeds[0])
    torch.manual_seed(seeds[0])
    inputs = [t.to(DEVICE) for t in reference.get_inputs()]
    takes_noise = len(inputs) > 1
    return compare(model, new, inputs, seeds[1:], takes_noise)


def main():
    pairs = [sys.argv[1:3]] if len(sys.argv) == 3 else [
        (FOLDER / f"{name}.py", FOLDER / f"{name}_new.py")
        for name in ("gibbs_sweep", "gibbs_sweep_noise")]
    failed = 0
    for reference, candidate in pairs:
        name = pathlib.Path(candidate).name
        try:
            error = check(reference, candidate)
            print(f"{name}: equal to {error:.2g} conditional standard deviations on {DEVICE}")
        except Mismatch as mismatch:
            failed = 1
            print(f"{name}: {mismatch}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
