"""Contexts, models and samplers of the C library, closed when their `with` block ends."""
import ctypes as c
import math
import re
import warnings

import numpy as np

from . import _library
from ._library import lib
from ._scalars import real, shown, whole

F32, F64 = 0, 1
BACKENDS = {"cpu": 0, "cuda": 1}
ISAS = {"auto": 0, "scalar": 1, "avx2": 2, "avx512": 3, "neon": 4}
LOCATIONS = {"mean": 1, "info": 2, "offset": 3}
LOCATION_NAMES = ["zero", "mean", "information", "offset"]

# GBS_ERROR_MEMORY, GBS_ERROR_UNAVAILABLE; every other refusal is about a value
_EXCEPTIONS = {3: MemoryError, 9: RuntimeError}


# What messages of the library begin with, where Python's argument has another name.
_ARGUMENTS = {"initial": "init", "start": "init", "fixed": "fix", "information": "info",
              "constraints": "rows", "torch_state": "generator_state", "cuda_device": "device"}
# Messages on "constraints:" that speak of a bound of the rows, or of both.
_ROW_BOUND = re.compile(r" (?:row \d+: )?(lower|upper)\b( = upper| \S+ is above upper)?")


def _reworded(message):
    name, colon, rest = message.partition(":")
    bound = _ROW_BOUND.match(rest) if name == "constraints" else None
    if bound:
        name = "row_lower, row_upper" if bound[2] else f"row_{bound[1]}"
    return _ARGUMENTS.get(name, name) + colon + rest.replace("NULL", "None")


def address(array):
    return array.ctypes.data_as(c.c_void_p)


def type_of(array):
    return F32 if array.dtype == np.float32 else F64


