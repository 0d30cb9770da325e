# gibbsite sample and info --lower, --upper and --overrelax: laws known to many digits, what is
# refused, the record, resumes.  Statistics have fixed seeds and bounds of 5 Monte Carlo standard
# errors.
. "$(dirname "$0")/lib.sh"

vector() { # NAME VALUES...
    name=$1
    shift
    printf '%%%%MatrixMarket matrix array real general\n%d 1\n' $# >"$name"
    printf '%s\n' "$@" >>"$name"
}

# AR(1) of 50 sites, phi = 0.5, that stays positive: golden moments.
test_law() {
    code 0 gibbsite make ar1 -n 50 --phi 0.5 -o q.mtx
    for options in "" "--method gibbs" "--method gibbs --dtype f32" "--method whitened --dtype f32" "--order symmetric" "--overrelax .8" "--overrelax .8 --dtype f32 --order backward"; do
        # shellcheck disable=SC2086
        code 0 gibbsite sample -Q q.mtx --lower 0 --seed 4 --draws 10000 --json $options
        for row in "1 1.0820757710 .5663161176" "25 1.2593602345 .6393301126"; do
            # shellcheck disable=SC2086
            set -- $row
            near "mean of x[$(($1 - 1))]${options:+, $options}" "$(json out mean "$1")" "$2" \
                "$(json out mcse_mean "$1" | awk '{ print 5 * $1 }')"
            near "sd of x[$(($1 - 1))]" "$(json out sd "$1")" "$(echo "$3" | awk '{ printf "%.17g", sqrt($1) }')" \
                "$(json out mcse_sd "$1" | awk '{ print 5 * $1 }')"
        done
    done
}

# A vector of means against bounds given as numbers: each site has its own law (case C14), and so have
# boxes that move with the means (C20), whether there are as many draws as sites or not.
test_vectors_against_numbers() {
    printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 100\n2 2 100\n3 3 100\n' >q.mtx
    vector mu.mtx 1 2 3
    for method in gibbs whitened; do
        code 0 gibbsite sample -Q q.mtx --mean mu.mtx --lower 0 --upper 2 --method $method --draws 10000 --seed 2 --json
        for row in "1 1.0" "2 1.92021154392" "3 1.99019067660"; do
            # shellcheck disable=SC2086
            set -- $row
            near "mean of x[$(($1 - 1))], $method" "$(json out mean "$1")" "$2" \
                "$(json out mcse_mean "$1" | awk '{ print 5 * $1 }')"
        done
    done
    printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1\n2 2 1\n3 3 1\n' >unit.mtx
    vector mean.mtx 10 -10 0
    vector low.mtx 9 -11 -1
    vector high.mtx 11 -9 1
    for draws in 3 4 5000; do
        code 0 gibbsite sample -Q unit.mtx --mean mean.mtx --lower low.mtx --upper high.mtx --draws $draws \
            --chains 1 --seed 3 -o "x$draws.csv"
        grep -v '^#' "x$draws.csv" | awk -F, -v draws="$draws" '
            NR == 1 { for (k = 1; k <= NF; ++k) if ($k == "x.1") first = k; next }
            { a = $first - 10; b = $(first + 1) + 10; c = $(first + 2)
              bad += a < -1 || a > 1 || b < -1 || b > 1 || c < -1 || c > 1 }
            END { exit !(first && NR == draws + 1 && !bad) }' || fail "C20, $draws draws: some are outside their box"
    done
}

# Variances of a million at a condition of 1e8: f32 is refused, f64 has the law (case C19).
test_stiff_covariance() {
    printf '%%%%MatrixMarket matrix coordinate real symmetric\n4 4 6\n1 1 0.05\n2 1 -0.03\n2 2 0.06\n' >s.mtx
    printf '3 3 1336227.01\n4 3 -1336226.98\n4 4 1336227.07\n' >>s.mtx
    vector mu.mtx -0.08 -0.51 -17.52 16.37
    code 3 gibbsite sample -Q s.mtx --covariance --mean mu.mtx --lower 0 --dtype f32 --seed 1
    says err "--dtype f32 would move the covariance by about"
    code 0 gibbsite sample -Q s.mtx --covariance --mean mu.mtx --lower 0 --seed 1 --draws 10000 --json
    for row in "1 0.071053 0.00413249" "2 0.059147 0.00307788" "3 0.085968 0.0067011" "4 0.085968 0.0067011"; do
        # shellcheck disable=SC2086
        set -- $row
        near "mean of x[$(($1 - 1))]" "$(json out mean "$1")" "$2" "$(json out mcse_mean "$1" | awk '{ print 5 * $1 }')"
        near "sd of x[$(($1 - 1))]" "$(json out sd "$1")" "$(echo "$3" | awk '{ printf "%.17g", sqrt($1) }')" \
            "$(json out mcse_sd "$1" | awk '{ print 5 * $1 }')"
    done
}

