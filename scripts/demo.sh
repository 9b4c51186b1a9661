#!/usr/bin/env bash
# The quickstart campaign, for real: what is frozen is verified, run, judged and shown.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH=$PWD/.venv/bin:$PATH
pack=examples/quickstart
out=.agent-bench/demo
rm -rf "$out"
mkdir -p "$out"

say() { printf '\n$ %s\n' "$*"; "$@"; }

say agent-bench verify "$pack"
say agent-bench run "$pack" --store "$out/store" --parallel 2
say agent-bench report "$pack" --store "$out/store" --brief
say agent-bench site "$pack" --store "$out/store" --out "$out/site"
printf '\nOpen %s/%s/site/index.html: the verdict, every run, its checks, its diff, its trace.\n' "$PWD" "$out"
