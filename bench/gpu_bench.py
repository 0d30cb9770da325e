#!/usr/bin/env python3
"""`make gpu-bench`: the op beside the loop it stands in for, its floors and SGEMM, on one GPU.

    python3 bench/gpu_bench.py [--out FOLDER] [--quick] [--device cuda|cpu] [--limit SECONDS]

Needs the package on the path (tools/gpu_package.sh).  Each row is printed and written to
FOLDER/gpu.csv as it is measured; then come FOLDER/gpu_table.md and FOLDER/gpu_times.svg
(bench/gpu_table.py makes them again from the CSV).  torch.compile's rows come last, as their time is
hard to foretell, and are left out when the limit is near.  --device cpu runs a few small cells on
the CPU, to try the script out.
"""
import argparse
import csv
import pathlib
import subprocess
import sys
import time

import torch

import gpu_floors
import gpu_table
from gpu_rows import Clock, Model, loop_sweep

ROOT = pathlib.Path(__file__).resolve().parent.parent
TYPES = {"f32": torch.float32, "f64": torch.float64}
HEADLINE = (32, 4096)


def commit():
    run = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return run.stdout.strip() or "unknown"


def facts(device):
    lines = [("commit", commit()), ("PyTorch", torch.__version__)]
    if device == "cuda":
        card = torch.cuda.get_device_properties(0)
        lines += [("device", card.name), ("multiprocessors", str(card.multi_processor_count)),
                  ("CUDA", torch.version.cuda)]
    else:
        lines += [("device", "CPU, to try the script out: no figure here means anything")]
    return lines


class Results:
    """Rows, on the screen and in the file the moment they are known."""

    def __init__(self, folder, head):
        folder.mkdir(parents=True, exist_ok=True)
        self.file = (folder / "gpu.csv").open("w", newline="")
        for what, value in head:
            self.file.write(f"# {what}: {value}\n")
            print(f"{what}: {value}")
        self.writer = csv.DictWriter(self.file, gpu_table.COLUMNS, lineterminator="\n")
        self.writer.writeheader()

    def add(self, section, how, dtype, dim, chains, sweeps, clock, seconds, floor, count=""):
        """`seconds` and `floor` are of one sweep."""
        row = dict(section=section, how=how, type=dtype, dim=dim, chains=chains, sweeps=sweeps,
                   clock=clock, calls=count, us=f"{1e6 * seconds:.5g}",
                   gsites_per_s=f"{1e-9 * dim * chains / seconds:.5g}",
                   floor_us=f"{1e6 * floor:.5g}" if floor else "",
                   share_of_floor=f"{floor / seconds:.3g}" if floor else "")
        self.writer.writerow(row)
        self.file.flush()
        print(f"{section:8} {how:22} {dtype} D={dim:<5} B={chains:<8} S={sweeps:<4} {clock:12} "
              f"{row['us']:>10} us {row['gsites_per_s']:>10} Gsites/s  floor {row['floor_us'] or '-'}",
              flush=True)


class Bench:
    def __init__(self, options, results):
        self.results, self.device = results, options.device
        self.clock = Clock(options.device, 0.02 if options.quick else 0.2)
        self.begin, self.limit = time.perf_counter(), options.limit

    def left(self):
        return self.limit - (time.perf_counter() - self.begin)

    def time_walls(self, calls, key, floor):
        for how, (median, mean, count) in self.clock.walls(calls).items():
            for clock, seconds in (("wall median", median), ("wall mean", mean)):
                self.results.add("single", how, *key, 1, clock, seconds, floor, count)

    def single(self, dtype, dim, chains):
        """One sweep of torch's stream, by every means but torch.compile."""
        key, floor = (dtype, dim, chains), gpu_floors.one_sweep(dtype, dim, chains)
        model = Model(dim, chains, TYPES[dtype], self.device)

        def add(how, clock, seconds):
            self.results.add("single", how, *key, 1, clock, seconds, floor)

        self.time_walls({"op": model.with_op, "module": model.with_module, "x + x": model.with_addition,
                         "noise loop and kernel": model.with_noise_loop, "loop": model.with_loop},
                        key, floor)
        add("op", "device", self.clock.on_device(model.with_op, calls=20))
        if self.clock.on_cuda:
            calls = 100 if dim * chains <= 1 << 20 else 20  # a graph's own start takes 7 us
            self.results.add("single", "op", *key, 1, "graph", self.clock.in_graph(model.with_op, calls),
                             floor, calls)
        add("loop", "device", self.clock.on_device(model.with_loop))
        if self.clock.on_cuda:
            add("loop", "graph", self.clock.in_graph(model.with_loop))

    def many(self, dtype, dim, chains):
        """Many sweeps of the native stream in one launch."""
        sweeps = max(4, min(200, int(2e9 / (dim * chains)))) if self.clock.on_cuda else 4
        model = Model(dim, chains, TYPES[dtype], self.device)
        seconds = self.clock.on_device(lambda: model.sweeps_in_place(sweeps), most=20) / sweeps
        self.results.add("many", "op, native", dtype, dim, chains, sweeps, "device", seconds,
                         gpu_floors.many_sweeps(dtype, dim, chains))

    def large(self, dtype, dim, chains):
        """Sweeps of many sites beside a matrix product of the same size."""
        model = Model(dim, chains, TYPES[dtype], self.device)
        other = model.x.T.contiguous()
        product = self.clock.on_device(lambda: torch.matmul(model.precision, other), calls=3, most=20)
        floor = gpu_floors.product(dim, chains, 2 * dim * dim * chains / product)
        self.results.add("large", gpu_table.PRODUCT[dtype], dtype, dim, chains, 1, "device", product, None)
        seconds = self.clock.on_device(lambda: model.sweeps_in_place(4), most=20) / 4
        self.results.add("large", "op, native", dtype, dim, chains, 4, "device", seconds, floor)

    def compiled(self, dim, chains, mode):
        """The loop under torch.compile, which unrolls it: seconds, or minutes, to compile."""
        model = Model(dim, chains, torch.float32, self.device)
        torch._dynamo.reset()
        program = torch.compile(loop_sweep, mode=mode, fullgraph=True, dynamic=False)
        begin = time.perf_counter()

        def call():
            if self.clock.on_cuda:
                torch.compiler.cudagraph_mark_step_begin()
            return program(model.x, model.precision, model.mu)

        for _ in range(3):
            call()
        print(f"compiled in {time.perf_counter() - begin:.1f} s")
        self.time_walls({f"torch.compile {mode}": call}, ("f32", dim, chains),
                        gpu_floors.one_sweep("f32", dim, chains))
        return time.perf_counter() - begin


