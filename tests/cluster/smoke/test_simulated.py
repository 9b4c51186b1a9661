"""Simulated nodes take pods to their phases through the real API server."""

from __future__ import annotations

from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.shell import wait
from tests.cluster.simulated import phases
from tests.cluster.simulated.kubelet import NODE_CLASS, TOLERATION, SimulatedNodes

PODS = 60
_SPEC = {"nodeSelector": NODE_CLASS, "tolerations": [TOLERATION]}


def test_pods_run_and_end_on_simulated_nodes_and_are_removed(
    real_cluster: Cluster, namespace: str, simulated: SimulatedNodes
) -> None:
    simulated.script(run_seconds=0.5)
    for number in range(PODS):
        real_cluster.run(namespace, f"p-{number}", ["never run"], "busybox", spec=_SPEC)
    path = f"/api/v1/namespaces/{namespace}/pods"

    def over() -> bool:
        pods = real_cluster.api.get(path)["items"]
        return [pod["status"]["phase"] for pod in pods] == ["Succeeded"] * PODS

    wait("all simulated pods to succeed", over, 120)
    used = {pod["spec"]["nodeName"] for pod in real_cluster.api.get(path)["items"]}
    assert used <= set(simulated.names)
    assert len(used) > 1
    real_cluster.api.delete(path)
    wait("the pods to be gone", lambda: not real_cluster.api.get(path)["items"], 60)
    counts = simulated.counts()
    assert counts["ended"] == PODS


def test_a_pod_says_how_it_goes(
    real_cluster: Cluster, namespace: str, simulated: SimulatedNodes
) -> None:
    notes = {
        phases.PREFIX + "exit-code": "7",
        phases.PREFIX + "run-seconds": "0",
        phases.PREFIX + "message": '{"calls": 3}',
    }
    warden = {"name": "warden", "image": "none", "restartPolicy": "Always"}
    spec = {**_SPEC, "initContainers": [warden]}
    real_cluster.run(namespace, "scripted", ["never"], spec=spec, annotations=notes)
    status = real_cluster.wait_phase(namespace, "scripted", "Failed")["status"]
    assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 7
    last = status["initContainerStatuses"][0]["state"]["terminated"]
    assert last["message"] == '{"calls": 3}'


def test_a_live_pod_is_deleted_from_a_simulated_node(
    real_cluster: Cluster, namespace: str, simulated: SimulatedNodes
) -> None:
    simulated.script(run_seconds=600)
    real_cluster.run(namespace, "long", ["never"], spec=_SPEC)
    real_cluster.wait_phase(namespace, "long", "Running")
    real_cluster.api.delete(f"/api/v1/namespaces/{namespace}/pods/long")
    real_cluster.wait_gone(namespace, "long")
