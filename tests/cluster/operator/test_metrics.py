"""A real Prometheus reads a real operator, also over the operator's death."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scripts.dashboards import BOARDS
from tests.cluster.lab import kube
from tests.cluster.lab.prometheus import Prometheus
from tests.cluster.lab.shell import wait
from tests.cluster.operator.campaign import Campaign
from tests.cluster.operator.process import OperatorProcess
from tests.fakes.local_pack import TinyPack
from tests.monitoring.prometheus import filled, prometheus

from agentbench.app.metric_list import MEANS, STAGE_SECONDS, TOKENS
from agentbench.core.measures import measures
from agentbench.core.record import decode_row

_COUNTS = ("agentbench_attempt_", "agentbench_attempts_total", "agentbench_infra_reruns")


def counts(operating: OperatorProcess) -> set[str]:
    """The lines that say what the recorded attempts add up to."""
    return {line for line in operating.metrics().splitlines() if line.startswith(_COUNTS)}


def unreported(rows: dict[str, Any]) -> set[str]:
    """The metrics for which no row has a value: such as tokens, where no model was called."""
    values: set[str] = set()
    for name, row in rows.items():
        values |= set(measures(decode_row(json.dumps(row).encode(), name)).values)
    found = {spec.name for spec in MEANS if spec.catalog not in values}
    return found | ({TOKENS.name} if "output" not in values else set())


def test_every_query_has_an_answer_and_no_count_falls_when_the_operator_is_killed(
    operating: OperatorProcess, apply: Callable[..., Campaign], tmp_path: Path
) -> None:
    programs = kube.linked_programs(operating.chart.cluster.slot)
    target = f"127.0.0.1:{operating.metrics_port}"
    folder = tmp_path / "prometheus"
    folder.mkdir()
    with prometheus(programs, folder, target, "500ms") as one:
        pack = TinyPack(folder=tmp_path / "pack", agents={"A1": "nop"})
        campaign = apply(pack, budget={"totalUSD": "100"})
        campaign.wait("Complete")
        wait("its row", lambda: _recorded(one) == 1, 20)
        missing = unreported(campaign.rows())
        for name, board in BOARDS.items():
            for place, query in board.queries():
                if not any(each in query for each in missing) and "Time left" not in place:
                    query_now = filled(query).replace("[5s]", "[1m]")
                    assert one.query(query_now), (name, place, query)
        before = counts(operating)
        assert any(line.startswith(f"{STAGE_SECONDS.name}_bucket") for line in before)
        operating.kill()
        operating.start()
        wait("the counts after the start", lambda: counts(operating) == before, 30)
        wait("scrapes of the new operator", lambda: _recorded(one) == 1, 10)
        assert one.query("sum(resets(agentbench_attempts_total[5m]))")[0]["value"][1] == "0"
        grown = one.query("sum(increase(agentbench_attempt_agent_seconds_count[5m]))")
        assert float(grown[0]["value"][1]) < 2, "counted twice"


def _recorded(one: Prometheus) -> float:
    found = one.query("sum(agentbench_attempts_total)")
    return float(found[0]["value"][1]) if found else 0.0
