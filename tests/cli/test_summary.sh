# gibbsite summary: tables by expected output, undefined figures, --check, nested R-hat, bad files.
. "$(dirname "$0")/lib.sh"

ring_draws() { # OPTIONS...: draws.nc of the small model
    code 0 gibbsite make car --graph "$here/small.graph" --rho 0.9 -o q.mtx
    code 0 gibbsite sample -Q q.mtx --seed 1 -o draws.nc "$@"
}

one=3ff0000000000000
two=4000000000000000
three=4008000000000000
four=4010000000000000

repeat() { # WORD TIMES
    awk -v word="$1" -v n="$2" 'BEGIN { for (k = 0; k < n; k++) print word }'
}

# Words of n different doubles 1.xx, in no order.
scatter() { # N START
    awk -v n="$1" -v s="$2" 'BEGIN { for (k = 0; k < n; k++) {
        s = (s * 7621 + 1) % 32768
        printf "3ff%04x000000000\n", s } }'
}

test_table() {
    ring_draws --draws 500
    code 0 gibbsite summary draws.nc --superchains 2
    same out "$here/expected/summary_ring.txt"
    # sample's own summary is the same table without the last column.
    code 0 gibbsite summary draws.nc
    same out "$here/expected/sample_ring.txt"
}

# C68: chains (1, 1.1, 1.4, 1.3) and (1, 2, 3, 4).
test_known_rhat() {
    echo $one 3ff199999999999a 3ff6666666666666 3ff4cccccccccccd $one $two $three $four |
        npy "2, 4, 1" x.npy
    code 0 gibbsite summary x.npy --json
    near rhat "$(json out rhat)" 2.639887898167294 1e-12
    near mean "$(json out mean)" 1.85 1e-15
}

# C64: all draws equal.
test_constant() {
    repeat $three 4000 | npy "4, 1000, 1" x.npy
    code 0 gibbsite summary x.npy
    says out "warning: all draws are equal, R-hat and ESS are undefined: x[0]"
    says out "worst: R-hat undefined, bulk ESS undefined, tail ESS undefined"
    code 1 gibbsite summary x.npy --check
    code 0 gibbsite summary x.npy --json
    for key in rhat ess_bulk ess_tail; do
        [ "$(json out $key)" = null ] || fail "$key: expected null, got $(json out $key)"
    done
    near sd "$(json out sd)" 0 0
    says out '"constant"'
}

# C68: every chain constant, but not all equal.
test_chains_constant() {
    { repeat 0000000000000000 100 && repeat $one 100; } | npy "2, 100, 1" x.npy
    code 0 gibbsite summary x.npy
    says out " inf"
    says out "warning: no chain moves and they stand apart, R-hat is infinite: x[0]"
    code 1 gibbsite summary x.npy --check
    code 0 gibbsite summary x.npy --json
    says out '"rhat": null'
    says out '"chains_constant"'
}

# C64: one constant chain among moving ones is computed as usual, and named.
test_chain_constant() {
    { scatter 100 1 && repeat $one 100 && scatter 100 3; } | npy "3, 100, 1" x.npy
    code 0 gibbsite summary x.npy
    says out "warning: chain 1 does not move: x[0]"
    says_not out "R-hat undefined"
}

# A chain that moved and then stopped.
test_chain_stuck() {
    { scatter 100 1 && scatter 40 2 && repeat $one 60; } | npy "2, 100, 1" x.npy
    code 0 gibbsite summary x.npy
    says out "warning: chain 1 has stopped moving, its last draws are all equal: x[0]"
    code 0 gibbsite summary x.npy --json
    says out '"chain_stuck"'
    says out '"stuck_chain": 1'
}

# Two notes about two chains.
test_stuck_and_copied() {
    { scatter 100 1 && scatter 40 2 && repeat $one 60 && scatter 100 1; } | npy "3, 100, 1" x.npy
    code 0 gibbsite summary x.npy
    says out "warning: chain 1 has stopped moving, its last draws are all equal: x[0]"
    says out "warning: chain 2 repeats the draws of another chain: x[0]"
    code 0 gibbsite summary x.npy --json
    says out '"stuck_chain": 1'
    says out '"identical_chain": 2'
}

test_threads() {
    scatter 12000 7 | npy "4, 100, 30" x.npy
    code 0 gibbsite summary x.npy --threads 1
    mv out one
    code 0 gibbsite summary x.npy --threads 3
    cmp one out || fail "three threads print something else than one"
    code 0 gibbsite summary x.npy --threads 0
    cmp one out || fail "a thread a processor prints something else than one"
    code 2 gibbsite summary x.npy --threads -1
    says err "--threads"
}

