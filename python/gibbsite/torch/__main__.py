"""python -m gibbsite.torch: compiles the op ahead of its first use and says where it is."""
from . import _build

if __name__ == "__main__":
    print(_build.op_file())
