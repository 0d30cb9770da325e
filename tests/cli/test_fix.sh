# gibbsite sample and info --fix: the law given some sites, known in closed form.  Statistics have
# fixed seeds and bounds of 5 Monte Carlo standard errors.
. "$(dirname "$0")/lib.sh"

vector() { # NAME VALUES...
    name=$1
    shift
    printf '%%%%MatrixMarket matrix array real general\n%d 1\n' $# >"$name"
    printf '%s\n' "$@" >>"$name"
}

# AR(1), phi = 0.6, stationary variance 1 / 0.64: given x[2] = 3, the neighbours have mean 1.8 and
# variance 1, those behind them mean 1.08 and variance 1.36.
test_law() {
    code 0 gibbsite make ar1 -n 5 --phi 0.6 -o q.mtx
    vector at.mtx nan nan 3 nan nan
    for options in "" "--method exact" "--dtype f32" "--order symmetric --omega 1.2" "--stream torch-cpu"; do
        # shellcheck disable=SC2086
        code 0 gibbsite sample -Q q.mtx --fix at.mtx --seed 4 --draws 10000 --json $options
        for row in "1 1.08 1.36" "2 1.8 1" "4 1.8 1" "5 1.08 1.36"; do
            # shellcheck disable=SC2086
            set -- $row
            near "mean of x[$(($1 - 1))]${options:+, $options}" "$(json out mean $1)" "$2" \
                "$(json out mcse_mean $1 | awk '{ print 5 * $1 }')"
            near "sd of x[$(($1 - 1))]" "$(json out sd $1)" "$(echo "$3" | awk '{ printf "%.17g", sqrt($1) }')" \
                "$(json out mcse_sd $1 | awk '{ print 5 * $1 }')"
        done
        near "mean of the fixed site" "$(json out mean 3)" 3 0
        near "its sd" "$(json out sd 3)" 0 0
    done
}

# The mean form and the information form b = Q mu of one law: exact draws differ by rounding.
test_location_forms() {
    code 0 gibbsite make ar1 -n 3 --phi 0.5 -o q.mtx
    vector mu.mtx 1 2 -1
    vector b.mtx 0 3 -2 # Q = [1 -0.5 0; -0.5 1.25 -0.5; 0 -0.5 1]
    vector at.mtx nan 4 nan
    code 0 gibbsite sample -Q q.mtx --mean mu.mtx --fix at.mtx --seed 1 --method exact --draws 400 --json
    cp out mean.json
    code 0 gibbsite sample -Q q.mtx --info b.mtx --fix at.mtx --seed 1 --method exact --draws 400 --json
    for k in 1 2 3; do
        near "mean of x[$((k - 1))]" "$(json out mean $k)" "$(json mean.json mean $k)" 1e-13
    done
    # x[0] given x[1] = 4: 1 + 0.5 (4 - 2) = 2, x[2]: -1 + 0.5 (4 - 2) = 0, both with variance 1
    near "x[0] given x[1]" "$(json mean.json mean 1)" 2 "$(json mean.json mcse_mean 1 | awk '{ print 5 * $1 }')"
    near "x[2] given x[1]" "$(json mean.json mean 3)" 0 "$(json mean.json mcse_mean 3 | awk '{ print 5 * $1 }')"
}

test_files_and_record() {
    code 0 gibbsite make ar1 -n 4 --phi 0.5 -o q.mtx
    vector at.mtx 1.5 nan nan -2
    echo 3ff8000000000000 7ff8000000000000 7ff8000000000000 c000000000000000 | npy "4," at.npy
    code 0 gibbsite sample -Q q.mtx --fix at.mtx --seed 1 --draws 20 -o a.npy
    code 0 gibbsite sample -Q q.mtx --fix at.npy --seed 1 --draws 20 -o b.npy --isa scalar
    same a.npy b.npy
    [ "$(words a.npy | awk 'NR % 4 == 1' | sort -u)" = 3ff8000000000000 ] || fail "x[0] is not held"
    [ "$(words a.npy | awk 'NR % 4 == 0' | sort -u)" = c000000000000000 ] || fail "x[3] is not held"
    code 0 gibbsite sample -Q q.mtx --fix at.mtx --seed 1 --draws 20 --json -o a.nc --checkpoint ck
    says out "--fix at.mtx"
    code 0 gibbsite sample -Q q.mtx --fix at.mtx --resume ck --draws 5 -o c.npy
    code 3 gibbsite sample -Q q.mtx --resume ck --draws 5 -o c.npy
    says err "ck: its set of fixed sites is another one: the sampler has none"
    code 0 gibbsite summary a.nc
    says out "warning: all draws are equal, R-hat and ESS are undefined: x[0], x[3]"
}

