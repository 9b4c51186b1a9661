"""Counts of recorded attempts outlive the operator, and series do not grow with runs."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from tests.monitoring.feed import NAME, NAMESPACE, Feed, a_status, parsed, some_rows, the_campaign

from agentbench.api.run import AttemptStatus, RunStatus
from agentbench.app.metrics import Metrics, totals_of
from agentbench.app.totals import OTHER, PAIRS, Totals, of_row
from agentbench.core.measures import ADDED, measures
from agentbench_analysis.rows.model import Row


def shown(metrics: Metrics) -> str:
    return generate_latest(metrics.registry).decode()


def counts(metrics: Metrics) -> list[str]:
    """The lines that say what recorded attempts add up to."""
    words = ("agentbench_attempt", "agentbench_caps", "agentbench_infra")
    lines = [line for line in shown(metrics).splitlines() if line.startswith(words)]
    return sorted(line for line in lines if not line.startswith("agentbench_attempts_live"))


def run_object(rows: list[Row]) -> dict[str, Any]:
    """The object of a run as the API server gives it back."""
    first = rows[0]
    attempts = tuple(
        AttemptStatus(
            number=row.attempt, phase="Recorded", outcome=row.outcome, cause=row.cause,
            reason=row.reasons[0] if row.reasons else None, row_key="k",
        )
        for row in rows
    )  # fmt: skip
    status = RunStatus(
        phase="Recorded",
        attempts=attempts,
        measures={str(row.attempt): measures(row) for row in rows},
    )
    cell = {"task": first.cell.task, "stack": first.cell.stack, "agent": first.cell.agent}
    document = status.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {
        "spec": {"cell": cell, "phase": first.phase.value},
        "status": json.loads(json.dumps(document)),
    }


async def read_again(objects: Iterable[Mapping[str, Any]]) -> Totals:
    async def listed() -> AsyncIterator[Mapping[str, Any]]:
        for raw in objects:
            yield raw

    totals = totals_of(the_campaign())
    passed_on = [raw async for raw in totals.reading(listed())]
    assert passed_on == list(objects)
    return totals


def test_a_restarted_operator_shows_the_same_counts_to_the_last_digit() -> None:
    chance = random.Random(5)
    rows = [
        parsed(
            stack=f"QS-S{chance.randint(1, 2)}",
            agent=f"QS-A{chance.randint(1, 2)}",
            passed=chance.random() < 0.6,
            cost=f"{chance.random():.6f}",
            seconds=chance.random() * 3000,
        )
        for _ in range(300)
    ] + list(some_rows())
    before, campaign = Metrics(CollectorRegistry()), the_campaign()
    before.adopt(campaign, totals_of(campaign))
    for row in rows:
        before.recorded(campaign, row)
    objects = [run_object([row]) for row in rows]
    chance.shuffle(objects)
    after = Metrics(CollectorRegistry())
    after.adopt(campaign, asyncio.run(read_again(objects)))
    assert counts(after) == counts(before)


def test_before_its_runs_are_read_a_restarted_operator_shows_no_counts_at_all() -> None:
    metrics = Metrics(CollectorRegistry())
    metrics.said(NAMESPACE, NAME, a_status(), 1.0)
    assert counts(metrics) == []
    metrics.recorded(the_campaign(), parsed())
    assert counts(metrics) == []


def test_both_attempts_of_a_rerun_are_counted_again() -> None:
    lost = parsed(stack="QS-S1", agent="QS-A1", passed=False, cause="infra", reasons=["NodeLost"])
    second = parsed(stack="QS-S1", agent="QS-A1", attempt=2)
    totals = asyncio.run(read_again([run_object([lost, second])]))
    assert totals.counts["agentbench_infra_reruns_total"]["QS-S1", "QS-A1"] == 1
    assert totals.counts["agentbench_attempt_reasons_total"][("NodeLost",)] == 1
    assert totals.sums["agentbench_attempt_tool_calls"]["QS-S1", "QS-A1"] == [2.0, 80.0]


def test_a_run_of_an_older_operator_counts_without_measures() -> None:
    raw = run_object([parsed(stack="QS-S1", agent="QS-A1")])
    del raw["status"]["measures"]
    totals = asyncio.run(read_again([raw, {"spec": raw["spec"]}]))
    key = ("QS-S1", "QS-A1", "sample", "pass", "none")
    assert totals.counts["agentbench_attempts_total"][key] == 1
    assert totals.sums["agentbench_attempt_tool_calls"] == {}


def test_what_was_not_reported_is_in_no_sum_and_no_count() -> None:
    unknown = parsed(cost=None, seconds=None, artifacts={})
    found = measures(unknown).values
    assert {"cost_usd", "agent_seconds"} & set(found) == set()
    assert {"timeout", "setup_seconds"} <= set(found)
    assert set(found) <= {*ADDED, "pending_seconds"}


def test_calibration_is_counted_and_in_no_mean() -> None:
    totals = totals_of(the_campaign())
    totals.add(of_row(parsed(stack="QS-S1", agent="QS-A1", phase="calibration")))
    key = ("QS-S1", "QS-A1", "calibration", "pass", "none")
    assert totals.counts["agentbench_attempts_total"][key] == 1
    assert totals.sums["agentbench_attempt_cost_dollars"] == {}


@pytest.fixture(scope="module")
def large() -> Metrics:
    """10,000 rows of more stacks and agents than have series of their own."""
    metrics = Metrics(CollectorRegistry())
    campaign = the_campaign(stacks=8, agents=8, repeats=79)
    assert len(campaign.runs) > 10_000
    feed = Feed(metrics, campaign)
    feed.go_on()
    rows = [
        parsed(stack=f"QS-S{s}", agent=f"QS-A{a}", passed=passed, reasons=[reason], capsHit=caps)
        for s in range(1, 9)
        for a in range(1, 9)
        for passed in (True, False)
        for reason, caps in (("CapWall", ["wall"]), ("AgentCrash", ["cost"]))
    ]
    for number in range(10_000):
        metrics.recorded(campaign, rows[number % len(rows)])
    return metrics


def test_ten_thousand_runs_have_fewer_than_two_thousand_series_and_a_quick_scrape(
    large: Metrics,
) -> None:
    began = time.perf_counter()
    text = shown(large)
    took = time.perf_counter() - began
    series = [line for line in text.splitlines() if not line.startswith("#")]
    assert 1_000 < len(series) < 2_000
    assert took < 1


def test_pairs_beyond_those_with_series_of_their_own_are_counted_together() -> None:
    totals = totals_of(the_campaign(stacks=8, agents=8))
    for stack in range(1, 9):
        for agent in range(1, 9):
            totals.add(of_row(parsed(stack=f"QS-S{stack}", agent=f"QS-A{agent}")))
    passes = {
        key[:2]: number
        for key, number in totals.counts["agentbench_attempts_total"].items()
        if number
    }
    assert len(passes) == PAIRS + 1
    assert passes[OTHER] == 64 - PAIRS


def test_a_campaign_that_is_gone_leaves_no_series() -> None:
    metrics = Metrics(CollectorRegistry())
    Feed(metrics).go_on()
    assert NAME in shown(metrics)
    metrics.forget(NAMESPACE, NAME)
    assert NAME not in shown(metrics)


def test_a_store_that_does_not_answer_is_shown_also_before_the_first_tick() -> None:
    metrics = Metrics(CollectorRegistry())
    metrics.store_lost(NAMESPACE, NAME)
    name = "agentbench_campaign_store_available"
    labels = {"campaign_namespace": NAMESPACE, "campaign": NAME}
    assert metrics.registry.get_sample_value(name, labels) == 0
    feed = Feed(metrics)
    assert metrics.registry.get_sample_value(name, labels) == 1
    feed.metrics.store_lost(NAMESPACE, NAME)
    assert metrics.registry.get_sample_value(name, labels) == 0
    planned = metrics.registry.get_sample_value("agentbench_runs_planned", labels)
    assert planned == 24


def test_a_stalled_campaign_says_so() -> None:
    metrics = Metrics(CollectorRegistry())
    metrics.said(NAMESPACE, NAME, a_status("Stalled", "True"), 12.0)
    labels = {"campaign_namespace": NAMESPACE, "campaign": NAME}
    sample = metrics.registry.get_sample_value
    assert sample("agentbench_campaign_stalled", labels) == 1
    assert sample("agentbench_campaign_phase", labels | {"phase": "Stalled"}) == 1
    assert sample("agentbench_campaign_phase", labels | {"phase": "Running"}) == 0
    assert sample("agentbench_campaign_last_tick_timestamp_seconds", labels) == 12.0
