"""gibbs_sweep on CPU tensors: against the loop, against gibbsite.sample, shapes and layouts."""
import numpy as np
import pytest
import torch

import gibbsite
from gibbsite.torch import gibbs_sweep
from loops import (BOUNDS, TYPES, assert_close, assert_rng_state, assert_same, loop_sweep,
                   random_model, states)

FORMS = ("offset", "mean", "info")


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("chains", [1, 2, 7, 15, 16, 17, 100, 1000])
@pytest.mark.parametrize("form", FORMS)
def test_torch_stream_is_the_loop(dtype, chains, form):
    precision, location = random_model(9, dtype)
    x = states(chains, 9, dtype)
    torch.manual_seed(5)
    expected = x
    for _ in range(3):
        expected = loop_sweep(expected, precision, location, form)
    after = torch.get_rng_state()
    torch.manual_seed(5)
    got = gibbs_sweep(x, precision, location, form=form, sweeps=3)
    assert_close(f"B={chains} {form}", expected, got, BOUNDS[dtype])
    assert_rng_state(after, torch.get_rng_state())


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shared", [False, True])
def test_groups_draw_together(dtype, shared):
    """[G, B, D]: one randn(G, B) a site."""
    precision, location = random_model(5, dtype, groups=None if shared else 3)
    x = states(11, 5, dtype, groups=3)
    torch.manual_seed(6)
    expected = loop_sweep(loop_sweep(x, precision, location), precision, location)
    after = torch.get_rng_state()
    torch.manual_seed(6)
    got = gibbs_sweep(x, precision, location, sweeps=2)
    assert_close("groups", expected, got, BOUNDS[dtype])
    assert_rng_state(after, torch.get_rng_state())


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("omega", [0.5, 1.0, 1.7])
@pytest.mark.parametrize("form", FORMS)
def test_noise_and_over_relaxation(dtype, omega, form):
    precision, location = random_model(6, dtype)
    x, noise = states(33, 6, dtype), torch.randn(2, 6, 33, dtype=dtype)
    expected = x
    for n in range(2):
        expected = loop_sweep(expected, precision, location, form, omega, noise[n])
    before = torch.get_rng_state()
    got = gibbs_sweep(x, precision, location, form=form, sweeps=2, noise=noise, omega=omega)
    assert_close(f"w={omega} {form}", expected, got, BOUNDS[dtype])
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("form", FORMS)
def test_native_is_a_sampler_bit_for_bit(dtype, form):
    """Chain (g, b) is first_chain + g B + b, sweep n first_sweep + n, as gibbsite.sample has it."""
    precision, location = random_model(13, dtype)
    precision = (precision + precision.mT) / 2
    x = states(40, 13, dtype)
    drawn = gibbsite.sample(
        precision.numpy(), **{form: location.numpy()}, chains=40, warmup=0, draws=6, seed=2**64 - 3,
        init=x.numpy(), first_chain=1000, first_sweep=7, dtype=str(dtype).split(".")[1])
    got, kept = gibbs_sweep(x, precision, location, form=form, sweeps=6, stream="native",
                            seed=2**64 - 3, first_sweep=7, first_chain=1000, keep=2)
    assert np.array_equal(got.numpy(), drawn[:, 5])
    assert np.array_equal(kept.numpy(), drawn[:, 1::2].transpose(1, 0, 2))
    grouped = gibbs_sweep(x.view(8, 5, 13), precision, location, form=form, sweeps=6,
                          stream="native", seed=-3 % 2**64, first_sweep=7, first_chain=1000)
    assert_same("groups of the same chains", got, grouped.view(40, 13))


def test_batch_of_models_is_single_calls():
    """Ten models, one chain each: equal to ten calls at the same places of the stream."""
    precision, location = random_model(25, torch.float64, groups=10)
    x = states(1, 25, groups=10)
    got = gibbs_sweep(x, precision, location, form="mean", stream="native", seed=8, sweeps=4)
    assert got.shape == (10, 1, 25)
    for g in range(10):
        one = gibbs_sweep(x[g], precision[g], location[g], form="mean", stream="native", seed=8,
                          sweeps=4, first_chain=g)
        assert_same(f"model {g}", one, got[g])


@pytest.mark.parametrize("chains", [3, 4])
def test_location_goes_along_the_sites(chains):
    """B = D and B != D: column j is around location j, whatever B is."""
    mean = torch.tensor([1000.0, -1000.0, 0.0], dtype=torch.float64)
    x = mean.expand(chains, 3)
    got = gibbs_sweep(x, torch.eye(3, dtype=torch.float64), mean, form="mean", sweeps=5)
    assert (got - mean).abs().max() < 10  # ten standard deviations


