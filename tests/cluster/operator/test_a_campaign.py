"""A frozen campaign goes from kubectl apply to rows in object storage."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from tests.cluster.operator.campaign import Campaign
from tests.cluster.operator.installed import Chart
from tests.cluster.witness.observe import Witness
from tests.fakes.local_pack import TinyPack


def test_an_oracle_passes_and_a_nop_fails_each_with_one_row(
    operator: Chart,
    apply: Callable[..., Campaign],
    watching: Callable[..., AbstractContextManager[Witness]],
    tmp_path: Path,
) -> None:
    with watching() as witness:
        pack = TinyPack(folder=tmp_path / "pack", agents={"A1": "oracle", "A2": "nop"})
        campaign = apply(pack, parallelism=2)
        status = campaign.wait("Complete")["status"]
        rows = campaign.rows()
    assert {name: row["outcome"] for name, row in rows.items()} == {
        "T1-S1-A1-r1/1": "pass",
        "T1-S1-A2-r1/1": "fail",
    }, rows
    assert rows["T1-S1-A2-r1/1"]["cause"] == "task"
    assert status["counts"]["done"] == 2
    assert campaign.condition("Ready")["status"] == "True"
    assert witness.violations() == []
