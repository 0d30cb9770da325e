"""Checkpoints of `sample`: a run's state in a file, from which it goes on bit for bit, here, in the
program or elsewhere.  The bytes are the library's (docs/file-formats.md)."""
import contextlib
import ctypes as c
import errno
import os
import stat
import time

import numpy as np

from . import _library
from ._library import lib
from ._objects import Context, counted

_METHODS = ["gibbs", "exact", "whitened"]
_ORDERS = ["forward", "backward", "symmetric", "permuted"]
_STREAMS = ["native", "given", "torch-cpu", "torch-cuda"]
_TYPES = ["float32", "float64"]
_SECONDS_APART = 60  # without `every`
_SLICE_SECONDS = 0.5  # unwatched
_MOST_SWEEPS = 2**48  # that the native stream numbers


def _mode(path):
    """Permissions of a regular file, None if there is no file."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "exists and is not a regular file", os.fspath(path))
    return stat.S_IMODE(mode)


def _save(given, data):
    """Under a temporary name, then renamed: a kill loses the newer checkpoint at most."""
    mode, path = _mode(given), os.path.realpath(given)
    temporary = os.path.join(os.path.dirname(path), f".gibbsite-{os.getpid()}-{time.monotonic_ns()}")
    try:
        with open(temporary, "xb") as file:
            if mode is not None:
                with contextlib.suppress(PermissionError):  # another's file, in a folder of ours
                    os.fchmod(file.fileno(), mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.errno is not None:  # of the file that was asked for
            raise OSError(error.errno, error.strerror, os.fspath(given)) from None
        raise


def _is(value, its):
    return value is its or (np.ndim(value) == np.ndim(its) and bool(np.all(value == its)))


class Default:
    """The default of an argument, which help() shows; tells it from the same value given."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return repr(self.value)


def is_given(value):
    return value is not None and not isinstance(value, Default)


