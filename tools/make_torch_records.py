#!/usr/bin/env python3
"""Writes the test data tests/kat/torch_*.bin from recordings of PyTorch.

    tools/make_torch_records.py RECORDINGS [OUTPUT=tests/kat]

RECORDINGS holds torch_randn.npz and reference_public.npz, drawn by torch 2.11.0+cu130 on an H200
(132 multiprocessors, 2048 threads each) and its host.  What a CPU alone can tell (call sequences,
generator states after them) is recorded here from the torch that runs this script; 2.13.0 wrote
the files in the project.  Needs numpy and torch.

A file is a row of records, all little endian, read by tests/kat/records.h:
    char name[48]; char type[4] ("f4", "f8", "i8", "u1"); int32 rank; int64 shape[2]; the data
"""
import os
import struct
import sys

import numpy as np
import torch

SEQUENCE_SEEDS = [0, 1, 2**32 + 7, 2**64 - 1]
SEQUENCE_SIZES = [0, 1, 2, 7, 15, 16, 17, 31, 100, 4096]
SEQUENCE_CALLS = 60
EDGE = 8  # elements kept from each end of a call
DTYPES = [torch.float32, torch.float64]


def write_records(path, arrays):
    with open(path, "wb") as out:
        for name, array in arrays.items():
            array = np.ascontiguousarray(array)
            kind = array.dtype.newbyteorder("<")
            shape = (array.shape + (1, 1))[:2]
            head = struct.pack("<48s4siqq", name.encode(), kind.str[1:].encode(), array.ndim, *shape)
            out.write(head + array.astype(kind).tobytes())
    print(f"{path}: {len(arrays)} records, {os.path.getsize(path)} bytes")


def seed_torch(seed):
    torch.manual_seed(seed if seed < 2**63 else seed - 2**64)


def state():
    return torch.get_rng_state().numpy().copy()


def sequence(seed):
    """Random calls, the ends of what each drew, and the state before, half-way and after."""
    rng = np.random.default_rng(seed)
    calls = np.stack(
        [rng.choice(SEQUENCE_SIZES, SEQUENCE_CALLS), rng.integers(0, 2, SEQUENCE_CALLS)], axis=1
    )
    seed_torch(seed)
    states, values = [state()], []
    for number, (size, dtype) in enumerate(calls):
        drawn = torch.randn(int(size), dtype=DTYPES[dtype]).double().numpy()
        kept = drawn if size <= 2 * EDGE else np.concatenate([drawn[:EDGE], drawn[-EDGE:]])
        values.append(kept)
        if number == SEQUENCE_CALLS // 2 - 1:
            states.append(state())
    states.append(state())
    return calls, np.concatenate(values), np.stack(states)


def sequences():
    arrays = {"seeds": np.array(SEQUENCE_SEEDS, np.uint64).view(np.int64)}
    for number, seed in enumerate(SEQUENCE_SEEDS):
        calls, values, states = sequence(seed)
        arrays[f"calls_{number}"] = calls.astype(np.int64)
        arrays[f"values_{number}"] = values
        arrays[f"states_{number}"] = states
    return arrays


def reference_module(recorded):
    """Inputs are the same on both devices and kept once; the CPU states after are drawn here."""
    arrays, cases = {}, []
    for key in recorded.files:
        if not key.startswith("cpu_") or not key.endswith("_precision"):
            continue
        case = key[len("cpu_") : -len("_precision")]
        dim, chains, seed, sweeps = (int(part[1:]) for part in case.split("_"))
        cases.append((dim, chains, seed, sweeps))
        for field in ("precision", "mu", "rows", "x"):
            kept = recorded[f"cpu_{case}_{field}"]
            assert np.array_equal(kept, recorded[f"cuda_{case}_{field}"])
            arrays[f"{case}_{field}"] = kept
        for device in ("cpu", "cuda"):
            for field in ("y", "colsum"):
                arrays[f"{device}_{case}_{field}"] = recorded[f"{device}_{case}_{field}"]
        arrays[f"cuda_{case}_state_after"] = recorded[f"cuda_{case}_state_after"]
        seed_torch(seed)
        for _ in range(dim * sweeps):
            torch.randn(chains)
        arrays[f"cpu_{case}_state_after"] = state()
    return {"cases": np.array(cases, np.int64), **arrays}


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    source = sys.argv[1]
    target = sys.argv[2] if len(sys.argv) == 3 else "tests/kat"
    randn = np.load(os.path.join(source, "torch_randn.npz"))
    write_records(os.path.join(target, "torch_randn.bin"), {k: randn[k] for k in randn.files})
    write_records(os.path.join(target, "torch_sequences.bin"), sequences())
    recorded = np.load(os.path.join(source, "reference_public.npz"))
    write_records(os.path.join(target, "reference_module.bin"), reference_module(recorded))


if __name__ == "__main__":
    main()
