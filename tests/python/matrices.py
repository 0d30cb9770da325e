"""Matrices that several tests share."""
import numpy as np


def lattice(side, kappa=0.1):
    chain = 2 * np.eye(side) - np.eye(side, k=1) - np.eye(side, k=-1)
    chain[0, 0] = chain[-1, -1] = 1
    return np.kron(chain, np.eye(side)) + np.kron(np.eye(side), chain) + kappa * np.eye(side**2)
