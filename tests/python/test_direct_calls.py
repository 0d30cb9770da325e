"""Eager calls on ordinary tensors go past the dispatcher.  They give what calls through it give, and
whoever needs to see a call in the dispatcher still does."""
import pytest
import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode

from gibbsite.torch import gibbs_sweep
from loops import TYPES, assert_rng_state, assert_same, random_model, states

FORMS = ("offset", "mean", "info")


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("stream", ["torch", "native"])
def test_as_through_the_dispatcher(dtype, stream):
    precision, location = random_model(5, dtype)
    x = states(40, 5, dtype)
    for form in FORMS:
        options = dict(form=form, sweeps=2, stream=stream)
        for how in ("new", "into", "generator"):
            results = []
            for op in (gibbs_sweep, torch.ops.gibbsite.gibbs_sweep):
                torch.manual_seed(4)
                extra = {"generator": torch.Generator().manual_seed(5)} if how == "generator" else {}
                if how != "into":
                    y = op(x, precision, location, **options, **extra)
                elif op is gibbs_sweep:
                    y = gibbs_sweep(x, precision, location, out=torch.empty_like(x), **options)
                else:
                    y = torch.empty_like(x)
                    torch.ops.gibbsite.gibbs_sweep_into(x, precision, location, into=y, **options)
                results.append((y, torch.get_rng_state()))
            assert_same(f"{form} {how}", results[1][0], results[0][0])
            assert_rng_state(results[1][1], results[0][1])


def test_what_is_written_counts_as_changed():
    """So that autograd notices a tensor that it has saved."""
    precision, location = random_model(3)
    x = states(4, 3)
    version = x._version
    gibbs_sweep(x, precision, location)
    assert x._version == version
    gibbs_sweep(x, precision, location, out=x)
    assert x._version == version + 1
    weight = torch.ones_like(x, requires_grad=True)
    saved = (weight * x).sum()
    gibbs_sweep(x, precision, location, out=x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        saved.backward()


def test_inference_mode():
    precision, location = random_model(3)
    with torch.inference_mode():
        x = states(4, 3)
        y = gibbs_sweep(x, precision, location, stream="native", seed=2)
        assert y.is_inference()
        assert gibbs_sweep(x, precision, location, stream="native", seed=2, out=x) is x
        assert_same("in place", y, x)
    assert_same("outside", y.clone(),
                gibbs_sweep(states(4, 3), precision, location, stream="native", seed=2))


def test_gradients_are_wanted_or_not():
    precision, location = random_model(3)
    x = states(4, 3).requires_grad_()
    assert gibbs_sweep(x, precision, location).requires_grad
    assert gibbs_sweep(x.detach(), precision, location.clone().requires_grad_()).requires_grad
    assert not gibbs_sweep(x.detach(), precision, location).requires_grad
    with torch.no_grad():
        assert not gibbs_sweep(x, precision, location).requires_grad
        gibbs_sweep(x, precision, location, out=x)


def test_a_profiler_sees_the_call():
    precision, location = random_model(3)
    with profile(activities=[ProfilerActivity.CPU]) as seen:
        gibbs_sweep(states(4, 3), precision, location)
    assert any(event.key == "gibbsite::_sweep" for event in seen.key_averages())


def test_a_dispatch_mode_sees_the_call():
    class Names(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.names = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.names.append(str(func))
            return func(*args, **(kwargs or {}))

    precision, location = random_model(3)
    x = states(4, 3)
    with Names() as mode:
        torch.manual_seed(1)
        got = gibbs_sweep(x, precision, location, generator=torch.default_generator)
        gibbs_sweep(x, precision, location, out=x)
    assert "gibbsite._sweep.default" in mode.names
    assert "gibbsite._sweep_into.default" in mode.names
    torch.manual_seed(1)
    assert_same("under a mode", gibbs_sweep(states(4, 3), precision, location), got)


def test_a_subclass_sees_the_call():
    class Watched(torch.Tensor):
        seen = []

        @staticmethod
        def __new__(cls, data):
            return torch.Tensor._make_wrapper_subclass(cls, data.shape, dtype=data.dtype)

        def __init__(self, data):
            self.data_ = data

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            cls.seen.append(str(func))
            plain = [a.data_ if isinstance(a, cls) else a for a in args]
            return func(*plain, **(kwargs or {}))

    precision, location = random_model(3)
    x = states(4, 3)
    got = gibbs_sweep(Watched(x), precision, location, stream="native", seed=3)
    assert "gibbsite._sweep.default" in Watched.seen
    assert_same("subclass", gibbs_sweep(x, precision, location, stream="native", seed=3), got)
