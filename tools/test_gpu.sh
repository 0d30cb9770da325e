#!/bin/sh
# Every test that needs a GPU: the CUDA library's own, where torch is its normals and the op, then
# the sanitizers over a short suite.  Ends with the sum of what they counted.
#
#     tools/test_gpu.sh [BUILD_FOLDER]
set -u
build=${1:-build/cuda}
case $build in
/*) ;;
*) build=$PWD/$build ;;
esac
programs=$build/tests/gpu
log=$build/gpu_tests.log
: >"$log"

# run TITLE COMMAND...: the command's last line is its count; without one it has failed.
run() {
    echo "== $1"
    shift
    "$@" 2>&1 | tee "$build/one.log"
    tail -n 1 "$build/one.log" | grep -E '^[0-9]+ passed' >>"$log" || echo "0 passed, 1 failed" >>"$log"
}

# sanitize TOOL PROGRAM: a test program's short suite; only the verdict is shown, and the first words of a bad one.
sanitize() {
    echo "== compute-sanitizer $1 $2"
    if compute-sanitizer --tool "$1" --error-exitcode 9 "$programs/$2" --sanitizer >"$build/one.log" 2>&1; then
        echo "1 passed, 0 failed" >>"$log"
    else
        echo "0 passed, 1 failed" >>"$log"
        head -n 60 "$build/one.log"
    fi
    tail -n 3 "$build/one.log"
}

for test in test_no_gpu test_panels_host test_once_host test_lanes_host test_sums_host test_bounded_host test_constrained_host test_gpu_roots test_gpu_bits test_gpu_affine test_gpu_launch test_gpu_order test_gpu_sampler test_gpu_constrained; do
    run "$test" "$programs/$test"
done
if python3 -c 'import numpy' >/dev/null 2>&1; then
    run test_sample_cuda tools/gpu_package.sh "$build" python3 tests/gpu/test_sample_cuda.py
else
    echo "skipped: NumPy is not on this machine"
fi
run test_gpu_truncnorm "$programs/test_gpu_truncnorm"
if python3 -c 'import torch; assert torch.cuda.is_available()' >/dev/null 2>&1; then
    run test_torch_noise python3 tests/gpu/test_torch_noise.py "$build/src/backend/cuda/libgibbsite_cuda.so"
    run test_op_cuda tools/gpu_package.sh "$build" python3 tests/gpu/test_op_cuda.py
    run test_truncnorm_cuda tools/gpu_package.sh "$build" python3 tests/gpu/test_truncnorm_cuda.py
    for part in values graphs calls; do
        run "test_op_cuda_$part" tools/gpu_package.sh "$build" python3 "tests/gpu/test_op_cuda_$part.py"
    done
    run test_op_memory tools/gpu_package.sh "$build" python3 tests/gpu/test_op_memory.py "$programs/libfail_cuda_malloc.so"
else
    echo "skipped: torch with CUDA is not on this machine"
fi
if command -v compute-sanitizer >/dev/null 2>&1; then
    for tool in memcheck racecheck initcheck synccheck; do
        sanitize "$tool" test_gpu_bits
        sanitize "$tool" test_gpu_launch
        sanitize "$tool" test_gpu_truncnorm
        sanitize "$tool" test_gpu_sampler
        sanitize "$tool" test_gpu_constrained
    done
else
    echo "skipped: compute-sanitizer is not on this machine"
fi
awk '{p += $1; f += $3} END {printf "%d passed, %d failed\n", p, f; exit f != 0}' "$log"
