#!/usr/bin/env python3
"""Compares the program's summaries with ArviZ's, on its own files and on one by ArviZ, and checks
the numbers that a file carries beside the draws (check_files.py looks at the files themselves).

    check_arviz.py [PROGRAM]          (default build/release/cli/gibbsite)

Bound of the summaries: 1e-9 relative (means: of the standard deviation).  Ends with
`N passed, N failed`."""
import json
import os
import subprocess
import sys
import tempfile
import warnings

import arviz as az
import netCDF4
import numpy as np
import scipy.io
import torch

warnings.filterwarnings("ignore")
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else
                          os.path.join(ROOT, "build/release/cli/gibbsite"))
GRAPH = os.path.join(ROOT, "examples/data/us_states.graph")
passed = failed = 0


def check(good, text):
    global passed, failed
    print(("ok    " if good else "FAIL  ") + text)
    passed, failed = passed + bool(good), failed + (not good)


def check_gap(what, got, expected, bound):
    gap = np.max(np.abs(np.asarray(got, float) - np.asarray(expected, float)))
    check(gap <= bound, f"{what}: off by {gap:.2g}, bound {bound:.2g}")


def gibbsite(*arguments):
    run = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"gibbsite {arguments}: exit {run.returncode}: {run.stderr}")
    return run.stdout


def our_summary(path):
    return json.loads(gibbsite("summary", path, "--json"))


def compare_summaries(what, path, data):
    """Every figure that both define alike, over all variables.  ArviZ computes float draws in
    float, so it gets them widened, as the program widens them."""
    ours = our_summary(path)["variables"]
    theirs = az.summary(data.posterior.astype(np.float64), round_to="none", kind="all")
    check([row["name"] for row in ours] == list(theirs.index), f"{what}: {len(ours)} names agree")
    sd = theirs["sd"].to_numpy()
    for key, column in [("mean", "mean"), ("sd", "sd"), ("mcse_mean", "mcse_mean"),
                        ("ess_bulk", "ess_bulk"), ("ess_tail", "ess_tail"), ("rhat", "r_hat")]:
        a = np.array([row[key] for row in ours], float)
        b = theirs[column].to_numpy()
        scale = sd if key == "mean" else np.abs(b)
        check_gap(f"{what}: {key}", (a - b) / scale, 0, 1e-9)


RUNS = {
    "default": [],
    "8 chains of 4000": ["--chains", 8, "--draws", 4000],
    "float": ["--dtype", "f32"],
    "exact": ["--method", "exact"],
    "thinned": ["--thin", 20, "--draws", 500],
    "antithetic": ["--omega", 1.9, "--order", "backward"],
    # Halves of 24: at odd lengths ArviZ sums one pair of lags more than the definition has, which
    # shows only where autocorrelations reach the end of the chain, as they do here.
    "still moving in": ["--warmup", 0, "--draws", 48],
}


def check_runs():
    gibbsite("make", "car", "--graph", GRAPH, "--rho", 0.9, "-o", "q.mtx")
    for what, options in RUNS.items():
        gibbsite("sample", "-Q", "q.mtx", "--seed", 5, "-o", "draws.nc", *options)
        compare_summaries(what, "draws.nc", az.from_netcdf("draws.nc"))


def check_contents():
    """lp, location, diagonal and attributes, and the law behind them."""
    gibbsite("make", "car", "--graph", GRAPH, "--rho", 0.9, "-o", "q.mtx")
    mu = np.linspace(-3, 3, 48)
    np.save("mu.npy", mu)
    gibbsite("sample", "-Q", "q.mtx", "--mean", "mu.npy", "--seed", 2**64 - 1, "-o", "draws.nc")
    q = scipy.io.mmread("q.mtx").toarray()
    data = az.from_netcdf("draws.nc")
    x = data.posterior["x"].values
    lp = -0.5 * np.einsum("cdi,ij,cdj->cd", x - mu, q, x - mu)
    # Sums of 2304 products each: 48 roundings relative to the sum of absolute values.
    size = 0.5 * np.einsum("cdi,ij,cdj->cd", abs(x - mu), abs(q), abs(x - mu)).max()
    check_gap("lp = -(x - mu)' Q (x - mu) / 2", data.sample_stats["lp"].values, lp,
              100 * 2**-52 * size)
    constant = data.constant_data
    check_gap("constant_data: location", constant["location"].values, mu, 0)
    check_gap("constant_data: diagonal", constant["diag_precision"].values, np.diag(q), 0)
    attributes = {**data.attrs, **data.posterior.attrs}
    check(attributes["inference_library"] == "gibbsite" and int(attributes["seed"]) == 2**64 - 1
          and attributes["stream"] == "native" and int(attributes["stream_mapping_version"]) == 1,
          "attributes: library, seed, stream and its version")
    gibbsite("sample", *attributes["options"].split(), "-o", "again.nc")
    check(open("again.nc", "rb").read() == open("draws.nc", "rb").read(),
          "the options in the file reproduce the file, byte for byte")


def check_torch_state():
    """The generator's state at the end, in the file and in JSON, is torch's own."""
    gibbsite("make", "ar1", "-n", 3, "--phi", 0.5, "-o", "q.mtx")
    out = json.loads(gibbsite("sample", "-Q", "q.mtx", "--stream", "torch-cpu", "--seed", 11,
                              "--chains", 17, "--warmup", 5, "--draws", 7, "--dtype", "f32",
                              "-o", "draws.nc", "--json"))
    torch.manual_seed(11)
    for _ in range((5 + 7) * 3):
        torch.randn(17)
    state = torch.get_rng_state().numpy().tobytes()
    check(bytes.fromhex(out["stream"]["generator_state"]) == state,
          "torch-cpu: the state in JSON is torch.get_rng_state()")
    with netCDF4.Dataset("draws.nc") as data:
        check(np.asarray(data.getncattr("generator_state")).astype(np.uint8).tobytes() == state,
              "torch-cpu: and so is the file's attribute")


def check_foreign():
    """What ArviZ writes, with labels, scalars and matrices."""
    rng = np.random.default_rng(1)
    data = az.from_dict(
        posterior={"mu": rng.standard_normal((4, 200)),
                   "theta": rng.standard_normal((4, 200, 3)),
                   "Sigma": rng.standard_normal((4, 200, 2, 2)).astype(np.float32)},
        coords={"school": ["Choate", "St. Paul's", "Mt. Hermon"]}, dims={"theta": ["school"]})
    data.to_netcdf("foreign.nc")
    compare_summaries("a file by ArviZ", "foreign.nc", data)


def main():
    print(f"{gibbsite('--version').strip()}, ArviZ {az.__version__}, torch {torch.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for part in (check_runs, check_contents, check_torch_state, check_foreign):
            try:
                part()
            except Exception as error:  # a check that cannot run has failed
                check(False, f"{part.__name__}: {error}")
        os.chdir(ROOT)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
