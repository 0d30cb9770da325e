"""A Gibbs loop in PyTorch, and the one line that takes its place."""
import torch

from gibbsite.torch import gibbs_sweep

D, B = 16, 1000
torch.manual_seed(0)
factor = 0.1 * torch.randn(D, D)
precision, mu = factor @ factor.T + 2 * torch.eye(D), torch.randn(D)
start = torch.randn(B, D)

torch.manual_seed(1)
x = start.clone()
for i in range(D):
    residual = x @ precision[i] - x[:, i] * precision[i, i]
    x[:, i] = mu[i] - residual / precision[i, i] + (1 / precision[i, i]).sqrt() * torch.randn(B)
state = torch.get_rng_state()

torch.manual_seed(1)
y = gibbs_sweep(start, precision, mu)

print("same numbers to 1e-5:", torch.allclose(x, y, atol=1e-5, rtol=0))
print("same generator state:", torch.equal(state, torch.get_rng_state()))

# What the loop computes has mean mu only where mu is 0; this has mean mu:
z = gibbs_sweep(start.double(), precision.double(), mu.double(), form="mean", sweeps=50)
standard_error = torch.linalg.inv(precision.double()).diagonal().sqrt() / B**0.5
print("mean form, within 4 standard errors of mu:",
      bool(((z.mean(0) - mu).abs() < 4 * standard_error).all()))
