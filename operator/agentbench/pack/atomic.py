"""Files that are there whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


class Draft:
    """A file in the making; `target` is where it goes when it is whole."""

    def __init__(self, file: IO[bytes], target: Path):
        self.file = file
        self.target = target


@contextmanager
def replacing(target: Path) -> Iterator[Draft]:
    """Write a file beside its place, durably, then move it there in one step.

    On an error nothing is left behind and what was there stays.
    """
    draft = target.with_name(f".{target.name.lstrip('.')}.{os.getpid()}.part")
    try:
        with draft.open("wb") as file:
            wanted = Draft(file, target)
            yield wanted
            file.flush()
            os.fsync(file.fileno())
        draft.replace(wanted.target)
        _sync_folder(wanted.target.parent)
    finally:
        draft.unlink(missing_ok=True)


def write_whole(target: Path, content: bytes) -> None:
    """Put a file in place, whole and durably."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as draft:
        draft.file.write(content)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
