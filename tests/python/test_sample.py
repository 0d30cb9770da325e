"""The NumPy package: sample and summary."""
import copy
import multiprocessing
import os
import pathlib
import pickle
import re
import stat
import warnings

import numpy as np
import pytest

import gibbsite
from matrices import lattice

ROOT = pathlib.Path(__file__).resolve().parents[2]
Q = np.array([[2.0, -1.0], [-1.0, 2.0]])


def test_version_is_the_headers():
    header = (ROOT / "include/gibbsite/gibbsite.h").read_text()
    parts = [re.search(rf"GBS_VERSION_{part} (\d+)", header).group(1)
             for part in ("MAJOR", "MINOR", "PATCH")]
    assert gibbsite.__version__ == ".".join(parts)
    assert f'version = "{gibbsite.__version__}"' in (ROOT / "pyproject.toml").read_text()
    from gibbsite._sample import _MAPPING_VERSIONS, _PILOT_VERSION, _TRUNCNORM_VERSION
    assert f"GBS_PILOT_VERSION {_PILOT_VERSION}\n" in header
    assert f"GBS_TRUNCNORM_VERSION {_TRUNCNORM_VERSION}\n" in header
    for name, version in _MAPPING_VERSIONS.items():
        if name != "given":
            macro = f"GBS_STREAM_{name.upper().replace('-', '_')}_VERSION {version}"
            assert macro in header, f"{macro} is not in gibbsite.h"


def test_shapes_and_seeds():
    for dim, chains, draws in ((2, 4, 10), (1, 1, 1), (3, 1, 5)):
        x = gibbsite.sample(np.eye(dim), chains=chains, draws=draws, seed=5)
        assert x.shape == (chains, draws, dim) and x.dtype == np.float64 and x.seed == 5
    first = gibbsite.sample(Q, draws=5, seed=-1)
    assert first.seed == 2**64 - 1
    assert np.array_equal(first, gibbsite.sample(Q, draws=5, seed=2**64 - 1))
    chosen = gibbsite.sample(Q, draws=5)
    assert np.array_equal(chosen, gibbsite.sample(Q, draws=5, seed=chosen.seed))
    assert not np.array_equal(chosen, gibbsite.sample(Q, draws=5))


def test_same_bits_on_every_instruction_set():
    q = lattice(6)
    for dtype in ("float32", "float64"):
        expected = gibbsite.sample(q, draws=20, chains=37, seed=3, dtype=dtype, isa="scalar")
        for isa in ("auto", "avx2", "avx512"):
            try:
                got = gibbsite.sample(q, draws=20, chains=37, seed=3, dtype=dtype, isa=isa)
            except ValueError as error:
                print(f"skipped: {error}")
                continue
            assert np.array_equal(expected, got), got.kernel
            print(f"{got.kernel}: equal to scalar")


def test_same_bits_on_any_number_of_threads():
    q = lattice(6)
    expected = gibbsite.sample(q, draws=20, chains=150, seed=3)
    for threads in (2, 3, np.int64(7), 0):
        assert np.array_equal(expected, gibbsite.sample(q, draws=20, chains=150, seed=3, threads=threads))


def _sample_in_child(q, expected, queue):
    queue.put(np.array_equal(expected, gibbsite.sample(q, draws=20, chains=150, seed=3, threads=2)))


def test_a_forked_child_samples():
    q = lattice(6)
    expected = gibbsite.sample(q, draws=20, chains=150, seed=3, threads=2)
    context = multiprocessing.get_context("fork")
    for _ in range(2):
        queue = context.Queue()
        child = context.Process(target=_sample_in_child, args=(q, expected, queue))
        child.start()
        assert queue.get(timeout=60)
        child.join(60)
        assert child.exitcode == 0


def test_batches_and_resumes_continue_one_run():
    whole = gibbsite.sample(Q, chains=6, warmup=4, draws=8, thin=2, seed=9)
    part = gibbsite.sample(Q, chains=2, warmup=4, draws=8, thin=2, seed=9, first_chain=3)
    assert np.array_equal(whole[3:5], part)
    later = gibbsite.sample(Q, chains=6, warmup=0, draws=5, thin=2, seed=9, init=whole[:, 2],
                            first_sweep=4 + 3 * 2)
    assert np.array_equal(whole[:, 3:], later)


