# gibbsite info: values that are known in closed form, verdicts, and refused matrices.
. "$(dirname "$0")/lib.sh"

facts() { # FILE: info's JSON in ./out
    code 0 gibbsite info -Q "$1" --json
}

# The text as a whole, on a matrix whose numbers are all simple: two neighbours with precision
# [2 -1; -1 2] have eigenvalues 1 and 3, tau_max 2, and Gibbs rate 1/4.
test_two_sites() {
    code 0 gibbsite make lattice --rows 1 --cols 2 --kappa 1 -o q.mtx
    code 0 gibbsite info -Q q.mtx
    same out "$here/expected/info_two_sites.txt"
    facts q.mtx
    near condition "$(json out condition)" 3 1e-14
    near tau_max "$(json out tau_max)" 2 1e-14
    near gibbs_rate "$(json out gibbs_rate)" 0.25 1e-15
    near sweeps_to_forget "$(json out sweeps_to_forget)" 1.3333333333333333 1e-14
}

# Periodic 8 x 8 grid with K = 1: eigenvalues 1 ... 9, diagonal 5.
test_torus() {
    code 0 gibbsite make torus --rows 8 --cols 8 --kappa 1 -o q.mtx
    facts q.mtx
    near eigenvalue_min "$(json out eigenvalue_min)" 1 1e-13
    near eigenvalue_max "$(json out eigenvalue_max)" 9 1e-13
    near condition "$(json out condition)" 9 1e-12
    near tau_max "$(json out tau_max)" 5 1e-12
    [ "$(json out size)" = 64 ] || fail "size: expected 64, got $(json out size)"
    [ "$(json out nonzeros)" = 320 ] || fail "nonzeros: expected 320, got $(json out nonzeros)"
}

# A path is consistently ordered, so the Gibbs rate is the square of the Jacobi rate (Young):
# stationary AR(1) with n = 3, phi: Jacobi matrix [0 p 0; q 0 q; 0 p 0] with p = phi and
# q = phi / (1 + phi^2) has spectral radius sqrt(2 p q), so the rate is 2 phi^2 / (1 + phi^2).
test_path() {
    code 0 gibbsite make ar1 -n 3 --phi 0.8 -o q.mtx
    facts q.mtx
    near gibbs_rate "$(json out gibbs_rate)" 0.78048780487804878 1e-14
    near tau_max "$(json out tau_max)" "$(awk 'BEGIN { printf "%.17g", 1 / (1 - sqrt(1.28 / 1.64)) }')" 1e-12
}

# Of a long chain with weak links G is far from normal, and a nonsymmetric solver says 0.36 here.
# Expected: the square of the Jacobi rate, the largest eigenvalue of a symmetric matrix.
test_long_path() {
    code 0 gibbsite make ar1 -n 500 --phi 0.3 -o q.mtx
    facts q.mtx
    near gibbs_rate "$(json out gibbs_rate)" 0.30299290208021695 1e-13
}

band() { # N: two neighbours on each side, weakly linked; not consistently ordered
    awk -v n="$1" 'BEGIN {
        printf "%%%%MatrixMarket matrix coordinate real symmetric\n%d %d %d\n", n, n, 3 * n - 3
        for (i = 1; i <= n; i++) {
            print i, i, 1
            if (i > 1) print i, i - 1, -0.18
            if (i > 2) print i, i - 2, -0.1
        }
    }'
}

# Of 30 sites as 3000 sweeps in 400 bits find it: the leading eigenvalue has the condition number 552, and
# |G| < 2, so sqrt(30) rounding units move it by 8e-13; of 400 sites that number is beyond 1e14.
test_sensitive_rates() {
    band 30 >q.mtx
    facts q.mtx
    near gibbs_rate "$(json out gibbs_rate)" 0.318451737205499 1e-12
    says out '"gibbs_rate_uncertain": false'
    band 400 >q.mtx
    facts q.mtx
    says out '"gibbs_rate": null'
    says out '"gibbs_rate_uncertain": true'
    says out '"sweeps_to_forget": null'
    code 0 gibbsite info -Q q.mtx
    says out "Gibbs rate    uncertain: LAPACK finds 0."
    says_not out "to forget"
    # of equal eigenvalues, in blocks side by side and interleaved, the vectors still meet
    for step in 1 40; do
        awk -v step=$step 'BEGIN {
            printf "%%%%MatrixMarket matrix coordinate real symmetric\n120 120 240\n"
            for (b = 0; b < 40; b++)
                for (i = 0; i < 3; i++)
                    for (j = 0; j <= i; j++) {
                        base = step == 1 ? 3 * b : b
                        print base + i * step + 1, base + j * step + 1, i == j ? 3 : -1
                    }
        }' >q.mtx
        facts q.mtx
        # of each block G = [0 9 9; 0 3 12; 0 4 7] / 27, whose largest eigenvalue is (5 + sqrt(52)) / 27
        near gibbs_rate "$(json out gibbs_rate)" 0.45226305744177756 1e-13
    done
}

