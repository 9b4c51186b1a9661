"""The whole cluster: up, down, and what it is like in between."""

from __future__ import annotations

import shutil
import string
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from tests.cluster.lab import (
    build,
    cgroups,
    control,
    images,
    kube,
    network,
    node,
    packages,
    pki,
    preflight,
    runtime,
    slot,
    stores,
    tools,
    versions,
)
from tests.cluster.lab.oci import Archive
from tests.cluster.lab.shell import ClusterError, run, wait, write
from tests.cluster.lab.slot import Slot

MANIFESTS = Path(__file__).resolve().parents[1] / "manifests"
Say = Callable[[str], None]


def up(say: Say = print, *, enclosed: bool = False) -> Slot:
    """Start this checkout's cluster unless it runs, building what is missing.

    Args:
        say: told of every step.
        enclosed: make this process part of the cluster while it starts: should it be killed, `down`
            ends the compilers that it left running. For a process that does nothing else.

    A cluster that is there in part, because its start was cut short, is removed and made anew.

    Raises:
        ClusterError: the machine lacks something, a build failed, or a daemon did not start.
    """
    preflight.require(slot.ROOT, build.CACHE)
    packages.ensure(packages.RUNTIME)
    mine = slot.claim()
    with slot.locked(mine.folder):
        if is_up(mine):
            for dead in (one for one in mine.nodes if not cgroups.processes(mine, one.name)):
                node.restart(dead, kube.linked_programs(mine))
            return mine
        clear(mine)
        if enclosed:
            cgroups.join(mine)
        began = time.monotonic()

        def took(what: str) -> None:
            say(f"{time.monotonic() - began:6.1f} s  {what}")

        try:
            programs, archives = prepare(mine, took)
            start(mine, programs, archives, took)
        except BaseException as error:
            # The logs are what tells why; they go where the next start or `down` removes them.
            say(f"the cluster did not start: {error}\nlogs: {mine.logs}")
            for unit in cgroups.UNITS:
                cgroups.kill(mine, unit)
            raise
    return mine


def prepare(mine: Slot, say: Say) -> tuple[dict[str, Path], list[Archive]]:
    """Build and make all that the cache does not hold."""
    scratch = mine.folder / "tmp"
    scratch.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(1) as pool:
        # mmdebstrap mostly waits for its mirror while the compilers compute.
        base = pool.submit(images.debian, images.DEBIAN_PACKAGES, scratch)
        programs = build.build_all(tools.wanted(), scratch, say)
        base.result()
    archives = images.all_images(programs, scratch)
    prometheus = packages.unpack("prometheus", build.CACHE)
    for program in packages.UNPACKED["prometheus"]:
        programs[Path(program).name] = prometheus / program
    return programs, archives


def start(mine: Slot, programs: dict[str, Path], archives: list[Archive], say: Say) -> None:
    """Start every part; returns when three nodes are Ready and names are answered."""
    kube.link_programs(mine, programs)
    pki.make(mine)
    for unit in cgroups.UNITS:
        cgroups.make(mine, unit)
    network.join(mine)
    say("keys, groups and namespaces are made")
    with ThreadPoolExecutor() as pool:
        runtimes = [pool.submit(runtime.start, one, programs, archives) for one in mine.nodes]
        stores.versitygw(mine).start(programs)
        if "weed" in programs:
            stores.seaweedfs(mine).start(programs)
        control.start(mine, programs)
        say("the control plane is ready")
        for started in runtimes:
            started.result()
        say(f"containerd is ready, with {len(archives)} images on each node")
        for one in mine.nodes:
            node.start_kubelet(one, programs)
        _apply_manifests(mine, gvisor="runsc" in programs)
        list(pool.map(lambda one: node.start_network_policy(one, programs), mine.nodes))
    path = 'jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}'
    wait(
        "three Ready nodes",
        lambda: kube.kubectl(mine, "get", "nodes", "-o", path).split() == ["True"] * 3,
        hint=f"see {mine.logs}",
    )
    say("three nodes are Ready")
    rollout = ("rollout", "status", "deployment/coredns", "--timeout=90s")
    kube.kubectl(mine, "-n", "kube-system", *rollout)
    recorded = versions.of_packages() | versions.of_tools(tools.wanted())
    write(mine.folder / "versions.json", recorded)
    write(mine.folder / "up", "")
    say("the cluster's DNS is ready")


def _apply_manifests(mine: Slot, *, gvisor: bool) -> None:
    words = {
        "image": images.name_of("coredns"),
        "dns_ip": mine.dns_ip,
        "store_ip": mine.store_ip,
        "s3_proxy_ip": mine.s3_proxy_ip,
        "registry_ip": mine.registry_ip,
    }
    texts = [string.Template(p.read_text()).substitute(words) for p in MANIFESTS.glob("*.yaml")]
    kube.kubectl(mine, "apply", "-f", "-", text="\n---\n".join(texts))
    if gvisor:
        kube.apply(
            mine,
            {
                "apiVersion": "node.k8s.io/v1",
                "kind": "RuntimeClass",
                "metadata": {"name": "gvisor"},
                "handler": runtime.GVISOR,
            },
        )


def is_up(mine: Slot) -> bool:
    """Whether the cluster was started to its end and its control plane and store still run."""
    started = (mine.folder / "up").exists()
    return started and all(cgroups.processes(mine, unit) for unit in ("control", "store"))


def down(mine: Slot) -> None:
    """Remove a cluster without a trace: processes, mounts, namespaces, groups, files.

    Works on what is left of one that was killed in any state.
    """
    if not mine.folder.exists():
        return
    with slot.locked(mine.folder):
        clear(mine)
        shutil.rmtree(mine.folder)
    with suppress(OSError):
        slot.ROOT.rmdir()


def clear(mine: Slot) -> None:
    """Remove everything of a cluster but its claim to the slot."""
    cgroups.kill(mine)
    unmount(mine.folder)
    network.part(mine)
    cgroups.remove(mine)
    for entry in mine.folder.iterdir():
        if entry.name == "owner.json":
            continue
        kube.discard(entry)


def unmount(folder: Path) -> None:
    """Unmount everything below a folder, last mounted first.

    Raises:
        ClusterError: something stays mounted.
    """

    def mounted() -> list[str]:
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
        points = [line.split()[4].replace("\\040", " ") for line in lines]
        return [point for point in points if point.startswith(f"{folder}/")]

    for point in reversed(mounted()):
        run("umount", "--lazy", point, check=False)
    if mounted():
        raise ClusterError(f"still mounted: {', '.join(mounted())}; unmount them by hand")


def status(mine: Slot) -> str:
    """What runs, and how much memory each daemon holds."""
    lines = []
    for unit in cgroups.UNITS:
        for pid in cgroups.processes(mine, f"{unit}/daemons"):
            with suppress(FileNotFoundError):
                lines.append(f"{unit:8} {_memory(pid)}")
    objects = kube.kubectl(mine, "get", "nodes,pods", "-A", "-o", "wide", check=False)
    return "\n".join([*lines, "", objects])


def _memory(pid: int) -> str:
    facts = dict(
        line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    program = Path(words[0]).name
    name = words[1] if program.startswith("hyperkube") else program.rpartition("-")[0] or program
    mib = int(facts.get("VmRSS", "0 kB").split()[0]) // 1024
    return f"{pid:8} {name:26} {mib:5} MiB"
