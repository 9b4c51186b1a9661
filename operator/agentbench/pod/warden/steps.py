"""Builds the steps of an ATIF trajectory from trace events, and keeps them on disk."""

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentbench.agents.port import EventKind, TraceEvent
from agentbench.pod.warden.bounds import OUTPUT, TEXT, cut, cut_arguments

OPEN_STEPS = 64  # steps that may wait for results of their tool calls
SPOOL = 200 * 1024 * 1024  # bytes of steps that are kept; what comes later is only counted


@dataclass(slots=True)
class _Open:
    step: dict[str, Any]
    waiting: set[str] = field(default_factory=set)
    answered: bool = False


class Steps:
    """The steps of one agent or sub-agent. A step leaves memory when its results are there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("wb")
        self._open: deque[_Open] = deque()
        self._written = 0
        self.count = 0
        self.calls = 0
        self.left_out = 0
        self.truncated = False

    def plain(self, source: str, message: str, at: str, **extra: Any) -> None:
        """Add a step of the user or the system."""
        text, _ = self._cut(message, TEXT)
        step: dict[str, Any] = {"timestamp": at, "source": source, "message": text}
        if extra:
            step["extra"] = extra
        self._open.append(_Open(step))
        self._flush()

    def take(self, event: TraceEvent, at: str) -> None:
        """Add what an event tells to the step that it belongs to."""
        if event.kind is EventKind.MESSAGE:
            text, _ = self._cut(event.text, TEXT)
            self._agent(at, fresh=("message", "tool_calls"))["message"] = text
        elif event.kind is EventKind.REASONING:
            text, _ = self._cut(event.text, TEXT)
            step = self._agent(at, fresh=("message", "tool_calls", "reasoning_content"))
            step["reasoning_content"] = text
        elif event.kind is EventKind.TOOL_CALL:
            self._call(event, at)
        elif event.kind is EventKind.TOOL_RESULT:
            self._result(event, at)
        elif event.kind is EventKind.FAILED and event.text:
            self.plain("system", event.text, at, event=event.kind.value)

    def finish(self) -> Iterator[dict[str, Any]]:
        """Every step in order, numbered."""
        while self._open:
            self._write(self._open.popleft().step)
        self._file.close()
        with self._path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                step = json.loads(line)
                yield {"step_id": number, **step}

    def _agent(self, at: str, fresh: tuple[str, ...]) -> dict[str, Any]:
        """The agent step that is being built; a new one if it has any of `fresh` already."""
        last = self._open[-1] if self._open else None
        if (
            last is None
            or last.step["source"] != "agent"
            or last.answered
            or any(last.step.get(name) for name in fresh)
        ):
            last = _Open({"timestamp": at, "source": "agent", "message": ""})
            self._open.append(last)
            self._flush()
        return last.step

    def _call(self, event: TraceEvent, at: str) -> None:
        self._agent(at, fresh=())
        last = self._open[-1]
        calls: list[dict[str, Any]] = last.step.setdefault("tool_calls", [])
        self.calls += 1
        call_id = event.call_id or f"call-{self.calls}"
        arguments, was_cut = cut_arguments(event.arguments)
        self.truncated |= was_cut
        calls.append(
            {
                "tool_call_id": call_id,
                "function_name": event.tool or "unknown",
                "arguments": arguments,
            }
        )
        last.waiting.add(call_id)

    def _result(self, event: TraceEvent, at: str) -> None:
        text, _ = self._cut(event.text, OUTPUT)
        result: dict[str, Any] = {"content": text}
        if event.ok is not None:
            result["extra"] = {"ok": event.ok}
        for candidate in reversed(self._open):
            if event.call_id in candidate.waiting:
                result["source_call_id"] = event.call_id
                results = candidate.step.setdefault("observation", {"results": []})["results"]
                results.append(result)
                candidate.waiting.discard(str(event.call_id))
                candidate.answered = True
                self._flush()
                return
        # Its call has left memory already, or was never told of.
        result.setdefault("extra", {})["call_id"] = event.call_id
        self._open.append(
            _Open(
                {
                    "timestamp": at,
                    "source": "system",
                    "message": "",
                    "observation": {"results": [result]},
                }
            )
        )
        self._flush()

    def _flush(self) -> None:
        """Write what is complete; the last step may still grow."""
        while len(self._open) > 1 and (not self._open[0].waiting or len(self._open) > OPEN_STEPS):
            self._write(self._open.popleft().step)

    def _write(self, step: dict[str, Any]) -> None:
        line = json.dumps(step, separators=(",", ":"), default=str).encode() + b"\n"
        if self._written + len(line) > SPOOL:
            self.left_out += 1
            self.truncated = True
            return
        self._written += len(line)
        self.count += 1
        self._file.write(line)

    def _cut(self, text: str, limit: int) -> tuple[str, bool]:
        kept, was_cut = cut(text, limit)
        self.truncated |= was_cut
        return kept, was_cut
