# gibbsite sample -o FILE.csv: one file a chain as CmdStan writes it, with the numbers of the other
# formats, and nothing half-written when one of the files fails.
. "$(dirname "$0")/lib.sh"

model() {
    code 0 gibbsite make ar1 -n 3 --phi 0.6 -o q.mtx
}

rows() { # FILE: its lines of numbers
    grep -v '^#' "$1" | tail -n +2
}

test_summary_is_that_of_netcdf() {
    model
    for dtype in f32 f64; do
        options="--seed 3 --chains 3 --draws 200 --dtype $dtype"
        # shellcheck disable=SC2086
        code 0 gibbsite sample -Q q.mtx $options -o d.csv
        [ ! -s out ] || fail "with -o standard output must stay empty"
        # shellcheck disable=SC2086
        code 0 gibbsite sample -Q q.mtx $options -o d.nc
        code 0 gibbsite summary d_1.csv d_2.csv d_3.csv --json
        grep -v '"name"\|"file\|csv"\|\]\|\[' out >csv.json
        code 0 gibbsite summary d.nc --json
        grep -v '"name"\|"file\|csv"\|\]\|\[' out >nc.json
        same csv.json nc.json
        [ "$(wc -l <nc.json)" -gt 20 ] || fail "nothing was compared"
        absent d.csv d_4.csv
    done
    echo "  3 chains of 200 draws, f32 and f64: every figure is that of the netCDF file"
}

# Columns, settings, and numbers that read back as the same doubles.
test_what_is_in_it() {
    model
    code 0 gibbsite sample -Q q.mtx --seed 3 --chains 1 --warmup 5 --draws 4 --thin 2 -o d.csv
    for line in "#     num_samples = 8" "#     num_warmup = 5" "#     save_warmup = 0" \
        "#     thin = 2" "# id = 1" "# seed = 3" "# algorithm = gibbs" "lp__,x.1,x.2,x.3"; do
        grep -qxF -- "$line" d.csv || fail "no line '$line' in $(cat d.csv)"
    done
    code 0 gibbsite sample -Q q.mtx --seed 3 --chains 1 --warmup 5 --draws 4 --thin 2 -o d.npy
    header=$(od -An -t u2 -j 8 -N 2 d.npy | tr -d ' ')
    tail -c +$((header + 11)) d.npy | od -An -v -t f8 -w8 | awk '{ printf "%.15g\n", $1 }' >wanted
    rows d.csv | cut -d , -f 2- | tr , '\n' | awk '{ printf "%.15g\n", $1 }' >got
    same got wanted
    [ "$(wc -l <got)" = 12 ] || fail "expected 12 numbers, got $(wc -l <got)"
}

# The warm-up's lines are those of a run without one, thinned alike; then come the same draws.
test_warmup() {
    model
    code 0 gibbsite sample -Q q.mtx --seed 3 --chains 2 --warmup 0 --draws 10 --thin 3 -o all.csv
    code 0 gibbsite sample -Q q.mtx --seed 3 --chains 2 --warmup 12 --draws 6 --thin 3 --save-warmup -o with.csv
    code 0 gibbsite sample -Q q.mtx --seed 3 --chains 2 --warmup 12 --draws 6 --thin 3 -o without.csv
    for chain in 1 2; do
        rows all_$chain.csv >wanted
        rows with_$chain.csv >got
        same got wanted
        rows without_$chain.csv >got
        tail -n 6 wanted >last
        same got last
    done
    code 0 gibbsite summary with_1.csv with_2.csv
    cp out wanted
    code 0 gibbsite summary without_1.csv without_2.csv
    same out wanted
    echo "  4 draws of the warm-up before 6 others, the lines of one run of 10"
}

test_names() {
    model
    mkdir a.b
    code 0 gibbsite sample -Q q.mtx --seed 3 --chains 2 --draws 4 --format csv -o a.b/draws
    [ -e a.b/draws_1 ] && [ -e a.b/draws_2 ] || fail "$(ls a.b)"
    code 0 gibbsite sample -Q q.mtx --seed 3 --chains 1 --draws 4 -o a.b/x.y.csv
    [ -e a.b/x.y.csv ] || fail "$(ls a.b)"
    code 0 gibbsite sample -Q q.mtx --seed 3 --chains 12 --draws 4 -o a.b/x.y.CSV
    [ -e a.b/x.y_12.CSV ] || fail "$(ls a.b)"
    code 0 gibbsite sample -Q q.mtx --seed 3 --draws 4 --json -o x.csv
    [ "$(json out format)" = '"csv"' ] || fail "format: $(json out format)"
}

test_resumed_and_interrupted() {
    model
    code 0 gibbsite sample -Q q.mtx --seed 3 --chains 2 --warmup 9 --draws 10 -o whole.csv
    code 0 gibbsite sample -Q q.mtx --seed 3 --chains 2 --warmup 9 --draws 4 -o a.csv --checkpoint ck
    code 0 gibbsite sample -Q q.mtx --resume ck --draws 6 -o b.csv
    for chain in 1 2; do
        rows whole_$chain.csv >wanted
        { rows a_$chain.csv; rows b_$chain.csv; } >got
        same got wanted
    done
    code 5 timeout --preserve-status -s INT 3 "$program" sample -Q q.mtx --seed 3 --chains 2 \
        --warmup 6 --save-warmup --draws 100000000 --keep-partial -o part.csv
    kept=$(sed -n 's/.*part.csv: the \([0-9]*\) draws* so far/\1/p' err)
    [ "${kept:-0}" -gt 0 ] || fail "nothing was kept: $(cat err)"
    code 0 gibbsite sample -Q q.mtx --seed 3 --chains 2 --warmup 6 --save-warmup --draws "$kept" -o whole.csv
    same part_1.csv whole_1.csv
    same part_2.csv whole_2.csv
    echo "  interrupted after $kept draws: the files of a run of so many"
    [ -z "$(find . -name '.gibbsite-*')" ] || fail "left behind: $(find . -name '.gibbsite-*')"
}

# One of the files cannot be: none is written, and older ones stay.
test_one_file_fails() {
    model
    echo older >x_1.csv
    mkdir x_3.csv
    code 4 gibbsite sample -Q q.mtx --seed 3 --draws 4 -o x.csv
    says err "x_3.csv: cannot be written: exists and is not a regular file"
    [ "$(cat x_1.csv)" = older ] || fail "x_1.csv was touched"
    absent x_2.csv x_4.csv
    rmdir x_3.csv
    code 5 timeout --preserve-status -s INT 1 "$program" sample -Q q.mtx --seed 3 --draws 100000000 -o x.csv
    [ "$(cat x_1.csv)" = older ] || fail "x_1.csv was touched"
    absent x_2.csv
    [ -z "$(find . -name '.gibbsite-*')" ] || fail "left behind: $(find . -name '.gibbsite-*')"
}

test_refused() {
    model
    cp q.mtx q_1.csv
    code 2 gibbsite sample -Q q_1.csv --seed 3 --draws 4 -o q.csv
    says err "-o: 'q_1.csv' is an input of this run"
    code 2 gibbsite sample -Q q.mtx --moments-only -o x.csv
    says err "--moments-only: CSV has no place for it, netCDF has"
    code 2 gibbsite sample -Q q.mtx -o x.txt
    says err "-o: 'x.txt' ends in none of .nc, .npy and .csv"
}

# What an earlier run with more chains has left is named where it is, and where it is read.
test_older_files() {
    model
    code 0 gibbsite sample -Q q.mtx --seed 3 --chains 4 --draws 50 -o st.csv
    says_not err warning
    code 0 gibbsite summary st_*.csv
    [ ! -s err ] || fail "notices: $(cat err)"
    code 0 gibbsite sample -Q q.mtx --seed 4 --chains 2 --draws 50 -o st.csv
    says err "warning: st_3.csv and those that follow it: left by an earlier run; a pattern of names takes it for"
    code 0 gibbsite summary st_*.csv
    for k in 3 4; do
        says err "warning: st_$k.csv: is of another run than st_1.csv (seed 3, 4 chains; there seed 4, 2 chains)"
    done
    rm st_4.csv
    code 0 gibbsite sample -Q q.mtx --seed 4 --chains 2 --draws 50 -o st.csv
    says err "warning: st_3.csv: left by an earlier run;"
    code 0 gibbsite make ar1 -n 3 --phi 0.7 -o other.mtx
    code 0 gibbsite sample -Q other.mtx --seed 3 --chains 2 --draws 50 -o st.csv
    code 3 gibbsite summary st_*.csv
    says err "st_3.csv: is of another model than st_1.csv (hash "
    code 0 gibbsite summary st_1.csv st_2.csv
    # netCDF says it too; files that say nothing are taken as they are.
    code 0 gibbsite sample -Q q.mtx --seed 3 --draws 50 -o a.nc
    code 0 gibbsite sample -Q other.mtx --seed 3 --draws 50 -o b.nc
    code 3 gibbsite summary a.nc b.nc
    says err "b.nc: is of another model than a.nc"
    grep -v "run_id\|model_hash" st_3.csv >bare.csv
    code 0 gibbsite summary bare.csv bare.csv
    [ ! -s err ] || fail "notices: $(cat err)"
    code 0 gibbsite summary st_3.csv bare.csv
    says err "warning: bare.csv: does not say of which run it is, as st_3.csv does"
    # The same model in another file, and the same numbers from other ones, is the same model.
    cp q.mtx copy.mtx
    code 0 gibbsite sample -Q copy.mtx --seed 3 --chains 2 --draws 50 -o c.csv
    code 0 gibbsite summary c_1.csv st_3.csv
}

run_tests
