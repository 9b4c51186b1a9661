"""The record of what an agent did: raw events and a trajectory, written while it runs.

Both stay private until `finish`, which redacts and publishes them.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agentbench.agents.lines import parse
from agentbench.agents.port import EventKind, TraceEvent
from agentbench.pod.warden.atif import TrajectoryHead, write_trajectory
from agentbench.pod.warden.bounds import mark
from agentbench.pod.warden.hooks import Asked
from agentbench.pod.warden.publish import Published, publish
from agentbench.pod.warden.redact import Redactor
from agentbench.pod.warden.repair import RepairRounds
from agentbench.pod.warden.stamps import Stamps
from agentbench.pod.warden.steps import Steps

EVENTS = 200 * 1024 * 1024  # bytes of raw events that are kept
STDERR = 16 * 1024 * 1024  # bytes of standard error that are kept
SUBAGENTS = 64  # that get a trajectory of their own; the rest goes into the main one
RUNNING = 10_000  # tool calls that are timed at once
EVENTS_FILE = "events.jsonl.zst"
TRAJECTORY_FILE = "trajectory.json"


class Trace:
    """Takes an agent's events and the warden's own; files are in `folder`, which is private."""

    def __init__(self, folder: Path, stamps: Stamps) -> None:
        self._folder = folder
        self._stamps = stamps
        self._events = (folder / "events.jsonl").open("wb")
        self._room = {"agent": EVENTS, "stderr": STDERR, "warden": STDERR}
        self._lost = {"agent": 0, "stderr": 0, "warden": 0}
        self._main = Steps(folder / "steps-main.jsonl")
        self._subagents: dict[str, Steps] = {}
        self._running: dict[str, tuple[str, float]] = {}
        # Told of each tool's end: its name, seconds, and the kind of its error.
        self.tool_ended: Callable[[str, float, str | None], None] = lambda *_: None
        self.repair = RepairRounds()
        self.problem: str | None = None

    def prompt(self, text: str) -> None:
        """The user's first message."""
        self._main.plain("user", text, self._stamps.at())

    def reply(self, text: str, index: int) -> None:
        """A scripted reply to a blocking question; the first has index 1."""
        self._main.plain("user", text, self._stamps.at(), intervention_index=index)
        self.warden("reply", index=index)

    def line(self, line: bytes, events: tuple[TraceEvent, ...]) -> None:
        """One line of the agent's event log, and what its adapter read in it."""
        try:
            self._write("agent", {"event": parse(line)})
        except (ValueError, RecursionError):
            self._write("agent", {"text": line.decode("utf-8", "replace")})
        for event in events:
            self.repair.take(event)
            self._time(event)
            try:
                self._steps(event).take(event, self._stamps.at())
            except RecursionError:
                self.warden("note", text="an event is nested too deep for the trajectory")
            except OSError as error:
                self._not_written(error)

    def stderr(self, line: bytes) -> None:
        """One line of the agent's standard error."""
        self._write("stderr", {"text": line.decode("utf-8", "replace")})

    def tool(self, asked: Asked) -> None:
        """One question of the pre-tool hook, and the answer."""
        self.warden(
            "tool",
            tool=asked.tool,
            call=asked.call_id,
            subagent=asked.subagent,
            allowed=asked.allowed,
            problem=asked.problem,
        )

    def warden(self, what: str, **fields: Any) -> None:
        """Something that the warden did or saw."""
        told = {name: value for name, value in fields.items() if value is not None}
        self._write("warden", {"what": what, **told})

    def finish(
        self, head: TrajectoryHead, output: Path, redactor: Redactor
    ) -> dict[str, Published]:
        """Publish both files into `output`."""
        for source, lost in self._lost.items():
            if lost:
                line = {"source": source, "text": mark(lost, "lines")}
                self._events.write(json.dumps(line).encode() + b"\n")
        self._events.close()
        path = self._folder / TRAJECTORY_FILE
        truncated = write_trajectory(path, head, self._main, self._subagents)
        return {
            EVENTS_FILE: publish(
                self._folder / "events.jsonl",
                output / EVENTS_FILE,
                redactor,
                truncated=any(self._lost.values()),
            ),
            TRAJECTORY_FILE: publish(path, output / TRAJECTORY_FILE, redactor, truncated=truncated),
        }

    def _time(self, event: TraceEvent) -> None:
        if event.call_id is None:
            return
        if event.kind is EventKind.TOOL_CALL and len(self._running) < RUNNING:
            self._running[event.call_id] = (event.tool or "unknown", self._stamps.seconds())
        elif event.kind is EventKind.TOOL_RESULT and event.call_id in self._running:
            tool, began = self._running.pop(event.call_id)
            error = None if event.ok else "tool_error"
            self.tool_ended(tool, self._stamps.seconds() - began, error)

    def _steps(self, event: TraceEvent) -> Steps:
        name = event.subagent
        if name is None:
            return self._main
        if name not in self._subagents:
            if len(self._subagents) >= SUBAGENTS or event.kind is EventKind.OTHER:
                return self._main
            path = self._folder / f"steps-{len(self._subagents) + 1}.jsonl"
            self._subagents[name] = Steps(path)
        return self._subagents[name]

    def _write(self, source: str, fields: Mapping[str, Any]) -> None:
        entry = {"at": self._stamps.at(), "source": source, **fields}
        line = json.dumps(entry, separators=(",", ":")).encode() + b"\n"
        if len(line) > self._room[source]:
            self._room[source] = 0
            self._lost[source] += 1
            return
        self._room[source] -= len(line)
        try:
            self._events.write(line)
        except OSError as error:
            self._not_written(error)

    def _not_written(self, error: OSError) -> None:
        # The run goes on: what it uses is counted elsewhere, and its log must still be read.
        self.problem = f"the trace is not whole: {error.strerror}"
