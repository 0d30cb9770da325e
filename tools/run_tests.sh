#!/bin/sh
# Runs the tests of build/PRESET by ctest and ends with `N passed, N failed[, N skipped]`, counted by
# tools/count_tests.awk from what each test program reported.  The whole output is kept in
# build/PRESET/tests.log.
#
#     tools/run_tests.sh PRESET [JOBS]
set -eu
preset=$1
jobs=${2:-2}
log=build/$preset/tests.log

# The last line carries ctest's own verdict past the pipe.
{
    status=0
    ctest --preset "$preset" --parallel "$jobs" --verbose 2>&1 || status=$?
    echo "ctest exit status $status"
} | tee "$log" | awk -v logfile="$log" -f tools/count_tests.awk
