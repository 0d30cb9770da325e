"""Draws of a Gaussian: what `gibbsite sample` does, on arrays."""
import ctypes as c
import inspect
import os
import warnings

import numpy as np

from ._checkpoint import Default, Resumed, Run, is_given
from ._info import f32_verdict
from ._library import lib
from ._objects import (
    LOCATION_NAMES, Context, Handle, Model, address, array_of, counted, must_be_real, plain, room, sites, type_of,
    warn_held,
)
from ._scalars import count, path, real, seed as seed_of, shown

_METHODS = {"gibbs": 0, "exact": 1, "whitened": 2}
_METHOD_NAMES = {number: name for name, number in _METHODS.items()}
_ORDERS = {"forward": 0, "backward": 1, "symmetric": 2}
_STARTS = {"overdispersed": 0, "zero": 1, "mean": 2}
_LATER = 4
_STREAMS = {"native": 0, "given": 1, "torch-cpu": 2, "torch-cuda": 3}
_MAPPING_VERSIONS = {"native": 1, "given": 0, "torch-cpu": 1, "torch-cuda": 1}
_STATE_BYTES = {"torch-cpu": 5056, "torch-cuda": 16}
_PILOT_VERSION = 2
_TRUNCNORM_VERSION = 4
_MOST_DRAWS = 10**40  # those that no memory holds are refused by the bytes they would take
_TYPES = {"float32": np.float32, "f32": np.float32, "float64": np.float64, "f64": np.float64}


class Draws(np.ndarray):
    """An array [chain, draw, D] that remembers how it was made: `seed`, `attributes`, `kernel`,
    for torch streams `generator_state`, the generator's state at the end, and `start`, the point
    inside rows that was found where no start was given; `pilot`, what method="auto" tried."""

    _facts = ("seed", "attributes", "kernel", "generator_state", "start", "pilot")

    def __array_finalize__(self, other):
        for name in self._facts:
            setattr(self, name, getattr(other, name, None))

    def __reduce__(self):
        make, arguments, state = super().__reduce__()
        return make, arguments, (state, {name: getattr(self, name) for name in self._facts})

    def __setstate__(self, state):
        array, facts = state
        super().__setstate__(array)
        self.__dict__.update(facts)


def _choice(name, value, choices):
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}: {shown(value)}; it must be one of {', '.join(map(str, choices))}")
    return choices[value]


def _type(dtype):
    try:
        name = dtype if isinstance(dtype, str) else np.dtype(dtype).name
    except TypeError:
        name = dtype
    return _choice("dtype", name, _TYPES)


def chosen_seed(value):
    """None takes one from the system."""
    return int.from_bytes(os.urandom(8), "little") if value is None else seed_of("seed", value) % 2**64


def _room(chains, draws, dim, typed):
    return room((chains, draws, dim), typed, f"draws: {counted(chains, 'chain')} of "
                f"{counted(draws, 'draw')} of {counted(dim, 'number')}").view(Draws)


class _Sampler(Handle):
    def __init__(self, context, model, spec):
        super().__init__(lib.gbs_sampler_destroy)
        context.must(lib.gbs_sampler_create(context.handle, model.handle, c.byref(spec),
                                            c.byref(self.handle)))


def _check_float(model, force):
    spectrum = model.spectrum()
    error, site = spectrum.f32_covariance_error, spectrum.f32_site
    verdict = f32_verdict(error)
    why = f" (site {site}: at its mean float32 numbers lie far apart)" if site >= 0 else ""
    if verdict == "refuse" and not force:
        raise ValueError(f"dtype: float32 would move the covariance by about {error:.2g}{why}; use "
                         "float64, or force=True")
    if verdict != "fine":
        warnings.warn(f"dtype: float32 moves the covariance by about {error:.2g}{why}", stacklevel=3)


def _check_range(name, values):
    """No number that float32 makes infinite: the first that is one is named, by its place."""
    array = array_of(name, values)
    if array.dtype.kind not in "fiu":
        return
    with np.errstate(over="ignore"):
        beyond = np.isfinite(array) & ~np.isfinite(array.astype(np.float32))
    if beyond.any():
        place = tuple(map(int, np.argwhere(beyond)[0]))
        raise ValueError(f"{name}{list(place)} is {array[place]!s}, beyond the range of dtype float32")


def _check_bounds(model, dtype):
    boxes = model.boxes(dtype)
    if boxes.empty:
        warn_held(boxes.empty, boxes.empty_site, dtype, 4)
    if boxes.unresolved:
        warnings.warn(f"lower, upper: the bounds of {sites(boxes.unresolved, boxes.unresolved_site)} "
                      f"are so far out that {np.dtype(dtype).name} cannot tell draws from the bound",
                      stacklevel=3)


