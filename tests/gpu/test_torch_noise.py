"""The torch-cuda stream on the device against torch.randn itself, bit for bit.

With an identity precision, no location and a zero state, a sweep returns its noise: row i of the
result must be the i-th of D calls of torch.randn(B, device="cuda").  The library is loaded by
ctypes: usage: test_torch_noise.py path/to/libgibbsite_cuda.so
"""
import ctypes
import importlib.util
import pathlib
import sys

import torch

# the structs alone: the package itself would want its own library
_FILE = pathlib.Path(__file__).resolve().parents[2] / "python/gibbsite/_structs.py"
_SPEC = importlib.util.spec_from_file_location("gibbsite_structs", _FILE)
structs = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(structs)


def noise(library, dtype, dim, chains, seed, offset):
    properties = torch.cuda.get_device_properties(0)
    identity = torch.eye(dim, dtype=dtype, device="cuda")
    x = torch.zeros(chains, dim, dtype=dtype, device="cuda")
    spec = structs.SweepSpec(type=0 if dtype == torch.float32 else 1, groups=1, chains=chains, dim=dim,
                     precision=identity.data_ptr(), x=x.data_ptr(), out=x.data_ptr(), sweeps=1, omega=1.0, stream=3,
                     seed=seed, torch_offset=offset, cuda_multiprocessors=properties.multi_processor_count,
                     cuda_threads_per_multiprocessor=properties.max_threads_per_multi_processor)
    message = ctypes.create_string_buffer(256)
    torch.cuda.synchronize()
    status = library.gbs_cuda_sweep(ctypes.byref(spec), None, message, 256)
    torch.cuda.synchronize()
    assert status == 0, message.value.decode()
    return x.t()


def main():
    library = ctypes.CDLL(sys.argv[1])
    passed = failed = 0
    for dtype in (torch.float32, torch.float64):
        for chains in (1, 2, 15, 31, 100, 255, 256, 257, 4096, 270336, 270337, 300001, 540673, 1100000, 1500000):
            for seed in (0, 42, 2**63 + 5):
                dim = 3
                torch.cuda.manual_seed(seed - 2**64 if seed >= 2**63 else seed)
                torch.randn(7, device="cuda")  # not at offset 0
                state = torch.cuda.get_rng_state()
                offset = int.from_bytes(bytes(state[8:16].tolist()), "little")
                expected = torch.stack([torch.randn(chains, dtype=dtype, device="cuda") for _ in range(dim)])
                got = noise(library, dtype, dim, chains, seed, offset)
                wrong = int((expected != got).sum())
                if wrong:
                    failed += 1
                    print(f"FAIL {dtype} B={chains} seed={seed}: {wrong} of {dim * chains} normals differ, "
                          f"largest {float((expected - got).abs().max()):.3g}")
                else:
                    passed += 1
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
