"""Diagnostics of draws, as the C library computes them."""
import ctypes as c

import numpy as np

from . import _library
from ._library import lib
from ._objects import Context, array_of, counted

_FIELDS = [name for name, _ in _library.Summary._fields_]
_NOTES = {
    1: "not finite", 2: "constant", 4: "every chain constant", 8: "a chain is constant",
    16: "too short", 32: "ESS capped", 64: "two chains identical", 128: "ties",
    256: "a chain is stuck",
}


class Summary:
    """One entry per variable in each attribute: mean, sd, mcse_mean, mcse_sd, q5, median, q95,
    ess_bulk, ess_tail, rhat, not_finite and notes; undefined values are NaN and `notes` says why.
    Printing it gives a table."""

    def __init__(self, names, columns):
        self.names = names
        self.__dict__.update(columns)

    def __len__(self):
        return len(self.names)

    def note(self, k):
        """The reasons and warnings of variable k, in words."""
        return ", ".join(text for bit, text in _NOTES.items() if int(self.notes[k]) & bit)

    def __str__(self):
        heads = _FIELDS[:10]
        formats = dict.fromkeys(heads, "{:.5g}")
        formats.update(mcse_mean="{:.2g}", mcse_sd="{:.2g}", ess_bulk="{:.0f}", ess_tail="{:.0f}",
                       rhat="{:.4f}")
        rows = [["", *heads]]
        for k, name in enumerate(self.names):
            values = [getattr(self, head)[k] for head in heads]
            rows.append([name] + ["-" if np.isnan(v) else formats[h].format(v)
                                  for h, v in zip(heads, values)])
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = ["  ".join([row[0].ljust(widths[0])]
                           + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])])
                 for row in rows]
        lines += [f"{name}: {self.note(k)}" for k, name in enumerate(self.names) if self.notes[k]]
        return "\n".join(lines)

    __repr__ = __str__


def _named_arrays(draws):
    """(name, array [chain, draw, ...]) pairs of whatever holds draws."""
    posterior = getattr(draws, "posterior", draws)
    if hasattr(posterior, "data_vars"):  # ArviZ's InferenceData or DataTree, or the group itself
        return [(str(name), np.asarray(values.transpose("chain", "draw", ...)))
                for name, values in posterior.data_vars.items()]
    if hasattr(draws, "dims") and "chain" in draws.dims:  # one variable of it
        return [(str(draws.name or "x"), np.asarray(draws.transpose("chain", "draw", ...)))]
    return [("x", array_of("draws", draws))]


def _names(name, shape):
    """Of the elements of one variable, as ArviZ prints them."""
    return [name + ("[" + ", ".join(map(str, place)) + "]" if place else "")
            for place in np.ndindex(shape)]


def _summarise(context, name, array):
    """[elements, fields] of an array [chain, draw, ...], its elements shared out among threads."""
    if array.ndim < 2:
        raise ValueError(f"draws: [chain, draw, ...] is needed, but {name} has shape {array.shape}")
    if array.dtype.kind not in "fiub":
        raise TypeError(f"draws: real numbers are needed, but {name} is {array.dtype}")
    chains, count = array.shape[:2]
    if lib.gbs_diag_workspace(chains, count) == 0:
        raise ValueError(f"draws: {counted(chains, 'chain')} of {counted(count, 'draw')} cannot be "
                         "summarised")
    flat = np.ascontiguousarray(array, dtype=np.float64).reshape(chains, count, -1)
    size = flat.shape[2]
    if size == 0:
        return []
    first = _library.Draws(flat.ctypes.data, chains, count, count * size, size)
    results = (_library.Summary * size)()
    context.must(lib.gbs_diag_summaries(context.handle, c.byref(first), size, 1, None, results, None))
    return [[getattr(result, field) for field in _FIELDS] for result in results]


def summary(draws, *, threads=0):
    """Summarises draws [chain, draw, ...] (an array, or ArviZ data with a posterior).

    Definitions are those of Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021): rank-
    normalised split R-hat, bulk and tail effective sample sizes, Monte Carlo standard errors.
    The variables are shared out among `threads` threads, 0 for one a processor; the figures are the
    same.  Returns a Summary.
    """
    names, found = [], []
    with Context(threads=threads) as context:
        for name, array in _named_arrays(draws):
            found += _summarise(context, name, array)
            names += _names(name, array.shape[2:])
    columns = {field: np.array([row[k] for row in found]) for k, field in enumerate(_FIELDS)}
    return Summary(names, columns)