# Over-relaxation: for a path the rate at Young's best w is w - 1, and tau is (2/w - 1) tau_max.
test_omega() {
    code 0 gibbsite make ar1 -n 3 --phi 0.8 -o q.mtx
    w=$(awk 'BEGIN { printf "%.17g", 2 / (1 + sqrt(1 - 1.28 / 1.64)) }')
    facts q.mtx
    tau=$(json out tau_max)
    code 0 gibbsite info -Q q.mtx --omega "$w" --json
    # At the best w the two leading eigenvalues meet: a double root moves by the square root of eps.
    near "rate at w = $w" "$(json out gibbs_rate)" "$(awk -v w="$w" 'BEGIN { printf "%.17g", w - 1 }')" 1e-7
    near tau "$(json out tau_max)" "$(awk -v w="$w" -v t="$tau" 'BEGIN { printf "%.17g", (2 / w - 1) * t }')" 1e-13
}

test_diagonal() {
    printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 2 0.01\n' >q.mtx
    facts q.mtx
    near gibbs_rate "$(json out gibbs_rate)" 0 0
    near tau_max "$(json out tau_max)" 1 1e-15
    says out '"advice": "gibbs"'
}

test_covariance() {
    printf '%%%%MatrixMarket matrix array real general\n2 2\n2\n1\n1\n2\n' >s.mtx
    code 0 gibbsite info -Q s.mtx --covariance --json
    says err "s.mtx: covariance inverted, condition number 3"
    near eigenvalue_max "$(json out eigenvalue_max)" 1 1e-14
    near eigenvalue_min "$(json out eigenvalue_min)" 0.33333333333333333 1e-14
    says out '"kind": "covariance"'
}

# 2^-24 tau_max: warned of above 1e-3 and refused above 0.1.  A 1 x 2 lattice has tau_max
# (1 + K) / K.
test_float_verdicts() {
    for row in "1 fine" "1e-4 fine" "2e-5 warn" "1e-6 warn" "1e-7 refuse"; do
        kappa=${row% *}
        code 0 gibbsite make lattice --rows 1 --cols 2 --kappa "$kappa" -o q.mtx
        facts q.mtx
        says out "\"verdict\": \"${row#* }\""
        case $row in
        *fine) wanted=0 ;;
        *warn) wanted=0 ;;
        *) wanted=3 ;;
        esac
        code $wanted gibbsite sample -Q q.mtx --seed 1 --dtype f32 --draws 10 -o "f$kappa.npy"
        case $row in
        *fine) says_not err "moves the covariance" ;;
        *warn) says err "warning: q.mtx: --dtype f32 moves the covariance by about" ;;
        *)
            says err "use f64, or --force"
            absent "f$kappa.npy"
            code 0 gibbsite sample -Q q.mtx --seed 1 --dtype f32 --draws 10 -o "f$kappa.npy" --force
            says err "warning"
            ;;
        esac
    done
}

# Floats are 2 apart at 3e7.
test_float_at_a_far_mean() {
    code 0 gibbsite make lattice --rows 1 --cols 2 --kappa 1 -o q.mtx
    printf '0\n3e7\n' >m.csv
    code 3 gibbsite sample -Q q.mtx --mean m.csv --seed 1 --dtype f32 --draws 10 -o f.npy
    says err "q.mtx: --dtype f32 would move the covariance by about 0.67 (site 1: at its mean floats lie far apart); use f64, or --force"
}

