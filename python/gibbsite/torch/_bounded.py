"""gibbs_sweep with bounds: the library's one-call sweeps on the tensors' memory."""
import ctypes as c
import functools
import math
import threading

import torch

from .. import _library, _objects
from .._structs import CudaLaunch
from ._truncnorm import _rounded

_FORMS = {"mean": 1, "info": 2, "offset": 3}
_TYPES = {torch.float32: 0, torch.float64: 1}
_local = threading.local()


def _context():
    threads = torch.get_num_threads()
    if getattr(_local, "threads", None) != threads:
        _local.context, _local.threads = _objects.Context(threads=threads), threads
    return _local.context


def _bounds(name, values, x, towards):
    """[D] or [G, D] in x's type, rounded inward."""
    dim, groups = x.shape[-1], x.shape[0] if x.dim() == 3 else 1
    if isinstance(values, (int, float)):  # no copy to a GPU, which a CUDA graph could not hold
        values = torch.full((), values, dtype=torch.float64, device=x.device)
    elif not isinstance(values, torch.Tensor):
        values = torch.as_tensor(values, dtype=torch.float64).to(x.device)
    if values.device != x.device:
        raise ValueError(f"gibbs_sweep: {name} is on {values.device}, x on {x.device}")
    if not values.dtype.is_floating_point:
        values = values.double()
    if tuple(values.shape) not in ((), (dim,)) + (((groups, dim),) if x.dim() == 3 else ()):
        raise ValueError(f"gibbs_sweep: {name} has shape {list(values.shape)}; a number, [{dim}]"
                         + (f" or [{groups}, {dim}]" if x.dim() == 3 else "") + " is needed")
    wide = torch.nan_to_num(values, nan=math.nan, posinf=math.inf, neginf=-math.inf)
    return wide if wide.dtype == x.dtype else _rounded(wide, x.dtype, towards)


def _pair(lower, upper, x):
    """Both bounds, contiguous and of one shape."""
    low = _bounds("lower", -math.inf if lower is None else lower, x, 1)
    high = _bounds("upper", math.inf if upper is None else upper, x, -1)
    shape = torch.broadcast_shapes(low.shape, high.shape, x.shape[-1:])
    return low.expand(shape).contiguous(), high.expand(shape).contiguous()


def _refuse(x, tensors, stream, noise):
    if torch.compiler.is_compiling():
        raise RuntimeError("gibbs_sweep: under torch.compile there are no bounds")
    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors if isinstance(t, torch.Tensor)):
        raise RuntimeError("gibbs_sweep: with bounds it is not differentiable; use torch.no_grad()")
    if noise is not None:
        raise ValueError("gibbs_sweep: noise: sites with bounds take words, not normals")
    if stream != "native":
        raise ValueError(f"gibbs_sweep: stream={stream!r} is of normals alone, and sites with bounds "
                         "take words; use stream='native'")


def _seed(seed, generator, device):
    if seed is None:
        if device.type == "cuda" and torch.cuda.is_current_stream_capturing():
            raise RuntimeError("gibbs_sweep: with bounds, under CUDA graph capture, a seed must be given")
        drawn = torch.empty((), dtype=torch.int64, device=device)
        return drawn.random_(-2**63, None, generator=generator).item() % 2**64
    if not -1 <= seed < 2**64:
        raise ValueError("gibbs_sweep: seed must be in 0 .. 2^64 - 1, or -1")
    return seed % 2**64


@functools.cache
def _cuda():
    lib = _library.load("gibbsite_cuda")
    lib.gbs_cuda_sweep.argtypes = [c.c_void_p, c.c_void_p, c.c_char_p, c.c_size_t]
    lib.gbs_cuda_sweep_workspace.argtypes = [c.c_void_p, c.c_int, c.c_void_p]
    return lib


def _run_cuda(spec, x):
    """On the current stream, with nothing waited for."""
    lib, size, message = _cuda(), c.c_size_t(), c.create_string_buffer(512)
    with torch.cuda.device(x.device):
        launch = CudaLaunch(stream=torch.cuda.current_stream().cuda_stream)
        if lib.gbs_cuda_sweep_workspace(c.byref(spec), 0, c.byref(size)) == 0:
            room = torch.empty(size.value, dtype=torch.uint8, device=x.device)
            launch.workspace, launch.workspace_bytes = room.data_ptr(), size.value
        status = lib.gbs_cuda_sweep(c.byref(spec), c.byref(launch), message, len(message))
    if status != 0:
        refused = _library.lib.gbs_status_name(status).decode() in ("GBS_ERROR_ARGUMENT", "GBS_ERROR_LIMIT")
        raise (ValueError if refused else RuntimeError)(f"gibbs_sweep: {message.value.decode()}")


def _run(spec, x):
    if x.is_cuda:
        _run_cuda(spec, x)
        return
    context = _context()
    try:
        context.must(_library.lib.gbs_sweep(context.handle, c.byref(spec)))
    except ValueError as error:
        raise ValueError(f"gibbs_sweep: {error}") from None


def _address(tensor):
    return None if tensor is None else tensor.data_ptr()


def _three(strides):
    return (c.c_int64 * 3)(*([0] * (3 - len(strides)) + list(strides)))


def sweep(plain, x, precision, location, form, sweeps, stream, generator, seed, first_sweep,
          first_chain, noise, omega, keep, check, out, lower, upper, overrelax):
    """`plain` is gibbs_sweep without bounds: with no sweeps it checks the arguments and copies x."""
    _refuse(x, (x, precision, location, lower, upper), stream, noise)
    result = plain(x, precision, location, form=form, sweeps=0, stream="native", seed=0,
                   first_sweep=first_sweep, first_chain=first_chain, omega=omega, check=check)
    if result.dtype not in _TYPES:
        raise TypeError(f"gibbs_sweep: {result.dtype}; with bounds float32 and float64 are supported")
    if sweeps < 0 or keep is not None and keep < 1:
        raise ValueError(f"gibbs_sweep: sweeps is {sweeps}, keep {keep}; at least 0 and 1 are needed")
    low, high = _pair(lower, upper, result)
    dim, chains = result.shape[-1], result.shape[-2]
    groups = result.shape[0] if result.dim() == 3 else 1
    q = precision.detach().to(result.dtype).contiguous()
    at = None if location is None else location.detach().to(result.dtype).contiguous()
    kept = None if keep is None else result.new_empty((sweeps // keep, *result.shape))
    spec = _library.lib.gbs_sweep_spec_default()
    spec.type, spec.groups, spec.chains, spec.dim = _TYPES[result.dtype], groups, chains, dim
    spec.precision, spec.precision_row_stride = _address(q), dim
    spec.precision_group_stride = dim * dim if q.dim() == 3 else 0
    if at is not None:
        spec.location_kind, spec.location = _FORMS[form], _address(at)
        spec.location_group_stride = dim if at.dim() == 2 else 0
    spec.x = spec.out = _address(result)
    spec.x_stride = spec.out_stride = _three(result.stride())
    spec.sweeps, spec.omega, spec.overrelax = sweeps, omega, overrelax
    spec.lower, spec.upper = _address(low), _address(high)
    spec.bounds_group_stride = dim if low.dim() == 2 else 0
    spec.keep_every, spec.kept = keep or 0, _address(kept)
    spec.seed, spec.first_sweep, spec.first_chain = _seed(seed, generator, result.device), first_sweep, first_chain
    if result.numel():
        _run(spec, result)
    if out is not None:
        result = out.copy_(result)
    return result if keep is None else (result, kept)
