#!/bin/sh
# Installs into a scratch folder as a packager does (PREFIX and DESTDIR) and uses that copy as a
# stranger would: pkg-config, C11 and C++17, shared and static; and looks at what the libraries
# export and need.  Prints one line a check and ends with `N passed, N failed`.
set -u
cd "$(dirname "$0")/../.." || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

passed=0
failed=0
# check WHAT COMMAND...: the command's output is shown if it fails.
check() {
    what=$1
    shift
    if "$@" >"$scratch/log" 2>&1; then
        passed=$((passed + 1))
        echo "ok      $what"
    else
        failed=$((failed + 1))
        echo "FAILED  $what"
        sed 's/^/        /' "$scratch/log"
    fi
}

root=$scratch/root/usr/local
strict="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"
check "make install PREFIX=/usr/local DESTDIR=..." \
    make --no-print-directory install PREFIX=/usr/local DESTDIR="$scratch/root"
library=$(dirname "$(find "$root" -name libgibbsite.a)")
export PKG_CONFIG_PATH="$library/pkgconfig" LD_LIBRARY_PATH="$library"
flags=$(pkg-config --cflags gibbsite)
shared=$(pkg-config --libs gibbsite)
static="$library/libgibbsite.a $(pkg-config --libs-only-l --static gibbsite | sed 's/-lgibbsite//')"

for file in include/gibbsite/gibbsite.h bin/gibbsite; do
    check "installed: $file" test -f "$root/$file"
done
check "no absolute path of the build in the pkg-config file" \
    sh -c "! grep -n '$PWD' '$library/pkgconfig/gibbsite.pc'"
check "installed program says its version" \
    sh -c "'$root/bin/gibbsite' --version | grep -x 'gibbsite $(pkg-config --modversion gibbsite)'"

check "soname is libgibbsite.so.0" sh -c "objdump -p '$library/libgibbsite.so' | grep 'SONAME *libgibbsite.so.0\$'"
check "shared library needs libc and libm alone" \
    sh -c "! objdump -p '$library/libgibbsite.so' | grep NEEDED | grep -v -e libc.so.6 -e libm.so.6"

header=$root/include/gibbsite/gibbsite.h
nm -D --defined-only "$library/libgibbsite.so" | awk '{print $3}' | sort >"$scratch/exported"
grep -o 'GBS_API [^;(]*(' "$header" | grep -o 'gbs_[a-z0-9_]*($' | tr -d '(' | sort >"$scratch/declared"
check "exported symbols are the header's functions and nothing else" \
    diff "$scratch/declared" "$scratch/exported"
nm -g --defined-only "$library/libgibbsite.a" 2>/dev/null | awk 'NF == 3 {print $3}' |
    grep -v '^gbs_' >"$scratch/foreign"
check "static library defines gbs_ symbols alone" diff /dev/null "$scratch/foreign"

echo '#include <gibbsite/gibbsite.h>' >"$scratch/alone.c"
cp "$scratch/alone.c" "$scratch/alone.cpp"
for compiler in cc gcc clang; do
    command -v $compiler >/dev/null || continue
    check "header alone as C11, $compiler" \
        $compiler -std=c11 $strict $flags -fsyntax-only "$scratch/alone.c"
done
for compiler in c++ g++ clang++; do
    command -v $compiler >/dev/null || continue
    check "header alone as C++17, $compiler" \
        $compiler -std=c++17 $strict $flags -fsyntax-only "$scratch/alone.cpp"
done

for lesson in examples/c/*.c; do
    name=$(basename "$lesson" .c)
    for kind in shared static; do
        [ $kind = shared ] && link=$shared || link=$static
        check "examples/c/$name.c builds against the $kind library" \
            cc -std=c11 -Wall -Wextra -Werror $flags "$lesson" -o "$scratch/$name" $link
        check "and prints what it should" \
            sh examples/same_output.sh "$scratch/$name" "examples/c/$name.out"
    done
done
for kind in shared static; do
    [ $kind = shared ] && link=$shared || link=$static
    check "C++17 program builds against the $kind library" \
        c++ -std=c++17 $strict $flags tests/install/consumer.cpp -o "$scratch/consumer" $link
    check "and runs" "$scratch/consumer"
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
