"""Where a campaign stands, kept up to date one event at a time.

`decide` reads the whole plan and every row; over 10,000 runs that is too much for every tick.
This holds the same facts added up, so that a decision costs what has changed: the two agree
after any sequence of events, which is a test.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice

from agentbench.core.admission import Limits, Load, admit
from agentbench.core.attempt import Recorded, next_attempt
from agentbench.core.decide import Decision, Live, Start, Tally, phase_of
from agentbench.core.plan import PlannedRun
from agentbench_analysis.rows.words import Outcome


@dataclass(slots=True)
class Standing:
    """The rows of a campaign added up, and which runs still need an attempt.

    `cap` is what an attempt of unknown cost counts with, in US dollars.
    """

    runs: Sequence[PlannedRun]
    cap: Decimal
    _place: dict[str, int] = field(default_factory=dict)
    _needed: list[int] = field(default_factory=list)
    """Places in the plan of the runs that need an attempt and have none under way, in order."""
    _rows: dict[str, list[Recorded]] = field(default_factory=dict)
    """Rows of runs that are not done; those of the others are only counted."""
    _done: dict[Outcome, int] = field(default_factory=dict)
    _infra: int = 0
    _infra_ends: int = 0
    _spent: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        self._place = {run.id: place for place, run in enumerate(self.runs)}
        self._needed = list(range(len(self.runs)))

    def started(self, run: str) -> None:
        """An attempt of a run is under way."""
        place = self._place.get(run)
        if place is not None:
            at = bisect_left(self._needed, place)
            if at < len(self._needed) and self._needed[at] == place:
                del self._needed[at]

    def recorded(self, fact: Recorded) -> None:
        """An attempt has its row."""
        self._spent += self.cap if fact.cost is None else fact.cost
        self._infra += fact.infra
        place = self._place.get(fact.run)
        if place is None:
            return
        self.started(fact.run)
        rows = [*self._rows.pop(fact.run, ()), fact]
        if next_attempt(rows) is not None:
            self._rows[fact.run] = rows
            insort(self._needed, place)
            return
        last = max(rows, key=lambda row: row.attempt)
        self._done[last.outcome] = self._done.get(last.outcome, 0) + 1
        self._infra_ends += last.infra

    def decide(
        self,
        limits: Limits,
        live: Sequence[Live],
        *,
        suspend: bool,
        cancel: bool,
        blocked: bool = False,
        lingering: Sequence[Live] = (),
    ) -> Decision:
        """What to start and to end; see `core.decide.decide`."""
        load = Load(live=len(live) + len(lingering), reserved=len(live), spent=self._spent)
        room = 0 if suspend or cancel or blocked else limits.parallelism
        there = {entry.run for entry in lingering}
        ready = (place for place in self._needed if self.runs[place].id not in there)
        start = admit(limits, load, [self._start(place) for place in islice(ready, room)])
        return Decision(
            start=start,
            abort=tuple(live) if cancel else (),
            phase=phase_of(
                suspend=suspend,
                cancel=cancel,
                live=bool(live),
                waiting=bool(self._needed),
                starting=bool(start) or blocked or bool(lingering),
            ),
            tally=self._tally(limits, len(live)),
        )

    def add(self, facts: Iterable[Recorded]) -> None:
        """Several rows at once."""
        for fact in facts:
            self.recorded(fact)

    def _start(self, place: int) -> Start:
        run = self.runs[place]
        attempt = next_attempt(self._rows.get(run.id, ()))
        assert attempt is not None  # a run that is done is not needed
        return Start(run=run, attempt=attempt)

    def _tally(self, limits: Limits, live: int) -> Tally:
        failed = self._done.get(Outcome.FAIL, 0) - self._infra_ends
        return Tally(
            total=len(self.runs),
            done=sum(self._done.values()),
            live=live,
            passed=self._done.get(Outcome.PASS, 0),
            failed=failed,
            infra=self._infra,
            aborted=self._done.get(Outcome.ABORTED, 0),
            spent=self._spent,
            reserved=limits.cap * live,
        )
