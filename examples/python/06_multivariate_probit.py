"""Multivariate probit: four yearly yes-or-no answers of each child, correlated within a child.

z = X b + e, answer = (z > 0), the four e of a child with variances 1 and correlation rho (Chib and
Greenberg, Biometrika 85, 1998; their Six Cities data have this shape, these numbers are made up).
Each year's z given the other three are truncated normals of all children at once; the
coefficients given z are an exact draw; rho is a Metropolis step of NumPy's."""
import numpy as np

import gibbsite

children, years = 537, 4
true_b, true_rho = np.array([-1.1, -0.1, 0.3, 0.05]), 0.6
rng = np.random.default_rng(42)
age = np.broadcast_to(np.arange(-2, 2), (children, years))
smoke = np.broadcast_to((np.arange(children) % 3 == 0)[:, None], (children, years))
x = np.stack([np.ones((children, years)), age, smoke, age * smoke], axis=2)
shared, own = rng.normal(size=(children, 1)), rng.normal(size=(children, years))
answer = x @ true_b + np.sqrt(true_rho) * shared + np.sqrt(1 - true_rho) * own > 0
lower, upper = np.where(answer, 0, -np.inf), np.where(answer, np.inf, 0)


def inverse(rho):
    return (np.eye(years) - rho / (1 + 3 * rho)) / (1 - rho)


def log_likelihood(rho, e):
    determinant = 3 * np.log(1 - rho) + np.log(1 + 3 * rho)
    return -0.5 * (children * determinant + np.einsum("ij,jk,ik", e, inverse(rho), e))


def draw_latent(z, mean, rho, t, chain):
    weight = rho / (1 + 2 * rho)
    for j in range(years):
        others = (z - mean).sum(1) - (z - mean)[:, j]
        z[:, j] = gibbsite.truncnorm(mean[:, j] + weight * others, np.sqrt(1 - 3 * rho * weight), lower[:, j],
                                     upper[:, j], seed=1, sweep=years * t + j, chain=chain)


def draw_coefficients(z, rho, t, chain):
    weighted = inverse(rho) @ x
    return np.asarray(gibbsite.sample(
        np.einsum("ijk,ijl", x, weighted) + 0.01 * np.eye(4), info=np.einsum("ijk,ij", weighted, z),
        method="exact", chains=1, draws=1, seed=1, first_chain=chain, first_sweep=t))[0, 0]


chains, warmup, draws = 4, 200, 1000
kept = np.empty((chains, draws, 5))
for chain in range(chains):
    b, rho, z = np.zeros(4), 0.2 * (chain + 0.5), np.zeros((children, years))
    for t in range(warmup + draws):
        draw_latent(z, x @ b, rho, t, chain)
        b = draw_coefficients(z, rho, t, chain)
        e, proposal = z - x @ b, rho + 0.05 * rng.normal()
        if 0 < proposal < 1 and np.log(rng.random()) < log_likelihood(proposal, e) - log_likelihood(rho, e):
            rho = proposal
        if t >= warmup:
            kept[chain, t - warmup] = *b, rho

summary = gibbsite.summary(kept)
for k, name in enumerate(("constant", "age", "smoke", "age x smoke", "rho")):
    print(f"{name:12} {summary.mean[k]:5.2f} +- {summary.sd[k]:.2f}, made with {[*true_b, true_rho][k]:5.2f} "
          f"(R-hat {summary.rhat[k]:.2f})")
