#!/usr/bin/env python3
"""From the rows of bench/gpu_bench.py to a page with targets, tables and a picture of time against
the floor.  Needs nothing but Python:

    python3 bench/gpu_table.py [FOLDER with gpu.csv]
"""
import csv
import pathlib
import sys

import svg_chart

COLUMNS = ["section", "how", "type", "dim", "chains", "sweeps", "clock", "calls", "us",
           "gsites_per_s", "floor_us", "share_of_floor"]
HEADLINE = (32, 4096)
FLOOR = "floor"

# What the page shows of single sweeps: heading -> (how, clock).
SINGLE = {
    "loop, wall": ("loop", "wall median"),
    "loop, device": ("loop", "device"),
    "loop, graph": ("loop", "graph"),
    "compile, default": ("torch.compile default", "wall median"),
    "compile, reduce-overhead": ("torch.compile reduce-overhead", "wall median"),
    "noise loop + kernel": ("noise loop and kernel", "wall median"),
    "op, wall": ("op", "wall median"),
    "op, wall mean": ("op", "wall mean"),
    "module, wall": ("module", "wall median"),
    "x + x, wall": ("x + x", "wall median"),
    "op, device": ("op", "device"),
    "op, graph": ("op", "graph"),
}


class Rows:
    """The rows of a CSV by what they are; figures as numbers."""

    def __init__(self, lines):
        head = [line[2:].rstrip("\n").partition(": ") for line in lines if line.startswith("# ")]
        self.facts = [(what, value) for what, _, value in head]
        self.rows = {}
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            key = (row["section"], row["how"], row["type"], int(row["dim"]), int(row["chains"]),
                   row["clock"])
            self.rows[key] = {name: float(row[name]) if row[name] else None
                              for name in COLUMNS[7:]}

    def us(self, section, how, dtype, dim, chains, clock):
        row = self.rows.get((section, how, dtype, dim, chains, clock))
        return row and row["us"]

    def cells(self, section, dtype=None):
        """(type, dim, chains) of a section, in ascending order."""
        found = {key[2:5] for key in self.rows if key[0] == section}
        return sorted(cell for cell in found if dtype in (None, cell[0]))

    def floor(self, section, cell):
        for key, row in self.rows.items():
            if key[0] == section and key[2:5] == cell and row["floor_us"]:
                return row["floor_us"]
        return None


def figure(value):
    return "" if value is None else f"{value:.4g}"


def table(header, lines):
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, rule, *lines])


def ratio(over, under):
    return over / under if over and under else None


PRODUCT = {"f32": "SGEMM", "f64": "DGEMM"}


def sgemm_share(rows, dim):
    cell = ("f32", dim, 4096, "device")
    return ratio(rows.us("large", "SGEMM", *cell), rows.us("large", "op, native", *cell))


def targets(rows):
    """(what, aim, measured, larger is better)."""
    def single(how, clock):
        return rows.us("single", how, "f32", *HEADLINE, clock)

    def speed(chains):
        row = rows.rows.get(("many", "op, native", "f32", 32, chains, "device"))
        return row and row["gsites_per_s"]

    wall, graph = single("op", "wall median"), single("op", "graph")
    compiled = [single(f"torch.compile {mode}", "wall median") for mode in ("default", "reduce-overhead")]
    best_compiled = min(compiled) if all(compiled) else None  # the best only of both
    return [
        ("one sweep in a graph of 100, us", 2.9, graph, False),
        ("one call on the wall, Python included, us", 8.0, wall, False),
        ("one call over x + x, on the wall", 1.5, ratio(wall, single("x + x", "wall median")), False),
        ("eager loop over one call, on the wall", 500, ratio(single("loop", "wall median"), wall), True),
        ("noise loop and kernel over one call, on the wall", 40,
         ratio(single("noise loop and kernel", "wall median"), wall), True),
        ("best torch.compile over one sweep in a graph", 45,
         ratio(best_compiled, graph), True),
        ("many sweeps of 4,096 chains, Gsites/s", 120, speed(4096), True),
        ("many sweeps of 1,048,576 chains, Gsites/s", 370, speed(1048576), True),
        ("D = 1024, B = 4096, of SGEMM's speed", 0.5, sgemm_share(rows, 1024), True),
        ("D = 4096, B = 4096, of SGEMM's speed", 0.5, sgemm_share(rows, 4096), True),
    ]


def target_lines(rows):
    for what, aim, measured, larger in targets(rows):
        wanted = f"{'>=' if larger else '<='} {aim:g}"
        if measured is None:
            yield [what, wanted, "not measured", ""]
        else:
            met = measured >= aim if larger else measured <= aim
            yield [what, wanted, figure(measured), "met" if met else "**missed**"]


