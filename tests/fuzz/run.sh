#!/bin/sh
# Fuzzes every reader from its kept corpus, SECONDS of them all together, JOBS at a time; new inputs
# go to BUILD/corpus, what breaks a reader to BUILD/found.  No request for memory may exceed 32 MiB,
# far more than 4 KiB of input can be worth.  Ends with `N passed, N failed`.
#
#     tests/fuzz/run.sh BUILD SECONDS [JOBS]
set -u
build=$1
seconds=$2
jobs=${3:-2}
here=$(cd "$(dirname "$0")" && pwd)
targets=$(sed -n 's/^    X(\([a-z_]*\)).*/\1/p' "$here/targets.h")
each=$((seconds / $(echo "$targets" | wc -w)))
[ "$each" -ge 1 ] || each=1
mkdir -p "$build/found"

for name in $targets; do
    mkdir -p "$build/corpus/$name"
    echo "$name"
done | xargs -P "$jobs" -I NAME sh -c '
    "$1/tests/fuzz/fuzz_NAME" -max_total_time="$2" -max_len=4096 -timeout=10 -malloc_limit_mb=32 \
        -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$1/found/NAME-" \
        "$1/corpus/NAME" "$3/corpus/NAME" >"$1/NAME.log" 2>&1
    echo $? >"$1/NAME.status"' sh "$build" "$each" "$here"

passed=0
failed=0
for name in $targets; do
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$name.log")
    coverage=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$build/$name.log" | tail -n 1)
    if [ "$(cat "$build/$name.status")" = 0 ] && [ "${runs:-0}" -gt 0 ]; then
        passed=$((passed + 1))
        echo "ok      $name: $runs inputs in $each s, $coverage branches"
    else
        failed=$((failed + 1))
        echo "FAILED  $name: see $build/$name.log and $build/found/$name-*"
        tail -n 40 "$build/$name.log" | sed 's/^/        /'
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
