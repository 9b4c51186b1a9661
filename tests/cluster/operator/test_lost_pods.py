"""Pods that are deleted, evicted, denied, or never start: each attempt has its one row.

All of it happens to one operator at the same time, in campaigns side by side: so one campaign's
trouble is seen not to be another's.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.cluster.faults.objects import pods_path, quota
from tests.cluster.faults.registry import Registry
from tests.cluster.lab import product
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.runtime import REGISTRY_HOST
from tests.cluster.lab.shell import wait
from tests.cluster.operator.campaign import Campaign
from tests.cluster.operator.fates import (
    HDD,
    SSD,
    a_pack,
    agent_state,
    endings,
    of,
    run_pod,
    small,
    stubborn_image,
)
from tests.cluster.operator.life import waits_for
from tests.cluster.operator.process import OperatorProcess
from tests.cluster.witness.observe import Witness

PATIENCE = {"AGENTBENCH_IMAGE_PULL_SECONDS": "75"}
NOBODY = f"{REGISTRY_HOST}/nobody@sha256:{'0' * 64}"
FILL = "dd if=/dev/zero of=big bs=1M count=120 2>/dev/null"


@pytest.mark.timeout(600, func_only=True)
def test_whatever_becomes_of_pods_every_attempt_has_one_row_that_says_why(
    real_cluster: Cluster,
    operating: OperatorProcess,
    apply: Callable[..., Campaign],
    watching: Callable[..., AbstractContextManager[Witness]],
    faulty_registry: Registry,
    namespace: str,
    tmp_path: Path,
) -> None:
    api = real_cluster.api
    operating.stop()
    operating.start(PATIENCE)
    # Under a name that no node has heard of, so that it must be pulled.
    heals = faulty_registry.offer(product.image(real_cluster.slot, "pod"), f"spare-{namespace}")
    faulty_registry.answer("throttled")
    with watching() as witness:
        with quota(api, namespace, pods="0"):
            deleted = apply(
                a_pack(
                    tmp_path / "deleted",
                    agents={"A1": [{"sleep": 12}], "A2": [{"sleep": 1}], "A3": [{"sleep": 1}]},
                ),
                name="deleted", parallelism=3, nodeClass=small(SSD),
            )  # fmt: skip
            wait("the quota to be shown", lambda: "exceeded quota" in waits_for(deleted), 60)
            assert deleted.rows() == {}
        watchers = [
            _deletes(real_cluster, namespace, "T1-S1-A1-r1", lambda pod: _is(pod, "running")),
            _deletes(real_cluster, namespace, "T1-S1-A2-r1", lambda pod: True),
            _deletes(real_cluster, namespace, "T1-S1-A3-r1", lambda pod: _is(pod, "terminated")),
        ]
        disk = apply(
            a_pack(tmp_path / "disk", agents={"D1": [{"shell": FILL}, {"sleep": 60}]}),
            name="disk", nodeClass=small(HDD),
        )  # fmt: skip
        pulls = apply(
            a_pack(tmp_path / "pulls", agents={"P1": "nop", "P2": "nop"}),
            name="pulls", images={"P1": NOBODY, "P2": heals}, parallelism=2, nodeClass=small(HDD),
        )  # fmt: skip
        service = {
            "name": "hung",
            "kind": "container",
            "image": stubborn_image(real_cluster, tmp_path),
        }
        hung = apply(
            a_pack(tmp_path / "hung", agents={"H1": "nop"}, stack={"services": [service]}),
            name="hung", nodeClass=small(HDD),
        )  # fmt: skip
        run_pod(api, namespace, lambda pod: of("T1-S1-P2-r1")(pod) and _pull_failed(pod), 120)
        faulty_registry.answer("ok")
        for one in (deleted, disk, pulls, hung):
            one.wait("Complete", seconds=400)
        for thread in watchers:
            thread.join(1)
        violations = witness.violations()
    found = endings(deleted)
    assert found.pop("T1-S1-A3-r1/1") in (GONE, PASSED)  # captured just in time, or not
    found.pop("T1-S1-A3-r1/2", None)
    assert found == {
        "T1-S1-A1-r1/1": GONE,
        "T1-S1-A1-r1/2": PASSED,
        "T1-S1-A2-r1/1": GONE,
        "T1-S1-A2-r1/2": PASSED,
    }
    assert endings(disk) == {"T1-S1-D1-r1/1": ("fail", "task", "AgentDisk")}
    unpulled = ("fail", "infra", "ImagePull")
    assert endings(pulls) == {
        "T1-S1-P1-r1/1": unpulled,
        "T1-S1-P1-r1/2": unpulled,
        "T1-S1-P2-r1/1": PASSED,
    }
    cost = pulls.rows()["T1-S1-P1-r1/1"]["metrics"]["cost_usd"]
    assert (cost["value"], cost["availability"]) == ("0", "measured")
    assert endings(hung) == {"T1-S1-H1-r1/1": PASSED}
    assert violations == []


GONE = ("fail", "infra", "PodDeleted")
PASSED = ("pass", None, None)


def _is(pod: dict[str, object], state: str) -> bool:
    return agent_state(pod) == state


def _pull_failed(pod: dict[str, object]) -> bool:
    return "ErrImagePull" in str(pod) or "ImagePullBackOff" in str(pod)


def _deletes(
    cluster: Cluster, namespace: str, run: str, holds: Callable[[dict[str, object]], bool]
) -> threading.Thread:
    """Delete a run's first pod in the moment in which something is true of it."""

    def work() -> None:
        pod = run_pod(cluster.api, namespace, lambda pod: of(run)(pod) and holds(pod), 240)
        cluster.api.delete(pods_path(namespace, pod["metadata"]["name"]))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread
