# gibbsite bench: the form of what it prints.  Speed itself is not tested.
. "$(dirname "$0")/lib.sh"

test_table() {
    code 0 gibbsite bench --dims 2,5 --chains 1,3 --seconds 0.002
    says out "1 thread"
    [ "$(grep -c "^f[0-9]*: at most .* normals and .* multiply-adds a second$" out)" = 2 ] || fail "two types"
    [ "$(grep -c "updates/s" out)" = 2 ] || fail "two tables"
    # D, chains, rate, share, of which ceiling, kernel
    rows=$(grep -cE "^ +[25] +[13] +[0-9.e+]+ +[0-9.]+%  (arithmetic|reading   )  sweep_dense_f(32|64)_[a-z0-9_]+$" out)
    [ "$rows" = 8 ] || fail "8 rows, got $rows"
}

test_json() {
    code 0 gibbsite bench --dims 4 --chains 2 --dtype f64 --seconds 0.002 --threads 2 --json
    for key in '"verb": "bench"' '"threads": 2' '"seconds": 0.002' '"dtype": "f64"' '"dim": 4' '"chains": 2' \
        '"kernel": "sweep_dense_f64_' '"normals_per_second": ' '"fmas_per_second": ' \
        '"updates_per_second": ' '"share": ' '"share_of": "' '"read_bytes_per_second": '; do
        says out "$key"
    done
    says_not out f32
    says_not out null
}

test_scalar() {
    code 0 gibbsite bench --dims 3 --chains 2 --dtype f32 --seconds 0.002 --isa scalar
    says out ", scalar, 1 thread"
    says out "sweep_dense_f32_scalar"
}

test_refused() {
    for list in 0 8, 8,,9 8x -3 65537 1,2,x; do
        code 2 gibbsite bench --dims "$list"
        says err "--dims: '$list' is not a list"
    done
    code 2 gibbsite bench --dims ""
    code 2 gibbsite bench --chains 0
    says err "--chains: '0' is not a list"
    code 2 gibbsite bench --seconds 0
    code 2 gibbsite bench --threads -1
    says err "--threads: -1 is out of range, 0 to 1024 is allowed"
    code 2 gibbsite bench --dtype f16
    code 2 gibbsite bench extra
}

# As many chains as no memory holds: said, and no number in their place.
test_no_memory() {
    code 4 gibbsite bench --dims 2 --chains 1099511627776 --seconds 0.002 --dtype f32
    [ -s err ] || fail "no message"
}

run_tests
