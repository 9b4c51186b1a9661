"""Hypotheses and claims: thresholds, ties, missing things, and amended rules."""

from typing import Any

import pytest
from tests.fakes.rows import (
    a_flag,
    a_row,
    a_spec,
    adjudication_documents,
    an_adjudication,
    full_rows,
    row_documents,
)

from agentbench_analysis.facade import analyse
from agentbench_analysis.results.model import Decision, Finding, Results
from agentbench_analysis.spec import AnalysisSpec

Row = dict[str, Any]
HOLDS, NOT_SHOWN, NOT_COMPUTABLE = Decision.HOLDS, Decision.NOT_SHOWN, Decision.NOT_COMPUTABLE


def analysed(rows: list[Row], spec: AnalysisSpec | None = None, *words: Row) -> Results:
    return analyse(spec or a_spec(), row_documents(rows), adjudication_documents(words))


def finding(results: Results, hypothesis: str, rules: str = "frozen") -> Finding:
    (found,) = (
        each
        for each in results.verdict.findings
        if each.hypothesis == hypothesis and each.rules == rules
    )
    return found


def decision(results: Results, hypothesis: str) -> Decision:
    return finding(results, hypothesis).decision


def with_costs(rows: list[Row], costs: dict[str, float], metric: str = "cost_usd") -> list[Row]:
    """Each stack's median cost, with a little spread around it."""
    for row in rows:
        middle = costs[row["cell"]["stack"]] * (0.98 + 0.01 * (row["repeat"] - 1))
        value = f"{middle:.4f}" if metric == "cost_usd" else middle
        row["metrics"][metric]["value"] = value
    return rows


def test_a_better_stack_holds_everything_and_carries_the_headline() -> None:
    rows = full_rows({"AB-S1": 5, "AB-S2": 2, "AB-S3": 2})
    costs = {"AB-S1": 0.5, "AB-S2": 1.0, "AB-S3": 1.1}
    rows = with_costs(
        with_costs(rows, costs), {k: v * 600 for k, v in costs.items()}, "agent_seconds"
    )
    found = analysed(rows)
    assert {each.decision for each in found.verdict.findings} == {HOLDS}
    assert {each.decision for each in found.verdict.claims} == {HOLDS}
    assert found.verdict.headline is HOLDS
    assert [each.claim for each in found.verdict.claims] == ["AB-C1", "AB-C2", "AB-C3"]


def test_a_worse_stack_is_not_shown_and_never_called_worse() -> None:
    found = analysed(full_rows({"AB-S1": 2, "AB-S2": 5, "AB-S3": 5}))
    assert decision(found, "AB-H1") is NOT_SHOWN
    texts = [text for each in found.verdict.findings for text in (*each.reasons, *each.beside)]
    assert not any("worse" in text for text in texts)


def test_a_bound_exactly_at_the_margin_holds() -> None:
    # Every cell is degenerate, so the interval is the difference itself: 45 of 50 less 50 of 50.
    rows = full_rows({"AB-S1": 5, "AB-S2": 5, "AB-S3": 5})
    spec = a_spec(
        tasks=[{"id": f"AB-T0{n}", "name": f"Task {n}"} for n in range(1, 6)],
    )
    rows = [row for row in rows if row["cell"]["task"] != "AB-T06"]
    for row in rows:
        cell = row["cell"]
        if cell["stack"] == "AB-S1" and cell["task"] == "AB-T01" and cell["agent"] == "AB-A1":
            row |= {"outcome": "fail", "cause": "task", "reasons": ["CheckFailed"]}
    found = analysed(rows, spec)
    number = found.figure("AB-H1/difference")
    assert (number.lower, number.value, number.upper) == (-0.1, -0.1, -0.1)
    assert decision(found, "AB-H1") is HOLDS


def test_a_ratio_exactly_at_the_margin_holds_and_just_above_it_is_not_shown() -> None:
    rows = full_rows({"AB-S1": 5, "AB-S2": 5, "AB-S3": 5}, cost="1.00")
    for row in rows:
        if row["cell"]["stack"] == "AB-S1":
            row["metrics"]["cost_usd"] = row["metrics"]["cost_usd"] | {"value": "0.85"}
    assert decision(analysed(rows), "AB-H2") is HOLDS
    for row in rows:
        if row["cell"]["stack"] == "AB-S1":
            row["metrics"]["cost_usd"] = row["metrics"]["cost_usd"] | {"value": "0.8501"}
    assert decision(analysed(rows), "AB-H2") is NOT_SHOWN


