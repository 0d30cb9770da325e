#!/usr/bin/env python3
"""Compares the program's files with what NumPy, SciPy, netCDF4, h5netcdf, xarray and ArviZ make of them.

    tools/check_files.py [PROGRAM=build/release/cli/gibbsite]

Draws: one run is written as .npy and as netCDF; netCDF4, h5netcdf, xarray (on both) and ArviZ must
give NumPy's array bit for bit, with the dimension names, coordinates, types and attributes of
docs/file-formats.md; sizes 4 x 1000 x 56 and 1 x 1 x 1, float and double.  Input: one matrix saved
by NumPy in every dtype and order that holds it exactly, in archives and as text, by pandas as CSV, and by
SciPy in Matrix Market's forms, must be one matrix to `info`; a data frame's names must come back from
every reader; ArviZ's own file must come out of `summary` under ArviZ's names.  Ends with
`N passed, N failed`.
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import arviz
import h5netcdf
import netCDF4
import numpy as np
import pandas
import scipy.io
import scipy.sparse
import xarray

PROGRAM = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release/cli/gibbsite").resolve()
DTYPES = {"f32": np.dtype("<f4"), "f64": np.dtype("<f8")}
counts = {True: 0, False: 0}


def check(what, good, detail=""):
    counts[bool(good)] += 1
    if not good:
        print(f"FAILED {what} {detail}")


def run(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"gibbsite {words}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout) if "--json" in words else None


def readings(path):
    """(reader, values, dimension names, coordinates) of posterior/x, by every reader."""
    with netCDF4.Dataset(path) as file:
        group = file["posterior"]
        x = group["x"]
        yield "netCDF4", np.asarray(x[:]), x.dimensions, [np.asarray(group[d][:]) for d in x.dimensions]
    with h5netcdf.File(path) as file:
        group = file["posterior"]
        x = group["x"]
        yield "h5netcdf", x[:], x.dimensions, [group[d][:] for d in x.dimensions]
    for engine in ("netcdf4", "h5netcdf"):
        with xarray.open_dataset(path, group="posterior", engine=engine) as data:
            x = data["x"]
            yield f"xarray {engine}", x.values, x.dims, [data[d].values for d in x.dims]
    x = arviz.from_netcdf(path).posterior["x"]
    yield "ArviZ", x.values, x.dims, [x[d].values for d in x.dims]


def check_draws(folder, matrix, mean, chains, draws, dtype):
    what = f"{chains} x {draws} x {len(mean)} {dtype}"
    np.save(folder / "q.npy", matrix)
    np.save(folder / "mean.npy", mean)
    options = ["-Q", folder / "q.npy", "--mean", folder / "mean.npy", "--chains", chains, "--draws",
               draws, "--seed", 2**64 - 1, "--dtype", dtype, "--quiet"]
    run("sample", *options, "-o", folder / "x.npy")
    run("sample", *options, "-o", folder / "x.nc")
    x = np.load(folder / "x.npy")
    check(f"{what}: .npy", x.shape == (chains, draws, len(mean)) and x.dtype == DTYPES[dtype],
          f"{x.shape} {x.dtype}")
    for name, values, dims, coordinates in readings(folder / "x.nc"):
        check(f"{what}: {name}: type", values.dtype == x.dtype, values.dtype)
        check(f"{what}: {name}: values", np.array_equal(values, x))
        check(f"{what}: {name}: dims", tuple(dims) == ("chain", "draw", "x_dim_0"), dims)
        for size, labels in zip(x.shape, coordinates):
            check(f"{what}: {name}: coordinates",
                  labels.dtype == np.int64 and np.array_equal(labels, np.arange(size)))
    data = arviz.from_netcdf(folder / "x.nc")
    distance = x.astype(float) - mean
    lp = -0.5 * np.einsum("cti,ij,ctj->ct", distance, matrix, distance)
    # Both sides round 2 D^2 products and sums of size |x - mu|' |Q| |x - mu|.
    size = np.einsum("cti,ij,ctj->ct", abs(distance), abs(matrix), abs(distance))
    error = np.max(abs(data.sample_stats["lp"].values - lp) / size)
    check(f"{what}: lp", error <= 4 * len(mean) ** 2 * 2.0**-53, error)
    constants = data.constant_data
    check(f"{what}: location", np.array_equal(constants["location"].values, mean))
    check(f"{what}: form", constants["location"].attrs["form"] == "mean")
    check(f"{what}: diagonal", np.array_equal(constants["diag_precision"].values, np.diag(matrix)))
    for engine in ("netcdf4", "h5netcdf"):
        with xarray.open_dataset(folder / "x.nc", engine=engine) as root:
            check(f"{what}: seed by {engine}", root.attrs["seed"] == 2**64 - 1, root.attrs["seed"])
            check(f"{what}: library by {engine}", root.attrs["inference_library"] == "gibbsite")
    check(f"{what}: library on the group", data.posterior.attrs["inference_library"] == "gibbsite")


def check_other_contents(folder):
    """CmdStan's CSV, the warm-up, moments and fixed sites, as ArviZ and netCDF4 read them."""
    matrix = np.array([[2, -1, 0.0], [-1, 2, -1], [0, -1, 2]])
    np.save(folder / "q.npy", matrix)
    options = ["-Q", folder / "q.npy", "--chains", 3, "--warmup", 20, "--draws", 50, "--thin", 3,
               "--seed", 5, "--quiet"]
    for dtype in DTYPES:
        for name in ("w.nc", "w.csv"):
            run("sample", *options, "--dtype", dtype, "--save-warmup", "-o", folder / name)
        run("sample", *options, "--dtype", dtype, "-o", folder / "x.npy")
        x = np.load(folder / "x.npy")
        from_nc = arviz.from_netcdf(folder / "w.nc")
        from_csv = arviz.from_cmdstan([folder / f"w_{c}.csv" for c in (1, 2, 3)], save_warmup=True)
        for name, data in (("netCDF", from_nc), ("CSV", from_csv)):
            check(f"{name} {dtype}: draws", np.array_equal(data.posterior["x"].values, x))
            check(f"{name} {dtype}: warm-up", data.warmup_posterior["x"].shape == (3, 6, 3),
                  data.warmup_posterior["x"].shape)
        for group in ("posterior", "warmup_posterior"):
            check(f"{dtype}: {group} of CSV and netCDF",
                  np.array_equal(from_csv[group]["x"].values, from_nc[group]["x"].values))
        for group in ("sample_stats", "warmup_sample_stats"):
            check(f"{dtype}: {group} of CSV and netCDF",
                  np.array_equal(from_csv[group]["lp"].values, from_nc[group]["lp"].values))
        run("sample", *options, "--dtype", dtype, "--moments-only", "-o", folder / "m.nc")
        for engine in ("netcdf4", "h5netcdf"):
            with xarray.open_dataset(folder / "m.nc", group="moments", engine=engine) as moments:
                wide = x.astype(float)
                # Welford's and NumPy's sums of 50 numbers below 8, and of their squares
                check(f"{dtype}: means by {engine}", moments.attrs["draws"] == 50 and
                      np.max(abs(moments["mean"].values - wide.mean(1))) <= 100 * 8 * 2.0**-53)
                m2 = ((wide - wide.mean(1, keepdims=True)) ** 2).sum(1)
                check(f"{dtype}: squares by {engine}",
                      np.max(abs(moments["m2"].values / m2 - 1)) <= 400 * 2.0**-53)
                check(f"{dtype}: dims by {engine}", moments["mean"].dims == ("chain", "x_dim_0"))
    fixed = np.array([np.nan, 1.5, np.nan])
    np.save(folder / "fixed.npy", fixed)
    run("sample", *options, "--fix", folder / "fixed.npy", "-o", folder / "f.nc")
    data = arviz.from_netcdf(folder / "f.nc")
    check("fixed sites", np.all(data.posterior["x"].values[..., 1] == 1.5))
    check("their values", np.array_equal(data.constant_data["fixed"].values, fixed, equal_nan=True))
    check("the location given them", np.allclose(data.constant_data["location"].values,
                                                 [0.75, 1.5, 0.75], rtol=4 * 2.0**-52))
    run("sample", *options, "--lower", 0.25, "--overrelax", 0.5, "-o", folder / "b.nc")
    data = arviz.from_netcdf(folder / "b.nc")
    check("draws above their bound", np.all(data.posterior["x"].values >= 0.25))
    check("bounds", np.all(data.constant_data["lower"].values == 0.25) and
          np.all(data.constant_data["upper"].values == np.inf))
    check("over-relaxation", data.attrs["overrelax"] == 0.5)


