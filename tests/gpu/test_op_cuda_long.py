#!/usr/bin/env python3
"""The PyTorch op on a GPU: against the loop, the CPU op, torch.randn, recordings; graphs, compile,
opcheck, gradients, streams, threads, refusals.

    python3 tests/gpu/test_op_cuda_long.py [BUILD=build/cuda]        or pytest

Needs torch with CUDA, a C++ compiler and the libraries of `make gpu-build` (built here if they are
not there).  Ends with `N passed, N failed`.
"""
import faulthandler
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / (sys.argv[1] if __name__ == "__main__" and len(sys.argv) > 1 else "build/cuda")


def lay_out_package():
    """The folder that an installed package would have: libraries and headers."""
    libraries = [BUILD / "src/libgibbsite.so.0", BUILD / "src/backend/cuda/libgibbsite_cuda.so.0"]
    if not all(path.exists() for path in libraries):
        subprocess.run(["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DGBS_BUILD_PROGRAM=OFF",
                        "-DGBS_BUILD_TESTS=OFF", "-DGBS_CUDA=ON"], check=True)
        subprocess.run(["cmake", "--build", BUILD], check=True)
    prefix = pathlib.Path(tempfile.mkdtemp(prefix="gibbsite-"))
    (prefix / "lib").mkdir()
    for path in libraries:
        (prefix / "lib" / path.name).symlink_to(path)
    (prefix / "include").symlink_to(ROOT / "include")
    os.environ["GIBBSITE_PREFIX"] = str(prefix)
    os.environ.setdefault("XDG_CACHE_HOME", str(prefix / "cache"))


if "GIBBSITE_PREFIX" not in os.environ:
    lay_out_package()
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/python")]

import torch  # noqa: E402
import torch._dynamo  # noqa: E402
import torch._inductor.config  # noqa: E402
from torch.autograd import gradcheck  # noqa: E402
from torch.library import opcheck  # noqa: E402

from gibbsite.torch import GibbsSweep, gibbs_sweep  # noqa: E402
from loops import (BOUNDS, TYPES, ReferenceGibbsSweep, assert_close, assert_same,  # noqa: E402
                   loop_sweep, random_model, states)
from programs import NAMES, Programs, keeps_torch_order, run  # noqa: E402
from records import read_records  # noqa: E402

CUDA = torch.device("cuda", torch.cuda.current_device())
FORMS = ("offset", "mean", "info")


def model(dim, dtype=torch.float64, groups=None):
    precision, location = random_model(dim, dtype, groups=groups)
    return ((precision + precision.mT) / 2).to(CUDA), location.to(CUDA)


def start(*sizes, dtype=torch.float64, groups=None, seed=0):
    return states(*sizes, dtype, groups=groups, seed=seed).to(CUDA)


def cuda_state():
    return torch.cuda.get_rng_state(CUDA)


def raises(kind, message, call):
    try:
        call()
    except kind as error:
        assert message in str(error), f"expected {message!r} in {str(error)!r}"
        return
    raise AssertionError(f"expected {kind.__name__} with {message!r}")


# ---- torch's stream ----


def test_torch_stream_is_the_loop():
    for dtype in TYPES:
        for dim in (1, 5, 32, 33, 100):
            for chains in (1, 31, 100, 4096):
                precision, location = model(dim, dtype)
                x = start(chains, dim, dtype=dtype)
                torch.manual_seed(5)
                expected = loop_sweep(loop_sweep(x, precision, location), precision, location)
                state = cuda_state()
                torch.manual_seed(5)
                got = gibbs_sweep(x, precision, location, sweeps=2)
                assert_close(f"{dtype} D={dim} B={chains}", expected, got, 2 * BOUNDS[dtype])
                assert torch.equal(state, cuda_state())


