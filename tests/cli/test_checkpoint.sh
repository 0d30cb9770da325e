# gibbsite sample --checkpoint, --resume, --keep-partial: a run in pieces is the whole run, word for
# word; killed or interrupted, it goes on from where it was; and no other run goes on from it.
. "$(dirname "$0")/lib.sh"

model() {
    code 0 gibbsite make random -n 12 --cond 10 --seed 1 -o q.mtx
}

# One chain, 12 sites: a line of 12 words a draw.
rows() { # FILE
    words "$1" | paste -d ' ' - - - - - - - - - - - -
}

# Starts a run in the background, and stops it by SIGNAL so many SECONDS after its first
# checkpoint, when all its files are open.
stop() { # SIGNAL SECONDS WANTED_CODE OPTIONS...
    signal=$1
    seconds=$2
    wanted=$3
    shift 3
    rm -f ck
    "$program" sample -Q q.mtx --seed 7 --chains 1 --checkpoint ck "$@" >out 2>err &
    process=$!
    while [ ! -e ck ] && kill -0 $process 2>/dev/null; do sleep 0.01; done
    sleep "$seconds"
    kill -s "$signal" $process
    status=0
    wait $process || status=$?
    [ $status = "$wanted" ] || fail "stopped by $signal: expected exit code $wanted, got $status: $(cat err)"
}

# In pieces: OPTIONS are those of the run; the second piece asks for nothing but the checkpoint's.
pieces() { # OPTIONS...
    code 0 gibbsite sample -Q q.mtx --seed 7 --chains 1 --draws 50 -o whole.npy "$@"
    code 0 gibbsite sample -Q q.mtx --seed 7 --chains 1 --draws 20 -o a.npy --checkpoint ck "$@"
    code 0 gibbsite sample -Q q.mtx --resume ck --checkpoint ck --draws 13 -o b.npy --isa scalar --threads 1
    code 0 gibbsite sample -Q q.mtx --resume ck --draws 17 -o c.npy --threads 3
    rows whole.npy >whole.txt
    for part in a b c; do rows $part.npy; done >parts.txt
    [ "$(wc -l <whole.txt)" = 50 ] || fail "the whole run has not 50 draws"
    same parts.txt whole.txt
    echo "  50 draws in 3 pieces, ${*:-by default}"
}

test_pieces_are_the_whole() {
    model
    pieces
    pieces --warmup 10 --thin 7
    pieces --dtype f64 --order symmetric --omega 1.3
    pieces --order backward
    pieces --method exact
    pieces --stream torch-cpu
    pieces --stream torch-cuda:132:2048 --thin 2
}

# --dtype f32 is the checkpoint's too, and with or without a file the words are the same.
test_pieces_in_float() {
    model
    code 0 gibbsite sample -Q q.mtx --seed 7 --dtype f32 --chains 3 --draws 4 -o a.npy --checkpoint ck
    code 0 gibbsite sample -Q q.mtx --resume ck --draws 5 -o b.nc
    code 0 gibbsite sample -Q q.mtx --resume ck --draws 5 --json
    says out '"first_draw": 4'
    says out '"dtype": "f32"'
    says out "--resume ck"
    sed '1,/"summary"/d; s/^ *//; s/^}$//' out | sed '/^$/d' >direct
    code 0 gibbsite summary b.nc --json
    sed '1,/"file"/d; s/^ *//; s/^}$//' out | sed '/^$/d' >of_file
    same direct of_file
}

test_given_noise_goes_on() {
    model
    awk 'BEGIN { for (k = 0; k < 40 * 12; k++) print k % 3 ? "3fe0000000000000" : "bff0000000000000" }' |
        npy "40, 12, 1" noise.npy
    code 0 gibbsite sample -Q q.mtx --seed 7 --chains 1 --warmup 10 --draws 30 --stream given:noise.npy -o whole.npy
    code 0 gibbsite sample -Q q.mtx --seed 7 --chains 1 --warmup 10 --draws 11 --stream given:noise.npy -o a.npy \
        --checkpoint ck
    code 2 gibbsite sample -Q q.mtx --resume ck --draws 19 -o b.npy
    says err "ck is of a run with --stream given:FILE, which must be given again"
    code 3 gibbsite sample -Q q.mtx --resume ck --draws 20 --stream given:noise.npy -o b.npy
    says err "noise.npy: has shape (40, 12, 1), (sweeps, sites, chains) = (41 or more, 12, 1) is needed"
    code 0 gibbsite sample -Q q.mtx --resume ck --draws 19 --stream given:noise.npy -o b.npy
    rows whole.npy >whole.txt
    for part in a b; do rows $part.npy; done >parts.txt
    same parts.txt whole.txt
}

