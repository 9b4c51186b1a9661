"""How a running campaign is told: a line per run, and totals."""

import json
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import click

from agentbench.api.campaign import CampaignSpec
from agentbench.cli.screen import Screen, count, plain
from agentbench.core.decide import Tally
from agentbench.core.plan import PlannedRun
from agentbench.local.events import (
    CampaignEnded,
    CampaignStarted,
    RunEnded,
    RunProgress,
    RunStarted,
)
from agentbench_analysis.codec import encode


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptEnded:
    """An attempt has its row. `seconds` are the agent's, `cost` is in US dollars; None: unknown."""

    run: PlannedRun
    attempt: int
    outcome: str
    cause: str | None
    reasons: tuple[str, ...]
    seconds: float | None
    cost: Decimal | None
    tally: Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWaits:
    """An attempt on a cluster waits for something, for a text to show."""

    run: PlannedRun
    attempt: int
    why: str


Event = (
    CampaignStarted | RunStarted | RunProgress | RunEnded | AttemptEnded | RunWaits | CampaignEnded
)
"""What a display is told, by the engine of one machine or of a cluster."""


class Progress:
    """Prints one line for every run that ends, and on a terminal a bar with totals below them.

    Use it as a context: the bar is cleared when that is left, however it is left.
    """

    def __init__(self, screen: Screen, spec: CampaignSpec, store: object) -> None:
        self.screen = screen
        self.spec = spec
        self.store = store
        self._began = time.monotonic()
        self._done_before = 0
        self._steps: dict[str, str] = {}
        self._tally: Tally | None = None
        self._bar = Bar() if screen.rich else None

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, event: Event) -> None:
        """Tell one event."""
        match event:
            case CampaignStarted():
                self._started(event)
            case RunStarted():
                self._steps[event.run.id] = "begun"
                if event.resumed:
                    self._line(f"{event.run.id}  attempt {event.attempt} goes on")
            case RunProgress():
                self._steps[event.run.id] = event.step
            case RunWaits():
                self._waits(event)
            case RunEnded() | AttemptEnded():
                self._steps.pop(event.run.id, None)
                self._tally = event.tally
                self._ended(event if isinstance(event, AttemptEnded) else ended(event))
            case CampaignEnded():
                if self._bar is not None:
                    self._bar.stop()
                self.screen.say(totals(event.tally, 0))
                return
        if self._bar is not None and self._tally is not None:
            steps = ", ".join(f"{run} {step}" for run, step in list(self._steps.items())[:3])
            left = self._time_left(self._tally)
            self._bar.show(self._tally, totals(self._tally, len(self._steps)) + left, steps)

    def _started(self, event: CampaignStarted) -> None:
        self._done_before = event.tally.done
        self._tally = event.tally
        protocol = self.spec.protocol
        kind = "draft, no verdict" if protocol.draft else "frozen"
        self.screen.heading(
            f"{protocol.id} ({kind}): {count(len(event.runs), 'run')}, {event.parallel} at once, "
            f"isolation {event.isolation}"
        )
        self.screen.say(f"rows in {self.store}")
        if event.tally.done:
            self.screen.say(f"{count(event.tally.done, 'run')} recorded before.")

    def _ended(self, event: AttemptEnded) -> None:
        left = "" if self._bar is not None else self._time_left(event.tally)
        done = f"[{event.tally.done}/{event.tally.total}]"
        self._line(f"{done} {run_line(event)}{left}")

    def _waits(self, event: RunWaits) -> None:
        self._steps[event.run.id] = "waits"
        self._line(f"{event.run.id}  waits: {event.why}")

    def _time_left(self, tally: Tally) -> str:
        """How long the rest takes, at the pace so far."""
        done = tally.done - self._done_before
        if done < 1 or tally.done >= tally.total:
            return ""
        seconds = (time.monotonic() - self._began) / done * (tally.total - tally.done)
        return f", about {clock(seconds)} left"

    def _line(self, text: str) -> None:
        if self._bar is not None:
            self._bar.line(plain(text))
        else:
            self.screen.say(text)
            sys.stdout.flush()


