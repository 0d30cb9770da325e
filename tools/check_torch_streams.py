#!/usr/bin/env python3
"""Compares the torch-cpu stream with PyTorch itself, on this machine's CPU.

    tools/check_torch_streams.py [LIBRARY=build/release/src/libgibbsite.so]

Drives the shared library through ctypes.  For many numbers of chains, types, orders of visit and
seeds it runs the loop that the stream stands for, torch.randn(B) once a site, next to a sampler,
hands generator states over in both directions half-way, and ends with `N passed, N failed`.
With Q = I and no location the state after a sweep is that sweep's noise, number by number; with a
random Q the whole loop is compared.  Needs torch and numpy.
"""
import ctypes as c
import pathlib
import sys

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python" / "gibbsite"))
from _structs import ModelSpec, SamplerSpec  # noqa: E402

CHAINS = [1, 2, 7, 15, 16, 17, 100, 1000]
SEEDS = [0, 2024, 2**32 + 5, 2**63, 2**64 - 1]
TYPES = [(0, np.float32, torch.float32), (1, np.float64, torch.float64)]
NOISE_BOUND = [3e-6, 1e-14]  # of the stream, docs/streams.md
LOOP_BOUND = [1e-5, 1e-12]  # and sums in another order
STATE_BYTES = 5056
KEPT_NORMAL = slice(5024, 5032)
FORWARD, BACKWARD, SYMMETRIC, PERMUTED = range(4)
OFFSET_FORM, TORCH_CPU = 3, 2
START_ZERO, START_GIVEN = 1, 3


def address(array):
    return array.ctypes.data_as(c.c_void_p)


class Library:
    def __init__(self, path):
        self.lib = c.CDLL(path)
        self.lib.gbs_model_spec_default.restype = ModelSpec
        self.lib.gbs_sampler_spec_default.restype = SamplerSpec
        self.lib.gbs_context_message.restype = c.c_char_p
        self.context = c.c_void_p()
        self.must(self.lib.gbs_context_create(None, c.byref(self.context)))

    def must(self, status):
        if status != 0:
            message = self.lib.gbs_context_message(self.context) if self.context else b""
            sys.exit(f"library: status {status}: {message.decode()}")

    def model(self, precision, offset):
        spec = self.lib.gbs_model_spec_default()
        kind = 0 if precision.dtype == np.float32 else 1
        spec.dim, spec.matrix_type, spec.location_type = len(offset), kind, kind
        spec.matrix, spec.location = address(precision), address(offset)
        spec.location_kind = OFFSET_FORM
        model = c.c_void_p()
        self.must(self.lib.gbs_model_create(self.context, c.byref(spec), c.byref(model)))
        return model


class Sampler:
    """One sampler on the torch-cpu stream; `order` is an order or a permutation."""

    def __init__(self, library, model, dim, kind, chains, seed, order, start=None, state=None):
        self.library, self.shape = library, (chains, dim)
        self.dtype = TYPES[kind][1]
        spec = library.lib.gbs_sampler_spec_default()
        spec.type, spec.chains, spec.seed = kind, chains, seed
        spec.start = START_ZERO
        if start is not None:
            start = np.ascontiguousarray(start, self.dtype)
            spec.start, spec.initial, spec.initial_rows = START_GIVEN, address(start), chains
        if isinstance(order, np.ndarray):
            spec.order, spec.permutation = PERMUTED, address(order)
        else:
            spec.order = order
        spec.stream.kind = TORCH_CPU
        if state is not None:
            spec.stream.torch_state, spec.stream.torch_state_bytes = address(state), STATE_BYTES
        self.handle = c.c_void_p()
        library.must(
            library.lib.gbs_sampler_create(
                library.context, model, c.byref(spec), c.byref(self.handle)
            )
        )

    def run(self, sweeps):
        lib = self.library.lib
        self.library.must(lib.gbs_sampler_run(self.handle, c.c_int64(sweeps)))
        x = np.empty(self.shape, self.dtype)
        self.library.must(lib.gbs_sampler_get_state(self.handle, address(x)))
        return x

    def torch_state(self):
        state = np.empty(STATE_BYTES, np.uint8)
        lib = self.library.lib
        self.library.must(
            lib.gbs_sampler_get_torch_state(self.handle, address(state), c.c_size_t(STATE_BYTES))
        )
        return state

    def close(self):
        self.library.lib.gbs_sampler_destroy(self.handle)


class Count:
    def __init__(self):
        self.passed = self.failed = 0
        self.worst = {}

    def check(self, what, where, expected, got, bound):
        error = float(np.max(np.abs(np.subtract(expected, got, dtype=np.float64)), initial=0.0))
        kind = f"{what} ({np.asarray(got).dtype})"
        self.worst[kind] = max(self.worst.get(kind, 0.0), error)
        if error <= bound:
            self.passed += 1
            return
        self.failed += 1
        print(f"FAILED {what} {where}: error {error:.3g}, bound {bound:.3g}")

    def check_state(self, where, sampler):
        """Byte for byte, but for the kept normal, which is a drawn double like any other."""
        expected, got = torch.get_rng_state().numpy(), sampler.torch_state()
        normals = [float(s[KEPT_NORMAL].view(np.float64)[0]) for s in (expected, got)]
        self.check("kept normal", where, *normals, 1e-14)
        rest = [np.delete(s, np.r_[KEPT_NORMAL]) for s in (expected, got)]
        self.check("generator state", where, *rest, 0.0)


