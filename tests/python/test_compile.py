"""torch.compile, whole graphs: with torch's own random calls left eager (fallback_random) a
compiled program gives what the eager one gives and leaves the generator there; without, the law."""
import pytest
import torch
import torch._dynamo
import torch._inductor.config

from gibbsite.torch import GibbsSweep, gibbs_sweep
from loops import assert_rng_state
from programs import NAMES, BoundedPrograms, Programs, keeps_torch_order, run

BACKENDS = ["eager", "aot_eager_decomp_partition", "inductor"]
PROGRAMS, BOUNDED = Programs(), BoundedPrograms()
sweep = PROGRAMS.sweep


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("grad", [False, True], ids=["inference", "training"])
@pytest.mark.parametrize("name", NAMES)
def test_compiled_equals_eager(name, grad, backend):
    if not keeps_torch_order(name) and backend == "inductor":
        pytest.skip("this PyTorch does not keep its own random calls in order")
    program = getattr(PROGRAMS, name)
    x = torch.randn(200, 4, generator=torch.Generator().manual_seed(0)).requires_grad_(grad)
    torch._dynamo.reset()
    with torch._inductor.config.patch(fallback_random=True):
        compiled = torch.compile(program, backend=backend, fullgraph=True)
        for seed in (3, 4):  # the second call comes from the cache
            expected, gradient = run(program, x, seed)
            state = torch.get_rng_state()
            got, compiled_gradient = run(compiled, x, seed)
            for a, b in zip(expected, got):
                torch.testing.assert_close(b, a, atol=1e-4, rtol=1e-4)
            if grad:
                torch.testing.assert_close(compiled_gradient, gradient, atol=1e-3, rtol=1e-3)
            assert_rng_state(state, torch.get_rng_state())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", NAMES)
def test_compiled_between_bounds(name, backend):
    if not keeps_torch_order(name) and backend == "inductor":
        pytest.skip("this PyTorch does not keep its own random calls in order")
    program = getattr(BOUNDED, name)
    x = torch.randn(200, 4, generator=torch.Generator().manual_seed(0))
    torch._dynamo.reset()
    with torch._inductor.config.patch(fallback_random=True):
        compiled = torch.compile(program, backend=backend, fullgraph=True)
        for seed in (3, 4):
            expected, _ = run(program, x, seed)
            state = torch.get_rng_state()
            got, _ = run(compiled, x, seed)
            for a, b in zip(expected, got):
                torch.testing.assert_close(b, a, atol=1e-4, rtol=1e-4)
            assert_rng_state(state, torch.get_rng_state())


@pytest.mark.parametrize("programs", [PROGRAMS, BOUNDED], ids=["free", "bounded"])
@pytest.mark.parametrize("name", [n for n in NAMES if n != "among_other_random_calls"])
def test_order_does_not_depend_on_fallback(name, programs):
    """No torch random call in it: the same numbers, whatever the random setting."""
    program = getattr(programs, name)
    x = torch.randn(200, 4)
    torch._dynamo.reset()
    expected, _ = run(program, x, 3)
    state = torch.get_rng_state()
    got, _ = run(torch.compile(program, fullgraph=True), x, 3)
    for a, b in zip(expected, got):
        torch.testing.assert_close(b, a, atol=1e-4, rtol=1e-4)
    assert_rng_state(state, torch.get_rng_state())


def test_law_without_fallback():
    """Compiled next to compiled normals: N(0, Q^-1) stays; moments within 5 standard errors and a
    Kolmogorov-Smirnov test, P = 7e-4 (fixed seed)."""
    torch._dynamo.reset()
    precision = torch.eye(2)

    def program(x):
        return gibbs_sweep(x + 0 * torch.randn(x.shape), precision)

    torch.manual_seed(1)
    y = torch.compile(program, fullgraph=True)(torch.zeros(20000, 2)).flatten().double()
    assert abs(y.mean()) < 5 / 200 and abs(y.var() - 1) < 5 * 2**0.5 / 200
    ordered = torch.sort(y).values
    normal = 0.5 * (1 + torch.erf(ordered / 2**0.5))
    places = torch.arange(1, len(y) + 1) / len(y)
    assert (places - normal).abs().max() < 2.0 / len(y) ** 0.5


