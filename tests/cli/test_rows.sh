# gibbsite sample and info with row constraints, and whitened sweeps: laws known in closed form,
# what is refused, the start that is found, the record.  Statistics have fixed seeds and bounds of 5
# Monte Carlo standard errors.
. "$(dirname "$0")/lib.sh"

matrix() { # NAME ROWS COLUMNS VALUES BY COLUMN...
    name=$1
    shift
    printf '%%%%MatrixMarket matrix array real general\n%d %d\n' "$1" "$2" >"$name"
    shift 2
    printf '%s\n' "$@" >>"$name"
}

# The rotated square: covariance diag(10, 1), -2 <= x0 + x1 <= 2, -2 <= x0 - x1 <= 2.
square() {
    matrix q.mtx 2 2 0.1 0 0 1
    printf '%%%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1\n1 2 1\n2 1 1\n2 2 -1\n' >a.mtx
    matrix zero.mtx 1 2 0 0
}

# Is there a solver here?  Starts are given where there is none.
have_clp() {
    gibbsite info -Q q.mtx --rows a.mtx --row-lower -2 >solver 2>&1 && grep -q "with room" solver
}

test_law() {
    square
    for options in "--method gibbs" "--method whitened" "--method whitened --dtype f32" "--order symmetric"; do
        # shellcheck disable=SC2086
        code 0 gibbsite sample -Q q.mtx --rows a.mtx --row-lower -2 --row-upper 2 --init zero.mtx --seed 7 \
            --draws 20000 --json $options
        for row in "1 .742365305228" "2 .442840693457"; do
            # shellcheck disable=SC2086
            set -- $row
            near "mean of x[$(($1 - 1))], $options" "$(json out mean $1)" 0 \
                "$(json out mcse_mean $1 | awk '{ print 5 * $1 }')"
            near "sd of x[$(($1 - 1))]" "$(json out sd $1)" "$(echo "$2" | awk '{ printf "%.17g", sqrt($1) }')" \
                "$(json out mcse_sd $1 | awk '{ print 5 * $1 }')"
        done
    done
}

# Bounds from a number, a vector and a row are the same run; so are instruction sets and threads.
test_same_bits() {
    square
    matrix low.mtx 2 1 -2 -2
    code 0 gibbsite sample -Q q.mtx --rows a.mtx --row-lower -2 --init zero.mtx --seed 1 --draws 50 -o a.npy
    code 0 gibbsite sample -Q q.mtx --rows a.mtx --row-lower low.mtx --row-upper inf --init zero.mtx --seed 1 \
        --draws 50 -o b.npy --isa scalar --threads 3
    same a.npy b.npy
    code 0 gibbsite sample -Q q.mtx --method whitened --seed 1 --draws 50 -o c.npy
    code 0 gibbsite sample -Q q.mtx --method whitened --seed 1 --draws 50 -o d.npy --isa scalar --threads 2
    same c.npy d.npy
}

