#!/bin/sh
# clang-format and clang-tidy over the project's own C files; prints what they find and fails if
# anything was found.
#
#     tools/lint.sh BUILD_FOLDER
set -eu
build=$1
status=0
git ls-files '*.c' '*.h' ':!third_party' | xargs clang-format --dry-run --Werror || status=1
git ls-files 'src/*.c' 'cli/*.c' | xargs -n 1 -P "$(nproc)" clang-tidy --quiet -p "$build" || status=1
exit $status
