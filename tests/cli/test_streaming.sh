# gibbsite sample --moments-only and --save-warmup, and memory that does not grow with the draws.
. "$(dirname "$0")/lib.sh"

model() {
    code 0 gibbsite make ar1 -n 4 --phi 0.6 -o q.mtx
}

# The columns that moments can give are those of the draws: mean and sd to the digits printed, and
# nested R-hat; what needs draws is a dash.
test_moments_against_draws() {
    model
    options="--seed 1 --chains 6 --draws 500"
    for dtype in f32 f64; do
        # shellcheck disable=SC2086
        code 0 gibbsite sample -Q q.mtx $options --dtype $dtype -o draws.nc
        # shellcheck disable=SC2086
        code 0 gibbsite sample -Q q.mtx $options --dtype $dtype --moments-only -o moments.nc
        [ ! -s out ] || fail "with -o standard output must stay empty"
        for k in 2 3 6; do
            code 0 gibbsite summary draws.nc --superchains $k
            awk '/^x/ { print $1, $2, $3, $NF }' out >wanted.txt
            code 0 gibbsite summary moments.nc --superchains $k
            awk '/^x/ { print $1, $2, $3, $NF }' out >got.txt
            same got.txt wanted.txt
            [ "$(grep -c '^x.* - *- *- *- *- *- *- ' out)" = 4 ] || fail "7 columns are undefined: $(cat out)"
        done
        code 0 gibbsite summary moments.nc

        awk '/^x/ { print $1, $2, $3, $NF }' out >got.txt
        same got.txt wanted.txt
        says out "worst: nested R-hat"
        # shellcheck disable=SC2086
        cp out of_file
        # shellcheck disable=SC2086
        code 0 gibbsite sample -Q q.mtx $options --dtype $dtype --moments-only
        same out of_file
        echo "  $dtype: mean, sd and nested R-hat of 2, 3 and 6 superchains as from the draws"
    done
}

# mcse_mean is the standard error of the chains' means: two chains of one draw each, by hand.
test_moments_by_hand() {
    model
    code 0 gibbsite sample -Q q.mtx --seed 3 --chains 2 --draws 1 --json -o x.npy
    code 0 gibbsite sample -Q q.mtx --seed 3 --chains 2 --draws 1 --moments-only --json
    near "nested R-hat of single draws" "$(json out rhat | grep -c null)" 1 0
    header=$(od -An -t u2 -j 8 -N 2 x.npy | tr -d ' ')
    tail -c +$((header + 11)) x.npy | od -An -v -t f8 -w8 | tr -d ' ' | awk '{ v[NR] = $1 }
        END { d = v[1] - v[5]; if (d < 0) d = -d; printf "%.17g %.17g\n", (v[1] + v[5]) / 2, d / 2 }' >hand
    near "mean of x[0]" "$(json out mean)" "$(cut -d ' ' -f 1 hand)" 1e-14
    near "mcse of x[0]" "$(json out mcse_mean)" "$(cut -d ' ' -f 2 hand)" 1e-14
    near "sd of x[0]" "$(json out sd)" "$(awk '{ printf "%.17g", $2 * sqrt(2) }' hand)" 1e-14
}

# In pieces, and interrupted: moments go on in the checkpoint.
test_moments_go_on() {
    model
    code 0 gibbsite sample -Q q.mtx --seed 1 --draws 50 --moments-only -o whole.nc
    code 0 gibbsite sample -Q q.mtx --seed 1 --draws 20 --moments-only -o a.nc --checkpoint ck
    code 0 gibbsite sample -Q q.mtx --resume ck --draws 30 -o b.nc --isa scalar
    code 0 gibbsite summary whole.nc
    cp out wanted
    code 0 gibbsite summary b.nc
    same out wanted
    code 0 gibbsite sample -Q q.mtx --resume ck --draws 30
    same out wanted
    code 0 gibbsite sample -Q q.mtx --seed 1 --draws 20 -o d.nc --checkpoint ck
    code 3 gibbsite sample -Q q.mtx --resume ck --draws 30 --moments-only
    says err "ck: is of a run without --moments-only"
    code 5 timeout --preserve-status -s INT 3 "$program" sample -Q q.mtx --seed 1 --warmup 0 \
        --draws 1000000000 --moments-only --keep-partial -o part.nc
    kept=$(sed -n 's/.*part.nc: the \([0-9]*\) draws* so far/\1/p' err)
    code 0 gibbsite sample -Q q.mtx --seed 1 --warmup 0 --draws "$kept" --moments-only
    cp out wanted
    code 0 gibbsite summary part.nc
    same out wanted
    echo "  interrupted after $kept draws: their moments"
}

