#!/bin/sh
# Compares build/release with PyTorch and ArviZ: makes .venv with pinned releases, runs every
# tools/check_*.py in it and ends with the sum of their `N passed, N failed[, N skipped]` lines.
set -eu
torch=torch==2.13.0
requirements=tools/requirements.txt
log=build/release/test_python.log
one=build/release/check.log

# torch comes first and alone, so that nothing else can choose another release of it.
make_environment() {
    rm -rf .venv
    python3 -m venv .venv
    .venv/bin/pip install --quiet "$torch"
    .venv/bin/pip install --quiet --requirement $requirements
    { echo "$torch" && cat $requirements; } >.venv/made_from.txt
}

if ! { echo "$torch" && cat $requirements; } | cmp -s - .venv/made_from.txt; then
    make_environment
fi

: >"$log"
for check in tools/check_*.py; do
    echo "== $check"
    status=0
    .venv/bin/python "$check" >"$one" 2>&1 || status=$?
    # A script that dies before it counts has failed once.
    if ! grep -qE '^[0-9]+ passed, [0-9]+ failed' "$one" ||
        { [ $status -ne 0 ] && ! grep -qE '^[0-9]+ passed, [1-9][0-9]* failed' "$one"; }; then
        echo "0 passed, 1 failed" >>"$one"
    fi
    cat "$one"
    cat "$one" >>"$log"
done
awk -f tools/sum_counts.awk "$log"
