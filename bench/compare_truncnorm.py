#!/usr/bin/env python3
"""Draws between bounds beside R's msm::rtnorm and truncnorm::rtruncnorm, one thread, one run.

    bench/compare_truncnorm.py BUILD_FOLDER

Prints draws a second for each box, and which answers are wrong: draws outside or not finite, or a
mean more than 5 standard errors from the exact one.  Needs Rscript; packages that R lacks are left
out (Debian: r-cran-msm, r-cran-truncnorm).
"""
import math
import subprocess
import sys

# box, mean, sd, lower, upper, and the exact mean and standard deviation (60 digits, rounded)
BOXES = [
    ("[0 inf)", "0", "1", "0", "inf", 0.797884560802865, 0.602810),
    ("[-1 1]", "0", "1", "-1", "1", 0.0, 0.539560),
    ("[1 2]", "0", "1", "1", "2", 1.38316904663155, 0.269709),
    ("[3 inf)", "0", "1", "3", "inf", 3.28309865493044, 0.265630),
    ("[5 5.5]", "0", "1", "5", "5.5", 5.15210177690727, 0.123183),
    ("[10 inf)", "0", "1", "10", "inf", 10.0980932339625, 0.0971875),
    ("(-inf -10]", "0", "1", "-inf", "-10", -10.0980932339625, 0.0971875),
    ("[40 41]", "0", "1", "40", "41", 40.0249688472073, 0.0249533),
    ("[100 inf)", "0", "1", "100", "inf", 100.009998000999, 0.00999700),
    ("[1000 inf)", "0", "1", "1000", "inf", 1000.000999998, 0.000999997),
    ("N(-1e9 1) on [0 inf)", "-1e9", "1", "0", "inf", 1e-9, 1e-9),
    ("N(33 1) on (-inf 20]", "33", "1", "-inf", "20", 19.9239614394, 0.0752),
    ("[0 1e-8]", "0", "1", "0", "1e-8", 5e-9, 2.886751e-9),
]
DRAWS = {"gibbsite": 2**17, "other": 2**14}


def rows(command):
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in output.splitlines():
        box, name, rate, mean, outside = line.split(",")
        yield box, name, float(rate), float(mean), int(outside)


def verdict(row, boxes):
    box, name, _, mean, outside = row
    exact, sd = boxes[box][5:]
    draws = DRAWS["gibbsite" if name.startswith("gibbsite") else "other"]
    if outside:
        return f"{outside} of {draws} outside or not finite"
    # float adds the rounding of the draws
    room = 5 * sd / math.sqrt(draws) + (2**-24 * abs(exact) if "float" in name else 0)
    return "" if abs(mean - exact) <= room else f"mean {mean:.9g}, exact {exact:.9g}"


def main():
    boxes = {box[0]: box for box in BOXES}
    arguments = [text for box in BOXES for text in box[:5]]
    found = list(rows([f"{sys.argv[1]}/bench/truncnorm_rates", *arguments]))
    try:
        found += rows(["Rscript", "bench/truncnorm_rates.R", *arguments])
    except FileNotFoundError:
        print("Rscript is not on this machine")
    names = list(dict.fromkeys(row[1] for row in found))
    print("million draws a second\n| box | " + " | ".join(names) + " |\n|---" + "|---" * len(names) + "|")
    for box in boxes:
        rates = {row[1]: row[2] for row in found if row[0] == box}
        print(f"| {box} | " + " | ".join(f"{rates[name] / 1e6:.2f}" if name in rates else ""
                                         for name in names) + " |")
    wrong = [(row, verdict(row, boxes)) for row in found if verdict(row, boxes)]
    print("\nwrong answers:" if wrong else "\nno wrong answers")
    for row, why in wrong:
        print(f"  {row[1]} on {row[0]}: {why}")


if __name__ == "__main__":
    main()