# Among 2049 sites a pair, whose rate has a formula, and a triangle, whose rate has none (it is that of the blocks
# above): few different eigenvalues, so that Lanczos ends at once.
test_rate_of_large_models() {
    echo "0 1" >pair.edges
    code 0 gibbsite make icar --graph pair.edges --nodes 2049 --kappa 1 -o q.mtx
    for rate in "" --rate; do
        code 0 gibbsite info -Q q.mtx --json $rate
        near "pair's rate, $rate" "$(json out gibbs_rate)" 0.25 1e-15
    done
    printf '0 1\n1 2\n0 2\n' >triangle.edges
    code 0 gibbsite make icar --graph triangle.edges --nodes 2049 --kappa 1 -o q.mtx
    code 0 gibbsite info -Q q.mtx
    says out "not computed (n > 2048; use --rate)"
    code 0 gibbsite info -Q q.mtx --json
    says out '"gibbs_rate": null'
    code 0 gibbsite info -Q q.mtx --rate --json
    near "triangle's rate" "$(json out gibbs_rate)" 0.45226305744177756 1e-13
}

# Q = s [1 h; h 1]: where s is near the ends of double's range no figure may be nonsense.
test_extreme_scales() {
    for entries in "1e-308 5e-309" "1e-310 5e-311" "5e-324 0" "1e308 5e307"; do
        d=${entries% *}
        printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 %s\n2 2 %s\n2 1 %s\n' \
            "$d" "$d" "${entries#* }" >q.mtx
        code 0 gibbsite info -Q q.mtx
        for nonsense in inf nan "condition     0" "   0 ..."; do
            says_not out "$nonsense"
        done
        if [ "$d" = 1e308 ]; then
            says out "condition     3"
        else
            says out "condition     not computed: beyond double's range"
            code 0 gibbsite info -Q q.mtx --json
            says out '"condition": null'
            says out '"eigenvalue_min": null'
        fi
    done
    printf '%%%%MatrixMarket matrix coordinate real symmetric\n1 1 1\n1 1 5e-324\n' >q.mtx
    code 0 gibbsite info -Q q.mtx
    says out "the least not computed: beyond double's range"
}

test_refused() {
    printf '%%%%MatrixMarket matrix array real general\n2 2\n1\n2\n2\n1\n' >indefinite.mtx
    code 3 gibbsite info -Q indefinite.mtx
    says err "indefinite.mtx: precision: not positive definite"
    # C34: the sign of one entry.
    printf '%%%%MatrixMarket matrix array real general\n3 3\n.01\n.01\n.005\n-.01\n.01\n.01\n.005\n.01\n.01\n' >sign.mtx
    code 3 gibbsite info -Q sign.mtx
    says err "not symmetric"
    # C31: singular by rounding only.
    third=-0.33333333333333333
    {
        printf '%%%%MatrixMarket matrix array real symmetric\n4 4\n'
        printf '%s\n' 1 $third $third $third 1 $third $third 1 $third 1
    } >third.mtx
    code 3 gibbsite info -Q third.mtx
    says err "null vector (1, 1, ..., 1) over sites 0..3"
    printf '%%%%MatrixMarket matrix array real general\n2 1\n1\n2\n' >tall.mtx
    code 3 gibbsite info -Q tall.mtx
    says err "has shape (2, 1), a square matrix is needed"
    printf '%%%%MatrixMarket matrix array real general\n1 1\nnan\n' >nan.mtx
    code 3 gibbsite info -Q nan.mtx
    # C79: a pattern without a diagonal.
    printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n' >pattern.mtx
    code 3 gibbsite info -Q pattern.mtx
    says err "pattern.mtx"
    code 4 gibbsite info -Q missing.mtx
    says err "missing.mtx: cannot be opened"
    code 4 gibbsite info -Q .
    printf 'nonsense\n' >text.mtx
    code 3 gibbsite info -Q text.mtx
    : >empty.mtx
    code 3 gibbsite info -Q empty.mtx
}

