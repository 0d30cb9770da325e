# Command lines: help, wrong options, seeds (case C45), and that every --help example works.
. "$(dirname "$0")/lib.sh"

wrong() { # TEXT OPTIONS...: exit 2, with TEXT among the words
    text=$1
    shift
    code 2 gibbsite "$@"
    says err "$text"
    [ ! -s out ] || fail "a usage error must leave standard output empty"
}

test_no_verb() {
    wrong "Usage: gibbsite VERB"
    wrong "unknown verb 'sampel'" sampel
}

test_version() {
    code 0 gibbsite --version
    says out "gibbsite 0.1.0"
}

test_help_of_every_verb() {
    code 0 gibbsite --help
    for verb in sample summary info make selftest bench "make ar1" "make lattice" "make torus" \
        "make car" "make icar" "make random"; do
        # shellcheck disable=SC2086
        code 0 gibbsite $verb --help
        ! grep -q ' $' out || fail "a line of 'gibbsite $verb --help' ends in a blank"
        says out "Usage: gibbsite $verb"
        says out "Example:"
    done
}

# The lines of a help text after "Example:", run as they stand.
test_help_examples_run() {
    mkdir bin
    ln -s "$program" bin/gibbsite
    PATH=$PWD/bin:$PATH
    for verb in "" sample summary info make selftest bench "make ar1" "make lattice" "make torus" \
        "make car" "make icar" "make random"; do
        # shellcheck disable=SC2086
        gibbsite $verb --help | sed -n '/^Example:/,$s/^  //p' >example.sh
        [ -s example.sh ] || fail "no example in 'gibbsite $verb --help'"
        unset -f gibbsite
        code 0 sh -e example.sh
        says_not err "have not mixed"
        gibbsite() { "$program" "$@"; }
        echo "  gibbsite $verb --help: $(grep -c . example.sh) command(s) ran"
    done
}

test_unknown_and_missing() {
    wrong "unknown option '--frob'" sample -Q q.mtx --frob
    wrong "unknown option '-x'" info -x
    wrong "--chains: its value N is missing" sample -Q q.mtx --chains
    wrong "-Q FILE is needed" sample
    wrong "-Q FILE is needed" info
    wrong "FILE is needed" summary
    wrong "unexpected argument 'q.mtx'" sample q.mtx
    wrong "--chains is given twice" sample -Q q.mtx --chains 2 --chains=3
    wrong "--quiet takes no value, 'yes' was given" sample -Q q.mtx --quiet=yes
    wrong "-o: the value is empty" sample -Q q.mtx -o ""
}

test_out_of_range() {
    wrong "--chains: 0 is out of range" sample -Q q.mtx --chains 0
    wrong "--draws: -5 is out of range" sample -Q q.mtx --draws -5
    wrong "--draws: '1e3' is not a whole number" sample -Q q.mtx --draws 1e3
    wrong "--draws: 99999999999999999999 is out of range" sample -Q q.mtx --draws 99999999999999999999
    wrong "--thin: '2x' is not a whole number" sample -Q q.mtx --thin 2x
    wrong "--omega: 2 is out of range" sample -Q q.mtx --omega 2
    wrong "--omega: 'nan' is not a number" sample -Q q.mtx --omega nan
    wrong "--omega: '0x1' is not a number" sample -Q q.mtx --omega 0x1
    wrong "more than 2^48 sweeps" sample -Q q.mtx --draws 281474976710656 --thin 2
    wrong "more than 2^47 sweeps of --order symmetric" sample -Q q.mtx --draws 140737488355328 --order symmetric
    wrong "'torch-cuda:1:1' has 1 thread a multiprocessor, at least 256 are needed" \
        sample -Q q.mtx --stream torch-cuda:1:1
    wrong "--phi: 1 is out of range" make ar1 -n 3 --phi 1 -o q.mtx
    wrong "--rho: -1.5 is out of range" make car --graph g --rho -1.5 -o q.mtx
    wrong "--kappa: -1 is out of range" make lattice --rows 2 --cols 2 --kappa -1 -o q.mtx
    wrong "--kappa: 1e999 is beyond the range of double" make lattice --rows 2 --cols 2 --kappa 1e999 -o q.mtx
    wrong "--kappa: -1e999 is out of range" make lattice --rows 2 --cols 2 --kappa -1e999 -o q.mtx
    wrong "--phi: 1e999 is out of range" make ar1 -n 3 --phi 1e999 -o q.mtx
    wrong "--ess: 1e999 is beyond the range of double" summary draws.nc --ess 1e999
    wrong "--rhat: 1e999 is beyond the range of double" summary draws.nc --rhat 1e999
    wrong "--rows: 2 is out of range" make torus --rows 2 --cols 3 --kappa 1 -o q.mtx
    wrong "--cond: 0.5 is out of range" make random -n 3 --cond 0.5 --seed 1 -o q.mtx
    wrong "condition number 1, not 2" make random -n 1 --cond 2 --seed 1 -o q.mtx
    wrong "--superchains: 1 is out of range" summary a.nc --superchains 1
    wrong "--rhat: 0 is out of range" summary a.nc --check --rhat 0
    absent q.mtx
}

