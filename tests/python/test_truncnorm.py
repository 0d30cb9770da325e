"""gibbsite.truncnorm on NumPy arrays: laws against SciPy, shapes, words, types, refusals."""
import warnings

import numpy as np
import pytest
from scipy import special

import gibbsite
from gibbsite import truncnorm


def uniforms(x, mean, sd, lower, upper):
    """F(x), from tails in logarithms so that it holds far out."""
    a, b, z = (lower - mean) / sd, (upper - mean) / sd, (x - mean) / sd
    turn = np.abs(b) < np.abs(a)
    a, b, z = np.where(turn, -b, a), np.where(turn, -a, b), np.where(turn, -z, z)
    log_q = special.log_ndtr
    with np.errstate(invalid="ignore"):  # of the form that is not taken
        share = np.where(
            a < 0,
            (special.ndtr(z) - special.ndtr(a)) / (special.ndtr(b) - special.ndtr(a)),
            np.expm1(log_q(-z) - log_q(-a)) / np.expm1(log_q(-b) - log_q(-a)))
    return np.where(turn, 1 - share, share)


BOXES = [(0, 1, 0, np.inf), (0, 1, -1, 1), (0, 1, 10, 11), (0, 1, -11, -10), (33, 1, -np.inf, 20),
         (1.1, 0.005, -1, 1), (-1, 0.123, 0, np.inf), (0, 1, -31.571, -6.379), (5, 3, -2, 7)]


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("dtype, bound", [("float32", 2e-5), ("float64", 4e-11)])
def test_is_the_inverse(box, dtype, bound):
    u = (np.arange(4096) + 0.5) / 4096
    x = truncnorm(*box, u=u, size=u.shape, dtype=dtype)
    m, s, lower, upper = np.array(box, dtype=dtype).astype(float)
    near = np.spacing(np.abs(x)).astype(float)  # what rounding x alone does
    low, high = (uniforms(x.astype(float) + k * near, m, s, lower, upper) for k in (-1, 1))
    error = np.maximum(low - u, u - high)
    assert x.dtype == dtype and ((x >= lower) & (x <= upper)).all()
    assert error.max() <= bound, f"error {error.max()}, bound {bound}"


def test_broadcasts_and_never_cuts():
    means = np.array([1.0, 2.0, 3.0])
    x = truncnorm(means, 0.1, 0.0, 2.0, size=(5, 3), seed=1)
    assert x.shape == (5, 3)
    assert truncnorm(means, 0.1, 0, 2, seed=1).shape == (3,)
    with pytest.raises(ValueError, match=r"size: \(10,\), but the arguments together have shape|shape mismatch"):
        truncnorm(means, 0.1, 0, 2, size=10)
    with pytest.raises(ValueError, match="shape mismatch|broadcast"):
        truncnorm(means, np.ones(2), 0, 2)
    column = np.arange(4.0)[:, None]
    x = truncnorm(means, 0.01, column, column + 10, seed=2)
    assert x.shape == (4, 3)
    assert np.isscalar(truncnorm(seed=3).item())


def test_same_call_same_numbers():
    a = truncnorm(0, 1, 2, size=1000, seed=5)
    assert (a == truncnorm(0, 1, 2, size=1000, seed=5, isa="scalar", threads=3)).all()
    assert (a[7:] == truncnorm(0, 1, 2, size=993, seed=5, place=7)).all()
    for other in (dict(seed=6), dict(seed=5, sweep=1), dict(seed=5, chain=1)):
        assert (a != truncnorm(0, 1, 2, size=1000, **other)).all()
    assert (truncnorm(0, 1, 2, size=4) != truncnorm(0, 1, 2, size=4)).any()
    assert (truncnorm(size=3, seed=-1) == truncnorm(size=3, seed=2**64 - 1)).all()


