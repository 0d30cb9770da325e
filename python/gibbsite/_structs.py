"""What the structs of gibbsite.h are in Python: the one place for it, which loads nothing."""
import ctypes as c


class Allocator(c.Structure):
    _fields_ = [("allocate", c.c_void_p), ("release", c.c_void_p), ("user", c.c_void_p)]


class ContextOptions(c.Structure):
    _fields_ = [
        ("allocator", Allocator), ("isa", c.c_int), ("threads", c.c_int32),
        ("backend", c.c_int),
        ("cuda_device", c.c_int32), ("cuda_library", c.c_char_p), ("cuda_memory", Allocator),
        ("message", c.c_char_p), ("message_bytes", c.c_size_t),
    ]


class Constraints(c.Structure):
    _fields_ = [
        ("rows", c.c_int64), ("matrix", c.c_void_p), ("start", c.c_void_p), ("site", c.c_void_p),
        ("value", c.c_void_p), ("lower", c.c_void_p), ("upper", c.c_void_p),
    ]


class ModelSpec(c.Structure):
    _fields_ = [
        ("dim", c.c_int64), ("matrix_kind", c.c_int), ("matrix_type", c.c_int),
        ("matrix", c.c_void_p), ("row_stride", c.c_int64), ("location_kind", c.c_int),
        ("location_type", c.c_int), ("location", c.c_void_p), ("fixed", c.c_void_p),
        ("lower", c.c_void_p), ("upper", c.c_void_p), ("constraints", Constraints),
    ]


class StreamSpec(c.Structure):
    _fields_ = [
        ("kind", c.c_int), ("noise_type", c.c_int), ("noise", c.c_void_p),
        ("noise_sweeps", c.c_int64), ("words", c.c_void_p),
        ("torch_state", c.c_void_p), ("torch_state_bytes", c.c_size_t),
        ("cuda_multiprocessors", c.c_int32), ("cuda_threads_per_multiprocessor", c.c_int32),
    ]


class SamplerSpec(c.Structure):
    _fields_ = [
        ("type", c.c_int), ("method", c.c_int), ("chains", c.c_int64), ("first_chain", c.c_int64),
        ("first_sweep", c.c_int64), ("seed", c.c_uint64), ("order", c.c_int),
        ("permutation", c.c_void_p), ("omega", c.c_double), ("overrelax", c.c_double),
        ("start", c.c_int), ("initial", c.c_void_p), ("initial_rows", c.c_int64), ("stream", StreamSpec),
    ]


class Sink(c.Structure):
    _fields_ = [
        ("out", c.c_void_p), ("chain_stride", c.c_int64), ("draw_stride", c.c_int64),
        ("site_stride", c.c_int64), ("callback", c.c_void_p), ("user", c.c_void_p),
        ("moments", c.c_void_p),
    ]


class Spectrum(c.Structure):
    _fields_ = [
        ("asymmetry", c.c_double), ("asymmetry_row", c.c_int64), ("asymmetry_column", c.c_int64),
        ("eigenvalue_min", c.c_double), ("eigenvalue_max", c.c_double), ("condition", c.c_double),
        ("tau_max", c.c_double), ("f32_covariance_error", c.c_double), ("f32_site", c.c_int64),
    ]


class SweepSpec(c.Structure):
    _fields_ = [
        ("type", c.c_int), ("groups", c.c_int64), ("chains", c.c_int64), ("dim", c.c_int64),
        ("precision", c.c_void_p), ("precision_group_stride", c.c_int64),
        ("precision_row_stride", c.c_int64), ("location_kind", c.c_int), ("location", c.c_void_p),
        ("location_group_stride", c.c_int64), ("x", c.c_void_p), ("x_stride", c.c_int64 * 3),
        ("out", c.c_void_p), ("out_stride", c.c_int64 * 3), ("sweeps", c.c_int64),
        ("order", c.c_int), ("omega", c.c_double), ("lower", c.c_void_p), ("upper", c.c_void_p),
        ("bounds_group_stride", c.c_int64), ("overrelax", c.c_double), ("keep_every", c.c_int64),
        ("kept", c.c_void_p), ("stream", c.c_int), ("seed", c.c_uint64),
        ("first_sweep", c.c_int64), ("first_chain", c.c_int64), ("noise", c.c_void_p),
        ("words", c.c_void_p), ("torch_state", c.c_void_p), ("torch_offset", c.c_uint64),
        ("cuda_multiprocessors", c.c_int32), ("cuda_threads_per_multiprocessor", c.c_int32),
    ]


class Boxes(c.Structure):
    _fields_ = [
        ("bounded", c.c_int64), ("empty", c.c_int64), ("empty_site", c.c_int64),
        ("unresolved", c.c_int64), ("unresolved_site", c.c_int64),
    ]


class PilotCandidate(c.Structure):
    _fields_ = [
        ("method", c.c_int), ("overrelax", c.c_double), ("time", c.c_double * 3),
        ("slowest", c.c_double), ("operations", c.c_double), ("why", c.c_char * 512),
    ]


class Pilot(c.Structure):
    _fields_ = [
        ("method", c.c_int), ("overrelax", c.c_double), ("chosen", c.c_int32),
        ("count", c.c_int32), ("tried", PilotCandidate * 5),
    ]


class CheckpointCounts(c.Structure):
    _fields_ = [("warmup", c.c_int64), ("thin", c.c_int64), ("draws", c.c_int64)]


class CheckpointInfo(c.Structure):
    _anonymous_ = ("counts",)
    _fields_ = [
        ("type", c.c_int), ("method", c.c_int), ("order", c.c_int), ("omega", c.c_double),
        ("overrelax", c.c_double),
        ("chains", c.c_int64), ("dim", c.c_int64), ("first_chain", c.c_int64),
        ("next_sweep", c.c_int64), ("seed", c.c_uint64), ("stream", c.c_int),
        ("stream_mapping_version", c.c_int64), ("cuda_multiprocessors", c.c_int32),
        ("cuda_threads_per_multiprocessor", c.c_int32), ("moments_count", c.c_int64),
        ("counts", CheckpointCounts),
    ]


class Draws(c.Structure):
    _fields_ = [
        ("values", c.c_void_p), ("chains", c.c_int64), ("draws", c.c_int64),
        ("chain_stride", c.c_int64), ("draw_stride", c.c_int64),
    ]


class Summary(c.Structure):
    _fields_ = [(name, c.c_double) for name in (
        "mean", "sd", "mcse_mean", "mcse_sd", "q5", "median", "q95", "ess_bulk", "ess_tail", "rhat",
    )] + [(name, c.c_int64) for name in (
        "not_finite", "not_finite_chain", "constant_chain", "identical_chain", "stuck_chain",
    )] + [("notes", c.c_uint32)]


class Operand(c.Structure):
    _fields_ = [("values", c.c_void_p), ("dims", c.c_int32), ("shape", c.c_int64 * 8)]


class TruncnormSpec(c.Structure):
    _fields_ = [
        ("dims", c.c_int32), ("shape", c.c_int64 * 8), ("mean", Operand), ("sd", Operand),
        ("lower", Operand), ("upper", Operand), ("stream", c.c_int), ("seed", c.c_uint64),
        ("sweep", c.c_int64), ("chain", c.c_int64), ("place", c.c_int64), ("word", Operand),
        ("on_bound", c.POINTER(c.c_int64)),
    ]