@pytest.mark.parametrize("method", ["gibbs", "exact"])
@pytest.mark.parametrize("form", ["mean", "info", "offset"])
def test_law(method, form):
    """Means and covariances within 5 standard errors, autocorrelation counted by the ESS."""
    location = np.array([1.0, -2.0])
    mean = {"mean": location, "info": np.linalg.solve(Q, location),
            "offset": np.linalg.solve(Q, np.diag(Q) * location)}[form]
    x = gibbsite.sample(Q, **{form: location}, method=method, chains=4, draws=20000, seed=1)
    s = gibbsite.summary(x)
    assert (np.abs(s.mean - mean) < 5 * s.mcse_mean).all()
    assert (np.abs(s.sd - np.sqrt(np.diag(np.linalg.inv(Q)))) < 5 * s.mcse_sd).all()
    correlation = np.corrcoef(np.asarray(x).reshape(-1, 2).T)[0, 1]
    assert abs(correlation - 0.5) < 5 / np.sqrt(s.ess_bulk.min())


def test_covariance_is_inverted():
    """Variances 0.01 and 100, covariance 0.1: nothing is mixed up."""
    covariance = np.array([[0.01, 0.1], [0.1, 100.0]])
    x = gibbsite.sample(covariance, covariance=True, mean=[100, -100], draws=5000, seed=2)
    s = gibbsite.summary(x)
    assert (np.abs(s.mean - [100, -100]) < 5 * s.mcse_mean).all()
    assert (np.abs(s.sd - [0.1, 10]) < 5 * s.mcse_sd).all()


def test_noise_keeps_its_place():
    """A changed variance scales its own coordinate only; given noise and native agree."""
    a, b, c = (gibbsite.sample(np.diag(1 / np.array(v)), draws=10, seed=7, warmup=0, init="zero")
               for v in ([1.0, 1], [4.0, 1], [1.0, 4]))
    assert np.array_equal(b, a * [2, 1]) and np.array_equal(c, a * [1, 2])
    noise = np.asarray(a).transpose(1, 2, 0)
    given = gibbsite.sample(Q, draws=10, warmup=0, init="zero", stream="given", noise=noise)
    native = gibbsite.sample(Q, draws=10, warmup=0, init="zero", seed=7)
    assert np.array_equal(given, native)


def test_a_number_is_no_matrix():
    with pytest.raises(ValueError, match=r"^precision: 2 dimensions needed, but its shape is \(\)$"):
        gibbsite.sample(2.0)


def test_noise_that_does_not_last():
    noise = np.ones((11, 2, 4))
    for options, message in (
            ({}, "needed: warmup + draws * thin"), (dict(warmup=2, draws=5, thin=2), "12 are needed"),
            (dict(warmup=1, draws=5, order="symmetric"), r"12 are needed: 2 (warmup + draws * thin)"),
            (dict(draws=12, method="exact"), "12 are needed: draws")):
        with pytest.raises(ValueError, match=re.escape(message)) as caught:
            gibbsite.sample(Q, stream="given", noise=noise, **options)
        assert str(caught.value).startswith("noise: 11 sweeps, but ")
    words = np.ones((10, 2, 4), np.uint64)
    with pytest.raises(ValueError, match="^words: 10 sweeps, but 11 are needed: "):
        gibbsite.sample(Q, lower=0, stream="given", noise=noise, words=words, warmup=1, draws=10)
    for options in (dict(warmup=1, draws=5, thin=2), dict(warmup=0, draws=5, order="symmetric"),
                    dict(draws=11, method="exact"), dict(warmup=1, draws=10, first_sweep=100)):
        gibbsite.sample(Q, stream="given", noise=noise, **options)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, np.ndarray.copy] + [
    lambda draws, protocol=p: pickle.loads(pickle.dumps(draws, protocol)) for p in range(6)])
def test_copies_keep_how_draws_were_made(copied):
    draws = gibbsite.sample(Q, lower=0, seed=9, draws=20)
    other = copied(draws)
    assert type(other) is gibbsite.Draws and np.array_equal(other, draws)
    for name in ("seed", "attributes", "kernel", "generator_state", "start", "pilot"):
        assert getattr(other, name) == getattr(draws, name), name
    assert other.seed == 9 and other.pilot["tried"] and other.kernel


