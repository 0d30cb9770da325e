"""gibbsite.truncnorm on CPU tensors: the numbers of the arrays, types, compile, refusals.  The GPU's
part is in tests/gpu/test_truncnorm_cuda.py."""
import warnings

import numpy as np
import pytest
import torch

from gibbsite import _truncnorm as _arrays, truncnorm
from gibbsite.torch import _truncnorm as _tensors, truncnorm as tensor_truncnorm


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_same_numbers_as_arrays(dtype):
    rng = np.random.default_rng(3)
    mean = rng.normal(size=(7, 1, 5)).astype(dtype)
    sd = np.exp(rng.normal(size=(4, 1))).astype(dtype)
    lower = (3 * rng.normal(size=5)).astype(dtype)
    expected = truncnorm(mean, sd, lower, 20.0, seed=4, sweep=2, chain=9, dtype=dtype)
    got = truncnorm(torch.tensor(mean), torch.tensor(sd), torch.tensor(lower), 20.0, seed=4, sweep=2,
                    chain=9)
    assert isinstance(got, torch.Tensor) and got.shape == (7, 4, 5)
    assert (got.numpy() == expected).all()


def test_views_and_words():
    mean = torch.randn(6, 5, dtype=torch.float64).t()
    word = torch.randint(0, 2**53, (5, 6))
    got = truncnorm(mean, 0.5, 1.0, word=word)
    assert (got.numpy() == truncnorm(mean.numpy(), 0.5, 1.0, word=word.numpy())).all()
    word = torch.randint(0, 2**32, (5, 6))
    got = truncnorm(mean.float(), 0.5, 1.0, word=word)
    assert (got.numpy() == truncnorm(mean.float().numpy(), 0.5, 1.0, word=word.numpy())).all()
    u = torch.rand(5, 6, dtype=torch.float64)
    assert (truncnorm(mean, u=u).numpy() == truncnorm(mean.numpy(), u=u.numpy())).all()


@pytest.mark.parametrize("half", [torch.float16, torch.bfloat16])
def test_halves_stay_inside(half):
    lower, upper = 0.1, 0.3
    x = truncnorm(torch.zeros(20000, dtype=half), 1.0, lower, upper, seed=1)
    assert x.dtype == half and (x.double() >= lower).all() and (x.double() <= upper).all()
    x = truncnorm(torch.zeros(20000, dtype=half), 1.0, -upper, -lower, seed=1)
    assert (x.double() >= -upper).all() and (x.double() <= -lower).all()
    tails = truncnorm(torch.zeros(200000, dtype=half), 0.01, -2.0, 2.0, seed=2).double()
    assert tails.abs().max() < 0.07 and abs(tails.std() - 0.01) < 2e-4  # case C09


@pytest.mark.parametrize("kind", ["float64", "int64"])
def test_bounds_are_rounded_as_those_of_arrays(kind):
    """Near every number of float32 and beyond, of both signs: on the side that was asked for, and next to it."""
    rng = np.random.default_rng(5)
    near = rng.integers(0, 0x7f800000, 4000, dtype=np.uint32).view(np.float32).astype(np.float64)
    ends = [0, 1e-320, 3.4028234663852886e38, 1e39, 1e300, np.inf, np.nan]
    bounds = np.concatenate([near, near * (1 + 1e-12), near * (1 - 1e-12), ends])
    if kind == "int64":
        bounds = bounds[(bounds > 1) & (bounds < 2**53)].astype(np.int64)
        bounds = np.concatenate([bounds, bounds + 1])
    bounds = np.concatenate([bounds, -bounds])
    for towards in (1, -1):
        got = _tensors._rounded(torch.tensor(bounds), torch.float32, towards).numpy()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            expected = _arrays._rounded(bounds, np.dtype("float32"), towards)
        assert got.dtype == expected.dtype == np.float32
        assert got.tobytes() == expected.tobytes()
        inside = np.abs(bounds) < np.finfo(np.float32).max
        given, held = bounds[inside].astype(float), got[inside]
        before = np.nextafter(held, np.float32(-towards * np.inf)).astype(float)
        assert ((held - given) * towards >= 0).all() and ((before - given) * towards < 0).all()
        assert np.isfinite(got[np.isfinite(bounds)]).all()


def test_seeds():
    mean = torch.zeros(100)
    torch.manual_seed(5)
    a, b = truncnorm(mean), truncnorm(mean)
    torch.manual_seed(5)
    assert (truncnorm(mean) == a).all() and (a != b).any()
    g = torch.Generator().manual_seed(5)
    assert (tensor_truncnorm(mean, generator=g) == a).all()
    assert (truncnorm(mean, seed=-1) == truncnorm(mean, seed=2**64 - 1)).all()


def test_compile_and_meta():
    def step(x, sweep):
        return tensor_truncnorm(x, 0.5, 0.0, seed=3, sweep=sweep) + 1

    compiled = torch.compile(step, fullgraph=True)
    x = torch.randn(12)
    for sweep in (0, 1, 2):
        assert (compiled(x, sweep) == step(x, sweep)).all()
    with pytest.raises(Exception, match="give a seed"):
        torch.compile(lambda v: tensor_truncnorm(v), fullgraph=True)(x)
    u = torch.tensor([0.0, 0.25, 1.0, 1.5, -0.1, float("nan")])
    x = torch.compile(lambda v: tensor_truncnorm(v, u=u), fullgraph=True)(torch.zeros(6))
    assert x.isnan().tolist() == [False, False, True, True, True, True]  # as on a GPU: no wait
    meta = torch.ops.gibbsite.truncnorm(*(torch.empty(3, device="meta") for _ in range(4)), None,
                                        (2, 3), 1, 0, 0, 0)
    assert meta.shape == (2, 3)
    one = [torch.zeros(3), torch.ones(()), torch.zeros(()), torch.ones(2, 1)]
    torch.library.opcheck(torch.ops.gibbsite.truncnorm.default, (*one, None, (2, 3), 1, 0, 0, 0))