def test_noise_is_torch_randn_bit_for_bit():
    """Precision 1 and start 0: the state is the noise.  Beyond one wave too."""
    for dtype in TYPES:
        for dim, chains in ((1, 7), (3, 1000), (2, 300001), (1, 1200001)):
            torch.manual_seed(2024)
            expected = torch.stack([torch.randn(chains, dtype=dtype, device=CUDA)
                                    for _ in range(dim)], 1)
            state = cuda_state()
            torch.manual_seed(2024)
            got = gibbs_sweep(torch.zeros(chains, dim, dtype=dtype, device=CUDA),
                              torch.eye(dim, dtype=dtype, device=CUDA))
            assert_same(f"{dtype} D={dim} B={chains}", expected, got)
            assert torch.equal(state, cuda_state())


def test_groups_draw_together():
    for dtype in TYPES:
        precision, location = model(6, dtype, groups=5)
        x = start(33, 6, dtype=dtype, groups=5)
        torch.manual_seed(6)
        expected, state = loop_sweep(x, precision, location), cuda_state()
        torch.manual_seed(6)
        assert_close("groups", expected, gibbs_sweep(x, precision, location), BOUNDS[dtype])
        assert torch.equal(state, cuda_state())


def test_interleaved_with_other_random_calls():
    """Odd sizes between; reseeding sets the offset to 0; offsets stay multiples of 4."""
    def program(sweep):
        torch.manual_seed(11)
        found = []
        for step in range(12):
            precision, location = model(1 + step % 4, torch.float32)
            found.append(sweep(start(7 + 50 * step, 1 + step % 4, dtype=torch.float32), precision,
                               location))
            found.append(torch.randn(3 + 2 * step, device=CUDA))
            found.append(torch.rand(5, device=CUDA))
            offset = int(cuda_state()[8:].view(torch.int64))
            assert offset % 4 == 0
            if step == 6:
                kept = cuda_state()
                torch.randn(1001, device=CUDA)
                torch.cuda.set_rng_state(kept, CUDA)
        return found, cuda_state()

    expected, state = program(loop_sweep)
    got, after = program(gibbs_sweep)
    for step, (a, b) in enumerate(zip(expected, got)):
        assert_close(f"step {step}", a, b, 1e-5)
    assert torch.equal(state, after)
    torch.manual_seed(11)
    assert int(cuda_state()[8:].view(torch.int64)) == 0


def test_given_generator():
    precision, location = model(8, torch.float32)
    x = start(100, 8, dtype=torch.float32)
    default = cuda_state()
    ours, theirs = (torch.Generator(CUDA).manual_seed(9) for _ in range(2))
    got = gibbs_sweep(x, precision, location, generator=ours)
    assert_close("own generator", loop_sweep(x, precision, location, generator=theirs), got, 1e-5)
    assert torch.equal(ours.get_state(), theirs.get_state())
    assert torch.equal(default, cuda_state())


def test_recordings():
    card = torch.cuda.get_device_properties(CUDA)
    if (card.multi_processor_count, card.max_threads_per_multi_processor) != (132, 2048):
        print("skipped: recorded on a card of 132 multiprocessors of 2048 threads")
        return
    records = read_records("reference_module.bin")
    names = [key[5:-2] for key in records if key.startswith("cuda_") and key.endswith("_y")]
    assert len(names) >= 5
    for name in names:
        dim, chains, seed, sweeps = (int(part[1:]) for part in name.split("_"))
        torch.manual_seed(100 + dim)
        torch.randn(dim)
        torch.randn(dim, dim)
        x = torch.randn(chains, dim)
        rows = torch.from_numpy(records[f"{name}_rows"].copy())
        x[rows] = torch.from_numpy(records[f"{name}_x"].copy())
        module = GibbsSweep(dim)
        module.precision.copy_(torch.from_numpy(records[f"{name}_precision"].copy()))
        module.mu.copy_(torch.from_numpy(records[f"{name}_mu"].copy()))
        module.to(CUDA)
        y = x.to(CUDA)
        torch.manual_seed(seed)
        for _ in range(sweeps):
            y = module(y)
        expected = torch.from_numpy(records[f"cuda_{name}_y"].copy())
        assert_close(f"cuda {name}", expected, y.cpu()[rows], 1e-5)
        state = torch.from_numpy(records[f"cuda_{name}_state_after"].copy())
        assert torch.equal(state, cuda_state().cpu()), f"state {cuda_state()} expected {state}"