def test_float_is_warned_of_and_refused():
    with pytest.warns(UserWarning, match="float32 moves the covariance by about"):
        gibbsite.sample(lattice(10, 4e-5), dtype="float32", draws=1)
    with pytest.warns(UserWarning, match=r"about 0.0013 \(site 1: at its mean float32 numbers lie far apart\)"):
        gibbsite.sample(np.eye(2), mean=[0, -2e6], dtype="float32", draws=1)
    bad = lattice(10, 1e-7)
    with pytest.raises(ValueError, match="use float64, or force=True"):
        gibbsite.sample(bad, dtype="float32", draws=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert gibbsite.sample(bad, dtype="float32", draws=1, force=True).dtype == np.float32


def test_torch_streams():
    torch = pytest.importorskip("torch")
    torch.manual_seed(4)
    expected = torch.stack([torch.randn(20, dtype=torch.float64) for _ in range(3)], 1).numpy()
    x = gibbsite.sample(np.eye(3), chains=20, warmup=0, draws=1, init="zero", stream="torch-cpu",
                        seed=4)
    assert np.abs(x[:, 0] - expected).max() < 1e-14
    assert np.array_equal(x.generator_state, torch.get_rng_state().numpy())
    more = gibbsite.sample(np.eye(3), chains=20, warmup=0, draws=1, init="zero",
                           stream="torch-cpu", generator_state=x.generator_state)
    assert np.abs(more[:, 0, 0] - torch.randn(20, dtype=torch.float64).numpy()).max() < 1e-14
    cuda = gibbsite.sample(np.eye(1), chains=3, warmup=0, draws=1, init="zero", seed=42,
                           stream="torch-cuda", card=(132, 2048), dtype="float32")
    assert np.abs(cuda.ravel() - [0.1940, 2.1614, -0.1721]).max() < 1e-4
    assert cuda.generator_state.view(np.uint64).tolist() == [42, 4]


REFUSALS = [
    (dict(mean=[1, 2, 3]), "mean: 3 entries"), (dict(mean=[1, 2], info=[1, 2]), "mean and info"),
    (dict(dtype="int8"), "dtype"), (dict(seed=2**64), "seed"), (dict(seed=1.5), "seed"),
    (dict(seed="0x10"), "seed"), (dict(seed=-2), "seed"), (dict(chains=0), "chains: 0"),
    (dict(draws=0), "draws: 0"), (dict(warmup=-1), "warmup: -1"), (dict(thin=0), "thin: 0"),
    (dict(omega=2.0), "omega: 2"), (dict(order="random"), "order: 'random'"),
    (dict(init="random"), "init: 'random'"), (dict(init=np.zeros((3, 2))), "init: shape (3, 2)"),
    (dict(isa="sse"), "isa: 'sse'"), (dict(threads=-1), "threads: -1"), (dict(threads=1.5), "threads: 1.5"), (dict(stream="numpy"), "stream: 'numpy'"),
    (dict(stream="given"), "stream: 'given', but neither noise (of sites without bounds) nor words"),
    (dict(noise=np.zeros((1, 2, 4))), "noise: it belongs to stream='given', not to 'native'"),
    (dict(stream="given", noise=np.zeros((1, 3, 4))), "noise: shape (1, 3, 4)"),
    (dict(stream="given", noise=np.zeros((9, 2, 4)), warmup=0, draws=10), "noise: 9 sweeps, but 10 are needed"),
    (dict(stream="torch-cuda"), "card"), (dict(generator_state=b""), "generator_state"),
    (dict(stream="torch-cpu", generator_state=np.zeros(5056, np.uint8)), "generator_state: "),
    (dict(method="exact", thin=2), "exact draws"), (dict(method="hmc"), "method: 'hmc'"),
    (dict(output="xarray"), "output: 'xarray'"), (dict(stream=np.zeros((2, 2, 4))), "stream: array("),
    (dict(mean=[0, 1e300], dtype="float32"), "mean[1] is 1e+300, beyond the range of dtype float32"),
    (dict(offset=[-1e39, 0], dtype="float32"), "offset[0] is -1e+39, beyond"),
    (dict(fix=[np.nan, 1e39], dtype="float32"), "fix[1] is 1e+39, beyond"),
    (dict(init=[[0, 1e39]], dtype="float32"), "init[0, 1] is 1e+39, beyond"),
    (dict(init=[0, np.nan]), "init: chain 0, site 1 is nan"), (dict(init=None), "init: None"),
    (dict(first_sweep=2**70), "first_sweep: 1180591620717411303424; it must be at most"),
    (dict(chains=2**70), "chains: 1180591620717411303424; it must be at most"),
    (dict(device=2**32), "device: 4294967296; it must be at most"), (dict(isa=["avx2"]), "isa: ['avx2']"),
    (dict(card=(132, 2048)), "card: it belongs to stream='torch-cuda'"),
    (dict(stream="torch-cuda", card=5), "card: 5"), (dict(stream=["native"]), "stream: ['native']"),
    (dict(stream="torch-cuda", card=(132, 2**40)), "card[1]: 1099511627776; it must be at most"),
    (dict(stream="torch-cuda", card=(132, 2)), "card[1]: 2; a whole number of at least 256 is needed"),
    (dict(rows=[[1, 1]], row_lower=5, init="zero"), "init: chain 0 gives row 0 of the constraints 0, not"),
    (dict(fix=[np.inf, 1]), "fix: site 0 is inf"), (dict(info=[0, np.nan]), "info: site 1 is NaN"),
]


@pytest.mark.parametrize("changes, message", REFUSALS, ids=[m for _, m in REFUSALS])
def test_refusals(changes, message):
    with pytest.raises(ValueError) as caught:
        gibbsite.sample(Q, **changes)
    assert message in str(caught.value)


MASKED = np.ma.array([1.0, 2.0], mask=[False, True])
MASKS = [
    (lambda: gibbsite.info(np.ma.array(Q, mask=[[0, 1], [1, 0]])), "precision: [0, 1] is masked"),
    (lambda: gibbsite.sample(Q, mean=MASKED), "mean: [1] is masked"),
    (lambda: gibbsite.sample(Q, init=MASKED), "init: [1] is masked"),
    (lambda: gibbsite.sample(Q, fix=MASKED), "fix: [1] is masked"),
    (lambda: gibbsite.sample(Q, upper=MASKED), "upper: [1] is masked"),
    (lambda: gibbsite.sample(Q, rows=[[1, 1]], row_lower=np.ma.masked), "row_lower: it is masked"),
    (lambda: gibbsite.sample(Q, chains=1, draws=1, warmup=0, stream="given",
                             noise=np.ma.masked_less(np.ones((1, 2, 1)), 2)), "noise: [0, 0, 0] is masked"),
    (lambda: gibbsite.sample(Q, lower=0.0, chains=1, draws=1, warmup=0, stream="given",
                             words=np.ma.masked_less(np.ones((1, 2, 1), np.uint64), 2)), "words: [0, 0, 0] is masked"),
    (lambda: gibbsite.summary(np.ma.masked_less(np.arange(8.0).reshape(2, 4)[::-1], 2)), "draws: [1, 0] is masked"),
    (lambda: gibbsite.truncnorm(sd=MASKED), "sd: [1] is masked"),
    (lambda: gibbsite.truncnorm(u=MASKED / 4), "u: [1] is masked"),
    (lambda: gibbsite.truncnorm(word=MASKED.astype(int)), "word: [1] is masked"),
]


@pytest.mark.parametrize("call, message", MASKS, ids=[m for _, m in MASKS])
def test_masked_elements_are_refused(call, message):
    with pytest.raises(ValueError) as caught:
        call()
    assert message in str(caught.value)


def test_masks_that_hide_nothing_are_taken():
    plain, masked = (gibbsite.sample(matrix, mean=mean, chains=2, draws=9, seed=1) for matrix, mean in
                     ((Q, [1, 2]), (np.ma.array(Q), np.ma.array([1, 2], mask=[False, False]))))
    assert np.array_equal(plain, masked)
    assert np.array_equal(gibbsite.truncnorm(np.ma.array([1.0, 2.0]), seed=1), gibbsite.truncnorm([1.0, 2.0], seed=1))


MATRICES = [
    ([[1, 0.5], [0.4, 1]], "not symmetric: Q[1,0] = 0.4"), ([[1, 2], [2, 1]], "not positive definite"),
    ([[1, np.nan], [np.nan, 1]], "Q[0,1] is NaN"), ([[1, 2, 3], [4, 5, 6]], "square"),
    (np.zeros((0, 0)), "square"), ([1, 2], "2 dimensions"),
    (np.eye(4) * 4 / 3 - 1 / 3, "singular"),
]


@pytest.mark.parametrize("matrix, message", MATRICES, ids=[m for _, m in MATRICES])
def test_matrices_are_checked(matrix, message):
    for call in (gibbsite.sample, gibbsite.info):
        with pytest.raises(ValueError) as caught:
            call(np.array(matrix))
        assert message in str(caught.value)
    with pytest.raises(TypeError, match="real numbers"):
        gibbsite.sample(np.array([["a"]]))
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="precision: a sparse matrix is needed as a dense one"):
        gibbsite.sample(sparse.eye(3))


