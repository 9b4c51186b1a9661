"""Caps hold with the operator dead, and what an agent leaves behind moves no verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.faults.objects import pods_path
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.shell import wait
from tests.cluster.operator.campaign import Campaign
from tests.cluster.operator.fates import a_pack, agent_state, endings, of, run_pod, small
from tests.cluster.operator.installed import Chart
from tests.cluster.operator.process import OperatorProcess
from tests.cluster.witness.observe import Witness
from tests.fakes.local_pack import MODEL_SCRIPT

CAPS = {"wall": "15s", "costUSD": "0.3", "toolCalls": 5, "interventions": 1}
STEPS: dict[str, list[dict[str, Any]] | str] = {
    "W1": [{"sleep": 600}],
    "T1": [{"tool": {"name": "Bash"}, "times": 50}],
    "C1": [{"model": {"prompt": "go on"}, "times": 50}],
}


MODEL_KEY = "not-a-real-key-0123"


def a_model(cluster: Cluster, namespace: str, image: str) -> str:
    """A model provider in the namespace; where it answers, for the gateway."""
    base = f"/api/v1/namespaces/{namespace}"
    cluster.api.create(
        f"{base}/configmaps",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "model"},
         "data": {"model.json": MODEL_SCRIPT}},
    )  # fmt: skip
    cluster.run(
        namespace, "model",
        ["python3", "-m", "agentbench.pod.mock_provider", "/model/model.json",
         "--host", "0.0.0.0", "--port", "9000"],
        image=image, labels={"app": "model"},
        spec={"volumes": [{"name": "model", "configMap": {"name": "model"}}]},
        container={"volumeMounts": [{"name": "model", "mountPath": "/model"}]},
    )  # fmt: skip
    service: dict[str, Any] = {
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "model"},
        "spec": {"selector": {"app": "model"}, "ports": [{"port": 9000}]},
    }  # fmt: skip
    made = cluster.api.create(f"{base}/services", service)
    cluster.kubectl(
        "-n", namespace, "create", "secret", "generic", "key", f"--from-literal=key={MODEL_KEY}"
    )
    cluster.wait_phase(namespace, "model", "Running")
    return f"{made['spec']['clusterIP']}:9000"


@pytest.mark.timeout(400, func_only=True)
def test_caps_end_runs_while_the_operator_is_dead_and_each_row_names_its_cap(
    real_cluster: Cluster,
    chart: Chart,
    operating: OperatorProcess,
    apply: Callable[..., Campaign],
    watching: Callable[..., AbstractContextManager[Witness]],
    namespace: str,
    tmp_path: Path,
) -> None:
    host = a_model(real_cluster, namespace, chart.images["pod"])
    pack = a_pack(
        tmp_path / "pack",
        agents=STEPS,
        provider={"api": "anthropic", "baseUrl": f"http://{host}", "keySecret": "key"},
        spec={"caps": CAPS, "egress": {"model": [host]}},
    )
    names = [f"T1-S1-{agent}-r1" for agent in STEPS]
    with watching() as witness:
        campaign = apply(pack, parallelism=3, nodeClass=small())
        for name in names:
            run_pod(real_cluster.api, namespace, _runs(name), 180)
        operating.kill()
        path = f"{pods_path(namespace)}?labelSelector=agentbench.dev%2Frole%3Drun"

        def ended() -> bool:
            pods = real_cluster.api.get(path)["items"]
            return all(pod["status"].get("phase") in ("Succeeded", "Failed") for pod in pods)

        wait("the caps to end every run", ended, 120)
        assert campaign.rows() == {}
        operating.start()
        campaign.wait("Complete", seconds=180)
        violations = witness.violations()
    assert endings(campaign) == {
        "T1-S1-W1-r1/1": ("fail", "cap", "CapWall"),
        "T1-S1-T1-r1/1": ("fail", "cap", "CapToolCalls"),
        "T1-S1-C1-r1/1": ("fail", "cap", "CapCost"),
    }
    seconds = campaign.rows()["T1-S1-W1-r1/1"]["metrics"]["agent_seconds"]["value"]
    assert 15 <= float(seconds) < 20
    assert violations == []


CHEAT = (
    "mkdir -p /logs 2>/dev/null; echo 1 > /logs/reward.json; echo 1 > reward.json; "
    "mkdir -p bin; printf '#!/bin/sh\\necho PASS\\n' > bin/curl; chmod +x bin/curl; "
    "echo 'import os; os._exit(0)' > conftest.py; cp conftest.py sitecustomize.py; echo PASS"
)


@pytest.mark.timeout(400, func_only=True)
def test_a_verdict_is_the_checks_alone_and_a_check_that_cannot_judge_is_done_once_more(
    real_cluster: Cluster,
    operating: OperatorProcess,
    apply: Callable[..., Campaign],
    watching: Callable[..., AbstractContextManager[Witness]],
    namespace: str,
    tmp_path: Path,
) -> None:
    with watching() as witness:
        cheat = apply(
            a_pack(tmp_path / "cheat", agents={"A1": [{"shell": CHEAT}]},
                   check='say("made", False)\nsys.exit(1)\n'),
            name="cheat", nodeClass=small(),
        )  # fmt: skip
        slow = apply(
            a_pack(tmp_path / "slow", agents={"B1": "nop"}, check="import time; time.sleep(60)\n",
                   spec={"checks": {"repeats": 1, "timeout": "3s",
                                    "security": {"path": "checks/security.py"}}}),
            name="slow", nodeClass=small(),
        )  # fmt: skip
        torn = apply(
            a_pack(tmp_path / "torn", agents={"C1": "nop"}), name="torn", nodeClass=small()
        )
        _delete_graders(real_cluster, namespace, "T1-S1-C1-r1")
        for one in (cheat, slow, torn):
            one.wait("Complete", seconds=300)
        violations = witness.violations()
    assert endings(cheat) == {"T1-S1-A1-r1/1": ("fail", "task", "CheckFailed")}
    late = ("fail", "infra", "CheckTimeout")
    assert endings(slow) == {"T1-S1-B1-r1/1": late, "T1-S1-B1-r1/2": late}
    assert endings(torn) == {"T1-S1-C1-r1/1": ("pass", None, None)}
    stored = json.dumps(torn.rows()["T1-S1-C1-r1/1"]["artifacts"])
    assert "check-1-round2.json" in stored
    assert violations == []


def _runs(run: str) -> Callable[[dict[str, Any]], bool]:
    return lambda pod: of(run)(pod) and agent_state(pod) != "waiting"


def _delete_graders(cluster: Cluster, namespace: str, run: str) -> None:
    """Take away the pods of a run's first round of grading."""
    path = f"{pods_path(namespace)}?labelSelector=agentbench.dev%2Frole%3Dgrader"
    found: list[dict[str, Any]] = []

    def both() -> bool:
        found[:] = [pod for pod in cluster.api.get(path)["items"] if of(run)(pod)]
        return len(found) == 2

    wait(f"the graders of {run}", both, 180)
    for pod in found:
        cluster.api.delete(pods_path(namespace, pod["metadata"]["name"]), 0)
