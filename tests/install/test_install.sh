#!/bin/sh
# Installs into a scratch folder as a packager does (PREFIX and DESTDIR) and uses that copy as a
# stranger would: pkg-config and CMake, C11 and C++17, shared and static; looks at what the libraries
# export and need, at manual pages and completion; and does the same with a Debian package.  Prints
# one line a check and ends with `N passed, N failed`.
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

for file in include/gibbsite/gibbsite.h bin/gibbsite share/man/man1/gibbsite.1 \
    share/bash-completion/completions/gibbsite share/doc/gibbsite/copyright \
    share/doc/gibbsite/docs/program.md share/doc/gibbsite/examples/data/us_states.graph; do
    check "installed: $file" test -f "$root/$file"
done
links_lead_somewhere() { # the relative links of every page below FOLDER
    find "$1" -name '*.md' | while IFS= read -r page; do
        grep -o '\](\([^)#: ]*\)[^): ]*)' "$page" | sed 's/^](//; s/[#)].*//' | while IFS= read -r link; do
            [ -e "$(dirname "$page")/$link" ] || echo "${page#"$1"/}: $link"
        done
    done >"$scratch/dead"
    find "$1" -name '*.md' | grep -c . && cat "$scratch/dead" && [ ! -s "$scratch/dead" ]
}
check "every relative link of the installed pages leads somewhere" links_lead_somewhere "$root/share/doc/gibbsite"
check "no absolute path of the build in the files for pkg-config and CMake" \
    sh -c "! grep -rn '$PWD' '$library/pkgconfig' '$library/cmake'"
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

installed=$root/share/doc/gibbsite/examples
for lesson in "$installed"/c/*.c; do
    name=$(basename "$lesson" .c)
    for kind in shared static; do
        [ $kind = shared ] && link=$shared || link=$static
        check "examples/c/$name.c builds against the $kind library" \
            cc -std=c11 -Wall -Wextra -Werror $flags "$lesson" -o "$scratch/$name" $link -lm # its own sqrt
        check "and prints what it should" \
            sh examples/same_output.sh "$scratch/$name" "$installed/c/$name.out"
    done
done
for kind in shared static; do
    [ $kind = shared ] && link=$shared || link=$static
    check "C++17 program builds against the $kind library" \
        c++ -std=c++17 $strict $flags tests/install/consumer.cpp -o "$scratch/consumer" $link
    check "and runs" "$scratch/consumer"
done

# Not staged: the hint that `make install` then gives, for a prefix of one's own, and what it does
# about ldconfig's cache (a stand-in, for it is the machine's) where it may and where it may not.
check "make install in a prefix of one's own" sh -c "make --no-print-directory install PREFIX='$scratch/own' \
    INSTALL_PACKAGES=true >'$scratch/own.log'"
check "which says how the library is found" sh -c "sed -n 's/^to use it: //p' '$scratch/own.log' | tee '$scratch/use.sh' |
    grep -x 'export PKG_CONFIG_PATH=.* LD_LIBRARY_PATH=.$scratch/own/lib.*'"
check "and so it is" env -u PKG_CONFIG_PATH -u LD_LIBRARY_PATH sh -c ". '$scratch/use.sh' &&
    cc examples/c/00_first.c -o '$scratch/owned' \$(pkg-config --cflags --libs gibbsite) && '$scratch/owned'"
mkdir "$scratch/bin"
own_library=$(sed -n 's|/libgibbsite.so.0$||p' build/release/install_manifest.txt)
stand_in() { # of an ldconfig that searches FOLDER, and ends with CODE where it is to write its cache
    printf '#!/bin/sh\n[ $# = 0 ] || { echo "%s: (from a list)"; exit 0; }\ntouch "%s/cached"\nexit %s\n' \
        "$1" "$scratch" "$2" >"$scratch/bin/ldconfig"
    chmod +x "$scratch/bin/ldconfig"
    rm -f "$scratch/cached"
    PATH=$scratch/bin:$PATH tools/after_install.sh build/release >"$scratch/after.log"
}
stand_in "$own_library" 0
check "ldconfig runs where it searches the folder" test -e "$scratch/cached" -a ! -s "$scratch/after.log"
stand_in "$own_library" 1
check "and where it fails there is a hint" grep -x "to use it: run ldconfig as root, .*" "$scratch/after.log"
stand_in "$own_library/other" 0
check "and elsewhere it does not run" test ! -e "$scratch/cached" -a -s "$scratch/after.log"

# By CMake.
check "find_package(gibbsite) is configured and builds" \
    sh -c "cmake -S tests/install/consumer -B '$scratch/by_cmake' -DCMAKE_PREFIX_PATH='$root' \
        -DGIBBSITE_VERSION=$(pkg-config --modversion gibbsite) -DLESSONS='$PWD/examples/c' &&
        cmake --build '$scratch/by_cmake'"
for kind in shared static; do
    check "its C11 program runs against the $kind library" \
        sh examples/same_output.sh "$scratch/by_cmake/lesson_$kind" examples/c/00_first.out
    check "and its C++17 program" "$scratch/by_cmake/program_$kind"
done
check "find_package of a version that is not there is refused" \
    sh -c "! cmake -S tests/install/consumer -B '$scratch/not' -DCMAKE_PREFIX_PATH='$root' \
        -DGIBBSITE_VERSION=9.0 -DLESSONS='$PWD/examples/c'"

# Manual pages and completion say what --help says.
program=$root/bin/gibbsite
pages=$root/share/man/man1
clean_page() { # without a warning of roff
    warnings=$(man --warnings -E UTF-8 -l -Tutf8 -Z "$1" 2>&1 >/dev/null) && [ -z "$warnings" ] ||
        { echo "$warnings"; return 1; }
}
page_has_options() { # PAGE WORDS...: every option of that command's help
    page=$1
    shift
    "$program" "$@" --help | sed -n 's/^  \(-[^ ]*\).*/\1/p' | sed 's/-/\\-/g' >"$scratch/options"
    while IFS= read -r option; do
        grep -qF -- "$option" "$page" || { echo "$option is not in $page"; return 1; }
    done <"$scratch/options"
}
completes() { # EXPECTED WORDS...: of the last word
    expected=$1
    shift
    got=$(bash -c '. "$1"; shift; COMP_WORDS=(gibbsite "$@"); COMP_CWORD=$#; _gibbsite; echo "${COMPREPLY[@]}"' \
        bash "$root/share/bash-completion/completions/gibbsite" "$@")
    [ "$got" = "$expected" ] || { echo "expected '$expected', got '$got'"; return 1; }
}
for verb in $("$program" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z0-9]*\).*/\1/p'); do
    check "a manual page of $verb, without warnings" clean_page "$pages/gibbsite-$verb.1"
    check "and with its options" page_has_options "$pages/gibbsite-$verb.1" "$verb"
    check "and in the completion" completes "$verb" "$verb"