def test_rows_hold():
    rows = np.array([[1.0, 1.0], [1.0, -1.0]])
    cov = np.diag([10.0, 1.0])
    runs = [gibbsite.sample(cov, covariance=True, method=method, rows=rows, row_lower=-2,
                            row_upper=[2, 2], init=[0, 0], draws=4000, seed=3)
            for method in ("gibbs", "whitened")]
    for x in runs:
        assert np.abs(x @ rows.T).max() <= 2 + 1e-14
        error = 5 * x.var(axis=1).std(axis=0) / 2 + 0.02
        print("variances", x.var(axis=(0, 1)), "expected .742365, .442841, bounds", error)
        assert (np.abs(x.var(axis=(0, 1)) - [.742365305228, .442840693457]) <= error).all()
        assert x.start is None and x.attributes["init"] == "given"
    import scipy.sparse
    again = gibbsite.sample(cov, covariance=True, method="whitened", init=[0, 0], draws=4000, seed=3,
                            rows=scipy.sparse.coo_matrix(rows), row_lower=-2, row_upper=2)
    assert again.tobytes() == runs[1].tobytes()


def test_rows_start_and_contradict(tmp_path):
    arguments = dict(rows=[[1, 1], [1, -1]], row_lower=[1, -9], seed=3, draws=20)
    try:
        x = gibbsite.sample(Q, **arguments)
    except RuntimeError as error:
        pytest.skip(str(error))
    assert (np.array([[1, 1], [1, -1]]) @ x.start > [1, -9]).all()
    assert x.attributes["init"] == "inside"
    assert gibbsite.sample(Q, init=x.start, **arguments).tobytes() == x.tobytes()
    with pytest.raises(ValueError, match="no point keeps these together: row 0 >= 1, row 1 <= 0"):
        gibbsite.sample(Q, rows=[[1, 1], [1, 1]], row_lower=[1, -9], row_upper=[9, 0])
    path = tmp_path / "ck"
    first = gibbsite.sample(Q, checkpoint=path, method="whitened", **arguments)
    rest = gibbsite.sample(Q, resume=path, draws=10, rows=arguments["rows"],
                           row_lower=arguments["row_lower"], method="whitened")
    whole = gibbsite.sample(Q, method="whitened", **(arguments | {"draws": 30}))
    assert np.concatenate([first, rest], axis=1).tobytes() == whole.tobytes()


