"""Grades a final state: every check on a fresh copy, with fresh services and a fresh app."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from agentbench.api.base import seconds
from agentbench.api.factors import FileRef, Stack, Task
from agentbench.api.rules import Checks
from agentbench.core.execution import security_of
from agentbench.local.examination import Bench, Examined, examine
from agentbench.pod.check_report import flags
from agentbench_analysis.codec import encode
from agentbench_analysis.rows.model import Check, Security
from agentbench_analysis.rows.words import CheckVerdict

Progress = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Graded:
    """The verdicts, and each execution's record by the name of its artifact."""

    checks: tuple[Check, ...]
    security: Security
    records: dict[str, bytes]
    seconds: float


@dataclass(slots=True, kw_only=True)
class Grader:
    """Grades one final state; see `Bench` for what it is given."""

    bench: Bench
    task: Task
    stack: Stack
    rules: Checks
    _records: dict[str, bytes] = field(default_factory=dict)

    async def grade(self, progress: Progress) -> Graded:
        """Run every repeat of the task's check, then the security check.

        A check that did not come to a verdict is run once more on the same snapshot; if it comes
        to none again, that is the harness's failure.
        """
        began = time.monotonic()
        timeout = seconds(self.task.timeout or self.rules.timeout)
        checks = []
        for repeat in range(1, self.rules.repeats + 1):
            await progress(f"check {repeat} of {self.rules.repeats}")
            examined = await self._examine(self.task.check, repeat, timeout)
            check = _check(repeat, examined)
            checks.append(check)
            self._record(f"check-{repeat}.json", examined, encode(check))
        await progress("security check")
        security = await self._security()
        return Graded(tuple(checks), security, self._records, time.monotonic() - began)

    async def _security(self) -> Security:
        program = self.rules.security
        if program is None:
            return Security(ran=True, reason="the protocol names no security check")
        examined = await self._examine(program, 1, seconds(self.rules.timeout))
        security = _security(examined)
        self._record("security.json", examined, encode(security))
        return security

    async def _examine(self, program: FileRef, repeat: int, timeout: float) -> Examined:
        examined = await examine(self.bench, self.stack, program.path, repeat, timeout)
        if examined.verdict is CheckVerdict.ERROR:
            examined = await examine(self.bench, self.stack, program.path, repeat, timeout)
        return examined

    def _record(self, name: str, examined: Examined, judged: object) -> None:
        document = {
            "result": judged,
            "detail": examined.detail,
            "output": examined.output.decode("utf-8", "replace"),
            "appLog": examined.app_log.decode("utf-8", "replace"),
        }
        self._records[name] = json.dumps(document, indent=1).encode() + b"\n"


def _check(repeat: int, examined: Examined) -> Check:
    return Check(
        repeat=repeat,
        verdict=examined.verdict,
        exit_code=examined.exit_code,
        seconds=round(examined.seconds, 3) if examined.seconds is not None else None,
        reason=str(examined.reason) if examined.reason else None,
        asserts=tuple(line.assertion for line in examined.lines),
    )


def _security(examined: Examined) -> Security:
    unnamed = [
        line.assertion.id for line in examined.lines if not line.assertion.ok and line.kind is None
    ]
    reason = str(examined.reason) if examined.reason is not None else None
    return security_of(examined.verdict, reason, flags(examined.lines), unnamed)


async def no_progress(_: str) -> None:
    """For whoever does not want to know."""
    await asyncio.sleep(0)
