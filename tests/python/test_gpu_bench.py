"""The GPU benchmark's script, tried on the CPU: rows as they are measured, the page and the picture
made from them.  No figure is looked at."""
import csv
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as xml

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import gpu_floors  # noqa: E402
import gpu_table  # noqa: E402
import svg_chart  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def write_rows(folder, rows):
    """gpu.csv from (section, how, type, dim, chains, clock, us, floor)."""
    with (folder / "gpu.csv").open("w") as file:
        file.write("# commit: abc\n# device: a card\n")
        writer = csv.DictWriter(file, gpu_table.COLUMNS)
        writer.writeheader()
        for section, how, dtype, dim, chains, clock, us, floor in rows:
            writer.writerow(dict(section=section, how=how, type=dtype, dim=dim, chains=chains,
                                 sweeps=1, clock=clock, us=us, gsites_per_s=1e-3 * dim * chains / us,
                                 floor_us=floor, share_of_floor=floor and floor / us))


ROWS = [
    ("single", "op", "f32", 32, 4096, "wall median", 8.0, 2.5),
    ("single", "op", "f32", 32, 4096, "graph", 3.0, 2.5),
    ("single", "op", "f32", 32, 1, "graph", 2.0, 2.0),
    ("single", "loop", "f32", 32, 4096, "wall median", 6400.0, 2.5),
    ("many", "op, native", "f32", 32, 4096, "device", 1.0, 0.5),
    ("large", "SGEMM", "f32", 1024, 4096, "device", 200.0, ""),
    ("large", "op, native", "f32", 1024, 4096, "device", 400.0, 200.0),
]


def test_runs_on_the_cpu(tmp_path):
    """The script itself, as `make gpu-bench` calls it: the same rows in the file and on the screen."""
    pytest.importorskip("gibbsite.torch")
    run = subprocess.run([sys.executable, ROOT / "bench/gpu_bench.py", "--device", "cpu", "--out",
                          tmp_path / "made"], stdout=subprocess.PIPE, text=True, check=True)
    rows = gpu_table.Rows((tmp_path / "made/gpu.csv").read_text().splitlines(keepends=True))
    hows = {key[:2] for key in rows.rows}
    assert hows == {("single", "op"), ("single", "module"), ("single", "x + x"),
                    ("single", "noise loop and kernel"),
                    ("single", "loop"), ("many", "op, native"), ("large", "SGEMM"),
                    ("large", "op, native")}
    assert all(row["us"] > 0 for row in rows.rows.values())
    printed = [line for line in run.stdout.splitlines() if "Gsites/s  floor" in line]
    assert len(printed) == len(rows.rows) >= 15
    page = (tmp_path / "made/gpu_table.md").read_text()
    assert page.strip() in run.stdout and "## Many sites (four sweeps) beside" in page
    assert xml.parse(tmp_path / "made/gpu_times.svg").getroot().tag == SVG + "svg"


def test_targets(tmp_path):
    write_rows(tmp_path, ROWS)
    gpu_table.write(tmp_path)
    page = (tmp_path / "gpu_table.md").read_text()
    for line in ("| one sweep in a graph of 100, us | <= 2.9 | 3 | **missed** |",
                 "| one call on the wall, Python included, us | <= 8 | 8 | met |",
                 "| eager loop over one call, on the wall | >= 500 | 800 | met |",
                 "| noise loop and kernel over one call, on the wall | >= 40 | not measured |  |",
                 "| many sweeps of 4,096 chains, Gsites/s | >= 120 | 131.1 | met |",
                 "| D = 1024, B = 4096, of SGEMM's speed | >= 0.5 | 0.5 | met |",
                 "| f32, D = 32, B = 4096 | 131.1 | 262.1 | 0.5 |",
                 "- device: a card"):
        assert line in page, f"expected {line} in\n{page}"


def test_page_from_a_run_that_was_cut_short(tmp_path):
    for count in range(len(ROWS) + 1):
        write_rows(tmp_path, ROWS[:count])
        gpu_table.write(tmp_path)
        xml.parse(tmp_path / "gpu_times.svg")


def test_picture_puts_points_where_they_belong():
    """Two decades across and one up: 10 is halfway, 10**0.5 half the height."""
    panel = svg_chart.Panel("t & <t>", "x", "y", {"a": [(100, 10), (1, 1), (10, 10**0.5)],
                                                  "floor": [(1, 1), (100, 1)], "none": []})
    root = xml.fromstring(svg_chart.draw("title", [panel], ("floor",)))
    circles = [(float(c.get("cx")), float(c.get("cy"))) for c in root.iter(SVG + "circle")]
    left, right = svg_chart.LEFT, svg_chart.WIDTH - svg_chart.RIGHT
    top, bottom = svg_chart.TOP, svg_chart.HEIGHT - svg_chart.BOTTOM
    expected = [(left, bottom), ((left + right) / 2, (top + bottom) / 2), (right, top)]
    for got, wanted in zip(circles, expected, strict=True):
        assert got == pytest.approx(wanted, abs=0.06)
    lines = list(root.iter(SVG + "polyline"))
    assert [line.get("stroke-dasharray") is not None for line in lines] == [False, True]
    words = {t.text for t in root.iter(SVG + "text")}
    assert {"t & <t>", "x", "y", "a", "floor", "title"} <= words and "none" not in words


def test_floors_are_those_of_the_notes():
    """bench/NOTES-gpu.md: about 2.4 us for the headline cell, 430 Gsites/s for many chains."""
    assert gpu_floors.one_sweep("f32", 32, 4096) == pytest.approx(2.4e-6, rel=0.05)
    many = gpu_floors.many_sweeps("f32", 32, 1048576)
    assert 32 * 1048576 / many == pytest.approx(430e9, rel=0.01)
    assert gpu_floors.product(1024, 4096, 43.9e12) == pytest.approx(195.7e-6, rel=0.01)
