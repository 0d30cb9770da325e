#!/usr/bin/env python3
"""Fits the approximations of src/rng/truncnorm.h and prints them as hexadecimal constants.

Mills' ratio R(z) = Q(z) / phi(z) from just below 0 to infinity as a quotient of polynomials, of degrees n and
n + 1, (exp(r) - 1 - r) / r^2 and, for first steps, ln(1 + f) / f, by Remez exchange on the relative
error in 80-digit arithmetic (mpmath).  Run once; the printed bits are frozen with the mapping's version.
"""
import mpmath as mp

from fit_normal_coefficients import remez, rounded, show

mp.mp.dps = 80
SCALE = mp.mpf(2)  # z = least + SCALE (1 + y) / (1 - y) takes [-1, 1) to [least, infinity)
GRID = 900


def mills(z):
    if z < 60:
        return mp.sqrt(mp.pi / 2) * mp.exp(z * z / 2) * mp.erfc(z / mp.sqrt(2))
    term = total = mp.mpf(1)
    for k in range(1, 60):
        following = -term * (2 * k - 1) / z**2
        if abs(following) > abs(term):
            break
        term = following
        total += term
    return total / z


def polynomial(coefficients, z):
    return mp.polyval(coefficients[::-1], z)


def quotient_at(nodes, n, zs, rs):
    """N and D with N/D = R (1 + (-1)^i E) at node i, D(0) = 1; E is found along with them."""
    count = 2 * n + 3
    previous = None
    for _ in range(4):
        system, right = mp.matrix(count, count), mp.matrix(count, 1)
        for i, g in enumerate(nodes):
            z, r = zs[g], rs[g]
            unit = 1 / ((z + SCALE) ** (n + 1) * r)
            for k in range(n + 1):
                system[i, k] = z**k * unit
            for k in range(1, n + 2):
                system[i, n + k] = -r * z**k * unit
            below = (1 + z / SCALE) ** (n + 1) if previous is None else polynomial(previous, z)
            system[i, count - 1] = -r * (-1) ** i * below * unit
            right[i] = r * unit
        solution = mp.lu_solve(system, right)
        above = [solution[k] for k in range(n + 1)]
        previous = [mp.mpf(1)] + [solution[n + k] for k in range(1, n + 2)]
    return above, previous


def fit_mills(n, least, rounds=30):
    ys = [-mp.cos(mp.pi * mp.mpf(k) / GRID) for k in range(GRID)]
    zs = [least + SCALE * (1 + y) / (1 - y) for y in ys]
    rs = [mills(z) for z in zs]
    count = 2 * n + 3
    nodes = [round(GRID * k / (count - mp.mpf("0.97"))) for k in range(count)]
    for _ in range(rounds):
        above, below = quotient_at(nodes, n, zs, rs)
        errors = [polynomial(above, z) / polynomial(below, z) / r - 1 for z, r in zip(zs, rs)]
        starts = [0] + [g for g in range(1, GRID) if mp.sign(errors[g]) != mp.sign(errors[g - 1])]
        peaks = [max(range(s, e), key=lambda g: abs(errors[g]))
                 for s, e in zip(starts, starts[1:] + [GRID])]
        while len(peaks) > count:
            peaks = peaks[1:] if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else peaks[:-1]
        if len(peaks) < count or peaks == nodes:
            break
        nodes = peaks
    return above, below, max(abs(e) for e in errors)


def main():
    for bits, suffix, n, least in ((24, "f", 4, mp.mpf(-1) / 16), (53, "", 8, mp.mpf(-1) / 256),
                                   (24, "f", 2, mp.mpf(-1) / 256)):
        above, below, worst = fit_mills(n, least)
        show(f"numerator of R, {bits} bits", above, worst, bits, suffix)
        show(f"denominator of R, {bits} bits", below, worst, bits, suffix)

    def exp_tail(r):  # (exp(r) - 1 - r) / r^2
        if abs(r) < mp.mpf("1e-12"):
            return mp.mpf(1) / 2 + r / 6
        return (mp.exp(r) - 1 - r) / r**2

    half_ln2 = mp.log(2) / 2
    for bits, suffix, terms in ((24, "f", 5), (53, "", 8)):
        c, e = remez(exp_tail, lambda r: r**2 + mp.mpf("1e-9"), -half_ln2 - mp.mpf("1e-4"),
                     half_ln2 + mp.mpf("1e-4"), terms)
        show("exp(r) = 1 + r + r^2 P(r)", c, e, bits, suffix)

    def rough_log(f):
        return mp.log(1 + f) / f if abs(f) > mp.mpf("1e-12") else 1 - f / 2

    c, e = remez(rough_log, lambda f: mp.mpf(1), mp.sqrt(mp.mpf(1) / 2) - 1, mp.sqrt(2) - 1, 5)
    show("ln(1 + f) = f P(f)", c, e, 24, "f")
    for bits, suffix, high_bits in ((24, "f", 15), (53, "", 42)):
        high = mp.mpf(float.fromhex(rounded(mp.log(2), high_bits)))
        print(f"    ln 2: {rounded(high, bits)}{suffix} + {rounded(mp.log(2) - high, bits)}{suffix}, "
              f"1 / ln 2: {rounded(1 / mp.log(2), bits)}{suffix}, "
              f"1 / sqrt(2 pi): {rounded(1 / mp.sqrt(2 * mp.pi), bits)}{suffix}")


if __name__ == "__main__":
    main()
