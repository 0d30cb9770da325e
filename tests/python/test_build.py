"""How the op is linked."""
import os
import stat

import pytest

pytest.importorskip("torch")

from gibbsite.torch import _build  # noqa: E402


def compiler_that_knows(folder, monkeypatch, names):
    """A compiler whose linker finds these libraries only."""
    script = folder / "c++"
    known = " ".join(f"-print-file-name={name}) echo /lib/{name};;" for name in names)
    script.write_text(f'#!/bin/sh\ncase $1 in {known} *) echo "${{1#*=}}";; esac\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CXX", os.fspath(script))


@pytest.mark.parametrize("names, flags", [
    (["libstdc++.so", "libstdc++.so.6"], []),
    (["libstdc++.so.6"], ["-l:libstdc++.so.6"]),  # else the archive would be a second runtime
    ([], []),
])
def test_one_cxx_runtime(tmp_path, monkeypatch, names, flags):
    compiler_that_knows(tmp_path, monkeypatch, names)
    assert _build._shared_cxx_runtime() == flags


def test_op_brings_no_runtime_of_its_own():
    """The op's numbers in messages are formatted by the runtime that PyTorch uses."""
    import torch
    from gibbsite.torch import gibbs_sweep

    with pytest.raises(ValueError, match="first_sweep is 12345, first_chain 67"):
        gibbs_sweep(torch.zeros(5, 4), torch.eye(4), first_sweep=12345, first_chain=67)
