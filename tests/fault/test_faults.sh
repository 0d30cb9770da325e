# Memory and disks that fail: for every k of a short run, the k-th request for memory or the k-th
# step of writing is refused (inject.c).  The program must then end by itself, with exit code 4 and
# a message, everything it took given back, the older output as it was and nothing beside it; or, if
# it can do without, with code 0 and all that it would otherwise have written.
#
#     sh test_faults.sh PROGRAM INJECT.so
inject=$2
. "$(dirname "$0")/../cli/lib.sh"

# faulty KIND:K COMMAND...: one run, its exit code in $status, "COUNT LOST" in ./report.
faulty() {
    fault=$1
    shift
    status=0
    GBS_FAULT=$fault GBS_REPORT=report LD_PRELOAD=$inject "$program" "$@" >out 2>err || status=$?
}

# An undamaged run for comparison, then one for every k.  OUTPUT is the file that the command
# writes, "-" for none.
every() { # KIND OUTPUT COMMAND...
    kind=$1
    output=$2
    shift 2
    ls -A >before
    faulty "$kind:-1" "$@"
    [ "$status" = 0 ] || fail "gibbsite $*: exit code $status undisturbed: $(cat err)"
    read -r count lost <report
    [ "$count" -gt 0 ] || fail "gibbsite $*: nothing was counted"
    [ "$lost" = 0 ] || fail "gibbsite $*: $lost blocks lost undisturbed"
    cp out wanted_out
    [ "$output" = - ] || mv "$output" wanted_output
    refused=0
    k=0
    while [ "$k" -lt "$count" ]; do
        [ "$output" = - ] || echo older >"$output"
        faulty "$kind:$k" "$@"
        one "$kind $k of $count: gibbsite $*"
        k=$((k + 1))
    done
    [ "$refused" -gt 0 ] || fail "gibbsite $*: no fault was noticed"
    [ "$output" = - ] || rm "$output"
    rm -f report out err wanted_out wanted_output
    echo "  $kind: $count faults, $refused exit 4, $((count - refused)) done without: $1 $output"
}

# The output is complete, and only what follows it could not be written.
is_late() {
    grep -q -e "standard output could not be written" -e "^gibbsite: run.ckpt" err &&
        cmp -s "$output" wanted_output
}

one() { # WHAT
    if [ "$status" != 4 ] && [ "$status" != 0 ]; then
        fail "$1: exit code $status: $(tail -n 1 err)"
    fi
    if [ "$status" = 4 ]; then
        refused=$((refused + 1))
        [ -s err ] || fail "$1: no message"
        [ "$output" = - ] || [ "$(cat "$output")" = older ] || is_late || fail "$1: the older file is gone"
    else
        cmp -s out wanted_out || fail "$1: exit code 0 and another output"
        [ "$output" = - ] || cmp -s "$output" wanted_output || fail "$1: exit code 0 and another file"
    fi
    read -r _ lost <report
    [ "$lost" = 0 ] || fail "$1: exit code $status, $lost blocks lost"
    if [ -n "$(ls -A | grep '^\.gibbsite')" ]; then
        fail "$1: left behind: $(ls -A | grep '^\.gibbsite')"
    fi
}

inputs() {
    printf '"","a","b"\n"a",2,-1\n"b",-1,3\n' >q.csv
    printf 'a,0.5\nb,1\n' >mu.csv
    code 0 gibbsite make ar1 -n 3 --phi 0.5 -o q.mtx
    code 0 gibbsite make ar1 -n 1 --phi 0.5 -o one.mtx
    run="--seed 1 --chains 2 --warmup 3 --draws 9 --threads 1"
}

# No library but libc below these: every request of the process may fail.
test_memory() {
    inputs
    every all q.out make car --graph "$here/../cli/small.graph" --rho 0.9 -o q.out
    every all q.out make random -n 4 --cond 10 --seed 1 -o q.out
    every all - info -Q q.csv
    every all - info -Q one.mtx --covariance --json
    printf '3,-1,-1\n-1,3,-1\n-1,-1,3\n' >full.csv # its Gibbs rate takes LAPACK
    every all - info -Q full.csv
    # shellcheck disable=SC2086
    every all x.npy sample -Q q.csv --mean mu.csv $run -o x.npy
    printf 'a,0\nb,NA\n' >fixed.csv
    # shellcheck disable=SC2086
    every all x.npy sample -Q q.csv --fix fixed.csv $run -o x.npy
    printf '1,1\n1,-1\n' >rows.csv
    printf '0,0\n' >inside.csv
    # shellcheck disable=SC2086
    every all x.npy sample -Q q.csv --rows rows.csv --row-lower -1 --row-upper 9 --init inside.csv $run -o x.npy
    # shellcheck disable=SC2086
    every all x.npy sample -Q q.csv --rows rows.csv --row-lower -1 --init inside.csv --method whitened $run -o x.npy
    # shellcheck disable=SC2086
    every all - sample -Q one.mtx $run --json
    # shellcheck disable=SC2086
    every all x.npy sample -Q q.mtx $run --stream torch-cpu --dtype f32 --order symmetric -o x.npy
    # shellcheck disable=SC2086
    code 0 gibbsite sample -Q q.mtx $run -o draws.npy
    # shellcheck disable=SC2086
    every all x.npy sample -Q q.mtx $run --checkpoint run.ckpt --every 5 -o x.npy
    every all x.npy sample -Q q.mtx --resume run.ckpt --draws 4 --threads 1 -o x.npy
    # shellcheck disable=SC2086
    every all x_1.csv sample -Q q.csv $run --save-warmup -o x.csv
    every all - summary draws.npy draws.npy --superchains 2
    printf 'x\n1\n3\n2\n6\n' >draws.csv
    every all - summary draws.csv --json
}

# netCDF and HDF5 do not survive every refusal themselves: here the program's own may fail.
test_memory_with_netcdf() {
    inputs
    # shellcheck disable=SC2086
    every own x.nc sample -Q q.csv --mean mu.csv $run -o x.nc
    # shellcheck disable=SC2086
    every own m.nc sample -Q q.csv $run --moments-only -o m.nc
    # shellcheck disable=SC2086
    code 0 gibbsite sample -Q q.csv $run -o draws.nc
    every own - summary draws.nc
}

test_writing() {
    inputs
    every write q.out make ar1 -n 300 --phi 0.5 -o q.out
    for output in x.npy x.nc; do
        # shellcheck disable=SC2086
        every write $output sample -Q q.csv $run -o $output
    done
    # shellcheck disable=SC2086
    every write x_1.csv sample -Q q.csv $run -o x.csv
    # shellcheck disable=SC2086
    every write m.nc sample -Q q.csv $run --moments-only -o m.nc
    # shellcheck disable=SC2086
    every write x.nc sample -Q q.csv $run --save-warmup -o x.nc
    # shellcheck disable=SC2086
    every write x.npy sample -Q q.csv $run --checkpoint run.ckpt --every 5 -o x.npy
    every write - info -Q q.mtx
    every write - make ar1 -n 300 --phi 0.5 -o -
}

run_tests
