#!/usr/bin/env python3
"""Checks every row of tests/kat/native_normals.csv in 60-digit arithmetic.

    tools/check_normals.py [CSV]

u, the angle and the clamp are those of docs/streams.md, taken as exact; the logarithm, sine and
cosine come from mpmath.  A normal may be off by 2 ulp, or by 1e-9 (float) or 1e-17 (double).  Ends
with `N passed, N failed`, one a row and one for the file as a whole.  Needs mpmath.
"""
import os
import re
import sys
from fractions import Fraction

import mpmath as mp

mp.mp.dps = 60
ROWS = 1000
DEFAULT = os.path.join(os.path.dirname(__file__), "..", "tests", "kat", "native_normals.csv")
HEADER = os.path.join(os.path.dirname(__file__), "..", "include", "gibbsite", "gibbsite.h")
LARGEST = {24: 6.77, 53: 8.66}  # of |z|, by the smallest u


def rounded(x, bits):
    """x > 0 to the nearest number of `bits` significant bits, ties to even."""
    exponent = 0
    while x >= 2**bits:
        x, exponent = x / 2, exponent + 1
    while x < 2 ** (bits - 1):
        x, exponent = x * 2, exponent - 1
    return round(x) * Fraction(2) ** exponent  # Python's round() ties to even


def ulp(z, bits):
    """Distance between neighbours of z in a format of `bits` significant bits."""
    return mp.ldexp(1, int(mp.floor(mp.log(abs(z), 2))) - bits + 1)


def exact_pair(u, turns):
    """Both normals for exact u (a Fraction) and angle (a Fraction of a turn)."""
    length = -2 * mp.log(mp.mpf(u.numerator) / u.denominator)
    length = max(length, mp.mpf(10) ** -20)
    angle = 2 * mp.pi * turns.numerator / turns.denominator
    return mp.sqrt(length) * mp.sin(angle), mp.sqrt(length) * mp.cos(angle)


def float_pair(words):
    radius, angle = words
    rn = rounded(Fraction(radius), 24) if radius else Fraction(0)
    u = rounded(rn / 2**32 + Fraction(1, 2**33), 24)
    return exact_pair(u, (Fraction(angle) + Fraction(1, 2)) / 2**32)


def double_pair(words):
    radius, angle = words[0] ^ words[1] << 21, words[2] ^ words[3] << 21
    u = rounded(Fraction(radius, 2**53) + Fraction(1, 2**54), 53)
    return exact_pair(u, (Fraction(angle) + Fraction(1, 2)) / 2**53)


class Check:
    def __init__(self):
        self.passed = self.failed = 0
        self.worst = {24: 0.0, 53: 0.0}
        self.words = {24: set(), 53: set()}
        self.rows = {24: 0, 53: 0}

    def verdict(self, good, message):
        self.passed += good
        self.failed += not good
        if not good:
            print("FAILED", message)

    def normal(self, exact, got, bits):
        """1 if within the bound; remembers the largest error in ulp among those above the floor."""
        floor = mp.mpf("1e-9") if bits == 24 else mp.mpf("1e-17")
        error = abs(mp.mpf(got) - exact)
        ulps = error / ulp(exact, bits)
        if error > floor:
            self.worst[bits] = max(self.worst[bits], float(ulps))
        return (ulps <= 2 or error <= floor) and abs(got) < LARGEST[bits]

    def row(self, number, line):
        fields = line.split(",")
        bits, count = (24, 2) if len(fields) == 4 else (53, 4)
        words = [int(field, 16) for field in fields[:count]]
        got = [float.fromhex(field) for field in fields[count:]]
        exact = float_pair(words) if bits == 24 else double_pair(words)
        self.rows[bits] += 1
        self.words[bits].update(words)
        good = len(got) == 2 and all(self.normal(e, g, bits) for e, g in zip(exact, got))
        self.verdict(good, f"line {number}: expected {[mp.nstr(e, 20) for e in exact]}, got {got}")

    def file(self, first):
        version = re.search(r"mapping version (\d+)", first)
        with open(HEADER, encoding="utf-8") as header:
            current = re.search(r"GBS_STREAM_NATIVE_VERSION (\d+)", header.read())
        good = bool(version and current and version[1] == current[1])
        for bits in (24, 53):
            good = good and self.rows[bits] == ROWS and {0, 2**32 - 1} <= self.words[bits]
        self.verdict(good, "mapping version, number of rows, or words 0 and all-ones")


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else DEFAULT
    check = Check()
    with open(path, encoding="ascii") as lines:
        first = next(lines)
        for number, line in enumerate(lines, 2):
            check.row(number, line.strip())
    check.file(first)
    for bits, name in ((24, "float"), (53, "double")):
        print(f"  {name}: {check.rows[bits]} rows, largest error {check.worst[bits]:.3f} ulp, bound 2")
    print(f"{check.passed} passed, {check.failed} failed")
    sys.exit(check.failed > 0)


if __name__ == "__main__":
    main()
