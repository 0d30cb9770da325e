"""Reads the records that tools/make_torch_records.py wrote for the C tests (tests/kat)."""
import pathlib
import struct

import numpy as np

KAT = pathlib.Path(__file__).resolve().parent.parent / "kat"
_HEAD = struct.Struct("<48s4siqq")


def read_records(name):
    data = (KAT / name).read_bytes()
    found, at = {}, 0
    while at + _HEAD.size <= len(data):
        label, kind, rank, rows, columns = _HEAD.unpack_from(data, at)
        dtype = np.dtype("<" + kind.rstrip(b"\0").decode())
        count = rows * columns
        values = np.frombuffer(data, dtype, count, at + _HEAD.size)
        found[label.rstrip(b"\0").decode()] = values.reshape((rows, columns)[:rank])
        at += _HEAD.size + count * dtype.itemsize
    return found
