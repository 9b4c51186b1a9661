"""What is done to pods behind an operator's back."""

from __future__ import annotations

import threading

import pytest
from tests.cluster.faults import objects
from tests.cluster.lab.api import ApiError
from tests.cluster.lab.handle import Cluster


def test_an_eviction_ends_a_pod_and_says_who_did_it(real_cluster: Cluster, namespace: str) -> None:
    spec = {"terminationGracePeriodSeconds": 5}
    real_cluster.run(namespace, "target", ["sleep", "600"], "busybox", spec=spec)
    real_cluster.wait_phase(namespace, "target", "Running")
    path = objects.pods_path(namespace)
    seen: list[dict[str, str]] = []

    def disrupted(pod: dict[str, object]) -> bool:
        status = pod["status"]
        assert isinstance(status, dict)
        seen.extend(c for c in status.get("conditions", ()) if c["type"] == "DisruptionTarget")
        return bool(seen)

    watcher = threading.Thread(
        target=objects.when, args=(real_cluster.api, path, "target", disrupted, 60)
    )
    watcher.start()
    objects.evict(real_cluster.api, namespace, "target")
    watcher.join()
    assert seen[0]["reason"] == "EvictionByEvictionAPI"
    real_cluster.wait_gone(namespace, "target")


def test_a_disruption_budget_holds_an_eviction_back(real_cluster: Cluster, namespace: str) -> None:
    real_cluster.run(namespace, "guarded", ["sleep", "600"], "busybox", labels={"app": "guarded"})
    real_cluster.wait_phase(namespace, "guarded", "Running")
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "guard"},
        "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "guarded"}}},
    }
    path = f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"
    real_cluster.api.create(path, budget)
    with pytest.raises(ApiError) as refused:
        objects.evict(real_cluster.api, namespace, "guarded")
    assert refused.value.code == 429


@pytest.mark.parametrize("phase", ["Pending", "Running", "Succeeded"])
def test_a_pod_is_deleted_in_the_phase_that_was_named(
    real_cluster: Cluster, namespace: str, phase: str
) -> None:
    command = ["sleep", "600"] if phase == "Running" else ["true"]
    # Nothing schedules it: it stays Pending for as long as the test needs.
    nowhere = {"nodeSelector": {"nowhere": "true"}} if phase == "Pending" else {}
    real_cluster.run(namespace, "victim", command, "busybox", spec=nowhere)
    pod = objects.delete_at(real_cluster.api, namespace, "victim", phase, grace=0)
    assert pod["status"]["phase"] == phase
    real_cluster.wait_gone(namespace, "victim")
