"""Gibbs sweeps of Gaussian models on PyTorch tensors: gibbs_sweep and the module GibbsSweep."""
from ._module import GibbsSweep
from ._op import gibbs_sweep

__all__ = ["GibbsSweep", "gibbs_sweep"]