def test_offset_and_mean_forms_differ_unless_zero():
    precision, location = random_model(4)
    x, noise = states(10, 4), torch.randn(1, 4, 10, dtype=torch.float64)
    offset = gibbs_sweep(x, precision, location, noise=noise)
    mean = gibbs_sweep(x, precision, location, noise=noise, form="mean")
    assert (offset - mean).abs().max() > 1e-3
    none = gibbs_sweep(x, precision, noise=noise)
    for form in FORMS:
        assert_same(form, none, gibbs_sweep(x, precision, torch.zeros_like(location), form=form,
                                            noise=noise))


# ---- keep, out ----


def test_kept_states_are_those_of_shorter_runs():
    precision, location = random_model(3)
    x = states(20, 3)
    got, kept = gibbs_sweep(x, precision, location, sweeps=7, stream="native", seed=1, keep=3)
    assert kept.shape == (2, 20, 3)
    for k, sweeps in enumerate((3, 6)):
        assert_same(f"kept {k}", gibbs_sweep(x, precision, location, sweeps=sweeps, stream="native",
                                             seed=1), kept[k])
    assert_same("last", gibbs_sweep(x, precision, location, sweeps=7, stream="native", seed=1), got)
    assert gibbs_sweep(x, precision, sweeps=2, keep=3)[1].shape == (0, 20, 3)


@pytest.mark.parametrize("stream", ["torch", "native"])
def test_in_place_and_out(stream):
    precision, location = random_model(6, torch.float32)
    x = states(50, 6, torch.float32)
    options = dict(sweeps=2, stream=stream, **({"seed": 4} if stream == "native" else {}))
    torch.manual_seed(1)
    expected = gibbs_sweep(x, precision, location, **options)
    out = torch.full_like(x, float("nan"))
    torch.manual_seed(1)
    assert gibbs_sweep(x, precision, location, out=out, **options) is out
    assert_same("out", expected, out)
    here = x.clone()
    version = here._version
    torch.manual_seed(1)
    result, kept = gibbs_sweep(here, precision, location, out=here, keep=1, **options)
    assert result is here and here._version == version + 1
    assert_same("in place", expected, here)
    assert_same("kept in place", expected, kept[-1])


def test_overlapping_out_is_as_if_apart():
    precision, location = random_model(4)
    storage = torch.randn(30, 4, dtype=torch.float64)
    expected = gibbs_sweep(storage[:20].clone(), precision, location, stream="native", seed=1)
    gibbs_sweep(storage[:20], precision, location, stream="native", seed=1, out=storage[5:25])
    assert_same("overlap", expected, storage[5:25])


def test_no_sweeps_and_no_chains():
    precision, location = random_model(4)
    x = states(5, 4)
    before = torch.get_rng_state()
    assert_same("no sweeps", x, gibbs_sweep(x, precision, location, sweeps=0))
    assert gibbs_sweep(x[:0], precision, location).shape == (0, 4)
    assert gibbs_sweep(x[:0], precision, location, sweeps=3, keep=1)[1].shape == (3, 0, 4)
    assert gibbs_sweep(x.view(5, 1, 4)[:0], precision, location).shape == (0, 1, 4)
    assert torch.equal(before, torch.get_rng_state())


# ---- layouts ----


def layouts(x):
    """The same numbers in other places, and what memory around them must stay."""
    chains, dim = x.shape
    transposed = x.t().contiguous().t()
    spaced = torch.full((chains, 2 * dim + 1), 7.0, dtype=x.dtype)
    spaced[:, 1::2] = x
    flipped = torch.full((2 * chains, dim), 7.0, dtype=x.dtype)
    flipped[::2] = x
    return {"transposed": transposed, "every other column": spaced[:, 1::2],
            "every other row": flipped[::2]}


@pytest.mark.parametrize("stream", ["torch", "native"])
def test_layouts_do_not_change_the_numbers(stream):
    """As result, as out and in place; memory beside a view is left alone."""
    precision, location = random_model(10, torch.float32)
    x = states(20, 10, torch.float32)
    options = dict(stream=stream, **({"seed": 9} if stream == "native" else {}))
    torch.manual_seed(42)
    expected = gibbs_sweep(x, precision, location, **options)
    for name in layouts(x):
        view = layouts(x)[name]
        torch.manual_seed(42)
        got = gibbs_sweep(view, precision, location, **options)
        assert_same(name, expected, got)
        assert got.stride() == view.clone().stride()
        torch.manual_seed(42)
        gibbs_sweep(view, precision, location, out=view, **options)
        assert_same(f"{name}, in place", expected, view)
        beside = view._base
        if beside is not None and beside.numel() > view.numel():
            untouched = torch.full_like(beside, 0.0)
            untouched.as_strided(view.shape, view.stride(), view.storage_offset()).fill_(1.0)
            assert (beside[untouched == 0.0] == 7.0).all()