# Killed at a moment that differs from run to run; whatever it hits, what follows the checkpoint is
# the whole run's.
test_killed_and_resumed() {
    model
    for after in 0 0.02 0.05 0.1 0.3; do
        stop KILL $after 137 --warmup 20 --thin 3 --draws 1000000000 -o killed.npy --every 1
        absent killed.npy
        code 0 gibbsite sample -Q q.mtx --resume ck --draws 5 --json -o rest.npy
        first=$(json out first_draw)
        last=$((first + 5))
        code 0 gibbsite sample -Q q.mtx --seed 7 --chains 1 --warmup 20 --thin 3 --draws $last -o whole.npy
        rows rest.npy >rest.txt
        rows whole.npy | tail -n 5 >wanted.txt
        same rest.txt wanted.txt
        echo "  killed after $after s: the checkpoint is of draw $first, what follows is right"
        rm -rf ck .gibbsite-*
    done
}

# In the warm-up: what is left of it is done first, and there is no draw to keep yet.
test_resumed_in_the_warmup() {
    model
    stop TERM 0.1 5 --warmup 3000000 --draws 10 -o part.npy --keep-partial
    says err "ck: checkpoint after"
    absent part.npy
    echo "  $(sed -n 's/.*\(checkpoint after\)/\1/p' err) of a warm-up of 3000000"
    code 0 gibbsite sample -Q q.mtx --resume ck --draws 10 -o rest.npy
    code 0 gibbsite sample -Q q.mtx --seed 7 --chains 1 --warmup 3000000 --draws 10 -o whole.npy
    same rest.npy whole.npy
}

test_interrupted_keeps_the_draws() {
    model
    for format in npy nc; do
        stop TERM 1 5 --warmup 0 --draws 100000000 --thin 20 --keep-partial -o part.$format
        says err "part.$format: the "
        kept=$(sed -n 's/.*: the \([0-9]*\) draws* so far/\1/p' err)
        code 0 gibbsite sample -Q q.mtx --resume ck --draws 2 --json -o rest.npy
        [ "$(json out first_draw)" = "$kept" ] || fail "$kept draws kept, but the checkpoint counts $(json out first_draw)"
        code 0 gibbsite summary part.$format --json
        [ "$(json out draws)" = "$kept" ] || fail "$kept draws kept, but the file has $(json out draws)"
        code 0 gibbsite sample -Q q.mtx --seed 7 --chains 1 --warmup 0 --draws "$kept" --thin 20 -o whole.$format
        same part.$format whole.$format
        echo "  .$format: $kept draws, the same file as of a run of $kept draws"
        rm -f part.* rest.* whole.*
    done
    [ -z "$(find . -name '.gibbsite-*')" ] || fail "left behind: $(find . -name '.gibbsite-*')"
}

test_interrupted_without_keeping() {
    model
    stop TERM 0.5 5 --draws 100000000 -o x.nc
    says err "ck: checkpoint after"
    rm out err
    [ "$(ls -A | sort | tr '\n' ' ')" = "ck q.mtx " ] || fail "expected ck and q.mtx, got $(ls -A)"
}

