#!/bin/sh
# clang-format and clang-tidy over the project's own C files; prints what they find and fails if
# anything was found.  The public headers and the vocabularies are tables, laid out by hand.
#
#     tools/lint.sh BUILD_FOLDER       or       tools/lint.sh --files, those that clang-format lays out
set -eu
files() {
    git ls-files '*.c' '*.h' ':!third_party' ':!include' ':!src/rng/vocab_*.h'
}
if [ "$1" = --files ]; then
    files
    exit
fi
build=$1
commands=$build/compile_commands.json
test -r "$commands"
status=0
files | xargs clang-format --dry-run --Werror || status=1

# Only files that this build compiles, with its flags: src/*_neon.c mean nothing in those of x86, nor
# the files of AVX in Arm's.
compiled() {
    git ls-files 'src/*.c' 'cli/*.c' | while read -r file; do
        ! grep -qF "/$file\"" "$commands" || echo "$file"
    done
}
# The flags may be gcc's, some of which clang does not know.  Assertions are on: they tell the
# analyser what holds.
compiled | xargs -n 1 -P "$(nproc)" clang-tidy --quiet -p "$build" \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-UNDEBUG || status=1
exit $status
