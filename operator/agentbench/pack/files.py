"""Files of a pack: found inside it or refused, and walked in one order everywhere."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

LEFT_OUT = frozenset({".git", "__pycache__", ".DS_Store", ".agent-bench"})
"""Names that are never part of a layer: what a machine adds on its own moves no digest."""


class FileRefused(ValueError):
    """A file that a pack may not name; it carries the message and the cure."""

    def __init__(self, message: str, cure: str):
        self.message = message
        self.cure = cure
        super().__init__(f"{message}. {cure}")


class FileMissing(FileRefused):
    """A file that the pack names and that is not there."""


@dataclass(frozen=True, slots=True)
class Member:
    """One file or symbolic link below a folder. `name` is relative to it."""

    name: str
    path: Path
    link: str | None
    executable: bool


def locate(root: Path, name: str) -> Path:
    """The path of a file or folder of the pack.

    Raises:
        FileMissing: there is nothing under the name.
        FileRefused: the name or a link on the way leaves the pack.
    """
    pure = PurePosixPath(name)
    if pure.is_absolute() or ".." in pure.parts or "\\" in name:
        raise FileRefused(
            "the path leaves the pack",
            "Copy the file into the pack and write its path from the pack's folder.",
        )
    path = root.joinpath(pure)
    if not path.exists():
        if path.is_symlink():
            raise FileRefused("the link leads nowhere", "Put the file itself into the pack.")
        raise FileMissing("there is no such file in the pack", "Add it, or mend the path.")
    if not path.resolve().is_relative_to(root.resolve()):
        raise FileRefused("a link leads out of the pack", "Copy what it points at into the pack.")
    return path


def members(folder: Path) -> Iterator[Member]:
    """Everything below a folder, sorted by name.

    Raises:
        FileRefused: a link leads out of the folder, a name is no UTF-8 text, or something is
            neither file, folder nor link.
    """
    yield from sorted(_walk(folder, folder), key=lambda member: member.name)


def _walk(folder: Path, top: Path) -> Iterator[Member]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name in LEFT_OUT or entry.name.endswith(".pyc"):
                continue
            path = Path(entry.path)
            name = path.relative_to(top).as_posix()
            _require_plain(name)
            if entry.is_symlink():
                yield Member(name, path, _inner_link(path, top, name), executable=False)
            elif entry.is_dir():
                yield from _walk(path, top)
            else:
                yield _file(name, path)


def one(path: Path, name: str) -> Member:
    """A single file as a layer's member under a name."""
    _require_plain(name)
    return _file(name, path)


def is_executable(path: Path) -> bool:
    """Whether the owner may execute the file."""
    return bool(path.stat().st_mode & stat.S_IXUSR)


def _file(name: str, path: Path) -> Member:
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        raise FileRefused(
            f"{name} is neither file, folder nor link", "Remove it: a layer holds nothing else."
        )
    return Member(name, path, None, executable=bool(mode & stat.S_IXUSR))


def _require_plain(name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError:
        raise FileRefused(f"the file name {name!r} is no UTF-8", "Rename the file.") from None
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in name) or len(name) > 400:
        raise FileRefused(
            f"the file name {name[:100]!r} cannot be kept",
            "Rename it without control characters, to at most 400 characters.",
        )


def _inner_link(path: Path, top: Path, name: str) -> str:
    target = str(path.readlink())
    place = Path(os.path.normpath(path.parent / target))
    if Path(target).is_absolute() or not place.is_relative_to(top):
        raise FileRefused(
            f"the link {name} -> {target} leads out of its folder",
            "Copy what it points at into the folder.",
        )
    return target
