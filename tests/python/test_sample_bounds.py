"""gibbsite.sample between bounds, and its pilot."""
import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

import gibbsite

Q = np.array([[2.0, -1.0], [-1.0, 2.0]])


def test_bounds():
    """The orthant of two with correlation rho: mean (1 + rho) / (2 sqrt(2 pi) P), P = 1/4 + asin(rho) / 2 pi."""
    rho = 0.5
    q = np.linalg.inv([[1, rho], [rho, 1]])
    expected = (1 + rho) / (2 * np.sqrt(2 * np.pi) * (0.25 + np.arcsin(rho) / (2 * np.pi)))
    for options in ({}, {"overrelax": 0.8}, {"dtype": "float32"}, {"method": "whitened"}):
        x = gibbsite.sample(q, lower=0, draws=20000, seed=1, **options)
        s = gibbsite.summary(x)
        assert x.min() >= 0
        assert np.all(abs(s.mean - expected) <= 5 * s.mcse_mean), (options, s.mean, expected)
    mixed = gibbsite.sample(Q, lower=[-np.inf, 2.5], upper=[1, 2.5], draws=50, seed=1)
    assert mixed[..., 0].max() <= 1 and np.all(mixed[..., 1] == 2.5)
    none = gibbsite.sample(Q, lower=-np.inf, upper=np.inf, draws=50, seed=1)
    assert np.array_equal(none, gibbsite.sample(Q, draws=50, seed=1))
    facts = gibbsite.info(Q, lower=[0, -np.inf])
    assert facts["bounded"] == 1 and facts["advice"] is None


@pytest.mark.parametrize("options, words", [
    (dict(omega="x"), "omega: 'x'"), (dict(overrelax=None), "overrelax: None"), (dict(lower="a"), "lower: real"),
    (dict(init=["a", "b"]), "init: real"), (dict(row_lower=[0j], rows=[[1, 1]]), "row_lower: real"),
    *((dict([(name, np.zeros(2, np.longdouble))]), f"{name}: real numbers are needed, not {np.dtype('g')}")
      for name in ("mean", "lower", "upper", "init")),
])
def test_no_numbers(options, words):
    with pytest.raises(TypeError) as caught:
        gibbsite.sample(Q, seed=1, **options)
    assert words in str(caught.value)


@pytest.mark.parametrize("options, words", [
    (dict(lower=[0, 2], upper=[1, 1]), "lower: site 1: 2 is above upper, 1"),
    (dict(lower=np.nan), "lower: site 0 is NaN"), (dict(lower=np.inf), "lower: site 0 is inf"),
    (dict(lower=[0, 0, 0]), "lower: shape"), (dict(upper=[[1, 1]]), "upper: shape"),
    (dict(lower=0, omega=1.2), "omega"), (dict(lower=0, method="exact"), "exact draws know no bounds"),
    (dict(lower=0, stream="torch-cpu"), "normals"), (dict(overrelax=1.0), "overrelax: 1 is not in"),
    (dict(upper=1, init=[0, 2], method="gibbs"), "init: chain 0, site 1 is 2, above its upper bound 1"),
    (dict(lower=0, method="whitened", overrelax=0.5), "whitened sweeps take no"),
    (dict(lower=0, stream="given", noise=np.zeros((2000, 2, 4))), "words: None"),
    (dict(overrelax=0.5, stream="given", noise=np.zeros((2000, 2, 4))), "the given stream has no numbers"),
    *((dict(lower=lower, stream="given", words=np.zeros((2000, 2, 4), np.uint64)),
       f"noise: None, but stream='given' needs it for {sites} without bounds")
      for lower, sites in (([0, -np.inf], "1 site"), (None, "2 sites"))),
    (dict(words=np.zeros((1, 2, 4), np.uint64)), "words: it belongs to stream='given', not to 'native'"),
    (dict(lower=0, stream="given"), "stream: 'given', but neither noise (of sites without bounds) nor words (of"),
])
def test_bounds_refused(options, words):
    with pytest.raises(ValueError) as caught:
        gibbsite.sample(Q, seed=1, **options)
    assert words in str(caught.value)


def test_bounds_that_the_type_cannot_hold():
    with pytest.warns(UserWarning, match="have no number of float32 between their bounds"):
        x = gibbsite.sample(Q, lower=1 + 2**-26, upper=1 + 2**-25, dtype="float32", draws=5, seed=1)
    assert np.all(x == 1)
    with pytest.warns(UserWarning, match="float32 cannot tell draws from the bound"):
        gibbsite.sample(Q, lower=1e9, dtype="float32", draws=5, seed=1)


