"""The operator dies between two writes that belong together, and does neither twice."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.cluster.faults.apiproxy import ApiProxy
from tests.cluster.faults.objects import pods_path
from tests.cluster.faults.s3proxy import S3Proxy
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.shell import wait
from tests.cluster.operator.campaign import Campaign
from tests.cluster.operator.fates import a_pack, endings, of, run_pod, small
from tests.cluster.operator.process import OperatorProcess
from tests.cluster.witness.observe import Witness

FIRST = "T1-S1-A1-r1"


@pytest.mark.timeout(400, func_only=True)
def test_killed_between_two_writes_it_does_neither_twice(
    real_cluster: Cluster,
    operating: OperatorProcess,
    apply: Callable[..., Campaign],
    watching: Callable[..., AbstractContextManager[Witness]],
    faulty_api: ApiProxy,
    faulty_s3: S3Proxy,
    namespace: str,
    bucket: str,
    tmp_path: Path,
) -> None:
    def reborn() -> None:
        operating.kill()
        faulty_s3.heal()
        faulty_api.resume()
        operating.start(kubeconfig=faulty_api.kubeconfig)

    def asked(words: str) -> Callable[[], bool]:
        return lambda: any(words in path for _, path, _ in faulty_s3.requests())

    reborn()
    store = {"url": f"s3://{bucket}", "endpoint": faulty_s3.endpoint, "secretRef": "store"}
    faulty_s3.inject("slow", method="PUT", key="pod.json", seconds=60)
    with watching() as witness:
        campaign = apply(
            a_pack(tmp_path / "pack", agents={"A1": [{"sleep": 3}]}), store=store, nodeClass=small()
        )
        # 1. Its pod is made, and what tells of it is not.
        run_pod(real_cluster.api, namespace, of(FIRST), 60)
        wait("the mark to be on its way", asked("pod.json"), 30)
        reborn()
        run_pod(
            real_cluster.api, namespace,
            lambda pod: of(FIRST)(pod) and pod["status"].get("phase") == "Running", 120,
        )  # fmt: skip
        # 2. It is dead while the pod ends.
        operating.kill()
        run_pod(
            real_cluster.api, namespace,
            lambda pod: of(FIRST)(pod) and pod["status"].get("phase") == "Succeeded", 120,
        )  # fmt: skip
        # 3. Its row is stored, and its status does not say so.
        faulty_s3.inject("slow", method="PUT", key="/rows/", seconds=4, times=1)
        reborn_slow(operating, faulty_api)
        wait("the row to be on its way", asked("/rows/"), 180)
        faulty_api.cut()
        wait("the row", lambda: bool(campaign.rows()), 30)
        reborn()
        campaign.wait("Complete", seconds=120)
        pods = real_cluster.api.get(pods_path(namespace))["items"]
        violations = witness.violations()
    assert endings(campaign) == {f"{FIRST}/1": ("pass", None, None)}
    (run,) = campaign.runs()
    assert [one["rowKey"] for one in run["status"]["attempts"]] == [f"tiny/rows/{FIRST}/1.json"]
    assert sum(of(FIRST)(pod) and "run" in str(pod["metadata"]["labels"]) for pod in pods) <= 3
    assert violations == []


def reborn_slow(operating: OperatorProcess, faulty_api: ApiProxy) -> None:
    """Start the operator again without healing the store's proxy."""
    operating.start(kubeconfig=faulty_api.kubeconfig)
