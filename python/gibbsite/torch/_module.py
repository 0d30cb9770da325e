"""GibbsSweep: a module with its precision, one sweep a call."""
import torch

from .._scalars import count
from ._op import gibbs_sweep


class GibbsSweep(torch.nn.Module):
    """One Gibbs sweep over [batch, dim], dim sites, drawing from torch's own stream.

    Stands in for a module of the same buffers whose forward clones x and then, for each i, sets
        x[:, i] = mu[i] - (x @ precision[i] - x[:, i] * precision[i, i]) / precision[i, i]
                  + sqrt(1 / precision[i, i]) * torch.randn(batch)
    from the same seeds: the same buffers, the same result to rounding (1e-5), the same generator
    state after.
    """

    def __init__(self, dim):
        super().__init__()
        dim = count("GibbsSweep: dim", dim, 0)
        factor = torch.randn(dim, dim) * 0.1
        self.register_buffer("precision", factor @ factor.T + 2.0 * torch.eye(dim))
        self.register_buffer("mu", torch.zeros(dim))

    def forward(self, x):
        buffers = self._buffers  # a module's own lookup takes longer than a small sweep
        return gibbs_sweep(x, buffers["precision"], buffers["mu"])
