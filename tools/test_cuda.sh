#!/bin/sh
# Builds the CUDA library where nvcc is, and runs what needs no GPU; elsewhere says so and skips.
set -u
jobs=${1:-2}
if ! command -v nvcc >/dev/null 2>&1; then
    echo "skipped: nvcc is not on this machine, so the CUDA library is not built"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
if ! cmake --preset cuda || ! cmake --build --preset cuda --parallel "$jobs"; then
    echo "FAIL the CUDA library does not build"
    echo "0 passed, 1 failed"
    exit 1
fi
log=build/cuda/no_gpu_tests.log
: >"$log"
for test in test_no_gpu test_panels_host test_once_host test_lanes_host test_sums_host test_bounded_host test_constrained_host; do
    echo "== $test"
    "build/cuda/tests/gpu/$test" >build/cuda/one.log 2>&1
    cat build/cuda/one.log
    tail -n 1 build/cuda/one.log | grep -E '^[0-9]+ passed' >>"$log" || echo "0 passed, 1 failed" >>"$log"
done
awk '{p += $1; f += $3} END {printf "%d passed, %d failed\n", p, f; exit f != 0}' "$log"