# C71: NaN and infinity out, with a count.
test_not_finite() {
    { scatter 199 1 && echo 7ff8000000000000; } | npy "2, 100, 1" x.npy
    code 0 gibbsite summary x.npy
    says out "warning: NaN or infinite draws, nothing can be said: x[0]"
    code 1 gibbsite summary x.npy --check
    { scatter 198 1 && echo 7ff0000000000000 fff0000000000000; } | npy "2, 100, 1" x.npy
    code 0 gibbsite summary x.npy --json
    says out '"mean": null'
    says out '"not_finite": 2'
}

# Squares of 1e200 are beyond a double: the figures stand, the trace does not, and it is said why.
test_trace_overflows() {
    scatter 200 1 | sed 's/^3ff/697/' | npy "2, 100, 1" x.npy # 2^664 times 1.xx
    code 0 gibbsite summary x.npy
    says out "trace: mean -, mcse -"
    says out "warning: the trace is beyond double's range: squares of the draws overflow"
    says_not out "NaN or infinite"
    scatter 200 1 | npy "2, 100, 1" x.npy
    code 0 gibbsite summary x.npy
    says_not out "beyond double's range"
}

# C56: copies of one chain are told from good mixing.
test_chains_identical() {
    { scatter 100 5 && scatter 100 6 && scatter 100 5; } | npy "3, 100, 1" x.npy
    code 0 gibbsite summary x.npy
    says out "warning: chain 2 repeats the draws of another chain: x[0]"
    # However wide the limits.
    code 1 gibbsite summary x.npy --check --rhat 100 --ess 0
    says out "check: failed, a chain repeats the draws of another, for 1 of 1 variable: x[0]"
    says_not out "R-hat > 100"
    code 1 gibbsite summary x.npy --check --rhat 100 --ess 0 --json
    says out '"passed": false'
    says out '"chains_identical": ['
}

# C66: one chain is not constant, and is said once whatever the number of variables.
test_one_chain() {
    scatter 4000 9 | npy "1, 400, 10" x.npy
    code 0 gibbsite summary x.npy
    [ "$(grep -c "one chain, so R-hat compares its two halves" out)" = 1 ] || fail "not said once"
    says_not out "undefined"
}

test_too_short() {
    scatter 12 9 | npy "4, 3, 1" x.npy
    code 0 gibbsite summary x.npy
    says out "warning: fewer than 4 draws a chain, R-hat and ESS are undefined: x[0]"
    code 1 gibbsite summary x.npy --check
    for draws in 4 5; do # enough for R-hat
        scatter $((4 * draws)) 9 | npy "4, $draws, 1" x.npy
        code 0 gibbsite summary x.npy
        says out "warning: fewer than 6 draws a chain, ESS is undefined: x[0]"
        code 0 gibbsite summary x.npy --json
        [ "$(json out rhat)" != null ] || fail "R-hat of $draws draws is null"
        [ "$(json out ess_bulk)" = null ] || fail "ESS of $draws draws: $(json out ess_bulk)"
    done
    scatter 24 9 | npy "4, 6, 1" x.npy
    code 0 gibbsite summary x.npy
    says_not out "fewer than"
}

# Two values, each half of the time: all distances from the mean are equal.
test_tied() {
    repeat "$one $two $two $one $one $two $one $two" 50 | npy "4, 100, 1" x.npy
    code 0 gibbsite summary x.npy
    says out "warning: too many draws are equal, tail ESS, R-hat or mcse_sd is undefined: x[0]"
    code 0 gibbsite summary x.npy --json
    says out '"tied"'
}

# A warning is one line for all variables it concerns.
test_warnings_are_grouped() {
    repeat $one 2000 | npy "4, 20, 25" x.npy
    code 0 gibbsite summary x.npy
    [ "$(grep -c '^warning' out)" = 1 ] || fail "$(grep -c '^warning' out) warnings"
    says out "x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7] and 17 more"
}

test_check() {
    ring_draws --method exact --draws 1000
    code 0 gibbsite summary draws.nc --check
    says out "check: passed, R-hat <= 1.01 and bulk and tail ESS >= 400 for all 6 variables"
    code 0 gibbsite make ar1 -n 1 --phi 0.5 -o one.mtx
    code 0 gibbsite sample -Q one.mtx --seed 1 -o one.nc
    code 0 gibbsite summary one.nc --check
    says out "ESS >= 400 for the 1 variable"
    code 1 gibbsite summary draws.nc --check --ess 100000
    says out "check: failed"
    says out "6 of 6 variables: x[0], x[1], x[2], x[3], x[4], x[5]"
    code 1 gibbsite summary draws.nc --check --rhat 0.5
    ring_draws --draws 500
    code 1 gibbsite summary draws.nc --check --json
    says out '"passed": false'
    code 0 gibbsite summary draws.nc --check --rhat 1.1 --ess 100
    code 0 gibbsite summary draws.nc --json
    says_not out '"check"'
}