def test_equal_stacks_are_ties_and_a_tie_is_no_win() -> None:
    found = analysed(full_rows())
    one, two = finding(found, "AB-H1"), finding(found, "AB-H2")
    assert any("tie for the best other stack: T3 and Laravel" in note for note in one.beside)
    assert any("same pass rate" in note for note in one.beside)
    assert two.decision is NOT_SHOWN
    assert any("same median" in note for note in two.beside)
    assert found.figure("AB-H2/ratio").value == 1.0


def test_perfect_stacks_have_no_spread_and_it_is_said() -> None:
    found = analysed(full_rows({"AB-S1": 5, "AB-S2": 5, "AB-S3": 5}))
    number = found.figure("AB-H1/difference")
    assert (number.lower, number.upper) == (0.0, 0.0)
    assert any("36 of 36 cells are degenerate" in x for x in finding(found, "AB-H1").beside)
    rate = found.figure("pass-rate/stack/AB-S1")
    assert rate.lower is not None
    assert rate.lower < 0.95


def test_a_reference_stack_without_a_pass_has_no_median_and_shows_nothing() -> None:
    found = analysed(full_rows({"AB-S1": 0, "AB-S2": 4, "AB-S3": 4}))
    two = finding(found, "AB-H2")
    assert two.decision is NOT_SHOWN
    assert two.reasons == ("Arki has no passing run: its median counts as infinite",)
    ratio = found.figure("AB-H2/ratio")
    assert (ratio.value, ratio.upper, ratio.unbounded) == (None, None, True)
    assert ratio.reason == "a median is unavailable or zero"
    median = found.figure("cost/stack/AB-S1")
    assert (median.value, median.reason) == (None, "no passing run")
    claim = found.verdict.claims[2]
    assert (claim.claim, claim.decision) == ("AB-C3", NOT_SHOWN)


def test_another_stack_without_a_pass_is_left_out_and_named() -> None:
    found = analysed(full_rows({"AB-S1": 4, "AB-S2": 4, "AB-S3": 0}))
    two = finding(found, "AB-H2")
    assert any("Laravel has no passing run" in note for note in two.beside)
    assert found.figure("AB-H2/ratio").value == 1.0


def test_no_other_stack_with_a_pass_makes_the_ratio_not_computable() -> None:
    found = analysed(full_rows({"AB-S1": 4, "AB-S2": 0, "AB-S3": 0}))
    assert decision(found, "AB-H2") is NOT_COMPUTABLE
    assert decision(found, "AB-H1") is HOLDS
    assert found.verdict.headline is NOT_COMPUTABLE


def test_resamples_without_a_passing_run_count_as_infinite_and_are_counted() -> None:
    rows = full_rows({"AB-S1": 0, "AB-S2": 4, "AB-S3": 4})
    rows[0] |= {"outcome": "pass", "cause": None, "reasons": []}
    found = analysed(rows)
    ratio = found.figure("AB-H2/ratio")
    assert ratio.value is not None
    assert ratio.unbounded
    (note,) = ratio.notes
    assert int(note.split()[0]) == pytest.approx(10_000 * 0.8**5, rel=0.1)
    assert finding(found, "AB-H2").reasons[0].startswith("the upper bound is infinite")


def test_passing_runs_without_a_cost_are_left_out_counted_and_mark_the_claim_incomplete() -> None:
    rows = full_rows({"AB-S1": 5, "AB-S2": 3, "AB-S3": 3})
    for row in rows[:2]:
        row["metrics"]["cost_usd"] = {
            "value": None,
            "availability": "unavailable",
            "reason": "no usage in the stream",
        }
    found = analysed(rows)
    assert found.figure("cost/stack/AB-S1").count == 58
    two = finding(found, "AB-H2")
    assert two.incomplete
    assert "Arki: 58 of 60 passing runs reported" in two.beside
    assert found.verdict.claims[2].incomplete
    assert not any("reported" in note for note in finding(found, "AB-H3").beside)


def test_a_cell_without_any_run_makes_comparisons_not_computable() -> None:
    rows = [row for row in full_rows() if row["cell"] != full_rows()[0]["cell"]]
    found = analysed(rows)
    one = finding(found, "AB-H1")
    assert one.decision is NOT_COMPUTABLE
    assert one.reasons == ("cell AB-T01 / AB-S1 / AB-A1 has no scored run",)
    assert found.verdict.scored_runs == 175
    assert not found.verdict.complete


