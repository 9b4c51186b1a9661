"""One execution of a check is judged the same on one machine and in a grader pod."""

import pytest

from agentbench.core.execution import security_of, verdict_of
from agentbench.core.reasons import Reason
from agentbench.pod.verdict import CheckTermination, Line
from agentbench_analysis.rows.model import SecurityFlag
from agentbench_analysis.rows.words import CheckVerdict, SecurityKind

PASS, FAIL, ERROR = CheckVerdict.PASS, CheckVerdict.FAIL, CheckVerdict.ERROR
FLAG = SecurityFlag(kind=SecurityKind.SQL_INJECTION, assertion="search")


@pytest.mark.parametrize(
    ("code", "verdict", "reason"),
    [
        (0, PASS, None),
        (1, FAIL, None),
        (2, ERROR, Reason.CHECK_ERROR),
        (-9, ERROR, Reason.CHECK_ERROR),
        (137, ERROR, Reason.CHECK_ERROR),
        (None, ERROR, Reason.CHECK_TIMEOUT),
    ],
)
def test_the_exit_code_alone_is_the_verdict(
    code: int | None, verdict: CheckVerdict, reason: Reason | None
) -> None:
    assert verdict_of(code) == (verdict, reason)


def test_a_security_check_that_fails_without_a_flag_is_no_clean_bill() -> None:
    found = security_of(FAIL, None, ())
    assert not found.ran
    assert security_of(FAIL, None, (), ["oops"]).reason == (
        "CheckError: it failed, but assertion oops has no kind"
    )
    assert security_of(FAIL, None, (FLAG,)).flags == (FLAG,)


@pytest.mark.parametrize(
    "said",
    [
        CheckTermination(verdict=FAIL, reason=Reason.APP_NOT_STARTED.value),
        CheckTermination(verdict=FAIL, exit_code=1),
        CheckTermination(verdict=ERROR, exit_code=2, reason=Reason.CHECK_ERROR.value),
        CheckTermination(verdict=FAIL, exit_code=1, lines=(Line(id="x", ok=False),)),
    ],
)
def test_a_grader_pod_that_found_nothing_to_count_never_says_clean(said: CheckTermination) -> None:
    assert not said.security().ran


def test_an_app_that_did_not_start_is_named_so_in_a_grader_pod_too() -> None:
    said = CheckTermination(verdict=FAIL, reason=Reason.APP_NOT_STARTED.value)
    assert said.security().reason == Reason.APP_NOT_STARTED