# A number, a vector and both bounds where one is infinite are the same run, on any instruction set.
test_same_bits() {
    code 0 gibbsite make ar1 -n 3 --phi 0.5 -o q.mtx
    vector low.mtx 0.25 0.25 0.25
    code 0 gibbsite sample -Q q.mtx --lower 0.25 --seed 1 --draws 50 -o a.npy
    code 0 gibbsite sample -Q q.mtx --lower low.mtx --upper inf --seed 1 --draws 50 -o b.npy --isa scalar --threads 2
    same a.npy b.npy
    code 0 gibbsite sample -Q q.mtx --lower -inf --method gibbs --seed 1 --draws 50 -o c.npy
    code 0 gibbsite sample -Q q.mtx --seed 1 --draws 50 -o d.npy
    same c.npy d.npy
    code 0 gibbsite sample -Q q.mtx --overrelax .5 --seed 1 --draws 50 -o e.npy
    code 0 gibbsite sample -Q q.mtx --omega 1.5 --seed 1 --draws 50 -o f.npy
    same e.npy f.npy
}

# A mix: free, bounded on one side, on both, held by equal bounds.
test_mixed() {
    code 0 gibbsite make ar1 -n 4 --phi 0.5 -o q.mtx
    vector low.mtx -inf 0 -0.5 1.25
    vector high.mtx inf inf 0.5 1.25
    code 0 gibbsite sample -Q q.mtx --lower low.mtx --upper high.mtx --method gibbs --seed 1 --draws 200 -o a.npy
    [ "$(words a.npy | awk 'NR % 4 == 0' | sort -u)" = 3ff4000000000000 ] || fail "x[3] is not held at 1.25"
    words a.npy | awk 'NR % 4 == 2 && /^[89abcdef]/ { exit 1 }' || fail "a negative x[1]"
    code 0 gibbsite sample -Q q.mtx --lower low.mtx --upper high.mtx --method gibbs --seed 1 --draws 200 --json
    says out '"options": "--method gibbs -Q q.mtx --lower low.mtx --upper high.mtx'
    says out '"truncnorm_mapping_version": 4'
    says_not out "--overrelax"
}

