# What happens to files when things go wrong: no half-written file under the final name, no
# rubbish beside it, an older file kept, and the right exit code.
. "$(dirname "$0")/lib.sh"

# 38 GB of draws: no machine is done with them in a second.
slow() { # OUTPUT: the options of a run that is always interrupted
    echo "sample -Q q.mtx --seed 1 --chains 8 --warmup 0 --draws 10000000 -o $1"
}

model() {
    code 0 gibbsite make random -n 60 --cond 10 --seed 1 -o q.mtx
}

only() { # FILES...: nothing else stands here, out and err apart
    rm -f out err
    wanted=$(printf '%s\n' "$@" | sort)
    got=$(ls -A)
    [ "$got" = "$wanted" ] || fail "expected the files $(echo $wanted), got $(echo $got)"
}

test_interrupted() {
    model
    for signal in INT TERM; do
        for file in draws.nc draws.npy; do
            # shellcheck disable=SC2046
            code 5 timeout --preserve-status -s $signal 1 "$program" $(slow $file)
            says err "interrupted, nothing was written"
            only q.mtx
        done
    done
}

test_interrupted_keeps_the_older_file() {
    model
    echo older >draws.npy
    # shellcheck disable=SC2046
    code 5 timeout --preserve-status -s INT 1 "$program" $(slow draws.npy)
    [ "$(cat draws.npy)" = older ] || fail "draws.npy was touched"
    only draws.npy q.mtx
}

# As `timeout` does it, to the process and then to its group: one interruption, and all is tidied up.
test_interrupted_twice_at_once() {
    model
    # shellcheck disable=SC2046
    "$program" $(slow draws.nc) >out 2>err &
    sleep 1
    kill -s TERM $! && kill -s TERM $!
    wait $!
    got=$?
    [ $got -eq 5 ] || fail "expected exit 5, got $got"
    only q.mtx
}

test_interrupted_without_a_file() {
    model
    code 5 timeout --preserve-status -s INT 1 "$program" sample -Q q.mtx --seed 1 --warmup 1000000000 --draws 10
    says err "interrupted"
    [ ! -s out ] || fail "something was printed"
}

# Killed, nobody can tidy up; but the final name stays free.
test_killed() {
    model
    # shellcheck disable=SC2046
    code 137 timeout -s KILL 1 "$program" $(slow draws.nc)
    absent draws.nc
}

test_no_such_folder() {
    model
    for file in nowhere/x.nc nowhere/x.npy nowhere/x.csv; do
        code 4 gibbsite sample -Q q.mtx --seed 1 -o $file
        says err "gibbsite: ${file%.*}"
        says err ": cannot be created"
    done
    mkdir folder.nc
    code 4 gibbsite sample -Q q.mtx --seed 1 -o folder.nc
    says err "folder.nc"
    rmdir folder.nc
    only q.mtx
}

# The temporary's own name must not shorten what a file system allows: 255 bytes.
test_long_names() {
    model
    stem=$(printf '%0251d' 7)
    code 0 gibbsite sample -Q q.mtx --seed 1 --draws 5 -o "$stem.npy"
    code 0 gibbsite make ar1 -n 3 --phi 0.5 -o "$stem.mtx"
    code 0 gibbsite sample -Q q.mtx --seed 1 --draws 5 -o "0$stem.nc"
    only q.mtx "$stem.npy" "$stem.mtx" "0$stem.nc"
    code 4 gibbsite sample -Q q.mtx --seed 1 --draws 5 -o "0$stem.npy"
    says err "0$stem.npy: cannot be written: File name too long"
}

test_unwritable_folder() {
    model
    mkdir locked
    chmod 555 locked
    as=
    if [ "$(id -u)" = 0 ]; then # whom permissions do not stop
        setpriv --reuid=65534 --clear-groups true 2>/dev/null ||
            skip "root cannot become nobody here, and permissions do not stop root"
        as="setpriv --reuid=65534 --clear-groups"
        chmod 755 "$scratch" .
        $as test -x "$program" || skip "nobody cannot run $program"
    fi
    for file in locked/x.nc locked/x.npy locked/x.csv; do
        # shellcheck disable=SC2086
        code 4 $as "$program" sample -Q q.mtx --seed 1 -o $file
        says err "${file%.*}"
        says err "Permission denied"
    done
    # shellcheck disable=SC2086
    code 4 $as "$program" make ar1 -n 3 --phi 0.5 -o locked/q.mtx
    chmod 755 locked
    [ -z "$(ls -A locked)" ] || fail "left behind: $(ls -A locked)"
}

# More than the disk takes is said before the run.
test_no_room() {
    model
    [ "$(df -Pk . | awk 'NR == 2 { print $4 }')" -lt 3700000000 ] || skip "this disk has room for 3.84 TB"
    for case in "x.npy 3.84e+03" "x.nc 3.92e+03" "x.csv 9.76e+03"; do
        # shellcheck disable=SC2086
        set -- $case
        "$program" sample -Q q.mtx --seed 1 --chains 8 --warmup 0 --draws 1000000000 --quiet -o $1 >out 2>err &
        tries=0
        while ! grep -q warning err && [ $tries -lt 600 ] && kill -0 $!; do
            sleep 0.1
            tries=$((tries + 1))
        done
        kill -s TERM $!
        status=0
        wait $! || status=$?
        [ $status = 5 ] || fail "expected exit code 5, got $status: $(cat err)"
        says err "warning: $1: about $2 GB will be written, but its file system has"
        code 0 gibbsite sample -Q q.mtx --seed 1 --draws 10 -o $1
        says_not err warning
    done
}

