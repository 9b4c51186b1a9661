"""Losing a node in every way there is, and getting it back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.cluster.faults import nodes, objects
from tests.cluster.lab.api import Object
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.slot import Node


@pytest.fixture
def victim(real_cluster: Cluster) -> Iterator[Node]:
    """A node that is whole again after the test."""
    one = real_cluster.slot.node("node-a")
    nodes.wait_ready(one)
    yield one
    nodes.heal(one)
    nodes.thaw(one)
    if not nodes.powered(one):
        nodes.give_back(one)
    nodes.wait_ready(one)


def _steady(cluster: Cluster, namespace: str, node: Node, seconds: int) -> Object:
    """A pod that runs on a node and outlives its silence that long."""
    tolerations = [
        {"key": f"node.kubernetes.io/{taint}", "operator": "Exists", "effect": "NoExecute",
         "tolerationSeconds": seconds}
        for taint in ("unreachable", "not-ready")
    ]  # fmt: skip
    spec = {"nodeName": node.name, "tolerations": tolerations, "restartPolicy": "Always"}
    cluster.run(namespace, "steady", ["sleep", "3600"], "busybox", spec=spec)
    return cluster.wait_phase(namespace, "steady", "Running")


def test_a_killed_node_is_noticed_its_pods_evicted_and_it_comes_back(
    real_cluster: Cluster, namespace: str, victim: Node
) -> None:
    _steady(real_cluster, namespace, victim, 1)
    nodes.kill(victim)
    nodes.wait_ready(victim, "Unknown")

    def evicted(pod: Object) -> bool:
        return "deletionTimestamp" in pod["metadata"]

    path = objects.pods_path(namespace)
    pod = objects.when(real_cluster.api, path, "steady", evicted)
    reasons = {one["type"]: one.get("reason") for one in pod["status"]["conditions"]}
    assert reasons["DisruptionTarget"] == "DeletionByTaintManager"
    # Nobody can say that it has ended: it stays until its node returns.
    assert pod["status"]["phase"] == "Running"
    nodes.give_back(victim)
    nodes.wait_ready(victim)
    real_cluster.wait_gone(namespace, "steady")


def test_a_pod_that_outlives_its_nodes_absence_is_started_again(
    real_cluster: Cluster, namespace: str, victim: Node
) -> None:
    _steady(real_cluster, namespace, victim, 600)
    nodes.kill(victim)
    nodes.give_back(victim)

    def again(pod: Object) -> bool:
        (state,) = pod["status"]["containerStatuses"]
        return bool(state["restartCount"] == 1 and state["ready"])

    objects.when(real_cluster.api, objects.pods_path(namespace), "steady", again)


def test_a_cut_node_is_noticed_and_its_pod_runs_on_unseen(
    real_cluster: Cluster, namespace: str, victim: Node
) -> None:
    before = _steady(real_cluster, namespace, victim, 600)["status"]["containerStatuses"][0]
    nodes.cut(victim)
    nodes.wait_ready(victim, "Unknown")
    nodes.heal(victim)
    nodes.wait_ready(victim)
    after = real_cluster.pod(namespace, "steady")["status"]["containerStatuses"][0]
    assert after["containerID"] == before["containerID"]
    assert after["restartCount"] == 0


def test_a_frozen_node_stands_still_until_it_is_thawed(
    real_cluster: Cluster, namespace: str, victim: Node
) -> None:
    count = "n=0; while :; do n=$((n+1)); echo $n; sleep 0.2; done"
    spec = {"nodeName": victim.name, "tolerations": [{"operator": "Exists"}]}
    real_cluster.run(namespace, "counts", ["sh", "-c", count], "busybox", spec=spec)
    real_cluster.wait_phase(namespace, "counts", "Running")
    nodes.freeze(victim)
    nodes.wait_ready(victim, "Unknown")
    nodes.thaw(victim)
    nodes.wait_ready(victim)
    lines = real_cluster.output(namespace, "counts").split()
    # It stood for more than the 12 s that the control plane waits; it did not count them.
    assert 0 < len(lines) < 100
    assert lines == [str(number) for number in range(1, len(lines) + 1)]
