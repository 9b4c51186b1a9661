"""Watches that lag, objects that others change all the time, and a clock that is off: at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import groupby
from pathlib import Path

import pytest
from tests.cluster.faults.apiproxy import ApiProxy
from tests.cluster.lab.api import Api, ApiError
from tests.cluster.lab.handle import Cluster
from tests.cluster.operator.campaign import RUNS, Campaign
from tests.cluster.operator.fates import another_time
from tests.cluster.operator.process import OperatorProcess
from tests.cluster.simulated.kubelet import SimulatedNodes
from tests.cluster.simulated.runs import pack, script, spec
from tests.cluster.witness.observe import Witness
from tests.cluster.witness.timeline import RunSeen

LAG = 30.0
CELLS, PARALLELISM = 90, 60


@pytest.mark.timeout(400, func_only=True)
def test_watches_that_lag_and_objects_that_others_change_only_cost_time(
    real_cluster: Cluster,
    operating: OperatorProcess,
    simulated: SimulatedNodes,
    apply: Callable[..., Campaign],
    watching: Callable[..., AbstractContextManager[Witness]],
    faulty_api: ApiProxy,
    namespace: str,
    tmp_path: Path,
) -> None:
    simulated.script(**script(seconds=1, failures=100))
    operating.stop()
    operating.start(another_time(minutes=-5), kubeconfig=faulty_api.kubeconfig)
    faulty_api.lag_watches(LAG)
    with watching() as witness, storm(real_cluster.api, namespace):
        campaign = apply(pack(tmp_path / "pack"), **spec(CELLS, PARALLELISM))
        campaign.wait("Complete", seconds=300)
        rows = campaign.rows()
        violations = witness.violations()
        timeline = witness.timeline()
    pods = {pod.uid: pod for pod in timeline.pods("run")}
    assert len(pods) == CELLS
    assert len(rows) == CELLS
    assert all(row["startedAt"] <= row["endedAt"] for row in rows.values())
    seen = [one for one in timeline.seen if isinstance(one, RunSeen)]
    for run in {one.body["metadata"]["uid"] for one in seen}:
        phases = [_phase(one) for one in seen if one.body["metadata"]["uid"] == run]
        told = [phase for phase, _ in groupby(phases)]
        assert told == sorted(set(told), key=told.index), told  # none is told twice
        assert told[-1] == "Recorded"
    assert violations == []


def _phase(seen: RunSeen) -> str:
    return str((seen.body.get("status") or {}).get("phase", ""))


@contextmanager
def storm(api: Api, namespace: str) -> Iterator[None]:
    """Change an annotation of every run object, again and again, twice a second at most."""
    over = threading.Event()

    def work() -> None:
        number = 0
        while not over.wait(0.5):
            for run in api.get(RUNS.format(namespace))["items"]:
                number += 1
                note = {"metadata": {"annotations": {"somebody/else": str(number)}}}
                with suppress(ApiError):
                    api.patch(f"{RUNS.format(namespace)}/{run['metadata']['name']}", note)
                if over.is_set():
                    return

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(10)
