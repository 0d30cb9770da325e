# gibbsite make: files by expected output, three spellings of one graph, damaged graphs.
. "$(dirname "$0")/lib.sh"

# Everything but comments, which name the command.
plain() {
    grep -v '^% ' "$1"
}

test_small_models() {
    code 0 gibbsite make ar1 -n 4 --phi 0.5 -o ar1.mtx
    same ar1.mtx "$here/expected/ar1.mtx"
    code 0 gibbsite make ar1 -n 1 --phi 0.5 -o one.mtx
    says one.mtx "1 1 0.75"
    code 0 gibbsite make lattice --rows 2 --cols 3 --kappa 0.1 -o lattice.mtx
    same lattice.mtx "$here/expected/lattice.mtx"
    code 0 gibbsite make torus --rows 3 --cols 3 --kappa 1 -o torus.mtx
    same torus.mtx "$here/expected/torus.mtx"
    code 0 gibbsite make car --graph "$here/small.graph" --rho 0.9 -o car.mtx
    same car.mtx "$here/expected/car.mtx"
    code 0 gibbsite make icar --graph "$here/small.graph" --kappa 0.5 -o icar.mtx
    same icar.mtx "$here/expected/icar.mtx"
}

# "-" is standard output, a pipe or a file, and no file of that name.
test_standard_output() {
    code 0 gibbsite make ar1 -n 4 --phi 0.5 -o -
    same out "$here/expected/ar1.mtx"
    absent ./-
    code 0 gibbsite make car --graph "$here/small.graph" --rho 0.9 -o -
    same out "$here/expected/car.mtx"
    "$program" make lattice --rows 2 --cols 3 --kappa 0.1 -o - | "$program" info -Q /dev/stdin >info.out
    says info.out "6 x 6, precision with 20 nonzeros"
    if [ -c /dev/full ]; then
        "$program" make ar1 -n 4 --phi 0.5 -o - >/dev/full 2>err
        [ $? = 4 ] || fail "exit code of a full standard output"
        says err "standard output: cannot be written"
    fi
    code 0 gibbsite make ar1 -n 4 --phi 0.5 -o ./-
    same ./- "$here/expected/ar1.mtx"
    # draws and checkpoints are whole files
    for options in "-o -" "-o - --format csv --chains 1" "--checkpoint - -o x.npy"; do
        # shellcheck disable=SC2086
        code 2 gibbsite sample -Q ./- --seed 1 --draws 5 $options
        says err "'-' is no file, and standard output cannot take what goes there; a file of that name is './-'"
    done
    absent x.npy
}

# The file of a seed is frozen: its bits come from the native stream and plain arithmetic.
test_random() {
    code 0 gibbsite make random -n 4 --cond 100 --seed 1 -o random.mtx
    same random.mtx "$here/expected/random.mtx"
    for cond in 1 100 1e8; do
        code 0 gibbsite make random -n 40 --cond $cond --seed 7 -o q.mtx
        code 0 gibbsite info -Q q.mtx --json
        near "condition over $cond" "$(json out condition | awk -v c=$cond '{ printf "%.15g", $1 / c }')" \
            1 "$(awk -v c=$cond 'BEGIN { print 40 * 2 ^ -52 * c + 1e-12 }')"
    done
    code 0 gibbsite make random -n 40 --cond 1e8 --seed 8 -o other.mtx
    cmp -s q.mtx other.mtx && fail "seeds 7 and 8 gave the same matrix"
    return 0
}

test_one_graph_three_ways() {
    for file in small.graph small.gal small.edges; do
        code 0 gibbsite make car --graph "$here/$file" --rho 0.9 -o "$file.mtx"
        plain "$file.mtx" >"$file.plain"
    done
    same small.gal.plain small.graph.plain
    same small.edges.plain small.graph.plain
    says small.graph.mtx "% INLA graph of 6 sites, 6 links"
    says small.gal.mtx "% GAL graph of 6 sites, 6 links"
    says small.edges.mtx "% edge list graph of 6 sites, 6 links"
}

test_nodes_of_an_edge_list() {
    code 3 gibbsite make car --graph "$here/small.edges" --nodes 7 --rho 0.9 -o q.mtx
    says err "site 6 (counted from 0) has no neighbours"
    code 0 gibbsite make icar --graph "$here/small.edges" --nodes 7 --kappa 2 -o q.mtx
    says q.mtx "7 7 2"
}