def single_lines(rows):
    for cell in rows.cells("single"):
        floor, best = rows.floor("single", cell), rows.us("single", "op", *cell, "graph")
        yield [f"{cell[0]}, D = {cell[1]}, B = {cell[2]}",
               *[figure(rows.us("single", how, *cell, clock)) for how, clock in SINGLE.values()],
               figure(floor), figure(ratio(floor, best))]


def many_lines(rows):
    for cell in rows.cells("many"):
        row = rows.rows["many", "op, native", *cell, "device"]
        ceiling = 1e-3 * cell[1] * cell[2] / row["floor_us"]
        yield [f"{cell[0]}, D = {cell[1]}, B = {cell[2]}", figure(row["gsites_per_s"]),
               figure(ceiling), figure(row["share_of_floor"])]


def large_lines(rows):
    for dtype, dim, chains in rows.cells("large"):
        work = 2e-6 * dim * dim * chains  # TFLOP/s times us
        ours, theirs = (rows.us("large", how, dtype, dim, chains, "device")
                        for how in ("op, native", PRODUCT[dtype]))
        yield [f"{dtype}, D = {dim}, B = {chains}", figure(ratio(work, theirs)), figure(ratio(work, ours)),
               figure(ratio(theirs, ours))]


def render(rows):
    parts = ["# Sweeps on one GPU",
             "Written by bench/gpu_table.py from gpu.csv, which bench/gpu_bench.py measures; "
             "medians; the picture is gpu_times.svg. Floors: bench/gpu_floors.py.",
             "\n".join(f"- {what}: {value}" for what, value in rows.facts),
             f"## Aims: float, D = {HEADLINE[0]}, B = {HEADLINE[1]} unless said",
             table(["what", "aim", "measured", ""], target_lines(rows)),
             "## One sweep of torch's stream, us (the op in a graph of 100 calls, of 20 from 2^20 states on)",
             table(["cell", *SINGLE, FLOOR, "floor / graph"], single_lines(rows)),
             "## Many sweeps in one launch, native stream, Gsites/s",
             table(["cell", "measured", FLOOR, "share"], many_lines(rows)),
             "## Many sites (four sweeps) beside a matrix product, TFLOP/s",
             table(["cell", "SGEMM, DGEMM", "sweep", "share"], large_lines(rows))]
    return "\n\n".join(parts) + "\n"


# ---- the picture ----

DRAWN = {name: SINGLE[name] for name in (
    "loop, wall", "loop, graph", "noise loop + kernel", "op, wall", "op, graph", "compile, default",
    "compile, reduce-overhead")}


def points(cells, across, time):
    """(x, us) of the cells that have been measured; `across` is 1 for D, 2 for B."""
    return [(cell[across], us) for cell in cells if (us := time(cell))]


def single_panel(rows, dim):
    cells = [cell for cell in rows.cells("single", "f32") if cell[1] == dim]
    lines = {name: points(cells, 2, lambda cell: rows.us("single", how, *cell, clock))
             for name, (how, clock) in DRAWN.items()}
    lines[FLOOR] = points(cells, 2, lambda cell: rows.floor("single", cell))
    return svg_chart.Panel(f"one sweep, D = {dim}", "chains B", "us", lines)


def many_panel(rows, chains):
    cells = [cell for cell in rows.cells("many", "f32") if cell[2] == chains]
    lines = {"op, many sweeps": points(
        cells, 1, lambda cell: rows.us("many", "op, native", *cell, "device")),
        FLOOR: points(cells, 1, lambda cell: rows.floor("many", cell))}
    return svg_chart.Panel(f"a sweep of many, B = {chains}", "sites D", "us", lines)


def large_panel(rows):
    cells = [cell for cell in rows.cells("large", "f32") if cell[2] == 4096]
    lines = {name: points(cells, 1, lambda cell: rows.us("large", how, *cell, "device"))
             for name, how in (("op, many sweeps", "op, native"), ("SGEMM of the size", "SGEMM"))}
    return svg_chart.Panel("many sites, B = 4096", "sites D", "us", lines)


def picture(rows):
    dims = sorted({cell[1] for cell in rows.cells("single", "f32")})
    chains = sorted({cell[2] for cell in rows.cells("many", "f32")})
    panels = [single_panel(rows, dim) for dim in dims]
    panels += [many_panel(rows, b) for b in dict.fromkeys((chains[:1] + chains[-1:]))]
    panels.append(large_panel(rows))
    device = dict(rows.facts).get("device", "")
    return svg_chart.draw(f"Time a sweep against the floor, float: {device}", panels, (FLOOR,))


def write(folder):
    rows = Rows((folder / "gpu.csv").read_text().splitlines(keepends=True))
    (folder / "gpu_table.md").write_text(render(rows))
    (folder / "gpu_times.svg").write_text(picture(rows))


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "results"))