done
check "a manual page of the program, without warnings" clean_page "$pages/gibbsite.1"
for kind in ar1 lattice torus car icar random; do
    check "options of make $kind in its page" page_has_options "$pages/gibbsite-make.1" make $kind
done
check "completion of an option" completes "--method" sample --met
check "completion of a choice" completes "gibbs exact whitened auto" sample --method ""
check "completion of a kind" completes "car" make c
check "completion of its option" completes "--graph" make car --g
check "completion leaves files to bash" completes "" sample -Q q

# The Debian package, in a root of its own.
deb_root=$scratch/debian
installed_here() { # the package's dependencies, as far as this machine can tell
    dpkg-deb -f "$1" Depends | tr ',' '\n' | sed 's/(.*//;s/|.*//' | while read -r package; do
        dpkg-query -W "$package" >/dev/null || exit 1
    done
}
in_root() { # its script, which runs ldconfig, runs outside: there is no shell inside
    dpkg --root="$deb_root" --force-depends --force-script-chrootless --log="$scratch/dpkg.log" "$@"
}
check "make deb" make --no-print-directory deb INSTALL_PACKAGES=true
deb=$(ls build/gibbsite_*.deb | tail -n 1)
check "its dependencies have names that this system knows" installed_here "$deb"
if [ "$(id -u)" = 0 ]; then
    mkdir -p "$deb_root/var/lib/dpkg/info" "$deb_root/var/lib/dpkg/updates"
    : >"$deb_root/var/lib/dpkg/status"
    check "dpkg -i" in_root -i "$deb"
    check "dpkg knows it as installed" sh -c "dpkg --root='$deb_root' -s gibbsite | grep -x 'Status: install ok installed'"
    usr=$deb_root/usr
    library=$(dirname "$(find "$usr" -name libgibbsite.a)")
    export PKG_CONFIG_PATH="$library/pkgconfig" LD_LIBRARY_PATH="$library"
    check "its program's self test passes" "$usr/bin/gibbsite" selftest
    check "a C11 program builds against it" \
        sh -c "cc -std=c11 $(pkg-config --cflags gibbsite) examples/c/00_first.c -o '$scratch/first' $(pkg-config --libs gibbsite)"
    check "and prints what it should" sh examples/same_output.sh "$scratch/first" examples/c/00_first.out
    check "find_package finds it" cmake -S tests/install/consumer -B "$scratch/by_deb" \
        -DCMAKE_PREFIX_PATH="$usr" -DLESSONS="$PWD/examples/c"
    check "its manual page" clean_page "$usr/share/man/man1/gibbsite-sample.1.gz"
    check "dpkg -r" in_root -r gibbsite
    check "which leaves no file" sh -c "! find '$usr' -type f -o -type l | grep ."
else
    echo "skipped: dpkg installs as root only"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