test_refused() {
    code 0 gibbsite make ar1 -n 3 --phi 0.5 -o q.mtx
    vector low.mtx 0 0 0
    vector high.mtx 1 -1 1
    vector nan.mtx 0 nan 0
    vector two.mtx 0 0
    printf '%%%%MatrixMarket matrix array real general\n1 3\n0.5\n0.5\n1.5\n' >start.mtx
    code 3 gibbsite sample -Q q.mtx --lower low.mtx --upper high.mtx
    says err "low.mtx: lower: site 1: 0 is above upper, -1"
    code 3 gibbsite sample -Q q.mtx --upper nan.mtx
    says err "nan.mtx: upper: site 1 is NaN"
    code 3 gibbsite sample -Q q.mtx --lower inf
    says err "gibbsite: --lower inf: lower: site 0 is inf"
    code 3 gibbsite sample -Q q.mtx --lower 1 --upper 0
    says err "gibbsite: --lower 1: lower: site 0: 1 is above upper, 0"
    code 0 gibbsite sample -Q q.mtx --upper -1e9 --dtype f32 --seed 1 --draws 5
    says err "warning: --upper -1e9: the bounds of 3 sites, the first of them 0, are so far out"
    code 3 gibbsite sample -Q q.mtx --lower two.mtx
    says err "two.mtx: has shape (2, 1), a vector of 3 is needed"
    code 3 gibbsite sample -Q q.mtx --upper 1 --method gibbs --init start.mtx
    says err "start.mtx: initial: chain 0, site 2 is 1.5, above its upper bound 1"
    code 4 gibbsite sample -Q q.mtx --lower zz --seed 1
    says err "zz: is neither a number nor a file"
    code 4 gibbsite sample -Q q.mtx --lower 0x10 --seed 1
    says err "0x10: is neither a number nor a file"
    code 2 gibbsite sample -Q q.mtx --lower 0 --omega 1.2
    says err "--omega cannot keep bounds, and --lower is given; --overrelax can"
    code 2 gibbsite sample -Q q.mtx --overrelax 0.5 --omega 1.2
    says err "--overrelax and --omega both over-relax"
    code 2 gibbsite sample -Q q.mtx --overrelax 1
    says err "--overrelax: 1 is out of range, it must be below 1"
    code 2 gibbsite sample -Q q.mtx --overrelax -0.1
    says err "--overrelax: -0.1 is out of range"
    code 2 gibbsite sample -Q q.mtx --method exact --overrelax 0.5
    says err "--overrelax has no meaning with --method exact"
    code 2 gibbsite sample -Q q.mtx --method whitened --overrelax 0.5
    says err "--overrelax has no meaning with --method whitened"
    code 2 gibbsite sample -Q q.mtx --upper 1 --stream given:z.npy
    says err "--stream given:FILE holds normals, and --upper asks for draws between bounds"
    for option in --lower --upper; do
        code 2 gibbsite sample -Q q.mtx $option 1e400
        says err "$option: 1e400 is beyond the range of double"
        code 2 gibbsite info -Q q.mtx $option -1e400
        says err "$option: -1e400 is beyond the range of double"
    done
    code 2 gibbsite sample -Q q.mtx --upper 1 --method exact
    says err "--method: exact draws know no bounds, and --upper gives some; --method gibbs or whitened keeps"
    for stream in torch-cpu torch-cuda:132:2048; do
        code 2 gibbsite sample -Q q.mtx --lower low.mtx --stream $stream
        says err "--stream $stream holds normals, and --lower asks for draws between bounds"
        code 0 gibbsite sample -Q q.mtx --lower -inf --stream $stream --draws 5 --seed 1
    done
    code 3 gibbsite sample -Q q.mtx --lower .3 --upper .30000000001 --dtype f32 --method whitened
    says err "--lower .3: site 0: in float its bounds leave it no number but"
    absent draws.nc
    code 2 gibbsite sample -Q q.mtx --upper 1 -o low.mtx --lower low.mtx --format npy
    says err "low.mtx"
}

test_warnings() {
    code 0 gibbsite make ar1 -n 2 --phi 0.5 -o q.mtx
    code 0 gibbsite sample -Q q.mtx --lower 1e9 --dtype f32 --seed 1 --draws 10
    says err "the bounds of 2 sites, the first of them 0, are so far out that f32 cannot tell draws"
    code 0 gibbsite sample -Q q.mtx --lower 1.00000001 --upper 1.00000002 --dtype f32 --seed 1 --draws 10
    says err "2 sites, the first of them 0, have no number of f32 between their bounds and are held"
    code 0 gibbsite sample -Q q.mtx --lower 10 --dtype f32 --seed 1 --draws 10
    says_not err "warning"
    vector low.mtx -1 1e9
    code 0 gibbsite sample -Q q.mtx --lower low.mtx --dtype f32 --seed 1 --draws 10
    says err "warning: low.mtx: the bounds of site 1 are so far out that f32 cannot tell draws from the bound"
    vector low.mtx -1 1.00000001
    vector high.mtx 1 1.00000002
    code 0 gibbsite sample -Q q.mtx --lower low.mtx --upper high.mtx --dtype f32 --seed 1 --draws 10
    says err "warning: low.mtx: site 1 has no number of f32 between its bounds and is held at the nearest"
    # equal bounds that float does not hold, or does
    code 0 gibbsite sample -Q q.mtx --lower .1 --upper .1 --dtype f32 --seed 1 --draws 10 -o a.npy
    says err "warning: --lower .1: 2 sites, the first of them 0, have no number of f32 between their bounds and are held"
    for options in "--lower .1 --upper .1" "--lower .5 --upper .5 --dtype f32"; do
        # shellcheck disable=SC2086
        code 0 gibbsite sample -Q q.mtx $options --seed 1 --draws 10 -o a.npy
        says_not err "no number"
    done
    code 3 gibbsite sample -Q q.mtx --lower 1e300 --upper 1e300 --dtype f32 --seed 1 --draws 10
    says err "does not fit in float"
    says_not err "no number"
    # sites that pull each other up to a far bound, and that push each other away from it
    code 0 gibbsite make ar1 -n 16 --phi 0.99999 -o q.mtx
    code 0 gibbsite sample -Q q.mtx --lower 1e4 --dtype f32 --force --seed 1 --draws 10 -o a.npy
    says_not err "so far out"
    awk 'BEGIN { for (i = 0; i < 16; i++) for (j = 0; j < 16; j++)
        printf "%s%s", i == j ? 1 : .9, j < 15 ? "," : "\n" }' >q.csv
    code 0 gibbsite sample -Q q.csv --lower 1000 --dtype f32 --seed 1 --draws 10 -o a.npy
    says err "warning: --lower 1000: the bounds of 16 sites, the first of them 0, are so far out that f32"
}