def test_words_and_mirror_images():
    rng = np.random.default_rng(1)
    for dtype, bits in (("float32", 32), ("float64", 53)):
        word = rng.integers(0, 2**bits, 500, dtype=np.uint64)
        x = truncnorm(0.25, 2, -1, 3, word=word, dtype=dtype)
        y = truncnorm(-0.25, 2, -3, 1, word=2**bits - 1 - word, dtype=dtype)
        assert (x == -y).all()
        assert (np.diff(x[np.argsort(word)]) >= 0).all()


def test_types():
    single = np.zeros(3, np.float32)
    assert truncnorm(single, 1, 0).dtype == np.float32
    assert truncnorm(single, np.ones(3), 0).dtype == np.float64
    assert truncnorm(single, 1, 0, dtype="float64").dtype == np.float64
    assert truncnorm([0, 1, 2], 1, 0).dtype == np.float64
    for kind in (">f4", "<f4"):
        x = truncnorm(single.astype(kind), np.ones(3, kind), 0, seed=1)
        assert x.dtype == np.float32 and (x == truncnorm(single, np.ones(3, "f4"), 0, seed=1)).all()
    assert truncnorm(single.astype(">f8"), np.float32(1), 0).dtype == np.float64
    for name in ("mean", "sd", "lower", "upper", "u"):
        with pytest.raises(TypeError, match=f"{name}: real numbers are needed, not {np.dtype('g')}"):
            truncnorm(**{name: np.longdouble(0.5)})
    with pytest.raises(ValueError, match="dtype"):
        truncnorm(single, dtype="float16")
    with pytest.raises(TypeError, match="mean: real numbers"):
        truncnorm(np.array(["a"]))


def test_bounds_are_rounded_inward():
    lower, upper = 0.1, 0.3  # float32(0.1) lies above, float32(0.3) above
    x = truncnorm(0, 1e-3, lower, upper, size=10000, seed=1, dtype="float32").astype(float)
    assert (x >= lower).all()
    x = truncnorm(1, 1e-2, lower, upper, size=10000, seed=1, dtype="float32").astype(float)
    assert (x <= upper).all()
    with pytest.warns(UserWarning, match="1 of 1 box holds no float32 number"):
        x = truncnorm(0, 1, 0.1, 0.1 + 1e-12, dtype="float32", seed=1)
    assert abs(float(x) - 0.1) < 1e-8
    for bounds in ((1e300, np.inf), (1e300, 1e301), (-1e301, -1e300)):
        with pytest.warns(UserWarning, match="1 of 1 box holds no float32 number"):
            x = truncnorm(0, 1, *bounds, dtype="float32", seed=1)
        assert abs(x) == np.finfo(np.float32).max and (x > 0) == (bounds[0] > 0)


@pytest.mark.parametrize("lower, upper, bound", [
    (2**53 + 1, np.inf, 2.0**53 + 2), (-np.inf, -2**53 - 1, -2.0**53 - 2), (2**60 + 1, 2**64 - 1, 2.0**60 + 256),
    (2**70 + 1, np.inf, 2.0**70 + 2**18), (np.uint64(2**63 + 1), np.inf, 2.0**63 + 2048),
    (np.int64(-2**62 + 1), -2**61, -2.0**61), (2**53, np.inf, 2.0**53), (2**53 + 2, np.inf, 2.0**53 + 2),
])
@pytest.mark.filterwarnings("ignore:.*equal a bound")
def test_whole_numbers_are_rounded_inward(lower, upper, bound):
    """Beyond 2^53, where double does not hold all of them: far out the draw is the bound."""
    assert truncnorm(0, 1, lower, upper, seed=1) == bound
    single = truncnorm(0, 1, lower, upper, seed=1, dtype="float32")
    assert lower <= int(single) <= upper
    if lower != 2**70 + 1:  # which no array holds
        shape = truncnorm(0, 1, np.asarray([lower]), [[upper], [upper]], seed=1)
        assert shape.shape == (2, 1) and (shape == bound).all()