def saved_arrays(matrix):
    for dtype in ("<f8", ">f8", "<f4", ">f4", "<f2", ">f2", "<i8", ">i8", "<i4", ">i2", "|i1"):
        for order in "CF":
            yield f"numpy {dtype} {order}", matrix.astype(dtype, order=order)


def check_input(folder):
    """Small whole numbers, which every dtype holds.  (That a column-major array is not taken for
    row-major does not show in a symmetric matrix; tests/unit/test_npy.c sees to it.)"""
    matrix = np.diag([9.0, 7, 8]) + np.diag([-2.0, 3], 1) + np.diag([-2.0, 3], -1)
    np.save(folder / "q.npy", matrix)
    want = run("info", "-Q", folder / "q.npy", "--json")
    exact = (want["eigenvalue_min"], want["eigenvalue_max"], want["size"])
    eigenvalues = np.linalg.eigvalsh(matrix)
    check("eigenvalues", np.allclose(exact[:2], eigenvalues[[0, -1]], rtol=1e-12), exact)

    def compare(name, path):
        got = run("info", "-Q", path, "--json")
        check(name, (got["eigenvalue_min"], got["eigenvalue_max"], got["size"]) == exact, got)

    for name, array in saved_arrays(matrix):
        np.save(folder / "a.npy", array)
        compare(name, folder / "a.npy")
    for version in ((1, 0), (2, 0), (3, 0)):
        with open(folder / "a.npy", "wb") as file:
            np.lib.format.write_array(file, matrix, version=version)
        compare(f"numpy version {version}", folder / "a.npy")
    np.savez(folder / "a.npz", Q=matrix, other=np.zeros(3))
    compare("numpy.savez", f"{folder}/a.npz:Q")
    np.savez_compressed(folder / "a.npz", Q=matrix)
    compare("numpy.savez_compressed", folder / "a.npz")
    for delimiter in ",;\t":
        np.savetxt(folder / "a.csv", matrix, delimiter=delimiter, header="a b c")
        compare(f"numpy.savetxt {delimiter!r}", folder / "a.csv")
    for names in (None, ["a", "b, c", "\u00e9"]):
        for index in (True, False)[: 1 + bool(names)]:  # without either a header is a row like others
            pandas.DataFrame(matrix, names, names).to_csv(folder / "a.csv", index=index)
            compare(f"pandas index={index} {names}", folder / "a.csv")
    for quoting in (csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC):
        for options in ({}, {"index": False, "header": False}):
            pandas.DataFrame(matrix).to_csv(folder / "a.csv", quoting=quoting, **options)
            compare(f"pandas quoting={quoting} {options}", folder / "a.csv")
    for symmetry in ("general", "symmetric"):
        for form in (matrix, scipy.sparse.coo_matrix(matrix)):
            for field in ("real", "integer"):
                scipy.io.mmwrite(folder / "a.mtx", form.astype(int if field == "integer" else float),
                                 field=field, symmetry=symmetry)
                compare(f"scipy {type(form).__name__} {field} {symmetry}", folder / "a.mtx")


