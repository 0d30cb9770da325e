#!/usr/bin/env python3
"""The op on a GPU as PyTorch calls it: opcheck, gradients, autocast, streams, threads, refusals.

    tools/gpu_package.sh build/cuda python3 tests/gpu/test_op_cuda_calls.py        or pytest
"""
import sys
import time

from op_cuda import CUDA, FORMS, capture, captured, cuda_state, main, model, raises, start  # first: it sets the path

import torch
from torch.autograd import gradcheck
from torch.library import opcheck

from gibbsite.torch import GibbsSweep, gibbs_sweep
from loops import TYPES, assert_same


def test_opcheck():
    for groups in (None, 3):
        for grad in (False, True):
            precision, location = model(4, torch.float64, groups=groups)
            x = start(5, 4, groups=groups)
            noise = torch.randn(2, 4, *x.shape[:-1], dtype=torch.float64, device=CUDA)
            tensors = [t.clone().requires_grad_(grad) for t in (x, precision, location, noise)]
            rest = (1, 2, 1, None, None, 0, 0, 1.2, False, None, None, 0.0, 0, None)
            opcheck(torch.ops.gibbsite._sweep.default, (*tensors, *rest))
            opcheck(torch.ops.gibbsite._sweep_kept.default, (*tensors, *rest, 1))
            if not grad:
                opcheck(torch.ops.gibbsite._sweep_into.default,
                        (*tensors, *rest, 1, torch.empty_like(x)))


def test_gradcheck():
    for form in FORMS:
        precision, location = model(3)
        noise = torch.randn(2, 3, 4, dtype=torch.float64, device=CUDA)
        arguments = [t.clone().requires_grad_() for t in (start(4, 3), precision, location, noise)]
        assert gradcheck(lambda x, q, m, z, form=form: gibbs_sweep(
            x, q, m, form=form, sweeps=2, noise=z, omega=1.2, keep=1), arguments)


def test_autocast():
    precision, location = model(4, torch.float32)
    x = start(9, 4, dtype=torch.float32).bfloat16()
    torch.manual_seed(1)
    expected = gibbs_sweep(x.float(), precision, location)
    with torch.autocast("cuda", torch.bfloat16):
        torch.manual_seed(1)
        got = gibbs_sweep(x, precision, location)
    assert got.dtype == torch.float32
    assert_same("autocast", expected, got)


def test_no_hidden_synchronisation():
    precision, location = model(32, torch.float32)
    x = start(4096, 32, dtype=torch.float32)
    gibbs_sweep(x, precision, location)
    torch.cuda.set_sync_debug_mode("error")
    try:
        for options in (dict(), dict(stream="native"), dict(stream="native", seed=1), dict(keep=1)):
            gibbs_sweep(x, precision, location, sweeps=2, **options)
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_current_stream_is_used():
    """Work queued behind a long kernel on the caller's stream sees what that stream wrote."""
    precision, location = model(16, torch.float32)
    x = start(1000, 16, dtype=torch.float32)
    expected = gibbs_sweep(2 * x, precision, location, stream="native", seed=1)
    streams = [torch.cuda.Stream() for _ in range(2)]
    torch.cuda.synchronize()
    found = []
    for stream in streams:
        with torch.cuda.stream(stream):
            torch.cuda._sleep(50_000_000)
            doubled = x * 2
            found.append(gibbs_sweep(doubled, precision, location, stream="native", seed=1))
    torch.cuda.synchronize()
    for got in found:
        assert_same("side stream", expected, got)


def test_calls_right_behind_one_another():
    """Every argument is written by the kernel just before, the state by the call before: the same
    bits with and without a wait after each step, and in a graph.  Kernels may start early, but not
    read or write early."""
    for dtype in TYPES:
        for dim, chains in ((8, 70000), (32, 4096), (60, 33), (128, 300), (200, 65)):
            precision, location = model(dim, dtype)
            x, noise = start(chains, dim, dtype=dtype), torch.randn(1, dim, chains, dtype=dtype,
                                                                   device=CUDA)
            q, m, z = (torch.empty_like(t) for t in (precision, location, noise))

            def steps(y, after):
                for k in range(25):
                    torch.mul(precision, 1 + k / 64, out=q)
                    after()
                    for options in (dict(), dict(stream="native", seed=k), dict(noise=z),
                                    dict(stream="native", seed=k, sweeps=3)):
                        torch.mul(location, 1 - k / 64, out=m)
                        torch.mul(noise, 1 + k / 32, out=z)
                        gibbs_sweep(y, q, m, out=y, **options)
                        after()
                        gibbs_sweep(y, q, m, out=y, **options)
                        after()
                        y.mul_(0.75)
                        after()

            found = []
            for after in (torch.cuda.synchronize, lambda: None):
                y = x.clone()
                torch.manual_seed(8)
                steps(y, after)
                found.append(y)
            assert_same(f"{dtype} D={dim} B={chains}, eager", *found)
            y, graph = x.clone(), torch.cuda.CUDAGraph()
            with capture(graph):
                steps(y, lambda: None)
            y.copy_(x)
            torch.manual_seed(8)
            graph.replay()
            assert_same(f"{dtype} D={dim} B={chains}, graph", found[0], y)


