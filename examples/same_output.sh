#!/bin/sh
# same_output.sh PROGRAM EXPECTED: runs the program and compares what it prints.
set -u
if got=$("$1" 2>&1) && [ "$got" = "$(cat "$2")" ]; then
    exit 0
fi
printf 'expected:\n%s\ngot:\n%s\n' "$(cat "$2")" "$got"
exit 1