test_other_runs_are_refused() {
    model
    code 0 gibbsite sample -Q q.mtx --seed 7 --draws 4 --thin 3 --checkpoint ck -o a.npy
    refuse() { # TEXT OPTIONS...
        text=$1
        shift
        code 3 gibbsite sample -Q q.mtx --resume ck --draws 5 -o b.npy "$@"
        says err "$text"
        absent b.npy
    }
    refuse "ck: is of a run with --seed 7, 8 was given" --seed 8
    refuse "ck: is of a run with --chains 4, 5 was given" --chains 5
    refuse "ck: is of a run with --dtype f64, f32 was given" --dtype f32
    refuse "ck: is of a run with --order forward, backward was given" --order backward
    refuse "ck: is of a run with --omega 1, 1.5 was given" --omega 1.5
    refuse "ck: is of a run with --thin 3, 2 was given" --thin 2
    refuse "ck: is of a run with --stream native, torch-cpu was given" --stream torch-cpu
    refuse "ck: is of a run with --method gibbs, exact was given" --method exact
    code 0 gibbsite sample -Q q.mtx --resume ck --draws 5 -o b.npy --seed 7 --chains 4 --thin 3 --omega 1
    rm b.npy
    code 0 gibbsite make random -n 12 --cond 11 --seed 1 -o other.mtx
    code 3 gibbsite sample -Q other.mtx --resume ck --draws 5
    says err "ck: its precision is another one"
    code 0 gibbsite make random -n 13 --cond 11 --seed 1 -o other.mtx
    code 3 gibbsite sample -Q other.mtx --resume ck --draws 5
    says err "ck: its sites: 12, the sampler's: 13"
    printf '%%%%MatrixMarket matrix array real general\n12 1\n1\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n' >mu.mtx
    code 3 gibbsite sample -Q q.mtx --mean mu.mtx --resume ck --draws 5
    says err "ck: its location is another one"
}

test_damaged_checkpoints() {
    model
    code 0 gibbsite sample -Q q.mtx --seed 7 --draws 4 --checkpoint ck -o a.npy
    code 3 gibbsite sample -Q q.mtx --resume q.mtx --draws 5
    says err "q.mtx: checkpoint: this is not one"
    head -c 300 ck >short
    code 3 gibbsite sample -Q q.mtx --resume short --draws 5
    says err "short: checkpoint: it has 300 bytes and should have"
    { head -c 300 ck; printf x; tail -c +302 ck; } >changed
    code 3 gibbsite sample -Q q.mtx --resume changed --draws 5
    says err "changed: checkpoint: damaged, its checksum does not fit"
    : >empty
    code 3 gibbsite sample -Q q.mtx --resume empty --draws 5
    says err "empty: checkpoint: this is not one"
    code 4 gibbsite sample -Q q.mtx --resume nowhere --draws 5
    says err "nowhere: cannot be opened"
}

# The file with another word, and the checksum that then fits: core/hash.c in the shell's 64 bits.
forge() { # FILE WORD VALUE
    {
        head -c $((8 * $2)) "$1"
        little $3
        tail -c +$((8 * $2 + 9)) "$1" | head -c -8
    } >forged
    hash=-7046029254386353131
    for word in $(od -An -v -t d8 -w8 forged); do
        z=$((hash ^ word))
        z=$(((z ^ (z >> 30 & 0x3ffffffff)) * -4658895280553007687))
        z=$(((z ^ (z >> 27 & 0x1fffffffff)) * -7723592293110705685))
        hash=$(((z ^ (z >> 31 & 0x1ffffffff)) + -7046029254386353131))
    done
    little $hash >>forged
}

little() { # a number's eight bytes
    for byte in 0 8 16 24 32 40 48 56; do
        # shellcheck disable=SC2059
        printf "\\$(printf %03o $(($1 >> byte & 255)))"
    done
}

# Well-formed and with the right checksum, but with counts that no run has.
test_forged_counts() {
    model
    code 0 gibbsite sample -Q q.mtx --seed 7 --chains 1 --warmup 5 --draws 4 --thin 3 --checkpoint ck -o a.npy
    forge ck 20 3
    same forged ck
    forge ck 20 4611686018427387904
    code 3 gibbsite sample -Q q.mtx --resume forged --draws 5
    says err "forged: its counts make no sense: 17 sweeps, of them 5 of warm-up, 4611686018427387904 a draw"
    forge ck 19 4611686018427387904
    code 3 gibbsite sample -Q q.mtx --resume forged --draws 5
    says err "forged: its counts make no sense: 17 sweeps, of them 4611686018427387904 of warm-up"
}

