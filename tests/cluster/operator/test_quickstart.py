"""The quickstart gives the same on a cluster as on one machine.

What it gives on one machine is in `tests/quickstart/test_story.py`, which proves it there.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from tests.cluster.lab import product
from tests.cluster.operator.placing import (
    QUICKSTART,
    ROOMY,
    apply_spec,
    cluster_store,
    placed,
    push,
    quickstart,
)
from tests.cluster.operator.process import OperatorProcess
from tests.cluster.witness.observe import Witness
from tests.quickstart.test_story import STORY, End

CALLS = ("model_calls", "input_uncached", "cache_read", "cache_write_5m", "output")


def end_of(row: dict[str, Any]) -> End:
    """How a run ended, as its row tells it."""
    metrics = row["metrics"]
    return End(
        outcome=row["outcome"],
        cause=row.get("cause"),
        flags=tuple(flag["assertion"] for flag in row["security"]["flags"]),
        cost_usd=str(metrics["cost_usd"]["value"]),
        tool_calls=int(metrics["tool_calls"]["value"]),
        interventions=int(metrics["interventions"]["value"]),
    )


@pytest.mark.timeout(600, func_only=True)
def test_every_cell_ends_as_it_does_on_one_machine(
    operating: OperatorProcess,
    namespace: str,
    bucket: str,
    watching: Callable[..., AbstractContextManager[Witness]],
) -> None:
    cluster, spec = operating.chart.cluster, quickstart()
    image = product.load(cluster.slot, "quickstart")
    where, store = cluster_store(cluster, namespace, bucket)
    push(QUICKSTART / "frozen/bundle", store)
    with watching() as witness:
        frozen = placed(spec, image, where, nodeClass=ROOMY, repeats=1, parallelism=4)
        campaign = apply_spec(cluster, namespace, "quickstart", frozen, store)
        campaign.wait("Complete", seconds=580)
        rows = campaign.rows()
    assert {run.removesuffix("/1"): end_of(row) for run, row in rows.items()} == STORY
    checks = {len(row["checks"]) for run, row in rows.items() if row.get("cause") != "cap"}
    assert checks == {spec["checks"]["repeats"]}
    metrics = rows["T01-python-sloppy-r1/1"]["metrics"]
    assert [metrics[name]["value"] for name in CALLS] == [4, 10300, 32000, 9000, 6070]
    assert rows["T02-node-sloppy-r1/1"]["capsHit"] == ["tool-calls"]
    assert {row["versions"]["bundle"] for row in rows.values()} == {
        spec["protocol"]["bundle"]["sha256"]
    }
    assert [row["deniedEgress"] for row in rows.values()] == [[]] * len(rows)
    assert witness.violations() == []