def test_dynamic_batches_and_seeds_do_not_recompile():
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounter()

    @torch.compile(backend=counter, fullgraph=True, dynamic=True)
    def program(x, seed, first):
        return sweep(x, stream="native", seed=seed, first_sweep=first)

    for chains, seed, first in ((8, 11, 2), (20, 12, 3), (33, 13, 50), (70, 14, 700)):
        x = torch.randn(chains, 4)
        assert torch.equal(program(x, seed, first),
                           sweep(x, stream="native", seed=seed, first_sweep=first))
    assert counter.frame_count == 1


def test_explicit_generator_is_a_clear_error():
    torch._dynamo.reset()
    generator = torch.Generator().manual_seed(1)
    compiled = torch.compile(lambda x: sweep(x, generator=generator), fullgraph=True)
    # PyTorch 2.6 says where the exception is raised, but not its text
    with pytest.raises(Exception, match="only the default generator can be used|Observed exception"):
        compiled(torch.randn(4, 4))


def test_bounds_as_arguments_of_the_program():
    """Tensors that change, of another type than x, and numbers; overrelax; no recompilation."""
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounter()

    def eager(x, lower, upper, seed):
        y, kept = gibbs_sweep(x, PROGRAMS.precision, lower=lower, upper=upper, stream="native",
                              seed=seed, sweeps=3, keep=2, overrelax=0.5)
        return y - kept[0], gibbs_sweep(x, PROGRAMS.precision, lower=-0.25, upper=[1, 1, 1, 2.0],
                                        stream="native", seed=seed)

    program = torch.compile(eager, backend=counter, fullgraph=True, dynamic=True)
    for chains, low in ((8, -0.5), (20, -0.25), (33, -1.0)):
        x = torch.rand(chains, 4)
        lower, upper = torch.full((4,), low, dtype=torch.float64), torch.full((), 1.0 + chains)
        for a, b in zip(eager(x, lower, upper, chains), program(x, lower, upper, chains)):
            assert torch.equal(a, b)
    assert counter.frame_count == 1


def test_bounds_and_gradients_are_a_clear_error():
    torch._dynamo.reset()
    x = torch.zeros(3, 4, requires_grad=True)
    compiled = torch.compile(lambda x: BOUNDED.sweep(x), fullgraph=True)
    # PyTorch 2.6 says where the exception is raised, but not its text
    with pytest.raises(Exception, match="x requires grad, but draws between|Observed exception"):
        compiled(x)
    with torch.no_grad():
        assert compiled(x).shape == (3, 4)


def test_seeds_above_63_bits():
    torch._dynamo.reset()
    x = torch.randn(4, 4)
    for seed in (2**64 - 1, -1, 2**63):
        expected = sweep(x, stream="native", seed=seed)
        got = torch.compile(lambda x: sweep(x, stream="native", seed=seed), backend="eager",
                            fullgraph=True)(x)
        assert torch.equal(expected, got)


def test_module():
    torch._dynamo.reset()
    module = GibbsSweep(6)
    x = torch.randn(17, 6)
    torch.manual_seed(2)
    expected = module(x)
    torch.manual_seed(2)
    torch.testing.assert_close(torch.compile(module, fullgraph=True)(x), expected)


def test_module_whose_buffers_change():
    """Moved, loaded, assigned or lent for one call: each is read at the next call, compiled too."""
    torch._dynamo.reset()
    module, other = GibbsSweep(6), GibbsSweep(6)
    compiled = torch.compile(module, fullgraph=True)
    x = torch.randn(17, 6)

    def check(expected_module, call):
        torch.manual_seed(2)
        expected = gibbs_sweep(x, expected_module.precision, expected_module.mu)
        torch.manual_seed(2)
        torch.testing.assert_close(call(x), expected)

    check(module, compiled)
    module.mu = torch.randn(6)
    check(module, module)
    check(module, compiled)
    module.load_state_dict(other.state_dict())
    check(other, module)
    check(other, compiled)
    third = GibbsSweep(6)
    check(third, lambda x: torch.func.functional_call(module, third.state_dict(), (x,)))
    module.double()
    x = x.double()
    check(module, module)


def test_export():
    module = GibbsSweep(6)
    x = torch.randn(17, 6)
    exported = torch.export.export(module, (x,), strict=False).module()
    torch.manual_seed(2)
    expected = module(x)
    torch.manual_seed(2)
    torch.testing.assert_close(exported(x), expected)
