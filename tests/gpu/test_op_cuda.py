"""The op on CUDA tensors against the loop it stands for: same seed, same numbers, same generator
state; eager and in a CUDA graph; native bits equal to the CPU's.  Needs GIBBSITE_PREFIX with the
libraries and headers, and python/ on the path."""
import sys

from op_cuda import capture  # first: it sets the path

import torch

from gibbsite.torch import gibbs_sweep


def loop(x, precision, location):
    x = x.clone()
    for i in range(x.shape[1]):
        residual = x @ precision[i] - x[:, i] * precision[i, i]
        x[:, i] = (location[i] - residual / precision[i, i]
                   + torch.sqrt(1 / precision[i, i]) * torch.randn(x.shape[0], dtype=x.dtype, device=x.device))
    return x


def main():
    counts = [0, 0]

    def check(what, good):
        counts[not good] += 1
        if not good:
            print("FAIL", what)

    torch.backends.cuda.matmul.allow_tf32 = False
    for dtype, bound in ((torch.float32, 1e-5), (torch.float64, 1e-12)):
        for dim, batch in ((1, 1), (5, 33), (32, 4096), (64, 1000), (200, 65)):
            factor = torch.randn(dim, dim, dtype=dtype, device="cuda") * 0.1
            precision = factor @ factor.T + 2 * torch.eye(dim, dtype=dtype, device="cuda")
            location = torch.randn(dim, dtype=dtype, device="cuda")
            x = torch.randn(batch, dim, dtype=dtype, device="cuda")
            torch.manual_seed(11)
            expected, state = loop(loop(x, precision, location), precision, location), torch.cuda.get_rng_state()
            torch.manual_seed(11)
            got = gibbs_sweep(gibbs_sweep(x, precision, location), precision, location)
            what = f"{dtype} D={dim} B={batch}"
            check(f"{what} eager: {float((got - expected).abs().max()):.3g}", (got - expected).abs().max() <= bound)
            check(f"{what} generator", torch.equal(state, torch.cuda.get_rng_state()))
            symmetric = (precision + precision.T) / 2
            native = gibbs_sweep(x, symmetric, location, stream="native", seed=5, sweeps=2)
            on_cpu = gibbs_sweep(x.cpu(), symmetric.cpu(), location.cpu(), stream="native", seed=5, sweeps=2)
            check(f"{what} native bits", torch.equal(native.cpu(), on_cpu))
    gibbs_sweep(x, precision, location)  # warm
    torch.manual_seed(3)
    expected = [gibbs_sweep(x, precision, location) for _ in range(3)]
    torch.manual_seed(3)
    graph = torch.cuda.CUDAGraph()
    with capture(graph):
        out = gibbs_sweep(x, precision, location)
    torch.manual_seed(3)
    for k in range(3):
        graph.replay()
        check(f"graph replay {k}", torch.equal(out, expected[k]))
    torch.manual_seed(4)
    expected = [gibbs_sweep(x, precision, location, stream="native") for _ in range(3)]
    graph = torch.cuda.CUDAGraph()
    with capture(graph):
        out = gibbs_sweep(x, precision, location, stream="native")
    torch.manual_seed(4)
    for k in range(3):
        graph.replay()
        check(f"graph replay {k}, native without a seed", torch.equal(out, expected[k]))
    print(f"{counts[0]} passed, {counts[1]} failed")
    return counts[1] != 0


if __name__ == "__main__":
    sys.exit(main())
