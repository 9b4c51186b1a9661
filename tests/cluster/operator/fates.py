"""What tests of faults do to the pods of runs, and what they expect of the rows."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cluster.faults.objects import pods_path
from tests.cluster.lab import images, oci
from tests.cluster.lab.api import Api, Object
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.oci import Archive
from tests.cluster.lab.shell import ClusterError
from tests.cluster.operator.campaign import Campaign
from tests.fakes.local_pack import APP, TinyPack

SSD, HDD = {"agentbench.dev/disk": "ssd"}, {"agentbench.dev/disk": "hdd"}


def small(selector: dict[str, str] | None = None, disk: str = "64Mi") -> dict[str, Any]:
    """A node class of small pods, so that several fit on a node."""
    return {
        "selector": selector or {"kubernetes.io/os": "linux"},
        "tolerations": [
            {"key": "agentbench.dev/dedicated", "value": "runs", "effect": "NoSchedule"}
        ],
        "agent": {"cpu": "50m", "memory": "128Mi", "disk": disk},
        "app": {"cpu": "50m", "memory": "128Mi", "disk": "64Mi"},
        "service": {"cpu": "20m", "memory": "64Mi", "disk": "32Mi"},
    }


def a_pack(folder: Path, **parts: Any) -> TinyPack:
    """A pack whose start state is right already: every agent passes that comes to its end."""
    found = TinyPack(folder=folder, **parts)
    found.seed = {"app.py": APP}
    return found


def run_pod(api: Api, namespace: str, holds: Callable[[Object], bool], seconds: float) -> Object:
    """The first run pod of which something is true, in the moment in which it becomes true.

    Raises:
        ClusterError: there was none within `seconds`.
    """
    path = f"{pods_path(namespace)}?labelSelector=agentbench.dev%2Frole%3Drun"
    stop = threading.Event()
    timer = threading.Timer(seconds, stop.set)
    timer.start()
    try:
        while not stop.is_set():
            listed = api.get(path)
            for pod in listed["items"]:
                if holds(pod):
                    return dict(pod)
            version = listed["metadata"]["resourceVersion"]
            for event in api.watch(path, version, stop, seconds=max(1, int(seconds))):
                if event["type"] != "DELETED" and holds(event["object"]):
                    return dict(event["object"])
    finally:
        timer.cancel()
    raise ClusterError(f"no run pod in {namespace} came to the awaited state in {seconds:.0f} s")


def of(run: str, attempt: int = 1) -> Callable[[Object], bool]:
    """Whether a pod is that of an attempt."""

    def holds(pod: Object) -> bool:
        notes = pod["metadata"].get("annotations") or {}
        return notes.get("agentbench.dev/run") == run and notes.get(
            "agentbench.dev/attempt"
        ) == str(attempt)

    return holds


def agent_state(pod: Object) -> str:
    """`waiting`, `running` or `terminated`: the agent's container."""
    statuses = pod.get("status", {}).get("containerStatuses") or [{"state": {"waiting": {}}}]
    return str(next(iter(statuses[0].get("state") or {"waiting": {}})))


def endings(campaign: Campaign) -> dict[str, tuple[str, str | None, str | None]]:
    """Outcome, cause and first reason of every row."""
    return {
        name: (row["outcome"], row["cause"], next(iter(row["reasons"]), None))
        for name, row in campaign.rows().items()
    }


def another_time(minutes: int) -> dict[str, str]:
    """The environment of a process whose clock is off; time that only counts up is not."""
    library = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    return {
        "LD_PRELOAD": str(library),
        "FAKETIME": f"{minutes:+d}m",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_NO_CACHE": "0",
    }


def stubborn_image(cluster: Cluster, folder: Path) -> str:
    """An image, on every node, of a program that ignores SIGTERM."""
    script = b"#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 1; done\n"
    files: dict[str, Path | bytes] = {"bin/busybox": images.BUSYBOX, "bin/stubborn": script}
    root = oci.layer(folder / "stubborn.tar", files, {"bin/sh": "busybox", "bin/sleep": "busybox"})
    archive = Archive(folder / "stubborn-image.tar", images.name_of("stubborn"))
    config = {"Entrypoint": ["/bin/stubborn"], "Env": ["PATH=/bin"]}
    oci.write(archive, root, config)
    for node in cluster.slot.nodes:
        images.load(node, cluster.programs["ctr"], [archive])
    return archive.pinned
