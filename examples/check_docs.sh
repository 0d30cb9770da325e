#!/bin/sh
# check_docs.sh PAGE PROGRAM_FOLDER: runs the lines that start with "$ " in the page's ```console blocks,
# in a scratch folder and in order, and compares what they print with what the page shows.
set -u
page=$1
PATH=$2:$PATH
top=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

awk '/^```/ {inside = $0 == "```console"; next} inside' "$page" >"$scratch/shown"
mkdir "$scratch/run" && cd "$scratch/run" && ln -s "$top/examples" examples || exit 1
grep '^\$ ' ../shown | while IFS= read -r line; do
    printf '%s\n' "$line"
    sh -c "${line#??}" 2>&1
done >../got
echo "$(wc -l <../shown) lines of $page"
[ -s ../shown ] && diff ../shown ../got
