"""Objects and rows under our names that are not ours: named, left alone, and no run is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cluster.lab.api import Object
from tests.cluster.lab.shell import wait
from tests.cluster.operator.campaign import RUNS, Campaign
from tests.cluster.operator.life import PODS, requests_in, run_pods, stalled, wait_running
from tests.cluster.operator.process import OperatorProcess
from tests.cluster.simulated.kubelet import NODE_CLASS, TOLERATION, SimulatedNodes
from tests.cluster.simulated.runs import script, spec
from tests.fakes.local_pack import TinyPack

from agentbench.app.campaign import read_campaign
from agentbench.app.run_object import run_object
from agentbench.core.keys import row_key
from agentbench.kube.names import pod_name, run_name

FOREVER = 3600.0


@pytest.mark.timeout(240, func_only=True)
def test_what_is_not_ours_is_named_and_left_alone_and_the_cure_works(
    simulated: SimulatedNodes,
    operating: OperatorProcess,
    apply: Callable[..., Campaign],
    tmp_path: Path,
) -> None:
    simulated.script(**script(seconds=0.2, failures=0))
    pack = TinyPack(folder=tmp_path / "pack", agents={"A1": "nop"})
    campaign = apply(pack, "clash", **spec(6, 6, suspend=True))
    campaign.wait("Suspended", seconds=30)
    body, at = campaign.get(), campaign.namespace
    uid, api = body["metadata"]["uid"], campaign.cluster.api
    known = read_campaign(body)
    pod_taken, run_taken, adopted, row_taken, imitated, plain = known.runs
    foreign_pod = api.create(PODS.format(at), a_pod(pod_name(uid, pod_taken.id, 1)))
    manifest = run_object(known, run_taken)
    foreign_run = api.create(RUNS.format(at), without_owner(manifest))
    api.create(RUNS.format(at), run_object(known, adopted))
    key = row_key(campaign.name, row_taken.id, 1)
    campaign.store.create_only(key, b'{"not": "ours"}')
    imitation = a_pod("imitation", run_labels(uid), run_notes(imitated.id))
    imitation_uid = api.create(PODS.format(at), imitation)["metadata"]["uid"]

    campaign.patch({"suspend": False})
    wait(
        "three runs to be recorded",
        lambda: rows_of(campaign) == {adopted.id, imitated.id, plain.id},
        90,
    )
    wait(
        "all three to be named",
        lambda: named(campaign, pod_taken.id, run_taken.id, row_taken.id),
        30,
    )
    said = stalled(campaign)
    assert said["reason"] in ("NameConflict", "RowConflict")
    assert "left alone" in said["message"]
    assert requests_in(operating, 12) <= 40
    assert (
        read(api, f"{PODS.format(at)}/{foreign_pod['metadata']['name']}")
        == foreign_pod["metadata"]["uid"]
    )
    assert (
        read(api, f"{RUNS.format(at)}/{run_name(uid, run_taken.id)}")
        == foreign_run["metadata"]["uid"]
    )
    assert read(api, f"{PODS.format(at)}/imitation") == imitation_uid
    assert campaign.store.get(key) == b'{"not": "ours"}'

    api.delete(f"{PODS.format(at)}/{foreign_pod['metadata']['name']}", grace=0)
    api.delete(f"{RUNS.format(at)}/{foreign_run['metadata']['name']}")
    bucket = body["spec"]["store"]["url"].removeprefix("s3://")
    campaign.cluster.s3().delete_object(Bucket=bucket, Key=key)
    campaign.wait("Complete", seconds=90)
    assert not stalled(campaign)
    assert {row["outcome"] for row in campaign.rows().values()} == {"pass"}
    assert read(api, f"{PODS.format(at)}/imitation") == imitation_uid


@pytest.mark.timeout(200, func_only=True)
def test_an_attempt_with_two_pods_of_ours_is_never_scored(
    simulated: SimulatedNodes,
    operating: OperatorProcess,
    apply: Callable[..., Campaign],
    tmp_path: Path,
) -> None:
    simulated.script(**script(seconds=FOREVER, failures=0))
    pack = TinyPack(folder=tmp_path / "pack", agents={"A1": "nop"})
    campaign = apply(pack, "twins", **spec(1, 1))
    (name,) = wait_running(campaign, 1)
    simulated.script(**script(seconds=0.2, failures=0))
    (pod,) = run_pods(campaign)
    api, place = campaign.cluster.api, PODS.format(campaign.namespace)
    meta = pod["metadata"]
    twin = a_pod("twin", meta["labels"], meta["annotations"])
    twin["metadata"]["ownerReferences"] = meta["ownerReferences"]
    api.create(place, twin)
    wait("both to be named", lambda: stalled(campaign).get("reason") == "MultiplePods", 30)
    assert f"delete pod {name} twin" in stalled(campaign)["message"]
    (run,) = campaign.runs()
    assert "MultiplePods" in {each["type"] for each in run["status"]["conditions"]}
    operating.kill()
    operating.start()
    for each in (name, "twin"):
        api.delete(f"{place}/{each}", grace=0)
    campaign.wait("Complete", seconds=90)
    rows = campaign.rows()
    first, second = (rows[f"{run['spec']['run']}/{number}"] for number in (1, 2))
    assert (first["outcome"], first["cause"], first["reasons"]) == (
        "fail",
        "infra",
        ["MultiplePods"],
    )
    assert second["outcome"] == "pass"


def a_pod(
    name: str, labels: dict[str, str] | None = None, notes: dict[str, str] | None = None
) -> Object:
    """A pod that anybody might make, on a simulated node."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels or {}, "annotations": notes or {}},
        "spec": {
            "containers": [{"name": "agent", "image": "agentbench.test/pause:1"}],
            "nodeSelector": NODE_CLASS,
            "tolerations": [TOLERATION],
        },
    }


def run_labels(uid: str) -> dict[str, str]:
    return {"agentbench.dev/campaign": uid, "agentbench.dev/role": "run"}


def run_notes(run: str) -> dict[str, str]:
    return {"agentbench.dev/run": run, "agentbench.dev/attempt": "1"}


def without_owner(manifest: Object) -> Object:
    found: Object = json.loads(json.dumps(manifest))
    del found["metadata"]["ownerReferences"]
    found["metadata"]["labels"] = {}
    return found


def named(campaign: Campaign, *runs: str) -> bool:
    message = str(stalled(campaign).get("message", ""))
    return all(f"{run}: " in message for run in runs)


def rows_of(campaign: Campaign) -> set[str]:
    """The runs that have a row of ours."""
    return {name.split("/")[0] for name, row in campaign.rows().items() if "outcome" in row}


def read(api: object, path: str) -> str:
    """The uid of an object that must be there."""
    return str(api.get(path)["metadata"]["uid"])  # type: ignore[attr-defined]
