"""Builds of Go programs, cached by the content of all that goes into them."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.lab import toolchain
from tests.cluster.lab.shell import ClusterError, run
from tests.cluster.lab.tools import Tool

CACHE = Path(os.environ.get("CLUSTER_CACHE", "~/.cache/agent-bench")).expanduser()
_GVISOR = "gvisor.dev/gvisor"
_OOM = re.compile(
    r"\tif err := sys\.SetOOMScore\(cmd\.Process\.Pid, oomScoreMax\); err != nil \{\n.*\n\t\}\n"
)


def key(tool: Tool, go: str) -> str:
    """The name under which a build is kept: a hash of sources, compiler and recipe."""
    sum_file = tool.folder / Path(tool.modfile).with_suffix(".sum").name
    parts = [*sorted(tool.folder.glob("*.go")), tool.folder / tool.modfile]
    if sum_file.exists():
        parts.append(sum_file)
    digest = hashlib.sha256(repr((tool, toolchain.version(go))).encode())
    digest.update(Path(__file__).read_bytes())
    for part in parts:
        digest.update(part.read_bytes())
    return digest.hexdigest()[:20]


def build_all(tools: Iterable[Tool], scratch: Path, say: Callable[[str], None]) -> dict[str, Path]:
    """Build what the cache does not hold, and return the path of each program.

    Raises:
        ClusterError: there is no Go, or a build failed; the text has the compiler's words.
    """
    wanted = list(tools)
    go = toolchain.find(CACHE, max(_needs(tool) for tool in wanted))
    # Two at a time: a compiler uses both cores, but a linker one, and a download none.
    with ThreadPoolExecutor(2) as pool:
        paths = list(pool.map(lambda tool: build(tool, go, scratch, say), wanted))
    return {tool.name: path for tool, path in zip(wanted, paths, strict=True)}


def _needs(tool: Tool) -> tuple[int, ...]:
    """The version of Go that a module asks for."""
    found = re.search(r"^go ([\d.]+)$", (tool.folder / tool.modfile).read_text(), re.M)
    return tuple(int(part) for part in found[1].split(".")) if found else (1,)


def build(tool: Tool, go: str, scratch: Path, say: Callable[[str], None]) -> Path:
    """Build one program unless the cache holds it, and return its path."""
    target = CACHE / "bin" / f"{tool.name}-{key(tool, go)}"
    if target.exists():
        return target
    with alone(target):
        if target.exists():
            return target
        began = time.monotonic()
        modfile = tool.folder / tool.modfile
        if tool.module == "gvisor":
            modfile = _patched_gvisor(go, modfile, scratch)
        part = target.with_suffix(".part")
        # The build's own flags only: a flag from the environment could change what is cached.
        run(
            go, "build", "-trimpath", "-buildvcs=false", f"-modfile={modfile}",
            "-ldflags", f"-s -w {_kubernetes_flags(modfile)}", "-o", part, tool.package,
            cwd=tool.folder,
            env={"CGO_ENABLED": "0", "GOFLAGS": "", "GOWORK": "off", "TMPDIR": str(scratch)},
        )  # fmt: skip
        part.rename(target)
        say(f"built {tool.name} in {time.monotonic() - began:.0f} s")
    return target


@contextmanager
def alone(target: Path) -> Iterator[None]:
    """Keep two checkouts from making the same file at once."""
    target.parent.mkdir(parents=True, exist_ok=True)
    locks = CACHE / "locks"
    locks.mkdir(exist_ok=True)
    with (locks / target.name).open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _kubernetes_flags(modfile: Path) -> str:
    """Kubernetes learns its version from the linker; without it every node is a v0.0.0-master."""
    found = re.search(r"k8s\.io/kubernetes (v(\d+)\.(\d+)\.\d+)$", modfile.read_text(), re.M)
    if not found:
        return ""
    where = "k8s.io/component-base/version.git"
    values = {"Version": found[1], "Major": found[2], "Minor": found[3], "TreeState": "clean"}
    return " ".join(f"-X {where}{name}={value}" for name, value in values.items())


def _patched_gvisor(go: str, modfile: Path, scratch: Path) -> Path:
    """Return a module file that builds gVisor with one statement removed.

    Its shim asks the kernel for the lowest out-of-memory score and gives up without it, which root
    in many a sandbox may not have. `go build -overlay` refuses to touch the module cache, so the
    module is copied.
    """
    found = re.search(rf"{re.escape(_GVISOR)} (v\S+)", modfile.read_text())
    if not found:
        raise ClusterError(f"{modfile} does not name {_GVISOR} with a version")
    copy = scratch / f"gvisor-{found[1]}"
    patched = copy.with_suffix(".mod")
    with alone(CACHE / "bin" / "gvisor-source"):
        if patched.exists():
            return patched
        run(go, "mod", "download", f"-modfile={modfile}", _GVISOR, cwd=modfile.parent)
        source = run(
            go, "list", f"-modfile={modfile}", "-m", "-f", "{{.Dir}}", _GVISOR, cwd=modfile.parent
        ).strip()
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(source, copy, copy_function=shutil.copyfile)
        manager = copy / "pkg/shim/v1/manager.go"
        text, count = _OOM.subn(
            "\t_ = sys.SetOOMScore(cmd.Process.Pid, oomScoreMax)\n", manager.read_text()
        )
        if count != 1:
            raise ClusterError(
                f"{manager}: the statement to remove is there {count} times, not once"
            )
        manager.write_text(text)
        shutil.copyfile(modfile.with_suffix(".sum"), patched.with_suffix(".sum"))
        patched.write_text(f"{modfile.read_text()}\nreplace {_GVISOR} => {copy}\n")
    return patched
