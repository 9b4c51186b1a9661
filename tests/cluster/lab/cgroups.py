"""Control groups: how daemons are started, found again and killed, node by node.

A node's daemons and its pods' containers all live under one group, so a power cut is a SIGKILL to
every process in it, and nothing is ever looked up by its name.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from tests.cluster.lab.shell import ClusterError, wait
from tests.cluster.lab.slot import Slot

MOUNT = Path("/sys/fs/cgroup")
CONTROLLERS = ("cpu", "cpuset", "memory", "pids")
UNITS = ("control", "store", "tests", "node-a", "node-b", "node-c")


def unified() -> bool:
    """Whether this machine has the one hierarchy of cgroup v2."""
    return (MOUNT / "cgroup.controllers").exists()


def hierarchies() -> list[Path]:
    """The roots below which groups are made: one with cgroup v2, one per controller with v1."""
    if unified():
        return [MOUNT]
    return sorted(
        {root.resolve() for root in MOUNT.iterdir() if (root / "cgroup.clone_children").exists()}
    )


def tracker() -> Path:
    """The hierarchy by which processes are found."""
    return MOUNT if unified() else MOUNT / "pids"


def _groups(slot: Slot, unit: str) -> list[Path]:
    """A unit's group in the hierarchies by which it is found and frozen."""
    names = ("",) if unified() else ("pids", "freezer")
    return [MOUNT / name / slot.prefix / unit for name in names]


def make(slot: Slot, unit: str) -> None:
    """Make a unit's group in every hierarchy; a kubelet makes its pods' beneath it."""
    for root in hierarchies():
        for folder in (root / slot.prefix, root / slot.prefix / unit):
            folder.mkdir(exist_ok=True)
            if unified():
                enabled = " ".join(f"+{name}" for name in CONTROLLERS)
                (folder / "cgroup.subtree_control").write_text(enabled)
            elif (folder / "cpuset.cpus").exists():
                # A new group has no processors and no memory: nothing could run in it.
                for setting in ("cpuset.cpus", "cpuset.mems"):
                    (folder / setting).write_text((folder.parent / setting).read_text())
        (root / slot.prefix / unit / "daemons").mkdir(exist_ok=True)


def start(
    slot: Slot,
    unit: str,
    name: str,
    inside: Sequence[str],
    *argv: object,
    path: Iterable[Path] = (),
    cwd: Path | None = None,
) -> int:
    """Start a daemon in a unit's group, by the words `inside`, and return its process id.

    It outlives this program; its output goes to the cluster's log folder.
    """
    make(slot, unit)
    enter = "; ".join(f"echo $$ > {group}/daemons/cgroup.procs" for group in _groups(slot, unit))
    slot.logs.mkdir(parents=True, exist_ok=True)
    words = [*inside, *map(str, argv)]
    folders = [*map(str, path), os.environ["PATH"], "/usr/sbin", "/sbin"]
    with (slot.logs / f"{name}.log").open("ab") as log:
        daemon = subprocess.Popen(
            ["sh", "-c", f'{enter}; exec "$@"', "sh", *words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=cwd,
            start_new_session=True,
            env={**os.environ, "PATH": ":".join(folders), "TMPDIR": str(slot.folder / "tmp")},
        )
    # Nobody waits for it: it belongs to the cluster, not to this program.
    daemon.returncode = 0
    return daemon.pid


def join(slot: Slot) -> None:
    """Put this process, and all that it starts, into the cluster: `kill` ends it too."""
    make(slot, "setup")
    group = _groups(slot, "setup")[0]
    (group / "daemons/cgroup.procs").write_text(str(os.getpid()))


def processes(slot: Slot, unit: str = "") -> list[int]:
    """Every process of a unit, or of the cluster: daemons and, on nodes, containers."""
    found = []
    for group in (tracker() / slot.prefix / unit).rglob("cgroup.procs"):
        with suppress(OSError):
            found += [int(pid) for pid in group.read_text().split()]
    return found


def kill(slot: Slot, unit: str = "") -> None:
    """SIGKILL all of a unit, or of the cluster, at once, frozen processes included.

    Raises:
        ClusterError: something would not die within 30 s.
    """
    thaw(slot, unit)

    def gone() -> bool:
        left = processes(slot, unit)
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        return not left

    wait(f"the end of all processes of {slot.prefix}/{unit}", gone, seconds=30, pause=0.05)


def freeze(slot: Slot, unit: str) -> None:
    """Hold every process of a unit where it stands, as a hung machine would.

    Raises:
        ClusterError: the kernel did not freeze it within 30 s.
    """
    if unified():
        group = MOUNT / slot.prefix / unit
        (group / "cgroup.freeze").write_text("1")
        done = "frozen 1"
        wait(f"{unit} to freeze", lambda: done in (group / "cgroup.events").read_text(), 30)
    else:
        state = MOUNT / "freezer" / slot.prefix / unit / "freezer.state"
        state.write_text("FROZEN")
        wait(f"{unit} to freeze", lambda: state.read_text().strip() == "FROZEN", 30)


def thaw(slot: Slot, unit: str = "") -> None:
    """Let the processes of a unit, or of the cluster, go on."""
    name, value = ("cgroup.freeze", "0") if unified() else ("freezer.state", "THAWED")
    top = _groups(slot, unit)[-1]
    for group in (top, *(top / other for other in UNITS if not unit)):
        if group.exists():
            (group / name).write_text(value)


def remove(slot: Slot) -> None:
    """Remove the cluster's groups in every hierarchy, the empty ones of other makers included.

    Raises:
        ClusterError: a group will not go, because something is still in it.
    """
    roots = [MOUNT] if unified() else [root for root in MOUNT.iterdir() if root.is_dir()]
    for root in {root.resolve() for root in roots}:
        top = root / slot.prefix
        if not top.exists():
            continue
        folders = [*(entry for entry in top.rglob("*") if entry.is_dir()), top]
        for folder in sorted(folders, key=lambda entry: len(entry.parts), reverse=True):
            try:
                folder.rmdir()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise ClusterError(f"the cgroup {folder} cannot be removed: {error}") from error
