#!/usr/bin/env python3
"""Sweeps between bounds beside R's tmvtnorm, one core, one run.

    bench/compare_bounded.py BUILD_FOLDER

Prints site updates a second and seconds for an independent draw of the mean, with how many times
tmvtnorm's, and which draws are wrong.  The two take turns, model by model, three times where rates
are compared, since a processor's clock drifts; rates and their ratios are medians.  Needs Rscript
with r-cran-tmvtnorm (Debian).
"""
import math
import statistics
import subprocess
import sys

# models that bounded_rates numbers, the last of which are tails; turns
MODELS, TAILS_FROM, ROUNDS = 12, 9, 3
# exact means of the tails, to the digits shown
EXACT = {"tail [7 8]": 7.13706716, "tail [8.5 inf]": 8.61459532, "tail [10 11]": 10.0980683749}


def rows(command):
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in output.splitlines():
        model, name, dim, rate, tau, mean, outside = line.split(",")
        yield model, name, int(dim), float(rate), float(tau), float(mean), int(outside)


def measure(number):
    """Rows of a model, rates the medians of the rounds, and how many times tmvtnorm's they are, by name."""
    program, script = [f"{sys.argv[1]}/bench/bounded_rates", str(number)], ["Rscript", "bench/bounded_rates.R", str(number)]
    found, rates, ratios = [], {}, {}
    for turn in range(ROUNDS if number < TAILS_FROM else 1):
        ours = list(rows(program + ["rates"] * (turn > 0)))
        try:
            theirs = list(rows(script))
        except (FileNotFoundError, subprocess.CalledProcessError):
            theirs = []
        found = found or ours + theirs
        for row in ours + theirs:
            rates.setdefault(row[1], []).append(row[3])
            if theirs:
                ratios.setdefault(row[1], []).append(row[3] / theirs[0][3])
    found = [row[:3] + (statistics.median(rates[row[1]]),) + row[4:] for row in found]
    return found, {(found[0][0], name, found[0][2]): statistics.median(r) for name, r in ratios.items()}


def main():
    found, times_theirs = [], {}
    for number in range(MODELS):
        more, ratios = measure(number)
        found += more
        times_theirs.update(ratios)
    if not times_theirs:
        print("no tmvtnorm on this machine")
    plain = {(row[0], row[2]): row[4] for row in found if row[1] == "gibbsite double"}
    names = ["gibbsite float", "gibbsite double", "gibbsite float r=.8", "gibbsite double r=.8",
             "gibbsite float whitened", "gibbsite double whitened", "tmvtnorm"]
    rates = {row[:3]: row[3:5] for row in found if not row[0].startswith("tail")}
    cells = sorted({(model, dim) for model, _, dim in rates}, key=lambda cell: (cell[0], cell[1]))
    print("million site updates a second (times tmvtnorm's)\n| model | D | " + " | ".join(names) + " |\n|---" +
          "|---" * (len(names) + 1) + "|")
    for model, dim in cells:
        line = []
        for name in names:
            rate = rates.get((model, name, dim), (math.nan, 0))[0]
            ratio = times_theirs.get((model, name, dim))
            times = "" if name == "tmvtnorm" or ratio is None else f" ({ratio:.3g})"
            line.append(f"{rate / 1e6:.3g}{times}")
        print(f"| {model} | {dim} | " + " | ".join(line) + " |")
    print("\nmicroseconds for an independent draw of the mean; tmvtnorm's chain is that of r = 0\n| model | D | " +
          " | ".join(names) + " |\n|---" + "|---" * (len(names) + 1) + "|")
    for model, dim in cells:
        if math.isnan(plain.get((model, dim), math.nan)):
            continue
        line = []
        for name in names:
            rate, tau = rates.get((model, name, dim), (math.nan, math.nan))
            tau = plain[model, dim] if name == "tmvtnorm" else tau
            line.append(f"{tau * dim / rate * 1e6:.3g}")
        print(f"| {model} | {dim} | " + " | ".join(line) + " |")
    print("\ntails of N(0, 1), 1 site: mean, draws outside or not finite")
    for model, name, _, _, _, mean, outside in found:
        if model in EXACT and not name.endswith(("r=.8", "whitened")):
            print(f"  {model}, {name}: mean {mean:.8g} (exact {EXACT[model]}), {outside} outside")


if __name__ == "__main__":
    main()
