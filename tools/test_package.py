#!/usr/bin/env python3
"""Installs the Python package into a scratch folder with pip, as a user would, and runs its tests
with the PyTorch of this environment.  Prints `N passed, N failed`."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    with tempfile.TemporaryDirectory() as scratch:
        package = pathlib.Path(scratch) / "package"
        environment = dict(os.environ, GBS_CUDA="OFF")
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", package, ROOT],
                       check=True, env=environment)
        environment.update(PYTHONPATH=f"{package}:{ROOT / 'tests' / 'python'}",
                           XDG_CACHE_HOME=str(pathlib.Path(scratch) / "cache"))
        run = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", ROOT / "tests" / "python"],
                             env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=scratch)
    print(run.stdout)
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|errors?)", run.stdout)}
    failed = counts.get("failed", 0) + counts.get("error", 0) + counts.get("errors", 0)
    if run.returncode != 0 and failed == 0:
        failed = 1
    print(f"{counts.get('passed', 0)} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
