# gibbsite sample: counting, options, locations, starts, streams, and posteriors known exactly.
# Statistics have fixed seeds and bounds of 5 Monte Carlo standard errors, so that for all of the
# file together a right program would be refused once in 1e5 choices of the seeds.
. "$(dirname "$0")/lib.sh"

ring() { # a small model in q.mtx
    code 0 gibbsite make car --graph "$here/small.graph" --rho 0.9 -o q.mtx
}

matrix() { # NAME ROWS COLUMNS VALUES...: a dense file, values by column
    name=$1
    printf '%%%%MatrixMarket matrix array real general\n%d %d\n' "$2" "$3" >"$name"
    shift 3
    printf '%s\n' "$@" >>"$name"
}

doubles() { # FILE: its elements as decimals, one a line
    header=$(od -An -t u2 -j 8 -N 2 "$1" | tr -d ' ')
    tail -c +$((header + 11)) "$1" | od -An -v -t f8 -w8 | tr -d ' '
}

test_summary_by_expected_output() {
    ring
    code 0 gibbsite sample -Q q.mtx --seed 1 --draws 500
    same out "$here/expected/sample_ring.txt"
    says err "gibbsite: seed 1"
    says err "run longer, or draw independently with --method exact"
    code 0 gibbsite sample -Q q.mtx --seed 1 --draws 500 --quiet
    same out "$here/expected/sample_ring.txt"
    echo "gibbsite: seed 1" >wanted # nothing else would tell it
    same err wanted
}

# With and without a file, in both formats: the same words.
test_summary_is_that_of_the_file() {
    ring
    for dtype in f32 f64; do
        code 0 gibbsite sample -Q q.mtx --seed 5 --draws 300 --dtype $dtype
        cp out direct
        for format in nc npy; do
            code 0 gibbsite sample -Q q.mtx --seed 5 --draws 300 --dtype $dtype -o draws.$format
            [ ! -s out ] || fail "with -o standard output must stay empty"
            code 0 gibbsite summary draws.$format
            same out direct
        done
    done
}

# C63: kept draw k is the state after warmup + (k + 1) thin sweeps.
test_counting() {
    ring
    code 0 gibbsite sample -Q q.mtx --seed 3 --chains 1 --warmup 0 --draws 1100 -o all.npy
    words all.npy | paste -d ' ' - - - - - - >all.txt
    for row in "1 1000" "10 100" "20 50" "7 142"; do
        thin=${row% *}
        draws=${row#* }
        code 0 gibbsite sample -Q q.mtx --seed 3 --chains 1 --warmup 100 --thin "$thin" \
            --draws "$draws" -o thin.npy
        [ "$(shape thin.npy)" = "1, $draws, 6" ] || fail "shape: $(shape thin.npy)"
        words thin.npy | paste -d ' ' - - - - - - >got.txt
        awk -v thin="$thin" 'NR > 100 && (NR - 100) % thin == 0' all.txt >wanted.txt
        same got.txt wanted.txt
        echo "  warm-up 100, thin $thin: $draws draws, each the right sweep of the unthinned run"
    done
    code 0 gibbsite sample -Q q.mtx --seed 3 --chains 1 --warmup 999 --draws 1 --thin 100 -o one.npy
    [ "$(words one.npy | paste -d ' ' - - - - - -)" = "$(sed -n 1099p all.txt)" ] ||
        fail "warm-up 999, one draw with thin 100: not sweep 1099"
}

# C92: axes of length one stay.
test_size_one_axes() {
    matrix one.mtx 1 1 4
    matrix three.mtx 3 3 2 0 0 0 2 0 0 0 2
    for row in "one 1 1" "one 1 5" "three 1 1" "three 2 1"; do
        # shellcheck disable=SC2086
        set -- $row
        case $1 in one) sites=1 ;; *) sites=3 ;; esac
        code 0 gibbsite sample -Q "$1.mtx" --seed 1 --chains "$2" --draws "$3" -o x.npy
        [ "$(shape x.npy)" = "$2, $3, $sites" ] || fail "expected $2, $3, $sites; got $(shape x.npy)"
        code 0 gibbsite sample -Q "$1.mtx" --seed 1 --chains "$2" --draws "$3" -o x.nc
        for file in x.npy x.nc; do
            code 0 gibbsite summary $file --json
            [ "$(json out chains) $(json out draws)" = "$2 $3" ] || fail "$file: $row"
            [ "$(grep -c '"mcse_mean"' out)" = "$sites" ] || fail "$file: $row: variables"
        done
        echo "  $2 chain(s), $3 draw(s), $sites site(s): both formats"
    done
}

