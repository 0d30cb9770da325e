"""What the tests compare with: the PyTorch loop that the op stands for, the reference module, and
models to run them on."""
import torch

# The loop sums in another order, and its float normals are off by up to 3e-6 (docs/streams.md).
BOUNDS = {torch.float32: 1e-5, torch.float64: 1e-12}
TYPES = (torch.float32, torch.float64)


def loop_sweep(x, precision, location=None, form="offset", omega=1.0, noise=None, generator=None):
    """One sweep of x [..., B, D]: one torch.randn over the chains per site."""
    columns = list(x.unbind(-1))  # not in place, so that autograd can go through it
    for i in range(len(columns)):
        x = torch.stack(columns, -1)
        row = precision[..., i, :]
        diagonal = row[..., i]
        around = (x * row.unsqueeze(-2)).sum(-1) - x[..., i] * diagonal.unsqueeze(-1)
        centre = torch.zeros_like(diagonal)
        if location is not None:
            centre = location[..., i]
            if form == "info":
                centre = centre / diagonal
            if form == "mean":
                others = (row * location).sum(-1) - diagonal * location[..., i]
                centre = centre + others / diagonal
        z = noise[i] if noise is not None else torch.randn(
            x.shape[:-1], dtype=x.dtype, device=x.device, generator=generator)
        mean = centre.unsqueeze(-1) - around / diagonal.unsqueeze(-1)
        scale = (1 / diagonal).sqrt().unsqueeze(-1)
        columns[i] = ((1 - omega) * columns[i] + omega * mean
                      + (omega * (2 - omega)) ** 0.5 * scale * z)
    return torch.stack(columns, -1)


class ReferenceGibbsSweep(torch.nn.Module):
    """The module that GibbsSweep stands in for."""

    def __init__(self, dim):
        super().__init__()
        factor = torch.randn(dim, dim) * 0.1
        self.register_buffer("precision", factor @ factor.T + 2.0 * torch.eye(dim))
        self.register_buffer("mu", torch.zeros(dim))

    def forward(self, x):
        x = x.clone()
        for i in range(x.shape[1]):
            residual = x @ self.precision[i] - x[:, i] * self.precision[i, i]
            x[:, i] = (self.mu[i] - residual / self.precision[i, i]
                       + torch.sqrt(1 / self.precision[i, i]) * torch.randn(len(x)))
        return x


def random_model(dim, dtype=torch.float64, groups=None, seed=0):
    """A precision (unit diagonal of about 2, as the reference's) and a location."""
    generator = torch.Generator().manual_seed(1000 * dim + seed)
    shape = () if groups is None else (groups,)
    factor = torch.randn(*shape, dim, dim, generator=generator, dtype=torch.float64) * 0.1
    precision = factor @ factor.mT + 2.0 * torch.eye(dim, dtype=torch.float64)
    location = torch.randn(*shape, dim, generator=generator, dtype=torch.float64)
    return precision.to(dtype), location.to(dtype)


def states(chains, dim, dtype=torch.float64, groups=None, seed=0):
    generator = torch.Generator().manual_seed(77 + seed)
    shape = (chains, dim) if groups is None else (groups, chains, dim)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def assert_close(what, expected, got, bound):
    """Shape, type and every element; prints what was found."""
    assert got.shape == expected.shape, f"{what}: expected {expected.shape}, got {got.shape}"
    assert got.dtype == expected.dtype, f"{what}: expected {expected.dtype}, got {got.dtype}"
    error = (got.double() - expected.double()).abs().max().item() if got.numel() else 0.0
    assert error <= bound, f"{what}: error {error:.3g}, bound {bound:.3g}"
    print(f"{what}: error {error:.3g}, bound {bound:.3g}")


def assert_same(what, expected, got):
    """Bit for bit."""
    assert_close(what, expected, got, 0.0)


def assert_rng_state(expected, got):
    """Byte for byte, but for the kept normal, a drawn double like any other (docs/streams.md)."""
    different = (expected != got).nonzero().flatten().tolist()
    others = [byte for byte in different if not 5024 <= byte < 5032]
    assert not others, f"generator state: bytes {others[:8]} differ"
    kept = [state[5024:5032].clone().view(torch.float64).item() for state in (expected, got)]
    assert abs(kept[0] - kept[1]) <= 1e-14, f"kept normal: expected {kept[0]}, got {kept[1]}"
