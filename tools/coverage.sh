#!/bin/sh
# Line coverage of the library and the program, after the tests of the coverage preset have run.
#
#     tools/coverage.sh BUILD_FOLDER
set -eu
gcovr --root . --object-directory "$1" --filter src/ --filter cli/ --print-summary