test_instruction_sets_agree() {
    ring
    code 0 gibbsite sample -Q q.mtx --seed 9 --chains 70 --draws 20 -o scalar.nc --isa scalar
    for isa in auto avx2 avx512; do
        if gibbsite sample -Q q.mtx --seed 9 --draws 1 --isa $isa >out 2>err; then
            code 0 gibbsite sample -Q q.mtx --seed 9 --chains 70 --draws 20 -o $isa.nc --isa $isa
            same $isa.nc scalar.nc
            echo "  $isa: the same file as scalar"
        else
            says err "--isa: $isa is not available here"
            echo "  $isa: not on this machine"
        fi
    done
}

# C58: the same files, byte for byte.
test_same_draws_on_any_number_of_threads() {
    ring
    for options in "--dtype f64" "--dtype f32 --order symmetric" "--method exact" "--stream torch-cpu"; do
        # shellcheck disable=SC2086
        code 0 gibbsite sample -Q q.mtx --seed 9 --chains 150 --draws 20 $options -o one.npy --threads 1
        for threads in 0 2 3 7; do
            # shellcheck disable=SC2086
            code 0 gibbsite sample -Q q.mtx --seed 9 --chains 150 --draws 20 $options -o many.npy --threads $threads
            same many.npy one.npy
        done
        # shellcheck disable=SC2086
        code 0 gibbsite sample -Q q.mtx --seed 9 --chains 150 --draws 20 $options -o many.npy
        same many.npy one.npy
        echo "  $options: 1, 2, 3, 7 and the default number of threads"
    done
    # 0 is the default: one for each processor
    code 0 gibbsite sample -Q q.mtx --seed 9 --chains 150 --draws 20 --json
    default=$(json out threads)
    code 0 gibbsite sample -Q q.mtx --seed 9 --chains 150 --draws 20 --json --threads 0
    [ "$(json out threads)" = "$default" ] || fail "--threads 0: $(json out threads), not $default"
}

# Stationary AR(1), n = 8, phi = 0.6: all variances 1 / (1 - 0.36), trace 12.5.
test_traces() {
    code 0 gibbsite make ar1 -n 8 --phi 0.6 -o q.mtx
    for options in "" "--order backward" "--order symmetric" "--omega 1.4" "--dtype f32" \
        "--method exact" "--method exact --dtype f32" "--init zero" "--init mean --thin 3" \
        "--stream torch-cpu" "--stream torch-cuda:132:2048"; do
        # shellcheck disable=SC2086
        code 0 gibbsite sample -Q q.mtx --seed 11 --draws 10000 --json $options
        sed -n '/"trace"/,$p' out >tail
        near "trace ${options:-by default}" "$(json tail mean)" 12.5 \
            "$(json tail mcse | awk '{ print 5 * $1 }')"
    done
}

# C36: scales and means apart.  Covariance [[0.01, 0.1], [0.1, 100]], mean (100, -100).
test_scales() {
    matrix s.mtx 2 2 0.01 0.1 0.1 100
    matrix mu.mtx 2 1 100 -100
    code 0 gibbsite sample -Q s.mtx --covariance --mean mu.mtx --seed 2 --draws 10000 --json
    near "mean of x[0]" "$(json out mean 1)" 100 "$(json out mcse_mean 1 | awk '{ print 5 * $1 }')"
    near "mean of x[1]" "$(json out mean 2)" -100 "$(json out mcse_mean 2 | awk '{ print 5 * $1 }')"
    near "sd of x[0]" "$(json out sd 1)" 0.1 "$(json out mcse_sd 1 | awk '{ print 5 * $1 }')"
    near "sd of x[1]" "$(json out sd 2)" 10 "$(json out mcse_sd 2 | awk '{ print 5 * $1 }')"
    matrix q.mtx 2 2 1 0 0 0.01
    code 0 gibbsite sample -Q q.mtx --seed 2 --draws 10000 --json
    near "sd of x[0], Q = diag(1, 0.01)" "$(json out sd 1)" 1 "$(json out mcse_sd 1 | awk '{ print 5 * $1 }')"
    near "sd of x[1], Q = diag(1, 0.01)" "$(json out sd 2)" 10 "$(json out mcse_sd 2 | awk '{ print 5 * $1 }')"
}