# The options in the file are those of the checkpoint as it was, and refuse it when it has moved on.
test_options_of_a_resumed_run() {
    model
    code 0 gibbsite sample -Q q.mtx --seed 7 --chains 1 --warmup 10 --draws 4 --thin 3 --checkpoint ck -o a.npy
    cp ck before
    code 0 gibbsite sample -Q q.mtx --resume ck --checkpoint ck --draws 5 --json -o b.npy
    [ "$(json out first_sweep)" = 22 ] || fail "first_sweep: $(json out first_sweep)"
    options=$(sed -n 's/^ *"options": "\(.*\)",$/\1/p' out)
    says out "--resume ck --from-sweep 22"
    # shellcheck disable=SC2086
    code 3 gibbsite sample $options -o again.npy
    says err "ck: stands behind 37 sweeps, not behind --from-sweep 22: it has moved on, or is another one"
    absent again.npy
    cp before ck
    # shellcheck disable=SC2086
    code 0 gibbsite sample $options -o again.npy
    same again.npy b.npy
    code 2 gibbsite sample -Q q.mtx --from-sweep 22 --draws 5
    says err "--from-sweep is that of --resume, which is not given"
}

test_refused_options() {
    model
    code 0 gibbsite sample -Q q.mtx --seed 7 --draws 4 --checkpoint ck -o a.npy
    for option in "--warmup 5" "--init zero"; do
        # shellcheck disable=SC2086
        code 2 gibbsite sample -Q q.mtx --resume ck --draws 5 $option
        says err "has no meaning with --resume"
    done
    code 2 gibbsite sample -Q q.mtx --draws 5 --every 3
    says err "--every is that of --checkpoint, which is not given"
    code 2 gibbsite sample -Q q.mtx --draws 5 --keep-partial
    says err "--keep-partial keeps the file of -o, which is not given"
    code 2 gibbsite sample -Q q.mtx --draws 5 --checkpoint q.mtx
    says err "--checkpoint: 'q.mtx' is an input of this run"
    code 2 gibbsite sample -Q q.mtx --draws 5 --checkpoint x.npy -o x.npy
    says err "--checkpoint: 'x.npy' is a file of -o"
    code 2 gibbsite sample -Q q.mtx --draws 5 --checkpoint ./x.npy -o "$PWD/x.npy"
    says err "--checkpoint: './x.npy' is a file of -o"
    code 2 gibbsite sample -Q q.mtx --draws 5 --chains 2 --checkpoint x_2.csv -o x.csv
    says err "--checkpoint: 'x_2.csv' is a file of -o"
    code 2 gibbsite sample -Q q.mtx --resume ck --draws 5 -o ck --format npy
    says err "-o: 'ck' is an input of this run"
    code 4 gibbsite sample -Q q.mtx --draws 5 --checkpoint nowhere/ck -o x.npy
    says err "nowhere/ck: cannot be created"
    absent x.npy
}

# A link is followed, to a file that is there or not, and is no other place than the one it leads to.
test_links() {
    model
    mkdir there
    ln -s there/ck link
    code 0 gibbsite sample -Q q.mtx --seed 7 --chains 1 --draws 4 --checkpoint link -o a.npy
    [ -L link ] && [ -f there/ck ] || fail "the link was not followed: $(ls -l . there)"
    code 0 gibbsite sample -Q q.mtx --resume link --checkpoint link --draws 4 -o b.npy
    [ -L link ] || fail "the link was replaced"
    code 0 gibbsite sample -Q q.mtx --seed 7 --chains 1 --draws 8 -o whole.npy
    for part in a b; do rows $part.npy; done >parts.txt
    rows whole.npy >whole.txt
    same parts.txt whole.txt
    ln -s x.npy new
    for made in "" "there is one now"; do
        [ -z "$made" ] || echo older >x.npy
        code 2 gibbsite sample -Q q.mtx --draws 5 --checkpoint new -o x.npy
        says err "--checkpoint: 'new' is a file of -o, 'x.npy'"
        code 2 gibbsite sample -Q q.mtx --draws 5 --checkpoint x.npy -o new --format npy
        says err "--checkpoint: 'x.npy' is a file of -o, 'new'"
    done
    code 2 gibbsite sample -Q q.mtx --resume link --draws 5 -o there/ck --format npy
    says err "-o: 'there/ck' is an input of this run, 'link'"
}

run_tests
