"""How pods and Jobs live and die, as the operator counts on it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.cluster.faults import objects
from tests.cluster.lab import images
from tests.cluster.lab.handle import Cluster

_ASIDE = "trap 'echo \"saw $(cat /shared/order)\" > /dev/termination-log; exit 0' TERM; "
_IDLE = "while :; do sleep 0.1; done"


def _container(name: str, script: str, **rest: Any) -> dict[str, Any]:
    return {
        "name": name,
        "image": images.name_of("busybox"),
        "imagePullPolicy": "Never",
        "command": ["sh", "-c", script],
        "volumeMounts": [{"name": "shared", "mountPath": "/shared"}],
        **rest,
    }


@pytest.mark.parametrize(("code", "phase"), [(0, "Succeeded"), (3, "Failed")])
def test_a_native_sidecar_starts_first_ends_last_and_leaves_the_verdict_to_main(
    real_cluster: Cluster, namespace: str, code: int, phase: str
) -> None:
    probe = {"exec": {"command": ["test", "-e", "/shared/order"]}, "periodSeconds": 1}
    side = _container(
        "side",
        f"{_ASIDE} printf side > /shared/order; {_IDLE}",
        restartPolicy="Always",
        startupProbe=probe,
    )
    seed = _container("seed", "printf ,seed >> /shared/order")
    main = _container("main", f"printf ,main >> /shared/order; exit {code}")
    spec = {
        "terminationGracePeriodSeconds": 20,
        "initContainers": [side, seed],
        "containers": [main],
        "volumes": [{"name": "shared", "emptyDir": {}}],
    }
    real_cluster.run(namespace, "sidecar", [], "busybox", spec=spec)
    status = real_cluster.wait_phase(namespace, "sidecar", phase)["status"]
    ended = {one["name"]: one["state"]["terminated"] for one in status["initContainerStatuses"]}
    assert ended["side"]["message"].strip() == "saw side,seed,main"
    assert ended["side"]["exitCode"] == 0
    assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == code


def test_an_indexed_job_counts_each_index_and_fails_where_its_policy_says(
    real_cluster: Cluster, namespace: str
) -> None:
    script = "case $JOB_COMPLETION_INDEX in 1) exit 42;; 2) exit 1;; esac"
    container = {
        "name": "main",
        "image": images.name_of("busybox"),
        "imagePullPolicy": "Never",
        "command": ["sh", "-c", script],
    }
    at_once = {
        "action": "FailIndex",
        "onExitCodes": {"containerName": "main", "operator": "In", "values": [42]},
    }
    body = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "checks"},
        "spec": {
            "completionMode": "Indexed",
            "completions": 4,
            "parallelism": 4,
            "backoffLimitPerIndex": 1,
            "podFailurePolicy": {"rules": [at_once]},
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }
    path = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    real_cluster.api.create(path, body)

    def over(job: dict[str, Any]) -> bool:
        conditions = job["status"].get("conditions") or ()
        return any(one["type"] == "Failed" and one["status"] == "True" for one in conditions)

    status = objects.when(real_cluster.api, path, "checks", over, 90)["status"]
    assert status["completedIndexes"] == "0,3"
    assert status["failedIndexes"] == "1,2"
    # Index 1 is not tried again, index 2 once.
    assert status["failed"] == 3


def test_a_container_beyond_its_memory_limit_is_killed_and_says_so(
    real_cluster: Cluster, namespace: str
) -> None:
    limit = {"resources": {"limits": {"memory": "32Mi"}}}
    command = ["python3", "-c", "x = bytearray(1 << 28)"]
    real_cluster.run(namespace, "hungry", command, container=limit)
    status = real_cluster.wait_phase(namespace, "hungry", "Failed")["status"]
    last = status["containerStatuses"][0]["state"]["terminated"]
    assert (last["reason"], last["exitCode"]) == ("OOMKilled", 137)


def test_a_pod_beyond_its_deadline_fails(real_cluster: Cluster, namespace: str) -> None:
    deadline = {"activeDeadlineSeconds": 2}
    real_cluster.run(namespace, "late", ["sleep", "600"], "busybox", spec=deadline)
    status = real_cluster.wait_phase(namespace, "late", "Failed")["status"]
    assert status["reason"] == "DeadlineExceeded"


def test_a_volume_beyond_its_size_evicts_the_pod(real_cluster: Cluster, namespace: str) -> None:
    volume = {"name": "shared", "emptyDir": {"sizeLimit": "1Mi"}}
    mount = {"volumeMounts": [{"name": "shared", "mountPath": "/shared"}]}
    fill = "head -c 8000000 /dev/zero > /shared/much; sleep 600"
    real_cluster.run(
        namespace, "fat", ["sh", "-c", fill], "busybox",
        spec={"volumes": [volume]}, container=mount,
    )  # fmt: skip
    status = real_cluster.wait_phase(namespace, "fat", "Failed", seconds=150)["status"]
    assert status["reason"] == "Evicted"
    assert "exceeds the limit" in status["message"]
