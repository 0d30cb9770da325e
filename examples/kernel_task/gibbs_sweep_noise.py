"""The task with its normals as an input, for harnesses that call reference and candidate one after
the other without seeding in between: then the two would see different normals, and nothing that
draws its own could pass."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        L = torch.randn(dim, dim) * 0.1
        self.register_buffer("precision", L @ L.T + 2.0 * torch.eye(dim))
        self.register_buffer("mu", torch.zeros(dim))

    def forward(self, x, noise):
        x = x.clone()
        for i in range(x.shape[1]):
            residual = x @ self.precision[i] - x[:, i] * self.precision[i, i]
            x[:, i] = (self.mu[i] - residual / self.precision[i, i]
                       + torch.sqrt(1.0 / self.precision[i, i]) * noise[i])
        return x


batch_size = 4096
dim = 32


def get_inputs():
    return [torch.randn(batch_size, dim), torch.randn(dim, batch_size)]


def get_init_inputs():
    return [dim]
