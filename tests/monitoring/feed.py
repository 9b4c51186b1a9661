"""A campaign as the operator would tell of it: rows, ticks, requests; no cluster is needed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from tests.fakes.build import a_campaign
from tests.fakes.rows import a_row, measured

from agentbench.app.campaign import Campaign
from agentbench.app.metrics import Metrics, totals_of
from agentbench.app.standing import counted
from agentbench.core.decide import Tally
from agentbench.core.plan import plan
from agentbench.core.stages import Stage
from agentbench.store.port import Unreachable
from agentbench_analysis.rows.model import Row
from agentbench_analysis.rows.read import parse_row

NAMESPACE, NAME = "bench", "ab-proto-1"
ALL_MEASURES = {
    "setup_seconds": measured(20),
    "capture_seconds": measured(2.5),
    "grading_seconds": measured(45),
    "pending_seconds": measured(31),
    "cost_overshoot_usd": measured("0.02"),
    "cache_write_5m": measured(8_000),
    "cache_write_1h": measured(0),
    "reasoning": measured(3_000),
    "model_calls": measured(37),
    "model_call_failures": measured(1),
    "tool_failures": measured(2),
}
TRACE = {"key": "k", "sha256": "sha256:" + "a" * 64, "size": 1}
STACKS, AGENTS = ("QS-S1", "QS-S2"), ("QS-A1", "QS-A2")


def parsed(**changes: Any) -> Row:
    """A row that reports everything, with what a test is about changed."""
    metrics = ALL_MEASURES | changes.pop("metrics", {})
    row = a_row(metrics=metrics, **({"artifacts": {"trajectory.json": TRACE}} | changes))
    return parse_row("row.json", json.dumps(row).encode())


def the_campaign(stacks: int = 2, agents: int = 2, **spec: Any) -> Campaign:
    """A campaign as the operator holds it."""
    found = a_campaign(stacks=stacks, agents=agents, budget={"totalUSD": "900"}, **spec)
    return Campaign(
        name=NAME,
        namespace=NAMESPACE,
        uid="u1",
        generation=1,
        spec=found,
        digest="sha256:" + "d" * 64,
        runs=plan(found),
    )


def some_rows() -> Iterator[Row]:
    """Rows of every outcome and cause."""
    for stack in STACKS:
        for agent in AGENTS:
            yield parsed(stack=stack, agent=agent)
            yield parsed(stack=stack, agent=agent, passed=False)
    lost = {"stack": STACKS[0], "agent": AGENTS[0], "passed": False}
    yield parsed(**lost, cause="infra", reasons=["NodeLost"])
    yield parsed(**lost, attempt=2, cause="cap", reasons=["CapWall"], capsHit=["wall"])


def a_status(phase: str = "Running", stalled: str = "False") -> dict[str, Any]:
    """A campaign's status, as far as the metrics read it."""
    return {"phase": phase, "conditions": [{"type": "Stalled", "status": stalled}]}


class Feed:
    """Tells a campaign's story to the metrics, in two parts."""

    def __init__(self, metrics: Metrics, campaign: Campaign | None = None) -> None:
        self.metrics = metrics
        self.campaign = campaign or the_campaign()
        metrics.adopt(self.campaign, totals_of(self.campaign))
        self._tick(done=0)

    def go_on(self) -> None:
        """The second part: rows, failed ticks, a store that was away."""
        for row in some_rows():
            with self.metrics.row_write():
                pass
            self.metrics.recorded(self.campaign, row)
        try:
            with self.metrics.row_write():
                raise Unreachable("the store does not answer")
        except Unreachable:
            pass
        self.metrics.errors.labels("retry").inc()
        self._tick(done=9)

    def _tick(self, done: int) -> None:
        metrics = self.metrics
        for verb, code in (("get", "2xx"), ("post", "2xx"), ("post", "4xx"), ("get", "5xx")):
            metrics.request(verb, code, 0.02)
        for resource in ("pods", "benchmarkruns"):
            metrics.event(resource)
        with metrics.ticks.time():
            tally = Tally(
                total=24, done=done, live=4, passed=done // 2, failed=done - done // 2, infra=1,
                aborted=0, spent=Decimal("1.25") * done, reserved=Decimal(20),
            )  # fmt: skip
            stages = [Stage.PENDING, Stage.RUNNING, Stage.GRADING, Stage.RECORDING]
            limits = self.campaign.limits
            projected = Decimal(30) if done else None
            samples = counted(tally, limits, stages, projected=projected, store_available=True)
            metrics.counted(self.campaign, samples)
        metrics.said(NAMESPACE, NAME, a_status(), time.time())
