"""A store that is away for a while: rows wait, nothing starts, nothing is lost."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.cluster.faults.s3proxy import S3Proxy
from tests.cluster.lab.shell import wait
from tests.cluster.operator.campaign import Campaign
from tests.cluster.operator.process import OperatorProcess
from tests.cluster.simulated.kubelet import SimulatedNodes
from tests.cluster.simulated.runs import script, spec
from tests.cluster.witness.observe import Witness
from tests.fakes.local_pack import TinyPack

OUTAGE = 12.0  # seconds that are watched


@pytest.mark.timeout(240, func_only=True)
def test_an_outage_of_the_store_loses_nothing(
    simulated: SimulatedNodes,
    faulty_s3: S3Proxy,
    operating: OperatorProcess,
    apply: Callable[..., Campaign],
    watching: Callable[..., AbstractContextManager[Witness]],
    tmp_path: Path,
) -> None:
    simulated.script(**script(seconds=2, failures=100))
    pack = TinyPack(folder=tmp_path / "pack", agents={"A1": "nop"})
    faulty_s3.inject("lost-answer", method="PUT", key="/rows/", times=2)

    def through_proxy(document: dict[str, object]) -> None:
        document["store"] = {**document["store"], "endpoint": faulty_s3.endpoint}  # type: ignore[dict-item]

    with watching() as witness:
        campaign = apply(pack, "outage", shape=through_proxy, **spec(8, 2))
        wait("two rows", lambda: len(campaign.rows()) >= 2, 60)
        faulty_s3.inject("unavailable")
        wait("it to be said", lambda: unreachable(campaign), 60)
        started, asked = admitted(campaign), len(faulty_s3.requests())
        other = apply(pack, "other", **spec(2, 2))
        time.sleep(OUTAGE)
        assert admitted(campaign) == started <= len(campaign.rows()) + 2
        assert len(faulty_s3.requests()) - asked <= OUTAGE * 2, "an outage is no hot loop"
        assert "rows wait" in campaign.condition("Reconciling")["message"]
        assert campaign.condition("Suspended")["status"] == "False"
        assert campaign.condition("Stalled")["status"] == "False"
        other.wait("Complete", seconds=60)
        operating.kill()
        operating.start()
        wait("it to be said again", lambda: unreachable(campaign), 60)
        faulty_s3.heal()
        campaign.wait("Complete", seconds=90)
        assert len(campaign.rows()) == 8
        assert witness.violations() == []


def admitted(campaign: Campaign) -> int:
    """How many run objects it has; those of other campaigns are beside them."""
    uid = campaign.get()["metadata"]["uid"]
    return sum(run["spec"]["campaignUid"] == uid for run in campaign.runs())


def unreachable(campaign: Campaign) -> bool:
    said = campaign.condition("Reconciling")
    return said.get("status") == "True" and said.get("reason") == "StoreUnreachable"
