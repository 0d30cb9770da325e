"""From the times of bench/compare_cpu.py to a page with the targets beside the figures."""
import statistics

WHAT = {
    "gibbsite_avx512": "Gibbsite, AVX-512", "gibbsite_avx2": "Gibbsite, AVX2",
    "gibbsite_scalar": "Gibbsite, scalar reference",
    "normals_avx512": "its normals alone, AVX-512", "normals_avx2": "its normals alone, AVX2",
    "normals_scalar": "its normals alone, scalar",
    "sweep_avx512": "its sweep without noise, AVX-512", "sweep_avx2": "its sweep without noise, AVX2",
    "sweep_scalar": "its sweep without noise, scalar",
    "normals_clang": "the same normals, clang's vectoriser", "normals_clang512": "likewise, 512-bit vectors asked for",
    "normals_cc512": "the same normals, the library's compiler, 512 bits",
    "naive_o3": "naive C, -O3", "naive_fast_math": "naive C, -O3 -ffast-math",
    "numpy": "NumPy over chains", "torch_eager": "PyTorch, eager loop",
}


def ratio(times, fast, slow):
    """Median over rounds of how many times `fast` outruns `slow`; None if either is absent."""
    if fast not in times or slow not in times:
        return None
    return statistics.median(s / f for f, s in zip(times[fast], times[slow]))


def share(times, isa):
    """Speed over 1 / (1/normals + 1/sweep without noise)."""
    names = [f"{part}_{isa}" for part in ("gibbsite", "normals", "sweep")]
    if any(name not in times for name in names):
        return None
    return statistics.median((n + s) / w for w, n, s in zip(*(times[name] for name in names)))


def targets(times):
    """(what, target, measured) for one cell; the targets are for float at D = 32, B = 4096."""
    return [
        ("AVX-512 over PyTorch's eager loop", 12.0, ratio(times, "gibbsite_avx512", "torch_eager"), "x"),
        ("AVX-512 over 1/(1/normals + 1/sweep without noise)", 0.85, share(times, "avx512"), ""),
        ("AVX-512 normals over clang's vectorised loop", 1.4, ratio(times, "normals_avx512", "normals_clang"), "x"),
        ("the same, with 512-bit vectors asked of clang", None, ratio(times, "normals_avx512", "normals_clang512"), "x"),
        ("AVX-512 over scalar", 6.0, ratio(times, "gibbsite_avx512", "gibbsite_scalar"), "x"),
        ("AVX2 over scalar", 3.0, ratio(times, "gibbsite_avx2", "gibbsite_scalar"), "x"),
    ]


def table(header, lines):
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, rule, *lines])


def speed(values):
    return f"{1 / statistics.median(values):.4g}"


def target_lines(times):
    for what, target, measured, unit in targets(times):
        wanted = f">= {target:g}{unit}" if target else "none set"
        if measured is None:
            yield [what, wanted, "not measured", ""]
        else:
            verdict = ("met" if measured >= target else "**missed**") if target else ""
            yield [what, wanted, f"{measured:.3g}{unit}", verdict]


def row_lines(results, cells):
    for name, what in WHAT.items():
        if any(name in results[cell] for cell in cells):
            yield [what] + [speed(results[cell][name]) if name in results[cell] else "" for cell in cells]


def draw_lines(results, tau, cells):
    """Nanoseconds of core time per effective draw of the slowest direction of one chain's law."""
    for name in ("gibbsite_avx512", "gibbsite_avx2", "gibbsite_scalar"):
        if all(name in results[cell] for cell in cells):
            yield [WHAT[name]] + [f"{statistics.median(results[cell][name]) * cell[1] * tau[cell]:.4g}" for cell in cells]


def grid_lines(grid, dtype, row, dims, chains):
    for dim in dims:
        yield [str(dim)] + [speed(grid[dtype, dim, b][row]) if row in grid[dtype, dim, b] else "" for b in chains]


def render(facts, results, grid, tau, headline, rounds, seconds):
    dim, chains = headline
    cells = list(results)
    head = [f"{dtype}, D = {d}" for dtype, d, _ in cells]
    parts = ["# Dense sweeps on one CPU core", "Written by bench/compare_cpu.py; speeds are site updates per nanosecond "
             f"(Gsites/s) of CPU time, medians of {rounds} rounds of {seconds:g} s in which all rows take turns.",
             "\n".join(f"- {what}: {value}" for what, value in facts),
             f"## Targets: float, D = {dim}, B = {chains}",
             table(["ratio", "target", "measured", ""], target_lines(results["f32", dim, chains])),
             f"The same for double: {', '.join(f'{w} {m:.3g}{u}' for w, _, m, u in targets(results['f64', dim, chains]) if m is not None)}.",
             f"## All rows, B = {chains}", table(["row"] + head, row_lines(results, cells)),
             "## Core time per effective draw of the slowest direction, ns",
             table(["row"] + head, draw_lines(results, tau, cells))]
    if grid:
        dims = sorted({key[1] for key in grid})
        columns = sorted({key[2] for key in grid})
        for row in ("gibbsite_avx512", "gibbsite_avx2", "gibbsite_scalar"):
            for dtype in ("f32", "f64"):
                if any(row in times for times in grid.values()):
                    parts += [f"## {WHAT[row]}, {dtype}: by D and B",
                              table(["D"] + [f"B = {b}" for b in columns], grid_lines(grid, dtype, row, dims, columns))]
    return "\n\n".join(parts) + "\n"
