#!/usr/bin/env bash
# Installs the agent CLIs that the tests run, at the versions of tests/clis/package-lock.json, and prints their folder.
# It is made once for each lock: below $AGENTBENCH_CACHE, else .cache in the repository.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v npm >/dev/null; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq >&2
    apt-get install -y -qq --no-install-recommends npm >/dev/null
  else
    echo "npm is missing. Install it as root: apt-get install npm" >&2
    exit 1
  fi
fi

cache=${AGENTBENCH_CACHE:-$PWD/.cache}
lock=$(cat tests/clis/package-lock.json tests/clis/.npmrc | sha256sum | cut -c1-16)
folder=$cache/agent-clis-$lock
if [ ! -e "$folder/.ready" ]; then
  mkdir -p "$cache"
  draft=$(mktemp -d "$cache/agent-clis.XXXXXX")
  trap 'rm -rf "$draft"' EXIT
  cp tests/clis/package.json tests/clis/package-lock.json tests/clis/.npmrc "$draft/"
  npm ci --prefix "$draft" --no-progress --loglevel=error >&2
  # The tests run them as another user.
  chmod -R go+rX "$draft"
  touch "$draft/.ready"
  # Whoever else made it meanwhile made the same.
  mv -T "$draft" "$folder" 2>/dev/null || [ -e "$folder/.ready" ]
  trap - EXIT
fi
echo "$folder"