def test_module_stands_in_for_the_reference():
    for dim, chains in ((4, 9), (32, 4096)):
        results = []
        for kind in (ReferenceGibbsSweep, GibbsSweep):
            torch.manual_seed(dim)
            module = kind(dim).to(CUDA)
            x = torch.randn(chains, dim, device=CUDA)
            if kind is ReferenceGibbsSweep:
                module.forward = lambda x, m=module: loop_sweep(x, m.precision, m.mu)
            results.append((module(module(x)), cuda_state()))
        assert_close(f"D={dim} B={chains}", results[0][0], results[1][0], 1e-5)
        assert torch.equal(results[0][1], results[1][1])


# ---- native stream: the CPU's bits ----


def test_native_bits_are_the_cpus():
    compared = 0
    for dtype in TYPES:
        for dim in (1, 2, 3, 5, 8, 16, 31, 32, 33, 64, 100, 128, 257):
            for chains in (1, 2, 31, 32, 33, 1000, 4097 if dim <= 64 else 129):
                precision, location = model(dim, dtype)
                x = start(chains, dim, dtype=dtype)
                turn = dim + chains
                options = dict(form=FORMS[turn % 3], sweeps=3, omega=(1.0, 1.3)[turn % 2],
                               stream="native", seed=turn * 2**50 + 1, first_sweep=turn,
                               first_chain=turn**3, keep=2)
                expected = gibbs_sweep(x.cpu(), precision.cpu(), location.cpu(), **options)
                got = gibbs_sweep(x, precision, location, **options)
                for a, b in zip(expected, got):
                    assert torch.equal(a, b.cpu()), (
                        f"{dtype} D={dim} B={chains}: {(a != b.cpu()).sum()} of {a.numel()} differ, "
                        f"first at {(a != b.cpu()).nonzero()[0].tolist()}")
                compared += got[0].numel()
    print(f"{compared} values equal, bit for bit")


def test_native_groups_and_noise():
    for dtype in TYPES:
        for shared in (False, True):
            precision, location = model(20, dtype, groups=None if shared else 6)
            x = start(17, 20, dtype=dtype, groups=6)
            noise = torch.randn(4, 20, 6, 17, dtype=dtype)
            for options in (dict(stream="native", seed=3), dict(noise=noise)):
                on_card = {k: v.to(CUDA) if torch.is_tensor(v) else v for k, v in options.items()}
                expected = gibbs_sweep(x.cpu(), precision.cpu(), location.cpu(), sweeps=4,
                                       form="mean", **options)
                got = gibbs_sweep(x, precision, location, sweeps=4, form="mean", **on_card)
                assert_same(f"{dtype} shared={shared} {list(options)}", expected, got.cpu())


def test_native_without_seed_takes_64_bits():
    """The same as torch's own full-range integer: words 0 and 1 of thread 0, offset + 4."""
    precision, location = model(4)
    x = start(20, 4)
    for draws in range(3):
        torch.manual_seed(7)
        torch.randn(101 * draws, device=CUDA)
        word = torch.empty(1, dtype=torch.int64, device=CUDA).random_(-2**63, None)
        state = cuda_state()
        torch.manual_seed(7)
        torch.randn(101 * draws, device=CUDA)
        got = gibbs_sweep(x, precision, location, stream="native")
        assert torch.equal(state, cuda_state())
        expected = gibbs_sweep(x, precision, location, stream="native",
                               seed=int(word.item()) % 2**64)
        assert_same(f"seed {word.item():x}", expected, got)


# ---- layouts ----