# Q = [4 -2; -2 4]: mu = (1, 2), b = Q mu = (0, 6) and m = b_i / 4 = (0, 1.5) are one law, and with
# exact draws they differ by rounding only.
test_locations() {
    matrix q.mtx 2 2 4 -2 -2 4
    matrix mu.mtx 2 1 1 2
    matrix row.mtx 1 2 1 2
    matrix b.mtx 2 1 0 6
    matrix m.mtx 2 1 0 1.5
    i=0
    for location in "--mean mu.mtx" "--mean row.mtx" "--info b.mtx" "--offset m.mtx"; do
        # shellcheck disable=SC2086
        code 0 gibbsite sample -Q q.mtx $location --method exact --seed 4 --draws 4 -o x.npy
        doubles x.npy >x$i.txt
        paste x0.txt x$i.txt | awk '{ gap = $1 - $2; if (gap < 0) gap = -gap; if (gap > worst) worst = gap }
            END { printf "  largest difference %.2g, bound 4e-15\n", worst; exit !(NR == 32 && worst <= 4e-15) }' ||
            fail "$location differs from --mean mu.mtx"
        i=$((i + 1))
    done
    matrix three.mtx 3 1 1 2 3
    code 3 gibbsite sample -Q q.mtx --mean three.mtx --seed 4
    says err "three.mtx: has shape (3, 1), a vector of 2 is needed"
    code 4 gibbsite sample -Q q.mtx --mean missing.npy --seed 4
}

# Double holds the standard deviation of any entry, though not its square; a start that float does not hold is
# the fault of a matrix' entry.
test_out_of_range() {
    matrix tiny.mtx 1 1 5e-324
    code 0 gibbsite sample -Q tiny.mtx --seed 1 --warmup 0 --draws 2000 --json
    near "sd of x[0]" "$(json out sd)" 4.498e161 "$(json out mcse_sd | awk '{ print 5 * $1 }')"
    matrix wide.mtx 1 1 1e-75
    code 3 gibbsite sample -Q wide.mtx --dtype f32 --seed 1 --draws 5
    says err "gibbsite: wide.mtx: precision: site 0, where Q[0,0] = 1e-75, has the standard deviation 3.16227766e+37"
    code 0 gibbsite sample -Q wide.mtx --dtype f32 --seed 1 --draws 5 --init mean
}

# One sweep of independent sites with precision 4 is z / 2, whatever the start.
test_given_stream() {
    matrix unit.mtx 3 3 1 0 0 0 1 0 0 0 1
    matrix four.mtx 1 1 4
    code 0 gibbsite sample -Q unit.mtx --method exact --seed 8 --chains 5 --draws 1 -o z.npy
    doubles z.npy | awk '{ z[NR - 1] = $1 }
        END { for (b = 0; b < 3; b++) for (s = 2; s < 5; s++) printf "%.17g\n", z[3 * s + b] / 2 }' >wanted
    code 0 gibbsite sample -Q four.mtx --stream given:z.npy --chains 3 --warmup 2 --draws 3 --seed 1 -o x.npy
    doubles x.npy | awk '{ printf "%.17g\n", $1 }' >got
    same got wanted
    # Exact draws of one site are the same thing, without a warm-up.
    code 0 gibbsite sample -Q four.mtx --method exact --stream given:z.npy --chains 3 --draws 5 --seed 1 -o e.npy
    doubles e.npy | awk '{ printf "%.17g\n", $1 }' | awk 'NR % 5 > 2 || NR % 5 == 0' >got
    same got wanted
    code 3 gibbsite sample -Q four.mtx --stream given:z.npy --chains 3 --warmup 2 --draws 4 --seed 1 -o y.npy
    says err "z.npy: has shape (5, 1, 3), (sweeps, sites, chains) = (6 or more, 1, 3) is needed"
    code 3 gibbsite sample -Q four.mtx --stream given:z.npy --chains 2 --warmup 0 --draws 1 --seed 1 -o y.npy
    code 3 gibbsite sample -Q four.mtx --stream given:z.npy --chains 3 --warmup 0 --draws 3 --seed 1 \
        --order symmetric -o y.npy
    says err "(6 or more, 1, 3)"
    code 4 gibbsite sample -Q four.mtx --stream given:missing.npy --chains 3 --seed 1 -o y.npy
    absent y.npy
    echo "0000000000000000 3ff0000000000000 7ff8000000000000" | npy "3, 1, 1" nan.npy
    code 3 gibbsite sample -Q four.mtx --stream given:nan.npy --chains 1 --warmup 0 --draws 3 --seed 1
    says err "gibbsite: nan.npy: noise: sweep 2, site 0, chain 0 is nan, not finite in double"
}

