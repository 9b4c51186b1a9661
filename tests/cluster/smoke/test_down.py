"""A second checkout's cluster beside the first, and its end: no trace, even after kill -9."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cluster.lab import cgroups, cluster, kube, slot
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.shell import run, wait
from tests.cluster.lab.slot import Slot

_UP = [sys.executable, "-m", "tests.cluster.lab.cli", "up"]


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Path]:
    """Another checkout, whose cluster is gone after the test."""
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    yield checkout
    left = slot.mine(checkout)
    if left is not None:
        cluster.down(left)


def traces(of: Slot) -> list[str]:
    """All that the machine has of a cluster."""
    found = [f"process {pid}" for pid in cgroups.processes(of)]
    found += [f"group {path}" for path in cgroups.MOUNT.glob(f"**/{of.prefix}")]
    found += [f"namespace {path.name}" for path in Path("/run/netns").glob(f"{of.prefix}-*")]
    found += [f"link {of.prefix}" for _ in [0] if Path(f"/sys/class/net/{of.prefix}").exists()]
    found += [f"route {line}" for line in run("ip", "route").splitlines() if f"{of.net}." in line]
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    found += [f"mount {line}" for line in mounts if f"{of.folder}/" in line or of.prefix in line]
    if of.folder.exists():
        found.append(f"folder {of.folder}")
    own = os.getpid()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != own:
            try:
                words = (entry / "cmdline").read_text().split("\0")
            except OSError:
                continue
            found += [f"process {entry.name} {words}" for word in words if f"{of.folder}/" in word]
    return found


def hidden_traces() -> set[str]:
    """The places where container software leaves things behind, whatever it is told."""
    places = (
        "/run/containerd", "/run/runc", "/run/runsc", "/run/nri", "/run/kubernetes",
        "/var/lib/kubelet", "/var/lib/cni", "/var/lib/containerd", "/var/lib/etcd",
        "/var/log/containers", "/var/log/pods", "/usr/libexec/kubernetes", "/etc/kubernetes",
    )  # fmt: skip
    return {place for place in places if Path(place).exists()}


def begin(checkout: Path, log: Path) -> subprocess.Popen[bytes]:
    """Start another checkout's cluster."""
    with log.open("wb") as out:
        return subprocess.Popen(
            _UP, cwd=slot.SOURCE, stdout=out, stderr=out,
            env={**os.environ, "CLUSTER_CHECKOUT": str(checkout)},
        )  # fmt: skip


def test_a_second_cluster_runs_beside_the_first_and_goes_without_a_trace(
    real_cluster: Cluster, other: Path, tmp_path: Path
) -> None:
    before = hidden_traces()
    log = tmp_path / "log"
    with begin(other, log) as started:
        assert started.wait(280) == 0, log.read_text()
    second = slot.mine(other)
    assert second is not None
    assert second != real_cluster.slot
    names = kube.kubectl(second, "get", "nodes", "-o", "name").split()
    assert len(names) == 3
    image = "--image=agentbench.test/busybox:1"
    words = ("run", "hello", image, "--image-pull-policy=Never", "--restart=Never", "-i", "--rm")
    assert "hello" in kube.kubectl(second, *words, "--", "echo", "hello")
    # The first one is not disturbed.
    assert "hello" in real_cluster.kubectl(*words, "--", "echo", "hello")
    cluster.down(second)
    assert traces(second) == []
    assert hidden_traces() == before
    assert cluster.is_up(real_cluster.slot)


def test_a_cluster_whose_start_was_killed_goes_without_a_trace(
    real_cluster: Cluster, other: Path, tmp_path: Path
) -> None:
    with begin(other, tmp_path / "log") as started:

        def half_up() -> bool:
            half = slot.mine(other)
            # Mid-way: a control plane, and containers' runtimes, and no end in sight.
            return half is not None and bool(
                cgroups.processes(half, "control") and cgroups.processes(half, "node-a")
            )

        wait("the start to be half done", half_up, 200)
        started.send_signal(signal.SIGKILL)
    half = slot.mine(other)
    assert half is not None
    assert not cluster.is_up(half)
    assert traces(half)
    words = [sys.executable, "-m", "tests.cluster.lab.cli", "down"]
    subprocess.run(
        words, cwd=slot.SOURCE, check=True, env={**os.environ, "CLUSTER_CHECKOUT": str(other)}
    )
    assert traces(half) == []
    assert cluster.is_up(real_cluster.slot)


def test_up_is_idempotent(real_cluster: Cluster) -> None:
    before = cgroups.processes(real_cluster.slot, "control")
    assert cluster.up(lambda _: None) == real_cluster.slot
    assert cgroups.processes(real_cluster.slot, "control") == before


def test_down_without_a_cluster_says_so(other: Path) -> None:
    words = [sys.executable, "-m", "tests.cluster.lab.cli", "down"]
    env = {**os.environ, "CLUSTER_CHECKOUT": str(other)}
    done = subprocess.run(
        words, cwd=slot.SOURCE, env=env, check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "this checkout has no cluster"
    shutil.rmtree(other)