test_start() {
    square
    have_clp || skip "no Clp on this machine"
    matrix low.mtx 2 1 1 -9
    code 0 gibbsite sample -Q q.mtx --rows a.mtx --row-lower low.mtx --seed 1 --draws 20 -o a.nc --json
    says err "start inside the constraints:"
    says out '"start": ['
    says out '"init": "inside"'
    says_not out "--init"
    # overdispersed is that with rows, and told so
    code 0 gibbsite sample -Q q.mtx --rows a.mtx --row-lower low.mtx --seed 1 --draws 20 -o same.nc --init overdispersed
    same same.nc a.nc
    # the start that was printed, given back, is the same run
    sed -n 's/.*start inside the constraints: //p' err >numbers
    # shellcheck disable=SC2046
    matrix start.mtx 1 2 $(cat numbers)
    code 0 gibbsite sample -Q q.mtx --rows a.mtx --row-lower low.mtx --seed 1 --draws 20 -o b.npy
    code 0 gibbsite sample -Q q.mtx --rows a.mtx --row-lower low.mtx --seed 1 --draws 20 -o c.npy --init start.mtx
    same b.npy c.npy
    code 0 gibbsite sample -Q q.mtx --rows a.mtx --row-upper 1 --init zero --seed 1 --draws 20 -o d.npy --json
    says out '"init": "zero"'
    says_not out '"start"'
    ! grep -q "method auto" err || fail "a pilot, though a start is given"
    code 2 gibbsite sample -Q q.mtx --rows a.mtx --row-upper 1 --stream given:c.npy
    says err "--stream given:FILE holds normals, and --rows asks for draws between bounds"
    for stream in given:c.npy torch-cpu; do
        code 2 gibbsite sample -Q q.mtx --method whitened --stream $stream
        says err "--method whitened takes the native stream, --stream $stream is given"
    done
    for stream in torch-cpu torch-cuda:132:2048; do
        code 2 gibbsite sample -Q q.mtx --rows a.mtx --row-upper 1 --stream $stream
        says err "--stream $stream holds normals, and --rows asks for draws between bounds"
    done
    for start in zero mean; do
        code 3 gibbsite sample -Q q.mtx --rows a.mtx --row-lower 9 --init $start
        says err "gibbsite: --init $start: start: chain 0 gives row 0 of the constraints 0, not between 9 and inf"
    done
    for option in --overrelax --omega; do
        code 2 gibbsite sample -Q q.mtx --rows a.mtx --row-upper 1 $option 0.5
        says err "$option over-relaxes, which sweeps under the constraints of --rows do not"
    done
}

# Without the solver: what to do instead, and a start by --init is enough.  A file of its name that is
# no library stands for a machine that has none.
test_no_solver() {
    square
    mkdir none
    echo "not a library" >none/libClp.so.1
    matrix start.mtx 2 1 0.5 0.25
    for method in "--method auto" "--method auto --init start.mtx"; do
        # shellcheck disable=SC2086
        code 2 env LD_LIBRARY_PATH="$PWD/none" "$program" sample -Q q.mtx --rows a.mtx --row-lower -2 --seed 1 $method
        says err "give a start, by --init FILE, and leave --method auto out: its pilot would look for one too"
    done
    for method in "" "--method gibbs"; do
        # shellcheck disable=SC2086
        code 2 env LD_LIBRARY_PATH="$PWD/none" "$program" sample -Q q.mtx --rows a.mtx --row-lower -2 --seed 1 $method
        grep -q "install it or give a start, by --init FILE$" err || fail "the end is another: $(cat err)"
    done
    for method in "" "--method whitened"; do
        # shellcheck disable=SC2086
        code 0 env LD_LIBRARY_PATH="$PWD/none" "$program" sample -Q q.mtx --rows a.mtx --row-lower -2 --seed 1 \
            --draws 20 --init start.mtx $method
    done
}

# What reproduces a run whose file holds numbers alone is said, --quiet or not.
test_quiet() {
    square
    have_clp || skip "no Clp on this machine"
    code 0 gibbsite sample -Q q.mtx --rows a.mtx --row-lower -2 --seed 1 --draws 20 --quiet -o a.npy
    says err "seed 1"
    says err "method auto: "
    says_not err "sweeps to forget"
    sed -n 's/.*start inside the constraints: //p' err >numbers
    # shellcheck disable=SC2046
    matrix start.mtx 2 1 $(cat numbers)
    # shellcheck disable=SC2046
    code 0 gibbsite sample -Q q.mtx --rows a.mtx --row-lower -2 --seed 1 --draws 20 --quiet -o b.npy \
        --init start.mtx --method $(sed -n 's/.*method auto: //p' err)
    same a.npy b.npy
    code 0 gibbsite sample -Q q.mtx --rows a.mtx --row-lower -2 --seed 1 --draws 20 --quiet -o a.nc
    says_not err "method auto"
    says_not err "start inside"
    # of a long start the first six numbers, and where the others are
    code 0 gibbsite make ar1 -n 7 --phi 0.5 -o long.mtx
    matrix sum.mtx 1 7 1 1 1 1 1 1 1
    code 0 gibbsite sample -Q long.mtx --rows sum.mtx --row-lower 1 --seed 1 --draws 20 --quiet -o c.npy
    [ "$(sed -n 's/.*start inside the constraints: //p' err | sed 's/ \.\.\. (--json and .nc hold all of it)$//' | wc -w)" = 6 ] ||
        fail "expected six numbers of the start: $(cat err)"
}