# Nested R-hat with one draw per chain and superchains (1, 2) and (3, 4): means 1.5 and 3.5,
# B = 2, within each superchain the variance 0.5 between its chains, W = 0 for one draw: W = 0.5,
# sqrt(1 + B / W) = sqrt 5.
test_superchains() {
    echo $one $two $three $four | npy "4, 1, 1" x.npy
    code 0 gibbsite summary x.npy --superchains 2 --json
    near rhat_nested "$(json out rhat_nested)" 2.23606797749979 1e-14
    code 2 gibbsite summary x.npy --superchains 3
    says err "--superchains: 4 chains cannot be split into 3 of equal size"
    head -c 8 /dev/zero | od -An -v -t x8 | npy "1, 1, 1" one.npy
    code 2 gibbsite summary one.npy --superchains 3
    says err "--superchains: 1 chain cannot be split into 3 of equal size"
    code 0 gibbsite summary x.npy --json
    says_not out rhat_nested
}

test_two_axes_are_one_variable() {
    scatter 400 2 | npy "4, 100" x.npy
    code 0 gibbsite summary x.npy --json
    [ "$(json out chains) $(json out draws)" = "4 100" ] || fail "not 4 chains of 100"
}

test_bad_files() {
    ring_draws --draws 50
    code 4 gibbsite summary missing.nc
    says err "missing.nc: cannot be opened"
    code 4 gibbsite summary .
    for bytes in 0 7 100 2000; do
        head -c $bytes draws.nc >cut.nc
        code 3 gibbsite summary cut.nc
        says err "cut.nc"
    done
    echo "neither one nor the other" >text.nc
    code 3 gibbsite summary text.nc
    code 3 gibbsite summary q.mtx
    scatter 30 1 | npy "1, 31, 1" short.npy
    code 3 gibbsite summary short.npy
    says err "short.npy"
    scatter 16 1 | npy "2, 2, 2, 2" four.npy
    code 3 gibbsite summary four.npy
    printf '\223NUMPY\001\000\166\000%-117s\n' \
        "{'descr': '|O', 'fortran_order': False, 'shape': (1, 4), }" >object.npy
    code 3 gibbsite summary object.npy
}

# A file by other hands, with labels and scalars; not part of the project.
test_arviz_example() {
    file=$here/../../../shared/data/netcdf/centered_eight.nc
    [ -f "$file" ] || skip "the example file centered_eight.nc is not here"
    code 0 gibbsite summary "$file"
    says out "theta[Phillips Andover]"
    says out "tau "
    code 1 gibbsite summary "$file" --check
}

stan_csv() { # FILE CHAIN FIRST LAST: draws of x.1 = 1, 2, ... and x.2 = 1 / x.1, behind two of warm-up
    {
        printf '# method = sample (Default)\n#     num_samples = 200\n#     num_warmup = 4\n'
        printf '#     save_warmup = true\n#     thin = 2\n# id = %d\n' "$2"
        printf 'lp__,x.1,x.2,stepsize__\n-1,nan,nan,1\n-1,nan,nan,1\n# Adaptation terminated\n'
        awk -v a="$3" -v z="$4" 'BEGIN { for (k = a; k <= z; k++) printf "-0.5,%d,%.17g,0.9\n", k * 7919 % 101, 1 / k }'
        printf '#\n#  Elapsed Time: 0.1 seconds (Sampling)\n'
    } >"$1"
}

# Files of CmdStan are the chains of one run; warm-up and the sampler's own columns are left out.
test_cmdstan() {
    stan_csv one.csv 1 1 100
    stan_csv two.csv 2 101 200
    code 0 gibbsite summary one.csv two.csv --json
    [ "$(json out chains)" = 2 ] || fail "chains: expected 2, got $(json out chains)"
    [ "$(json out draws)" = 100 ] || fail "draws: expected 100, got $(json out draws)"
    says out '"x[1]"'
    says_not out lp__
    # sum of 1/k for k to 200, over 200; 200 roundings of at most 2^-53 each
    near mean "$(json out mean 2)" 0.029390154740607223 1e-14
    [ ! -s err ] || fail "notices: $(cat err)"
    code 0 gibbsite summary one.csv
    says out "one chain, so R-hat compares its two halves"
    # An .npy file of both chains gives the same table but for the names.
    code 0 gibbsite summary one.csv two.csv
    sed '1,3d' out >wanted
    code 0 gibbsite summary two.csv one.csv
    sed '1,3d' out >got
    [ -s got ] || fail "no table"
    sed '50,60d' one.csv >short.csv
    code 0 gibbsite summary short.csv
    says err "warning: short.csv: holds"
    code 3 gibbsite summary one.csv short.csv
    says err "draws, one.csv has 100"
    printf 'x.1,y\n1,2\n' >other.csv
    code 3 gibbsite summary other.csv one.csv
    says err "one.csv: has 100 draws, other.csv has 1"
    head -c 2000 one.csv >cut.csv
    code 3 gibbsite summary cut.csv
    says err "the file ends within this line"
}

