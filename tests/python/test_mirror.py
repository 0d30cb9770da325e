"""Sweeps under row constraints and whitened sweeps once more, from the pages alone (constraints.md, "The
steps, exactly"; reproducibility.md): exact fractions, rounded where the pages say so, one number at a
time, and Philox from its paper.  The library must give the same bits.  A draw between bounds comes from
gibbsite.truncnorm with its word given, and the normal of a site that nothing bounds from a sweep of the
identity; both have tests of their own."""
import math
from fractions import Fraction

import numpy as np
import pytest

import gibbsite

SEED, CHAINS, SWEEPS = 0x0123456789ABCDEF, 3, 4
NONE = None  # where there is no bound


def nearest(value, bits):
    """The nearest number of `bits` bits, ties to even; far from where exponents end."""
    if value == 0:
        return Fraction(0)
    exponent = math.frexp(value.numerator / value.denominator)[1] - bits
    unit = Fraction(2) ** exponent
    if abs(value) / unit >= 2**bits:  # frexp's quotient was rounded up to a power of two
        unit *= 2
    return round(value / unit) * unit


class Type:
    def __init__(self, dtype):
        self.dtype = np.dtype(dtype)
        self.bits = 24 if dtype == "float32" else 53
        self.epsilon = Fraction(1, 2 ** (self.bits - 1))

    def __call__(self, value):
        return nearest(Fraction(value), self.bits)

    def fma(self, a, b, c):
        return self(a * b + c)


DOUBLE = Type("float64")


def philox(seed, sweep, chain, call, purpose):
    word = [call, sweep & 0xFFFFFFFF, chain & 0xFFFFFFFF, sweep >> 32 << 16 | purpose << 8 | chain >> 32]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * word[0], 0xCD9E8D57 * word[2]
        word = [b >> 32 ^ word[1] ^ key[0], b & 0xFFFFFFFF, a >> 32 ^ word[3] ^ key[1], a & 0xFFFFFFFF]
        key = [key[0] + 0x9E3779B9 & 0xFFFFFFFF, key[1] + 0xBB67AE85 & 0xFFFFFFFF]
    return word


