"""What goes when its time is over: the pods and Jobs of attempts that have their row."""

import asyncio
from bisect import insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from agentbench.api.base import seconds
from agentbench.app.ledger import Key
from agentbench.kube.view import instant
from agentbench_analysis.rows.words import Outcome

if TYPE_CHECKING:
    from agentbench.api.run import AttemptStatus
    from agentbench.app.held import Held
    from agentbench.app.ledger import RunFacts

LONG_AGO = datetime.min.replace(tzinfo=UTC)


PATIENCE = timedelta(seconds=60)
"""How long what was deleted may take to go before it is deleted once more."""


def _ended(entry: tuple[datetime, Key]) -> datetime:
    """When an attempt ended; of two in the same second, the one that was told first is older."""
    return entry[0]


@dataclass(slots=True)
class Leavings:
    """Attempts that have their row and may have left objects, the oldest first."""

    _ended: list[tuple[datetime, Key]] = field(default_factory=list)
    _failed: list[tuple[datetime, Key]] = field(default_factory=list)
    _known: set[Key] = field(default_factory=set)
    _going: dict[Key, datetime] = field(default_factory=dict)

    def add(self, key: Key, ended: datetime, *, failed: bool) -> None:
        """Take note of an attempt that is recorded, once."""
        if key not in self._known and key not in self._going:
            self._known.add(key)
            insort(self._failed if failed else self._ended, (ended, key), key=_ended)

    def due(self, now: datetime, lifetime: float, kept: int) -> Iterator[Key]:
        """Those whose time is over; the `kept` newest failures stay for a look."""
        self._going = {key: at for key, at in self._going.items() if now - at < PATIENCE}
        while len(self._failed) > kept:
            insort(self._ended, self._failed.pop(0), key=_ended)
        while self._ended and (now - self._ended[0][0]).total_seconds() >= lifetime:
            _, key = self._ended.pop(0)
            self._known.discard(key)
            self._going[key] = now
            yield key


def note(leavings: Leavings, entry: "RunFacts", attempt: "AttemptStatus") -> None:
    """Take note of a recorded attempt.

    Its time runs from its row, and not from the agent's end: a row that waited for its store
    leaves people their time to look. An attempt that a person ended has nothing to look at.
    """
    since = entry.recorded_at() or attempt.ended_at
    if attempt.row_key and since is not None:
        failed = attempt.outcome is Outcome.FAIL
        ended = LONG_AGO if attempt.outcome is Outcome.ABORTED else instant(since)
        leavings.add((entry.run, attempt.number), ended, failed=failed)


def find(held: "Held", keys: Iterable[Key]) -> None:
    """Take note of recorded attempts that still have pods.

    Pods of a run that is gone are the garbage collector's work, and a pod that only looks like
    ours is nobody's here.
    """
    for run, number in keys:
        entry = held.ledger.runs.get(run)
        for attempt in entry.attempts if entry else ():
            if entry is not None and attempt.number == number:
                note(held.leavings, entry, attempt)


async def clean(held: "Held", now: datetime) -> None:
    """Delete what is left of recorded attempts when their time is over."""
    spec = held.campaign.spec
    due = held.leavings.due(now, seconds(spec.ttl_after_recorded), spec.keep_failed_pods)

    async def one(key: Key) -> None:
        async with held.slots:
            with held.spoken(f"clean-up of {key[0]} attempt {key[1]}", now):
                await held.hands.clean(key[0], key[1], held.own(key))

    await asyncio.gather(*(one(key) for key in due))
