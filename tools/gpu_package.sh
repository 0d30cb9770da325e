#!/bin/sh
# Runs a command with the Python package of this source tree and the libraries of `make gpu-build`,
# laid out as an installed package has them:
#
#     tools/gpu_package.sh BUILD_FOLDER COMMAND...
set -eu
build=$1
shift
case $build in
/*) ;;
*) build=$PWD/$build ;;
esac
root=$(cd "$(dirname "$0")/.." && pwd)
prefix=$build/op
mkdir -p "$prefix/lib" "$prefix/include"
cp "$build/src/libgibbsite.so.0" "$build/src/backend/cuda/libgibbsite_cuda.so.0" "$prefix/lib/"
cp -r "$root/include/gibbsite" "$prefix/include/"
export GIBBSITE_PREFIX="$prefix" XDG_CACHE_HOME="$build/cache"
export PYTHONPATH="$root/python:$root/tests/python${PYTHONPATH:+:$PYTHONPATH}"
exec "$@"
