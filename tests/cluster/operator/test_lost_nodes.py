"""A node loses its power under a run: it ends on our clock, and nothing is started beside it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.cluster.faults import nodes
from tests.cluster.faults.objects import pods_path
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.shell import wait
from tests.cluster.operator.campaign import Campaign
from tests.cluster.operator.fates import a_pack, agent_state, endings, of, run_pod, small
from tests.cluster.operator.life import waits_for
from tests.cluster.operator.process import OperatorProcess
from tests.cluster.witness.observe import Witness

from agentbench.app.metric_list import TICKED

RUN = "T1-S1-A1-r1"


@pytest.mark.timeout(480, func_only=True)
def test_a_run_on_a_node_that_died_ends_and_runs_again_only_when_its_pod_is_gone(
    real_cluster: Cluster,
    operating: OperatorProcess,
    apply: Callable[..., Campaign],
    watching: Callable[..., AbstractContextManager[Witness]],
    namespace: str,
    tmp_path: Path,
) -> None:
    node = next(one for one in real_cluster.slot.nodes if one.name.endswith("node-b"))
    where = small({"kubernetes.io/hostname": node.name})
    caps = {"wall": "20s", "costUSD": "1", "toolCalls": 20, "interventions": 1}
    pack = a_pack(tmp_path / "pack", agents={"A1": [{"sleep": 600}]}, spec={"caps": caps})
    with watching() as witness:
        campaign = apply(pack, nodeClass=where)
        pod = run_pod(
            real_cluster.api, namespace,
            lambda pod: of(RUN)(pod) and agent_state(pod) == "running", 120,
        )  # fmt: skip
        run_noted = lambda: campaign.runs()[0].get("status", {}).get("phase") == "Running"  # noqa: E731
        wait("the run to be noted", run_noted, 30)
        try:
            nodes.kill(node)
            wait("the row", lambda: f"{RUN}/1" in campaign.rows(), 240)
            # A row is stored before the status tells of it.
            wait("the cure to be named", lambda: "out-of-service" in waits_for(campaign), 30)
            assert pod_uids(real_cluster, namespace) == [pod["metadata"]["uid"]]
            operating.kill()  # what it held back it holds back again
            operating.start()
            wait("the new operator to decide", lambda: decided(operating), 30)
            assert pod_uids(real_cluster, namespace) == [pod["metadata"]["uid"]]
            assert campaign.phase == "Running"
        finally:
            nodes.give_back(node)
            nodes.wait_ready(node)
        campaign.wait("Complete", seconds=240)
        violations = witness.violations()
    assert endings(campaign) == {
        f"{RUN}/1": ("fail", "infra", "NodeLost"),
        f"{RUN}/2": ("fail", "cap", "CapWall"),
    }
    assert violations == []


def decided(operating: OperatorProcess) -> bool:
    """Whether the operator has finished a tick in this life."""
    return f"{TICKED.name}{{" in operating.metrics()


def pod_uids(cluster: Cluster, namespace: str) -> list[str]:
    return [each["metadata"]["uid"] for each in cluster.api.get(pods_path(namespace))["items"]]
