"""Three models of one size in one call, all sweeps kept, on any device with the same bits."""
import torch

from gibbsite.torch import gibbs_sweep

phi = torch.tensor([0.1, 0.5, 0.9], dtype=torch.float64)
shift = torch.eye(4, dtype=torch.float64).roll(1, 0) + torch.eye(4, dtype=torch.float64).roll(-1, 0)
precision = torch.eye(4, dtype=torch.float64) - 0.5 * phi[:, None, None] * shift  # [G, D, D]

x = torch.zeros(3, 2000, 4, dtype=torch.float64)                                  # [G, B, D]
x, kept = gibbs_sweep(x, precision, sweeps=200, stream="native", seed=5, keep=50)
print("kept:", tuple(kept.shape))

variance = torch.linalg.inv(precision)[:, 0, 0]
found = x.var(dim=(1, 2))
print("variances within 10 %:", bool(((found / variance - 1).abs() < 0.1).all()))

if torch.cuda.is_available():
    on_gpu = gibbs_sweep(torch.zeros(3, 2000, 4, dtype=torch.float64, device="cuda"),
                         precision.cuda(), sweeps=200, stream="native", seed=5)
    assert torch.equal(x, on_gpu.cpu())
