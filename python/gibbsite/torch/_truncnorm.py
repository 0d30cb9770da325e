"""truncnorm on tensors: arguments in Python, the draws in the C++ op."""
import math

import torch

from .._scalars import count, lengths, real, shown
from .._truncnorm import moved_inward
from . import _op

_HALVES = (torch.float16, torch.bfloat16)
_NAMES = {"float32": torch.float32, "f32": torch.float32, "float64": torch.float64,
          "f64": torch.float64}


def _common(operands, dtype):
    """The device of the tensors and the type of the draws."""
    tensors = {name: v for name, v in operands.items() if isinstance(v, torch.Tensor)}
    devices = {v.device for v in tensors.values() if v.dim() > 0} or \
        {v.device for v in tensors.values()}
    if len(devices) > 1:
        raise ValueError("truncnorm: tensors are on " + " and ".join(sorted(map(str, devices))))
    if dtype is not None:
        return devices.pop(), _NAMES.get(str(dtype).removeprefix("torch."), dtype)
    types = {v.dtype for name, v in tensors.items() if name not in ("u", "word")}
    if len(types) > 1:
        raise TypeError("truncnorm: " + ", ".join(f"{n} is {v.dtype}" for n, v in tensors.items()
                                                  if n not in ("u", "word")) +
                        "; give dtype, or make them one")
    return devices.pop(), types.pop() if types else torch.get_default_dtype()


def _number(name, value):
    """A tensor as it is, a number as a float."""
    if isinstance(value, torch.Tensor):
        return value
    return real(f"truncnorm: {name}", value, "a number or a tensor")


def _bound(name, value, towards):
    """A whole number that double does not hold goes on to the neighbour towards +-infinity."""
    number = _number(name, value)
    if type(value) is int and (number < value if towards > 0 else number > value):
        return math.nextafter(number, towards * math.inf)
    return number


def _count(name, value):
    """A number that tracing does not know yet is the op's to check."""
    unknown = isinstance(value, torch.SymInt) or torch.compiler.is_compiling() and type(value) is int
    return value if unknown else count(f"truncnorm: {name}", value, 0)


def _rounded(value, dtype, towards):
    """A bound in `dtype`, rounded inward."""
    if not isinstance(value, torch.Tensor):
        value = torch.tensor(value, dtype=torch.float64)
    rounded = value.to(dtype)
    if value.dtype == dtype:
        return rounded
    after = _next_half(rounded, towards) if dtype in _HALVES else None
    return moved_inward(torch, value, rounded, rounded.to(value.dtype), towards,
                        torch.finfo(dtype).max, after)


def _held(low, high, lower, upper, dtype):
    """Bounds between which no number of `dtype` lies are both the nearest one."""
    largest = torch.finfo(dtype).max
    if not isinstance(lower, torch.Tensor) and not isinstance(upper, torch.Tensor):
        if low > high and lower <= upper:
            middle = min(max(lower / 2 + upper / 2, -largest), largest)
            low = high = float(torch.tensor(middle, dtype=torch.float64).to(dtype))
        return low, high
    lower, upper = (b.double() if isinstance(b, torch.Tensor) else torch.tensor(b, dtype=torch.float64)
                    for b in (lower, upper))
    low, high = (b if isinstance(b, torch.Tensor) else torch.tensor(b, dtype=dtype) for b in (low, high))
    _shape(None, {"lower": low, "upper": high})
    middle = (lower / 2 + upper / 2).clamp(-largest, largest).to(dtype)
    empty = (low > high) & (lower <= upper)
    return torch.where(empty, middle, low), torch.where(empty, middle, high)


def _next_half(t, towards):
    bits = t.view(torch.int16).to(torch.int32) & 0xFFFF
    ordered = torch.where(bits < 0x8000, bits, 0x8000 - bits) + towards
    bits = torch.where(ordered >= 0, ordered, 0x8000 - ordered)
    return torch.where(bits < 0x8000, bits, bits - 0x10000).to(torch.int16).view(t.dtype)


def _words(u, word, bits, device):
    """The words on the device, and what was given with the places where it is none."""
    if u is not None and word is not None:
        raise ValueError("truncnorm: u and word: only one can be given")
    name, given = ("word", word) if u is None else ("u", u)
    if given is None:
        return None, None, None
    if not isinstance(given, torch.Tensor):
        raise TypeError(f"truncnorm: {name}: {shown(given)}; a tensor is needed")
    if given.dtype == torch.bool or given.is_complex() or given.is_floating_point() and u is None:
        raise TypeError(f"truncnorm: {name} is {given.dtype}; " +
                        ("integers are needed" if u is None else "real numbers are needed"))
    given = given.detach().to(device)
    if u is not None:
        u = given.double()
        bad = ~((u >= 0) & (u < 1))
        word = torch.floor(u * 2.0**bits).long()
    else:
        word = given.long()
        bad = (word < 0) | (word >= 2**bits)
    word = word if bits == 53 else torch.where(word >= 2**31, word - 2**32, word).int()
    return word, given, bad


def _check_words(given, bad, u, bits):
    if bool(bad.any()):
        place = bad.nonzero()[0].tolist()
        raise ValueError(f"truncnorm: {'word' if u is None else 'u'}{place or ''}: {given[tuple(place)].item()}; " + (
            f"whole numbers in 0 .. 2^{bits} - 1 are needed" if u is None else "uniforms must be in [0, 1)"))


