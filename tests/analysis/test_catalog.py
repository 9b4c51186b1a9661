"""The metric catalog and the metrics of recorded runs."""

from typing import Any

import pytest
from tests.fakes.rows import a_flag, a_row, measured, not_measured, row_documents

from agentbench_analysis.catalog.aggregate import MetricLine
from agentbench_analysis.catalog.deltas import Delta
from agentbench_analysis.catalog.descriptors import CATALOG, Group
from agentbench_analysis.errors import AnalysisError
from agentbench_analysis.facade import metrics_catalog, metrics_run
from agentbench_analysis.rows.metrics import ROW_METRICS
from agentbench_analysis.rows.words import Availability

Row = dict[str, Any]


def lines(*rows: Row) -> dict[str, MetricLine]:
    return {each.name: each for each in metrics_run(row_documents(rows)).metrics}


def delta(name: str, rows: list[Row], baseline: list[Row]) -> Delta:
    found = metrics_run(row_documents(rows), row_documents(baseline)).deltas
    return next(each for each in found if each.name == name)


def test_the_catalog_has_five_groups_and_only_quality_decides() -> None:
    assert {each.group for each in CATALOG} == set(Group)
    assert [group for group in Group if group.decides] == [Group.QUALITY]
    assert [each.group for each in metrics_catalog("knowledge")] == [Group.KNOWLEDGE] * 6


def test_an_unknown_group_is_refused() -> None:
    with pytest.raises(AnalysisError, match="no group of metrics"):
        metrics_catalog("speed")


def test_every_metric_that_a_row_carries_is_in_the_catalog() -> None:
    assert set(ROW_METRICS) <= {each.name for each in CATALOG}


def test_names_are_unique_and_an_unavailable_metric_says_why() -> None:
    names = [each.name for each in CATALOG]
    assert len(names) == len(set(names))
    for each in CATALOG:
        assert (each.reason is not None) == (each.availability is Availability.UNAVAILABLE)


def test_a_mean_is_over_the_runs_that_reported_with_count_and_share_beside() -> None:
    found = lines(a_row(cost="1.00"), a_row(repeat=2, cost=None), a_row(repeat=3, cost="2.00"))
    cost = found["cost_usd"]
    assert (cost.value, cost.count, cost.total) == (1.5, 2, 3)
    assert cost.share == pytest.approx(2 / 3)
    assert cost.availability is Availability.MEASURED
    assert cost.reason == "1 runs: no usage in the stream"


def test_a_metric_that_nobody_reported_is_unavailable_and_not_zero() -> None:
    hit_rate = lines(a_row())["knowledge_hit_rate"]
    assert (hit_rate.value, hit_rate.count, hit_rate.share) == (None, 0, 0)
    assert hit_rate.availability is Availability.UNAVAILABLE
    assert hit_rate.reason is not None


def test_one_derived_value_makes_the_mean_derived() -> None:
    row = a_row(repeat=2)
    row["metrics"]["tool_calls"] = {"value": 3, "availability": "derived", "reason": "proxy"}
    assert lines(a_row(), row)["tool_calls"].availability is Availability.DERIVED


def test_infra_and_aborted_attempts_say_nothing_about_success() -> None:
    infra = a_row(repeat=2, outcome="fail", cause="infra")
    aborted = a_row(repeat=3, outcome="aborted")
    success = lines(a_row(), infra, aborted, a_row(repeat=4, passed=False))["success"]
    assert (success.value, success.count, success.total) == (0.5, 2, 4)


def test_a_crash_is_not_a_failed_task() -> None:
    crashed = a_row(passed=False, reasons=["AgentCrash", "CheckFailed"])
    found = lines(crashed, a_row(repeat=2, passed=False))
    assert found["success"].value == 0
    assert found["agent_crash"].value == 0.5
    assert found["infra_failure"].value == 0


