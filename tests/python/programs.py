"""Small programs of several random calls, for torch.compile: the order of the calls, and that each
is there once, decides what they return."""
import torch

from gibbsite.torch import gibbs_sweep
from loops import random_model


class Programs:
    """The programs on one device, in one type."""

    def __init__(self, device="cpu", dtype=torch.float32):
        precision, location = random_model(4, dtype)
        self.precision, self.location = precision.to(device), location.to(device)

    def sweep(self, x, **options):
        return gibbs_sweep(x, self.precision, self.location, **options)

    def result_of_the_first_is_not_used(self, x):
        self.sweep(x)
        return self.sweep(x)

    def result_of_the_last_is_not_used(self, x):
        y = self.sweep(x)
        self.sweep(x)
        return y

    def equal_calls(self, x):
        first, second = self.sweep(x), self.sweep(x)
        return first - second, first

    def used_in_another_order(self, x):
        a, b, c = self.sweep(x), self.sweep(2 * x), self.sweep(3 * x)
        return 2 * c + b - a

    def shuffled_by_the_scheduler(self, x):
        """Inductor without a reason not to runs the third sweep before the second here."""
        product = x @ x.T
        near = product.sum(1, keepdim=True) * x * 0.001
        a = self.sweep(near)
        joined = torch.cat([near, x], 1)
        b = self.sweep(joined[:, 2:6])
        c = self.sweep(near)
        far = (b @ a.T).sum(1, keepdim=True) * b * 0.001
        square = (a @ a.T) @ a * 0.01
        return torch.sin(torch.sin(c) + far) + torch.sin(square + b) + a

    def large_temporaries_between(self, x):
        products = [(x @ x.T) * k for k in range(3)]
        a, c = self.sweep(x), self.sweep(x)
        total = sum(p.sum() for p in products)
        b = self.sweep(x)
        return b * total, c, a

    def several_sweeps_and_kept(self, x):
        y, kept = self.sweep(x, sweeps=4, keep=2)
        return y + kept[0]

    def chained(self, x):
        return torch.relu(self.sweep(self.sweep(x) + self.sweep(x))).sum()

    def into_out(self, x):
        out = torch.empty_like(x)
        self.sweep(x.detach(), out=out)
        return out + x

    def transposed(self, x):
        return self.sweep(x.t().contiguous().t())

    def among_other_random_calls(self, x):
        a = self.sweep(x)
        r = torch.randn(x.shape, device=x.device)
        b = self.sweep(x)
        s = torch.rand(x.shape, device=x.device)
        return 2 * s + b - r + a


class BoundedPrograms(Programs):
    """The same between bounds: a number and a tensor, seeds from the generator."""

    def __init__(self, device="cpu", dtype=torch.float32):
        super().__init__(device, dtype)
        self.upper = torch.tensor([1.0, float("inf"), 0.5, 1.5], dtype=torch.float64, device=device)

    def sweep(self, x, **options):
        start = torch.minimum(x, self.upper.to(x.dtype)).clamp(min=-1)
        return gibbs_sweep(start, self.precision, self.location, stream="native", lower=-1,
                           upper=self.upper, **options)


NAMES = [name for name, value in vars(Programs).items()
         if callable(value) and name not in ("__init__", "sweep")]


def keeps_torch_order(name):
    """Only from 2.13 on does PyTorch keep its own random calls, run eagerly, in their order."""
    release = tuple(int(part) for part in torch.__version__.split(".")[:2])
    return name != "among_other_random_calls" or release >= (2, 13)


def run(program, x, seed):
    """Results, gradient of their sum if x wants one."""
    torch.manual_seed(seed)
    results = program(x)
    results = results if isinstance(results, tuple) else (results,)
    gradient = None
    if x.requires_grad:
        gradient, = torch.autograd.grad(sum(r.sum() for r in results), x)
    return [r.detach() for r in results], gradient
