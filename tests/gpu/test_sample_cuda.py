"""gibbsite.sample(..., backend="cuda") gives the CPU's arrays."""
import sys

import numpy as np

import gibbsite

counts = [0, 0]


def check(good, what):
    counts[not good] += 1
    if not good:
        print("FAIL", what)


random = np.random.default_rng(5)
a = random.standard_normal((24, 24))
q = a @ a.T / 24 + np.eye(24)
for options in (
    {}, {"dtype": "float32"}, {"order": "symmetric", "omega": 1.3}, {"order": "backward", "thin": 3},
    {"method": "exact"}, {"stream": "torch-cpu"}, {"init": "zero"}, {"mean": np.arange(24.0)},
    {"stream": "given", "noise": random.standard_normal((60, 24, 70)), "warmup": 10},
    {"chains": 100003, "warmup": 3, "draws": 2, "dtype": "float32"},
    {"lower": 0.0}, {"lower": 0.0, "upper": 0.3, "dtype": "float32"},  # which the pilot chooses for
    {"lower": 0.0, "method": "whitened", "dtype": "float32"}, {"lower": -1.0, "overrelax": 0.8},
    {"rows": np.diff(np.eye(24), axis=0), "row_lower": 0.0, "init": "zero"},
    {"rows": np.diff(np.eye(24), axis=0), "row_lower": 0.0, "init": "zero", "order": "symmetric"},
    {"rows": np.diff(np.eye(24), axis=0), "row_lower": 0.0, "init": "zero", "method": "whitened"},
):
    given = {"chains": 70, "draws": 50, "seed": 3} | options
    expected, got = gibbsite.sample(q, **given), gibbsite.sample(q, **given, backend="cuda")
    what = {name: value for name, value in options.items() if name not in ("noise", "mean", "rows")}
    check(np.array_equal(expected, got), f"{what}: other draws than the CPU's")
    check(np.array_equal(expected.generator_state, got.generator_state), f"{what}: generator")
    check(expected.attributes == got.attributes, f"{what}: attributes")
    check(expected.pilot == got.pilot, f"{what}: the pilot")
    print(f"{what}: {expected.kernel} and {got.kernel}")
card = {"stream": "torch-cuda", "card": (132, 2048), "seed": 3, "draws": 50}
expected, got = gibbsite.sample(q, **card), gibbsite.sample(q, **card, backend="cuda")
check(np.allclose(expected, got, rtol=0, atol=1e-10), "torch-cuda: the CPU's within its error")
check(np.array_equal(expected.generator_state, got.generator_state), "torch-cuda: generator")
print(f"{counts[0]} passed, {counts[1]} failed")
sys.exit(counts[1] != 0)
