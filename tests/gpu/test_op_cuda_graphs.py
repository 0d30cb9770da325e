#!/usr/bin/env python3
"""The op in CUDA graphs and under torch.compile.

    tools/gpu_package.sh build/cuda python3 tests/gpu/test_op_cuda_graphs.py        or pytest
"""
import sys

from op_cuda import CUDA, captured, cuda_state, main, model, raises, start  # first: it sets the path

import torch
import torch._dynamo
import torch._inductor.config

from gibbsite.torch import GibbsSweep, gibbs_sweep
from loops import TYPES, assert_close, assert_same
from programs import NAMES, BoundedPrograms, Programs, keeps_torch_order, run


def test_graph_continues_the_stream():
    """Three replays equal thirty eager calls, with the default and with a registered generator."""
    precision, location = model(32, torch.float32)
    x = start(4096, 32, dtype=torch.float32)
    for own in (False, True):
        generator = torch.Generator(CUDA) if own else None

        def reseed():
            (generator or torch).manual_seed(123)

        def sweep(y):
            gibbs_sweep(y, precision, location, generator=generator, out=y)

        graph, y = captured(x, sweep, generator)
        reseed()
        y.copy_(x)
        for _ in range(3):
            graph.replay()
        state = generator.get_state() if own else cuda_state()
        reseed()
        expected = x.clone()
        for _ in range(30):
            sweep(expected)
        assert_same(f"graph, own generator={own}", expected, y)
        assert torch.equal(state, generator.get_state() if own else cuda_state())


def test_graph_native_without_seed():
    """Each replay draws seeds of its own, as eager calls do: one captured call, ten, and calls next
    to torch's own; lanes and tiles; two sweeps, so that a seed lasts for its whole call."""
    for dtype in TYPES:
        for dim, chains in ((1, 1), (20, 33), (32, 4096), (100, 70000), (300, 65)):
            precision, location = model(dim, dtype)
            x = start(chains, dim, dtype=dtype)
            for own in (False, True):
                generator = torch.Generator(CUDA) if own else None

                def sweep(y):
                    gibbs_sweep(y, precision, location, stream="native", sweeps=2,
                                generator=generator, out=y)
                    torch.randn(11, device=CUDA, generator=generator)

                graph, y = captured(x, sweep, generator)
                (generator or torch).manual_seed(2**63 - 5)
                torch.randn(1001, device=CUDA, generator=generator)
                y.copy_(x)
                for _ in range(2):
                    graph.replay()
                state = generator.get_state() if own else cuda_state()
                (generator or torch).manual_seed(2**63 - 5)
                torch.randn(1001, device=CUDA, generator=generator)
                expected = x.clone()
                for _ in range(20):
                    sweep(expected)
                assert_same(f"{dtype} D={dim} B={chains} own={own}", expected, y)
                assert torch.equal(state, generator.get_state() if own else cuda_state())


def test_graph_between_bounds_without_seed():
    """The same between bounds: a number and a tensor that is rounded in the graph, states in shared
    memory and beyond, plain and over-relaxed, one model and one for each group."""
    for dtype in TYPES:
        for dim, chains, groups, r in ((1, 1, None, 0.0), (20, 33, None, 0.7), (60, 300, None, 0.0),
                                       (150, 70, None, 0.5), (7, 130, 3, 0.0)):
            precision, location = model(dim, dtype, groups=groups)
            upper = torch.linspace(0.1, 3.3, dim, dtype=torch.float64, device=CUDA)
            x = start(chains, dim, dtype=dtype, groups=groups).clamp(-0.75, 0.1 - 2.0**-10)
            for own in (False, True):
                generator = torch.Generator(CUDA) if own else None

                def sweep(y):
                    gibbs_sweep(y, precision, location, stream="native", sweeps=2, lower=-0.75,
                                upper=upper, overrelax=r, generator=generator, out=y)
                    torch.randn(11, device=CUDA, generator=generator)

                graph, y = captured(x, sweep, generator)
                (generator or torch).manual_seed(2**63 - 5)
                torch.randn(1001, device=CUDA, generator=generator)
                y.copy_(x)
                for _ in range(2):
                    graph.replay()
                state = generator.get_state() if own else cuda_state()
                (generator or torch).manual_seed(2**63 - 5)
                torch.randn(1001, device=CUDA, generator=generator)
                expected = x.clone()
                for _ in range(20):
                    sweep(expected)
                assert_same(f"bounds {dtype} D={dim} B={chains} r={r} own={own}", expected, y)
                assert not torch.equal(y, x)
                assert torch.equal(state, generator.get_state() if own else cuda_state())


