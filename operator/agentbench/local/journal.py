"""An attempt's journal: marks that say how far it has come, each on the disk before going on."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any


class Mark(StrEnum):
    """A step of an attempt."""

    BEGUN = "begun"
    SETUP = "setup"
    AGENT = "agent"  # from here on the agent may have run: never again for this attempt
    CAPTURED = "captured"  # the final state is on the disk: grading may be done again
    GRADING = "grading"
    NOTE = "note"  # progress for people


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a journal."""

    mark: Mark
    data: dict[str, Any]


class Journal:
    """Appends marks to a file and reads them again."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, mark: Mark, *, durable: bool = False, **data: Any) -> None:
        """Append a mark; a durable one is on the disk before this returns."""
        line = json.dumps({"mark": mark.value, **data}).encode() + b"\n"
        flags = os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_CLOEXEC
        descriptor = os.open(self.path, flags, 0o600)
        try:
            if os.write(descriptor, line) != len(line):
                raise OSError(28, "no space is left for the journal")
            if durable:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def entries(self) -> Iterator[Entry]:
        """The marks so far; a line that a crash cut short is none."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return
        for line in content.split(b"\n"):
            try:
                data = json.loads(line)
                mark = Mark(data.pop("mark"))
            except (ValueError, KeyError, AttributeError):
                continue
            yield Entry(mark, data)

    def last(self, mark: Mark) -> dict[str, Any] | None:
        """The data of the last such mark, None if there is none."""
        found = None
        for entry in self.entries():
            if entry.mark is mark:
                found = entry.data
        return found
