#!/bin/sh
# The main job on a real map: a conditional autoregression over the borders of the 48 contiguous US
# states, sampled, written for ArviZ, and summarised.  Each command is printed before it runs.
#
#     tools/demo.sh PROGRAM
set -eu
gibbsite=$1
out=build/demo
mkdir -p "$out"

run() {
    echo
    echo "\$ gibbsite $*"
    "$gibbsite" "$@"
}

run make car --graph examples/data/us_states.graph --rho 0.9 -o $out/states.mtx
run info -Q $out/states.mtx
run sample -Q $out/states.mtx --seed 1 -o $out/states.nc
run summary $out/states.nc
echo
echo "x[0] is Alabama and x[47] is Wyoming: examples/data/us_states.csv lists all 48."