def truncated_word(kind, sweep, chain, place):
    if kind.bits == 24:
        return philox(SEED, sweep, chain, place // 4, 2)[place % 4]
    words = philox(SEED, sweep, chain, place // 2, 2)[place % 2 * 2:]
    return words[0] ^ words[1] << 21


def between(kind, mean, sd, lower, upper, word):
    """Bounds are fractions, or None."""
    x = gibbsite.truncnorm(
        *(np.array(float(v), dtype=kind.dtype) for v in (mean, sd)),
        np.array(-np.inf if lower is NONE else float(lower), dtype=kind.dtype),
        np.array(np.inf if upper is NONE else float(upper), dtype=kind.dtype),
        word=np.array(word, dtype=np.uint32 if kind.bits == 24 else np.uint64), dtype=kind.dtype)
    return Fraction(float(x))


def largest(*values):
    return max((v for v in values if v is not NONE), default=NONE)


def smallest(*values):
    return min((v for v in values if v is not NONE), default=NONE)


class Model:
    """Fractions, all but Q of float's 24 bits.  Zero keeps every row and box."""

    def __init__(self, dim, rows, boxes):
        random = np.random.default_rng(17 * dim + rows)
        g = np.round(random.uniform(-1, 1, (dim, dim)) * 64) / 64
        self.dim = dim
        self.q = [[Fraction(v) for v in row] for row in g @ g.T / 4 + np.eye(dim) * 0.75]
        self.mu = [Fraction(int(v), 8) for v in random.integers(-6, 6, dim)]
        self.lower = [Fraction(-1, 2) if boxes and i % 4 != 3 and i % 4 != 2 else NONE for i in range(dim)]
        self.upper = [Fraction(3, 4) if boxes and i % 4 != 3 and i % 4 != 1 else NONE for i in range(dim)]
        self.a = [[Fraction(int(v), 16) for v in row] for row in random.integers(-16, 16, (rows, dim))]
        for r in range(0, rows, 2):  # every other row has two sites
            self.a[r] = [v if j in (r % dim, (r + 2) % dim) else Fraction(0) for j, v in enumerate(self.a[r])]
            self.a[r][r % dim] = Fraction(1)
        self.row_lower = [NONE if r % 3 == 1 else Fraction(-1, 2) for r in range(rows)]
        self.row_upper = [NONE if r % 3 == 2 else Fraction(r + 1, 2) for r in range(rows)]

    def options(self):
        def numbers(values, none):
            return np.array([none if v is NONE else float(v) for v in values])

        options = dict(mean=numbers(self.mu, 0), lower=numbers(self.lower, -np.inf), upper=numbers(self.upper, np.inf))
        if self.a:
            options.update(rows=np.array([[float(v) for v in row] for row in self.a]),
                           row_lower=numbers(self.row_lower, -np.inf), row_upper=numbers(self.row_upper, np.inf))
        return options


# ---- the pages ----


def row_sums(kind, model, x):
    """For each row, over its entries by ascending site."""
    sums = []
    for row in model.a:
        s = Fraction(0)
        for j in range(model.dim):
            if row[j] != 0:
                s = kind.fma(row[j], x[j], s)
        sums.append(s)
    return sums


def steps_left(kind, pairs):
    """low and up of a step that changes v by c of it, within [lower, upper]; pairs (lower, upper, v, c)."""
    low, up, bounded = NONE, NONE, False
    for lower, upper, v, c in pairs:
        r = kind(DOUBLE(1 / c))
        ways = [NONE if b is NONE else kind(kind(b - v) * r) for b in (lower, upper)]
        if c < 0:
            ways.reverse()
        low, up = largest(low, ways[0]), smallest(up, ways[1])
        bounded = bounded or lower is not NONE or upper is not NONE
    return (low if low is NONE else min(low, Fraction(0)), up if up is NONE else max(up, Fraction(0)), bounded)


def factor(q):
    """L row by row in double: r = fma(-L_ik, L_jk, r)."""
    dim = len(q)
    factor = [[Fraction(0)] * dim for _ in range(dim)]
    for i in range(dim):
        for j in range(i + 1):
            r = q[i][j]
            for k in range(j):
                r = DOUBLE.fma(-factor[i][k], factor[j][k], r)
            factor[i][j] = DOUBLE(r / factor[j][j]) if i != j else Fraction(math.sqrt(float(r)))
    return factor


def inverse_transposed(l):
    """W_ji at [i][j], by forward solves of unit vectors."""
    dim = len(l)
    w = [[Fraction(0)] * dim for _ in range(dim)]
    for j in range(dim):
        for i in range(dim):
            r = Fraction(int(i == j))
            for k in range(i):
                r = DOUBLE.fma(-l[i][k], w[k][j], r)
            w[i][j] = DOUBLE(r / l[i][i])
    return w


def whitened_sweep(kind, model, x, sweep, chain, normals, _):
    dim, l = model.dim, factor(model.q)
    exact = inverse_transposed(l)
    w = [[kind(v) for v in row] for row in exact]
    moves = []  # (A W)_ri at [i][r]
    for i in range(dim):
        moves.append([])
        for row in model.a:
            change, size, entries = Fraction(0), Fraction(0), 0
            for j in range(dim):
                if row[j] != 0:
                    change = DOUBLE.fma(row[j], exact[i][j], change)
                    size = DOUBLE.fma(abs(row[j]), abs(exact[i][j]), size)
                    entries += 1
            parallel = abs(change) <= (entries + 1) * kind.epsilon * size
            moves[-1].append(Fraction(0) if parallel else kind(change))
    sums = row_sums(kind, model, x)
    for i in range(dim):
        y = Fraction(0)
        for j in range(i, dim):
            y = kind.fma(kind(l[j][i]), kind(x[j] - model.mu[j]), y)
        pairs = [(model.lower[j], model.upper[j], x[j], w[i][j]) for j in range(i + 1) if w[i][j] != 0]
        pairs += [(model.row_lower[r], model.row_upper[r], s, moves[i][r]) for r, s in enumerate(sums)
                  if moves[i][r] != 0]
        low, up, bounded = steps_left(kind, pairs)
        d = between(kind, -y, Fraction(1), low, up, truncated_word(kind, sweep, chain, i)) if bounded \
            else kind(normals[i] - y)
        for j in range(i + 1):
            x[j] = smallest(largest(kind.fma(w[i][j], d, x[j]), model.lower[j]), model.upper[j])
        sums = [kind.fma(moves[i][r], d, s) if moves[i][r] != 0 else s for r, s in enumerate(sums)]


def site_sweep(kind, model, x, sweep, chain, normals, backward):
    dim, q = model.dim, model.q
    order = list(range(dim))[::-1 if backward else 1]
    sums = row_sums(kind, model, x)
    for place, i in enumerate(order):
        a = [kind(DOUBLE(-q[i][j] / q[i][i])) if j != i else Fraction(0) for j in range(dim)]
        s = kind(DOUBLE(1 / Fraction(math.sqrt(float(q[i][i])))))
        c = model.mu[i]
        for j in range(dim):
            c = DOUBLE.fma(-a[j], model.mu[j], c)
        pairs = [(model.row_lower[r], model.row_upper[r], t, model.a[r][i]) for r, t in enumerate(sums)
                 if model.a[r][i] != 0]
        low, up, bounded = steps_left(kind, pairs)
        bounded = bounded or model.lower[i] is not NONE or model.upper[i] is not NONE
        m = kind(c) if bounded else kind.fma(s, normals[i], kind(c))
        for j in [*order[place + 1:], *order[:place]]:
            m = kind.fma(a[j], x[j], m)
        new = between(kind, m, s, largest(model.lower[i], NONE if low is NONE else kind(x[i] + low)),
                      smallest(model.upper[i], NONE if up is NONE else kind(x[i] + up)),
                      truncated_word(kind, sweep, chain, i)) if bounded else m
        sums = [kind.fma(model.a[r][i], kind(new - x[i]), t) if model.a[r][i] != 0 else t
                for r, t in enumerate(sums)]
        x[i] = new


# ---- against the library ----


def normals_of(kind, dim, first_sweep, sweeps):
    """[chains, sweeps, D]: what a sweep of the identity from zero, fma(1, z, 0), leaves."""
    return np.array(gibbsite.sample(np.eye(dim), init="zero", warmup=0, draws=sweeps, chains=CHAINS, seed=SEED,
                                    first_sweep=first_sweep, first_chain=2**33, dtype=kind.dtype.name))


def compare(model, dtype, method, order, sweep):
    """`sweep` makes one pass: its stream number, chain and normals, and whether it goes backward."""
    kind, first, passes = Type(dtype), 2**34 + 5, 2 if order == "symmetric" else 1
    got = np.array(gibbsite.sample(
        np.array([[float(v) for v in row] for row in model.q]), method=method, init="zero", warmup=0, draws=SWEEPS,
        chains=CHAINS, seed=SEED, dtype=dtype, first_sweep=first, first_chain=2**33,
        **({"order": order} if order else {}), **model.options()))
    normals = normals_of(kind, model.dim, passes * first, passes * SWEEPS)
    for chain in range(CHAINS):
        x = [Fraction(0)] * model.dim
        for n in range(passes * SWEEPS):
            backward = order == "backward" or passes == 2 and n % 2 == 1
            sweep(kind, model, x, passes * first + n, 2**33 + chain,
                  [Fraction(float(z)) for z in normals[chain, n]], backward)
            expected = np.array([float(v) for v in x])
            if n % passes == passes - 1:
                assert np.array_equal(got[chain, n // passes].astype(float), expected), \
                    f"chain {chain}, pass {n}: expected {expected}, got {got[chain, n // passes]}"


SHAPES = [(1, 0, True), (5, 3, True), (6, 4, False), (7, 0, True), (4, 6, True)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("dim, rows, boxes", SHAPES)
def test_whitened(dim, rows, boxes, dtype):
    compare(Model(dim, rows, boxes), dtype, "whitened", None, whitened_sweep)


@pytest.mark.parametrize("order", ["forward", "backward", "symmetric"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("dim, rows, boxes", SHAPES)
def test_site_by_site(dim, rows, boxes, dtype, order):
    compare(Model(dim, rows, boxes), dtype, "gibbs", order, site_sweep)
