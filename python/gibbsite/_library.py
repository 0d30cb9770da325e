"""Finds and loads the C library, and says what its functions take."""
import ctypes as c
import os
import pathlib

from ._structs import (  # noqa: F401
    Allocator, Boxes, CheckpointCounts, CheckpointInfo, ContextOptions, Draws, ModelSpec, Operand,
    Pilot, SamplerSpec, Sink, Spectrum, StreamSpec, Summary, TruncnormSpec,
)

_PACKAGE = pathlib.Path(__file__).resolve().parent


def folder(kind):
    """The package's own "lib" or "include"; in a source tree GIBBSITE_PREFIX says whose."""
    prefix = os.environ.get("GIBBSITE_PREFIX")
    return (pathlib.Path(prefix) if prefix else _PACKAGE) / kind


def library_file(name):
    """lib{name}.so.0, or None where this installation does not have it."""
    path = folder("lib") / f"lib{name}.so.0"
    return path if path.exists() else None


def load(name):
    path = library_file(name)
    if path is None:
        raise ImportError(
            f"gibbsite: there is no lib{name}.so.0 in {folder('lib')}: install the package with "
            "`pip install .`, or point GIBBSITE_PREFIX at a folder with lib and include"
        )
    return c.CDLL(str(path), mode=c.RTLD_GLOBAL)


def _declare(lib):
    pointer, status = c.c_void_p, c.c_int
    for name, result, arguments in (
        ("gbs_version", c.c_char_p, []),
        ("gbs_status_name", c.c_char_p, [c.c_int]),
        ("gbs_context_options_default", ContextOptions, []),
        ("gbs_context_create", status, [pointer, pointer]),
        ("gbs_context_destroy", None, [pointer]),
        ("gbs_context_message", c.c_char_p, [pointer]),
        ("gbs_context_isa", c.c_int, [pointer]),
        ("gbs_context_threads", c.c_int32, [pointer]),
        ("gbs_isa_name", c.c_char_p, [c.c_int]),
        ("gbs_model_spec_default", ModelSpec, []),
        ("gbs_model_create", status, [pointer, pointer, pointer]),
        ("gbs_model_release", None, [pointer]),
        ("gbs_model_precision", pointer, [pointer]),
        ("gbs_model_location", pointer, [pointer]),
        ("gbs_model_mean", pointer, [pointer]),
        ("gbs_model_fixed", pointer, [pointer]),
        ("gbs_model_lower", pointer, [pointer]),
        ("gbs_model_upper", pointer, [pointer]),
        ("gbs_model_boxes", status, [pointer, pointer, c.c_int, pointer]),
        ("gbs_model_interior", status, [pointer, pointer, pointer]),
        ("gbs_model_log_density", status,
         [pointer, pointer, c.c_int, pointer, c.c_int64, c.c_int64, pointer]),
        ("gbs_model_spectrum", status, [pointer, pointer, pointer]),
        ("gbs_model_gibbs_rate", status, [pointer, pointer, pointer, c.c_double, pointer]),
        ("gbs_pilot_run", status, [pointer, pointer, c.c_int, c.c_uint64, pointer]),
        ("gbs_sampler_spec_default", SamplerSpec, []),
        ("gbs_sampler_create", status, [pointer, pointer, pointer, pointer]),
        ("gbs_sampler_destroy", None, [pointer]),
        ("gbs_sampler_run", status, [pointer, c.c_int64]),
        ("gbs_sampler_sample", status, [pointer, c.c_int64, c.c_int64, pointer]),
        ("gbs_sampler_get_torch_state", status, [pointer, pointer, c.c_size_t]),
        ("gbs_sampler_kernel", c.c_char_p, [pointer]),
        ("gbs_sampler_next_sweep", c.c_int64, [pointer]),
        ("gbs_checkpoint_size", status, [pointer, pointer, pointer]),
        ("gbs_checkpoint_write", status, [pointer, pointer, pointer, pointer, c.c_size_t]),
        ("gbs_checkpoint_inspect", status, [pointer, pointer, c.c_size_t, pointer]),
        ("gbs_checkpoint_read", status, [pointer, pointer, pointer, c.c_size_t]),
        ("gbs_diag_workspace", c.c_size_t, [c.c_int64, c.c_int64]),
        ("gbs_diag_summaries", status,
         [pointer, pointer, c.c_int64, c.c_int64, pointer, pointer, pointer]),
        ("gbs_truncnorm_f32", status, [pointer, pointer, pointer]),
        ("gbs_truncnorm_f64", status, [pointer, pointer, pointer]),
    ):
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


lib = _declare(load("gibbsite"))
