"""A row says all that is known, and its bytes are always the same."""

from decimal import Decimal

import pytest
from tests.fakes.build import CLEAN, a_campaign, a_summary, checks

from agentbench.core.failure import Evidence, judge
from agentbench.core.plan import plan
from agentbench.core.record import (
    Attempted,
    aborted,
    build_row,
    decode_row,
    encode_row,
    facts,
)
from agentbench.core.summary import Measure, Summary
from agentbench_analysis.errors import AnalysisError
from agentbench_analysis.rows.metrics import ROW_METRICS
from agentbench_analysis.rows.model import Row
from agentbench_analysis.rows.words import Availability, CheckVerdict, Outcome

DIGEST = "sha256:" + "0" * 64
COST = Measure(value="0.1234567", availability=Availability.MEASURED)


def a_row(summary: Summary | None) -> Row:
    spec = a_campaign()
    run = plan(spec)[0]
    found = checks(*[CheckVerdict.PASS] * 3)
    judgement = judge(Evidence(summary=summary, checks=found, repeats=3, security=CLEAN))
    attempted = Attempted(
        attempt=1,
        started_at="2026-11-30T12:00:00Z",
        ended_at="2026-11-30T12:01:00Z",
        summary=summary,
        checks=found,
        security=CLEAN,
    )
    return build_row(
        campaign="qs", spec=spec, digest=DIGEST, run=run, judgement=judgement, attempted=attempted
    )


def test_a_row_survives_the_way_to_bytes_and_back() -> None:
    row = a_row(a_summary(metrics={"cost_usd": COST}))
    content = encode_row(row)
    assert decode_row(content, "row") == row
    assert encode_row(decode_row(content, "row")) == content


def test_every_metric_is_there_and_an_unknown_one_is_never_zero() -> None:
    row = a_row(a_summary(metrics={"cost_usd": COST}))
    assert set(row.metrics) == set(ROW_METRICS)
    assert row.metrics["output"].value is None
    assert row.metrics["output"].availability is Availability.UNAVAILABLE
    assert row.metrics["output"].reason


def test_money_keeps_every_digit() -> None:
    assert facts(a_row(a_summary(metrics={"cost_usd": COST}))).cost == Decimal("0.1234567")


def test_an_attempt_without_a_summary_has_a_row_with_an_unknown_cost() -> None:
    row = a_row(None)
    assert row.outcome is Outcome.FAIL
    assert facts(row).cost is None


def test_an_aborted_attempt_has_no_cause() -> None:
    assert aborted("cancelled by a person").cause is None


def test_a_field_that_no_row_has_is_refused_by_name() -> None:
    content = encode_row(a_row(a_summary())).replace(b'"outcome":', b'"extra":1,"outcome":')
    with pytest.raises(AnalysisError, match="extra: is not a known field"):
        decode_row(content, "rows/x/1.json")