# A length that no file can have is refused before the run; the file that is there stays.
test_too_long() {
    model
    truncate -s 380P probe 2>/dev/null && skip "a file of 380 PB can be here"
    rm -f probe
    for file in x.npy x.nc; do
        echo older >$file
        code 4 gibbsite sample -Q q.mtx --seed 1 --warmup 0 --draws 200000000000000 -o $file
        says err "$file: cannot be written: it would have about 3."
        says err "e+08 GB, and no file may have so many here: File too large"
        [ "$(cat $file)" = older ] || fail "$file was touched"
    done
    only q.mtx x.npy x.nc
}

# Behind a link, as /dev/stdout is one, may lie a pipe.
test_pipe_behind_a_link() {
    model
    for what in "make ar1 -n 3 --phi 0.5" "sample -Q q.mtx --seed 1 --draws 5 --format npy"; do
        (
            # shellcheck disable=SC2086
            code 4 gibbsite $what -o /dev/fd/3
            says err "/dev/fd/3: cannot be written: exists and is not a regular file"
            : >refused
        ) 3>&1 | cat
        [ -e refused ] || exit 1
        rm refused
    done
    only q.mtx
}

# A file system of 300 kB for 1.9 MB of draws.
test_full_disk() {
    model
    mkdir small
    mount -t tmpfs -o size=300k none small 2>/dev/null ||
        skip "a full disk needs a small file system, and mounting one is not allowed here"
    status=0
    (
        for file in small/x.nc small/x.npy small/x.csv; do
            code 4 gibbsite sample -Q q.mtx --seed 1 -o $file
            says err "${file%.*}"
            says err "warning: $file: about "
            says err " MB will be written, but its file system has 0."
            says err "No space left on device"
            [ -z "$(ls -A small)" ] || fail "left behind: $(ls -A small)"
            echo "  $file: $(cat err | tail -n 1)"
        done
        # the checkpoint fits twice, the draws do not; and the other way round
        code 4 gibbsite sample -Q q.mtx --seed 1 --checkpoint small/ck -o small/x.npy
        [ "$(ls -A small)" = ck ] || fail "expected the checkpoint alone, got $(ls -A small)"
        code 0 gibbsite sample -Q q.mtx --resume small/ck --draws 3 --quiet
        rm small/ck
        code 4 gibbsite sample -Q q.mtx --seed 1 --chains 1000 --draws 2 --checkpoint small/ck -o y.npy
        says err "small/ck: cannot be written: No space left on device"
        absent y.npy
        code 4 gibbsite make random -n 200 --cond 10 --seed 1 -o small/q.mtx
        [ -z "$(ls -A small)" ] || fail "left behind: $(ls -A small)"
    ) || status=$?
    umount small
    return $status
}

# A file that another process has open and locked, as HDF5's readers do, is replaced by its name
# alone: whoever has it open keeps what it was.
test_open_elsewhere() {
    model
    for file in x.nc x.npy x.csv; do
        code 0 gibbsite sample -Q q.mtx --seed 1 --chains 1 --draws 10 -o $file
        cp $file before
        exec 9<$file
        flock -s 9 2>/dev/null || echo "  no flock here: open, not locked"
        code 0 gibbsite sample -Q q.mtx --seed 2 --chains 1 --draws 10 -o $file
        code 0 gibbsite summary $file
        cat <&9 >now
        same now before
        cmp -s $file before && fail "$file was not replaced"
        exec 9<&-
    done
    code 0 gibbsite sample -Q q.mtx --seed 1 --draws 10 --checkpoint ck -o y.npy
    cp ck before
    exec 9<ck
    code 0 gibbsite sample -Q q.mtx --resume ck --checkpoint ck --draws 10 -o y.npy
    cat <&9 >now
    same now before
    exec 9<&-
    echo "  netCDF, .npy, CSV and a checkpoint: replaced under an open file, which stays as it was"
}

test_full_standard_output() {
    [ -c /dev/full ] || skip "no /dev/full here"
    model
    for command in "info -Q q.mtx" "info -Q q.mtx --json" "sample -Q q.mtx --seed 1 --draws 10" \
        "sample --help" "selftest"; do
        # shellcheck disable=SC2086
        status=0
        gibbsite $command >/dev/full 2>err || status=$?
        [ $status = 4 ] || fail "$command: expected exit code 4, got $status"
        says err "standard output could not be written"
    done
}

# A device without an end is not read to the end of the memory.
test_endless_zeros() {
    [ -c /dev/zero ] || skip "no /dev/zero here"
    code 3 gibbsite info -Q /dev/zero
    says err "/dev/zero: byte 0: is zero: neither a text nor an array"
}

# A run that fails late must not replace what an earlier one wrote.
test_failure_keeps_the_older_file() {
    model
    code 0 gibbsite sample -Q q.mtx --seed 1 --draws 10 -o draws.nc
    cp draws.nc before.nc
    printf '%%%%MatrixMarket matrix array real general\n1 1\n-1\n' >bad.mtx
    code 3 gibbsite sample -Q bad.mtx --seed 1 -o draws.nc
    same draws.nc before.nc
    code 0 gibbsite sample -Q q.mtx --seed 1 --draws 10 -o draws.nc
    same draws.nc before.nc
}

run_tests
