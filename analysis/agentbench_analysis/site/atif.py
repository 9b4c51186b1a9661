"""Trajectories (ATIF v1.0 to v1.8) read leniently: a damaged or endless file gives what it can.

The agent wrote most of what stands in a trajectory, so nothing in it is trusted: neither its
shape, nor its size, nor its characters.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from agentbench_analysis.site.stream import Bounded

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()

Record = dict[str, object]


@dataclass(frozen=True, slots=True)
class Raw:
    """A trajectory's fields as found; `problems` says in words what could not be read."""

    fields: Record = field(default_factory=dict)
    steps: tuple[Record, ...] = ()
    problems: tuple[str, ...] = ()


def parse(source: Bounded, max_steps: int) -> Raw:
    """Read a trajectory's fields, and its steps one by one until the text ends or breaks."""
    fields: Record = {}
    steps: list[Record] = []
    problems: list[str] = []
    try:
        for name, value in _members(source.text, steps, max_steps):
            fields[name] = value
    except (ValueError, RecursionError) as error:
        if not source.cut:
            problems.append(f"The file is not whole JSON: {_reason(error)}.")
    if source.cut:
        problems.append(f"The file is too long to show; {len(steps)} steps were read.")
    elif len(steps) >= max_steps:
        problems.append(f"Only the first {max_steps} steps are shown.")
    if source.replaced:
        problems.append(f"{source.replaced} characters were not UTF-8 and are shown as \ufffd.")
    return Raw(fields, tuple(steps), tuple(problems))


def _members(text: str, steps: list[Record], max_steps: int) -> Iterator[tuple[str, object]]:
    """Yield the top-level members; those of `steps` go to the list, so that a cut keeps them."""
    at = _expect(text, _skip(text, 0), "{")
    while not text.startswith("}", at):
        name, at = _value(text, at)
        if not isinstance(name, str):
            raise ValueError("a member's name is not a string")
        at = _expect(text, at, ":")
        if name == "steps" and text.startswith("[", at):
            at = _steps(text, _skip(text, at + 1), steps, max_steps)
            if len(steps) >= max_steps:
                return
        else:
            value, at = _value(text, at)
            yield name, value
        if text.startswith("}", at):
            return
        at = _expect(text, at, ",")


def _steps(text: str, at: int, steps: list[Record], max_steps: int) -> int:
    while not text.startswith("]", at):
        value, at = _value(text, at)
        if isinstance(value, dict):
            steps.append(value)
        if len(steps) >= max_steps:
            return at
        if text.startswith("]", at):
            break
        at = _expect(text, at, ",")
    return _skip(text, at + 1)


def _value(text: str, at: int) -> tuple[object, int]:
    value, end = _DECODER.raw_decode(text, at)
    return value, _skip(text, end)


def _expect(text: str, at: int, mark: str) -> int:
    if not text.startswith(mark, at):
        raise ValueError(f"{mark!r} is missing at character {at}")
    return _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(error)[:120]