def test_rows_are_real():
    """Sparse ones as dense ones."""
    sparse = pytest.importorskip("scipy.sparse")
    for kind in (complex, bool, np.longdouble):
        for rows in (np.ones((1, 2), kind), sparse.csr_array(np.ones((1, 2), kind)),
                     sparse.coo_matrix(np.ones((1, 2), kind))):
            for call in (gibbsite.sample, gibbsite.info):
                with pytest.raises(TypeError, match=f"^rows: real numbers are needed, not {np.dtype(kind)}"):
                    call(Q, rows=rows, row_lower=0)
    for rows in (np.ones((1, 2), ">f4"), *(sparse.csr_array(np.ones((1, 2), kind)) for kind in (np.int8, np.float32))):
        x = gibbsite.sample(Q, rows=rows, row_lower=0, init=[1, 1], draws=5, seed=1)
        assert (x.sum(axis=-1) >= 0).all()


def test_whole_numbers_are_rounded_inward():
    """Those that double does not hold: the first number inside, far out every draw."""
    beyond, inside = 2**53 + 1, {"lower": 2.0**53 + 2, "upper": 2.0**53}
    for name, value in inside.items():
        for kind in (int, np.int64, np.uint64):
            with pytest.warns(UserWarning, match="cannot tell draws from the bound"):
                x = gibbsite.sample(Q, mean=[3 * 2**53 if name == "upper" else 0] * 2, draws=5, seed=1,
                                    method="gibbs", **{name: kind(beyond)})
            assert np.all(x == value), (name, kind, x)
    with pytest.warns(UserWarning, match="lower, upper: site 1 has no number of float64 between its bounds and is"):
        x = gibbsite.sample(Q, lower=[0, beyond], upper=[1, beyond], draws=5, seed=1)
    assert np.all(x[..., 1] == 2.0**53)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = gibbsite.sample(Q, lower=-2**53 - 1, upper=[2**53 + 2, 2**64 - 1], draws=5, seed=1)
    assert np.array_equal(x, gibbsite.sample(Q, lower=-2.0**53, upper=[2.0**53 + 2, 2.0**64 - 2048], draws=5, seed=1))
    with pytest.raises(ValueError, match="lower: site 0: .* is above upper"):
        gibbsite.sample(Q, lower=2**60 + 2, upper=2**60 + 1)


def test_given_words():
    """Words 0, the middle and all ones of a half-normal: its quantiles at (w + 1/2) / 2^53."""
    words = np.zeros((3, 1, 1), np.uint64)
    words[:, 0, 0] = 0, 2**52, 2**53 - 1
    x = gibbsite.sample([[1.0]], lower=0, stream="given", words=words, chains=1, warmup=0, draws=3, seed=1)
    middle = 0.67448975019608174  # Phi^-1(3/4)
    assert 0 < x[0, 0, 0] < 2e-16 and abs(x[0, 1, 0] - middle) < 1e-12 and 8.2 < x[0, 2, 0] < 8.5
    with pytest.raises(TypeError, match="words: uint64 is needed"):
        gibbsite.sample([[1.0]], lower=0, stream="given", words=words.astype(np.uint32), chains=1, warmup=0,
                        draws=3, seed=1)


def test_bounds_in_checkpoints(tmp_path):
    path = tmp_path / "ck"
    options = {"lower": 0, "overrelax": 0.6, "warmup": 10, "seed": 7}
    whole = gibbsite.sample(Q, draws=30, **options)
    gibbsite.sample(Q, draws=12, checkpoint=path, **options)
    rest = gibbsite.sample(Q, draws=18, lower=0, resume=path)
    assert np.array_equal(rest, whole[:, 12:])
    with pytest.raises(ValueError, match="overrelax 0.6, 0.5 was given"):
        gibbsite.sample(Q, lower=0, overrelax=0.5, resume=path)
    with pytest.raises(ValueError, match="its set of bounds is another one"):
        gibbsite.sample(Q, lower=0.1, resume=path)


# ---- the pilot ----

def test_auto_chooses_and_says_so():
    """A slow walk above 0: whitened; independent sites: plain sweeps; the explicit call is the same."""
    walk = 2.005 * np.eye(40) - np.eye(40, k=1) - np.eye(40, k=-1)
    x = gibbsite.sample(walk, lower=0, seed=5, draws=20)
    assert x.attributes["method"] == "whitened" and (x >= 0).all()
    tried = x.pilot["tried"]
    assert tried[x.pilot["chosen"]]["method"] == "whitened"
    assert max(tried[x.pilot["chosen"]]["sweeps_to_forget"]) < 3 < 20 < max(tried[0]["sweeps_to_forget"])
    same = gibbsite.sample(walk, lower=0, seed=5, draws=20, method="whitened")
    assert (x == same).all() and same.pilot is None
    y = gibbsite.sample(np.eye(5), lower=-1, upper=1, seed=5, draws=20, method="auto")
    assert y.attributes["method"] == "gibbs" and "overrelax" not in y.attributes
    assert gibbsite.sample(walk, lower=0, order="backward", draws=5, seed=1).attributes["method"] == "gibbs"
    assert gibbsite.sample(walk, draws=5, seed=1).attributes["method"] == "gibbs"
    free = gibbsite.sample(walk, draws=5, seed=1, method="auto")
    assert free.attributes["method"] == "whitened" and free.pilot == {"chosen": None, "tried": []}
    for options in ({"overrelax": 0.5}, {"overrelax": 0.0}, {"order": "forward"}, {"omega": 1.0}):
        name, = options
        with pytest.raises(ValueError, match=f"method: 'auto'; {name} is given, which is part of what the pilot"):
            gibbsite.sample(walk, lower=0, method="auto", **options)
        if options != {"overrelax": 0.5}:  # an option given is one asked for, whatever it says
            z = gibbsite.sample(walk, lower=0, draws=5, seed=1, **options)
            assert z.pilot is None and z.attributes["method"] == "gibbs"
    assert gibbsite.sample(walk, lower=0, draws=5, seed=1, stream="native").attributes["method"] == "whitened"
    for stream in ("torch-cpu", ["native"]):
        with pytest.raises(ValueError, match="method: 'auto'; the pilot may choose whitened sweeps, which take the"):
            gibbsite.sample(walk, lower=0, method="auto", stream=stream)
    with pytest.raises(ValueError, match="method: 'best'"):
        gibbsite.sample(walk, method="best")


