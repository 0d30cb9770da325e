#!/usr/bin/env python3
"""Fits the polynomials of src/rng/normal.h and prints them as hexadecimal constants.

Remez exchange in 60-digit arithmetic (mpmath), on the error relative to the function that the
polynomial completes.  Run once; the printed bits are frozen with the native stream's version.
"""
import mpmath as mp

mp.mp.dps = 60


def remez(f, weight, a, b, terms, grid=3000, rounds=40):
    """Coefficients c_k minimising max |weight (f - sum c_k x^k)| on [a, b], and that maximum."""
    nodes = [(a + b) / 2 - (b - a) / 2 * mp.cos(mp.pi * (2 * k + 1) / (2 * (terms + 1)))
             for k in range(terms + 1)]
    points = [a + (b - a) * mp.mpf(k) / grid for k in range(grid + 1)]
    coefficients, worst = None, None
    for _ in range(rounds):
        system, right = mp.matrix(terms + 1, terms + 1), mp.matrix(terms + 1, 1)
        for i, x in enumerate(nodes):
            for k in range(terms):
                system[i, k] = x ** k
            system[i, terms] = (-1) ** i / weight(x)
            right[i] = f(x)
        solution = mp.lu_solve(system, right)
        coefficients = [solution[k] for k in range(terms)]
        errors = [weight(x) * (f(x) - mp.polyval(coefficients[::-1], x)) for x in points]
        worst = max(abs(e) for e in errors)
        runs, start = [], 0
        for k in range(1, grid + 1):
            if mp.sign(errors[k]) != mp.sign(errors[k - 1]):
                runs.append((start, k))
                start = k
        runs.append((start, grid + 1))
        peaks = [max(range(lo, hi), key=lambda k: abs(errors[k])) for lo, hi in runs]
        if len(peaks) < terms + 1:
            break
        while len(peaks) > terms + 1:
            peaks = peaks[1:] if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else peaks[:-1]
        moved = [points[k] for k in peaks]
        settled = max(abs(x - y) for x, y in zip(moved, nodes)) < (b - a) / grid
        nodes = moved
        if settled:
            break
    return coefficients, worst


def rounded(x, bits):
    """x to the given number of significand bits, as a hexadecimal literal."""
    m, e = mp.frexp(x)
    return float(mp.ldexp(mp.nint(mp.ldexp(m, bits)), e - bits)).hex()


def show(name, coefficients, worst, bits, suffix):
    print(f"/* {name}: relative error {mp.nstr(worst, 3)} = 2^{mp.nstr(mp.log(worst, 2), 4)} */")
    for k, c in enumerate(coefficients):
        print(f"    [{k}] {rounded(c, bits)}{suffix}  {mp.nstr(c, 12)}")


def main():
    tiny = mp.mpf("1e-20")

    def log_tail(f):  # (ln(1+f) - f) / f^2, times -2
        return 1 - 2 * f / 3 if abs(f) < tiny else -2 * (mp.log(1 + f) - f) / f ** 2

    def log_weight(f):
        return abs(f) + mp.mpf("1e-3") if abs(f) < tiny else abs(f ** 2 / (2 * mp.log(1 + f)))

    c, e = remez(log_tail, log_weight, mp.mpf(2) / 3 - 1, mp.mpf(4) / 3 - 1, 8)
    show("float, -2 ln(1+f) = -2f + f^2 P(f), f in [-1/3, 1/3]", c, e, 24, "f")

    top = (mp.pi / 4) ** 2

    def sin_tail(y):
        return -mp.mpf(1) / 6 if y < tiny else (mp.sin(mp.sqrt(y)) / mp.sqrt(y) - 1) / y

    def sin_weight(y):
        return y + mp.mpf("1e-6")

    def cos_tail(y):  # cos x = 1 - y/2 + y^2 P(y)
        return mp.mpf(1) / 24 - y / 720 if y < mp.mpf("1e-10") else \
            (mp.cos(mp.sqrt(y)) - 1 + y / 2) / y ** 2

    def cos_weight(y):
        return y ** 2 / mp.cos(mp.sqrt(y)) + mp.mpf("1e-6")

    for bits, suffix, terms_sin, terms_cos in ((24, "f", 3, 3), (53, "", 6, 6)):
        c, e = remez(sin_tail, sin_weight, mp.mpf(0), top, terms_sin)
        show("sin x = x + x^3 P(x^2)", c, e, bits, suffix)
        c, e = remez(cos_tail, cos_weight, mp.mpf(0), top, terms_cos)
        show("cos x = 1 - x^2/2 + x^4 P(x^2)", c, e, bits, suffix)
        half_pi = mp.pi / 2
        unit = half_pi * mp.mpf(2) ** (-32 if bits == 24 else -64)
        high = mp.mpf(float.fromhex(rounded(unit, bits)))
        print(f"    quarter turn unit {rounded(unit, bits)}{suffix}, "
              f"its relative rest {rounded((unit - high) / high, bits)}{suffix}")
    print("    -2 ln 2 float", rounded(-2 * mp.log(2), 24) + "f")
    high = mp.mpf(float.fromhex(rounded(-2 * mp.log(2), 42)))
    print("    -2 ln 2 double: 42 bits", rounded(high, 53), "rest",
          rounded(-2 * mp.log(2) - high, 53))

    # ln((1+s)/(1-s)) = 2 s + s^3 P(s^2) for |s| <= 3 - 2 sqrt 2
    edge = (3 - 2 * mp.sqrt(2)) ** 2

    def atanh_tail(z):
        s = mp.sqrt(z)
        return mp.mpf(2) / 3 if z < tiny else (mp.log((1 + s) / (1 - s)) - 2 * s) / (s * z)

    c, e = remez(atanh_tail, lambda z: z + mp.mpf("1e-9"), mp.mpf(0), edge, 7)
    show("double, ln((1+s)/(1-s)) = 2s + s^3 P(s^2)", c, e / 2, 53, "")


if __name__ == "__main__":
    main()
