"""Tobit regression, y = max(0, b0 + b1 x + s e): a Gibbs loop of one's own over truncated normals.

The latent values below zero are drawn by gibbsite.truncnorm, the coefficients given them by
gibbsite.sample, exactly; the scale is NumPy's (Chib, Journal of Econometrics 51, 1992)."""
import numpy as np

import gibbsite

n, true_b, true_s = 200, np.array([-0.5, 1.0]), 1.5
rng = np.random.default_rng(42)
x = np.column_stack([np.ones(n), rng.normal(size=n)])
y = np.maximum(0, x @ true_b + true_s * rng.normal(size=n))
lower = np.where(y > 0, y, -np.inf)  # equal bounds where y is seen: y* = y

chains, warmup, draws = 4, 200, 1000
kept = np.empty((chains, draws, 3))
for chain in range(chains):
    b, s = np.zeros(2), 1.0 + chain
    for t in range(warmup + draws):
        latent = gibbsite.truncnorm(x @ b, s, lower, y, seed=1, sweep=t, chain=chain)
        b = np.asarray(gibbsite.sample(
            x.T @ x / s**2 + np.eye(2) / 100, info=x.T @ latent / s**2, method="exact",
            chains=1, draws=1, seed=1, first_chain=chain, first_sweep=t))[0, 0]
        s = np.sqrt(((latent - x @ b) ** 2).sum() / rng.chisquare(n))
        if t >= warmup:
            kept[chain, t - warmup] = *b, s

print(f"{(y == 0).sum()} of {n} values are 0")
summary = gibbsite.summary(kept)
for k, (name, truth) in enumerate(zip(("b0", "b1", "s "), (*true_b, true_s))):
    print(f"{name} {summary.mean[k]:6.2f} +- {summary.sd[k]:.2f}, made with {truth:5.2f} "
          f"(R-hat {summary.rhat[k]:.2f})")