# The pairwise differences of a graph are no law until a site is fixed.
test_intrinsic() {
    code 0 gibbsite make icar --graph "$here/small.graph" -o q.mtx
    code 3 gibbsite sample -Q q.mtx --seed 1
    vector at.mtx 0 nan nan nan nan nan
    code 0 gibbsite sample -Q q.mtx --fix at.mtx --seed 1 --method exact --draws 100
    code 0 gibbsite info -Q q.mtx --fix at.mtx
    says out "tau_max"
}

# info speaks of what is left: the site with precision 1000 is not part of it.
test_info_of_the_rest() {
    printf '1000,-1,0,0\n-1,2,-1,0\n0,-1,2,0\n0,0,0,2\n' >q.csv
    vector at.mtx 1 nan nan nan
    code 0 gibbsite info -Q q.csv --fix at.mtx
    says out "eigenvalues   1 ... 3 of the precision"
    says out "tau_max       2 sweeps"
    # What is counted is theirs too: 3 sites, (3 x 2 + 20 x 3) tau_max and 3 x 2 / 2 + 24 x 3.
    says out "size          4 x 4, 1 site fixed, precision of the others with 5 nonzeros (55.6 %)"
    says out "multiply-adds per effective draw 132 by gibbs, 75 by exact"
    code 0 gibbsite info -Q q.csv --fix at.mtx --json
    [ "$(json out fixed)" = 1 ] && [ "$(json out nonzeros)" = 5 ] || fail "fixed and nonzeros: $(cat out)"
}

# Nothing is left to sample: said by info, and of draws and moments alike that nothing moves.
test_all_fixed() {
    code 0 gibbsite make ar1 -n 3 --phi 0.5 -o q.mtx
    vector at.mtx 1 2 3
    code 0 gibbsite info -Q q.mtx --fix at.mtx
    says out "size          3 x 3, all sites fixed: nothing is left to sample"
    says_not out tau_max
    code 0 gibbsite info -Q q.mtx --fix at.mtx --json
    for key in eigenvalue_min tau_max gibbs_rate gibbs advice; do
        [ "$(json out $key)" = null ] || fail "$key: expected null, got $(json out $key)"
    done
    says out '"verdict": "fine"' # as sample --dtype f32 takes it
    for options in "" "--moments-only" "--moments-only --dtype f32"; do
        # shellcheck disable=SC2086
        code 0 gibbsite sample -Q q.mtx --fix at.mtx --seed 1 $options
        says out "warning: all draws are equal, R-hat and ESS are undefined: x[0], x[1], x[2]"
    done
}

test_refused() {
    code 0 gibbsite make ar1 -n 4 --phi 0.5 -o q.mtx
    vector short.mtx 1 nan nan
    code 3 gibbsite sample -Q q.mtx --fix short.mtx --seed 1
    says err "short.mtx: has shape (3, 1), a vector of 4 is needed"
    vector inf.mtx 1 nan inf nan
    code 3 gibbsite sample -Q q.mtx --fix inf.mtx --seed 1
    says err "inf.mtx: fixed: site 2 is inf; a finite number is needed, or NaN for a free site"
    code 4 gibbsite sample -Q q.mtx --fix nowhere --seed 1
    says err "nowhere: cannot be opened"
    code 2 gibbsite sample -Q q.mtx --fix short.mtx --seed 1 -o short.mtx --format npy
    says err "-o: 'short.mtx' is an input of this run"
}

run_tests