# The pilot chooses where bounds are given and nothing asks for sweeps; its explicit options reproduce the run.
test_auto() {
    code 0 gibbsite make ar1 -n 20 --phi 0.95 -o slow.mtx
    printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1\n2 2 1\n3 3 1\n' >apart.mtx
    code 0 gibbsite sample -Q slow.mtx --lower 0 --seed 4 --draws 50 -o a.nc
    says err "method auto: whitened; sweeps to forget, the slowest of three figures: gibbs "
    code 0 gibbsite sample -Q slow.mtx --lower 0 --method auto --seed 4 --draws 50 --json
    says out '"options": "--method whitened -Q slow.mtx --lower 0 '
    says out '"pilot": {'
    code 0 gibbsite sample -Q slow.mtx --lower 0 --seed 4 --draws 50 -o a.npy --isa scalar
    code 0 gibbsite sample -Q slow.mtx --lower 0 --method whitened --seed 4 --draws 50 -o b.npy
    same a.npy b.npy
    code 0 gibbsite sample -Q apart.mtx --lower -1 --upper 1 --seed 4 --draws 50 --json
    says out '"options": "--method gibbs -Q apart.mtx'
    says_not out "--overrelax"
    for order in "--order backward" "--overrelax .5" "--stream torch-cpu"; do
        # shellcheck disable=SC2086
        code 2 gibbsite sample -Q slow.mtx --lower 0 --method auto $order
        says err "--method auto"
    done
    code 0 gibbsite sample -Q slow.mtx --lower 0 --order backward --seed 4 --draws 50 --json
    says out '"options": "--method gibbs'
    says_not out '"pilot"'
    code 0 gibbsite sample -Q slow.mtx --method auto --seed 4 --draws 50 --json # no bounds: independent draws
    says out '"options": "--method whitened'
    says err "method auto: whitened; nothing bounds the sites, so its draws are independent and no others were tried"
    grep -A2 '"pilot": {' out | grep -q '"chosen": null' || fail "pilot: $(cat out)"
    says out '"tried": []'
    code 0 gibbsite sample -Q slow.mtx --method auto --lower -inf --quiet --seed 4 --draws 50 -o c.npy
    says err "method auto: whitened"
    code 0 gibbsite sample -Q slow.mtx --lower -inf --seed 4 --draws 50 --json # bounds that are none, and no auto
    says out '"options": "--method gibbs'
    says_not out '"pilot"'
}

# Of chains that have not mixed: no method that the pilot has compared, none that the model has no use for.
test_advice() {
    code 0 gibbsite make ar1 -n 20 --phi 0.95 -o slow.mtx
    while IFS='|' read -r options advice; do
        # shellcheck disable=SC2086
        code 0 gibbsite sample -Q slow.mtx --seed 4 --warmup 0 --draws 8 $options
        grep -qx "gibbsite: the chains have not mixed: run longer$advice" err || fail "$options: $(cat err)"
    done <<'EOF'
--lower 0|
--lower 0 --method gibbs|, or try --overrelax .8, or --method whitened
--lower 0 --overrelax .5|, or try --method whitened
--lower 0 --method whitened|, or try --method gibbs
--overrelax .5|, or draw independently with --method exact
--method whitened|
EOF
}