@pytest.mark.parametrize("arguments, words", [
    (dict(row_lower=1), "row_lower: it bounds rows"),
    (dict(rows=[[1, 1]]), "rows: neither row_lower nor row_upper"),
    (dict(rows=[[1, 1, 1]], row_lower=0), "rows: shape"),
    (dict(rows=[[1, 1]], row_lower=[0, 0]), "row_lower: shape"),
    (dict(rows=[[1, 1]], row_lower=2, row_upper=1), "^row_lower, row_upper: row 0: lower 2 is above upper 1$"),
    (dict(rows=[[1, 1]], row_lower=1, row_upper=1), "^row_lower, row_upper: row 0: lower = upper = 1 is"),
    (dict(rows=[[1, 1]], row_lower=np.inf), "^row_lower: row 0: lower is inf"),
    (dict(rows=[[1, 1]], row_upper=[-np.inf]), "^row_upper: row 0: upper is -inf"),
    (dict(rows=[[1, 1]], row_lower=0, row_upper=np.nan), "^row_upper: upper of row 0 is NaN"),
    (dict(rows=[[0, 0]], row_lower=0), "^rows: row 0 has no entry but zeros"),
    (dict(rows=[[1, 1]], row_lower=0, init=[-1, -1]), "gives row 0 of the constraints -2"),
    (dict(rows=[[1, 1]], row_lower=0, method="exact"), "exact draws would not keep them"),
    (dict(method="whitened", order="backward"), "whitened sweeps take no order"),
])
def test_rows_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        gibbsite.sample(Q, seed=1, **arguments)