def test_views_of_precision_location_and_noise():
    precision, location = random_model(5)
    x, noise = states(8, 5), torch.randn(2, 5, 8, dtype=torch.float64)
    expected = gibbs_sweep(x, precision, location, noise=noise, sweeps=2)
    wide = torch.zeros(5, 12, dtype=torch.float64)
    wide[:, 3:8] = precision
    for name, q in (("rows apart", wide[:, 3:8]), ("columns", precision.t().contiguous().t())):
        assert_same(name, expected, gibbs_sweep(x, q, location, noise=noise, sweeps=2))
    every = torch.stack([location, location], 1)[:, 0]
    turned = noise.permute(2, 1, 0).contiguous().permute(2, 1, 0)
    assert_same("location, noise", expected, gibbs_sweep(x, precision, every, noise=turned,
                                                         sweeps=2))
    same = gibbs_sweep(x[:1].expand(8, 5), precision, location, noise=noise, sweeps=2)
    assert_same("one start for all", gibbs_sweep(x[:1].repeat(8, 1), precision, location,
                                                 noise=noise, sweeps=2), same)
    shared = gibbs_sweep(x.view(2, 4, 5), precision.expand(2, 5, 5), location.expand(2, 5),
                         noise=noise.view(2, 5, 2, 4), sweeps=2)
    assert_same("one model for all groups", expected, shared.view(8, 5))


# ---- rows as given ----


def test_asymmetric_precision_is_read_by_rows():
    precision = torch.tensor([[2.0, 0.5], [-1.0, 4.0]], dtype=torch.float64)
    x = torch.tensor([[10.0, 20.0]], dtype=torch.float64)
    noise = torch.tensor([[[1.0], [-1.0]]], dtype=torch.float64)
    got = gibbs_sweep(x, precision, noise=noise)
    assert_close("rows", loop_sweep(x, precision, noise=noise[0]), got, 1e-14)


@pytest.mark.parametrize("bad", [0.0, -2.0, float("nan")])
def test_bad_diagonal_makes_that_column_nan(bad):
    precision, location = random_model(5, torch.float32)
    precision[3, 3] = bad
    torch.manual_seed(1)
    expected = loop_sweep(states(6, 5, torch.float32), precision, location)
    torch.manual_seed(1)
    got = gibbs_sweep(states(6, 5, torch.float32), precision, location)
    assert got[:, 3].isnan().all() and not got[:, :3].isnan().any()
    assert torch.equal(expected.isfinite(), got.isfinite())
    assert_close("columns before", expected[:, :3], got[:, :3], BOUNDS[torch.float32])


# ---- numbers are not repeated ----


def test_calls_in_a_row_differ_and_seeds_repeat():
    precision = torch.eye(1)
    for shape in ((4, 1), (1, 4, 1), (4, 1, 1), (2, 2, 1)):
        x = torch.zeros(shape)
        torch.manual_seed(3)
        first, second = gibbs_sweep(x, precision), gibbs_sweep(x, precision)
        torch.manual_seed(3)
        again = gibbs_sweep(x.clone(), precision.clone())
        assert_same("same seed, other addresses", first, again)
        assert len(torch.cat([first.flatten(), second.flatten()]).unique()) == 8
        native = gibbs_sweep(x, precision, stream="native", seed=3)
        assert len(native.unique()) == 4
        assert_same("native", native, gibbs_sweep(x.clone(), precision, stream="native", seed=3))
        later = gibbs_sweep(x, precision, stream="native", seed=3, first_sweep=1)
        assert len(torch.cat([native.flatten(), later.flatten()]).unique()) == 8


def test_stationary_law():
    """20,000 chains from the law itself, one sweep: means and covariances within 5 standard errors."""
    precision, location = random_model(3)
    covariance = torch.linalg.inv(precision)
    torch.manual_seed(11)
    start = location + torch.randn(20000, 3, dtype=torch.float64) @ torch.linalg.cholesky(
        covariance).T
    for stream in ("torch", "native"):
        got = gibbs_sweep(start, precision, location, form="mean", stream=stream, sweeps=3)
        error = (got.mean(0) - location) / (covariance.diagonal() / 20000).sqrt()
        assert error.abs().max() < 5
        found = torch.cov(got.T)
        spread = ((covariance.diagonal().outer(covariance.diagonal()) + covariance**2) / 20000).sqrt()
        assert ((found - covariance) / spread).abs().max() < 5
