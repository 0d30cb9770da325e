"""What may stand for a number, a seed or a path, and messages that name the argument and what was given.
Loads nothing: arrays and tensors share it, and torch.compile traces through it."""
import operator
import os


def shown(value):
    """Its repr, at most a line of it."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # more digits than Python writes
        return f"a number of {value.bit_length()} bits"
    return text if len(text) <= 80 else text[:77] + "..."


def whole(value):
    """The int that it stands for: whatever has __index__, but no bool; None where it stands for none."""
    if type(value) is int:
        return value
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def count(name, value, least, most=2**63 - 1):
    """A whole number that the library's field can hold: ctypes would cut a larger one."""
    number = whole(value)
    if number is None or number < least:
        raise ValueError(f"{name}: {shown(value)}; a whole number of at least {least} is needed")
    if number > most:
        raise ValueError(f"{name}: {shown(value)}; it must be at most {most}")
    return number


def seed(name, value):
    """0 .. 2^64 - 1, or -1, which stands for the last of them."""
    number = whole(value)
    if number is None or not -1 <= number < 2**64:
        raise ValueError(f"{name}: {shown(value)}; a whole number in 0 .. 2^64 - 1, or -1, is needed")
    return number


def real(name, value, needed="a real number"):
    try:
        return float(value if not isinstance(value, str) else None)
    except OverflowError:
        raise ValueError(f"{name}: {shown(value)}; it is beyond the range of double") from None
    except (TypeError, ValueError, RuntimeError):  # the last: of a tensor with more elements
        raise TypeError(f"{name}: {shown(value)}; {needed} is needed") from None


def lengths(size):
    """A shape as it was given, of one length or of several: each is still to be counted."""
    if not isinstance(size, (int, tuple, list)):
        try:
            size = tuple(size)
        except TypeError:  # a scalar
            pass
    return tuple(size) if isinstance(size, (tuple, list)) else (size,)


def path(name, value):
    """No number: open() takes those for files that are open."""
    try:
        text = os.fsdecode(value)
    except TypeError:
        raise TypeError(f"{name}: {shown(value)}; a path is needed") from None
    if not text:
        raise ValueError(f"{name}: the path is empty")
    return text
