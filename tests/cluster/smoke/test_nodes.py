"""Three nodes that differ the way a campaign must notice."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.cluster.lab import node, tools
from tests.cluster.lab.handle import Cluster


def test_two_nodes_are_of_the_pinned_class_and_one_is_not(real_cluster: Cluster) -> None:
    nodes = real_cluster.api.get("/api/v1/nodes")["items"]
    classes = {n["metadata"]["name"]: n["metadata"]["labels"][node.NODE_CLASS] for n in nodes}
    assert classes == {"node-a": "pinned", "node-b": "pinned", "node-c": "other"}


def test_nodes_of_one_class_are_unlike_in_labels_and_taints(real_cluster: Cluster) -> None:
    a, b = (real_cluster.api.get(f"/api/v1/nodes/{name}") for name in ("node-a", "node-b"))
    zone = "topology.kubernetes.io/zone"
    assert a["metadata"]["labels"][zone] != b["metadata"]["labels"][zone]
    assert "taints" not in a["spec"]
    assert b["spec"]["taints"] == [
        {"key": "agentbench.dev/dedicated", "value": "runs", "effect": "NoSchedule"}
    ]


def test_every_node_allots_the_same_fixed_resources(real_cluster: Cluster) -> None:
    for one in real_cluster.api.get("/api/v1/nodes")["items"]:
        room = one["status"]["allocatable"]
        assert room["cpu"] == str(node.CPUS)
        assert room["memory"] == f"{node.MEMORY_MIB // 1024}Gi"
        assert room["pods"] == str(node.PODS)


def test_nodes_run_the_version_that_was_asked_for(real_cluster: Cluster) -> None:
    wanted = f"v{tools.kubernetes_version()}."
    for one in real_cluster.api.get("/api/v1/nodes")["items"]:
        assert one["status"]["nodeInfo"]["kubeletVersion"].startswith(wanted)
    assert real_cluster.api.get("/version")["gitVersion"].startswith(wanted)


@pytest.mark.parametrize("tolerates", [True, False])
def test_a_taint_keeps_pods_away_that_do_not_tolerate_it(
    real_cluster: Cluster, namespace: str, tolerates: bool
) -> None:
    toleration = {"key": "agentbench.dev/dedicated", "operator": "Exists"}
    spec = {
        "nodeSelector": {"topology.kubernetes.io/zone": "b", node.NODE_CLASS: "pinned"},
        "tolerations": [toleration] if tolerates else [],
    }
    real_cluster.run(namespace, "picky", ["true"], "busybox", spec=spec)
    if tolerates:
        pod = real_cluster.wait_phase(namespace, "picky", "Succeeded")
        assert pod["spec"]["nodeName"] == "node-b"
    else:
        event = real_cluster.wait_event(namespace, "picky", "FailedScheduling")
        assert "untolerated taint" in event["message"]


def test_more_memory_than_a_node_allots_is_not_scheduled(
    real_cluster: Cluster, namespace: str
) -> None:
    request = {"resources": {"requests": {"memory": f"{node.MEMORY_MIB + 1}Mi"}}}
    real_cluster.run(namespace, "large", ["true"], "busybox", container=request)
    event = real_cluster.wait_event(namespace, "large", "FailedScheduling")
    assert "Insufficient memory" in event["message"]


def test_the_versions_of_all_neighbours_are_recorded(real_cluster: Cluster) -> None:
    versions = json.loads((real_cluster.slot.folder / "versions.json").read_text())
    assert versions["kubernetes"] == real_cluster.api.get("/version")["gitVersion"]
    for name in ("containerd", "coredns", "etcd", "helm", "kube-router", "prometheus", "runc"):
        assert any(digit.isdigit() for digit in versions[name]), name
    assert ("gvisor" in versions) == (os.environ.get("CLUSTER_GVISOR", "on") == "on")


def test_the_folder_of_namespaces_is_mounted_once_so_that_none_is_hidden(
    real_cluster: Cluster,
) -> None:
    folder = str(real_cluster.slot.folder / "ns")
    table = Path("/proc/self/mountinfo").read_text().splitlines()
    assert [line.split()[4] for line in table].count(folder) == 1