test_one_chain() {
    model
    code 0 gibbsite sample -Q q.mtx --seed 1 --chains 1 --draws 50 --moments-only
    says out "note: one chain and no draws, so nothing tells whether it has converged"
    says out "worst: nested R-hat undefined"
}

# The warm-up in the file leaves the draws as they are; a warm-up of less than --thin has no draw.
# What is in it, tests/unit/test_netcdf_groups.c and the CSV of test_csv.sh show.
test_warmup_is_kept() {
    model
    options="--seed 2 --chains 3 --thin 3"
    for warmup in 100 2; do
        # shellcheck disable=SC2086
        code 0 gibbsite sample -Q q.mtx $options --warmup $warmup --draws 50 -o plain.nc
        # shellcheck disable=SC2086
        code 0 gibbsite sample -Q q.mtx $options --warmup $warmup --draws 50 --save-warmup -o with.nc
        code 0 gibbsite summary plain.nc
        cp out wanted
        code 0 gibbsite summary with.nc
        same out wanted
    done
}

test_refused() {
    model
    code 2 gibbsite sample -Q q.mtx --moments-only -o x.npy
    says err "--moments-only: one .npy array has no place for it, netCDF has"
    code 0 gibbsite sample -Q q.mtx --moments-only --draws 2 --checkpoint m.ck -o m.nc
    code 2 gibbsite sample -Q q.mtx --resume m.ck --draws 2 -o x.npy
    says err "-o: m.ck is of a run with --moments-only: one .npy array has no place for moments, netCDF has"
    code 2 gibbsite sample -Q q.mtx --save-warmup -o x.npy
    says err "--save-warmup: one .npy array has no place for it, netCDF has"
    code 2 gibbsite sample -Q q.mtx --save-warmup
    says err "--save-warmup: into the file of -o, which is not given"
    code 2 gibbsite sample -Q q.mtx --save-warmup --moments-only -o x.nc
    says err "--save-warmup has no meaning with --moments-only"
    code 2 gibbsite sample -Q q.mtx --save-warmup --method exact -o x.nc
    says err "--save-warmup has no meaning with --method exact"
    code 0 gibbsite sample -Q q.mtx --seed 1 --draws 5 --moments-only -o m.nc
    code 2 gibbsite summary m.nc --check
    says err "--check needs draws, and m.nc holds moments only"
    code 0 gibbsite sample -Q q.mtx --seed 1 --draws 5 -o d.nc
    for files in "m.nc m.nc" "d.nc m.nc"; do
        # shellcheck disable=SC2086
        code 2 gibbsite summary $files
        says err "m.nc holds the moments of a run, not its draws: such a file is summarised by itself"
    done
    code 2 gibbsite summary m.nc --superchains 3
    says err "--superchains: 4 chains cannot be split into 3"
    head -c 2000 m.nc >short.nc
    code 3 gibbsite summary short.nc
    says err "short.nc"
}

# The largest resident size of a run, in kB: the last word of the kernel before it ends.
peak() { # OPTIONS...
    "$program" sample -Q q.mtx --seed 1 --chains 1 --warmup 0 --threads 1 --quiet "$@" 2>err &
    process=$!
    most=0
    while size=$(sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' /proc/$process/status 2>/dev/null) && [ -n "$size" ]; do
        most=$size
        sleep 0.01
    done
    wait $process || fail "the run failed: $(cat err)"
    echo "$most"
}

# A block of 32 MiB, its log densities, and as much again for what HDF5 keeps.
test_memory_does_not_grow() {
    [ -r /proc/self/status ] || skip "no /proc here"
    code 0 gibbsite make ar1 -n 100 --phi 0.5 -o q.mtx
    for format in npy nc; do
        little=$(peak --draws 50000 -o x.$format)
        much=$(peak --draws 200000 -o x.$format)
        bytes=$(wc -c <x.$format)
        echo "  .$format: $little kB for 40 MB of draws, $much kB for $bytes bytes"
        [ "$little" -gt 0 ] || fail "no size could be read"
        [ "$much" -le $((little + 4096)) ] || fail "memory grows with the draws"
        [ "$much" -le 307200 ] || fail "more than 300 MB"
        rm x.$format
    done
}

run_tests
