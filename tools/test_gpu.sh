#!/bin/sh
# Every test that needs a GPU: the CUDA library's own, where torch is its normals and the op, and
# the sanitizers over a short suite.  Several chains of them run at once, since much of their time is
# the CPU's, whose sampler is the oracle; SERIAL=1 runs one after another.  Ends with the sum of what
# they counted.
#
#     tools/test_gpu.sh [BUILD_FOLDER]
set -u
build=${1:-build/cuda}
case $build in
/*) ;;
*) build=$PWD/$build ;;
esac
programs=$build/tests/gpu
logs=$build/gpu_tests
rm -rf "$logs"
mkdir -p "$logs"
: >"$logs/counts"

# run TITLE COMMAND...: the command's last line is its count; without one it has failed.
run() {
    title=$1
    shift
    echo "== $title"
    "$@" >"$logs/$title" 2>&1
    cat "$logs/$title"
    count=$(tail -n 1 "$logs/$title" | grep -E '^[0-9]+ passed') || count="0 passed, 1 failed"
    echo "$count" >>"$logs/counts"
    echo "$title: $count" >&3
}

# sanitize TOOL: the test programs' short suites; only the verdict is shown, and the first words of a bad one.
sanitize() {
    for program in test_gpu_bits test_gpu_launch test_gpu_truncnorm test_gpu_sampler test_gpu_constrained; do
        echo "== compute-sanitizer $1 $program"
        verdict="1 passed, 0 failed"
        if ! compute-sanitizer --tool "$1" --error-exitcode 9 "$programs/$program" --sanitizer >"$logs/$1.$program" 2>&1; then
            verdict="0 passed, 1 failed"
            head -n 60 "$logs/$1.$program"
        fi
        tail -n 3 "$logs/$1.$program"
        echo "$verdict" >>"$logs/counts"
        echo "$1 $program: $verdict" >&3
    done
}

plain() {
    for test in "$@"; do
        run "$test" "$programs/$test"
    done
}

# One chain, as each of these lays out the package anew.
package() {
    if python3 -c 'import numpy' >/dev/null 2>&1; then
        run test_sample_cuda tools/gpu_package.sh "$build" python3 tests/gpu/test_sample_cuda.py
    else
        echo "skipped: NumPy is not on this machine" >&3
    fi
    if ! python3 -c 'import torch; assert torch.cuda.is_available()' >/dev/null 2>&1; then
        echo "skipped: torch with CUDA is not on this machine" >&3
        return
    fi
    run test_torch_noise python3 tests/gpu/test_torch_noise.py "$build/src/backend/cuda/libgibbsite_cuda.so"
    run test_op_cuda tools/gpu_package.sh "$build" python3 tests/gpu/test_op_cuda.py
    run test_truncnorm_cuda tools/gpu_package.sh "$build" python3 tests/gpu/test_truncnorm_cuda.py
    for part in values graphs calls; do
        run "test_op_cuda_$part" tools/gpu_package.sh "$build" python3 "tests/gpu/test_op_cuda_$part.py"
    done
    run test_op_memory tools/gpu_package.sh "$build" python3 tests/gpu/test_op_memory.py "$programs/libfail_cuda_malloc.so"
}

# chain NAME COMMAND...: in the background, its output kept for the end.
chain() {
    name=$1
    shift
    "$@" >"$logs/chain.$name" &
    [ -z "${SERIAL:-}" ] || wait
}

exec 3>&1
chain 1 plain test_no_gpu test_panels_host test_once_host test_lanes_host test_sums_host test_bounded_host test_constrained_host
chain 2 plain test_gpu_roots test_gpu_bits
chain 3 plain test_gpu_affine test_gpu_launch test_gpu_order test_gpu_truncnorm
chain 4 plain test_gpu_sampler
chain 5 plain test_gpu_constrained
chain 6 package
if command -v compute-sanitizer >/dev/null 2>&1; then
    for tool in memcheck racecheck initcheck synccheck; do
        chain "$tool" sanitize "$tool"
    done
else
    echo "skipped: compute-sanitizer is not on this machine"
fi
wait
for name in 1 2 3 4 5 6 memcheck racecheck initcheck synccheck; do
    [ ! -f "$logs/chain.$name" ] || cat "$logs/chain.$name"
done
# with the card's memory to themselves
run test_gpu_launch_memory "$programs/test_gpu_launch" --memory
run test_gpu_sampler_memory "$programs/test_gpu_sampler" --memory
awk '{p += $1; f += $3} END {printf "%d passed, %d failed\n", p, f; exit f != 0}' "$logs/counts"
