"""Which attempt scores: reruns, adjudication, and what is left open."""

from typing import Any

import pytest
from tests.fakes.rows import (
    DIGEST,
    a_flag,
    a_row,
    a_spec,
    adjudication_documents,
    an_adjudication,
    row_documents,
)

from agentbench_analysis.facade import analyse
from agentbench_analysis.results.model import Attempt, Results, Standing
from agentbench_analysis.rows.words import Cause, Outcome

RUN = "AB-T01-S1-A1-r1"
INFRA: dict[str, Any] = {"outcome": "fail", "cause": "infra", "reasons": ["NodeLost"], "checks": []}
SECOND = a_row(attempt=2)


def first(**changes: Any) -> dict[str, Any]:
    return a_row(**INFRA) | changes


def results(*rows: dict[str, Any], words: tuple[dict[str, Any], ...] = ()) -> Results:
    return analyse(a_spec(), row_documents(rows), adjudication_documents(words))


def standings(found: Results) -> list[Standing]:
    return [each.standing for each in found.attempts]


def scored(found: Results) -> Attempt:
    (only,) = found.scored
    return only


def test_a_confirmed_infra_failure_is_replaced_by_its_rerun() -> None:
    found = results(first(), SECOND, words=(an_adjudication(RUN, "infra"),))
    assert standings(found) == [Standing.REPLACED, Standing.SCORES]
    assert scored(found).outcome is Outcome.PASS


def test_a_refused_infra_label_scores_the_first_attempt_with_the_adjudicators_cause() -> None:
    found = results(first(), SECOND, words=(an_adjudication(RUN, "task"),))
    assert standings(found) == [Standing.SCORES, Standing.SET_ASIDE]
    assert (scored(found).cause, scored(found).final_cause) == (Cause.INFRA, Cause.TASK)


def test_an_unadjudicated_infra_label_scores_the_rerun_provisionally() -> None:
    found = results(first(), SECOND)
    assert standings(found) == [Standing.REPLACED, Standing.PROVISIONAL]
    assert found.attempts[0].unjudged
    beside = [note for each in found.verdict.findings for note in each.beside]
    assert any("1 rerun scored provisionally" in note and RUN in note for note in beside)


def test_a_second_infra_failure_leaves_the_cell_incomplete() -> None:
    rows = [a_row(repeat=n) for n in range(2, 6)]
    again = first(attempt=2)
    words = (an_adjudication(RUN, "infra"), an_adjudication(RUN, "infra", attempt=2, seq=2))
    found = results(first(), again, *rows, words=words)
    assert standings(found)[:2] == [Standing.REPLACED, Standing.UNSCORED]
    line = found.cells[0]
    assert (line.scored, line.planned, line.incomplete) == (4, 5, True)


def test_a_second_infra_failure_that_the_adjudicator_calls_a_task_failure_scores() -> None:
    words = (an_adjudication(RUN, "infra"), an_adjudication(RUN, "task", attempt=2, seq=2))
    found = results(first(), first(attempt=2), words=words)
    assert standings(found) == [Standing.REPLACED, Standing.SCORES]
    assert scored(found).final_cause is Cause.TASK


def test_a_lone_infra_failure_scores_nothing_until_it_is_refused() -> None:
    other = a_row(repeat=2)
    assert standings(results(first(), other))[0] is Standing.UNSCORED
    found = results(first(), other, words=(an_adjudication(RUN, "cap"),))
    assert standings(found)[0] is Standing.SCORES


def test_a_failure_that_the_adjudicator_calls_infra_no_longer_scores() -> None:
    word = an_adjudication(RUN, "infra")
    found = results(a_row(passed=False), a_row(repeat=2), words=(word,))
    assert standings(found)[0] is Standing.UNSCORED


def test_a_rerun_of_an_attempt_that_was_no_infra_failure_never_scores() -> None:
    found = results(a_row(passed=False), SECOND)
    assert standings(found) == [Standing.SCORES, Standing.SET_ASIDE]