def cells(options):
    """(single, many, large, compiled): the grids, the cells that targets name first."""
    if options.device == "cpu":
        return [("f32", 8, 1), ("f32", 8, 64)], [("f32", 8, 64), ("f64", 8, 64)], [("f32", 64, 64)], []
    if options.quick:
        return ([("f32", d, b) for d in (32, 8) for b in (4096, 1)],
                [("f32", 32, 4096), ("f32", 32, 1048576)], [("f32", 1024, 4096)], [])
    dims = (32, 8, 16, 64, 128, 256)
    single = [("f32", *HEADLINE), ("f64", *HEADLINE)]
    single += [("f32", d, b) for d in dims for b in (1, 64, 1024, 4096, 65536, 1048576)]
    many = [("f32", d, b) for d in dims for b in (4096, 32768, 131072, 1048576)]
    many += [("f64", d, b) for d in (16, 32) for b in (4096, 1048576)]
    compiled = [(d, mode) for d in (32, 8, 16, 64) for mode in ("default", "reduce-overhead")]
    large = [("f32", d, 4096) for d in (1024, 4096, 256, 512, 2048)] + [("f32", 1024, 16384)]
    large += [("f64", d, 4096) for d in (1024, 4096)]
    return list(dict.fromkeys(single)), many, large, compiled


def run_compiled(bench, wanted):
    spent = {}
    for dim, mode in wanted:
        expected = max((seconds * dim / d for (d, m), seconds in spent.items() if m == mode),
                       default=40.0)
        if bench.left() < expected:
            print(f"left out: torch.compile {mode}, D = {dim}: about {expected:.0f} s, "
                  f"but {bench.left():.0f} s are left")
            continue
        try:
            spent[dim, mode] = bench.compiled(dim, HEADLINE[1], mode)
        except Exception as error:  # a compiler that fails ends no benchmark
            print(f"left out: torch.compile {mode}, D = {dim}: {type(error).__name__}: {error}")


def main():
    parser = argparse.ArgumentParser(description="The op beside the loop, its floors and SGEMM.")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench/results")
    parser.add_argument("--quick", action="store_true", help="a few cells, under a minute")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--limit", type=float, default=220.0, help="seconds in all")
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        parser.error("no GPU that PyTorch can use; --device cpu tries the script out")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    if options.device == "cpu":
        torch.set_num_threads(1)
    bench = Bench(options, Results(options.out, facts(options.device)))
    single, many, large, compiled = cells(options)
    jobs = [(bench.single, c) for c in single[:1]] + [(bench.large, c) for c in large]
    jobs += [(bench.many, c) for c in many] + [(bench.single, c) for c in single[1:]]
    for measure, cell in jobs:
        if bench.left() < 5:
            print(f"left out: {measure.__name__} {cell}: the limit of {bench.limit:g} s is near")
            continue
        measure(*cell)
    gpu_table.write(options.out)  # now, in case that compiling outlasts whoever runs this
    if compiled:
        run_compiled(bench, compiled)
        gpu_table.write(options.out)
    print((options.out / "gpu_table.md").read_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
