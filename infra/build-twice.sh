#!/usr/bin/env bash
# Builds all functions for $ARCH from two copies of the source, in directories of different
# names, the second time with nothing in the compiler's cache, and fails unless the bytes are
# the same.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

copy() { # copy DIRECTORY: what git knows of, and what is new and not ignored
  mkdir -p "$1"
  git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    [ ! -e "$file" ] || printf '%s\0' "$file"
  done | tar --null --files-from=- -cf - | tar -xf - -C "$1"
}

build() { # build DIRECTORY FILE: writes the sums of what was built to FILE
  copy "$1"
  make --no-print-directory -C "$1" build >/dev/null
  (cd "$1/dist" && find . -name bootstrap -print0 | sort -z | xargs -0 sha256sum) >"$2"
}

build "$work/one" "$work/first"
export GOCACHE="$work/cache"
build "$work/the-other-one/below" "$work/second"

programs=$(wc -l <"$work/first")
[ "$programs" -ge 15 ] || { echo "only $programs programs were built: nothing is compared" >&2; exit 1; }
diff "$work/first" "$work/second" || { echo "two builds of the same source differ" >&2; exit 1; }
echo "$programs programs for $ARCH: the same bytes twice"