# What a sampler cannot do leaves it out of the pilot, with the reason; the others are chosen from.
test_auto_leaves_out() {
    code 0 gibbsite make ar1 -n 3 --phi 0.5 -o q.mtx
    for box in "0.5 0.50000000001" "0 1e-50" "1 1.00000001"; do
        vector low.mtx "${box% *}" -inf -inf
        vector high.mtx "${box#* }" inf inf
        code 0 gibbsite sample -Q q.mtx --lower low.mtx --upper high.mtx --dtype f32 --seed 1 --draws 50 --json
        says err "; left out: whitened (site 0: in float its bounds leave it no number but ${box% *}, which would"
        says out '"options": "--method gibbs'
        says out '"left_out": "site 0: in float its bounds leave it no number but'
        near "mean of x[0]" "$(json out mean)" "${box% *}" 0
        code 0 gibbsite sample -Q q.mtx --lower low.mtx --upper high.mtx --seed 1 --draws 50
        says_not err "left out"
        code 3 gibbsite sample -Q q.mtx --lower low.mtx --upper high.mtx --dtype f32 --seed 1 --method whitened
        says err "gibbsite: low.mtx: site 0: in float its bounds leave it no number but"
    done
    printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1e77\n2 2 1\n' >narrow.mtx
    code 0 gibbsite sample -Q narrow.mtx --lower 0 --dtype f32 --seed 1 --draws 50 -o a.nc
    says err "method auto: whitened; sweeps to forget, the slowest of three figures: whitened 1.01; left out: gibbs, gibbs --overrelax 0.5"
    says err "gibbs --overrelax 0.9 (site 0: its conditional standard deviation, 3.1622776601683794e-39, does not"
    says a.nc "left out: gibbs, gibbs --overrelax 0.5"
}

# What is wrong with all of them is told as of a run without the pilot.
test_auto_refused() {
    printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1e-75\n2 2 1\n' >wide.mtx
    printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1e-80\n2 2 1\n' >wider.mtx
    for method in "" "--method auto" "--method gibbs"; do
        # shellcheck disable=SC2086
        code 3 gibbsite sample -Q wide.mtx --lower 0 --dtype f32 --seed 1 --draws 50 $method
        says err "gibbsite: wide.mtx: precision: site 0, where Q[0,0] = 1e-75, has the standard deviation 3.16"
        # shellcheck disable=SC2086
        code 3 gibbsite sample -Q wider.mtx --lower 0 --dtype f32 --seed 1 --draws 50 $method
        says err "gibbsite: wider.mtx: site 0: its conditional standard deviation, 1e+40, does not fit"
    done
    code 0 gibbsite sample -Q wide.mtx --lower 0 --dtype f32 --seed 1 --draws 50 --init mean
    says err "method auto: gibbs"
}

test_info() {
    code 0 gibbsite make ar1 -n 5 --phi 0.5 -o q.mtx
    vector low.mtx 0 0 -inf -inf 1
    code 0 gibbsite info -Q q.mtx --lower low.mtx
    says out "bounds        on 3 sites; what follows is of the law without them"
    says out "advice        none: these figures are those of the law without its bounds"
    code 0 gibbsite info -Q q.mtx --lower low.mtx --json
    says out '"bounded": 3'
    says out '"advice": null'
}

# A checkpoint knows bounds and over-relaxation.
test_resume() {
    code 0 gibbsite make ar1 -n 5 --phi 0.5 -o q.mtx
    run="gibbsite sample -Q q.mtx --lower 0 --warmup 10"
    code 0 $run --overrelax .6 --seed 3 --draws 40 -o whole.npy
    code 0 $run --overrelax .6 --seed 3 --draws 15 --checkpoint ck -o a.npy
    code 0 gibbsite sample -Q q.mtx --lower 0 --resume ck --draws 25 -o b.npy
    words whole.npy >whole
    for chain in 0 1 2 3; do
        words a.npy | awk -v c=$chain 'NR > c * 75 && NR <= (c + 1) * 75'
        words b.npy | awk -v c=$chain 'NR > c * 125 && NR <= (c + 1) * 125'
    done >parts
    same parts whole
    code 3 gibbsite sample -Q q.mtx --lower 0 --resume ck --overrelax .5 --draws 5 -o c.npy
    says err "--overrelax"
    code 3 gibbsite sample -Q q.mtx --lower 0 --resume ck --method auto --draws 5 -o c.npy
    says err "ck: is of a run with --method gibbs, auto was given"
    code 3 gibbsite sample -Q q.mtx --lower 0.5 --resume ck --draws 5 -o c.npy
    says err "its set of bounds is another one (hash"
    code 3 gibbsite sample -Q q.mtx --resume ck --draws 5 -o c.npy
    says err "its set of bounds is another one: the sampler has none"
    absent c.npy
}

# tools/check_files.py reads the numbers.
test_file() {
    code 0 gibbsite make ar1 -n 3 --phi 0.5 -o q.mtx
    code 0 gibbsite sample -Q q.mtx --lower 0 --overrelax .8 --seed 1 --draws 20 -o a.nc
    says a.nc "--lower 0"
    says a.nc "--overrelax 0.8"
}

run_tests