def test_an_aborted_attempt_never_scores() -> None:
    aborted = a_row(outcome="aborted", checks=[])
    found = results(aborted, a_row(repeat=2))
    assert standings(found)[0] is Standing.UNSCORED
    assert found.cells[0].scored == 1


def test_a_second_attempt_whose_first_row_is_missing_scores_provisionally() -> None:
    assert standings(results(SECOND)) == [Standing.PROVISIONAL]


def test_the_last_adjudication_of_an_attempt_counts() -> None:
    words = (
        an_adjudication(RUN, "infra"),
        an_adjudication(RUN, "task", seq=2, reason="read again"),
    )
    found = results(first(), SECOND, words=words)
    judgement = found.attempts[0].judgement
    assert judgement is not None
    assert (judgement.seq, judgement.cause, judgement.reason) == (2, Cause.TASK, "read again")


def test_a_later_word_on_security_keeps_the_earlier_word_on_the_cause() -> None:
    row = a_row(passed=False, security=a_flag())
    words = (an_adjudication(RUN, "cap"), an_adjudication(RUN, None, seq=2, security=[]))
    found = results(row, words=words)
    assert found.attempts[0].final_cause is Cause.CAP
    assert found.attempts[0].flags_standing == ()


def test_flags_stand_until_an_adjudicator_has_judged_them() -> None:
    row = a_row(security=a_flag())
    assert results(row).attempts[0].flags_standing == ("notes-tenant",)
    assert results(row).attempts[0].unjudged
    confirmed = an_adjudication(RUN, None, security=["notes-tenant"])
    refused = an_adjudication(RUN, None, security=[])
    assert results(row, words=(confirmed,)).attempts[0].flags_standing == ("notes-tenant",)
    assert results(row, words=(refused,)).attempts[0].flags_standing == ()
    assert not results(row, words=(refused,)).attempts[0].unjudged


def test_an_adjudication_of_no_row_here_is_said_out_loud() -> None:
    found = results(a_row(), words=(an_adjudication("AB-nowhere", "task"),))
    assert any("1 adjudications are about no row" in note for note in found.notes)


def test_a_cap_beats_a_check_that_passed() -> None:
    row = a_row(outcome="fail", cause="cap", reasons=["CapCost"], capsHit=["cost"])
    found = results(row)
    assert found.cells[0].passed == 0
    assert {line.verdict.value for line in found.attempts[0].checks} == {"pass"}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"phase": "calibration"}, "calibration"),
        ({"draft": True}, "draft"),
        ({"digest": "sha256:" + "e" * 64}, f"foreign digest (sha256:{'e' * 64})"),
        ({"campaign": "other"}, "another campaign (other)"),
    ],
)
def test_rows_outside_the_sample_are_kept_out_and_counted(
    changes: dict[str, Any], reason: str
) -> None:
    outside = [a_row(passed=False, repeat=n, run=f"out-{n}") | changes for n in (2, 3)]
    found = results(a_row(), *outside)
    (line,) = found.kept_out
    assert (line.reason, line.rows) == (reason, 2)
    assert len(found.attempts) == 1
    assert any(reason in note for note in found.notes)


def test_rows_of_a_draft_are_described_and_give_no_verdict() -> None:
    spec = a_spec(protocol={"id": "AB-PROTO-1", "draft": True})
    rows = [
        a_row(f"AB-T0{task}", stack, agent, repeat, draft=True, digest=DIGEST)
        for task in range(1, 7)
        for stack in ("AB-S1", "AB-S2", "AB-S3")
        for agent in ("AB-A1", "AB-A2")
        for repeat in range(1, 6)
    ]
    found = analyse(spec, row_documents(rows))
    assert {each.decision.value for each in found.verdict.findings} == {"not computable"}
    assert found.verdict.headline.value == "not computable"
    assert found.figure("pass-rate/stack/AB-S1").value == 1.0
