"""Plays a script: which turn a request gets, and with which fault."""

from dataclasses import dataclass, field

from agentbench.pod.mock_provider.script import FaultPlan, Script, Turn


@dataclass(frozen=True, slots=True)
class Play:
    """The answer to one request. `number` counts the model calls from 1."""

    number: int
    turn: Turn
    fault: FaultPlan | None


@dataclass(slots=True)
class _Track:
    turns: tuple[Turn, ...]
    position: int = 0
    faults_played: int = 0


@dataclass(slots=True)
class Player:
    """Keeps the place in a script."""

    script: Script
    calls: int = 0
    _main: _Track = field(init=False)
    _apart: list[tuple[str, _Track]] = field(init=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Go back to the script's beginning."""
        self.calls = 0
        self._main = _Track(self.script.turns)
        self._apart = [(talk.match, _Track(talk.turns)) for talk in self.script.conversations]

    def next(self, body: str) -> Play | None:
        """The answer to a request with this body; None when the script is over."""
        self.calls += 1
        track = next((track for match, track in self._apart if match in body), self._main)
        if track.position >= len(track.turns):
            if self.script.after == "error" or not track.turns:
                return None
            track.position = len(track.turns) - 1
        turn = track.turns[track.position]
        fault = turn.fault
        if fault is not None and (fault.times == 0 or track.faults_played < fault.times):
            track.faults_played += 1
            return Play(self.calls, turn, fault)
        track.position += 1
        track.faults_played = 0
        return Play(self.calls, turn, None)
