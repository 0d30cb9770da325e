"""Scalars of the wrong kind or size, in every function that takes them: one error, which names the argument
and what was given.  Whatever has __index__ is a whole number."""
import numpy as np
import pytest
import torch

import gibbsite
from gibbsite.torch import GibbsSweep, _op, gibbs_sweep

HUGE = 2**70
EYE = torch.eye(2)


class Three:
    def __index__(self):
        return 3


def arrays(**changed):
    return gibbsite.truncnorm(**{"seed": 1, "size": 3} | changed)


def tensors(**changed):
    return gibbsite.truncnorm(torch.tensor(0.0), **{"seed": 1, "size": 3} | changed)


def draws(**changed):
    return gibbsite.sample(np.eye(2), **{"seed": 1, "chains": 3, "warmup": 3, "draws": 3} | changed)


def card(k):
    return lambda value: draws(stream="torch-cuda", card=(132, value) if k else (value, 2048))


def sweeps(**changed):
    return gibbs_sweep(torch.zeros(3, 2), EYE, **{"stream": "native", "seed": 1, "sweeps": 3} | changed)


def checkpointed(path):
    return lambda value: draws(checkpoint=path, every=value)


COUNTS = [(call, name) for call, names in (
    (arrays, ("seed", "sweep", "chain", "place", "size", "threads")),
    (tensors, ("seed", "sweep", "chain", "place", "size")),
    (draws, ("seed", "chains", "warmup", "draws", "thin", "first_chain", "first_sweep", "threads", "device")),
    (sweeps, ("seed", "sweeps", "keep", "first_sweep", "first_chain")),
) for name in names]
IDS = [f"{call.__name__}-{name}" for call, name in COUNTS]
NO_COUNTS = [1.5, "3", True, float("nan"), np.array([3, 4]), -5, -HUGE, HUGE, 10**5000]
REALS = [(draws, "omega"), (draws, "overrelax"), (sweeps, "omega"), (sweeps, "overrelax"), (sweeps, "lower"),
         (sweeps, "upper"), (tensors, "sd"), (tensors, "lower")]
NO_REALS = ["0.5", None, object, 1j, 10**400]


def refused(call, name, value):
    """Returns the message."""
    with pytest.raises((ValueError, TypeError, MemoryError)) as caught:
        call(**{name: value})
    message = str(caught.value)
    assert f"{name}" in message.split(";")[0] and message.count("\n") == 0, message
    return message


def shown(value):
    if isinstance(value, int) and abs(value) >= 10**4300:
        return f"of {value.bit_length()} bits"
    return repr(value)[:40]


def through_schema(call):
    """Without Python's headers the op is called through torch.ops, which words these itself."""
    if call is sweeps and _op._call is _op._traced:
        pytest.skip("compiled without Python's headers")


@pytest.mark.parametrize("call, name", COUNTS, ids=IDS)
def test_no_counts(call, name):
    through_schema(call)
    for value in NO_COUNTS:
        if name == "size" and isinstance(value, np.ndarray):  # a shape
            continue
        message = refused(call, name, value)
        if not (call is sweeps and value is NO_COUNTS[-1]):  # C has no digits for it
            assert shown(value) in message, message


@pytest.mark.parametrize("call, name", [at for at in COUNTS if at[1] != "device"],
                         ids=[at for at in IDS if at != "draws-device"])
def test_whatever_has_an_index(call, name):
    expected = np.asarray(call(**{name: 3})[0] if name == "keep" else call(**{name: 3}))
    for three in (np.int64(3), np.uint8(3), np.array(3), torch.tensor(3), Three()):
        got = call(**{name: three})
        assert np.array_equal(np.asarray(got[0] if name == "keep" else got), expected), three


@pytest.mark.parametrize("call, name", REALS, ids=[f"{c.__name__}-{n}" for c, n in REALS])
def test_no_reals(call, name):
    through_schema(call)
    for value in NO_REALS:
        if value is None and name in ("lower", "upper") and call is sweeps:  # no bounds
            continue
        assert shown(value) in refused(call, name, value)


def test_of_a_sequence():
    for call in (arrays, tensors):
        for value in (1.5, "3", None, -1, HUGE, [3], np.array([3, 4])):
            assert shown(value) in refused(call, "size", (2, value))
        for size in ([2, np.int64(3)], np.array([2, 3]), torch.Size([2, 3]), (2, Three())):
            assert tuple(call(size=size).shape) == (2, 3)
    for k in (0, 1):
        for value in (1.5, "3", True, -1, HUGE):
            with pytest.raises(ValueError) as caught:
                card(k)(value)
            assert f"card[{k}]: {value!r}" in str(caught.value)


def test_paths_are_no_numbers(tmp_path, capfd):
    """True would be standard output, which is then closed."""
    for name in ("checkpoint", "resume"):
        for value in (True, 1, 1.5, [tmp_path], object):
            message = refused(draws, name, value)
            assert message.startswith(f"{name}: {shown(value)}") and "path" in message
        assert refused(draws, name, "") == f"{name}: the path is empty"
    print("still open")
    assert "still open" in capfd.readouterr().out
    for value in (1.5, "3", True, 0, HUGE):
        with pytest.raises(ValueError) as caught:
            checkpointed(tmp_path / "c")(value)
        assert f"every: {value!r}" in str(caught.value)
    for path in (tmp_path / "c", str(tmp_path / "c"), bytes(tmp_path / "c")):
        draws(checkpoint=path)
        assert gibbsite.sample(np.eye(2), resume=path, draws=3).shape == (3, 3, 2)


def test_types_by_name():
    for call in (arrays, draws):
        for value in (1.5, HUGE, True, "half", [1, 2]):
            assert shown(value) in refused(call, "dtype", value)


def test_whole_numbers_beyond_64_bits():
    """NumPy keeps them as objects; as bounds and means they are as good as any."""
    assert np.array_equal(arrays(lower=-HUGE, upper=HUGE), arrays(lower=-2.0**70, upper=2.0**70))
    assert np.array_equal(draws(lower=-HUGE, method="gibbs"), draws(lower=-2.0**70, method="gibbs"))
    assert shown(10**400) in refused(arrays, "mean", 10**400)
    assert shown(10**400) in refused(draws, "lower", 10**400)


def test_rows_of_several_lengths():
    for call, name in ((arrays, "mean"), (draws, "mean"), (draws, "lower"), (draws, "init")):
        assert refused(call, name, [[1], [1, 2]]).startswith(f"{name}: ")


def test_overrelax_without_bounds():
    """It stands for an omega, but it is not omega that is out of range."""
    assert torch.equal(sweeps(overrelax=0.5), sweeps(omega=1.5))
    for value in (1.0, 1.5, -0.5, float("nan")):
        assert f"overrelax: {value} is not in [0, 1)" in refused(sweeps, "overrelax", value)


def test_check_is_a_truth_value():
    through_schema(sweeps)
    assert "check must be True or False" in refused(sweeps, "check", np.array([1, 2]))


def test_results_without_room():
    for size in (2**45, 2**62, (2**40, 2**40)):
        with pytest.raises(MemoryError, match=r"size: \d+ float64 numbers take \d+ bytes"):
            arrays(size=size)


def test_module():
    for value in (1.5, "3", True, -1):
        with pytest.raises(ValueError) as caught:
            GibbsSweep(value)
        assert f"dim: {value!r}" in str(caught.value)
    assert GibbsSweep(np.int64(3)).mu.shape == (3,)
