#!/usr/bin/env python3
"""Checks tests/kat/truncated_normals.csv in 60-digit arithmetic.

With F the distribution function of the normal on [lower, upper] and u the word's uniform, x must be
F^-1(u) to |F(x) - u| <= 2e-5 (float) or 4e-11 (double), beside what rounding x to its type does to F
and rounding u does to u.  Ends with `N passed, N failed`, one a row and one for the file as a whole.
Needs mpmath.
"""
import os
import re
import sys

import mpmath as mp

mp.mp.dps = 60
ROWS = 1200
DEFAULT = os.path.join(os.path.dirname(__file__), "..", "tests", "kat", "truncated_normals.csv")
HEADER = os.path.join(os.path.dirname(__file__), "..", "include", "gibbsite", "gibbsite.h")
BITS = {"f": (24, 32, mp.mpf("2e-5")), "d": (53, 53, mp.mpf("4e-11"))}


def number(text):
    return mp.mpf(float.fromhex(text))


def ulp(x, bits):
    return mp.ldexp(1, max(int(mp.floor(mp.log(abs(x), 2))), -1000) - bits + 1) if x else mp.mpf(0)


def tail(z):
    """Q(z) = P(Z > z), with all digits however far out."""
    if z == mp.inf:
        return mp.mpf(0)
    if z < 200:
        return mp.erfc(z / mp.sqrt(2)) / 2
    return mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi) / z * (1 - 1 / z**2 + 3 / z**4 - 15 / z**6)


def share(a, b, z):
    """P(a < Z < z) / P(a < Z < b) for |a| <= |b|, from tails or from the density."""
    if z <= a:
        return mp.mpf(0)
    if z >= b:
        return mp.mpf(1)
    if a >= 200:  # e^-(a y + y^2/2), y from a on
        return mass(a, z - a) / mass(a, b - a)
    if a < 0:
        return (mp.ncdf(z) - mp.ncdf(a)) / (1 - tail(b) - mp.ncdf(a) if b < mp.inf else 1 - mp.ncdf(a))
    return (tail(a) - tail(z)) / (tail(a) - tail(b))


def mass(a, d):
    """The integral of exp(-a y - y^2/2) over [0, d], a large."""
    r = 1 / a - 1 / a**3 + 3 / a**5 - 15 / a**7
    if d == mp.inf or a * d > 300:
        return r
    c = a + d
    return r - (1 / c - 1 / c**3 + 3 / c**5 - 15 / c**7) * mp.exp(-d * (a + d / 2))


class Check:
    def __init__(self):
        self.passed = self.failed = 0
        self.worst = {"f": mp.mpf(0), "d": mp.mpf(0)}
        self.rows = {"f": 0, "d": 0}

    def verdict(self, good, message):
        self.passed += good
        self.failed += not good
        if not good:
            print("FAILED", message)

    def row(self, line, number_of_line):
        kind, *fields, word, x = line.split(",")
        bits, word_bits, bound = BITS[kind]
        m, s, lo, hi = map(number, fields)
        x = number(x)
        self.rows[kind] += 1
        inside = lo <= x <= hi and abs(x) < mp.inf
        if lo == hi or not inside:
            self.verdict(inside and x == lo, f"line {number_of_line}: {line}")
            return
        u = (int(word, 16) + mp.mpf(1) / 2) / 2**word_bits
        a, b, z = (lo - m) / s, (hi - m) / s, (x - m) / s
        if abs(b) < abs(a):
            a, b, z, u = -b, -a, -z, 1 - u
        rounding = ulp(x, bits) / s
        got = share(a, b, z)
        room = max(abs(share(a, b, z + rounding) - got), abs(share(a, b, z - rounding) - got))
        # uniforms are rounded to the type too
        error = abs(got - u) - room - mp.ldexp(1, -bits)
        self.worst[kind] = max(self.worst[kind], error)
        self.verdict(error <= bound, f"line {number_of_line}: {line}: F {mp.nstr(got, 12)}, "
                     f"u {mp.nstr(u, 12)}, error {mp.nstr(error, 3)}, bound {mp.nstr(bound, 3)}")

    def file(self, first):
        version = re.search(r"mapping version (\d+)", first)
        with open(HEADER, encoding="utf-8") as header:
            current = re.search(r"GBS_TRUNCNORM_VERSION (\d+)", header.read())
        good = bool(version and current and version[1] == current[1])
        self.verdict(good and all(n == ROWS for n in self.rows.values()),
                     "mapping version, or number of rows")


def main():
    check = Check()
    with open(sys.argv[1] if len(sys.argv) > 1 else DEFAULT, encoding="ascii") as lines:
        first = next(lines)
        for number_of_line, line in enumerate(lines, 2):
            check.row(line.strip(), number_of_line)
    check.file(first)
    for kind, name in (("f", "float"), ("d", "double")):
        print(f"  {name}: {check.rows[kind]} rows, largest error beyond rounding "
              f"{mp.nstr(check.worst[kind], 3)}, bound {mp.nstr(BITS[kind][2], 3)}")
    print(f"{check.passed} passed, {check.failed} failed")
    sys.exit(check.failed > 0)


if __name__ == "__main__":
    main()
