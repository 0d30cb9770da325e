# The driver of the program's tests: POSIX sh, no other language.  A test file defines functions
# test_NAME, sources this file and ends with `run_tests`; each function runs in a subshell and a
# scratch folder of its own.  Results are printed in cmocka's form, which the counter reads.
#
#     sh test_NAME.sh PROGRAM
#
# Inside a test: `code N COMMAND...` runs a command and wants exit code N, with its output in
# ./out and ./err; `says FILE TEXT` wants TEXT in a file; `same FILE EXPECTED` wants equal files;
# `near WHAT GOT EXPECTED BOUND` compares numbers; `skip WHY` gives up.
set -u
LC_ALL=C
# An instrumented build refuses a huge allocation as the system does, instead of ending there.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1
export LC_ALL ASAN_OPTIONS

here=$(cd "$(dirname "$0")" && pwd)
case $1 in
/*) program=$1 ;;
*) program=$PWD/$1 ;;
esac
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

gibbsite() {
    "$program" "$@"
}

fail() {
    echo "  $*"
    exit 1
}

skip() {
    echo "  $*"
    exit 77
}

code() {
    wanted=$1
    shift
    status=0
    "$@" >out 2>err || status=$?
    if [ "$status" != "$wanted" ]; then
        echo "  command: $*"
        echo "  expected exit code $wanted, got $status; its last words:"
        tail -n 5 out err | sed 's/^/    /'
        exit 1
    fi
}

says() {
    grep -qF -- "$2" "$1" && return
    echo "  expected in $1: $2"
    echo "  got:"
    tail -n 12 "$1" | sed 's/^/    /'
    exit 1
}

says_not() {
    grep -qF -- "$2" "$1" || return 0
    fail "not expected in $1: $2"
}

same() {
    cmp -s "$1" "$2" && return
    echo "  $1 and $2 differ:"
    diff "$2" "$1" | head -n 20 | sed 's/^/    /'
    exit 1
}

absent() {
    for file in "$@"; do
        [ ! -e "$file" ] || fail "$file must not be there"
    done
}

near() {
    echo "$2 $3 $4" | awk -v what="$1" '{
        gap = $1 - $2; if (gap < 0) gap = -gap
        printf "  %s: expected %s, got %s, off by %.3g, bound %s\n", what, $2, $1, gap, $3
        exit !(gap <= $3 + 0) }' || exit 1
}

# The value of a key in our JSON (one key a line): the first, or the n-th.
json() {
    sed -n "s/^ *\"$2\": \(.*\)\$/\1/p" "$1" | sed 's/,$//' | sed -n "${3:-1}p"
}

# The doubles of an .npy file as hexadecimal words, one a line.
words() {
    header=$(od -An -t u2 -j 8 -N 2 "$1" | tr -d ' ')
    tail -c +$((header + 11)) "$1" | od -An -v -t x8 -w8 | tr -d ' '
}

shape() {
    head -c 128 "$1" | sed -n "s/.*'shape': (\([^)]*\)).*/\1/p"
}

# Writes an .npy file of doubles from their hexadecimal words on standard input.
npy() { # SHAPE FILE
    printf '\223NUMPY\001\000\166\000%-117s\n' \
        "{'descr': '<f8', 'fortran_order': False, 'shape': ($1), }" >"$2"
    octal=$(tr ' ' '\n' | awk '
        function nibble(c) { return index("0123456789abcdef", c) - 1 }
        length($1) == 16 { for (k = 15; k > 0; k -= 2)
            printf "\\%03o", 16 * nibble(substr($1, k, 1)) + nibble(substr($1, k + 1, 1)) }')
    # shellcheck disable=SC2059
    printf "$octal" >>"$2"
}

run_tests() {
    names=$(sed -n 's/^\(test_[a-z0-9_]*\)() {$/\1/p' "$0")
    bad=0
    echo "[==========] Running $(echo "$names" | wc -l) test(s)."
    for name in $names; do
        echo "[ RUN      ] $name"
        mkdir "$scratch/$name"
        status=0
        (cd "$scratch/$name" && "$name") || status=$?
        case $status in
        0) echo "[       OK ] $name" ;;
        77) echo "[  SKIPPED ] $name" ;;
        *)
            echo "[  FAILED  ] $name"
            bad=1
            ;;
        esac
    done
    exit $bad
}