def test_threads():
    """Eight threads, one generator: no two normals are equal."""
    from concurrent.futures import ThreadPoolExecutor

    torch.manual_seed(4)

    def work(_):
        return torch.cat([gibbs_sweep(torch.zeros(32, 1, dtype=torch.float64, device=CUDA),
                                      torch.eye(1, dtype=torch.float64, device=CUDA))
                          for _ in range(40)])

    with ThreadPoolExecutor(8) as pool:
        parts = list(pool.map(work, range(8)))
    torch.cuda.synchronize()
    assert len(torch.cat(parts).unique()) == 8 * 40 * 32


def test_calls_in_a_row_differ():
    for shape in ((4, 1), (1, 4, 1), (4, 1, 1), (2, 2, 1)):
        x = torch.zeros(shape, device=CUDA)
        torch.manual_seed(3)
        pair = [gibbs_sweep(x, torch.eye(1, device=CUDA)) for _ in range(2)]
        torch.manual_seed(3)
        assert_same("same seed", pair[0], gibbs_sweep(x.clone(), torch.eye(1, device=CUDA)))
        assert len(torch.cat([p.flatten() for p in pair]).unique()) == 8


def test_refusals():
    precision, location = model(4, torch.float32)
    x = start(5, 4, dtype=torch.float32)
    default = cuda_state()
    raises(ValueError, "precision is on cpu, but x is on cuda",
           lambda: gibbs_sweep(x, precision.cpu(), location))
    raises(ValueError, "out is on cpu", lambda: gibbs_sweep(x, precision, location, out=x.cpu()))
    raises(RuntimeError, "generator",
           lambda: gibbs_sweep(x, precision, location, generator=torch.Generator()))
    raises(ValueError, "omega", lambda: gibbs_sweep(x, precision, location, omega=2))
    raises(ValueError, "first_sweep", lambda: gibbs_sweep(x, precision, location, first_sweep=1))
    raises(ValueError, "what the stream numbers", lambda: gibbs_sweep(x, precision, location, stream="native", seed=1,
                                                   first_chain=2**40))
    bad = x.clone()
    bad[3, 1] = float("nan")
    raises(ValueError, "x[3, 1] is nan", lambda: gibbs_sweep(bad, precision, location, check=True))
    asymmetric = precision.clone()
    asymmetric[2, 1] += 1
    raises(ValueError, "not symmetric", lambda: gibbs_sweep(x, asymmetric, check=True))
    assert torch.equal(default, cuda_state())
    gibbs_sweep(x, precision, location, check=True)


def test_no_sweeps_and_no_chains():
    precision, location = model(4)
    x, state = start(5, 4), cuda_state()
    assert_same("no sweeps", x, gibbs_sweep(x, precision, location, sweeps=0))
    assert gibbs_sweep(x[:0], precision, location, sweeps=3, keep=1)[1].shape == (3, 0, 4)
    assert torch.equal(state, cuda_state())


def timed(call, count=1000):
    for _ in range(50):
        call()
    torch.cuda.synchronize()
    best = float("inf")
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(count):
            call()
        torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - begin) / count)
    return 1e6 * best


def test_wall_time_per_call():
    """Not a test of speed: only that a call is no slower than a thousandth of the loop's second."""
    module = GibbsSweep(32).to(CUDA)
    x = start(4096, 32, dtype=torch.float32)
    out = torch.empty_like(x)
    rows = {
        "eager call": lambda: gibbs_sweep(x, module.precision, module.mu),
        "eager call, out=": lambda: gibbs_sweep(x, module.precision, module.mu, out=out),
        "eager call, native": lambda: gibbs_sweep(x, module.precision, module.mu, stream="native",
                                                  seed=1),
        "eager call, native, seed=None": lambda: gibbs_sweep(x, module.precision, module.mu,
                                                             stream="native"),
        "eager module": lambda: module(x),
        "torch.empty_like": lambda: torch.empty_like(x),
        "x + x": lambda: x + x,
    }
    for name, call in rows.items():
        print(f"{name}: {timed(call):.2f} us wall")
    graph, _ = captured(x, lambda y: gibbs_sweep(y, module.precision, module.mu, out=y))
    print(f"in a graph of ten: {timed(graph.replay, 100) / 10:.2f} us")
    with torch.no_grad():
        assert timed(lambda: module(x), 200) < 1000


if __name__ == "__main__":
    sys.exit(main(globals()))
