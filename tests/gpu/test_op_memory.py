#!/usr/bin/env python3
"""The k-th cudaMalloc of a call fails, for every k: an exception, nothing drawn, nothing changed,
nothing leaked, and the call works again afterwards.

    tools/gpu_package.sh build/cuda python3 tests/gpu/test_op_memory.py build/cuda/tests/gpu/libfail_cuda_malloc.so

PyTorch's cache is off, so that each of its device allocations is one cudaMalloc; the library named
is preloaded and fails one of them.  (libgibbsite_cuda itself allocates nothing in a sweep:
test_gpu_launch.)
"""
import ctypes
import gc
import os
import sys

LIBRARY = os.path.abspath(sys.argv[1])
if LIBRARY not in os.environ.get("LD_PRELOAD", ""):
    os.environ.update(LD_PRELOAD=LIBRARY, PYTORCH_NO_CUDA_MEMORY_CACHING="1")
    os.execv(sys.executable, [sys.executable, *sys.argv])

import torch  # noqa: E402

from gibbsite.torch import gibbs_sweep  # noqa: E402
from loops import random_model, states  # noqa: E402

SHIM = ctypes.CDLL(LIBRARY)
CUDA = torch.device("cuda", 0)


def tensors(dim, chains, groups=None):
    precision, location = random_model(dim, torch.float32, groups=groups)
    symmetric = (precision + precision.mT) / 2
    return [t.to(CUDA) for t in (states(chains, dim, torch.float32, groups=groups), symmetric, location)]


def sweep_of(dim, chains, groups=None, **options):
    x, precision, location = tensors(dim, chains, groups)
    return lambda: gibbs_sweep(x, precision, location, **options)


def transposed():
    x, precision, location = tensors(20, 65)
    spaced = torch.zeros(65, 41, device=CUDA)[:, 1::2]
    spaced.copy_(x)
    wide = torch.zeros(20, 41, device=CUDA)[:, 1::2]
    wide.copy_(precision)
    noise = torch.zeros(1, 65, 20, device=CUDA).mT
    return lambda: gibbs_sweep(spaced, wide, location, noise=noise)


def with_gradients():
    x, precision, location = tensors(12, 33)
    for t in (x, precision, location):
        t.requires_grad_()

    def call():
        y, kept = gibbs_sweep(x, precision, location, sweeps=3, keep=1)
        loss = y.square().sum() + kept.sum()
        return torch.cat([g.flatten() for g in torch.autograd.grad(loss, (x, precision, location))])

    return call


# name -> (what is called, whether it is one call of the op, which draws when it has its memory)
CALLS = {
    "first call, which checks torch's stream": (sweep_of(32, 4096), True),
    "tiles, with a workspace": (sweep_of(200, 65), True),
    "native, seed from the generator": (sweep_of(200, 65, stream="native"), True),
    "groups, kept states": (sweep_of(9, 33, groups=4, sweeps=4, keep=2), True),
    "checked": (sweep_of(9, 33, check=True), True),
    "copies of what is not contiguous": (transposed(), True),
    "gradients": (with_gradients(), False),
}


def outcome(call):
    """The result on the host, or None where memory ran out."""
    try:
        result = call()
    except RuntimeError as error:
        if "out of memory" not in str(error).lower():
            raise
        return None
    parts = result if isinstance(result, tuple) else (result,)
    return torch.cat([part.detach().flatten().cpu() for part in parts])


def fails_at(k, call, before):
    """Whether the call fails if its k-th allocation does; its result if not."""
    torch.cuda.set_rng_state(before)
    SHIM.fail_cuda_malloc_at(k)
    result = outcome(call)
    SHIM.fail_cuda_malloc_at(0)
    gc.collect()
    return result


def check_call(name, call, one_call, check):
    """Libraries below keep what they allocate on first use, handles and workspaces, and that is no
    leak: one would add to what is alive every time the same allocation fails."""
    torch.manual_seed(3)
    before = torch.cuda.get_rng_state()
    gc.collect()
    failed, k = 0, 1
    while True:
        result = fails_at(k, call, before)
        if result is not None:
            break
        failed += 1
        if one_call:
            check(f"{name}: {k}-th fails: nothing is drawn", torch.equal(before, torch.cuda.get_rng_state()))
        live = [SHIM.fail_cuda_malloc_live()]
        while len(live) < 5 and fails_at(k, call, before) is None:
            live.append(SHIM.fail_cuda_malloc_live())
        grows = len(live) == 5 and all(now < then for now, then in zip(live, live[1:]))
        check(f"{name}: {k}-th fails: nothing is leaked, alive {live}", not grows)
        k += 1
    torch.cuda.set_rng_state(before)
    check(f"{name}: the same result afterwards", torch.equal(result, outcome(call)))
    check(f"{name}: something was allocated", failed > 0)
    print(f"{name}: {failed} allocations, each failed in turn")


def main():
    counts = [0, 0]

    def check(what, good):
        counts[not good] += 1
        if not good:
            print("FAIL", what)

    torch.zeros(1, device=CUDA)
    if SHIM.fail_cuda_malloc_calls() == 0:
        print("skipped: this PyTorch does not call cudaMalloc of a shared CUDA runtime")
        print("0 passed, 0 failed")
        return 0
    for number, (name, (call, one_call)) in enumerate(CALLS.items()):
        if number > 0:
            outcome(call)  # memory that PyTorch keeps for good, for cuBLAS for instance
        check_call(name, call, one_call, check)
    print(f"{counts[0]} passed, {counts[1]} failed")
    return counts[1] != 0


if __name__ == "__main__":
    sys.exit(main())