def test_graph_refusals():
    """A generator that the graph does not know: refused before anything is launched or drawn;
    generator and op are usable afterwards."""
    precision, location = model(8, torch.float32)
    x = start(100, 8, dtype=torch.float32)
    generator = torch.Generator(CUDA).manual_seed(5)
    gibbs_sweep(x, precision, location, generator=generator)
    before, default = generator.get_state(), cuda_state()
    for options in (dict(stream="torch"), dict(stream="native"), dict(stream="native", lower=-100)):
        def capture(options=options):
            with torch.cuda.graph(torch.cuda.CUDAGraph()):
                gibbs_sweep(x, precision, location, generator=generator, **options)

        raises(RuntimeError, "is not registered with the CUDA graph", capture)
        assert torch.equal(before, generator.get_state()) and torch.equal(default, cuda_state())
    again = torch.Generator(CUDA)
    again.set_state(before)
    assert_same("afterwards", gibbs_sweep(x, precision, location, generator=again),
                gibbs_sweep(x, precision, location, generator=generator))
    torch.randn(5, device=CUDA)
    gibbs_sweep(x, precision, location)
    test_graph_continues_the_stream()


def test_graph_with_noise_and_seed():
    precision, location = model(40, torch.float64)
    x, noise = start(50, 40), torch.randn(2, 40, 50, dtype=torch.float64, device=CUDA)
    for options in (dict(noise=noise), dict(stream="native", seed=4)):
        def sweep(y, options=options):
            gibbs_sweep(y, precision, location, sweeps=2, out=y, **options)

        graph, y = captured(x, sweep)
        y.copy_(x)
        graph.replay()
        expected = x.clone()
        for _ in range(10):
            sweep(expected)
        assert_same(f"graph, {list(options)}", expected, y)


def test_compile():
    programs = Programs(CUDA)
    for name in NAMES:
        for grad in (False, True):
            if not keeps_torch_order(name):
                print(f"skipped: {name}: this PyTorch does not keep its own random calls in order")
                continue
            x = start(200, 4, dtype=torch.float32).requires_grad_(grad)
            program = getattr(programs, name)
            torch._dynamo.reset()
            with torch._inductor.config.patch(fallback_random=True):
                compiled = torch.compile(program, fullgraph=True)
                for seed in (3, 4):
                    expected, gradient = run(program, x, seed)
                    state = cuda_state()
                    got, compiled_gradient = run(compiled, x, seed)
                    for a, b in zip(expected, got):
                        torch.testing.assert_close(b, a, atol=1e-4, rtol=1e-4)
                    if grad:
                        torch.testing.assert_close(compiled_gradient, gradient, atol=1e-3, rtol=1e-3)
                    assert torch.equal(state, cuda_state()), f"{name} grad={grad}: generator state"


def test_compile_between_bounds():
    programs = BoundedPrograms(CUDA)
    for name in NAMES:
        if not keeps_torch_order(name):
            print(f"skipped: {name}: this PyTorch does not keep its own random calls in order")
            continue
        x = start(200, 4, dtype=torch.float32)
        program = getattr(programs, name)
        torch._dynamo.reset()
        with torch._inductor.config.patch(fallback_random=True):
            compiled = torch.compile(program, fullgraph=True)
            for seed in (3, 4):
                expected, _ = run(program, x, seed)
                state = cuda_state()
                got, _ = run(compiled, x, seed)
                for a, b in zip(expected, got):
                    torch.testing.assert_close(b, a, atol=1e-4, rtol=1e-4)
                assert torch.equal(state, cuda_state()), f"{name}: generator state"


def test_compile_between_bounds_reduce_overhead():
    torch._dynamo.reset()
    programs = BoundedPrograms(CUDA)
    x = start(4096, 4, dtype=torch.float32)
    compiled = torch.compile(programs.sweep, mode="reduce-overhead", fullgraph=True)
    for _ in range(3):
        compiled(x)  # warm-up, recording
    torch.manual_seed(3)
    got = [compiled(x).clone() for _ in range(4)]
    state = cuda_state()
    torch.manual_seed(3)
    for k in range(4):
        assert_close(f"call {k}", programs.sweep(x), got[k], 1e-5)
    assert torch.equal(state, cuda_state()) and not torch.equal(got[0], got[1])


def test_compile_reduce_overhead():
    """Inductor's own CUDA graphs: each call goes on with the stream."""
    torch._dynamo.reset()
    module = GibbsSweep(32).to(CUDA)
    x = start(4096, 32, dtype=torch.float32)
    compiled = torch.compile(module, mode="reduce-overhead", fullgraph=True)
    for _ in range(3):
        compiled(x)  # warm-up, recording
    torch.manual_seed(3)
    got = [compiled(x).clone() for _ in range(4)]
    state = cuda_state()
    torch.manual_seed(3)
    for k in range(4):
        assert_close(f"call {k}", module(x), got[k], 1e-5)
    assert torch.equal(state, cuda_state())


def test_compile_explicit_generator_is_refused():
    torch._dynamo.reset()
    generator = torch.Generator(CUDA).manual_seed(1)
    precision, location = model(4, torch.float32)
    compiled = torch.compile(lambda x: gibbs_sweep(x, precision, location, generator=generator),
                             fullgraph=True)
    raises(Exception, "only the default generator can be used",
           lambda: compiled(start(4, 4, dtype=torch.float32)))


if __name__ == "__main__":
    sys.exit(main(globals()))