def test_layouts():
    precision, location = model(10, torch.float32)
    x = start(40, 10, dtype=torch.float32)
    for stream in ("torch", "native"):
        options = dict(stream=stream, sweeps=2, **({"seed": 9} if stream == "native" else {}))
        torch.manual_seed(42)
        expected = gibbs_sweep(x, precision, location, **options)
        spaced = torch.full((40, 21), 7.0, device=CUDA)
        spaced[:, 1::2] = x
        for name, view in (("transposed", x.t().contiguous().t()), ("spaced", spaced[:, 1::2])):
            torch.manual_seed(42)
            got = gibbs_sweep(view, precision, location, **options)
            assert_same(name, expected, got)
            assert got.stride() == view.clone().stride()
            torch.manual_seed(42)
            assert gibbs_sweep(view, precision, location, out=view, **options) is view
            assert_same(f"{name}, in place", expected, view)
        assert (spaced[:, ::2] == 7.0).all()
        wide = torch.zeros(10, 16, device=CUDA)
        wide[:, 2:12] = precision
        for q in (wide[:, 2:12], precision.t().contiguous().t()):
            torch.manual_seed(42)
            assert_same("precision", expected, gibbs_sweep(x, q, location, **options))


def test_bad_diagonal_makes_that_column_nan():
    for bad in (0.0, -2.0, float("nan")):
        precision, location = model(5, torch.float32)
        precision[3, 3] = bad
        x = start(50, 5, dtype=torch.float32)
        got = gibbs_sweep(x, precision, location, stream="native", seed=1)
        expected = gibbs_sweep(x.cpu(), precision.cpu(), location.cpu(), stream="native", seed=1)
        assert torch.equal(got.cpu().isnan(), expected.isnan()) and got[:, 3].isnan().all()
        assert_same("columns before", expected[:, :3], got[:, :3].cpu())


# ---- CUDA graphs ----


def captured(x, sweep, generator=None):
    """Ten sweeps in a graph, after a warm-up outside of it."""
    y = x.clone()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        sweep(y.clone())
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    if generator is not None:
        graph.register_generator_state(generator)
    with torch.cuda.graph(graph):
        for _ in range(10):
            sweep(y)
    return graph, y


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


def test_graph_refusals():
    """A generator that the graph does not know: refused before anything is launched or drawn;
    generator and op are usable afterwards."""
    precision, location = model(8, torch.float32)
    x = start(100, 8, dtype=torch.float32)
    generator = torch.Generator(CUDA).manual_seed(5)
    gibbs_sweep(x, precision, location, generator=generator)
    before, default = generator.get_state(), cuda_state()
    for stream in ("torch", "native"):
        def capture(stream=stream):
            with torch.cuda.graph(torch.cuda.CUDAGraph()):
                gibbs_sweep(x, precision, location, stream=stream, generator=generator)

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


# ---- torch.compile, opcheck, gradients ----


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


def test_opcheck():
    for groups in (None, 3):
        for grad in (False, True):
            precision, location = model(4, torch.float64, groups=groups)
            x = start(5, 4, groups=groups)
            noise = torch.randn(2, 4, *x.shape[:-1], dtype=torch.float64, device=CUDA)
            tensors = [t.clone().requires_grad_(grad) for t in (x, precision, location, noise)]
            rest = (1, 2, 1, None, None, 0, 0, 1.2, False, 0, None)
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


# ---- streams, threads, synchronisation ----


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
            with torch.cuda.graph(graph):
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


# ---- refusals ----


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


# ---- speed, printed; the targets are bench's ----


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


def main():
    tests = [(name, value) for name, value in globals().items()
             if name.startswith("test_") and callable(value)]
    failed = 0
    faulthandler.enable()
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name(CUDA)}")
    for name, test in tests:
        print(f"== {name}", flush=True)
        begin = time.perf_counter()
        try:
            test()
        except Exception:
            failed += 1
            print(f"FAILED {name}\n{traceback.format_exc()}")
        print(f"   {time.perf_counter() - begin:.1f} s", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