class Resumed:
    """What a checkpoint says of its run."""

    def __init__(self, path):
        _mode(path)  # a device or a pipe may have no end
        with open(path, "rb") as file:
            data = file.read()
        self.path, self.size = os.fspath(path), len(data)
        self.bytes = np.zeros(-(-max(self.size, 1) // 16), np.complex128)  # aligned as malloc's
        self.bytes.view(np.uint8)[:self.size] = np.frombuffer(data, np.uint8)
        self.info = _library.CheckpointInfo()
        with Context() as context:
            self._must(context, lib.gbs_checkpoint_inspect(
                context.handle, self.bytes.ctypes.data, self.size, c.byref(self.info)))
        if max(self.info.warmup, self.info.thin, self.info.next_sweep) > _MOST_SWEEPS:
            raise ValueError(f"resume: {self.path}: its counts make no sense: no stream has more "
                             f"than 2^48 sweeps")
        if self.info.moments_count >= 0:
            raise ValueError(f"resume: {self.path} is of a run that keeps moments, which sample does "
                             "not")
        if _ORDERS[self.info.order] == "permuted":
            raise ValueError(f"resume: {self.path} is of a run in a permuted order, which sample "
                             "does not have")

    def _must(self, context, status):
        try:
            context.must(status)
        except ValueError as error:
            raise ValueError(f"resume: {self.path}: {error}") from None

    def settle(self, arguments):
        """`arguments` by name.  What was not given comes from the checkpoint, what was must agree with
        it; returns the values."""
        info = self.info
        its = {"method": _METHODS[info.method], "dtype": _TYPES[info.type], "chains": info.chains,
               "seed": info.seed, "order": _ORDERS[info.order], "omega": info.omega,
               "overrelax": info.overrelax,
               "stream": _STREAMS[info.stream], "first_chain": info.first_chain,
               "thin": info.thin or None, "card": None}
        if its["stream"] == "torch-cuda":
            its["card"] = (info.cuda_multiprocessors, info.cuda_threads_per_multiprocessor)
        for name, value in arguments.items():
            if not is_given(value):
                continue
            if name not in its:
                raise ValueError(f"{name}: it has no meaning with resume, which starts where the "
                                 "checkpoint was written")
            if its[name] is not None and not _is(value, its[name]):
                raise ValueError(f"resume: {self.path} is of a run with {name} {its[name]!r}, "
                                 f"{value!r} was given")
        return arguments | {name: it for name, it in its.items() if it is not None}

    @property
    def warmup(self):
        """Sweeps before the first draw; all there were, where nothing was counted."""
        return self.info.warmup if self.info.thin else self.info.next_sweep

    def read_into(self, context, sampler):
        self._must(context, lib.gbs_checkpoint_read(sampler.handle, None, self.bytes.ctypes.data,
                                                    self.size))


class Run:
    """Warm-up and draws in slices, between which Python notices an interruption, and checkpoints are
    written; neither changes a draw."""

    def __init__(self, context, sampler, warmup, thin, path, every, resumed):
        self.context, self.sampler, self.path, self.every = context, sampler, path, every
        self.slice, self.written = 1, time.monotonic()
        if resumed:
            resumed.read_into(context, sampler)
        # Counted from sweep 0, as the program counts.
        self.warmup = resumed.warmup if resumed else self.sweep + warmup
        self.thin = thin
        self.first_draw = max(self.sweep - self.warmup, 0) // thin

    @property
    def sweep(self):
        return lib.gbs_sampler_next_sweep(self.sampler.handle)

    def save(self):
        if self.path is None:
            return
        size = c.c_size_t()
        self.context.must(lib.gbs_checkpoint_size(self.sampler.handle, None, c.byref(size)))
        counts = _library.CheckpointCounts(self.warmup, self.thin,
                                           max(self.sweep - self.warmup, 0) // self.thin)
        data = np.empty(-(-size.value // 16), np.complex128)
        self.context.must(lib.gbs_checkpoint_write(self.sampler.handle, None, c.byref(counts),
                                                   data.ctypes.data, size.value))
        _save(self.path, data.view(np.uint8)[:size.value])
        self.written = time.monotonic()

    def _save_if_due(self):
        if self.every is None:
            due = time.monotonic() - self.written > _SECONDS_APART
        else:
            due = self.sweep % self.every == 0
        if due:
            self.save()

    def _advance(self, out, row, draws, thin):
        to = _library.Sink(out=out.ctypes.data + row * out.strides[1],
                           chain_stride=out.strides[0] // out.itemsize,
                           draw_stride=out.strides[1] // out.itemsize, site_stride=1)
        self.context.must(lib.gbs_sampler_sample(self.sampler.handle, draws, thin, c.byref(to)))

    def _step(self, out, end):
        """One slice: sweeps of the warm-up, whole draws, or a part of one."""
        sweep = self.sweep
        most = min(self.slice, end - sweep)
        if self.every is not None:
            most = min(most, self.every - sweep % self.every)
        if sweep < self.warmup:
            self.context.must(lib.gbs_sampler_run(self.sampler.handle, min(most, self.warmup - sweep)))
            return
        done, begun = divmod(sweep - self.warmup, self.thin)
        row = done - self.first_draw
        if begun == 0 and most >= self.thin:
            self._advance(out, row, most // self.thin, self.thin)
        elif most < self.thin - begun:
            self.context.must(lib.gbs_sampler_run(self.sampler.handle, most))
        else:
            if begun < self.thin - 1:
                self.context.must(lib.gbs_sampler_run(self.sampler.handle, self.thin - 1 - begun))
            self._advance(out, row, 1, 1)

    def end(self, draws):
        """The sweep behind so many draws."""
        return self.warmup + (self.first_draw + draws) * self.thin

    def fill(self, out):
        """All draws into out [chain, draw, D]."""
        end = self.end(out.shape[1])
        if end > _MOST_SWEEPS:
            raise ValueError(f"draws: {counted(self.warmup, 'sweep')} and "
                             f"{counted(out.shape[1], 'draw')} of {self.thin} are more than 2^48 "
                             "sweeps")
        self.save()  # a file that cannot be written is known at once
        try:
            while self.sweep < end:
                before = time.monotonic()
                self._step(out, end)
                if time.monotonic() - before < _SLICE_SECONDS / 2:
                    self.slice *= 2
                self._save_if_due()
        except KeyboardInterrupt:
            self.save()
            raise
        self.save()
