"""What all readers of JSON-lines event logs share: nothing that an agent prints may raise."""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from agentbench.agents.port import EventKind, TraceEvent


def parse(line: bytes) -> Any:
    """One line as JSON.

    Raises:
        ValueError: it is none, by the letter: NaN and its like would make a record that others
            cannot read.
        RecursionError: it is nested too deep.
    """
    return json.loads(line, parse_constant=_not_json, parse_float=_finite)


def _not_json(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _not_json(digits)


@dataclass(slots=True)
class JsonLines(ABC):
    """Parses lines; subclasses turn a JSON object into trace events by `read`."""

    session: str | None = None
    last_message: str = ""

    def feed(self, line: bytes) -> Sequence[TraceEvent]:
        """Turn one line into trace events; a line that is no event gives one of kind OTHER."""
        try:
            event = parse(line)
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict):
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            return (TraceEvent(kind=EventKind.OTHER, text=text),) if text.strip() else ()
        try:
            return self.read(event)
        except (AttributeError, KeyError, TypeError, ValueError):
            # An event of another shape than its type promises is kept as it is.
            return (TraceEvent(kind=EventKind.OTHER, raw=event),)

    @abstractmethod
    def read(self, event: Mapping[str, Any]) -> Sequence[TraceEvent]:
        """Turn one event into trace events; may raise on a shape that it does not know."""

    def reported(self) -> Mapping[str, int | str]:
        """What the agent itself says it used: a cross-check, never the measure."""
        return {}