test_contradiction() {
    square
    have_clp || skip "no Clp on this machine"
    matrix a3.mtx 3 2 1 -1 0 0 0 1
    matrix low.mtx 3 1 1 0.5 0
    code 3 gibbsite sample -Q q.mtx --rows a3.mtx --row-lower low.mtx --seed 1 -o x.nc
    says err "a3.mtx: constraints: no point keeps these together: row 0 >= 1, row 1 >= 0.5"
    absent x.nc
    code 3 gibbsite info -Q q.mtx --rows a3.mtx --row-lower low.mtx
    says err "row 0 >= 1, row 1 >= 0.5"
}

# What double cannot add up is not told as a contradiction.
test_overflow() {
    square
    have_clp || skip "no Clp on this machine"
    matrix big.mtx 1 2 1e308 1e308
    code 3 gibbsite sample -Q q.mtx --rows big.mtx --row-lower 0 --seed 1
    says err "constraints: row 0: its terms within 64 standard deviations of the mean make inf, which does not fit in double"
    code 2 gibbsite sample -Q q.mtx --rows big.mtx --row-lower 0 --seed 1 --method gibbs
    says err "constraints: row 0 >= 0 overflows double where its terms are added up"
    code 2 gibbsite sample -Q q.mtx --rows a.mtx --row-lower 1e400
    says err "--row-lower: 1e400 is beyond the range of double"
    code 2 gibbsite info -Q q.mtx --rows a.mtx --row-upper -1e400
    says err "--row-upper: -1e400 is beyond the range of double"
}

test_resume() {
    square
    for method in gibbs whitened; do
        rm -f ck
        base="-Q q.mtx --rows a.mtx --row-lower -2 --row-upper 2 --method $method"
        # shellcheck disable=SC2086
        code 0 gibbsite sample $base --init zero.mtx --seed 1 --warmup 10 --draws 40 -o whole.npy
        # shellcheck disable=SC2086
        code 0 gibbsite sample $base --init zero.mtx --seed 1 --warmup 10 --draws 15 -o first.npy --checkpoint ck
        code 0 gibbsite sample -Q q.mtx --rows a.mtx --row-lower -2 --row-upper 2 --resume ck --draws 25 -o rest.npy
        words whole.npy >whole
        # chain by chain: 15 draws of 2 from the one, 25 of 2 from the other
        words first.npy >first
        words rest.npy >rest
        for chain in 0 1 2 3; do
            tail -n +$((chain * 30 + 1)) first | head -n 30
            tail -n +$((chain * 50 + 1)) rest | head -n 50
        done >joined
        same joined whole
        code 3 gibbsite sample -Q q.mtx --rows a.mtx --row-lower -3 --row-upper 2 --resume ck --draws 25 -o x.npy
        says err "its set of constraints is another one"
    done
}

