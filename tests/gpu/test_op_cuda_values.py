#!/usr/bin/env python3
"""The op on a GPU: its numbers and layouts, against the loop, the CPU op, torch.randn and recordings.

    tools/gpu_package.sh build/cuda python3 tests/gpu/test_op_cuda_values.py        or pytest
"""
import math
import sys

from op_cuda import CUDA, FORMS, captured, cuda_state, main, model, raises, start  # first: it sets the path

import torch

from gibbsite.torch import GibbsSweep, gibbs_sweep
from loops import BOUNDS, TYPES, ReferenceGibbsSweep, assert_close, assert_same, loop_sweep
from records import read_records


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


def bounded_model(dim, dtype, groups):
    precision, location = model(dim, dtype, groups=groups)
    lower = torch.linspace(-1, 0.4, dim, dtype=dtype, device=CUDA)
    upper = lower + 0.5
    lower[::3], upper[1::4] = -math.inf, math.inf
    return precision, location, lower, upper


def test_bounds_have_the_cpus_bits():
    for dtype in TYPES:
        for dim in (1, 5, 32, 70, 150):
            for groups, chains in ((None, 300), (3, 130)):
                precision, location, lower, upper = bounded_model(dim, dtype, groups)
                x = torch.clamp(start(chains, dim, dtype=dtype, groups=groups), lower, upper)
                for form, overrelax in (("offset", 0.0), ("mean", 0.8), ("info", 0.0)):
                    options = dict(form=form, sweeps=3, keep=1, stream="native", seed=7, first_chain=2**33,
                                   first_sweep=5, overrelax=overrelax)
                    got, kept = gibbs_sweep(x, precision, location, lower=lower, upper=upper, **options)
                    expected, states = gibbs_sweep(x.cpu(), precision.cpu(), location.cpu(), lower=lower.cpu(),
                                                   upper=upper.cpu(), **options)
                    what = f"{dtype} D={dim} G={groups} {form} r={overrelax}"
                    assert torch.equal(got.cpu(), expected), what
                    assert torch.equal(kept.cpu(), states), what
                    wide = torch.zeros(*x.shape[:-1], 2 * dim, dtype=dtype, device=CUDA)[..., ::2]
                    gibbs_sweep(x, precision, location, lower=lower, upper=upper, out=wide, **options)
                    assert torch.equal(wide, got), what


def test_bounds_seeds_graphs_and_refusals():
    precision, location, lower, upper = bounded_model(8, torch.float32, None)
    x = torch.clamp(start(50, 8, dtype=torch.float32), lower, upper)
    bounds = dict(lower=lower, upper=upper, stream="native")
    torch.manual_seed(3)
    first, second = (gibbs_sweep(x, precision, location, **bounds) for _ in range(2))
    torch.manual_seed(3)
    assert torch.equal(first, gibbs_sweep(x, precision, location, **bounds))
    assert not torch.equal(first, second)
    graph, y = captured(x, lambda y: gibbs_sweep(y, precision, location, seed=1, out=y, **bounds))
    graph.replay()
    z = x
    for _ in range(10):
        z = gibbs_sweep(z, precision, location, seed=1, **bounds)
    assert torch.equal(y, z)
    crossed = gibbs_sweep(x, precision, location, lower=upper.new_full((8,), 1.0),
                          upper=torch.where(torch.arange(8, device=CUDA) == 2, 0.0, 2.0), stream="native",
                          seed=1)
    assert crossed[:, 2].isnan().all()
    beyond = x.clone()
    beyond[49, 7] = 5
    for words, options in (
            ("lower: group 0, site 2: 1 is above upper, 0", dict(lower=1, upper=[2, 2, 0, 2, 2, 2, 2, 2])),
            ("upper: group 0, site 0 is NaN", dict(lower=0, upper=math.nan)),
            ("x: group 0, chain 49, site 7 is 5, not between its bounds -10 and 4",
             dict(x=beyond, lower=-10, upper=4))):
        options = dict(x=x, precision=precision, location=location, stream="native", seed=1) | options
        raises(ValueError, words, lambda options=options: gibbs_sweep(**options, check=True))
        gibbs_sweep(**options)  # without check nothing waits
    raises(ValueError, "omega", lambda: gibbs_sweep(x, precision, location, omega=1.2, **bounds))
    raises(ValueError, "overrelax: 1 is not in", lambda: gibbs_sweep(x, precision, location, overrelax=1.0, **bounds))
    raises(ValueError, "lower is on cpu", lambda: gibbs_sweep(x, precision, location, lower=lower.cpu(), stream="native"))


def test_bad_diagonal_makes_that_column_nan():
    for bad in (0.0, -2.0, float("nan")):
        precision, location = model(5, torch.float32)
        precision[3, 3] = bad
        x = start(50, 5, dtype=torch.float32)
        got = gibbs_sweep(x, precision, location, stream="native", seed=1)
        expected = gibbs_sweep(x.cpu(), precision.cpu(), location.cpu(), stream="native", seed=1)
        assert torch.equal(got.cpu().isnan(), expected.isnan()) and got[:, 3].isnan().all()
        assert_same("columns before", expected[:, :3], got[:, :3].cpu())


if __name__ == "__main__":
    sys.exit(main(globals()))
