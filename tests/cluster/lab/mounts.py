"""A mount namespace per node, so that a node's mounts and hard-wired paths are its own.

Kubelet and containerd write below /run, /var/lib and /var/log whatever they are told. In a node's
namespace these are the node's: nothing of it reaches the machine, two nodes never share a file, and
a power cut takes the node's mounts and its /run with it, as a real one does.
"""

from __future__ import annotations

import threading
from pathlib import Path

from tests.cluster.lab.network import within
from tests.cluster.lab.shell import run
from tests.cluster.lab.slot import Node

_ONE_AT_A_TIME = threading.Lock()
COVERED = (Path("/run"), Path("/var/lib"), Path("/var/log"))


def pin(node: Node) -> Path:
    """The file that keeps the namespace while no process is in it."""
    return node.slot.folder / "ns" / node.name


def make(node: Node) -> None:
    """Make the node's namespace, unless it is there."""
    if _mounted(pin(node)):
        return
    _private(pin(node).parent)
    pin(node).touch()
    run("unshare", f"--mount={pin(node)}", "--propagation", "private", "true")
    kept = []
    for name in ("lib", "log"):
        own = node.folder / "var" / name
        own.mkdir(parents=True, exist_ok=True)
        kept.append(f"mount --bind {own} /var/{name}")
    # Shared within the namespace, as kubelets expect of a machine's root.
    script = " && ".join(["mount -t tmpfs -o mode=755 tmpfs /run", *kept, "mount --make-rshared /"])
    run("nsenter", f"--mount={pin(node)}", "sh", "-c", script)


def forget(node: Node) -> None:
    """Drop the namespace and with it every mount of a node that is dead."""
    if _mounted(pin(node)):
        run("umount", pin(node))


def inside(node: Node) -> list[str]:
    """The words that run a command on a node."""
    return [*within(node.netns), f"--mount={pin(node)}"]


def _private(folder: Path) -> None:
    """A mount namespace can only be pinned below a mount that nobody shares.

    Nodes are made at the same time: a second mount of the folder would lie over the first, and
    hide what is pinned there.
    """
    with _ONE_AT_A_TIME:
        folder.mkdir(exist_ok=True)
        if not _mounted(folder):
            run("mount", "--bind", folder, folder)
            run("mount", "--make-private", folder)


def _mounted(path: Path) -> bool:
    """Whether something is mounted there, as the kernel's table says.

    `Path.is_mount` answers no for a bind within a file system, and in Python 3.11 for every file.
    """
    table = Path("/proc/self/mountinfo").read_text().splitlines()
    return any(line.split()[4] == str(path) for line in table)