def test_summary_values():
    hand = np.array([[1.0, 1.1, 1.4, 1.3], [1, 2, 3, 4]])
    s = gibbsite.summary(hand)
    assert s.names == ["x"] and s.rhat[0] == pytest.approx(2.639887898167294, rel=1e-9)
    draws = np.random.default_rng(1).normal(size=(4, 500, 2, 3))
    s = gibbsite.summary(draws)
    assert s.names == [f"x[{i}, {j}]" for i in range(2) for j in range(3)]
    flat = draws.reshape(2000, 6)
    assert np.allclose(s.mean, flat.mean(0), rtol=1e-12)
    assert np.allclose(s.sd, flat.std(0, ddof=1), rtol=1e-12)
    assert np.allclose(s.median, np.median(flat, 0))
    draws[2, 7, 1, 1] = np.nan
    s = gibbsite.summary(draws)
    assert np.isnan(s.mean[4]) and s.not_finite[4] == 1 and "not finite" in s.note(4)
    constant = gibbsite.summary(np.full((4, 100), 3.0))
    assert np.isnan(constant.rhat[0]) and "constant" in constant.note(0)
    assert "constant" in str(constant) and " - " in str(constant)
    turned = np.asfortranarray(draws.astype(np.float32))
    assert np.allclose(gibbsite.summary(turned).sd, s.sd, rtol=1e-5, equal_nan=True)
    with pytest.raises(ValueError, match="chain, draw"):
        gibbsite.summary(np.zeros(5))
    with pytest.raises(TypeError, match="x is complex128"):
        gibbsite.summary(np.zeros((4, 9)) * 1j)


def test_arviz():
    arviz = pytest.importorskip("arviz")
    data = gibbsite.sample(lattice(3), mean=np.arange(9.0), chains=4, draws=500, seed=3,
                           first_chain=8, output="arviz")
    draws = gibbsite.sample(lattice(3), mean=np.arange(9.0), chains=4, draws=500, seed=3,
                            first_chain=8)
    x = data.posterior["x"]
    assert x.dims == ("chain", "draw", "x_dim_0") and np.array_equal(x.values, draws)
    assert data.posterior.chain.values.tolist() == [8, 9, 10, 11]
    centred = np.asarray(draws) - np.arange(9.0)
    lp = -0.5 * np.einsum("cdi,ij,cdj->cd", centred, lattice(3), centred)
    assert np.allclose(data.sample_stats["lp"].values, lp, rtol=1e-10)
    assert data.constant_data["location"].attrs["form"] == "mean"
    assert data.attrs["seed"] == 3 and data.attrs["inference_library"] == "gibbsite"
    table, s = arviz.summary(data, round_to="none"), gibbsite.summary(data)
    for ours, theirs in (("mean", "mean"), ("sd", "sd"), ("mcse_mean", "mcse_mean"),
                         ("ess_bulk", "ess_bulk"), ("rhat", "r_hat")):
        assert np.allclose(getattr(s, ours), table[theirs].values, rtol=1e-9), ours
    tail = arviz.ess(data, method="tail", prob=(0.05, 0.95))["x"].values  # 1.x: else of other quantiles
    assert np.allclose(s.ess_tail, tail, rtol=1e-9)
    assert s.names == list(table.index)
    for part in (x, data.posterior):
        assert np.array_equal(gibbsite.summary(part).mean, s.mean)
    print(f"ArviZ {arviz.__version__}: a {type(data).__name__}, its figures ours")


def test_threads():
    """Two threads, each with its own objects: the same draws as one after the other."""
    from concurrent.futures import ThreadPoolExecutor

    def draw(seed):
        return gibbsite.sample(lattice(8), draws=50, chains=8, seed=seed)

    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(draw, range(8)))
    for seed, got in enumerate(together):
        assert np.array_equal(draw(seed), got)


def test_backend(monkeypatch):
    """A missing CUDA library is told; the CPU needs none; where there is a GPU its draws are ours."""
    q = [[2.0, -1.0], [-1.0, 2.0]]
    expected = gibbsite.sample(q, draws=20, chains=7, seed=3, dtype="float32", order="symmetric")
    monkeypatch.setenv("GIBBSITE_CUDA_LIBRARY", "/nowhere/libgibbsite_cuda.so.0")
    with pytest.raises(RuntimeError, match="no CUDA library: /nowhere/libgibbsite_cuda"):
        gibbsite.sample(q, draws=1, backend="cuda")
    with pytest.raises(ValueError, match="backend: 'gpu'"):
        gibbsite.sample(q, draws=1, backend="gpu")
    with pytest.raises(ValueError, match="device: -1"):
        gibbsite.sample(q, draws=1, backend="cuda", device=-1)
    assert np.array_equal(expected, gibbsite.sample(q, draws=20, chains=7, seed=3, dtype="float32",
                                                    order="symmetric", backend="cpu"))
    monkeypatch.delenv("GIBBSITE_CUDA_LIBRARY")
    try:
        got = gibbsite.sample(q, draws=20, chains=7, seed=3, dtype="float32", order="symmetric",
                              backend="cuda")
    except RuntimeError as error:
        assert "backend cuda: no" in str(error)
    else:
        assert np.array_equal(expected, got) and got.kernel.startswith("sweep_")


