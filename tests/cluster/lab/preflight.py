"""What a machine must have to hold a cluster; each lack is refused with its cure."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.cluster.lab import cgroups, mounts
from tests.cluster.lab.shell import ClusterError, CommandError, run

DISK_GIB = 12


def lacks(scratch: Path, cache: Path) -> list[str]:
    """All that is missing on this machine, each with its cure; empty if nothing is."""
    if sys.platform != "linux":
        return [f"the test cluster needs Linux; this is {sys.platform}: use a Linux machine"]
    if os.geteuid() != 0:
        return ["the test cluster needs root, for namespaces and mounts: run it with sudo"]
    for path, variable in ((scratch, "CLUSTER_ROOT"), (cache, "CLUSTER_CACHE")):
        covered = [top for top in mounts.COVERED if path.is_relative_to(top)]
        if covered:
            return [f"{variable}={path}: nodes cannot see {covered[0]}; choose a folder elsewhere"]
    checks: Iterable[Callable[[], str | None]] = (
        _cgroup,
        _namespaces,
        lambda: _overlayfs(scratch),
        lambda: _disk(scratch, cache),
    )
    return [lack for check in checks if (lack := check())]


def require(scratch: Path, cache: Path) -> None:
    """Refuse a machine that lacks something.

    Raises:
        ClusterError: names each thing that is missing, and how to get it.
    """
    found = lacks(scratch, cache)
    if found:
        raise ClusterError("\n".join(found))


def _cgroup() -> str | None:
    if not cgroups.MOUNT.is_dir() or not cgroups.hierarchies():
        return (
            f"no cgroups at {cgroups.MOUNT}: mount them "
            "(in a container: run it with --privileged and --cgroupns=host)"
        )
    if cgroups.unified():
        enabled = (cgroups.MOUNT / "cgroup.subtree_control").read_text().split()
        absent = [name for name in cgroups.CONTROLLERS if name not in enabled]
        if absent:
            words = " ".join(f"+{name}" for name in absent)
            return (
                f"cgroup controllers not enabled: {', '.join(absent)}. Enable them: "
                f"echo '{words}' > {cgroups.MOUNT}/cgroup.subtree_control"
            )
    else:
        roots = {root.name for root in cgroups.hierarchies()}
        absent = [n for n in ("memory", "pids", "freezer") if not (cgroups.MOUNT / n).is_dir()]
        if absent:
            return (
                f"cgroup v1 without {', '.join(absent)} (there is: {', '.join(sorted(roots))}): "
                "mount these controllers, or boot with cgroup v2"
            )
    probe = cgroups.tracker() / f"agentbench-probe-{os.getpid()}"
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError as error:
        return (
            f"no cgroup can be made in {probe.parent}: {error.strerror}. "
            "Make the cgroup file system writable (in a container: --privileged)"
        )
    return None


def _namespaces() -> str | None:
    try:
        run("unshare", "--net", "--mount", "ip", "link", "add", "v0", "type", "veth")
    except CommandError as error:
        return (
            "network namespaces with veth pairs cannot be made: give this process CAP_SYS_ADMIN "
            f"and CAP_NET_ADMIN, and the kernel its veth module ({error.output.strip()})"
        )
    return None


def _overlayfs(scratch: Path) -> str | None:
    top = scratch / "overlay-probe"
    for name in ("lower", "upper", "work", "merged"):
        (top / name).mkdir(parents=True, exist_ok=True)
    options = f"lowerdir={top}/lower,upperdir={top}/upper,workdir={top}/work"
    mount = f"mount -t overlay overlay -o {options} {top}/merged"
    try:
        # In a namespace of its own: however this ends, no mount stays.
        run("unshare", "--mount", "sh", "-c", mount)
    except CommandError as error:
        return (
            f"overlayfs does not work on {scratch}: {error.output.strip()}. Load the module "
            "(modprobe overlay), or set CLUSTER_ROOT to a folder on ext4 or xfs"
        )
    finally:
        shutil.rmtree(top, ignore_errors=True)
    return None


def _disk(scratch: Path, cache: Path) -> str | None:
    for path, variable in ((scratch, "CLUSTER_ROOT"), (cache, "CLUSTER_CACHE")):
        existing = next(parent for parent in (path, *path.parents) if parent.exists())
        free = shutil.disk_usage(existing).free / 2**30
        if free < DISK_GIB:
            return (
                f"{existing} has {free:.1f} GiB free, {DISK_GIB} are needed: "
                f"make room, or set {variable} to a folder elsewhere"
            )
    return None
