# gibbsite selftest, and that the program stands on the public header and src/io alone.
. "$(dirname "$0")/lib.sh"

test_selftest() {
    code 0 gibbsite selftest
    grep -v '^ok\|^skip' out | sed 's/^/  /'
    says_not out FAIL
    says out "known answer: Philox words"
    says out "affine identity: symmetric, w = 1.3"
    if ! grep -q "avx2 is not on this machine" out; then
        says out "same bits: over-relaxed between bounds, sweep_bounded_f32_avx2 = sweep_bounded_f32_scalar"
    fi
    says out "same bits: given the native stream's normals = native, double"
    code 2 gibbsite selftest now
}

test_layers() {
    sources=$here/../../cli
    grep -h '#include "' "$sources"/*.c "$sources"/*.h | sed 's/.*"\(.*\)".*/\1/' | sort -u |
        while read -r header; do
            case $header in
            gibbsite/gibbsite.h | io/*.h) ;;
            */*) fail "cli includes $header" ;;
            *) [ -f "$sources/$header" ] || fail "cli includes $header" ;;
            esac
        done
}

run_tests