# Files of any format can be put together.
test_several_files() {
    ring_draws --draws 50 --chains 4
    code 0 gibbsite summary draws.nc draws.nc --json
    [ "$(json out chains)" = 8 ] || fail "chains: expected 8, got $(json out chains)"
    says out '"chains_identical"'
    says out '"files": ['
    code 0 gibbsite sample -Q q.mtx --seed 1 --draws 50 -o draws.npy
    code 0 gibbsite sample -Q q.mtx --seed 2 --draws 50 --chains 1 -o one.nc
    code 0 gibbsite sample -Q q.mtx --seed 2 --draws 50 --chains 1 --warmup 5 -o same.nc
    code 0 gibbsite summary one.nc draws.nc
    says err "draws.nc: is of another run than one.nc (seed 1, 4 chains; there seed 2, 1 chain)"
    code 0 gibbsite summary one.nc same.nc
    says err "same.nc: is of another run than one.nc (here --warmup 5, there --warmup 1000)"
    code 0 gibbsite sample -Q q.mtx --seed 2 --draws 50 --chains 1 --method exact -o 'e x.nc'
    code 0 gibbsite summary one.nc 'e x.nc'
    says err "one.nc (here --method exact, there --method gibbs --warmup 1000 --thin 1 --order forward --omega 1 --init overdispersed)"
    printf '0\n0\n0\n0\n0\n0\n' >'a -- b.csv'
    code 0 gibbsite sample -Q q.mtx --seed 2 --draws 50 --chains 1 --init 'a -- b.csv' --overrelax .5 -o init.nc
    code 0 gibbsite summary one.nc init.nc
    says err "one.nc (here --overrelax 0.5 --init 'a -- b.csv', there --init overdispersed)"
    code 0 gibbsite sample -Q q.mtx --seed 2 --draws 50 --chains 1 --save-warmup -o more.nc
    code 0 gibbsite summary one.nc more.nc
    says err "one.nc (here --save-warmup, there without)"
    mkdir csv
    code 0 gibbsite sample -Q q.mtx --seed 2 --draws 50 --chains 1 -o csv/one.csv
    code 0 gibbsite sample -Q q.mtx --seed 2 --draws 50 --chains 1 --warmup 5 -o csv/same.csv
    code 0 gibbsite summary csv/one.csv csv/same.csv
    says err "same.csv: is of another run than csv/one.csv (seed 2, 1 chain as there, but not all options)"
    code 0 gibbsite summary draws.nc draws.npy --json
    [ "$(json out chains)" = 8 ] || fail "chains: expected 8, got $(json out chains)"
    code 4 gibbsite summary draws.nc missing.nc
    says err "missing.nc: cannot be opened"
}

# A run in three pieces, each gone on from the one before, has the summary of the whole, whatever the
# order of the files; a piece that lacks the one before it is not put behind another.
test_pieces_of_a_run() {
    ring_draws --draws 100
    for format in nc csv; do
        code 0 gibbsite sample -Q q.mtx --seed 1 --draws 30 -o a.$format --checkpoint ck
        code 0 gibbsite sample -Q q.mtx --resume ck --checkpoint ck --draws 50 -o b.$format
        code 0 gibbsite sample -Q q.mtx --resume ck --draws 20 -o c.$format
        code 0 gibbsite sample -Q q.mtx --seed 1 --draws 100 -o whole.$format
        code 0 gibbsite summary whole*.$format
        cp out wanted
        for order in "a b c" "c a b"; do
            files=
            for part in $order; do files="$files $(ls $part.$format $part[_.]?.$format 2>/dev/null | sort -u)"; done
            # shellcheck disable=SC2086
            code 0 gibbsite summary $files
            same out wanted
            [ ! -s err ] || fail "notices: $(cat err)"
        done
        # shellcheck disable=SC2046
        code 0 gibbsite summary $(ls b*.$format c*.$format) --json
        [ "$(json out draws)" = 70 ] || fail "draws: expected 70, got $(json out draws)"
        # shellcheck disable=SC2046
        code 3 gibbsite summary $(ls a*.$format c*.$format)
        says err "has 20 draws, a"
        code 0 gibbsite sample -Q q.mtx --seed 1 --draws 20 -o other.$format
        # shellcheck disable=SC2046
        code 3 gibbsite summary $(ls other*.$format a*.$format b*.$format)
        says err "has 20 draws, b" # of which a chain has 80
    done
    echo "  30, 50 and 20 draws in netCDF and CSV: the table of 100"
}

run_tests
