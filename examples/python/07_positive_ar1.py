"""An autoregression that stays positive, seen with noise: y = x + s e, x an AR(1) whose steps have
standard deviation r, conditioned on x >= 0 at all times, r and s unknown.

Given r and s the path is a Gaussian above zero, drawn by one whitened sweep of gibbsite.sample, which
moves all times at once; given the path 1 / r^2 and 1 / s^2 are gamma distributed (priors with
shape 1, rate 0.1), since the probability of staying positive is the same for every r."""
import numpy as np

import gibbsite

times, phi, true_r, true_s = 100, 0.9, 0.5, 1.0
diagonal = np.r_[1, np.full(times - 2, 1 + phi**2), 1]
steps = np.diag(diagonal) - phi * (np.eye(times, k=1) + np.eye(times, k=-1))  # x' steps x / r^2


def draw_path(x, precision, sweep, chain, **options):
    return np.asarray(gibbsite.sample(precision, lower=0, method="whitened", init=x, chains=1, draws=1,
                                      warmup=0, seed=1, first_chain=chain, first_sweep=sweep, **options))[0, 0]


def draw_scale(rng, squares):
    return np.sqrt((squares / 2 + 0.1) / rng.gamma(1 + times / 2))


rng = np.random.default_rng(7)
truth = draw_path(np.zeros(times), steps / true_r**2, 0, 99, thin=1000)
y = truth + true_s * rng.normal(size=times)

chains, warmup, draws = 4, 200, 1000
kept = np.empty((chains, draws, times + 2))
for chain in range(chains):
    x, r, s = np.zeros(times), 0.5 * (chain + 1), 0.5 * (chain + 1)
    for sweep in range(warmup + draws):
        x = draw_path(x, steps / r**2 + np.eye(times) / s**2, sweep, chain, info=y / s**2)
        r = draw_scale(rng, x @ steps @ x)
        s = draw_scale(rng, ((y - x) ** 2).sum())
        if sweep >= warmup:
            kept[chain, sweep - warmup] = r, s, *x

summary = gibbsite.summary(kept)
for k, name, made_with in ((0, "step", true_r), (1, "noise", true_s), (52, "x[50]", truth[50])):
    print(f"{name:5} {summary.mean[k]:5.2f} +- {summary.sd[k]:.2f}, made with {made_with:4.2f} "
          f"(R-hat {summary.rhat[k]:.2f})")
within = (abs(summary.mean - np.r_[true_r, true_s, truth]) < 2 * summary.sd)[2:].mean()
print(f"{within:.0%} of the path is within two standard deviations; every draw is "
      f"{'positive' if (kept > 0).all() else 'not positive'}")
