#!/bin/sh
# `make bench`: checks the kernels' instructions, times the CPU rows (a quarter of an hour) and
# writes bench/results.  Python comes from .venv, which `make test-python` makes, else from the
# system; without NumPy or PyTorch their rows are left out and the table says so.
#
#     bench/run.sh BUILD_FOLDER [options of compare_cpu.py]
set -eu
build=$1
shift
python=python3
if [ -x .venv/bin/python ]; then
    python=.venv/bin/python
else
    echo "no .venv (make test-python makes it): NumPy's and PyTorch's rows run only if python3 has them"
fi
bench/check_disassembly.sh "$build" || [ $? = 77 ] # 77: cannot be checked here, said why
exec "$python" bench/compare_cpu.py "$build/bench/cpu_bench" "$@"
