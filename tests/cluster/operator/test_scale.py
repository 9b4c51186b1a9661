"""Many runs on simulated nodes: bounds that hold however slow the machine is.

Counts and sizes, no times: how fast it goes is measured by `bench/operator_scale.py`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.cluster.faults.apiproxy import ApiProxy
from tests.cluster.lab import audit
from tests.cluster.operator.campaign import Campaign
from tests.cluster.operator.process import OperatorProcess
from tests.cluster.simulated.kubelet import SimulatedNodes
from tests.cluster.simulated.runs import pack, script, spec
from tests.cluster.witness.observe import Witness

from agentbench.app.events import BURST

PARALLELISM = 50
REPEATS = 30
RUNS = 10 * REPEATS
GRADED = 20
"""Of a hundred runs; the others fill their disk and end with an error of 4 KiB."""
MOST_WRITES = 9
MOST_SERIES = 2000
MOST_OBJECT = 100 * 1024
MOST_NOTES = 64 * 1024


@pytest.mark.timeout(600, func_only=True)
def test_many_runs_with_long_errors_keep_every_bound(
    operating: OperatorProcess,
    simulated: SimulatedNodes,
    apply: Callable[..., Campaign],
    watching: Callable[..., AbstractContextManager[Witness]],
    tmp_path: Path,
) -> None:
    simulated.script(**script(seconds=0.5, failures=100 - GRADED))
    few = pack(tmp_path / "pack", stacks=5, agents=2)
    with watching(metrics_url=operating.metrics_url) as witness:
        campaign = apply(few, **spec(REPEATS, PARALLELISM))
        status = campaign.wait("Complete", seconds=540)["status"]
        rows = campaign.rows()
        broken = witness.violations()
        metrics = operating.metrics()
    assert broken == []
    assert "forbidden" not in operating.log()  # without the right to watch it would list for ever
    assert status["counts"]["done"] == RUNS
    assert {name.rpartition("/")[0] for name in rows} == {row["run"] for row in rows.values()}
    assert {"pass", "AgentDisk"} <= _graded_and_not(rows)
    written = _writes(campaign)
    assert sum(written.values()) <= MOST_WRITES * len(rows), written
    made = _writes(campaign, refused=False)
    # A starved machine may lose a simulated node: its runs are run again, by the rule.
    assert (made["create benchmarkruns"], made["create pods"]) == (RUNS, len(rows))
    body = campaign.get()
    assert len(json.dumps(body)) < MOST_OBJECT
    assert len(json.dumps(body["metadata"].get("annotations", {}))) < MOST_NOTES
    series = [line for line in metrics.splitlines() if line and not line.startswith("#")]
    assert len(series) < MOST_SERIES


@pytest.mark.timeout(400, func_only=True)
def test_a_graded_run_costs_no_more_writes_than_any_other(
    operating: OperatorProcess,
    simulated: SimulatedNodes,
    apply: Callable[..., Campaign],
    tmp_path: Path,
) -> None:
    simulated.script(**script(seconds=0.5, failures=0))
    campaign = apply(pack(tmp_path / "pack", agents=2), **spec(10, 10))
    counts = campaign.wait("Complete", seconds=340)["status"]["counts"]
    written = _writes(campaign)
    assert counts["passed"] == 20
    assert written["create jobs"] in (20, 21)  # one for each run; the analysis may have its own
    assert sum(written.values()) <= MOST_WRITES * 20 + SET_UP_WRITES, written


@pytest.mark.timeout(400, func_only=True)
def test_a_late_watch_starts_nothing_twice_and_keeps_parallelism(
    operating: OperatorProcess,
    simulated: SimulatedNodes,
    faulty_api: ApiProxy,
    apply: Callable[..., Campaign],
    watching: Callable[..., AbstractContextManager[Witness]],
    tmp_path: Path,
) -> None:
    operating.stop()
    operating.start(kubeconfig=faulty_api.kubeconfig)
    simulated.script(**script(seconds=0.5, failures=100))
    faulty_api.lag_watches(4)
    with watching() as witness:
        campaign = apply(pack(tmp_path / "pack", agents=2), **spec(10, 5))
        campaign.wait("Complete", seconds=340)
        assert witness.violations() == []
    made = _writes(campaign, refused=False)
    assert (made["create benchmarkruns"], made["create pods"]) == (20, len(campaign.rows()))
    faulty_api.resume()


SET_UP_WRITES = 20 + BURST
"""Of a campaign, whatever its runs: its policies, kopf's finalizer, its own status now and then,
and its allowance of Events."""


def _writes(campaign: Campaign, *, refused: bool = True) -> Counter[str]:
    """The operator's writes by the API server's word, with or without those that it refused."""
    logged = audit.writes(campaign.cluster.slot, campaign.namespace)
    return Counter(f"{each.verb} {each.resource}" for each in logged if refused or each.code < 300)


def _graded_and_not(rows: dict[str, dict[str, object]]) -> set[object]:
    """Outcomes of graded rows, and reasons of the others."""
    return {
        row["outcome"] if row["checks"] else reason
        for row in rows.values()
        for reason in (row["reasons"] or [None])  # type: ignore[attr-defined]
    }