# From (3, -1) with Q = [4 -2; -2 4] and b = 0, z = 0: x_0 = -1/2, x_1 = -1/4.
test_starts() {
    matrix q.mtx 2 2 4 -2 -2 4
    matrix x.mtx 1 2 3 -1
    matrix each.mtx 2 2 3 7 -1 2
    matrix zero.mtx 1 1 0
    npy "1, 2, 2" z.npy <<-END
		0000000000000000 0000000000000000 0000000000000000 0000000000000000
	END
    for init in x.mtx each.mtx; do
        code 0 gibbsite sample -Q q.mtx --init $init --stream given:z.npy --chains 2 --warmup 0 \
            --draws 1 --seed 1 -o out.npy
        doubles out.npy | awk '{ printf "%g ", $1 }' >got
        case $init in
        x.mtx) printf '%s' "-0.5 -0.25 -0.5 -0.25 " >wanted ;;
        *) printf '%s' "-0.5 -0.25 1 0.5 " >wanted ;;
        esac
        same got wanted
    done
    matrix wrong.mtx 3 2 1 2 3 4 5 6
    code 3 gibbsite sample -Q q.mtx --init wrong.mtx --chains 2 --seed 1
    says err "wrong.mtx: has shape (3, 2), (2, 2) or (2) is needed"
    code 4 gibbsite sample -Q q.mtx --init missing.npy --seed 1
    # zero and mean are words, everything else is a file.
    code 0 gibbsite sample -Q q.mtx --init zero --stream given:z.npy --chains 2 --warmup 0 --draws 1 --seed 1 -o out.npy
    doubles out.npy | awk '{ printf "%g ", $1 + 0 }' >got
    printf '%s' "0 0 0 0 " >wanted
    same got wanted
}

