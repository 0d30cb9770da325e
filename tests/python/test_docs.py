"""What docs/pytorch.md shows and says, run."""
import inspect
import pathlib
import re
import textwrap

import numpy as np
import pytest
import torch

import gibbsite
import gibbsite.torch
from gibbsite.torch import gibbs_sweep
from loops import assert_close, assert_rng_state, random_model, states

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "pytorch.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.S)


def block(part):
    found = [code for code in BLOCKS if part in code]
    assert len(found) == 1, f"{len(found)} blocks with {part!r}"
    return textwrap.dedent(found[0])


LOOP = block("for i in range(D)")


def loop_with(line, x, precision, mu):
    """The page's loop with another line for the residual."""
    code = LOOP.splitlines()
    code[1] = "    " + line.strip()
    names = dict(torch=torch, x=x.clone(), precision=precision, mu=mu, B=x.shape[0], D=x.shape[1])
    exec("\n".join(code), names)  # the page's own words
    return names["x"]


def test_first_block():
    names = {}
    exec(block("import gibbsite\n"), names)
    assert names["draws"].shape == (4, 1000, 2)
    gibbsite.summary(names["draws"])


def test_resume(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = dict(np=np, gibbsite=gibbsite)
    exec(block("resume="), names)
    whole = gibbsite.sample(names["Q"], draws=1000, seed=1)
    assert np.array_equal(np.concatenate([names["first"], names["later"]], 1), whole)


def test_the_call_is_the_loop():
    """Steps 2 and 4: same seed, same numbers, same state of the generator."""
    for dtype, bound in ((torch.float32, 1e-5), (torch.float64, 1e-12)):
        torch.set_default_dtype(dtype)
        try:
            precision, mu = random_model(5, dtype)
            x = states(17, 5, dtype)
            torch.manual_seed(0)
            expected = loop_with(LOOP.splitlines()[1], x, precision, mu)
            state = torch.get_rng_state()
            names = dict(x=x, precision=precision, mu=mu)
            torch.manual_seed(0)
            exec(block("from gibbsite.torch import gibbs_sweep"), names)
            assert_close(f"{dtype}", expected, names["x"], bound)
            assert_rng_state(state, torch.get_rng_state())
        finally:
            torch.set_default_dtype(torch.float32)


def test_steps_of_the_port():
    """Step 3: n loops are sweeps=n, their states keep=k; without mu it is 0."""
    precision, _ = random_model(4, torch.float32)
    x, zero = states(20, 4, torch.float32), torch.zeros(4)
    line = LOOP.splitlines()[1]
    torch.manual_seed(1)
    stored, y = [], x
    for _ in range(6):
        y = loop_with(line, y, precision, zero)
        stored.append(y)
    torch.manual_seed(1)
    got, kept = gibbs_sweep(x, precision, sweeps=6, keep=2)
    assert_close("sweeps=6", y, got, 6e-5)
    assert_close("keep=2", torch.stack(stored[1::2]), kept, 6e-5)


def test_the_two_lines_where_mean_and_offset_differ():
    mean_line, offset_line = block("# offset").splitlines()
    precision, mu = random_model(4, torch.float32)
    x = states(20, 4, torch.float32)
    found = {}
    for form, line in (("mean", mean_line), ("offset", offset_line)):
        assert line.endswith("# " + form)
        torch.manual_seed(2)
        expected = loop_with(line, x, precision, mu)
        torch.manual_seed(2)
        found[form] = gibbs_sweep(x, precision, mu, form=form)
        assert_close(form, expected, found[form], 1e-5)
    assert (found["mean"] - found["offset"]).abs().max() > 1e-2


def test_means_that_the_forms_have():
    """offset: Q^-1 (Q_ii mu_i); mean: mu; info: Q^-1 b.  A noiseless sweep leaves the mean alone."""
    precision, mu = random_model(5)
    precision = (precision + precision.T) / 2
    means = dict(offset=torch.linalg.solve(precision, precision.diagonal() * mu), mean=mu,
                 info=torch.linalg.solve(precision, mu))
    for form, mean in means.items():
        got = gibbs_sweep(mean.expand(3, 5), precision, mu, form=form,
                          noise=torch.zeros(1, 5, 3, dtype=torch.float64))
        assert_close(form, mean.expand(3, 5), got, 1e-13)
    assert (means["offset"] - mu).abs().max() > 1e-3


PUBLIC = [(gibbsite.sample,), (gibbsite.summary,), (gibbsite.info,), (gibbsite.truncnorm,), (gibbsite.torch.gibbs_sweep,),
          (gibbsite.torch.truncnorm, gibbsite.truncnorm), (gibbsite.torch.GibbsSweep,)]


@pytest.mark.parametrize("call", PUBLIC, ids=lambda call: f"{call[0].__module__}.{call[0].__name__}")
def test_help_names_every_argument(call):
    """In its own docstring, or in the one that it refers to."""
    text = " ".join(inspect.getdoc(one) for one in call)
    for other in call[1:]:
        assert f"see gibbsite.{other.__name__}" in text
    named = [name for name, it in inspect.signature(call[0]).parameters.items()
             if it.kind not in (it.VAR_POSITIONAL, it.VAR_KEYWORD)]
    missing = [name for name in named if not re.search(rf"\b{name}\b", text)]
    print(f"{len(named)} arguments, not in the docstring: {', '.join(missing) or 'none'}")
    assert named and not missing


def test_help_leaves_no_public_name_out():
    listed = {call[0] for call in PUBLIC}
    found = {getattr(module, name) for module in (gibbsite, gibbsite.torch) for name in module.__all__}
    assert found - listed == {gibbsite.Draws, gibbsite.Summary}, "results, which no caller makes"