def test_no_double_between_whole_numbers():
    for lower, upper, nearest in ((2**53 + 1, 2**53 + 1, 2.0**53), (2**60 + 100, 2**60 + 250, 2.0**60 + 256)):
        for kind in ("float64", "float32"):
            with pytest.warns(UserWarning, match=f"1 of 1 box holds no {kind} number"):
                assert truncnorm(0, 1, lower, upper, seed=1, dtype=kind) == np.dtype(kind).type(nearest)
    with pytest.raises(ValueError, match=f"lower: {2**60 + 250} is above upper: {2**60 + 100}"):
        truncnorm(0, 1, 2**60 + 250, 2**60 + 100)


def test_unresolved_bounds_warn():
    with pytest.warns(UserWarning, match="1000 of 1000 draws equal a bound: float32"):
        truncnorm(0, 1, 1e9, size=1000, dtype="float32", seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        truncnorm(0, 1, 100, size=1000, dtype="float32", seed=1)
        truncnorm(0, 1, 2, 2, size=1000, seed=1)


@pytest.mark.parametrize("arguments, message", [
    (dict(lower=2, upper=1), "lower: 2 is above upper: 1"),
    (dict(lower=[0, 2], upper=1), r"lower\[1\]: 2 is above upper: 1"),
    (dict(lower=[[0.0], [3.0]], upper=[1.0, 2.5], mean=np.zeros((4, 1, 1))),
     r"lower\[1, 0\]: 3.0 is above upper\[0\]: 1.0"),
    (dict(lower=1.00000001, upper=1, dtype="f32"), "lower: 1.00000001 is above upper: 1"),
    (dict(lower=np.nan), "lower: NaN"),
    (dict(lower=np.inf), "lower: infinity"),
    (dict(sd=0), "sd: 0 is not in"),
    (dict(mean=np.inf), "mean: inf"),
    (dict(u=1.0), r"u: 1.0; uniforms must be in \[0, 1\)"),
    (dict(u=[[0.5, 0], [np.nan, 2]]), r"u\[1, 0\]: nan; uniforms must be in \[0, 1\)"),
    (dict(word=[0, 2**32], dtype="f32"), r"word\[1\]: 4294967296; whole numbers in 0 .. 2\^32 - 1"),
    (dict(word=np.int8(-1)), r"word: -1; whole numbers in 0 .. 2\^53 - 1"),
    (dict(word=[0.5]), r"word: \[0.5\]; whole numbers"), (dict(word=2**70), "word: 1180591620717411303424; whole"),
    (dict(u=0.5, word=1), "only one"),
    (dict(word=2**60), "word: 1152921504606846976; whole numbers"),
    (dict(u=0.5, seed=1), "seed: the words are given"),
    (dict(sweep=-1, seed=1), "sweep: -1"),
    (dict(sweep=1.5, seed=1), "sweep: 1.5; a whole number"),
    (dict(place=2**70, seed=1), "place: 1180591620717411303424; it must be at most"),
    (dict(size=2.5), "size: 2.5; a whole number"), (dict(size=(2, -1)), "size: -1; a whole number"),
    (dict(mean=[1, 2], sd=[1, 2, 3]), r"shapes do not broadcast: mean \(2,\), sd \(3,\)"),
    (dict(mean=[1, 2], size=3), r"size: \(3,\), but the arguments together have shape \(2,\)"),
    (dict(place=2**33, seed=1), "beyond what the stream numbers"),
    (dict(seed=2**64), "seed"),
    (dict(lower=1e301, upper=1e300, dtype="f32"), r"lower: 1e\+301 is above upper: 1e\+300"),
    (dict(lower=-1e300, upper=-1e301, dtype="f32"), r"lower: -1e\+300 is above upper: -1e\+301"),
    (dict(dtype="f16"), "dtype: 'f16'; it must be"), (dict(dtype="half a float"), "dtype: 'half"),
])
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        truncnorm(**arguments)


def test_case_c09_no_outliers_on_the_bounds():
    for s in (0.02, 0.001, 1e-10):
        x = truncnorm(0, s, -2, 2, size=200000, seed=9, dtype="float32").astype(float) / s
        assert np.abs(x).max() < 7
        assert abs((x**4).mean() - 3) < 5 * np.sqrt(96 / x.size)


def test_exported():
    assert "truncnorm" in gibbsite.__all__
