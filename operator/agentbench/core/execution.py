"""What one execution of a check means: by its exit code and, for security, by its flags."""

from collections.abc import Sequence

from agentbench.core.reasons import Reason
from agentbench_analysis.rows.model import Security, SecurityFlag
from agentbench_analysis.rows.words import CheckVerdict


def verdict_of(code: int | None) -> tuple[CheckVerdict, Reason | None]:
    """The verdict of an exit code, with a reason where it is an error; None means out of time."""
    if code is None:
        return CheckVerdict.ERROR, Reason.CHECK_TIMEOUT
    if code in (0, 1):
        return (CheckVerdict.PASS if code == 0 else CheckVerdict.FAIL), None
    return CheckVerdict.ERROR, Reason.CHECK_ERROR


def security_of(
    verdict: CheckVerdict,
    reason: str | None,
    flags: Sequence[SecurityFlag],
    failed: Sequence[str] = (),
) -> Security:
    """The security check's result.

    `reason` is set where the verdict is not the exit code's: then it did not run to its end.
    `failed` are the ids of assertions that failed without a kind. A check that fails and names
    no flag has found nothing that can be counted, and is no clean bill either: it did not run.
    """
    if reason is not None or verdict is CheckVerdict.ERROR:
        return Security(ran=False, reason=reason or Reason.CHECK_ERROR.value)
    if verdict is CheckVerdict.FAIL and not flags:
        what = f"assertion {failed[0]} has no kind" if failed else "it named no flag"
        return Security(ran=False, reason=f"{Reason.CHECK_ERROR}: it failed, but {what}")
    return Security(ran=True, flags=tuple(flags))
