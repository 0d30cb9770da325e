#!/bin/sh
# Every test that needs a GPU: the CUDA library's own, torch's normals where torch is, then the
# sanitizers over a short suite.  Ends with the sum of what they counted.
set -u
build=${1:-build/cuda}
case $build in
/*) ;;
*) build=$PWD/$build ;;
esac
log=$build/gpu_tests.log
: >"$log"
for test in test_no_gpu test_gpu_roots test_gpu_bits test_gpu_affine test_gpu_launch; do
    echo "== $test"
    "$build/tests/gpu/$test" 2>&1 | tee "$build/one.log"
    tail -n 1 "$build/one.log" | grep -E '^[0-9]+ passed' >>"$log" || echo "0 passed, 1 failed" >>"$log"
done
if python3 -c 'import torch; assert torch.cuda.is_available()' >/dev/null 2>&1; then
    echo "== torch.randn"
    python3 tests/gpu/test_torch_noise.py "$build/src/backend/cuda/libgibbsite_cuda.so" 2>&1 | tee "$build/one.log"
    tail -n 1 "$build/one.log" | grep -E '^[0-9]+ passed' >>"$log" || echo "0 passed, 1 failed" >>"$log"
    echo "== PyTorch op"
    prefix=$build/op
    mkdir -p "$prefix/lib" "$prefix/include"
    cp "$build/src/libgibbsite.so.0" "$build/src/backend/cuda/libgibbsite_cuda.so.0" "$prefix/lib/"
    cp -r include/gibbsite "$prefix/include/"
    for test in test_op_cuda test_op_cuda_long; do
        GIBBSITE_PREFIX=$prefix XDG_CACHE_HOME=$build/cache PYTHONPATH=python \
            python3 "tests/gpu/$test.py" 2>&1 | tee "$build/one.log"
        tail -n 1 "$build/one.log" | grep -E '^[0-9]+ passed' >>"$log" || echo "0 passed, 1 failed" >>"$log"
    done
else
    echo "skipped: torch with CUDA is not on this machine"
fi
if command -v compute-sanitizer >/dev/null 2>&1; then
    for tool in memcheck racecheck initcheck synccheck; do
        echo "== compute-sanitizer $tool"
        if compute-sanitizer --tool "$tool" --error-exitcode 9 "$build/tests/gpu/test_gpu_bits" --sanitizer \
            >"$build/one.log" 2>&1; then
            echo "1 passed, 0 failed" >>"$log"
        else
            echo "0 passed, 1 failed" >>"$log"
        fi
        tail -n 3 "$build/one.log"
    done
else
    echo "skipped: compute-sanitizer is not on this machine"
fi
awk '{p += $1; f += $3} END {printf "%d passed, %d failed\n", p, f; exit f != 0}' "$log"
