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
status=0
files | xargs clang-format --dry-run --Werror || status=1
git ls-files 'src/*.c' 'cli/*.c' | xargs -n 1 -P "$(nproc)" clang-tidy --quiet -p "$build" || status=1
exit $status
