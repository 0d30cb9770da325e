"""Faults that people met in other programs, as Python meets them: C14, C17, C20, C23, C25 and C26 of
docs' kind, one call each.  Statistics have fixed seeds and bounds of 5 Monte Carlo standard errors."""
import math

import numpy as np
import pytest
import torch

import gibbsite
from gibbsite.torch import gibbs_sweep
