#!/usr/bin/env bash
# Makes sure that there is a Chromium for the browser tests.
set -euo pipefail
for name in chromium chromium-browser google-chrome-stable google-chrome; do
  if [ -n "${CHROMIUM:-}" ] || command -v "$name" >/dev/null; then
    exit 0
  fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
else
  echo "The browser tests need a Chromium. As root: apt-get install chromium; or name one: make test CHROMIUM=/path/to/chromium" >&2
  exit 1
fi
