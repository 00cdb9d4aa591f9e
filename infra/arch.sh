#!/bin/sh
# Says for which processor the functions of an environment are deployed: what samconfig.toml has
# under [ENV.deploy.parameters], else the template's default. So there is one place to say it,
# and what is built fits what is deployed.
set -eu
[ $# -eq 2 ] || { echo "usage: arch.sh SAMCONFIG ENV" >&2; exit 2; }
said=$(awk -v section="[$2.deploy.parameters]" '
  /^[[:space:]]*\[/ { inside = (index($0, section) > 0) }
  inside' "$1" | sed -n 's/.*Architecture=[\\"]*\([A-Za-z0-9_]*\).*/\1/p' | head -n 1)
echo "${said:-arm64}"