def test_fix():
    """The law of the other site, its stream as it was: x[1] given x[0] = 3 has mean 1.5, variance 1/2."""
    x = gibbsite.sample(Q, fix=[3, np.nan], draws=5000, seed=1)
    assert (np.asarray(x)[..., 0] == 3).all()
    s = gibbsite.summary(x)
    assert abs(s.mean[1] - 1.5) < 5 * s.mcse_mean[1] and abs(s.sd[1] - 0.5**0.5) < 5 * s.mcse_sd[1]
    exact = gibbsite.sample(np.ones((2, 2)), fix=[3, np.nan], method="exact", draws=5, seed=1)
    assert (np.asarray(exact)[..., 0] == 3).all()  # singular until a site is held
    for fix, message in (([1, 2, 3], "fix: 3 entries"), ([np.inf, 1], "site 0 is inf"), ([[1, 2]], "fix: 1 dim")):
        with pytest.raises(ValueError, match=message):
            gibbsite.sample(Q, fix=fix)


RUNS = [
    dict(), dict(warmup=10, thin=7), dict(order="symmetric", omega=1.3, dtype="float32"), dict(method="exact"),
    dict(stream="torch-cpu"), dict(stream="torch-cuda", card=(132, 2048), thin=2), dict(fix=[np.nan, 2]),
    dict(first_chain=5, first_sweep=11, warmup=3), dict(lower=0, upper=[1, np.inf]), dict(lower=0, overrelax=0.5),
    dict(lower=0, method="whitened"), dict(rows=[[1, 1]], row_lower=0),
]
MODEL = ("fix", "lower", "upper", "rows", "row_lower")  # which a resume must be given again


@pytest.mark.parametrize("options", RUNS, ids=str)
def test_pieces_are_the_whole(options, tmp_path):
    """A run in three pieces, checkpoints between, is the run without a break, generator included;
    the file keeps its permissions."""
    path = tmp_path / "ck"
    whole = gibbsite.sample(Q, chains=3, draws=50, seed=7, **options)
    model = {name: options[name] for name in MODEL if name in options}
    parts = [gibbsite.sample(Q, chains=3, draws=20, seed=7, checkpoint=path, every=3, **options),
             gibbsite.sample(Q, draws=13, resume=path, checkpoint=path, isa="scalar", **model),
             gibbsite.sample(Q, draws=17, resume=str(path), threads=3, **model)]
    assert np.array_equal(np.concatenate([np.asarray(p) for p in parts], 1), whole)
    assert parts[2].seed == 7 and parts[2].attributes["first_draw"] == 33 and parts[2].dtype == whole.dtype
    for name in ("method", "thin", "stream", "warmup"):
        if "first_sweep" not in options or name != "warmup":
            assert parts[2].attributes[name] == whole.attributes[name], name
    if whole.generator_state is not None:
        assert np.array_equal(parts[2].generator_state, whole.generator_state)
    assert [p.name for p in tmp_path.iterdir()] == ["ck"]
    path.chmod(0o640)
    gibbsite.sample(Q, draws=2, resume=path, checkpoint=path, **model)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_resumed_in_the_warmup_and_interrupted(tmp_path, monkeypatch):
    """Ctrl-C leaves a checkpoint of the moment, from which the run goes on."""
    from gibbsite import _checkpoint
    path, step = tmp_path / "ck", _checkpoint.Run._step

    def interrupt(run, out, end):
        step(run, out, end)
        if run.sweep >= stop:
            raise KeyboardInterrupt

    whole = gibbsite.sample(Q, draws=30, thin=5, warmup=100, seed=7)
    for stop in (40, 118):
        monkeypatch.setattr(_checkpoint.Run, "_step", interrupt)
        with pytest.raises(KeyboardInterrupt):
            gibbsite.sample(Q, draws=30, thin=5, warmup=100, seed=7, checkpoint=path, every=7)
        monkeypatch.undo()
        info = _checkpoint.Resumed(path).info
        kept = max(info.next_sweep - 100, 0) // 5
        assert stop <= info.next_sweep and info.draws == kept
        rest = gibbsite.sample(Q, draws=30 - kept, resume=path)
        assert np.array_equal(rest, np.asarray(whole)[:, kept:]), stop
        print(f"interrupted behind sweep {info.next_sweep}: the rest is right")


