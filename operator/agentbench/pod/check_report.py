"""Reads what a check says of itself: its report's lines, within bounds."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentbench_analysis.rows.model import Assertion, SecurityFlag
from agentbench_analysis.rows.words import SecurityKind

MAX_BYTES = 4 * 1024 * 1024
MAX_LINES = 5_000
MAX_DETAIL = 1_000
MAX_ID = 200


@dataclass(frozen=True, slots=True)
class Line:
    """One assertion; `kind` is set by the security check alone."""

    assertion: Assertion
    kind: SecurityKind | None = None


def read_report(path: Path) -> tuple[Line, ...]:
    """The report's lines; what is no assertion is passed over, since only the exit code judges."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ()
    with os.fdopen(descriptor, "rb") as stream:
        content = stream.read(MAX_BYTES)
    lines: list[Line] = []
    for raw in content.split(b"\n"):
        line = _line(raw)
        if line is not None and len(lines) < MAX_LINES:
            lines.append(line)
    return tuple(lines)


def flags(lines: Sequence[Line]) -> tuple[SecurityFlag, ...]:
    """The critical failures among a security check's lines."""
    return tuple(
        SecurityFlag(kind=line.kind, assertion=line.assertion.id, detail=line.assertion.detail)
        for line in lines
        if not line.assertion.ok and line.kind is not None
    )


def _line(raw: bytes) -> Line | None:
    try:
        value: Any = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    name, ok = value.get("assert"), value.get("ok")
    if not isinstance(name, str) or not name or not isinstance(ok, bool):
        return None
    detail = value.get("detail")
    text = detail if isinstance(detail, str) else ""
    return Line(Assertion(id=name[:MAX_ID], ok=ok, detail=text[:MAX_DETAIL]), _kind(value, name))


def _kind(value: dict[str, Any], name: str) -> SecurityKind | None:
    """The kind that a line names, or the one that its assertion's id begins with."""
    given = value.get("kind")
    for kind in SecurityKind:
        if given == kind.value or (given is None and name.startswith(kind.value)):
            return kind
    return None