# torch.randn(4, device="cuda") after manual_seed(0), and randn(3) on the CPU, as torch prints them.
test_torch_streams() {
    matrix one.mtx 1 1 1
    once="--init zero --warmup 0 --draws 1 --dtype f32 --seed 0 --json"
    # shellcheck disable=SC2086
    code 0 gibbsite sample -Q one.mtx --stream torch-cuda:132:2048 --chains 4 $once -o cuda.npy
    # Seed 0, offset 4 after one call.
    says out '"generator_state": "00000000000000000400000000000000"'
    says out '"mapping_version": 1'
    tail -c 16 cuda.npy | od -An -v -t f4 -w4 >got
    for row in "1 -0.92466247" "2 -0.42534396" "3 -2.6438458" "4 0.14518386"; do
        near "torch-cuda element ${row% *}" "$(sed -n "${row% *}p" got | tr -d ' ')" "${row#* }" 5e-6
    done
    # shellcheck disable=SC2086
    code 0 gibbsite sample -Q one.mtx --stream torch-cpu --chains 3 $once -o cpu.npy
    state=$(json out generator_state | tr -d '"')
    [ ${#state} = 10112 ] || fail "torch-cpu state: expected 10112 hex digits, got ${#state}"
    tail -c 12 cpu.npy | od -An -v -t f4 -w4 >got
    for row in "1 1.5410" "2 -0.2934" "3 -2.1788"; do
        near "torch-cpu element ${row% *}" "$(sed -n "${row% *}p" got | tr -d ' ')" "${row#* }" 6e-5
    done
}

# The options that a run prints reproduce its file bit for bit.
test_printed_options_reproduce() {
    ring
    matrix "mu file.mtx" 6 1 1 2 3 4 5 6
    code 0 gibbsite sample -Q q.mtx --mean "mu file.mtx" --seed 21 --chains 3 --draws 40 --omega 1.3 \
        --order symmetric --thin 2 --dtype f32 -o a.npy --json
    options=$(json out options | sed 's/^"//; s/"$//')
    echo "  $options"
    code 0 sh -c "'$program' sample $options -o b.npy"
    same b.npy a.npy
}

test_json_is_alone_on_stdout() {
    ring
    code 0 gibbsite sample -Q q.mtx --seed 1 --draws 20 --json
    [ "$(head -n 1 out)" = "{" ] && [ "$(tail -n 1 out)" = "}" ] || fail "not one object"
    says out '"name": "x[5]"'
    says out '"file": null'
    code 0 gibbsite sample -Q q.mtx --seed 1 --draws 20 --json -o x.nc --quiet
    says out '"file": "x.nc"'
    says_not out '"summary"'
    [ ! -s err ] || fail "--quiet --json must leave standard error empty"
}

# No terminal, no progress line.
test_no_progress_line() {
    code 0 gibbsite make random -n 60 --cond 10 --seed 1 -o q.mtx
    code 0 gibbsite sample -Q q.mtx --seed 1 --chains 64 --draws 20000 --method gibbs -o x.npy
    says_not err "sweeps"
}

test_format_by_name_or_option() {
    ring
    code 0 gibbsite sample -Q q.mtx --seed 1 --draws 5 -o X.NPY
    [ "$(head -c 6 X.NPY | tail -c 5)" = NUMPY ] || fail "X.NPY is not an .npy file"
    code 0 gibbsite sample -Q q.mtx --seed 1 --draws 5 -o draws --format npy
    same draws X.NPY
    code 0 gibbsite sample -Q q.mtx --seed 1 --draws 5 -o odd.npy --format nc
    code 0 gibbsite summary odd.npy
}

# npy and Matrix Market are told apart by content, and [1, 2, 2] is no matrix.
test_matrix_from_npy() {
    matrix unit.mtx 2 2 1 0 0 1
    code 0 gibbsite sample -Q unit.mtx --seed 1 --chains 1 --draws 2 -o cube.mtx --format npy
    code 3 gibbsite sample -Q cube.mtx --seed 1
    says err "cube.mtx: has shape (1, 2, 2), a square matrix is needed"
    # The same file with its shape rewritten is a 2 x 2 matrix; draws are no precision.
    sed "s/(1, 2, 2)/(2, 2)   /" cube.mtx >square.npy
    code 3 gibbsite sample -Q square.npy --seed 1
    says err "square.npy: precision"
}

# Names of a CSV matrix are those of the draws, in the file and in the table; of a vector too.
test_names() {
    printf '"","a","b c"\n"a",2,-1\n"b c",-1,3\n' >q.csv
    printf 'a,1\nb c,2\n' >mu.csv
    printf '2,-1\n-1,3\n' >plain.csv
    code 0 gibbsite sample -Q q.csv --mean mu.csv --seed 1 --draws 50
    cp out direct
    says out "x[b c]"
    code 0 gibbsite sample -Q q.csv --mean mu.csv --seed 1 --draws 50 -o draws.nc
    code 0 gibbsite summary draws.nc
    same out direct
    code 0 gibbsite sample -Q plain.csv --mean mu.csv --seed 1 --draws 50
    same out direct
    code 0 gibbsite sample -Q q.csv --mean mu.csv --seed 1 --draws 50 -o draws.npy
    code 0 gibbsite sample -Q plain.csv --mean mu.csv --seed 1 --draws 50 -o plain.npy
    same draws.npy plain.npy
    printf 'b c,2\na,1\n' >mu.csv
    code 3 gibbsite sample -Q q.csv --mean mu.csv --seed 1
    says err 'mu.csv: number 1 is named "b c", but "a" in q.csv'
    printf 'b c,\na,1\n' >fixed.csv
    code 3 gibbsite sample -Q q.csv --fix fixed.csv --seed 1
    says err 'fixed.csv: number 1 is named "b c", but "a" in q.csv'
    printf '1o,5\n2,6\n' >mu.csv
    code 3 gibbsite sample -Q plain.csv --mean mu.csv --seed 1
    says err 'mu.csv: line 1: field 1: "1o" is not a number, but field 1 of line 2 is; a name'
    printf 'mu\n0,5\n1,5\n' >mu.csv
    code 3 gibbsite sample -Q plain.csv --mean mu.csv --seed 1
    says err 'mu.csv: line 2: field 1: "0" would be the name of a row'
    printf '1o,5,6\n1,2,3\n1,2,3\n1,2,3\n' >start.csv
    code 3 gibbsite sample -Q plain.csv --init start.csv --seed 1
    says err 'start.csv: line 1: field 1: "1o" is not a number, but field 1 of line 2 is; a name'
    printf '#N/A,1\n1,1\n' >rows.csv
    code 3 gibbsite sample -Q plain.csv --rows rows.csv --row-upper 9 --seed 1
    says err 'rows.csv: line 1: field 1: "#N/A" is not a number'
    printf 'b c,a\n1,2\n' >start.csv
    code 3 gibbsite sample -Q q.csv --init start.csv --seed 1
    says err 'start.csv: number 1 is named "b c", but "a" in q.csv'
    # Rows that are chains or constraints are no sites, even where there are as many.
    printf 'c1,0,1\nc2,1,0\n' >start.csv
    printf ',a,b c\ninc,1,-1\nsum,1,1\n' >rows.csv
    code 0 gibbsite sample -Q q.csv --init start.csv --chains 2 --seed 1 --draws 5
    code 0 gibbsite sample -Q q.csv --rows rows.csv --row-upper 9 --seed 1 --draws 5
    says out "x[b c]"
    # But bounds of rows are theirs.
    printf 'inc,1\nsum,9\n' >upper.csv
    code 0 gibbsite sample -Q q.csv --rows rows.csv --row-upper upper.csv --seed 1 --draws 5
    printf 'sum,9\ninc,1\n' >lower.csv
    code 3 gibbsite sample -Q q.csv --rows rows.csv --row-upper lower.csv --seed 1
    says err 'lower.csv: number 1 is named "sum", but row "inc" in rows.csv'
    printf '1,-1\n1,1\n' >rows.csv
    code 3 gibbsite sample -Q q.csv --rows rows.csv --row-lower lower.csv --row-upper upper.csv --seed 1
    says err 'upper.csv: number 1 is named "inc", but row "sum" in lower.csv'
    # A matrix without names: such as count its sites must do so in its order.
    for names in V2,V1 x.2,x.1 'x[1],x[0]'; do
        printf '%s\n1,2\n' "$names" >start.csv
        code 3 gibbsite sample -Q plain.csv --init start.csv --seed 1
        says err "start.csv: number 1 is named \"${names%,*}\", but the matrix names no sites, so they are counted"
    done
    for names in V1,V2 x.1,x.2 b,a V2,W1 x0,x2; do
        printf '%s\n1,2\n' "$names" >start.csv
        code 0 gibbsite sample -Q plain.csv --init start.csv --seed 1 --draws 5
    done
    # A slip in a number is not a line of names, though one row would do as a start.
    printf '0.5,O.3\n1,2\n' >start.csv
    code 3 gibbsite sample -Q plain.csv --init start.csv --seed 1
    says err 'start.csv: line 1: field 2: "O.3" is not a number, but field 1 is'
    : >empty.csv
    code 3 gibbsite sample -Q empty.csv --seed 1
    says err 'empty.csv: is empty'
    code 3 gibbsite summary empty.csv
    says err 'empty.csv: is empty'
    printf 'a,b\n2,-1\n-1,x\n' >q.csv
    code 3 gibbsite sample -Q q.csv --seed 1
    says err 'q.csv: line 3: field 2: "x" is not a number'
    code 2 gibbsite sample -Q plain.csv --seed 1 -o plain.csv --format npy
    says err "is an input of this run"
}

run_tests