def test_pilot_in_arviz():
    pytest.importorskip("arviz")
    options = dict(upper=[2, np.inf], seed=1, draws=20)
    plain = gibbsite.sample(Q, lower=0, **options)
    attrs = gibbsite.sample(Q, lower=0, output="arviz", method="auto", **options).attrs
    assert attrs["chains"] == plain.attributes["chains"] == 4 and attrs["pilot_version"] == 2
    assert re.match(rf"{attrs['method']}\b.*; sweeps to forget, the slowest of three figures: gibbs "
                    r"[\d.]+, gibbs --overrelax 0.\d+ [\d.]+, .*whitened [\d.]+$", attrs["pilot"])
    attrs = gibbsite.sample(Q, lower=[1, -9], dtype="float32", output="arviz", method="auto",
                            **options | dict(upper=[1.00000001, 9])).attrs
    assert re.search(r"; left out: whitened \(.*its bounds leave it no number but.*\)$", attrs["pilot"])
    attrs = gibbsite.sample(np.diag([1e77, 1]), lower=0, dtype="float32", output="arviz", seed=1,
                            draws=20).attrs
    assert re.search(r"left out: gibbs, gibbs --overrelax 0.\d+, .*\(.*does not fit in float.*\)$",
                     attrs["pilot"])
    attrs = gibbsite.sample(Q, seed=1, draws=20, output="arviz", method="auto").attrs
    assert attrs["pilot"].startswith("whitened; nothing bounds the sites") and attrs["pilot_version"] == 2
    assert "pilot" not in gibbsite.sample(Q, seed=1, draws=20, output="arviz").attrs


def test_auto_leaves_out_what_cannot_run():
    """A box of one float stops whitened sweeps, a step below float's normal numbers plain ones."""
    for lower, upper in ((0.5, 0.50000000001), (0, 1e-50), (1, 1.00000001)):
        x = gibbsite.sample(Q, lower=[lower, -np.inf], upper=[upper, np.inf], dtype="float32", seed=1, draws=20)
        assert x.attributes["method"] == "gibbs" and (x[..., 0] == lower).all()
        *plain, whitened = x.pilot["tried"]
        assert "site 0: in float its bounds leave it no number but" in whitened["left_out"]
        assert np.isnan(whitened["sweeps_to_forget"]).all()
        assert all("left_out" not in it and np.isfinite(it["sweeps_to_forget"]).all() for it in plain)
    x = gibbsite.sample(np.diag([1e77, 1]), lower=0, dtype="float32", seed=1, draws=20)
    assert x.attributes["method"] == "whitened" and "does not fit in float" in x.pilot["tried"][0]["left_out"]
    with pytest.raises(ValueError, match="site 0: its conditional standard deviation, 1e.40, does not"):
        gibbsite.sample(np.diag([1e-80, 1]), lower=0, dtype="float32", seed=1, draws=20)


def test_auto_without_a_solver(tmp_path):
    """A start that is given does not help the pilot, which looks for one of its own."""
    (tmp_path / "libClp.so.1").write_text("not a library")
    code = ("import gibbsite, numpy\n"
            "options = dict(rows=[[1, 1]], row_lower=0, draws=5, seed=1)\n"
            "print(gibbsite.sample(numpy.eye(2), init=[1, 1], **options).attributes['method'])\n"
            "for init in ({'init': [1, 1]}, {}):\n"
            "    try:\n"
            "        gibbsite.sample(numpy.eye(2), method='auto', **init, **options)\n"
            "    except RuntimeError as error:\n"
            "        print(error)")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                         env=os.environ | {"LD_LIBRARY_PATH": str(tmp_path)})
    method, given, none = run.stdout.splitlines()
    assert method == "gibbs" and none.startswith("rows: ") and "give" in none
    assert given == none + ", and leave method='auto' out: its pilot would look for one too"
