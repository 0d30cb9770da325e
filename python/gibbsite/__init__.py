"""Gibbsite: Gibbs sampling of Gaussian models, the same bits everywhere.

    sample     draws of a Gaussian, from its precision (or covariance) and a location
    summary    mean, sd, quantiles, effective sample sizes and R-hat of draws
    info       what to expect of a matrix before sampling: conditioning, mixing, advice
    truncnorm  draws of normals between bounds, over arrays

NumPy arrays in and out; gibbsite.torch has the same sweeps on PyTorch tensors.
"""
from ._info import info
from ._library import lib as _lib
from ._sample import Draws, sample
from ._summary import Summary, summary
from ._truncnorm import truncnorm

__all__ = ["Draws", "Summary", "info", "sample", "summary", "truncnorm"]
__version__ = _lib.gbs_version().decode()
