"""What the op's tests on a GPU share: tensors, states, a graph of ten sweeps, and a runner that needs
no pytest.  Needs PyTorch with CUDA and what tools/gpu_package.sh sets."""
import contextlib
import faulthandler
import pathlib
import sys
import time
import traceback

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / folder) for folder in ("python", "tests/python")]

import torch  # noqa: E402

from loops import random_model, states  # noqa: E402

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


@contextlib.contextmanager
def capture(graph):
    """torch.cuda.graph, and a wait.  torch writes a generator's seed and offset for the graph on the
    capture's stream before the capture, and on the current stream before a replay: on a GPU that
    others use too the first can come last, and the first replay then has the capture's numbers.
    torch.randn alone does so."""
    with torch.cuda.graph(graph):
        yield
    torch.cuda.synchronize()


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
    with capture(graph):
        for _ in range(10):
            sweep(y)
    return graph, y


def main(names):
    """Runs what is called test_...; the last line is the count."""
    tests = [(name, value) for name, value in names.items()
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