def test_checks_and_assertions_are_rates_of_their_own() -> None:
    flaky = a_row(passed=False)
    flaky["checks"][0] |= {"verdict": "pass"}
    flaky["checks"][1] |= {"verdict": "error"}
    found = lines(flaky)
    assert found["check_pass_rate"].value == 0.5
    assert found["assertion_pass_rate"].value == 0
    ungraded = lines(a_row(checks=[]))
    assert ungraded["check_pass_rate"].value is None
    assert ungraded["assertion_pass_rate"].value is None


def test_security_flags_are_counted_and_an_unchecked_run_is_unavailable() -> None:
    unchecked = a_row(repeat=2, security={"ran": False, "flags": [], "reason": "timed out"})
    found = lines(a_row(security=a_flag()), unchecked)["security_failures"]
    assert (found.value, found.count) == (1, 1)
    assert found.reason == "1 runs: timed out"


def test_words_are_counted_by_value() -> None:
    status = lines(a_row(), a_row(repeat=2), a_row(repeat=3, passed=False))["run_status"]
    assert status.words == {"fail (task)": 1, "pass": 2}
    assert status.value is None
    model = lines(a_row(environment={"modelsReturned": "m-1"}))["observed_model"]
    assert model.words == {"m-1": 1}


def test_a_trace_that_was_cut_or_withheld_is_not_complete() -> None:
    def row(repeat: int, **changes: Any) -> Row:
        trace = {"key": "k", "sha256": "s", "size": 1, "truncated": False, "withheld": None}
        return a_row(repeat=repeat, artifacts={"trajectory.json": trace | changes})

    found = lines(row(1), row(2, truncated=True), row(3, withheld="secret"), a_row(repeat=4))
    complete = found["trace_complete"]
    assert complete.value == pytest.approx(1 / 3)
    assert complete.count == 3


def test_all_tokens_need_input_and_output_and_name_what_is_missing() -> None:
    found = lines(a_row())["tokens"]
    assert (found.value, found.availability) == (429_000, Availability.DERIVED)
    silent = lines(a_row(metrics={"output": not_measured("cut")}))["tokens"]
    assert silent.value is None


def test_deltas_follow_their_formulas() -> None:
    fast = [a_row(seconds=300.0, metrics={"cache_read": measured(0), "output": measured(1_450)})]
    slow = [a_row(seconds=600.0), a_row(repeat=2, passed=False, seconds=600.0)]
    assert delta("delta_success", fast, slow).value == 0.5
    assert delta("speedup", fast, slow).value == 2.0
    assert delta("token_saving", fast, slow).value == pytest.approx(1 - 21_450 / 429_000)


def test_a_baseline_of_zero_gives_the_absolute_difference() -> None:
    nothing = {"input_uncached": measured(0), "cache_read": measured(0), "output": measured(0)}
    found = delta("token_saving", [a_row()], [a_row(metrics=nothing)])
    assert (found.value, found.absolute) == (429_000, True)
    assert "baseline" in found.note
    found = delta("speedup", [a_row(seconds=5.0)], [a_row(seconds=0)])
    assert (found.value, found.absolute) == (5.0, True)
    found = delta("speedup", [a_row(seconds=0)], [a_row(seconds=5.0)])
    assert (found.value, found.absolute) == (-5.0, True)
    assert "variant" in found.note


def test_a_missing_side_gives_null_and_says_which() -> None:
    silent, spoken = [a_row(seconds=None)], [a_row()]
    found = delta("speedup", silent, spoken)
    assert (found.value, found.note) == (None, "the variant reported no agent_seconds")
    assert "the baseline" in delta("speedup", spoken, silent).note
    assert "the variant and the baseline" in delta("speedup", silent, silent).note


def test_without_a_baseline_there_are_no_deltas() -> None:
    report = metrics_run(row_documents([a_row()]))
    assert (report.records, report.baseline_records, report.deltas) == (1, None, ())