def seed_torch(seed):
    torch.manual_seed(seed if seed < 2**63 else seed - 2**64)


def visits(order, dim):
    """Sites in the order of one sweep."""
    forward = list(range(dim))
    if isinstance(order, np.ndarray):
        return [int(i) for i in order]
    return {FORWARD: forward, BACKWARD: forward[::-1], SYMMETRIC: forward + forward[::-1]}[order]


def loop_sweep(x, precision, offset, order):
    """The PyTorch loop: x [B, D] is updated site by site, one torch.randn(B) each."""
    diagonal = precision.diagonal()
    for i in visits(order, len(offset)):
        residual = x @ precision[i] - x[:, i] * diagonal[i]
        noise = torch.randn(len(x), dtype=x.dtype)
        x[:, i] = offset[i] - residual / diagonal[i] + noise / diagonal[i].sqrt()
    return x


def orders(dim, rng):
    return [FORWARD, BACKWARD, SYMMETRIC, rng.permutation(dim).astype(np.int64)]


def compare(library, count, kind, chains, seed, dim, order, identity):
    """Sweeps side by side; half-way torch takes over our state and a new sampler torch's."""
    _, dtype, torch_dtype = TYPES[kind]
    where = f"B={chains} D={dim} seed={seed} {dtype.__name__} order={order}"
    rng = np.random.default_rng([dim, chains, kind])
    if identity:
        precision, offset = np.eye(dim, dtype=dtype), np.zeros(dim, dtype)
    else:
        factor = rng.normal(size=(dim, dim)) * 0.1
        precision = (factor @ factor.T + 2 * np.eye(dim)).astype(dtype)
        offset = rng.normal(size=dim).astype(dtype)
    what, bound = ("noise", NOISE_BOUND[kind]) if identity else ("loop", LOOP_BOUND[kind])

    model = library.model(precision, offset)
    x = torch.zeros(chains, dim, dtype=torch_dtype)
    torch_precision, torch_offset = torch.from_numpy(precision), torch.from_numpy(offset)
    seed_torch(seed)
    sampler = Sampler(library, model, dim, kind, chains, seed, order)
    for _ in range(3):
        x = loop_sweep(x, torch_precision, torch_offset, order)
        count.check(what, where, x.numpy(), sampler.run(1), bound)
        count.check_state(where, sampler)

    state = torch.get_rng_state().numpy().copy()
    resumed = Sampler(library, model, dim, kind, chains, 1, order, x.numpy(), state)
    torch.set_rng_state(torch.from_numpy(sampler.torch_state()))
    for _ in range(2):
        x = loop_sweep(x, torch_precision, torch_offset, order)
    count.check(what + " after a resume", where, x.numpy(), resumed.run(2), bound)
    count.check(what + ", two sweeps at once", where, x.numpy(), sampler.run(2), bound)
    count.check_state(where, resumed)
    count.check_state(where, sampler)
    sampler.close()
    resumed.close()
    library.lib.gbs_model_release(model)


def interleaved(library, count, kind, seed):
    """One generator passed from call size to call size, as a program would use it."""
    _, dtype, torch_dtype = TYPES[kind]
    rng = np.random.default_rng(seed % 1000)
    seed_torch(seed)
    state = torch.get_rng_state().numpy().copy()
    for number in range(40):
        chains, dim = int(rng.choice(CHAINS)), int(rng.integers(1, 6))
        model = library.model(np.eye(dim, dtype=dtype), np.zeros(dim, dtype))
        sampler = Sampler(library, model, dim, kind, chains, 0, FORWARD, state=state)
        drawn = torch.stack([torch.randn(chains, dtype=torch_dtype) for _ in range(dim)], 1)
        where = f"call {number} B={chains} D={dim} seed={seed} {dtype.__name__}"
        count.check("mixed sizes", where, drawn.numpy(), sampler.run(1), NOISE_BOUND[kind])
        count.check_state(where, sampler)
        state = sampler.torch_state()
        sampler.close()
        library.lib.gbs_model_release(model)


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else "build/release/src/libgibbsite.so"
    library, count = Library(path), Count()
    print(f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}")
    rng = np.random.default_rng(1)
    for kind in range(2):
        for chains in CHAINS:
            for seed in SEEDS:
                for dim in (1, 5):
                    for order in orders(dim, rng):
                        compare(library, count, kind, chains, seed, dim, order, True)
            for order in orders(8, rng):
                compare(library, count, kind, chains, 7, 8, order, False)
        for seed in SEEDS:
            interleaved(library, count, kind, seed)
    for what, error in count.worst.items():
        print(f"  {what}: largest error {error:.2g}")
    print(f"{count.passed} passed, {count.failed} failed")
    sys.exit(count.failed > 0)


if __name__ == "__main__":
    main()
