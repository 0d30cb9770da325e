"""Fitting a precision through the sampler: the gradient of an expectation of draws."""
import torch

from gibbsite.torch import gibbs_sweep

torch.manual_seed(0)
target = 0.25                                     # wanted variance of every site
log_diagonal = torch.zeros(3, dtype=torch.float64, requires_grad=True)
coupling = 0.2 * (torch.ones(3, 3, dtype=torch.float64) - torch.eye(3, dtype=torch.float64))
optimiser = torch.optim.Adam([log_diagonal], lr=0.05)

for step in range(150):
    precision = torch.diag(log_diagonal.exp()) + coupling
    x = torch.zeros(4000, 3, dtype=torch.float64)
    x = gibbs_sweep(x, precision, sweeps=20, stream="native", seed=step)
    loss = ((x.var(0) - target) ** 2).sum()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()

variance = torch.linalg.inv(precision).diagonal()
print("variances within 5 % of 0.25:", bool(((variance / target - 1).abs() < 0.05).all()))
