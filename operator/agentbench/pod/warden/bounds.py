"""Cuts what an agent prints down to what a record can hold, and says so where it does."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

LINE = 8 * 1024 * 1024  # bytes of one line of an event log
TEXT = 256 * 1024  # characters of a message
OUTPUT = 64 * 1024  # characters of a tool's output, of which the last quarter is its end
ARGUMENTS = 256 * 1024  # characters of a tool call's arguments as JSON


def cut(text: str, limit: int) -> tuple[str, bool]:
    """The text within `limit` characters: its beginning, a mark, its end."""
    if len(text) <= limit:
        return text, False
    end = limit // 4
    left_out = len(text) - limit
    return f"{text[: limit - end]}\n{mark(left_out, 'characters')}\n{text[-end:]}", True


def mark(amount: int, unit: str) -> str:
    """What stands where something was left out."""
    return f"[agent-bench: {amount} {unit} left out]"


def cut_arguments(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """A tool call's arguments, or what fits of their JSON."""
    encoded = json.dumps(arguments, default=str)
    if len(encoded) <= ARGUMENTS:
        return json.loads(encoded), False
    return {"truncated": cut(encoded, ARGUMENTS)[0]}, True


@dataclass(slots=True)
class LineSplitter:
    """Splits a byte stream into lines; of a line over the limit, only the beginning is kept."""

    limit: int = LINE
    cut_lines: int = 0
    _pending: bytearray = field(default_factory=bytearray)
    _dropped: int = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The lines that the chunk ends, without their newlines."""
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            self._take(chunk[start:end])
            yield self._line()
            start = end + 1
        self._take(chunk[start:])

    def finish(self) -> Iterator[bytes]:
        """The last line, if it had no newline."""
        if self._pending or self._dropped:
            yield self._line()

    def _take(self, part: bytes) -> None:
        room = self.limit - len(self._pending)
        self._pending += part[:room]
        self._dropped += max(0, len(part) - room)

    def _line(self) -> bytes:
        line = bytes(self._pending)
        if self._dropped:
            line += mark(self._dropped, "bytes").encode()
            self.cut_lines += 1
        self._pending.clear()
        self._dropped = 0
        return line