class Bar:
    """The moving part: how much is done, the totals, and what live runs do."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._rich = RichProgress(
            BarColumn(bar_width=20),
            TextColumn("{task.description}", markup=False),
            TextColumn("{task.fields[steps]}", markup=False, style="dim"),
            console=Console(highlight=False),
            transient=True,
        )
        self._task = self._rich.add_task("", total=1, steps="")

    def show(self, tally: Tally, text: str, steps: str) -> None:
        """Show where the campaign stands."""
        self._rich.start()
        self._rich.update(
            self._task, total=tally.total, completed=tally.done, description=text, steps=steps
        )

    def line(self, text: str) -> None:
        """Print a line above the bar."""
        self._rich.console.print(text, markup=False)

    def stop(self) -> None:
        """Clear the bar."""
        self._rich.stop()


class JsonLines:
    """Prints every event as a line of JSON."""

    def __enter__(self) -> "JsonLines":
        return self

    def __exit__(self, *_: object) -> None:
        sys.stdout.flush()

    def __call__(self, event: Event) -> None:
        """Tell one event."""
        click.echo(json.dumps(as_document(event), ensure_ascii=False, default=str))
        sys.stdout.flush()


def as_document(event: Event) -> Mapping[str, Any]:
    """An event as JSON values; `event` names its kind."""
    kind = type(event).__name__
    match event:
        case CampaignStarted():
            return {
                "event": kind,
                "runs": len(event.runs),
                "parallel": event.parallel,
                "isolation": event.isolation,
                "tally": encode(event.tally),
            }
        case RunStarted():
            return {
                "event": kind,
                "run": event.run.id,
                "attempt": event.attempt,
                "resumed": event.resumed,
            }
        case RunProgress():
            return {
                "event": kind,
                "run": event.run.id,
                "attempt": event.attempt,
                "step": event.step,
                "seconds": round(event.seconds, 3),
            }
        case RunEnded():
            return as_document(ended(event))
        case RunWaits():
            return {"event": kind, "run": event.run.id, "attempt": event.attempt, "why": event.why}
        case AttemptEnded():
            return {
                "event": RunEnded.__name__,
                "run": event.run.id,
                "attempt": event.attempt,
                "outcome": event.outcome,
                "cause": event.cause,
                "reasons": list(event.reasons),
                "costUSD": None if event.cost is None else str(event.cost),
                "tally": encode(event.tally),
            }
        case CampaignEnded():
            return {"event": kind, "phase": event.phase, "tally": encode(event.tally)}


def ended(event: RunEnded) -> AttemptEnded:
    """The end of an attempt, as its row tells it."""
    row = event.row
    seconds = row.metrics["agent_seconds"].value if "agent_seconds" in row.metrics else None
    return AttemptEnded(
        run=event.run,
        attempt=event.attempt,
        outcome=row.outcome,
        cause=row.cause,
        reasons=row.reasons,
        seconds=float(seconds) if isinstance(seconds, int | float) else None,
        cost=event.cost,
        tally=event.tally,
    )


def run_line(event: AttemptEnded) -> str:
    """One finished attempt in a line."""
    cause = f" {event.cause}" if event.cause else ""
    reasons = f" ({', '.join(event.reasons)})" if event.reasons else ""
    again = f" attempt {event.attempt}" if event.attempt > 1 else ""
    took = f"  {event.seconds:.1f} s" if event.seconds is not None else ""
    spent = f"  ${event.cost:.2f}" if event.cost else ""
    return f"{event.run.id}{again}  {event.outcome}{cause}{reasons}{took}{spent}"


def totals(tally: Tally, live: int) -> str:
    """Where a campaign stands, in a line."""
    parts = [
        f"{tally.done} of {tally.total} done",
        f"{live} live" if live else "",
        f"{tally.passed} pass",
        f"{tally.failed} fail",
        f"{tally.infra} infra" if tally.infra else "",
        f"{tally.aborted} aborted" if tally.aborted else "",
        f"${tally.spent:.2f} spent",
    ]
    return ", ".join(part for part in parts if part)


def clock(seconds: float) -> str:
    """A length of time in short: `1h05m`, `3m20s`, `9s`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes:02d}m"
    return f"{minutes}m{rest:02d}s" if minutes else f"{rest}s"
