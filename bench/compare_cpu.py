#!/usr/bin/env python3
"""Times every way of sweeping a dense Gaussian side by side, on one core, in turns.

    bench/compare_cpu.py BUILD/bench/cpu_bench [--core N] [--quick] [--out bench/results]

The C rows run in cpu_bench, which answers one request at a time; NumPy's and PyTorch's rows run
here.  Each round times every row once, so that whatever disturbs the machine disturbs all rows
alike; ratios are taken within a round, and the median over rounds is reported.  Times are CPU
time.  Without NumPy or PyTorch their rows are left out, with the reason printed.
"""
import argparse
import csv
import datetime
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

# Before NumPy or PyTorch is loaded: one thread, and the BLAS kernels that the machine deserves.
UNSET = [name for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE") if os.environ.pop(name, None) is not None]
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import python_rows  # noqa: E402
import cpu_table  # noqa: E402

HEADLINE = (32, 4096)
PYTHON_DIMS = (8, 32, 64, 128)
GRID_DIMS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
GRID_CHAINS = (64, 1024, 4096, 16384, 65536)
GRID_ROWS = ("gibbsite_avx512", "gibbsite_avx2", "gibbsite_scalar", "normals_avx512", "sweep_avx512")


class Server:
    """The C rows: cpu_bench as a child process on the same core."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.rows = self.ask("rows").split()

    def ask(self, request):
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer or answer.startswith("error"):
            raise SystemExit(f"cpu_bench: {request!r} was answered {answer!r}")
        return answer

    def cell(self, dtype, dim, chains):
        answer = self.ask(f"cell {dtype} {dim} {chains}")
        if answer != "ok":
            raise SystemExit(f"cpu_bench: {answer}")

    def time(self, row, seconds):
        """Nanoseconds per site update, or None with the reason noted."""
        answer = self.ask(f"time {row} {seconds}")
        if answer.startswith("absent"):
            return None, answer[len("absent "):]
        spent, updates, _, _ = answer.split()
        return 1e9 * float(spent) / float(updates), None


def time_python(row, seconds):
    """The same for a Python row: a function that makes one sweep and returns its updates."""
    row()
    start = time.thread_time()
    updates = 0
    while True:
        updates += row()
        spent = time.thread_time() - start
        if spent >= seconds:
            return 1e9 * spent / updates


def run_cell(server, dtype, dim, chains, names, rounds, seconds, with_python, absent):
    """{row: [ns per update, one a round]} of one cell; a first round is thrown away."""
    server.cell(dtype, dim, chains)
    python = python_rows.make(dtype, dim, chains, absent) if with_python else {}
    times = {}
    for turn in range(rounds + 1):
        for name in names:
            if name in absent:
                continue
            value, reason = server.time(name, seconds)
            if value is None:
                absent[name] = reason
            elif turn > 0:
                times.setdefault(name, []).append(value)
        for name, row in python.items():
            value = time_python(row, seconds)
            if turn > 0:
                times.setdefault(name, []).append(value)
    return times


def load_average():
    return pathlib.Path("/proc/loadavg").read_text().split()[:3]


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def clang_version(build):
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("BENCH_CLANG:") and not line.endswith("NOTFOUND"):
            clang = line.split("=", 1)[1]
            return subprocess.run([clang, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    return "not there"


def describe(server, program, core, absent):
    """What a reader needs to know about this run, as (what, value) pairs."""
    build = pathlib.Path(program).resolve().parents[1]
    built = server.ask("built")
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True,
                            cwd=pathlib.Path(__file__).parent)
    facts = [
        ("date", datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")),
        ("commit", commit.stdout.strip() or "unknown"),
        ("processor", f"{processor()}, {os.cpu_count()} cores seen, core {core} used, one thread"),
        ("system", f"{platform.platform()}"),
        ("compiler of the library", built if "lang" in built else "gcc " + built),
        ("clang of the vectorised loop", clang_version(build)),
        ("Python", platform.python_version()),
    ]
    facts += python_rows.versions()
    facts.append(("unset for this run", ", ".join(UNSET) or "nothing was set"))
    facts += [("left out", f"{name}: {reason}") for name, reason in absent.items()]
    return facts


def write_csv(path, results, commit):
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["row", "type", "dim", "chains", "rounds", "median_ns_per_site", "min_ns_per_site",
                      "max_ns_per_site", "gsites_per_s", "commit"])
        for (dtype, dim, chains), times in results.items():
            for name, values in times.items():
                median = statistics.median(values)
                out.writerow([name, dtype, dim, chains, len(values), f"{median:.5g}", f"{min(values):.5g}",
                              f"{max(values):.5g}", f"{1 / median:.5g}", commit])


def write(folder, table, results, grid, commit):
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(folder / "cpu.csv", results, commit)
    if grid:
        write_csv(folder / "cpu_grid.csv", grid, commit)
    (folder / "cpu_table.md").write_text(table)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("program", help="cpu_bench of a bench build")
    arguments.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="core to run on")
    arguments.add_argument("--quick", action="store_true", help="the headline cells alone, few rounds, printed only")
    arguments.add_argument("--out", type=pathlib.Path, help="folder of the results (bench/results)")
    given = arguments.parse_args()
    os.sched_setaffinity(0, {given.core})
    server = Server(given.program)
    absent = {}
    results, grid, tau = {}, {}, {}
    before = load_average()

    rounds, seconds = (3, 0.05) if given.quick else (11, 0.1)
    for dim in (HEADLINE[0],) if given.quick else PYTHON_DIMS:
        for dtype in ("f32", "f64"):
            cell = (dtype, dim, HEADLINE[1])
            print(f"cell {dtype} D = {dim} B = {HEADLINE[1]}", file=sys.stderr)
            results[cell] = run_cell(server, *cell, server.rows, rounds, seconds, True, absent)
            tau[cell] = float(server.ask("spectrum"))
    for dim in () if given.quick else GRID_DIMS:
        for chains in GRID_CHAINS:
            for dtype in ("f32", "f64"):
                print(f"cell {dtype} D = {dim} B = {chains}", file=sys.stderr)
                grid[dtype, dim, chains] = run_cell(server, dtype, dim, chains, GRID_ROWS, 3, 0.02, False, absent)

    facts = describe(server, given.program, given.core, absent)
    facts.append(("load averages before, after", f"{' '.join(before)}, {' '.join(load_average())}"))
    table = cpu_table.render(facts, results, grid, tau, HEADLINE, rounds, seconds)
    print(table)
    if given.out or not given.quick:
        write(given.out or pathlib.Path(__file__).parent / "results", table, results, grid, dict(facts)["commit"])


if __name__ == "__main__":
    main()
