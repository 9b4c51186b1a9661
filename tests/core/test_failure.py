"""The blame table, line by line, and what holds for every line at once."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.build import CLEAN, a_summary, checks

from agentbench.core.failure import Evidence, Fault, judge
from agentbench.core.reasons import Reason
from agentbench.core.summary import Cap, Ending, ProviderEvidence, Summary
from agentbench_analysis.rows.model import Assertion, Check, Security, SecurityFlag
from agentbench_analysis.rows.words import Cause, CheckVerdict, Outcome, SecurityKind

PASS, FAIL, ERROR = CheckVerdict.PASS, CheckVerdict.FAIL, CheckVerdict.ERROR
LEAK = Security(ran=True, flags=(SecurityFlag(kind=SecurityKind.CROSS_TENANT, assertion="x"),))


def seen(
    *,
    summary: Summary | None = None,
    found: Sequence[Check] = checks(PASS, PASS, PASS),
    security: Security = CLEAN,
    place: Sequence[Fault] = (),
) -> Evidence:
    return Evidence(
        place=place, summary=summary or a_summary(), checks=found, repeats=3, security=security
    )


def test_three_passes_of_three_is_a_pass() -> None:
    verdict = judge(seen())
    assert (verdict.outcome, verdict.cause, verdict.reasons) == (Outcome.PASS, None, ())


def test_a_check_that_disagrees_with_itself_is_a_fail() -> None:
    verdict = judge(seen(found=checks(PASS, FAIL, PASS)))
    assert verdict.outcome is Outcome.FAIL
    assert verdict.cause is Cause.TASK
    assert Reason.CHECK_FLAKY in verdict.reasons


def test_a_check_that_cannot_judge_is_neither_pass_nor_fail_of_the_agent() -> None:
    assert judge(seen(found=checks(PASS, ERROR, PASS))).cause is Cause.INFRA
    assert judge(seen(found=checks(FAIL, ERROR, FAIL))).cause is Cause.INFRA


def test_a_missing_repeat_is_no_pass() -> None:
    assert judge(seen(found=checks(PASS, PASS))).reasons == (Reason.CHECK_ERROR,)


@pytest.mark.parametrize(
    ("cap", "reason", "cause"),
    [
        (Cap.WALL, Reason.CAP_WALL, Cause.CAP),
        (Cap.COST, Reason.CAP_COST, Cause.CAP),
        (Cap.TOOL_CALLS, Reason.CAP_TOOL_CALLS, Cause.CAP),
        (Cap.INTERVENTIONS, Reason.INTERVENTIONS, Cause.INTERVENTION),
    ],
)
def test_a_cap_fails_the_run_even_if_the_app_passes(cap: Cap, reason: Reason, cause: Cause) -> None:
    verdict = judge(seen(summary=a_summary(Ending.STOPPED, caps_hit=(cap,))))
    assert (verdict.outcome, verdict.cause, verdict.reasons) == (Outcome.FAIL, cause, (reason,))


def test_a_provider_outage_is_infra_though_the_agent_crashed_too() -> None:
    provider = ProviderEvidence(outage=True, trailing_failures=11, last_status=529)
    verdict = judge(seen(summary=a_summary(Ending.CRASHED, provider=provider)))
    assert verdict.cause is Cause.INFRA
    assert verdict.reasons == (Reason.PROVIDER_OUTAGE, Reason.AGENT_CRASH)
    assert "529" in verdict.evidence[0]


def test_an_agent_that_exits_with_an_error_is_judged_by_its_work() -> None:
    assert judge(seen(summary=a_summary(Ending.FAILED))).outcome is Outcome.PASS


def test_an_agent_that_crashed_fails() -> None:
    verdict = judge(seen(summary=a_summary(Ending.CRASHED, signal=11)))
    assert (verdict.cause, verdict.reasons) == (Cause.TASK, (Reason.AGENT_CRASH,))


def test_a_sandbox_that_failed_is_infra_though_the_agent_looks_crashed() -> None:
    summary = a_summary(Ending.CRASHED, sandbox_failed="control socket was closed")
    verdict = judge(seen(summary=summary))
    assert (verdict.cause, verdict.reasons[0]) == (Cause.INFRA, Reason.WARDEN_DIED)


def test_a_security_flag_takes_the_blame_for_a_failed_run_but_fails_no_passing_one() -> None:
    assert judge(seen(found=checks(FAIL, FAIL, FAIL), security=LEAK)).cause is Cause.SECURITY
    passing = judge(seen(security=LEAK))
    assert (passing.outcome, passing.cause) == (Outcome.PASS, None)
    assert passing.reasons == (Reason.SECURITY_FAILED,)


def test_a_security_check_that_did_not_run_is_a_harness_error() -> None:
    assert judge(seen(security=Security(ran=False, reason="exit 2"))).cause is Cause.INFRA


def test_an_app_that_does_not_start_is_a_fail() -> None:
    found = [Check(repeat=n, verdict=FAIL, reason=Reason.APP_NOT_STARTED.value) for n in (1, 2, 3)]
    verdict = judge(seen(found=found))
    assert (verdict.cause, verdict.reasons) == (Cause.TASK, (Reason.APP_NOT_STARTED,))


def test_an_app_that_does_not_start_for_the_security_check_is_no_harness_error() -> None:
    security = Security(ran=False, reason=Reason.APP_NOT_STARTED.value)
    found = [Check(repeat=n, verdict=FAIL, reason=Reason.APP_NOT_STARTED.value) for n in (1, 2, 3)]
    assert judge(seen(found=found, security=security)).cause is Cause.TASK


def test_failed_assertions_are_named_in_the_evidence() -> None:
    found = [
        Check(repeat=n, verdict=FAIL, asserts=(Assertion(id="delete-is-gone", ok=False),))
        for n in (1, 2, 3)
    ]
    assert "delete-is-gone" in judge(seen(found=found)).evidence[0]


@pytest.mark.parametrize("reason", [r for r in Reason if r.cause is Cause.INFRA])
def test_what_the_place_saw_comes_before_what_the_agent_did(reason: Reason) -> None:
    crashed = a_summary(Ending.CRASHED, caps_hit=(Cap.WALL,))
    verdict = judge(seen(summary=crashed, place=[Fault(reason=reason)]))
    assert verdict.cause is Cause.INFRA
    assert verdict.reasons[0] is reason
    assert Reason.CAP_WALL in verdict.reasons


def test_no_summary_and_no_fault_means_that_the_warden_died() -> None:
    evidence = Evidence(summary=None, repeats=3, security=Security(ran=False))
    assert judge(evidence).reasons == (Reason.WARDEN_DIED,)


@given(
    faults=st.lists(st.sampled_from(Reason), max_size=4),
    verdicts=st.lists(st.sampled_from(CheckVerdict), max_size=3),
    caps=st.sets(st.sampled_from(Cap)),
    ending=st.sampled_from(Ending),
    flagged=st.booleans(),
)
def test_every_attempt_is_judged_and_only_three_clean_passes_pass(
    faults: list[Reason],
    verdicts: list[CheckVerdict],
    caps: set[Cap],
    ending: Ending,
    flagged: bool,
) -> None:
    verdict = judge(
        seen(
            summary=a_summary(ending, caps_hit=tuple(caps)),
            found=checks(*verdicts),
            security=LEAK if flagged else CLEAN,
            place=[Fault(reason=reason) for reason in faults],
        )
    )
    assert (verdict.cause is None) == (verdict.outcome is Outcome.PASS)
    assert len(set(verdict.reasons)) == len(verdict.reasons)
    if verdict.outcome is Outcome.PASS:
        assert verdicts == [PASS, PASS, PASS]
        assert not caps
        assert set(faults) <= {Reason.SECURITY_FAILED}
