#!/usr/bin/env bash
# Runs every fuzz target for a while: go test takes one at a time. A number of runs (10000x), for at the end of a time
# (10s) the fuzzer of a busy machine can fail by itself ("context deadline exceeded").
set -euo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}
FOR=${1:-10000x}
count=0
while IFS=: read -r file line; do
  target=$(sed -E 's/^func (Fuzz[A-Za-z0-9_]+)\(.*/\1/' <<<"$line")
  echo "fuzz $target in ./$(dirname "$file") for $FOR"
  "$GO" test -run '^$' -fuzz "^$target\$" -fuzztime "$FOR" "./$(dirname "$file")"
  count=$((count + 1))
done < <(git grep -E '^func Fuzz[A-Za-z0-9_]+\(' -- '*_test.go')
[ "$count" -gt 0 ] || { echo "found no fuzz target" >&2; exit 1; }
echo "$count fuzz targets ran"