# A size that no dense matrix can have is refused at the size line, of a file and of a pipe, which is not read on:
# its writer, of 100 MB, does not come to its end.  Of the entries there are fewer than announced, but that comes later.
test_impossible_sizes() {
    echo 1 >one.csv
    head='%%%%MatrixMarket matrix coordinate real'
    for size in "symmetric\n1000000000 1000000000 1999999999" "general\n4000000000 4000000000 4000000000"; do
        n=$(printf "$size" | tail -n 1 | cut -d ' ' -f 1)
        printf "$head $size\n1 1 1\n" >q.mtx
        for verb in "info" "sample --seed 1 --draws 1 -o x.npy"; do
            code 4 gibbsite $verb -Q q.mtx
            says err "q.mtx: no memory for a dense matrix of $n rows and $n columns"
            { printf "$head $size\n"; yes "1 1 1" | head -c 100000000 && : >whole; } 2>pipe.err |
                code 4 gibbsite $verb -Q /dev/stdin || exit 1
            says err "/dev/stdin: no memory for a dense matrix of $n rows and $n columns"
            absent whole
        done
        code 4 gibbsite info -Q one.csv --rows q.mtx --row-lower 0
        says err "q.mtx: no memory for a dense matrix"
    done
    printf "$head symmetric\n1000000000 1000000000 7\n1 1 1\n" >q.mtx
    code 3 gibbsite info -Q q.mtx
    says err "q.mtx: announces 1000000000 rows and 1000000000 columns, but holds only 7 entries"
    printf '%%%%MatrixMarket matrix array real general\n4000000000 4000000000\n1\n' >q.mtx
    code 4 gibbsite info -Q q.mtx
    says err "q.mtx: no memory for a dense matrix of 4000000000 rows"
}

# The same matrix in every format is one model; C72: the order of a column-major file.
test_formats() {
    printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 -1\n2 2 3\n' >q.mtx
    printf '2,-1\n-1,3\n' >q.csv
    printf '"","a","b"\n"a",2,-1\n"b",-1,3\n' >named.csv
    echo 4000000000000000 bff0000000000000 bff0000000000000 4008000000000000 | npy '2, 2' q.npy
    code 0 gibbsite info -Q q.mtx
    sed 1d out >wanted
    for file in q.csv named.csv q.npy; do
        code 0 gibbsite info -Q $file
        sed 1d out >got
        same got wanted
    done
    code 0 gibbsite info -Q /dev/stdin <q.csv
    sed 1d out >got
    same got wanted
}

# C80: duplicates are summed and said; C34: a tiny asymmetry is accepted and said.
test_notices() {
    printf '%%%%MatrixMarket matrix coordinate real general\n2 2 5\n1 1 1\n1 1 1\n2 2 2\n1 2 -1\n2 1 -1.0000000001\n' >q.mtx
    code 0 gibbsite info -Q q.mtx --json
    says err "q.mtx: duplicate entries, summed: 1"
    says err "entries (1, 0) differ by 5e-11"
    [ "$(json out duplicates)" = 1 ] || fail "duplicates: expected 1, got $(json out duplicates)"
    near asymmetry "$(json out value)" 5e-11 1e-16
    near tau_max "$(json out tau_max)" 2 1e-9
}

# A missing number, a slip or quotes in the first field make no smaller model of a table.
test_csv_first_field() {
    printf ',-1,0\n-1,2,-1\n0,-1,2\n' >q.csv
    code 3 gibbsite info -Q q.csv
    says err "q.csv: line 1: field 1 is empty, so that row 1, column 1 would be NaN"
    printf 'NA,-1,0\n-1,2,-1\n0,-1,2\n' >q.csv
    code 3 gibbsite info -Q q.csv
    says err "q.csv: precision: Q[0,0] is NaN"
    for slip in 2o 0x2; do
        printf '%s,-1\n-1,2\n' $slip >q.csv
        code 3 gibbsite info -Q q.csv
        says err "q.csv: line 1: field 1: \"$slip\" is not a number, but field 1 of line 2 is"
    done
    printf '"2","-1"\r\n"-1","2"\r\n' >q.csv
    code 0 gibbsite info -Q q.csv
    says out "2 x 2, precision with 4 nonzeros"
    printf ',0,1,2\n0,2,-1,0\n1,-1,2,-1\n2,0,-1,2\n' >q.csv
    code 0 gibbsite info -Q q.csv
    says out "3 x 3, precision with 7 nonzeros"
    for fixed in ',0,1' '""\n0.0\n1.0' '"","0","1"' ',0\n0,\n1,0.0\n2,1.0'; do
        printf '%b\n' "$fixed" >fixed.csv
        code 0 gibbsite info -Q q.csv --fix fixed.csv
        says out "3 x 3, 2 sites fixed"
    done
}

# A CSV file of one number is a 1 x 1 matrix.
test_one_site() {
    echo 4 >one.csv
    code 0 gibbsite info -Q one.csv
    says out "1 x 1, precision with 1 nonzero (100 %)"
    code 0 gibbsite info -Q one.csv --lower 0
    says out "bounds        on 1 site;"
    code 0 gibbsite info -Q one.csv --rows one.csv --row-lower 0
    says out "constraints   1 row, "
}

run_tests