test_refused() {
    square
    code 2 gibbsite sample -Q q.mtx --rows a.mtx
    says err "neither --row-lower nor --row-upper"
    code 2 gibbsite sample -Q q.mtx --row-upper 1
    says err "--row-upper bounds the rows of --rows, which is not given"
    code 2 gibbsite sample -Q q.mtx --method whitened --order backward
    says err "--order has no meaning with --method whitened"
    code 2 gibbsite sample -Q q.mtx --method whitened --omega 1.2
    says err "--omega has no meaning with --method whitened"
    code 3 gibbsite sample -Q q.mtx --rows a.mtx --row-lower 1 --row-upper 0
    says err "gibbsite: --row-lower 1: constraints: row 0: lower 1 is above upper 0"
    matrix high.mtx 2 1 2 0.5
    code 3 gibbsite info -Q q.mtx --rows a.mtx --row-upper high.mtx --row-lower 1
    says err "gibbsite: --row-lower 1: constraints: row 1: lower 1 is above upper 0.5"
    matrix above.mtx 2 1 -1 0.75
    code 3 gibbsite sample -Q q.mtx --rows a.mtx --row-lower above.mtx --row-upper high.mtx
    says err "gibbsite: above.mtx: constraints: row 1: lower 0.75 is above upper 0.5"
    code 3 gibbsite sample -Q q.mtx --rows a.mtx --row-lower nan
    says err "gibbsite: --row-lower nan: constraints: lower of row 0 is NaN"
    code 3 gibbsite sample -Q q.mtx --rows a.mtx --row-lower inf
    says err "gibbsite: --row-lower inf: constraints: row 0: lower is inf"
    echo "0000000000000000 7ff8000000000000" | npy "2," nan.npy
    code 3 gibbsite sample -Q q.mtx --rows a.mtx --row-lower -1 --row-upper nan.npy
    says err "gibbsite: nan.npy: constraints: upper of row 1 is NaN"
    echo "0000000000000000 fff0000000000000" | npy "2," low.npy
    code 3 gibbsite sample -Q q.mtx --rows a.mtx --row-lower -inf --row-upper low.npy
    says err "gibbsite: low.npy: constraints: row 1: upper is -inf"
    code 3 gibbsite sample -Q q.mtx --rows a.mtx --row-lower 1 --row-upper 1
    says err "is an equation"
    matrix three.mtx 3 1 0 0 0
    code 3 gibbsite sample -Q q.mtx --rows a.mtx --row-lower three.mtx
    says err "three.mtx: has shape (3, 1), a vector of 2 is needed"
    code 3 gibbsite sample -Q q.mtx --rows three.mtx --row-lower 0
    says err "three.mtx: has shape (3, 1), (rows, 2) is needed"
    code 3 gibbsite sample -Q q.mtx --rows a.mtx --row-lower 1 --init zero.mtx
    says err "zero.mtx: start: chain 0 gives row 0 of the constraints 0, not between 1 and inf"
    code 2 gibbsite sample -Q q.mtx --rows a.mtx --row-lower -1 --method exact
    says err "--method: exact draws would not keep the constraints of --rows; --method gibbs or whitened does"
}

test_info() {
    square
    code 0 gibbsite info -Q q.mtx --rows a.mtx --row-lower -2
    says out "constraints   2 rows"
    says out "without its constraints"
    code 0 gibbsite info -Q q.mtx --rows a.mtx --row-lower -2 --json
    says out '"rows": 2'
    if have_clp; then checked=true; else checked=false; fi
    says out "\"rows_checked\": $checked"
    code 0 gibbsite info -Q q.mtx --json
    says out '"rows_checked": null'
    code 2 gibbsite info -Q q.mtx --rows a.mtx
}

# A slab of 1e-9 whose mean is far outside (case C28): the chains cannot get along it, and the figures
# must say so.
test_thin_slab() {
    matrix q.mtx 2 2 1 0 0 1
    matrix mu.mtx 2 1 5 -5
    matrix a.mtx 3 2 1 1 0 -1 0 1
    matrix low.mtx 3 1 0 -1 -1
    matrix high.mtx 3 1 1e-9 1 1
    printf '%%%%MatrixMarket matrix array real general\n4 2\n-0.5\n0\n0.5\n0.9\n-0.5\n0\n0.5\n0.9\n' >starts.mtx
    for method in gibbs whitened; do
        code 0 gibbsite sample -Q q.mtx --mean mu.mtx --rows a.mtx --row-lower low.mtx --row-upper high.mtx \
            --init starts.mtx --seed 1 --draws 2000 --json --method $method
        awk -v rhat="$(json out rhat)" -v ess="$(json out ess_bulk)" 'BEGIN {
            printf "  R-hat %s, at least 1.5; bulk ESS %s, at most 100\n", rhat, ess
            exit !(rhat >= 1.5 && ess <= 100) }' || fail "a chain that does not move is not told"
    done
}

test_record() {
    square
    code 0 gibbsite sample -Q q.mtx --rows a.mtx --row-lower -2 --row-upper 2 --init zero.mtx --seed 1 --draws 9 --json \
        --method whitened --warmup 3
    says out "--method whitened -Q q.mtx --rows a.mtx --row-lower -2 --row-upper 2 --chains 4 --warmup 3"
    says out '"kernel": "whitened_f64_'
    says_not out "omega"
}

run_tests