def _shape(size, tensors):
    """NumPy's broadcasting, to `size` if that is given."""
    shapes = {name: tuple(t.shape) for name, t in tensors.items()}
    if size is not None:
        size = tuple(_count("size", n) for n in lengths(size))
        shapes["size"] = size
    try:
        shape = torch.broadcast_shapes(*shapes.values())
    except RuntimeError:
        shape = None
    if shape is None or size is not None and tuple(shape) != size:
        raise ValueError("truncnorm: shapes do not broadcast" + (" to size" if size else "") + ": " +
                         ", ".join(f"{name} {list(s)}" for name, s in shapes.items()))
    return shape


def _drawn_seed(generator):
    if torch.compiler.is_compiling():
        raise RuntimeError("truncnorm: under torch.compile give a seed, and count sweep up")
    if torch.cuda.is_available() and torch.cuda.is_current_stream_capturing():
        raise RuntimeError("truncnorm: in a CUDA graph give a seed: the numbers are those of the "
                           "capture at every replay")
    return torch.empty((), dtype=torch.int64).random_(-2**63, None, generator=generator).item()


def truncnorm(mean=0.0, sd=1.0, lower=-math.inf, upper=math.inf, *, size=None, seed=None, sweep=0,
              chain=0, place=0, u=None, word=None, dtype=None, generator=None, check=False,
              threads=1, isa="auto"):
    """Draws x ~ N(mean, sd^2) restricted to [lower, upper]; see gibbsite.truncnorm.

    At least one argument is a tensor; its device and type are those of the result.  Numbers are of
    any type; bounds among them are rounded inward.  float16 and bfloat16 are drawn in float32 and
    rounded last, still within the bounds.

    seed    None takes 64 bits from torch's CPU generator (or `generator`, also of the CPU),
            whatever the device.  With torch.compile and in CUDA graphs a seed is needed
    check   CUDA: raise where the CPU always does (lower > upper, NaN, sd not above 0, u or word out of
            range); waits for the device.  Without it such draws are NaN
    threads, isa
            for NumPy arrays: beside tensors only their defaults are taken

    Where no number of the type lies between two bounds, they both are the nearest one.  Not
    differentiable.
    """
    operands = {"mean": mean, "sd": sd, "lower": lower, "upper": upper, "u": u, "word": word}
    if not any(isinstance(v, torch.Tensor) for v in operands.values()):
        raise TypeError("truncnorm: at least one argument must be a tensor")
    if (threads, isa) != (1, "auto"):
        raise TypeError("truncnorm: threads and isa are only for NumPy arrays")
    device, kind = _common(operands, dtype)
    if kind not in (torch.float32, torch.float64, *_HALVES):
        raise TypeError(f"truncnorm: {kind}; float32, float64, float16 and bfloat16 are supported")
    mean, sd = _number("mean", mean), _number("sd", sd)
    lower, upper = _bound("lower", lower, 1), _bound("upper", upper, -1)
    sweep, chain, place = _count("sweep", sweep), _count("chain", chain), _count("place", place)
    wide = torch.float32 if kind in _HALVES else kind
    low, high = _rounded(lower, kind, 1), _rounded(upper, kind, -1)

    def prepared(value):
        if isinstance(value, torch.Tensor):
            return value.detach().to(device=device, dtype=wide)
        return torch.full((), value, dtype=wide, device=device)

    if not isinstance(lower, torch.Tensor):
        low = float(low)
    if not isinstance(upper, torch.Tensor):
        high = float(high)
    if not any(isinstance(b, torch.Tensor) and b.dtype == kind for b in (lower, upper)):
        low, high = _held(low, high, lower, upper, kind)
    bits = 32 if wide == torch.float32 else 53
    given, numbers, bad = _words(u, word, bits, device)
    at_once = bad is not None and device.type == "cpu" and not torch.compiler.is_compiling()
    if at_once or bad is not None and check and device.type == "cuda":
        _check_words(numbers, bad, u, bits)
    if given is not None and seed is not None:
        raise ValueError("truncnorm: seed: the words are given, so no seed is used")
    if generator is not None and (seed is not None or given is not None):
        raise ValueError("truncnorm: generator: it gives the seed, but " +
                         ("a seed is given" if given is None else "the words are given"))
    arguments = [prepared(v) for v in (mean, sd, low, high)]
    names = ("mean", "sd", "lower", "upper", "word")
    tensors = arguments if given is None else [*arguments, given]
    shape = _shape(size, dict(zip(names, tensors)))
    if given is None:
        seed = _drawn_seed(generator) if seed is None else _op.signed_seed("truncnorm: seed", seed)
    x = torch.ops.gibbsite.truncnorm(*arguments, given, shape, seed or 0, sweep, chain, place)
    if bad is not None and not at_once:
        x = x.masked_fill(bad, math.nan)
    if check and x.is_cuda and bool(x.isnan().any()):
        bad = x.isnan().nonzero()[0].tolist()
        raise ValueError(f"truncnorm: element {bad} has bounds that cross, a NaN, an infinite mean "
                         "or an sd that is not above 0")
    return x.to(kind)
