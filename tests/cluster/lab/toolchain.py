"""A Go toolchain: the one on the machine if it is new enough, else one from the Go proxy.

Debian's Go may be too old for the modules, but any Go can download a newer toolchain, which the
module proxy serves as an ordinary module.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests.cluster.lab.packages import ensure
from tests.cluster.lab.shell import ClusterError, run

FETCHED = "1.26.8"
USUAL = ("/usr/local/go/bin/go", "/usr/lib/go/bin/go")


def version(go: str) -> tuple[int, ...]:
    """The version of a Go program as numbers; empty if it is a development version."""
    found = re.search(r"\bgo(\d+)\.(\d+)(?:\.(\d+))?", run(go, "version", env=_OFFLINE))
    return tuple(int(part or 0) for part in found.groups()) if found else ()


# A Go that would fetch another by itself must not do so while it is asked for its own version.
_OFFLINE = {"GOTOOLCHAIN": "local"}


def find(cache: Path, needed: tuple[int, ...]) -> str:
    """Return the path of a Go that is new enough, fetching one into the cache if there is none.

    Raises:
        ClusterError: there is none, and none can be had.
    """
    fetched = cache / "toolchain" / f"go{FETCHED}" / "bin/go"
    named = shutil.which("go")
    for candidate in (named, *USUAL, str(fetched)):
        if candidate and Path(candidate).exists() and version(candidate) >= needed:
            return candidate
    return fetch(fetched, named, needed)


def fetch(target: Path, bootstrap: str | None, needed: tuple[int, ...]) -> str:
    """Download a Go toolchain as a module with an older Go, and put it under `target`."""
    if bootstrap is None:
        ensure({"go": "golang-go"})
        bootstrap = shutil.which("go") or "/usr/lib/go/bin/go"
    root = target.parents[1]
    modules = root.with_suffix(".part")
    name = f"golang.org/toolchain@v0.0.1-go{FETCHED}.linux-amd64"
    empty = modules / "empty"
    empty.mkdir(parents=True, exist_ok=True)
    (empty / "go.mod").write_text("module agentbench.test/toolchain\n")
    # The checksum database answers for the toolchain through the checks of `go mod download`.
    settings = {**_OFFLINE, "GOMODCACHE": str(modules), "GOFLAGS": "-modcacherw"}
    run(bootstrap, "mod", "download", name, cwd=empty, env=settings)
    unpacked = modules / name
    for folder in ("bin", "pkg/tool/linux_amd64"):
        for program in (unpacked / folder).iterdir():
            program.chmod(0o755)
    shutil.rmtree(root, ignore_errors=True)
    unpacked.rename(root)
    shutil.rmtree(modules, ignore_errors=True)
    if version(str(target)) < needed:
        raise ClusterError(
            f"the fetched Go at {target} is older than {'.'.join(map(str, needed))}; "
            "install a newer Go and put it on PATH"
        )
    return str(target)
