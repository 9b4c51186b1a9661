"""Ratios of medians where a median is zero: infinite, or none at all."""

from typing import Any

from tests.fakes.rows import a_spec, full_rows, row_documents

from agentbench_analysis.facade import analyse
from agentbench_analysis.results.model import Decision, Figure, Finding


def cost_ratio(rows: list[dict[str, Any]]) -> tuple[Finding, Figure]:
    found = analyse(a_spec(), row_documents(rows))
    (finding,) = (each for each in found.verdict.findings if each.hypothesis == "AB-H2")
    return finding, found.figure("AB-H2/ratio")


def free_of_charge(rows: list[dict[str, Any]], *stacks: str) -> list[dict[str, Any]]:
    for row in rows:
        if row["cell"]["stack"] in stacks:
            row["metrics"]["cost_usd"] = row["metrics"]["cost_usd"] | {"value": "0"}
    return rows


def test_two_medians_of_zero_have_no_ratio_and_decide_nothing() -> None:
    finding, ratio = cost_ratio(full_rows(cost="0"))
    assert finding.decision is Decision.NOT_COMPUTABLE
    assert finding.reasons == ("both medians are zero: there is no ratio",)
    assert (ratio.value, ratio.lower, ratio.upper, ratio.unbounded) == (None, None, None, False)
    assert ratio.notes == ("10000 resamples are left out: both medians are zero",)


def test_a_cost_above_the_others_zero_is_infinitely_higher_and_said_so() -> None:
    finding, ratio = cost_ratio(free_of_charge(full_rows(), "AB-S2", "AB-S3"))
    assert (finding.decision, ratio.unbounded) == (Decision.NOT_SHOWN, True)
    assert finding.reasons == (
        "the upper bound is infinite: Arki has resamples in which the best other median is zero",
    )
    assert ratio.notes == ("10000 resamples are infinite: the other median is zero",)


def test_a_reference_that_costs_nothing_beside_others_that_cost_holds() -> None:
    finding, ratio = cost_ratio(free_of_charge(full_rows(), "AB-S1"))
    assert (finding.decision, ratio.value, ratio.upper) == (Decision.HOLDS, 0.0, 0.0)
    assert ratio.notes == ()