test_choices() {
    wrong "--dtype: 'f16' is not one of f32, f64" sample -Q q.mtx --dtype f16
    wrong "--method: 'hmc' is not one of gibbs, exact" sample -Q q.mtx --method hmc
    wrong "--order: 'random' is not one of forward, backward, symmetric" \
        sample -Q q.mtx --order random
    wrong "--threads: -1 is out of range, 0 to 1024 is allowed" sample -Q q.mtx --threads -1
    wrong "--threads: 1025 is out of range" sample -Q q.mtx --threads 1025
    wrong "--isa: 'sse' is not one of auto, scalar, avx2, avx512, neon" sample -Q q.mtx --isa sse
    wrong "--format: 'tsv' is not one of npy, nc, csv" sample -Q q.mtx -o a --format tsv
    wrong "--stream: 'philox' is not one of" sample -Q q.mtx --stream philox
    wrong "'torch-cuda:132' is not torch-cuda:SMS:THREADS_PER_SM" \
        sample -Q q.mtx --stream torch-cuda:132
    wrong "'torch-cuda:0:0' is not torch-cuda:SMS:THREADS_PER_SM, as torch-cuda:132:2048; SMS is 1 to 65535, THREADS_PER_SM 256 to 65536" \
        sample -Q q.mtx --stream torch-cuda:0:0
    wrong "'torch-cuda:0:2048' is not" sample -Q q.mtx --stream torch-cuda:0:2048
    wrong "'torch-cuda:132:2048x' is not" sample -Q q.mtx --stream torch-cuda:132:2048x
}

test_contradictions() {
    wrong "--mean and --offset both give the location" sample -Q q.mtx --mean a --offset b
    for option in "--warmup 10" "--thin 2" "--order forward" "--omega 1" "--init zero"; do
        # shellcheck disable=SC2086
        wrong "${option% *} has no meaning with --method exact" sample -Q q.mtx --method exact $option
    done
    wrong "'draws.txt' ends in none of .nc, .npy and .csv" sample -Q q.mtx -o draws.txt
    wrong "--format is that of the file of -o" sample -Q q.mtx --format nc
    wrong "are limits of --check" summary a.nc --rhat 1.1
}

# The matrix must outlive the run.
test_output_is_no_input() {
    code 0 gibbsite make ar1 -n 3 --phi 0.5 -o q.mtx
    cp q.mtx before.mtx
    ln -s q.mtx link.npy
    wrong "-o: 'q.mtx' is an input of this run" sample -Q q.mtx -o q.mtx --format npy
    wrong "-o: 'link.npy' is an input of this run" sample -Q q.mtx -o link.npy
    wrong "-o: 'q.mtx' is an input of this run" sample -Q before.mtx --init q.mtx -o q.mtx --format nc
    same q.mtx before.mtx
}

# Nor may a model replace its graph, whatever leads there.
test_made_matrix_is_no_input() {
    cp "$here/small.graph" e.graph
    ln -s e.graph soft.mtx
    ln e.graph hard.mtx
    for file in e.graph ./e.graph soft.mtx hard.mtx; do
        wrong "-o: '$file' is an input of this run" make car --graph e.graph --rho 0.9 -o "$file"
        wrong "-o: '$file' is an input of this run" make icar --graph e.graph --kappa 1 -o "$file"
    done
    wrong "is an input of this run" make car --graph soft.mtx --rho 0.9 -o hard.mtx
    same e.graph "$here/small.graph"
    # A word of --init is no file.
    code 0 gibbsite make ar1 -n 3 --phi 0.5 -o q.mtx
    echo older >zero
    code 0 gibbsite sample -Q q.mtx --seed 1 --draws 5 --init zero -o zero --format npy
}

