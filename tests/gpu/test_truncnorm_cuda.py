"""gibbsite.truncnorm on CUDA tensors: the CPU's numbers, other streams, graph capture, check.
Prints `N passed, N failed`."""
import sys

import torch

from gibbsite.torch import truncnorm

passed = failed = 0


def check(good, what):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAIL", what)


def raises(call, word):
    try:
        call()
    except (ValueError, RuntimeError, TypeError) as error:
        return word in str(error)
    return False


def same_numbers():
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        for shapes in (((1000,), (), (1000,), ()), ((7, 1, 33), (5, 1), (33,), ()), ((4096,),) * 4):
            g = torch.Generator().manual_seed(1)
            mean, sd, lower, upper = (torch.randn(s, generator=g).to(dtype) for s in shapes)
            sd, upper = sd.abs() + 0.1, lower.max() + upper.abs() + 1
            cpu = truncnorm(mean, sd, lower, upper, seed=3, sweep=2, chain=1, place=5)
            gpu = truncnorm(mean.cuda(), sd.cuda(), lower.cuda(), upper.cuda(), seed=3, sweep=2,
                            chain=1, place=5)
            check(gpu.is_cuda and (gpu.cpu() == cpu).all(), f"{dtype} {shapes}")
    mean = torch.zeros(100000, device="cuda")
    check((truncnorm(mean, 1.0, 3.0, seed=2).cpu() == truncnorm(mean.cpu(), 1.0, 3.0, seed=2)).all(),
          "numbers for bounds")
    word = torch.randint(0, 2**32, (1000,))
    check((truncnorm(mean[:1000], lower=0.0, word=word.cuda()).cpu()
           == truncnorm(mean[:1000].cpu(), lower=0.0, word=word)).all(), "words")


def streams_and_graphs():
    mean = torch.zeros(10000, device="cuda")
    expected = truncnorm(mean, 1.0, 2.0, seed=9)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        got = truncnorm(mean, 1.0, 2.0, seed=9)
    torch.cuda.current_stream().wait_stream(side)
    check((got == expected).all(), "another stream")
    lower = torch.full((), 2.0, device="cuda")
    one = torch.ones((), device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = truncnorm(mean, one, lower, seed=9)
    out.zero_()
    graph.replay()
    torch.cuda.synchronize()
    check((out == expected).all(), "captured in a graph")

    def unseeded():
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            truncnorm(mean, one, lower)

    check(raises(unseeded, "give a seed"), "no seed in a graph")


def refusals():
    lower = torch.tensor([0.0, 2.0], device="cuda")
    x = truncnorm(lower, lower=lower, upper=1.0, seed=1)
    check(bool(x.isnan()[1]) and not bool(x.isnan()[0]), "crossed bounds are NaN")
    check(raises(lambda: truncnorm(lower, lower=lower, upper=1.0, seed=1, check=True), "element [1]"),
          "check=True")
    check(raises(lambda: truncnorm(lower, sd=torch.ones(2)), "are on"), "two devices")
    for name, values in (("u", [0.5, 1.0]), ("u", [0.5, float("nan")]), ("word", [1, -1]),
                         ("word", [1, 2**32])):
        given = {name: torch.tensor(values, device="cuda")}
        check(truncnorm(lower, **given).isnan().tolist() == [False, True], f"{name} {values}: NaN")
        check(raises(lambda given=given: truncnorm(lower, check=True, **given), f"{name}[1]: "),
              f"{name} {values}: check=True")


if __name__ == "__main__":
    same_numbers()
    streams_and_graphs()
    refusals()
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)
