"""Compiles the PyTorch op, once for each PyTorch that is met.

A compiled op fits one release of PyTorch only, and `pip install` builds in an environment where
PyTorch usually is not.  So the package carries the op's C++ files (the kernels are in the C
library) and compiles them at the first import: about a minute, kept in the user's cache folder.
`python -m gibbsite.torch` does it ahead of time.  No ninja, no nvcc: a C++ compiler is enough.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile

import torch

from .. import _library

_SOURCES = pathlib.Path(__file__).resolve().parent / "csrc"
_CXX_FLAGS = ["-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wno-unknown-pragmas"]


def has_cuda():
    """Whether the CUDA half can be linked in: a CUDA PyTorch and our CUDA kernels."""
    return torch.version.cuda is not None and _library.library_file("gibbsite_cuda") is not None


def has_python_headers():
    return (pathlib.Path(sysconfig.get_path("include")) / "Python.h").exists()


def _sources():
    names = ["op.cpp", "autograd.cpp", "tracing.cpp", "inputs.cpp", "tensor_bounds.cpp", "cpu.cpp",
             "truncnorm.cpp"]
    if has_cuda():
        names += ["cuda.cpp", "truncnorm_cuda.cpp"]
    if has_python_headers():
        names.append("python.cpp")
    return [_SOURCES / name for name in names]


def _torch_folder():
    return pathlib.Path(torch.__file__).resolve().parent


def _cuda_include_folders():
    """The toolkit's, then those of the wheels that PyTorch brings, which lack some headers."""
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")]
    nvcc = shutil.which("nvcc")
    if nvcc:
        homes.append(pathlib.Path(nvcc).resolve().parent.parent)
    homes += ["/usr/local/cuda", f"/usr/local/cuda-{torch.version.cuda}"]
    folders = [pathlib.Path(home) / "include" for home in homes if home]
    wheels = sorted((_torch_folder().parent / "nvidia").glob("*/include"))
    return [f for f in folders if (f / "cuda_runtime_api.h").exists()] + wheels


def _include_folders():
    root = _torch_folder() / "include"
    folders = [_library.folder("include"), _SOURCES]
    system = [root, root / "torch" / "csrc" / "api" / "include", sysconfig.get_path("include")]
    if has_cuda():
        system += _cuda_include_folders()
    return [f"-I{f}" for f in folders] + [arg for f in system for arg in ("-isystem", str(f))]


def _shared_cxx_runtime():
    """The C++ runtime by its file name, where the linker would find only the archive: a second copy
    of it in the op would not share its locales with PyTorch's, and formatting a number crashes."""
    def known(name):
        found = subprocess.run([*_compiler(), f"-print-file-name={name}"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
        return os.path.isabs(found.stdout.strip())

    return ["-l:libstdc++.so.6"] if not known("libstdc++.so") and known("libstdc++.so.6") else []


def _link_flags():
    flags = [f"-L{_torch_folder() / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10", *_shared_cxx_runtime()]
    libraries = [_library.library_file("gibbsite")]
    if has_python_headers():
        flags.append("-ltorch_python")
    if has_cuda():
        flags += ["-Wl,--no-as-needed", "-ltorch_cuda", "-lc10_cuda"]
        libraries.append(_library.library_file("gibbsite_cuda"))
    return [str(library) for library in libraries] + flags


def _abi_flag():
    return f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"


def _compiler():
    chosen = os.environ.get("CXX", "").split()
    command = chosen or [name for name in ("c++", "g++") if shutil.which(name)][:1]
    if not command or not shutil.which(command[0]):
        what = f"; CXX is {' '.join(chosen)!r}, and there is no such program" if chosen else ""
        raise ImportError(
            "gibbsite.torch is compiled at its first import and needs a C++ compiler: install g++ "
            f"(Debian: apt-get install g++), or set CXX{what}"
        )
    return command


def _key():
    """Names everything that a compiled op depends on."""
    digest = hashlib.sha256()
    texts = [torch.__version__, sysconfig.get_config_var("SOABI") or "", sys.platform,
             str(_torch_folder()), *_CXX_FLAGS, _abi_flag()]
    for path in [*_sources(), *sorted(_SOURCES.glob("*.h")),
                 *sorted((_library.folder("include") / "gibbsite").glob("*.h"))]:
        texts += [path.name, path.read_text()]
    digest.update("\0".join(texts).encode())
    return digest.hexdigest()[:16]


def _cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(base) / "gibbsite"


def op_file():
    return _cache_folder() / f"op-torch{torch.__version__.split('+')[0]}-{_key()}.so"


def _run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise ImportError(
            "gibbsite.torch could not be compiled:\n" + " ".join(map(str, command)) + "\n"
            + done.stdout[-4000:]
        )


def _compile_all(objects):
    """All files at once, as many as there are processors."""
    common = [*_compiler(), *_CXX_FLAGS, _abi_flag(), *_include_folders()]
    waiting = list(objects.items())
    running = []
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            source, target = waiting.pop(0)
            command = [*common, "-c", str(source), "-o", str(target)]
            log = target.with_suffix(".log").open("w+")
            running.append((command, log, subprocess.Popen(command, stdout=log, stderr=log)))
        command, log, process = running.pop(0)
        if process.wait() != 0:
            for _, _, other in running:
                other.kill()
                other.wait()
            log.seek(0)
            raise ImportError("gibbsite.torch could not be compiled:\n" + " ".join(command) + "\n"
                              + log.read()[-4000:])
        log.close()


def _seal(path):
    """Puts the file's digest behind it, where the loader does not look: damage shows before it is
    loaded, which would be the end of the process."""
    digest = hashlib.sha256(path.read_bytes()).digest()
    with path.open("ab") as file:
        file.write(digest)


def _is_whole(path):
    try:
        content = path.read_bytes()
    except OSError:
        return False
    size = len(content) - hashlib.sha256().digest_size
    return size > 0 and hashlib.sha256(content[:size]).digest() == content[size:]


def build():
    """Compiles the op unless it is there, and whole; returns its file.  Processes that build at the
    same time each make their own and the last one's stays."""
    target = op_file()
    if _is_whole(target):
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        work = tempfile.TemporaryDirectory(dir=target.parent, prefix="building-")
    except OSError as error:
        raise ImportError(
            f"gibbsite.torch keeps its compiled op in {target.parent}, which cannot be written "
            f"({error}); set XDG_CACHE_HOME to a folder that can"
        ) from error
    print(f"gibbsite: compiling the op for PyTorch {torch.__version__} (once, about a minute)",
          file=sys.stderr, flush=True)
    with work as folder:
        objects = {s: pathlib.Path(folder) / (s.stem + ".o") for s in _sources()}
        _compile_all(objects)
        made = pathlib.Path(folder) / "op.so"
        _run([*_compiler(), "-shared", *map(str, objects.values()), *_link_flags(), "-o", str(made)])
        _seal(made)
        os.replace(made, target)
    return target


def load():
    """Loads the op; returns its Python entry, or None where there are no Python headers."""
    if torch.version.cuda is not None and _library.library_file("gibbsite_cuda") is not None:
        _library.load("gibbsite_cuda")
    path = build()
    torch.ops.load_library(str(path))
    if not has_python_headers():
        return None
    import importlib.machinery
    import importlib.util

    loader = importlib.machinery.ExtensionFileLoader("_gibbsite_op", str(path))
    spec = importlib.util.spec_from_file_location("_gibbsite_op", str(path), loader=loader)
    return importlib.util.module_from_spec(spec).sweep