def _check_noise(model, dtype):
    """Of a call that gives words alone: the sites without bounds have noise instead."""
    free = model.dim - model.boxes(dtype).bounded
    if free:
        raise ValueError(f"noise: None, but stream='given' needs it for "
                         f"{counted(free, 'site')} without bounds")


def _set_start(spec, init, dim, dtype):
    """Returns what must stay alive while the sampler is made."""
    if init is None:
        spec.start = _LATER
        return None
    if isinstance(init, str):
        spec.start = _choice("init", init, _STARTS)
        return None
    start = array_of("init", init)
    must_be_real("init", start.dtype)
    start = np.ascontiguousarray(start, dtype=dtype)
    if start.shape not in ((dim,), (1, dim), (spec.chains, dim)):
        raise ValueError(f"init: shape {start.shape}, but ({spec.chains}, {dim}) or ({dim},) is "
                         "needed")
    spec.start, spec.initial = 3, address(start)
    spec.initial_rows = 1 if start.ndim == 1 else len(start)
    return start


def _set_words(spec, dim, words):
    """The given words of sites between bounds; where every site has some, there is no noise."""
    word = np.dtype(np.uint32 if spec.type == 0 else np.uint64)
    kept = np.ascontiguousarray(array_of("words", words))
    if kept.dtype != word:
        raise TypeError(f"words: {word} is needed, not {kept.dtype}")
    if kept.ndim != 3 or kept.shape[1:] != (dim, spec.chains):
        raise ValueError(f"words: shape {kept.shape}, but (sweeps, {dim}, {spec.chains}) is needed")
    sweeps = spec.stream.noise_sweeps
    spec.stream.words = address(kept)
    spec.stream.noise_sweeps = min(len(kept), sweeps) if spec.stream.noise else len(kept)
    return kept


def _set_stream(spec, dim, stream, noise, words, generator_state, card):
    """Likewise."""
    spec.stream.kind = _choice("stream", stream, _STREAMS)
    none = noise is None and words is None
    if stream == "given" and none:
        raise ValueError("stream: 'given', but neither noise (of sites without bounds) nor words (of sites "
                         "between bounds) is")
    if stream != "given" and not none:
        raise ValueError(f"{'noise' if words is None else 'words'}: it belongs to stream='given', not to "
                         f"{stream!r}")
    kept = []
    if noise is not None:
        kept.append(plain("noise", noise, 3))
        if kept[0].shape[1:] != (dim, spec.chains):
            raise ValueError(f"noise: shape {kept[0].shape}, but (sweeps, {dim}, {spec.chains}) is "
                             "needed")
        spec.stream.noise, spec.stream.noise_type = address(kept[0]), type_of(kept[0])
        spec.stream.noise_sweeps = len(kept[0])
    if words is not None:
        kept.append(_set_words(spec, dim, words))
    if generator_state is not None:
        if stream not in _STATE_BYTES:
            raise ValueError("generator_state: it belongs to the torch streams")
        kept.append(np.ascontiguousarray(array_of("generator_state", generator_state), dtype=np.uint8))
        spec.stream.torch_state, spec.stream.torch_state_bytes = address(kept[-1]), kept[-1].size
    if card is not None and stream != "torch-cuda":
        raise ValueError("card: it belongs to stream='torch-cuda'")
    if stream == "torch-cuda":
        try:
            multiprocessors, threads = card
        except (TypeError, ValueError):
            raise ValueError(f"card: {shown(card)}; stream='torch-cuda' needs (multiprocessors, threads of "
                             "each), (132, 2048) for an H200") from None
        spec.stream.cuda_multiprocessors = count("card[0]", multiprocessors, 1, 2**31 - 1)
        spec.stream.cuda_threads_per_multiprocessor = count("card[1]", threads, 256, 2**31 - 1)
    return kept


def _check_sweeps(spec, end, noise, words):
    """Known before the run: whether the given numbers last for it."""
    symmetric = spec.order == _ORDERS["symmetric"]
    needed = (end - spec.first_sweep) * (2 if symmetric else 1)
    for name, numbers in (("noise", noise), ("words", words)):
        if numbers is not None and len(numbers) < needed:
            why = "draws" if spec.method == _METHODS["exact"] else "warmup + draws * thin"
            raise ValueError(f"{name}: {counted(len(numbers), 'sweep')}, but {needed} are needed: "
                             f"{f'2 ({why})' if symmetric else why}")


