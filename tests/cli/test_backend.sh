# gibbsite sample --backend: where there is no GPU, and on the fake device of the tests, whose
# library is the second argument.
. "$(dirname "$0")/lib.sh"
fake=$2

cuda() {
    GIBBSITE_CUDA_LIBRARY=$fake "$program" "$@"
}

model() {
    code 0 gibbsite make car --graph "$here/small.graph" --rho 0.9 -o q.mtx
}

test_same_files() {
    model
    for options in "" "--dtype f32 --order symmetric --omega 1.3" "--order backward --thin 3" \
        "--method exact" "--stream torch-cpu" "--init zero --dtype f32" "--device 1"; do
        cpu=${options%--device 1}
        for form in nc npy; do
            # shellcheck disable=SC2086
            code 0 gibbsite sample -Q q.mtx --seed 9 --draws 30 $cpu -o cpu.$form
            # shellcheck disable=SC2086
            code 0 cuda sample -Q q.mtx --seed 9 --draws 30 $options -o cuda.$form --backend cuda
            same cuda.$form cpu.$form
        done
        echo "  ${options:-no options}: the same files"
    done
}

# Bounds and rows; without --method the pilot runs there too, and chooses the same.
test_bounds_and_rows() {
    model
    printf '%s\n' '%%MatrixMarket matrix array real general' '2 6' 1 0 -1 1 0 -1 0 0 0 0 0 0 >a.mtx
    for options in "--lower 0" "--lower 0 --method whitened" "--lower 0 --overrelax .8" \
        "--rows a.mtx --row-upper 0 --init zero" "--rows a.mtx --row-upper 0 --init zero --order symmetric" \
        "--rows a.mtx --row-lower -1 --row-upper 2 --lower -1 --init zero --method whitened --dtype f32"; do
        # shellcheck disable=SC2086
        code 0 gibbsite sample -Q q.mtx --seed 9 --draws 30 $options -o cpu.nc
        # shellcheck disable=SC2086
        code 0 cuda sample -Q q.mtx --seed 9 --draws 30 $options -o cuda.nc --backend cuda
        same cuda.nc cpu.nc
        echo "  $options: the same files"
    done
}

test_summary_and_json() {
    model
    code 0 gibbsite sample -Q q.mtx --seed 9 --quiet
    mv out summary
    code 0 cuda sample -Q q.mtx --seed 9 --quiet --backend=cuda
    same out summary
    code 0 cuda sample -Q q.mtx --seed 9 --json --backend cuda
    says out '"backend": "cuda"'
    says out '"kernel": "fake_f64"'
    says_not out '--backend cuda' # not needed to reproduce the draws
    code 0 gibbsite sample -Q q.mtx --seed 9 --json
    says out '"backend": "cpu"'
    code 0 cuda sample -Q q.mtx --seed 9 --json --backend cuda --stream torch-cuda:132:2048
    says out '--stream torch-cuda:132:2048 --backend cuda'
}

test_moments() {
    model
    code 0 gibbsite sample -Q q.mtx --seed 9 --quiet --moments-only
    mv out summary
    code 0 cuda sample -Q q.mtx --seed 9 --quiet --moments-only --backend cuda
    same out summary
    code 0 gibbsite sample -Q q.mtx --seed 9 --moments-only -o cpu.nc
    code 0 cuda sample -Q q.mtx --seed 9 --moments-only -o cuda.nc --backend cuda
    same cuda.nc cpu.nc
}

# A run begun on one goes on on the other.
test_resume() {
    model
    code 0 gibbsite sample -Q q.mtx --seed 9 --draws 40 -o whole.npy
    code 0 cuda sample -Q q.mtx --seed 9 --draws 15 -o a.npy --checkpoint ck --backend cuda
    code 0 gibbsite sample -Q q.mtx --resume ck --draws 25 -o b.npy
    code 0 gibbsite sample -Q q.mtx --seed 9 --draws 15 -o a2.npy --checkpoint ck2
    same a2.npy a.npy
    same ck2 ck
    code 0 cuda sample -Q q.mtx --resume ck2 --draws 25 -o b2.npy --backend cuda
    same b2.npy b.npy
}

test_refused() {
    model
    GIBBSITE_CUDA_LIBRARY=$PWD/none.so
    export GIBBSITE_CUDA_LIBRARY
    code 2 gibbsite sample -Q q.mtx --backend cuda -o x.npy
    says err "gibbsite: --backend cuda: no CUDA library: $PWD/none.so"
    absent x.npy
    code 2 cuda sample -Q q.mtx --backend cuda --device 7
    says err "gibbsite: --device: the fake has two"
    code 2 gibbsite sample -Q q.mtx --device 1
    says err "--device is a GPU of --backend cuda"
    code 2 gibbsite sample -Q q.mtx --backend gpu
    says err "--backend"
    code 0 gibbsite sample -Q q.mtx --seed 1 --draws 10 -o x.npy # which needs no CUDA
}

run_tests
