"""Draws of normals between bounds, over arrays; torch tensors go to gibbsite.torch."""
import ctypes as c
import math
import sys
import warnings

import numpy as np

from . import _library
from ._library import lib
from ._objects import Context, address, array_of, bound_of, counted, inner_bounds, must_be_real, room
from ._sample import chosen_seed
from ._scalars import count, lengths, shown

_DIMS = 8
_OPERANDS = ("mean", "sd", "lower", "upper", "word")
_WORD_BITS = {np.dtype(np.float32): 32, np.dtype(np.float64): 53}


def _numbers(name, value):
    array = array_of(name, value)
    must_be_real(name, array.dtype)
    return array


def _is_single(array):
    """In either byte order."""
    return array.dtype.newbyteorder("=") == np.float32


def _dtype_of(operands, dtype):
    """float32 if all arrays are (numbers do not count), else float64; dtype= overrides."""
    if dtype is not None:
        try:
            typed = np.dtype({"f32": "float32", "f64": "float64"}.get(dtype, dtype))
        except TypeError:
            typed = None
        if typed not in _WORD_BITS:
            raise ValueError(f"dtype: {shown(dtype)}; it must be float32 or float64")
        return typed
    arrays = [a for a in operands.values() if a.ndim > 0 or _is_single(a)]
    single = arrays and all(map(_is_single, arrays))
    return np.dtype(np.float32 if single else np.float64)


def moved_inward(xp, value, rounded, back, towards, largest, after=None):
    """`rounded`, a bound's nearest number of a type, moved one step towards +-infinity where rounding took
    it the other way, as `back` shows, the same in a type that can be compared with `value`; finite bounds
    stay finite.  xp is numpy or torch: nothing here waits for a GPU.  after: the numbers one step on, where
    xp has no nextafter for the type."""
    if after is None:
        after = xp.nextafter(rounded, xp.full_like(rounded, towards * math.inf))
    moved = xp.where(back < value if towards > 0 else back > value, after, rounded)
    beyond = xp.isinf(moved) & ~xp.isinf(value)  # lower = 1e300 in float32 is its largest number
    return xp.where(beyond, xp.full_like(moved, math.copysign(largest, towards)), moved)


def _rounded(value, dtype, towards):
    with np.errstate(over="ignore"):
        rounded = value.astype(dtype)
        return moved_inward(np, value, rounded, rounded, towards, np.finfo(dtype).max)


def _indexed(name, array, place):
    """"lower[1]: 2", of the array's own element at a place of what it broadcasts to."""
    own = [int(k) if n > 1 else 0 for k, n in zip(place[len(place) - array.ndim:], array.shape)]
    return f"{name}{own or ''}: {array[tuple(own)]!s}"


def _refuse(name, array, bad, needed):
    """The first element that is not what is needed."""
    if np.any(bad):
        raise ValueError(f"{_indexed(name, array, np.argwhere(bad)[0])}; {needed}")


def inward(lower, upper, dtype):
    """Both bounds in `dtype`, rounded so that no draw leaves the bounds that were given.  Where
    nothing is left between them, both become the nearest number of the type."""
    largest, given = np.finfo(dtype).max, (lower, upper)
    lower, upper, empty = inner_bounds(lower, upper)
    crossed = np.argwhere(lower > upper)
    if len(crossed):  # said here, of the numbers that were given
        lower, upper = (_indexed(*it, crossed[0]) for it in zip(("lower", "upper"), given))
        raise ValueError(f"{lower} is above {upper}")
    low, high, lower, upper = np.broadcast_arrays(_rounded(lower, dtype, 1), _rounded(upper, dtype, -1), lower,
                                                  upper)
    beyond = ((lower > largest) & (lower < np.inf)) | ((upper < -largest) & (upper > -np.inf))
    empty = empty | (((low > high) | beyond) & (lower <= upper))
    if empty.any():
        middle = np.clip(lower / 2 + upper / 2, -largest, largest).astype(dtype)
        low, high = np.where(empty, middle, low), np.where(empty, middle, high)
        warnings.warn(f"truncnorm: {int(empty.sum())} of {counted(empty.size, 'box holds', 'boxes hold')} "
                      f"no {dtype} number; draws there are the nearest one", stacklevel=3)
    return low.astype(dtype), high.astype(dtype)


def _operand(array):
    array = np.ascontiguousarray(array).reshape(array.shape)
    operand = _library.Operand(values=address(array), dims=array.ndim)
    operand.shape[:array.ndim] = array.shape
    return operand, array


