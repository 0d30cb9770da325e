#!/bin/sh
# Compares with PyTorch and ArviZ: makes .venv with pinned releases, runs every tools/check_*.py
# in it and ends with the sum of their `N passed, N failed[, N skipped]` lines.
#
#     tools/test_python.sh BUILD_FOLDER
set -eu
build=$1
torch=torch==2.13.0
requirements=tools/requirements.txt
log=$build/test_python.log

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
    # A script that dies before it counts has failed once.
    if ! .venv/bin/python "$check" >"$build/check.log" 2>&1 &&
        ! grep -qE '^[0-9]+ passed, [1-9][0-9]* failed' "$build/check.log"; then
        echo "0 passed, 1 failed" >>"$build/check.log"
    fi
    cat "$build/check.log"
    cat "$build/check.log" >>"$log"
done
awk -f tools/sum_counts.awk "$log"