test_singular_is_said() {
    code 0 gibbsite make icar --graph "$here/small.graph" -o q.mtx
    says err "singular"
    code 3 gibbsite sample -Q q.mtx --seed 1
    says err "null vector (1, 1, ..., 1) over sites 0..5"
    printf 'nan\n0\nnan\nnan\nnan\nnan\n' >fix.csv
    code 0 gibbsite sample -Q q.mtx --seed 1 --fix fix.csv
    printf '0 1\n2 3\n' >parts.edges
    code 0 gibbsite make icar --graph parts.edges -o q.mtx
    says err "'sample' refuses it unless a site of each connected part is fixed (--fix)"
    printf 'nan\n0\nnan\nnan\n' >fix.csv
    code 3 gibbsite sample -Q q.mtx --seed 1 --fix fix.csv
    printf 'nan\n0\nnan\n0\n' >fix.csv
    code 0 gibbsite sample -Q q.mtx --seed 1 --fix fix.csv
    code 0 gibbsite make lattice --rows 3 --cols 3 --kappa 0 -o q.mtx
    says err "singular"
}

test_damaged_graphs() {
    code 4 gibbsite make car --graph missing.graph --rho 0.9 -o q.mtx
    says err "missing.graph: cannot be opened"
    printf '2\n1 1 2\n2 0\n' >asymmetric.graph
    code 3 gibbsite make car --graph asymmetric.graph --rho 0.9 -o q.mtx
    says err "asymmetric.graph"
    says err "1"
    says err "2"
    printf '3\n1 1 2\n2 1 1\n' >short.graph
    code 3 gibbsite make car --graph short.graph --rho 0.9 -o q.mtx
    printf '2\n1 1 7\n2 1 1\n' >range.graph
    code 3 gibbsite make car --graph range.graph --rho 0.9 -o q.mtx
    says err "7"
    printf '0 1\n5 900000\n' >sparse.edges
    code 3 gibbsite make icar --graph sparse.edges -o q.mtx
    says err "sparse.edges: the largest id is 900000, but the list has only 4 ids; if that is meant, give the number of sites by --nodes"
    : >empty.graph
    code 3 gibbsite make car --graph empty.graph --rho 0.9 -o q.mtx
    absent q.mtx
}

# A dense matrix is held; a sanitizer wants all of the address space.
test_too_large() {
    (ulimit -v 4000000 && gibbsite --version) >out 2>&1 || skip "this build does not run in 4 GB"
    (ulimit -v 4000000 && code 4 gibbsite make random -n 46340 --cond 2 --seed 1 -o q.mtx) || exit 1
    says err "-n: no memory for 2147395600 numbers of 8 bytes"
    [ "$(wc -l <err)" = 1 ] || fail "one line expected: $(cat err)"
    absent q.mtx
}

# All others are written entry by entry: where the matrix is larger than memory, it is the file that meets
# a limit, at once.
test_larger_than_memory() {
    (ulimit -v 4000000 && gibbsite --version) >out 2>&1 || skip "this build does not run in 4 GB"
    for options in "ar1 -n 2147483647 --phi 0.5" "lattice --rows 40000 --cols 40000 --kappa 1" \
        "torus --rows 46340 --cols 46340 --kappa 1"; do
        # shellcheck disable=SC2086
        (ulimit -v 4000000 && ulimit -f 2000 && code 4 gibbsite make $options -o q.mtx) || exit 1
        says err "q.mtx: cannot be written: File too large"
        [ "$(wc -l <err)" = 1 ] || fail "one line expected: $(cat err)"
        [ "$(ls -A | grep -cv -e '^out$' -e '^err$')" = 0 ] || fail "left behind: $(ls -A)"
    done
}

# Nothing but the older file is left; 100 GB are not written within a second.
test_interrupted() {
    for signal in INT TERM; do
        echo older >q.mtx
        code 5 timeout --preserve-status -s $signal 0.3 "$program" make ar1 -n 2147483647 --phi 0.5 -o q.mtx
        says err "interrupted, nothing was written"
        [ "$(cat q.mtx)" = older ] || fail "q.mtx was touched"
        [ "$(ls -A | grep -cv -e '^out$' -e '^err$')" = 1 ] || fail "left behind: $(ls -A)"
    done
}

test_missing_folder() {
    code 4 gibbsite make ar1 -n 3 --phi 0.5 -o nowhere/q.mtx
    says err "nowhere/q.mtx"
    code 4 gibbsite make ar1 -n 3 --phi 0.5 -o .
}

# Only Matrix Market is written; a name that promises another format is named.
test_other_names() {
    for name in q.npy q.csv q.nc; do
        code 0 gibbsite make ar1 -n 3 --phi 0.5 -o $name
        says err "warning: $name: is a Matrix Market file, whatever its name says"
        code 0 gibbsite info -Q $name
    done
    for name in q.mtx q; do
        code 0 gibbsite make ar1 -n 3 --phi 0.5 -o $name
        [ ! -s err ] || fail "notices: $(cat err)"
    done
}

run_tests