@pytest.mark.filterwarnings("ignore:.*equal a bound")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_whole_numbers_are_rounded_as_those_of_arrays(dtype):
    """Beyond 2^53; far out the draw is the bound."""
    name = str(dtype).removeprefix("torch.")
    for lower, upper in ((2**53 + 1, np.inf), (-np.inf, -2**53 - 1), (2**70 + 1, np.inf), (2**60 + 1, 2**62)):
        x = truncnorm(torch.zeros(1, dtype=dtype), 1.0, lower, upper, seed=1)
        assert x.item() == truncnorm(0, 1, lower, upper, seed=1, dtype=name) and lower <= int(x) <= upper


def test_leaves_gradients_alone():
    mean = torch.zeros(3, requires_grad=True)
    assert not truncnorm(mean, 1.0, 0.0, seed=1).requires_grad


@pytest.mark.parametrize("call, error, message", [
    (lambda: truncnorm(torch.zeros(3), torch.ones(3).double()), TypeError, "sd is torch.float64"),
    (lambda: truncnorm(torch.zeros(3), lower=torch.zeros(2)), ValueError,
     r"do not broadcast: mean \[3\], sd \[\], lower \[2\]"),
    (lambda: truncnorm(torch.zeros(3), size=4), ValueError, "do not broadcast to size"),
    (lambda: truncnorm(torch.zeros(3), size=(1,)), ValueError, r"size \[1\]"),
    (lambda: truncnorm(torch.zeros(3), lower=torch.tensor([0.0, 2, 0]), upper=1.0), ValueError,
     r"lower\[1\]: 2 is above upper: 1"),
    (lambda: truncnorm(torch.zeros(3), sd=-1.0), ValueError, r"sd: -1"),
    (lambda: truncnorm(torch.zeros(3), 1.0, 0.2, 0.1), ValueError, "lower: 0.2.* is above upper: 0.0999"),
    (lambda: truncnorm(torch.zeros(3), seed=1, generator=torch.Generator()), ValueError,
     "generator: it gives the seed, but a seed is given"),
    (lambda: truncnorm(torch.zeros(3, dtype=torch.int32)), TypeError, "torch.int32"),
    (lambda: truncnorm(torch.zeros(3), word=torch.zeros(3)), TypeError, "word"),
    *((lambda u=u: truncnorm(torch.zeros(3), u=torch.tensor([0.5, u, 0.5])), ValueError,
       rf"u\[1\]: {u}; uniforms must be in \[0, 1\)") for u in (1.0, 1.5, -0.5, float("nan"))),
    *((lambda word=word: truncnorm(torch.zeros(3), word=torch.tensor(word)), ValueError,
       rf"word: {word}; whole numbers in 0 .. 2\^32 - 1") for word in (-1, 2**32)),
    (lambda: truncnorm(torch.zeros(3).double(), word=torch.tensor(2**53)), ValueError,
     rf"word: {2**53}; whole numbers in 0 .. 2\^53 - 1"),
    (lambda: truncnorm(torch.zeros(3).double(), word=torch.tensor([[0], [-4]])), ValueError,
     r"word\[1, 0\]: -4; whole numbers in 0 .. 2\^53 - 1"),
    (lambda: truncnorm(torch.zeros(3), seed=2**64), ValueError, "seed"),
    (lambda: truncnorm(torch.zeros(3), u=0.5), TypeError, "u: 0.5; a tensor"),
    (lambda: truncnorm(torch.zeros(3), lower=[0, 0, 0]), TypeError, r"lower: \[0, 0, 0\]; a number or a"),
    (lambda: truncnorm(torch.zeros(3), lower="a"), TypeError, "lower: 'a'; a number or a tensor"),
    *((lambda seed=seed: truncnorm(torch.zeros(3), seed=seed), ValueError, f"seed: {seed!r}; a whole")
      for seed in ("1", 1.5)),
    (lambda: truncnorm(torch.zeros(3), seed=1, sweep=1.5), ValueError, "sweep: 1.5; a whole"),
    (lambda: tensor_truncnorm(0.0), TypeError, "tensor"),
    (lambda: truncnorm(torch.zeros(3), threads=2), TypeError, "threads"),
])
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("bounds", [(0.1, 0.1), (1 / 3, 1 / 3), (0.1, 0.1000000001), (-0.7, -0.7)])
def test_bounds_that_leave_no_number(dtype, bounds):
    """Both are the nearest number of the type, numbers or tensors of a wider one."""
    nearest = torch.tensor(sum(bounds) / 2, dtype=torch.float64).to(dtype)
    lower, upper = (torch.tensor([b, b], dtype=torch.float64) for b in bounds)
    for given in (dict(lower=bounds[0], upper=bounds[1]), dict(lower=lower, upper=upper),
                  dict(lower=lower, upper=bounds[1]), dict(lower=bounds[0], upper=upper[:1])):
        x = truncnorm(torch.zeros(2, dtype=dtype), dtype=dtype, seed=1, **given)
        assert x.dtype == dtype and bool((x == nearest).all()), given
