"""Gibbs sweeps of Gaussian models on PyTorch tensors: gibbs_sweep and the module GibbsSweep; draws of
normals between bounds: truncnorm."""
from ._module import GibbsSweep
from ._op import gibbs_sweep
from ._truncnorm import truncnorm

__all__ = ["GibbsSweep", "gibbs_sweep", "truncnorm"]