def counted(count, one, many=None):
    """"1 row", "2 rows"."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def refuse_masked(name, values):
    """Masked elements, whose numbers NumPy would hand over in silence."""
    if isinstance(values, np.ma.MaskedArray):
        masked = np.argwhere(np.ma.getmaskarray(values))
        if len(masked):
            place = f"[{', '.join(map(str, masked[0]))}]" if masked.shape[1] else "it"
            raise ValueError(f"{name}: {place} is masked; an array without masked elements is needed")


def array_of(name, values):
    """As NumPy sees it; a whole number beyond 64 bits, to it an object, becomes a double."""
    refuse_masked(name, values)
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of several lengths
        raise ValueError(f"{name}: {error}") from None
    whole_number = array.dtype == object and isinstance(values, int)
    return np.asarray(real(name, values)) if whole_number else array


def must_be_real(name, dtype):
    """Of at most 64 bits: what double holds, but for the last bits of whole numbers."""
    if dtype.kind not in "fiu" or dtype.itemsize > 8:
        raise TypeError(f"{name}: real numbers are needed, not {dtype}")


def bound_of(name, values):
    """An array of bounds as given; a whole number beyond 64 bits stays one."""
    array = array_of(name, values)
    must_be_real(name, array.dtype)
    beyond = isinstance(values, int) and array.dtype.kind == "f"
    return np.asarray(values, dtype=object) if beyond else array


def _inner(bounds, towards):
    """Whole numbers as doubles: one that double does not hold goes on to the neighbour towards +-infinity."""
    if bounds.dtype.kind == "f":
        return bounds
    near = bounds.astype(np.float64)
    if np.abs(near).max(initial=0) < 2**53:
        return near
    given, back = bounds.astype(object), near.astype(object)  # which compare exactly
    outside = np.asarray(back < given if towards > 0 else back > given, dtype=bool)
    return np.where(outside, np.nextafter(near, towards * np.inf), near)


def inner_bounds(lower, upper):
    """Bounds of bound_of in floating point, whole numbers rounded inward to double, and where no double lies
    between them: both are the nearest there."""
    low, high = _inner(lower, 1), _inner(upper, -1)
    empty = low > high
    if np.any(empty):
        lower, upper = np.broadcast_arrays(lower.astype(object), upper.astype(object))
        empty &= np.asarray(lower <= upper, dtype=bool)
    if np.any(empty):
        low, high = (np.array(np.broadcast_to(b, np.shape(empty))) for b in (low, high))
        low[empty] = high[empty] = (lower[empty] + upper[empty]) / 2
    return low, high, empty


def plain(name, values, dims):
    """An array that the library can read: float32 stays, everything else becomes float64."""
    if hasattr(values, "toarray"):
        raise TypeError(f"{name}: a sparse matrix is needed as a dense one, by its .toarray()")
    array = array_of(name, values)
    must_be_real(name, array.dtype)
    kept = array.dtype if array.dtype == np.float32 else np.float64
    array = np.asarray(array, dtype=kept, order="C")
    if array.ndim != dims:
        raise ValueError(f"{name}: {counted(dims, 'dimension')} needed, but its shape is "
                         f"{array.shape}")
    return array


def _set_bounds(spec, prefix, lower, upper, count):
    """[count] doubles each, of one number or of a vector.  Returns what must stay alive."""
    given, kept = {"lower": lower, "upper": upper}, []
    bounds = {"lower": np.asarray(-np.inf), "upper": np.asarray(np.inf)}
    for field, values in given.items():
        if values is not None:
            bounds[field] = array = bound_of(prefix + field, values)
            if array.shape not in ((), (count,)):
                raise ValueError(f"{prefix}{field}: shape {array.shape}, but one number or ({count},) is "
                                 "needed")
    *doubles, empty = inner_bounds(**bounds)
    held = np.flatnonzero(np.broadcast_to(empty, (count,)))
    if len(held) and not prefix:  # rows with equal bounds are refused
        warn_held(len(held), held[0], np.float64, 5)
    for (field, values), array in zip(given.items(), doubles):
        if values is not None:
            kept.append(np.ascontiguousarray(np.broadcast_to(array, (count,)), dtype=np.float64))
            setattr(spec, field, address(kept[-1]))
    return kept


def _set_rows(spec, rows, lower, upper):
    """lower <= rows x <= upper; rows dense, or a SciPy sparse matrix.  Returns what must stay alive."""
    if rows is None:
        if lower is not None or upper is not None:
            raise ValueError(f"{'row_upper' if lower is None else 'row_lower'}: it bounds rows, "
                             "which are not given")
        return None
    if lower is None and upper is None:
        raise ValueError("rows: neither row_lower nor row_upper is given")
    kept, constraints = [], spec.constraints
    if hasattr(rows, "tocsr"):
        matrix = rows.tocsr()
        must_be_real("rows", matrix.dtype)
        matrix.sum_duplicates()
        for field, part, kind in (("start", matrix.indptr, np.int64),
                                  ("site", matrix.indices, np.int64),
                                  ("value", matrix.data, np.float64)):
            kept.append(np.ascontiguousarray(part, dtype=kind))
            setattr(constraints, field, address(kept[-1]))
    else:
        matrix = np.asarray(plain("rows", rows, 2), dtype=np.float64)
        kept.append(matrix)
        constraints.matrix = address(matrix)
    if matrix.shape[1] != spec.dim:
        raise ValueError(f"rows: shape {matrix.shape}, but the matrix has "
                         f"{counted(spec.dim, 'row')}")
    constraints.rows = matrix.shape[0]
    return kept + _set_bounds(constraints, "row_", lower, upper, matrix.shape[0])


def room(shape, dtype, what):
    """An array to fill, or MemoryError, beyond what NumPy can address too."""
    try:
        return np.empty(shape, dtype)
    except (MemoryError, ValueError, OverflowError):
        raise MemoryError(f"{what} take {math.prod(shape) * np.dtype(dtype).itemsize} bytes, for "
                          "which there is no room") from None


def sites(count, first):
    return f"site {first}" if count == 1 else f"{count} sites, the first of them {first},"


def warn_held(count, first, dtype, level):
    one = count == 1
    warnings.warn(f"lower, upper: {sites(count, first)} {'has' if one else 'have'} no number of "
                  f"{np.dtype(dtype).name} between {'its' if one else 'their'} bounds and "
                  f"{'is' if one else 'are'} held at the nearest", stacklevel=level)


class Handle:
    """Something that the library made and takes back."""

    def __init__(self, drop):
        self.handle, self._drop = c.c_void_p(), drop

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.handle:
            self._drop(self.handle)
            self.handle = c.c_void_p()


class Context(Handle):
    def __init__(self, isa="auto", threads=1, backend="cpu", device=0):
        super().__init__(lib.gbs_context_destroy)
        if not isinstance(isa, str) or isa not in ISAS:
            raise ValueError(f"isa: {isa!r}; it must be one of {', '.join(ISAS)}")
        options = lib.gbs_context_options_default()
        options.isa = ISAS[isa]
        number = whole(threads)
        if number is None or not 0 <= number <= 1024:
            raise ValueError(f"threads: {shown(threads)}; it must be 0 (one a processor) to 1024")
        options.threads = number
        if not isinstance(backend, str) or backend not in BACKENDS:
            raise ValueError(f"backend: {backend!r}; it must be cpu or cuda")
        options.backend, options.cuda_device = BACKENDS[backend], device
        why = c.create_string_buffer(512)
        options.message, options.message_bytes = c.cast(why, c.c_char_p), len(why)
        status = lib.gbs_context_create(c.byref(options), c.byref(self.handle))
        if status != 0:
            kind = ValueError if backend == "cpu" else _EXCEPTIONS.get(status, ValueError)
            raise kind(_reworded(why.value.decode()))

    def must(self, status):
        if status != 0:
            message = lib.gbs_context_message(self.handle).decode()
            raise _EXCEPTIONS.get(status, ValueError)(_reworded(message))

    @property
    def isa(self):
        return lib.gbs_isa_name(lib.gbs_context_isa(self.handle)).decode()


class Model(Handle):
    """The matrix and location as sample and info take them, checked and frozen."""

    def __init__(self, context, precision, mean=None, info=None, offset=None, covariance=False,
                 fix=None, rows=None, row_lower=None, row_upper=None, lower=None, upper=None):
        super().__init__(lib.gbs_model_release)
        matrix = plain("covariance" if covariance else "precision", precision, 2)
        if matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
            raise ValueError(f"{'covariance' if covariance else 'precision'}: a square matrix is "
                             f"needed, but its shape is {matrix.shape}")
        spec = lib.gbs_model_spec_default()
        spec.dim, spec.matrix_kind = len(matrix), int(bool(covariance))
        spec.matrix, spec.matrix_type = address(matrix), type_of(matrix)
        given = {k: v for k, v in (("mean", mean), ("info", info), ("offset", offset))
                 if v is not None}
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)}: only one form of the location can be given")
        for name, value in given.items():
            location = plain(name, value, 1)
            if location.shape != (len(matrix),):
                raise ValueError(f"{name}: {counted(len(location), 'entry', 'entries')}, but the "
                                 f"matrix has {counted(len(matrix), 'row')}")
            spec.location_kind = LOCATIONS[name]
            spec.location, spec.location_type = address(location), type_of(location)
        if fix is not None:
            fixed = np.asarray(plain("fix", fix, 1), dtype=np.float64)
            if fixed.shape != (len(matrix),):
                raise ValueError(f"fix: {counted(len(fixed), 'entry', 'entries')}, but the matrix "
                                 f"has {counted(len(matrix), 'row')}")
            spec.fixed = address(fixed)
        alive = [_set_rows(spec, rows, row_lower, row_upper),
                 _set_bounds(spec, "", lower, upper, spec.dim)]
        self.dim, self.rows, self.location_kind = len(matrix), spec.constraints.rows, spec.location_kind
        self.context = context
        context.must(lib.gbs_model_create(context.handle, c.byref(spec), c.byref(self.handle)))
        del alive

    def _array(self, pointer, *shape):
        flat = c.cast(pointer, c.POINTER(c.c_double * int(np.prod(shape)))).contents
        return np.frombuffer(flat, dtype=np.float64).reshape(shape).copy()

    @property
    def precision(self):
        return self._array(lib.gbs_model_precision(self.handle), self.dim, self.dim)

    @property
    def location(self):
        return self._array(lib.gbs_model_location(self.handle), self.dim)

    @property
    def fixed(self):
        """[D] values of fixed sites, NaN at free ones; None where all are free."""
        pointer = lib.gbs_model_fixed(self.handle)
        return self._array(pointer, self.dim) if pointer else None

    @property
    def bounds(self):
        """[2, D] lower and upper bounds; None where no site has any."""
        pointers = lib.gbs_model_lower(self.handle), lib.gbs_model_upper(self.handle)
        return np.stack([self._array(p, self.dim) for p in pointers]) if pointers[0] else None

    def boxes(self, dtype):
        """What the type makes of the bounds."""
        boxes = _library.Boxes()
        self.context.must(lib.gbs_model_boxes(self.context.handle, self.handle,
                                              F32 if dtype == np.float32 else F64, c.byref(boxes)))
        return boxes

    def interior(self):
        """A point inside bounds and rows, by Clp."""
        x = np.empty(self.dim)
        self.context.must(lib.gbs_model_interior(self.context.handle, self.handle, address(x)))
        return x

    def pilot(self, dtype, seed):
        """The method for a model with bounds, by short runs of each."""
        pilot = _library.Pilot()
        self.context.must(lib.gbs_pilot_run(self.context.handle, self.handle,
                                            F32 if dtype == np.float32 else F64, seed,
                                            c.byref(pilot)))
        return pilot

    def log_density(self, draws):
        """-(x - mu)' Q (x - mu) / 2 of draws [..., D]."""
        lp = np.empty(draws.shape[:-1])
        self.context.must(lib.gbs_model_log_density(
            self.context.handle, self.handle, type_of(draws), address(draws), lp.size, 0,
            address(lp)))
        return lp

    def spectrum(self):
        spectrum = _library.Spectrum()
        self.context.must(
            lib.gbs_model_spectrum(self.context.handle, self.handle, c.byref(spectrum)))
        return spectrum

    def gibbs_rate(self, spectrum, omega):
        """Where a formula gives it; NaN elsewhere."""
        rate = c.c_double()
        self.context.must(lib.gbs_model_gibbs_rate(self.context.handle, self.handle, c.byref(spectrum), omega,
                                                   c.byref(rate)))
        return rate.value