def test_a_cell_with_fewer_runs_still_counts_and_is_named() -> None:
    found = analysed(full_rows()[1:])
    one = finding(found, "AB-H1")
    assert one.decision is not NOT_COMPUTABLE
    assert one.incomplete
    assert "1 of 36 cells are incomplete: AB-T01 / AB-S1 / AB-A1 4 of 5" in one.beside


def test_one_stack_alone_has_nothing_to_be_compared_with() -> None:
    spec = a_spec(stacks=[{"id": "AB-S1", "name": "Arki"}])
    found = analysed([row for row in full_rows() if row["cell"]["stack"] == "AB-S1"], spec)
    assert decision(found, "AB-H1") is NOT_COMPUTABLE
    assert decision(found, "AB-H3") is NOT_COMPUTABLE
    assert decision(found, "AB-H4") is HOLDS


def test_one_confirmed_failure_on_the_reference_stack_loses_the_security_claim() -> None:
    rows = full_rows()
    rows[0]["security"] = a_flag()
    confirmed = an_adjudication(rows[0]["run"], None, security=["notes-tenant"])
    found = analysed(rows, None, confirmed)
    assert decision(found, "AB-H4") is NOT_SHOWN
    assert found.figure("AB-H4/count").value == 1.0
    refused = an_adjudication(rows[0]["run"], None, security=[])
    assert decision(analysed(rows, None, refused), "AB-H4") is HOLDS


def test_an_unadjudicated_flag_counts_and_is_said() -> None:
    rows = full_rows()
    rows[0]["security"] = a_flag()
    four = finding(analysed(rows), "AB-H4")
    assert four.decision is NOT_SHOWN
    assert four.incomplete
    assert any("1 flagged attempt unadjudicated" in note for note in four.beside)


def test_failures_of_other_stacks_do_not_touch_the_reference_stacks_count() -> None:
    rows = full_rows()
    rows[-1]["security"] = a_flag()
    found = analysed(rows)
    assert rows[-1]["cell"]["stack"] == "AB-S3"
    assert decision(found, "AB-H4") is HOLDS
    assert found.figure("security/stack/AB-S3").value == 1.0


def test_a_flag_on_a_replaced_attempt_still_counts() -> None:
    rows = full_rows()
    again = rows[0] | {"attempt": 2}
    rows[0] = rows[0] | {
        "outcome": "fail",
        "cause": "infra",
        "reasons": ["ServiceDied"],
        "security": a_flag(),
    }
    found = analysed([*rows, again])
    assert decision(found, "AB-H4") is NOT_SHOWN


def test_zero_failures_are_not_zero_over_all_runs_while_a_run_was_not_checked() -> None:
    rows = full_rows()
    rows[0]["security"] = {"ran": False, "flags": [], "reason": "timed out"}
    four = finding(analysed(rows), "AB-H4")
    assert four.decision is NOT_COMPUTABLE
    assert "only 59 of 60 runs" in four.reasons[0]


def test_the_upper_bound_on_the_failure_rate_is_printed() -> None:
    bound = analysed(full_rows()).figure("AB-H4/rate").upper
    assert bound == pytest.approx(1 - 0.05 ** (1 / 60), abs=1e-10)


def amendment(started: bool, effects: str, seq: int = 1) -> Row:
    return {
        "seq": seq,
        "date": "2026-11-05",
        "change": "A threshold.",
        "why": "Prices changed.",
        "anyRunStarted": started,
        "effects": effects,
    }


def amended_spec(*amendments: Row) -> AnalysisSpec:
    protocol = {"id": "AB-PROTO-1", "freeze": {"digest": full_rows()[0]["digest"]}}
    return a_spec(protocol=protocol | {"amendments": list(amendments)})


def cheaper() -> list[Row]:
    return with_costs(full_rows(), {"AB-S1": 0.9, "AB-S2": 1.0, "AB-S3": 1.0})


def test_a_rule_changed_after_runs_began_is_decided_under_both() -> None:
    spec = amended_spec(amendment(True, "set analysis.margins.cost = 0.95"))
    found = analysed(cheaper(), spec)
    assert finding(found, "AB-H2").decision is NOT_SHOWN
    assert finding(found, "AB-H2", "amended").decision is HOLDS
    assert [each.claim for each in found.verdict.claims if each.rules == "amended"] == ["AB-C3"]
    assert found.verdict.headline is NOT_SHOWN
    assert not any(
        each.rules == "amended" and each.hypothesis != "AB-H2" for each in found.verdict.findings
    )
    assert found.figure("amended/AB-H2/ratio").value == found.figure("AB-H2/ratio").value


