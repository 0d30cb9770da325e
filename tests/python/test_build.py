"""How the op is linked."""
import os
import re
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


def test_damaged_op_is_compiled_again(tmp_path, monkeypatch):
    """A file that was cut short would end the process when it is loaded."""
    made = []

    def link(command):
        made.append(command)
        with open(command[-1], "wb") as file:
            file.write(b"an op" * 1000)

    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(tmp_path))
    monkeypatch.setattr(_build, "_compile_all", lambda objects: None)
    monkeypatch.setattr(_build, "_run", link)
    whole = _build.build().read_bytes()
    assert _build.build() == _build.op_file() and len(made) == 1
    other = bytearray(whole)
    other[17] ^= 1
    for damaged in (b"", whole[:20], whole[:-1], whole[:4096], whole + b"x", bytes(other)):
        _build.op_file().write_bytes(damaged)
        before = len(made)
        assert _build.build().read_bytes() == whole and len(made) == before + 1, len(damaged)
    assert [path.name for path in _build.op_file().parent.iterdir()] == [_build.op_file().name]


@pytest.mark.parametrize("compiler", ["nonexist", "/nowhere/c++ -m64"])
def test_compiler_that_is_not_there(monkeypatch, compiler):
    monkeypatch.setenv("CXX", compiler)
    named = re.escape(f"; CXX is '{compiler}', and there is no such program")
    with pytest.raises(ImportError, match=rf"needs a C\+\+ compiler: .*{named}$"):
        _build._compiler()


def test_no_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("CXX", " ")
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    with pytest.raises(ImportError, match="needs a C.. compiler: .* or set CXX$"):
        _build._compiler()
