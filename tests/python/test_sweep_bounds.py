"""gibbs_sweep between bounds on CPU tensors; tests/gpu has those on CUDA tensors."""
import math

import numpy as np
import pytest
import torch

import gibbsite
from gibbsite.torch import gibbs_sweep

Q = torch.tensor([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("overrelax", [0.0, 0.7])
def test_is_what_sample_draws(dtype, overrelax):
    """One chain number, seed and sweep: the same bits as gibbsite.sample from the same start."""
    lower, upper = torch.tensor([0.0, -math.inf, 1.0]), torch.tensor([math.inf, 0.5, 1.5])
    x = torch.tensor([0.25, 0.0, 1.25], dtype=dtype).repeat(9, 1)
    expected = gibbsite.sample(Q.double().numpy(), info=[1.0, 0, -1], lower=lower.numpy(), upper=upper.numpy(),
                               overrelax=overrelax, method="gibbs", chains=9, warmup=0, draws=4, seed=11, init=x.numpy(),
                               dtype=str(dtype).removeprefix("torch."))
    last, kept = gibbs_sweep(x, Q.to(dtype), torch.tensor([1.0, 0, -1], dtype=dtype), form="info", sweeps=4,
                             stream="native", seed=11, keep=1, lower=lower, upper=upper, overrelax=overrelax)
    assert np.array_equal(kept.numpy().transpose(1, 0, 2), np.asarray(expected))
    assert torch.equal(last, kept[-1])


def test_groups_and_strides():
    q = torch.stack([Q, 2 * Q, Q + torch.eye(3)])
    lower = torch.tensor([[0.0, 0, 0], [-1, -1, -1], [0.5, 0.5, 0.5]])
    x = torch.ones(3, 5, 3).transpose(0, 1).contiguous().transpose(0, 1)
    assert not x.is_contiguous()
    options = dict(stream="native", seed=3, sweeps=3)
    together = gibbs_sweep(x, q, lower=lower, upper=2, **options)
    for g in range(3):
        alone = gibbs_sweep(x[g], q[g], lower=lower[g], upper=2, first_chain=5 * g, **options)
        assert torch.equal(together[g], alone)
    assert bool((together >= lower[:, None]).all()) and bool((together <= 2).all())
    out = torch.empty_like(x)
    assert gibbs_sweep(x, q, lower=lower, upper=2, out=out, **options) is out
    assert torch.equal(out, together)


def test_seeds_and_free_bounds():
    x = torch.zeros(4, 3)
    torch.manual_seed(1)
    first = gibbs_sweep(x, Q, lower=0, stream="native")
    second = gibbs_sweep(x, Q, lower=0, stream="native")
    torch.manual_seed(1)
    assert torch.equal(first, gibbs_sweep(x, Q, lower=0, stream="native")) and not torch.equal(first, second)
    free = gibbs_sweep(x, Q, lower=-math.inf, stream="native", seed=2)
    assert torch.equal(free, gibbs_sweep(x, Q, stream="native", seed=2))
    assert torch.equal(gibbs_sweep(x, Q, stream="native", seed=2, overrelax=0.5),
                       gibbs_sweep(x, Q, stream="native", seed=2, omega=1.5))


def test_bounds_are_rounded_inward():
    upper = torch.full((3,), 0.3, dtype=torch.float64)
    x = gibbs_sweep(torch.full((64, 3), 0.2), 1e-12 * Q, lower=0.1, upper=upper, stream="native", seed=1)
    assert x.double().min() >= 0.1 and x.double().max() <= 0.3


@pytest.mark.parametrize("options, words", [
    (dict(lower=1, upper=0), "lower: group 0, site 0: 1 is above upper, 0"),
    (dict(lower=np.ma.array([0.0, 1, 0], mask=[0, 1, 0])), "lower: [1] is masked; an array without masked"),
    (dict(lower=0, upper=np.ma.masked), "upper: it is masked"),
    (dict(lower=math.nan), "lower: group 0, site 0 is NaN"),
    (dict(lower=[0, 0]), "lower has shape [2]; a number, [3] is needed"),
    (dict(upper=-1), "x: group 0, chain 0, site 0 is 0, not between its bounds -inf and -1"),
    (dict(lower=0, stream="torch"), "is of normals alone"),
    (dict(lower=0, noise=torch.zeros(1, 3, 2)), "take words, not normals"),
    (dict(lower=0, omega=1.2), "omega"), (dict(lower=0, overrelax=1.0), "overrelax: 1 is not in"),
    (dict(overrelax=0.5, omega=1.2), "one is allowed"), (dict(lower=0, keep=0), "keep is 0"),
    (dict(lower=0, seed=2**64), "seed: 18446744073709551616; a whole"), (dict(lower=math.inf), "leaves it no number to take"),
])
def test_refused(options, words):
    with pytest.raises(ValueError) as caught:
        gibbs_sweep(torch.zeros(2, 3), Q, **{"stream": "native", "seed": 1, **options})
    assert words in str(caught.value)


def test_refused_types():
    for kind in (torch.bool, torch.complex64):
        with pytest.raises(TypeError, match="lower is .*; real numbers are needed"):
            gibbs_sweep(torch.zeros(2, 3), Q, lower=torch.zeros(3).to(kind), stream="native", seed=1)
    with pytest.raises(ValueError, match="overrelax is 0.5, but there are no bounds"):
        torch.ops.gibbsite.gibbs_sweep(torch.zeros(2, 3), Q, overrelax=0.5)


@pytest.mark.parametrize("name", ["x", "precision", "location", "lower", "upper"])
def test_not_differentiable(name):
    """The argument is named, whichever it is, with and without keep and out."""
    tensors = dict(x=torch.zeros(2, 3), precision=Q, location=torch.zeros(3), lower=torch.zeros(3),
                   upper=torch.ones(3))
    tensors[name] = tensors[name].clone().requires_grad_()
    for options in (dict(), dict(keep=1), dict(out=torch.empty(2, 3))):
        with pytest.raises(RuntimeError, match=f"{name} requires grad, but draws between bounds are not"):
            gibbs_sweep(**tensors, stream="native", seed=1, **options)
        with torch.no_grad():
            gibbs_sweep(**tensors, stream="native", seed=1, **options)
    tensors[name] = tensors[name].detach()
    assert not gibbs_sweep(**tensors, stream="native", seed=1).requires_grad


def test_rounding_is_the_models():
    """Bounds given in double to a float sweep: those of a model's sampler, also where no float lies
    between them, and where they are beyond every float."""
    tiny, big = 2.0**-40, 1e300
    boxes = [(0.1, 0.3), (0.1, 0.1), (1 + tiny, 1 + 2 * tiny), (-big, 1.0), (-1.0, big), (-big, big),
             (-math.inf, -0.7), (big, math.inf), (-math.inf, -big), (1e-50, 2e-50), (-2e-50, -1e-50)]
    lower, upper = (torch.tensor(bound, dtype=torch.float64) for bound in zip(*boxes))
    q = torch.eye(len(boxes), dtype=torch.float64)
    expected = torch.from_numpy(np.array(gibbsite.sample(
        q.numpy(), lower=lower.numpy(), upper=upper.numpy(), method="gibbs", chains=3, warmup=0, draws=2,
        seed=5, dtype="float32")))
    x = expected[:, 0].contiguous()  # inside, so a start; its successor is the run's
    got = gibbs_sweep(x, q.float(), lower=lower, upper=upper, stream="native", seed=5, first_sweep=1)
    assert torch.equal(got, expected[:, 1]), f"expected {expected[:, 1]}, got {got}"


def test_autocast_and_integers():
    x = torch.zeros(4, 3, dtype=torch.bfloat16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        got = gibbs_sweep(x, Q.bfloat16(), lower=torch.tensor([-1, -1, 0]), upper=torch.ones(3).bfloat16(),
                          stream="native", seed=1)
    assert got.dtype == torch.float32
    assert torch.equal(got, gibbs_sweep(x.float(), Q, lower=[-1.0, -1, 0], upper=1, stream="native", seed=1))


def test_memory_that_is_shared_with_the_result():
    """Bounds that lie in out are read before it is written."""
    out = torch.zeros(3, 3)
    expected = gibbs_sweep(torch.ones(3, 3), Q, lower=torch.zeros(3), stream="native", seed=1)
    gibbs_sweep(torch.ones(3, 3), Q, lower=out[1], out=out, stream="native", seed=1)
    assert torch.equal(out, expected)


def test_threads_do_not_matter():
    q, x = torch.eye(40) * 2, torch.zeros(301, 40)
    options = dict(lower=-0.5, upper=1, stream="native", seed=3, sweeps=3)
    before, results = torch.get_num_threads(), []
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        results.append(gibbs_sweep(x, q, **options))
    torch.set_num_threads(before)
    assert all(torch.equal(results[0], r) for r in results[1:])


def test_a_batch_of_problems():
    """Case C26: ten models with means of their own in one call, and one by one at the same places of the
    stream; one draw each."""
    generator = torch.Generator().manual_seed(26)
    factor = torch.randn(10, 25, 25, generator=generator, dtype=torch.float64) / 5
    q = torch.linalg.inv(factor @ factor.mT + torch.eye(25, dtype=torch.float64))
    q, mean = (q + q.mT) / 2, 3 * torch.randn(10, 25, generator=generator, dtype=torch.float64)
    x = mean[:, None].clamp(-10, 10)
    options = dict(form="mean", lower=-10, upper=10, stream="native", seed=26)
    together = gibbs_sweep(x, q, mean, **options)
    assert together.shape == (10, 1, 25) and bool((together.abs() <= 10).all())
    for g in range(10):
        assert torch.equal(together[g], gibbs_sweep(x[g], q[g], mean[g], first_chain=g, **options))


@pytest.mark.parametrize("mean, sd, lower, upper, expected", [
    ((1, 2, 3), 0.1, 0, 2, (1.0, 1.92021154392, 1.99019067660)),  # C14: a vector against numbers
    ((10, -10, 0), 1.0, (9, -11, -1), (11, -9, 1), (10, -10, 0)),  # C20: boxes that move with the means
])
@pytest.mark.parametrize("chains", [3, 4, 20000])
def test_each_site_has_its_own_box(mean, sd, lower, upper, expected, chains):
    mean = torch.tensor(mean, dtype=torch.float64)
    lower, upper = (torch.as_tensor(b, dtype=torch.float64).expand(3) for b in (lower, upper))
    x = gibbs_sweep(mean.clamp(lower, upper).repeat(chains, 1), torch.eye(3).double() / sd**2, mean, form="mean",
                    lower=lower, upper=upper, stream="native", seed=14)
    assert bool((x >= lower).all()) and bool((x <= upper).all())
    if chains > 4:
        error = x.std(0) / chains**0.5
        z = (x.mean(0) - torch.tensor(expected, dtype=torch.float64)) / error
        assert z.abs().max() < 5, f"expected {expected}, got {x.mean(0)}, {z} standard errors"