def test_a_rule_changed_before_any_run_is_the_rule() -> None:
    spec = amended_spec(amendment(False, "set analysis.margins.cost = 0.95"))
    found = analysed(cheaper(), spec)
    assert finding(found, "AB-H2").decision is HOLDS
    assert all(each.rules == "frozen" for each in found.verdict.findings)


def test_an_amendment_of_words_alone_changes_no_rule() -> None:
    spec = amended_spec(amendment(True, "A typing error; no result is touched."))
    assert all(each.rules == "frozen" for each in analysed(cheaper(), spec).verdict.findings)


def test_an_amended_bootstrap_touches_what_it_computes() -> None:
    spec = amended_spec(amendment(True, "Fewer:\nset analysis.resamples = 500"))
    found = analysed(with_costs(full_rows(), {"AB-S1": 1.0, "AB-S2": 2.0, "AB-S3": 2.0}), spec)
    amended = {each.hypothesis for each in found.verdict.findings if each.rules == "amended"}
    assert amended == {"AB-H1", "AB-H2", "AB-H3"}


@pytest.mark.parametrize("best_other", ["perResample", "fixed"])
def test_the_frozen_choice_of_the_best_other_decides_and_the_other_stands_beside(
    best_other: str,
) -> None:
    rows = full_rows({"AB-S1": 3, "AB-S2": 3, "AB-S3": 3})
    found = analysed(rows, a_spec(analysis={"bestOther": best_other}))
    frozen, beside = (
        found.figure("AB-H1/difference"),
        found.figure("AB-H1/other-choice"),
    )
    words = ["picked in every resample", "fixed as T3"]
    if best_other == "fixed":
        words.reverse()
    assert words[0] in frozen.method
    assert words[1] in beside.method
    exact = found.figure("AB-H1/exact")
    assert frozen.lower == pytest.approx(exact.lower, abs=1 / 60 + 1e-9)


def test_swapping_two_stacks_turns_the_ratio_over() -> None:
    rows = with_costs(full_rows(), {"AB-S1": 1.0, "AB-S2": 1.3, "AB-S3": 9.0})
    one = analysed(rows).figure("AB-H2/ratio/AB-S2")
    two = analysed(rows, a_spec(analysis={"referenceStack": "AB-S2"})).figure("AB-H2/ratio/AB-S1")
    assert one.value is not None
    assert two.value == pytest.approx(1 / one.value)
    assert one.lower is not None
    assert two.upper == pytest.approx(1 / one.lower, rel=0.02)


def test_a_row_order_does_not_change_any_number() -> None:
    rows = full_rows({"AB-S1": 4, "AB-S2": 3, "AB-S3": 2})
    assert analysed(rows) == analysed(rows[::-1])


def test_a_campaign_of_its_own_ids_names_hypotheses_and_claims() -> None:
    analysis = {
        "hypotheses": [{"id": "Q1", "text": "No slower.", "rule": "time"}],
        "claims": [{"id": "K1", "text": "Fast enough.", "needs": ["Q1"]}],
        "headline": "Fast",
    }
    found = analysed(full_rows(), a_spec(analysis=analysis))
    assert [each.hypothesis for each in found.verdict.findings] == ["Q1"]
    assert found.verdict.claims[0].statement == "Fast enough."
    assert found.verdict.claim == "Fast"


def test_plugins_are_a_fourth_factor_of_the_cells() -> None:
    spec = a_spec(
        tasks=[{"id": "AB-T01", "name": "One"}],
        plugins=[{"id": "memory", "name": "Memory"}],
        repeats=1,
    )
    rows = [
        a_row(
            stack=stack,
            agent=agent,
            run=f"{stack}{agent}{on}",
            cell={
                "task": "AB-T01",
                "stack": stack,
                "agent": agent,
                "plugins": on,
            },
        )
        for stack in ("AB-S1", "AB-S2", "AB-S3")
        for agent in ("AB-A1", "AB-A2")
        for on in ([], ["memory"])
    ]
    found = analysed(rows, spec)
    assert len(found.cells) == 12
    assert found.verdict.scored_runs == found.verdict.planned_runs == 12
    assert found.figure("pass-rate/cell/AB-T01/AB-S1/AB-A1/memory").total == 1
