"""Repair rounds: how often an agent ran a command again after that command had failed.

Derived from the agent's event log. The same command is the same tool with the same arguments,
white space and the agent's own descriptions apart. Descriptive only.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agentbench.agents.port import EventKind, TraceEvent

REMEMBERED = 20_000  # commands and calls; beyond them the count goes on without new ones
NOTES = ("description", "justification", "timeout", "timeout_ms", "run_in_background")


@dataclass(slots=True)
class RepairRounds:
    """Counts repair rounds and failed tool calls while events come in."""

    rounds: int = 0
    failures: int = 0
    results: int = 0
    _failed: dict[bytes, bool] = field(default_factory=dict)
    _calls: dict[str, bytes] = field(default_factory=dict)

    def take(self, event: TraceEvent) -> None:
        """Take note of one event."""
        if event.kind is EventKind.TOOL_CALL and event.call_id is not None:
            command = _same_command(event.tool, event.arguments)
            self.rounds += self._failed.pop(command, False)
            if len(self._calls) < REMEMBERED:
                self._calls[event.call_id] = command
        elif event.kind is EventKind.TOOL_RESULT and event.ok is not None:
            self.results += 1
            self.failures += not event.ok
            called = self._calls.pop(event.call_id or "", None)
            if called is None:
                return
            if event.ok:
                self._failed.pop(called, None)
            elif len(self._failed) < REMEMBERED:
                self._failed[called] = True


def _same_command(tool: str | None, arguments: Mapping[str, Any]) -> bytes:
    telling = {
        name: " ".join(value.split()) if isinstance(value, str) else value
        for name, value in arguments.items()
        if name not in NOTES
    }
    try:
        text = json.dumps([tool, telling], sort_keys=True, default=str)
    except (RecursionError, TypeError):
        text = f"{tool}: arguments that cannot be compared"
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
