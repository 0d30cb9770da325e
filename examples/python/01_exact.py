"""Independent draws instead of a chain, and the same chain continued later."""
import numpy as np

import gibbsite

n = 50  # a stationary autoregression of order 1, phi = 0.9
precision = np.diag(np.r_[1.0, np.full(n - 2, 1 + 0.9**2), 1.0]) - 0.9 * (
    np.eye(n, k=1) + np.eye(n, k=-1))

slow = gibbsite.summary(gibbsite.sample(precision, draws=1000, seed=2))
exact = gibbsite.summary(gibbsite.sample(precision, method="exact", draws=1000, seed=2))
print(f"Gibbs: at least {slow.ess_bulk.min():.0f} effective draws of 4000")
print(f"exact: at least {exact.ess_bulk.min():.0f}")

whole = gibbsite.sample(precision, warmup=0, draws=20, seed=3)
first = gibbsite.sample(precision, warmup=0, draws=12, seed=3)
rest = gibbsite.sample(precision, warmup=0, draws=8, seed=3, init=first[:, -1], first_sweep=12)
print("12 draws and 8 more are 20, bit for bit:",
      np.array_equal(whole, np.concatenate([first, rest], axis=1)))
