"""A release is tested, upgraded under a running campaign, removed and installed again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from tests.cluster.lab.api import Object
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.shell import wait
from tests.cluster.operator.campaign import Campaign
from tests.cluster.operator.installed import CHART, SYSTEM, Chart
from tests.cluster.witness.observe import Witness
from tests.fakes.local_pack import TinyPack

SECRETS = f"/api/v1/namespaces/{SYSTEM}/secrets/agent-bench-gateway"


def test_helm_test_asks_every_part(operator: Chart) -> None:
    said = operator.cluster.helm("test", "agent-bench", "--namespace", SYSTEM, "--logs")
    for answer in (
        "ok    operator's health",
        "ok    operator's metrics",
        "ok    gateway, strangers",
        "ok    gateway, a pass",
        "ok    forbidden address",
        "ok    API server",
    ):
        assert answer in said
    assert "WRONG" not in said


def release_pods(cluster: Cluster) -> dict[str, Object]:
    """The pods of the release, by uid."""
    pods = f"/api/v1/namespaces/{SYSTEM}/pods?labelSelector=app.kubernetes.io/name%3Dagent-bench"
    return {pod["metadata"]["uid"]: pod for pod in cluster.api.get(pods)["items"]}


def test_an_upgrade_and_a_reinstallation_lose_nothing(
    operator: Chart,
    apply: Callable[..., Campaign],
    watching: Callable[..., AbstractContextManager[Witness]],
    tmp_path: Path,
) -> None:
    cluster = operator.cluster
    with watching() as witness:
        pack = TinyPack(folder=tmp_path / "pack", agents={"A1": "oracle", "A2": "nop"})
        campaign = apply(pack, parallelism=1)
        wait("the first run", lambda: bool(campaign.runs()), 60)
        before = set(release_pods(cluster))
        cluster.helm(
            "upgrade", "agent-bench", CHART, "--namespace", SYSTEM, "--reuse-values",
            "--set", "operator.podLabels.upgraded=yes", "--set", "gateway.podLabels.upgraded=yes",
            "--wait",
        )  # fmt: skip
        upgraded = {
            uid: pod["metadata"]["labels"]["app.kubernetes.io/component"]
            for uid, pod in release_pods(cluster).items()
            if "upgraded" in pod["metadata"]["labels"]
        }
        assert set(upgraded.values()) == {"operator", "gateway"}
        assert not before & upgraded.keys()
        done = campaign.wait("Complete")
        rows = campaign.rows()
    assert {name: row["outcome"] for name, row in rows.items()} == {
        "T1-S1-A1-r1/1": "pass",
        "T1-S1-A2-r1/1": "fail",
    }, rows
    assert witness.violations() == []

    key = cluster.api.get(SECRETS)["data"]
    runs = {run["metadata"]["uid"] for run in campaign.runs()}
    cluster.helm("uninstall", "agent-bench", "--namespace", SYSTEM, "--wait")
    kept = campaign.get()
    assert kept["metadata"]["uid"] == done["metadata"]["uid"]
    assert {run["metadata"]["uid"] for run in campaign.runs()} == runs
    assert campaign.rows() == rows

    operator.install()
    operator.scale(1)
    looked = kept["metadata"]["resourceVersion"]
    campaign.patch({"keepFailedPods": 1})
    wait(
        "the new operator to look at it",
        lambda: campaign.get()["status"]["observedGeneration"] == 2,
        60,
    )
    there = campaign.get()
    assert there["metadata"]["resourceVersion"] != looked
    assert there["status"]["phase"] == "Complete"
    assert there["status"]["counts"] == done["status"]["counts"]
    assert {run["metadata"]["uid"] for run in campaign.runs()} == runs
    assert campaign.rows() == rows
    assert cluster.api.get(SECRETS)["data"] == key