def _generator_state(context, sampler, stream):
    if stream not in _STATE_BYTES:
        return None
    state = np.empty(_STATE_BYTES[stream], np.uint8)
    context.must(lib.gbs_sampler_get_torch_state(sampler.handle, address(state), state.size))
    return state


def _pilot_text(pilot):
    """As the program's files put it (cli/sample_pilot.c)."""
    def option(it):
        return it["method"] + (f" --overrelax {it['overrelax']:.15g}" if it["overrelax"] > 0 else "")

    tried = pilot["tried"]
    if not tried:
        return "whitened; nothing bounds the sites, so its draws are independent and no others were tried"
    ran = ", ".join(f"{option(it)} {max(it['sweeps_to_forget']):.3g}" for it in tried
                    if "left_out" not in it)
    text = f"{option(tried[pilot['chosen']])}; sweeps to forget, the slowest of three figures: {ran}"
    each = [option(it) + (f" ({it['left_out']})" if it["left_out"] != later.get("left_out") else "")
            for it, later in zip(tried, [*tried[1:], {}]) if "left_out" in it]
    return text + ("; left out: " + ", ".join(each) if each else "")


def _arviz(draws, model, first_chain, first_draw):
    """The groups and attributes of the program's netCDF files."""
    try:
        import arviz
    except ImportError as error:
        raise ImportError("output='arviz' needs ArviZ: pip install arviz") from error
    plain_draws = np.asarray(draws)
    facts = {"inference_library": "gibbsite", "inference_library_version":
             lib.gbs_version().decode()}
    constants = {"location": model.location, "diag_precision": np.diag(model.precision)}
    if model.fixed is not None:
        constants["fixed"] = model.fixed
    if model.bounds is not None:
        constants["lower"], constants["upper"] = model.bounds
    if draws.start is not None:
        constants["start"] = draws.start
    groups = {"posterior": {"x": plain_draws},
              "sample_stats": {"lp": model.log_density(plain_draws)}, "constant_data": constants}
    dims = {name: ["x_dim_0"] for name in ("x", *constants)}
    coords = {"chain": first_chain + np.arange(len(plain_draws)),
              "draw": first_draw + np.arange(plain_draws.shape[1]), "x_dim_0": np.arange(model.dim)}
    if "posterior" in inspect.signature(arviz.from_dict).parameters:  # before ArviZ 1.0
        data = arviz.from_dict(**groups, dims=dims, coords=coords, attrs=facts)
    else:
        data = arviz.from_dict(groups, dims=dims, coords=coords, attrs=dict.fromkeys(groups, facts))
    if draws.pilot is not None:
        facts |= {"pilot": _pilot_text(draws.pilot), "pilot_version": _PILOT_VERSION}
    data.attrs.update(facts | draws.attributes)
    data.constant_data["location"].attrs["form"] = LOCATION_NAMES[model.location_kind]
    return data


def _piloted(model, dtype, seed, started):
    """A start that was given within rows is not the pilot's, which looks for one of its own."""
    try:
        return model.pilot(dtype, seed)
    except RuntimeError as error:
        if not started:
            raise
        raise RuntimeError(f"{error}, and leave method='auto' out: its pilot would look for one too") from None


def _pilot_facts(pilot):
    """What the pilot tried, the sweeps that each took to forget, what it left out, and which it chose."""
    return {"chosen": pilot.chosen if pilot.count else None, "tried": [
        {"method": _METHOD_NAMES[it.method], "overrelax": it.overrelax,
         "sweeps_to_forget": list(it.time), "operations": it.operations} |
        ({"left_out": it.why.decode()} if it.why else {})
        for it in pilot.tried[:pilot.count]]}