def test_checkpoints_that_are_refused(tmp_path):
    path = tmp_path / "ck"
    gibbsite.sample(Q, draws=4, seed=7, thin=3, checkpoint=path)
    for options, message in (
            (dict(seed=8), "is of a run with seed 7, 8 was given"), (dict(chains=5), "chains 4, 5 was given"),
            (dict(thin=2), "thin 3, 2 was given"), (dict(order="backward"), "order 'forward', 'backward'"),
            (dict(dtype="float32"), "dtype 'float64', 'float32'"), (dict(method="exact"), "method 'gibbs'"),
            (dict(warmup=5), "warmup: it has no meaning with resume"), (dict(init="zero"), "init: it has no"),
            (dict(init=np.zeros(2)), "init: it has no"), (dict(mean=[1, 0]), "its location is another one"),
            (dict(fix=[1, np.nan]), "its set of fixed sites is another one")):
        with pytest.raises(ValueError) as caught:
            gibbsite.sample(Q, resume=path, **options)
        assert message in str(caught.value)
    agreeing = gibbsite.sample(Q, resume=path, draws=2, seed=7, thin=3, chains=4)
    assert agreeing.shape == (4, 2, 2)
    # Of another run, what is given must agree where it is the default, too.
    its = dict(dtype="float32", chains=5, order="backward", omega=1.5, first_chain=3)
    other = tmp_path / "other"
    gibbsite.sample(Q, draws=4, seed=7, checkpoint=other, **its)
    for name, default in dict(dtype="float64", chains=4, order="forward", omega=1.0, first_chain=0,
                              overrelax=0.1).items():
        has = its.get(name, 0.0)
        with pytest.raises(ValueError, match=re.escape(f"with {name} {has!r}, {default!r} was given")):
            gibbsite.sample(Q, resume=other, **{name: default})
    rest = gibbsite.sample(Q, resume=other, draws=2, stream="native", overrelax=0.0, **its)
    assert rest.shape == (5, 2, 2) and rest.dtype == np.float32
    for name, default in dict(init="overdispersed", first_sweep=0).items():
        with pytest.raises(ValueError, match=f"{name}: it has no meaning with resume"):
            gibbsite.sample(Q, resume=other, **{name: default})
    with pytest.raises(ValueError, match="its precision is another one"):
        gibbsite.sample(2 * Q, resume=path)
    with pytest.raises(ValueError, match="more than 2.48 sweeps"):
        gibbsite.sample(Q, thin=2**46, draws=5)
    with pytest.raises(ValueError, match="every: it belongs to checkpoint"):
        gibbsite.sample(Q, every=3)
    with pytest.raises(FileNotFoundError):
        gibbsite.sample(Q, resume=tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError) as caught:
        gibbsite.sample(Q, checkpoint=tmp_path / "nowhere" / "ck")
    assert caught.value.filename == str(tmp_path / "nowhere" / "ck")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for options in (dict(checkpoint=pipe), dict(resume=pipe), dict(resume="/dev/zero"),
                    dict(checkpoint=tmp_path)):
        with pytest.raises(OSError, match="exists and is not a regular file") as caught:
            gibbsite.sample(Q, draws=2, **options)
        assert caught.value.filename == str(*options.values())
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    damaged = path.read_bytes()[:300]
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match="ck: checkpoint: it has 300 bytes and should have"):
        gibbsite.sample(Q, resume=path)


@pytest.mark.parametrize("draws", [10**18, 10**30])
def test_draws_without_room(draws):
    """The message names draws and the size, at NumPy's limits and beyond them."""
    with pytest.raises(MemoryError, match=f"draws: 4 chains of {draws} draws of 2 numbers take "
                                          f"{64 * draws} bytes"):
        gibbsite.sample(Q, draws=draws)


def test_summary_in_threads():
    """Interleaved variables, shared out among any number of threads, have the figures of each alone."""
    draws = np.random.default_rng(2).normal(size=(4, 200, 37)).cumsum(1)
    one = gibbsite.summary(draws, threads=1)
    for threads in (2, 3, 0):
        many = gibbsite.summary(draws, threads=threads)
        for field in ("mean", "sd", "mcse_mean", "mcse_sd", "q5", "median", "q95", "ess_bulk", "ess_tail", "rhat"):
            assert np.array_equal(getattr(many, field), getattr(one, field)), field
    alone = [gibbsite.summary(draws[..., k]) for k in range(37)]
    assert np.array_equal(one.rhat, [s.rhat[0] for s in alone])
    assert np.array_equal(one.ess_tail, [s.ess_tail[0] for s in alone])
    with pytest.raises(ValueError, match="threads: -1"):
        gibbsite.summary(draws, threads=-1)
    assert len(gibbsite.summary(np.zeros((4, 10, 0)))) == 0
