#!/usr/bin/env python3
"""Runs every block of Python and of R that docs/reading-results.md shows, in order and in a scratch
folder, with the program of build/release on the path, and looks at what they leave behind.

    tools/check_pages.py [PROGRAM=build/release/cli/gibbsite]

R's blocks are skipped, with the reason, where R or one of its packages is not installed.  Ends with
`N passed, N failed[, N skipped]`.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release/cli/gibbsite").resolve()
PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "reading-results.md"
ENVIRONMENT = {**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}

# What must hold when the blocks of a language have run.
PYTHON_CHECKS = """
assert x.shape == (4, 1000, 4) and np.array_equal(x, data.posterior["x"].values)
assert np.allclose(posterior["x"].mean(("chain", "draw")).values, x.mean((0, 1)), rtol=0, atol=1e-14)
assert data.attrs["seed"] == 1 and list(named["x_dim_0"].values) == sites
assert np.array_equal(named.values, x) and np.array_equal(csv, x)
"""
R_CHECKS = """
s <- summarise_draws(draws)
stopifnot(all(dim(draws) == c(1000, 4, 4)), all(s$rhat < 1.01))
stopifnot(all(variables(named) == c("a", "b")))
stopifnot(all(abs(summarise_draws(csv, "mean")$mean[-1] - s$mean) < 1e-13))
stopifnot(isSymmetric(lattice), nrow(lattice) == 9)
cat(sprintf("%.15g", s$mean), "\\n")
"""
counts = {"passed": 0, "failed": 0, "skipped": 0}


def check(what, good, detail=""):
    counts["passed" if good else "failed"] += 1
    print(f"{'ok' if good else 'FAILED'}  {what} {'' if good else detail}")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.S)


def run(command, script, folder):
    (folder / "script").write_text(script)
    return subprocess.run([*command, "script"], cwd=folder, env=ENVIRONMENT, text=True,
                          capture_output=True)


def check_python(folder):
    code = blocks("python")
    done = run([sys.executable], "".join(code) + PYTHON_CHECKS, folder)
    check(f"{len(code)} blocks of Python", done.returncode == 0, done.stderr[-2000:])


def missing_in_r():
    if not shutil.which("Rscript"):
        return "R is not installed"
    wanted = sorted(set(re.findall(r"library\((\w+)\)", "".join(blocks("r")))))
    for package in wanted:
        if subprocess.run(["Rscript", "-e", f"library({package})"], capture_output=True).returncode:
            return f"R's package {package} is not installed"
    return None


def check_r(folder):
    why = missing_in_r()
    if why:
        counts["skipped"] += 1
        print(f"skipped  R: {why}")
        return
    code = blocks("r")
    done = run(["Rscript"], "".join(code) + R_CHECKS, folder)
    check(f"{len(code)} blocks of R", done.returncode == 0, done.stderr[-2000:])
    if done.returncode:
        return
    theirs = [float(word) for word in done.stdout.splitlines()[-1].split()]
    ours = json.loads(subprocess.run([PROGRAM, "summary", folder / "draws.nc", "--json"],
                                     capture_output=True, check=True).stdout)["variables"]
    # Sums of 4,000 numbers of size 1 in two orders, over their number.
    gap = max(abs(a - b["mean"]) for a, b in zip(theirs, ours, strict=True))
    check("means in R are those of summary", gap <= 1e-13, gap)


def main():
    for language in (check_python, check_r):
        with tempfile.TemporaryDirectory() as name:
            language(pathlib.Path(name))
    print(f"{counts['passed']} passed, {counts['failed']} failed"
          + (f", {counts['skipped']} skipped" if counts["skipped"] else ""))
    return counts["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
