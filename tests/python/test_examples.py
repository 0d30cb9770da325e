"""The examples print what their .out files show."""
import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize("program", sorted((EXAMPLES / "python").glob("*.py")),
                         ids=lambda path: path.stem)
def test_example(program):
    done = subprocess.run([sys.executable, program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expected = program.with_suffix(".out").read_text()
    assert done.stdout == expected, f"expected\n{expected}got\n{done.stdout}"


def test_kernel_task_check():
    done = subprocess.run([sys.executable, EXAMPLES / "kernel_task" / "check.py"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("conditional standard deviations on") == 2, done.stdout