def sample(precision, *, mean=None, info=None, offset=None, covariance=False, method=None,
           chains=Default(4), warmup=None, draws=1000, thin=None, seed=None,
           dtype=Default("float64"), force=False, order=Default("forward"), omega=Default(1.0),
           init=Default("overdispersed"), stream=Default("native"), noise=None,
           generator_state=None, card=None, first_chain=Default(0), first_sweep=Default(0),
           isa="auto", threads=1, backend="cpu", device=0, output="array", fix=None,
           checkpoint=None, every=None, resume=None, rows=None, row_lower=None, row_upper=None,
           lower=None, upper=None, overrelax=Default(0.0), words=None):
    """Draws from a Gaussian with the given precision [D, D] (covariance=True: covariance).

    mean, info, offset   at most one location [D]: mu, Q mu, or the offset that many loops add
    method               "gibbs": `warmup` sweeps (1000), then `draws` states `thin` (1) sweeps
                         apart; "exact": independent draws, one triangular solve each;
                         "whitened": sweeps that move all sites at once, within bounds and rows;
                         "auto": short runs choose between "gibbs", plain or over-relaxed, and
                         "whitened", a function of model, dtype and seed (the result's `pilot`).
                         None: "auto" with bounds or rows where none of order, omega and overrelax
                         is given (whatever it says), the stream is native, and with rows no init
                         but "overdispersed"; else "gibbs"
    chains, seed         chain c of a seed is always the same; seed=None takes one from the
                         system, kept in the result's `seed`
    dtype                "float64", or "float32" for models that it does not bend (else force)
    order, omega, init   "forward", "backward", "symmetric"; over-relaxation in (0, 2);
                         "overdispersed" (with rows one point inside them), "zero", "mean" or an
                         array [chains, D] or [D]
    stream               "native"; "given" with noise [sweeps, D, chains]; "torch-cpu" and
                         "torch-cuda" with card=(multiprocessors, threads of each), from the seed
                         or from generator_state
    first_chain,         shift the native stream: batches and resumes continue one run
    first_sweep
    threads              1 (the program's default is 0), or more, or 0: as many as there are processors
                         for this process; the draws are the same
    isa                  the CPU's instructions: "auto", the widest there are, or "scalar", "avx2",
                         "avx512", "neon"; the draws are the same
    backend, device      "cpu", or "cuda": the chains live and run on GPU number `device`, with the
                         same draws (torch-cuda: torch's own bits); RuntimeError where there is none
    fix                  [D] values of sites to hold, NaN for a free one: the law of the others
    lower, upper         bounds of sites, [D] or a number for all, -inf and inf for none, rounded inward to
                         dtype; equal ones fix a site; stream "given" then takes words
                         [sweeps, D, chains] beside noise, of uint32 (float32) or uint64
    overrelax            r in [0, 1): over-relaxed draws between bounds, .8 where chains are slow
    rows,                row_lower <= rows @ x <= row_upper: an array or SciPy sparse matrix [R, D],
    row_lower, row_upper and a number for all of them or [R]; without init the chains start at a point
                         inside, found by Clp and kept in the result's `start`
    checkpoint, every    a file that keeps the run's state: from the start, every so many sweeps (or
                         each minute), at the end, and on KeyboardInterrupt
    resume               a checkpoint, of this function or of the program: `draws` further draws of its
                         run, whose options come from it; what is given all the same must agree.  The
                         draws are those of one run without a break; the model must be given again
    output               "array": [chain, draw, D]; "arviz": InferenceData (from ArviZ 1.0 on a
                         DataTree), as the program's files but for model_hash, run_id and options,
                         which are the program's alone

    The native stream gives the same bits on every machine, any number of threads and a GPU.
    """
    typed = _type(dtype.value if isinstance(dtype, Default) else dtype)
    _choice("output", output, {"array": 0, "arviz": 1})
    if every is not None and checkpoint is None:
        raise ValueError("every: it belongs to checkpoint, which is not given")
    checkpoint = None if checkpoint is None else path("checkpoint", checkpoint)
    resumed = None if resume is None else Resumed(path("resume", resume))
    its = {"method": method, "dtype": np.dtype(typed).name if is_given(dtype) else dtype,
           "chains": chains, "seed": seed, "order": order, "omega": omega, "overrelax": overrelax,
           "stream": stream, "first_chain": first_chain, "thin": thin, "card": card,
           "warmup": warmup, "init": init, "first_sweep": first_sweep,
           "generator_state": generator_state}
    of_sweeps = [name for name in ("order", "omega", "overrelax") if is_given(its[name])]
    if resumed:
        its = resumed.settle(its)
    method, dtype, chains, seed, order, omega, overrelax, stream, first_chain, thin, card, init, first_sweep = (
        its[name].value if isinstance(its[name], Default) else its[name]
        for name in ("method", "dtype", "chains", "seed", "order", "omega", "overrelax", "stream",
                     "first_chain", "thin", "card", "init", "first_sweep"))
    if resumed:
        typed, thin = _TYPES[dtype], None if method == "exact" else thin
        init = init if method == "exact" else None  # the checkpoint has it
    if init is None and not resumed:
        raise ValueError(f"init: None; it must be one of {', '.join(_STARTS)}, or an array")
    omega, overrelax = real("omega", omega), real("overrelax", overrelax)
    bounded = any(bound is not None for bound in (lower, upper, rows))
    if method == "auto" and of_sweeps:
        raise ValueError(f"method: 'auto'; {of_sweeps[0]} is given, which is part of what the pilot chooses")
    native = isinstance(stream, str) and stream == "native"
    if method == "auto" and not native:
        raise ValueError("method: 'auto'; the pilot may choose whitened sweeps, which take the native stream, "
                         f"not {shown(stream)}")
    asked = method is not None
    own_start = rows is not None and not (isinstance(init, str) and init == "overdispersed")
    method = method or ("auto" if bounded and native and not of_sweeps and not own_start else "gibbs")
    if method == "exact" and not (warmup is None and thin is None and order == "forward" and
                                  omega == 1.0 and overrelax == 0.0 and isinstance(init, str) and
                                  init == "overdispersed"):
        raise ValueError("method: exact draws are independent and take no warmup, thin, order, "
                         "omega, overrelax or init")
    if method == "whitened" and (order != "forward" or omega != 1.0 or overrelax != 0.0):
        raise ValueError("method: whitened sweeps take no order, omega or overrelax")
    warmup = count("warmup", 1000 if warmup is None else warmup, 0)
    thin = count("thin", 1 if thin is None else thin, 1)
    spec = lib.gbs_sampler_spec_default()
    spec.type = 0 if typed is np.float32 else 1
    _choice("method", method, _METHODS | {"auto": 3})
    spec.chains, spec.seed = count("chains", chains, 1), chosen_seed(seed)
    spec.first_chain = count("first_chain", first_chain, 0)
    spec.first_sweep = count("first_sweep", first_sweep, 0)
    spec.order, spec.omega = _choice("order", order, _ORDERS), omega
    spec.overrelax = overrelax
    if typed is np.float32:
        for name, values in (("mean", mean), ("offset", offset), ("fix", fix), ("init", init)):
            _check_range(name, values)
    with Context(isa, threads, backend, count("device", device, 0, 2**31 - 1)) as context, \
            Model(context, precision, mean, info, offset, covariance, fix, rows, row_lower,
                  row_upper, lower, upper) as model:
        if typed is np.float32:
            _check_float(model, force)
        _check_bounds(model, typed)
        pilot = None
        if method == "auto":
            pilot = _piloted(model, typed, spec.seed, own_start)
            without = "whitened" if asked else "gibbs"
            method = _METHOD_NAMES[pilot.method] if pilot.count else without
            spec.overrelax = overrelax = pilot.overrelax
        spec.method = _METHODS[method]
        inside = None
        if rows is not None and isinstance(init, str) and init == "overdispersed" and \
                method != "exact":
            inside = model.interior().astype(typed)
        alive = [_set_start(spec, init if inside is None else inside, model.dim, typed),
                 _set_stream(spec, model.dim, stream, noise, words, generator_state, card)]
        if words is not None and noise is None and rows is None and method == "gibbs":
            _check_noise(model, typed)
        out = _room(spec.chains, count("draws", draws, 1, _MOST_DRAWS), model.dim, typed)
        with _Sampler(context, model, spec) as sampler:
            run = Run(context, sampler, 0 if method == "exact" else warmup, thin, checkpoint,
                      None if every is None else count("every", every, 1), resumed)
            _check_sweeps(spec, run.end(out.shape[1]), noise, words)
            run.fill(out)
            out.generator_state = _generator_state(context, sampler, stream)
            out.kernel = lib.gbs_sampler_kernel(sampler.handle).decode()
        del alive
        out.seed, out.start = spec.seed, inside
        out.pilot = _pilot_facts(pilot) if pilot and (pilot.count or asked) else None
        out.attributes = {
            "chains": spec.chains, "method": method, "stream": stream,
            "stream_mapping_version": _MAPPING_VERSIONS[stream], "seed": spec.seed,
            "warmup": run.warmup - spec.first_sweep, "thin": thin,
        }
        if model.bounds is not None or model.rows:
            out.attributes["truncnorm_mapping_version"] = _TRUNCNORM_VERSION
        if resumed:
            out.attributes["first_draw"] = run.first_draw
        if method == "gibbs":
            out.attributes |= {"order": order, "omega": omega}
            if overrelax:
                out.attributes["overrelax"] = float(overrelax)
        if method != "exact" and not resumed:
            out.attributes["init"] = ("given" if not isinstance(init, str) else
                                      init if inside is None else "inside")
        return out if output == "array" else _arviz(out, model, spec.first_chain, run.first_draw)