# Messages name what was typed, not what the program made of it.
test_messages_name_what_was_typed() {
    wrong "--stream: 'torch-cuda:132:100' has 100 threads a multiprocessor, at least 256" \
        sample -Q q.mtx --stream torch-cuda:132:100
    says err "try 'gibbsite sample --help'"
    code 0 gibbsite make ar1 -n 2 --phi 0.5 -o q.mtx
    printf '%%%%MatrixMarket matrix array real general\n2 1\n1\nnan\n' >v.mtx
    for option in --mean --info --offset; do
        code 3 gibbsite sample -Q q.mtx $option v.mtx --seed 1
        says err "gibbsite: v.mtx: "
        says err "site 1"
        says_not err "q.mtx"
    done
    printf '%%%%MatrixMarket matrix array real general\n1 2\n1\nnan\n' >start.mtx
    code 3 gibbsite sample -Q q.mtx --init start.mtx --seed 1
    says err "start.mtx: element (0, 1), counted from 0, is nan"
    printf '%%%%MatrixMarket matrix array real general\n1 2\n1\n1e300\n' >start.mtx
    code 3 gibbsite sample -Q q.mtx --init start.mtx --seed 1 --dtype f32
    says err "start.mtx: element (0, 1), counted from 0, is 1e+300, which is beyond the range of --dtype f32"
    printf '%%%%MatrixMarket matrix array real general\n2 1\n1\n1e300\n' >v.mtx
    for option in --mean --offset --fix; do
        code 3 gibbsite sample -Q q.mtx $option v.mtx --seed 1 --dtype f32
        says err "v.mtx: element (1, 0), counted from 0, is 1e+300, which is beyond the range of --dtype f32"
    done
    for method in gibbs exact whitened auto; do
        code 3 gibbsite sample -Q q.mtx --info v.mtx --seed 1 --dtype f32 --method $method
        says err "v.mtx: "
        says err "does not fit in float"
    done
    code 2 gibbsite sample -Q q.mtx --stream torch-cuda:1:256 --chains 1000000000 --seed 1
    says err "--chains: 1000000000, but the torch-cuda stream takes at most 2^29"
    for count in 1099511627775 1099511627773; do # 16 TB and more of state
        code 4 gibbsite sample -Q q.mtx --chains $count --seed 1
        says err "--chains $count: "
    done
}

# C45: seeds that do not fit a signed 64-bit integer.
test_seeds() {
    code 0 gibbsite make ar1 -n 3 --phi 0.5 -o q.mtx
    for seed in -1 18446744073709551615 9223372036854775808 0; do
        code 0 gibbsite sample -Q q.mtx --warmup 3 --draws 5 --seed $seed -o "s$seed.npy"
        case $seed in -1) reported=18446744073709551615 ;; *) reported=$seed ;; esac
        says err "gibbsite: seed $reported"
        code 0 gibbsite sample -Q q.mtx --warmup 3 --draws 5 --seed $seed --json
        says out "\"seed\": \"$reported\""
    done
    same s-1.npy s18446744073709551615.npy
    cmp -s s-1.npy s9223372036854775808.npy && fail "2^63 and 2^64-1 must be different streams"
    for seed in 18446744073709551616 99999999999999999999999 1.5 0x10 text -2 +1 " 1" 1e3; do
        wrong "--seed: '$seed' is not a seed" sample -Q q.mtx --seed "$seed"
    done
    wrong "--seed: '' is not a seed" sample -Q q.mtx --seed ""
}

test_printed_seed_reproduces() {
    code 0 gibbsite make ar1 -n 3 --phi 0.5 -o q.mtx
    code 0 gibbsite sample -Q q.mtx --warmup 3 --draws 5 -o a.npy --quiet
    seed=$(sed -n 's/^gibbsite: seed //p' err)
    [ -n "$seed" ] || fail "no seed on standard error"
    code 0 gibbsite sample -Q q.mtx --warmup 3 --draws 5 -o b.npy --seed "$seed"
    same a.npy b.npy
    code 0 gibbsite sample -Q q.mtx --warmup 3 --draws 5 -o c.npy
    cmp -s a.npy c.npy && fail "two runs without --seed gave the same draws"
    echo "  seed $seed gives the same file again"
}

run_tests
