"""The runtimes: runc, and gVisor where the cluster has it."""

from __future__ import annotations

import pytest
from tests.cluster.lab import tools
from tests.cluster.lab.api import ApiError
from tests.cluster.lab.handle import Cluster

GVISOR = {"runtimeClassName": "gvisor"}


def test_a_runtime_class_that_is_not_there_is_refused(
    real_cluster: Cluster, namespace: str
) -> None:
    with pytest.raises(ApiError, match="not found"):
        real_cluster.run(namespace, "odd", ["true"], spec={"runtimeClassName": "odd"})


def test_a_pod_shares_the_kernel_of_its_node_unless_it_asks_otherwise(
    real_cluster: Cluster, namespace: str
) -> None:
    kernel = real_cluster.api.get("/api/v1/nodes/node-a")["status"]["nodeInfo"]["kernelVersion"]
    seen = real_cluster.answer(namespace, "plain", ["uname", "-r"], "busybox")
    assert seen.strip() == kernel


if tools.gvisor_wanted():

    def test_a_pod_of_class_gvisor_runs_on_gvisors_kernel(
        real_cluster: Cluster, namespace: str
    ) -> None:
        script = "dmesg | grep -c 'Starting gVisor'; uname -r"
        command = ["sh", "-c", script]
        seen = real_cluster.answer(namespace, "apart", command, "busybox", spec=GVISOR)
        count, kernel = seen.split()
        plain = real_cluster.api.get("/api/v1/nodes/node-a")["status"]["nodeInfo"]
        assert count == "1"
        assert kernel != plain["kernelVersion"]

    def test_gvisor_has_names_exec_and_a_memory_limit(
        real_cluster: Cluster, namespace: str
    ) -> None:
        look = "import socket, time; print(socket.gethostbyname('s3.agentbench.test'), flush=True)"
        command = ["python3", "-c", f"{look}; time.sleep(600)"]
        real_cluster.run(namespace, "apart", command, spec=GVISOR)
        real_cluster.wait_phase(namespace, "apart", "Running")
        words = ("-n", namespace, "exec", "apart", "--", "python3", "-c", look)
        assert real_cluster.kubectl(*words).strip() == real_cluster.slot.store_ip
        limit = {"resources": {"limits": {"memory": "64Mi"}}}
        hungry = ["python3", "-c", "x = bytearray(1 << 29); print(len(x))"]
        real_cluster.run(namespace, "hungry", hungry, spec=GVISOR, container=limit)
        status = real_cluster.wait_phase(namespace, "hungry", "Failed")["status"]
        last = status["containerStatuses"][0]["state"]["terminated"]
        assert last["reason"] == "OOMKilled"

else:

    def test_without_gvisor_its_class_is_not_there(real_cluster: Cluster) -> None:
        classes = real_cluster.api.get("/apis/node.k8s.io/v1/runtimeclasses")["items"]
        assert not classes