def check_names(folder):
    """Names of a data frame come back as the coordinate of the sites, from every reader."""
    names = ["AAPL", "b, c", "\u00e9t\u00e9"]
    frame = pandas.DataFrame(np.eye(3), names, names)
    frame.to_csv(folder / "named.csv")
    run("sample", "-Q", folder / "named.csv", "--draws", 5, "--seed", 1, "--quiet", "-o", folder / "n.nc")
    for name, _, _, coordinates in readings(folder / "n.nc"):
        got = [label.decode() if isinstance(label, bytes) else label for label in coordinates[2]]
        check(f"names by {name}", got == names, got)
    got = [v["name"] for v in run("summary", folder / "n.nc", "--json")["variables"]]
    want = list(arviz.summary(arviz.from_netcdf(folder / "n.nc")).index)
    check("names in summary", got == want, f"{got} {want}")


def check_written_matrix(folder):
    run("make", "random", "-n", 20, "--cond", 1e6, "--seed", 5, "-o", folder / "r.mtx")
    matrix = scipy.io.mmread(folder / "r.mtx").toarray()
    check("scipy reads our matrix", np.array_equal(matrix, matrix.T) and matrix.shape == (20, 20))
    values = np.linalg.eigvalsh(matrix)
    # Each entry is rounded: eigenvalues move by at most 20 * 2^-53 of the largest.
    check("its condition number", abs(values[-1] / values[0] / 1e6 - 1) < 1e6 * 1e-13, values)


def check_arviz_file(folder):
    rng = np.random.default_rng(3)
    data = arviz.from_dict(
        {"mu": rng.normal(size=(4, 100)), "theta": rng.normal(size=(4, 100, 3)),
         "Sigma": rng.normal(size=(4, 100, 2, 2)), "k": rng.integers(0, 9, size=(4, 100))},
        coords={"school": ["Choate", "St. Paul's", "É"]}, dims={"theta": ["school"]})
    data.to_netcdf(folder / "arviz.nc")
    table = arviz.summary(data, round_to="none")
    got = run("summary", folder / "arviz.nc", "--json")["variables"]
    check("names of an ArviZ file", [v["name"] for v in got] == list(table.index),
          [v["name"] for v in got])
    for mine, (name, theirs) in zip(got, table.iterrows()):
        check(f"mean of {name}", abs(mine["mean"] - theirs["mean"]) <= 1e-9 * abs(theirs["mean"]))


def main():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(56, 56))
    matrix = root @ root.T + 10 * np.eye(56)
    matrix = (matrix + matrix.T) / 2
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for dtype in ("f32", "f64"):
            check_draws(folder, matrix, rng.normal(size=56), 4, 1000, dtype)
            check_draws(folder, np.array([[4.0]]), np.array([-3.0]), 1, 1, dtype)
        check_input(folder)
        check_names(folder)
        check_other_contents(folder)
        check_written_matrix(folder)
        check_arviz_file(folder)
    print(f"{counts[True]} passed, {counts[False]} failed")
    return counts[False] > 0


if __name__ == "__main__":
    sys.exit(main())