def _words(u, word, dtype):
    if u is not None and word is not None:
        raise ValueError("u and word: only one can be given")
    bits = _WORD_BITS[dtype]
    of = np.uint32 if bits == 32 else np.uint64
    if u is not None:
        u = _numbers("u", u)
        _refuse("u", u, ~((u >= 0) & (u < 1)), "uniforms must be in [0, 1)")
        u = u.astype(np.float64)
        return np.floor(np.ldexp(u, bits)).astype(of)
    words, needed = array_of("word", word), f"whole numbers in 0 .. 2^{bits} - 1 are needed"
    if words.dtype.kind not in "iu":
        raise ValueError(f"word: {shown(word)}; {needed}")
    _refuse("word", words, (words < 0) | (words > 2**bits - 1), needed)
    return words.astype(of)


def _broadcast(*shapes):
    """None where they do not."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def _shape(size, arrays):
    shape = _broadcast(*(a.shape for a in arrays))
    if shape is None:
        shapes = (f"{name} {a.shape}" for name, a in zip(_OPERANDS, arrays) if a.ndim)
        raise ValueError(f"shapes do not broadcast: {', '.join(shapes)}")
    if size is None:
        return shape
    size = tuple(count("size", n, 0) for n in lengths(size))
    if len(size) < len(shape) or any(n not in (1, m) for n, m in zip(shape[::-1], size[::-1])):
        raise ValueError(f"size: {size}, but the arguments together have shape {shape}")
    return size


def _is_torch(values):
    torch = sys.modules.get("torch")
    return torch is not None and any(isinstance(v, torch.Tensor) for v in values)


def truncnorm(mean=0.0, sd=1.0, lower=-np.inf, upper=np.inf, *, size=None, seed=None, sweep=0,
              chain=0, place=0, u=None, word=None, dtype=None, threads=1, isa="auto", **torch_only):
    """Draws x ~ N(mean, sd^2) restricted to [lower, upper], wherever the bounds lie.

    mean, sd, lower, upper
            numbers or arrays, which broadcast as NumPy's do; lower <= upper.  Bounds are rounded
            inward to the type: no draw leaves what was given
    size    shape of the result; default: what the arguments broadcast to
    seed    0 .. 2^64 - 1, or -1; None takes one from the system.  Element k takes the word of place
            `place` + k at this seed, `sweep` and `chain`, so that the same call gives the same
            numbers, on every machine: count sweep up in a Gibbs sampler of your own
    u, word instead of a seed: uniforms in [0, 1), or words (32 bits in float32, 53 in float64)
    dtype   float32 or float64; default float32 if all arrays are, in any byte order
    threads, isa
            as in sample; the draws are the same for any number and instructions

    With torch tensors among the arguments, on the CPU or on CUDA, see gibbsite.torch.truncnorm.
    """
    if _is_torch((mean, sd, lower, upper, u, word)):
        from .torch import truncnorm as of_tensors
        return of_tensors(mean, sd, lower, upper, size=size, seed=seed, sweep=sweep, chain=chain,
                          place=place, u=u, word=word, dtype=dtype, threads=threads, isa=isa,
                          **torch_only)
    if torch_only:
        raise TypeError(f"{', '.join(torch_only)}: only for torch tensors")
    operands = {"mean": _numbers("mean", mean), "sd": _numbers("sd", sd),
                "lower": bound_of("lower", lower), "upper": bound_of("upper", upper)}
    dtype = _dtype_of(operands, dtype)
    given = _words(u, word, dtype) if u is not None or word is not None else None
    spec = _library.TruncnormSpec()
    spec.stream = 0 if given is None else 1
    if given is not None and seed is not None:
        raise ValueError("seed: the words are given, so no seed is used")
    spec.seed = 0 if given is not None else chosen_seed(seed)
    for name, value in (("sweep", sweep), ("chain", chain), ("place", place)):
        setattr(spec, name, count(name, value, 0))
    low, high = inward(operands["lower"], operands["upper"], dtype)
    arrays = [operands["mean"].astype(dtype), operands["sd"].astype(dtype), low, high]
    arrays += [] if given is None else [given]
    shape = _shape(size, arrays)
    if len(shape) > _DIMS:
        raise ValueError(f"size: {len(shape)} dimensions, but at most {_DIMS} are taken")
    spec.dims = len(shape)
    spec.shape[:len(shape)] = shape
    kept = []
    for name, array in zip(_OPERANDS, arrays):
        operand, memory = _operand(array)
        kept.append(memory)
        setattr(spec, name, operand)
    on_bound = c.c_int64()
    spec.on_bound = c.pointer(on_bound)
    out = room(shape, dtype, f"size: {counted(math.prod(shape), f'{dtype} number')}")
    draw = lib.gbs_truncnorm_f32 if dtype == np.float32 else lib.gbs_truncnorm_f64
    with Context(isa, threads) as context:
        context.must(draw(context.handle, c.byref(spec), address(out)))
    if on_bound.value > max(1, out.size // 1000):
        warnings.warn(f"truncnorm: {on_bound.value} of {counted(out.size, 'draw')} equal a bound: {dtype} "
                      "does not resolve the law there", stacklevel=2)
    return out if shape else out[()]
