"""What an agent changed, as a diff in git's form against the start state, within bounds."""

import filecmp
import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import unified_diff
from pathlib import Path

MAX_BYTES = 4 * 1024 * 1024  # of the whole diff
MAX_FILE = 512 * 1024  # of a file whose lines are compared
MAX_LINES = 6_000
MADE = frozenset(
    (".git", ".next", ".venv", "__pycache__", "node_modules", "vendor", ".cache", ".npm", ".pnpm")
)
"""Folders that tools fill: counted, not shown, unless the start state has files in them."""


@dataclass(frozen=True, slots=True)
class Seen:
    """How a file looked when the agent was started."""

    size: int
    modified: int
    changed: int
    inode: int


State = Mapping[str, Seen]


@dataclass(slots=True)
class Diff:
    """The diff's text, and whether its bound cut it."""

    text: bytes = b""
    truncated: bool = False
    _parts: list[bytes] = field(default_factory=list)
    _size: int = 0

    def add(self, part: bytes) -> None:
        """Add one file's part; a part that does not fit is named in place of its lines."""
        if self._size + len(part) > MAX_BYTES:
            self.truncated = True
            part = part.split(b"\n", 1)[0] + b"\n# not shown: the diff has reached its bound\n"
            if self._size + len(part) > MAX_BYTES + MAX_FILE:
                return
        self._parts.append(part)
        self._size += len(part)

    def close(self) -> None:
        """Put the text together."""
        self.text = b"".join(self._parts)


def remember(workspace: Path) -> dict[str, Seen]:
    """How every file of a workspace looks now. The kernel's change time cannot be set back."""
    return {name: _seen(status) for name, _, status in _files(workspace)}


def difference(start: Path, before: State, workspace: Path) -> Diff:
    """Compare a workspace with the start state.

    Args:
        start: folder with the start state as the pack has it.
        before: what `remember` saw after set-up; files that only set-up made and that are
            unchanged since are no part of the diff.
        workspace: the final state; nothing in it is followed or executed.
    """
    seeds = {name: path for name, path, _ in _files(start)}
    seeded = {name.split("/")[0] for name in seeds}
    diff = Diff()
    made: Counter[str] = Counter()
    now: set[str] = set()
    for name, path, status in _files(workspace):
        now.add(name)
        if name not in seeds and before.get(name) == _seen(status):
            continue
        folder = _made(name, seeded)
        if folder is not None and name not in seeds:
            made[folder] += 1
            continue
        part = _part(name, seeds.get(name), path)
        if part:
            diff.add(part)
    for name in sorted((seeds.keys() | before.keys()) - now):
        folder = _made(name, seeded)
        if name in seeds:
            diff.add(_part(name, seeds[name], None))
        elif folder is None:
            diff.add(_head(name, "deleted file") + b"# it was made by set-up\n")
    for folder, count in sorted(made.items()):
        diff.add(f"# {folder}/: {count} files made or changed, not shown\n".encode())
    diff.close()
    return diff


def _files(root: Path, prefix: str = "") -> Iterator[tuple[str, Path, os.stat_result]]:
    """Regular files and links below a folder, in the order of their names."""
    with os.scandir(root) as found:
        entries = sorted(found, key=lambda entry: os.fsencode(entry.name))
    for entry in entries:
        status = entry.stat(follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode):
            yield from _files(Path(entry.path), f"{prefix}{entry.name}/")
        elif stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
            yield prefix + entry.name, Path(entry.path), status


def _seen(status: os.stat_result) -> Seen:
    return Seen(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def _made(name: str, seeded: set[str]) -> str | None:
    """The tool-made folder that a file lies in."""
    parts = name.split("/")[:-1]
    for place, part in enumerate(parts):
        if part in MADE and not (place == 0 and part in seeded):
            return "/".join(parts[: place + 1])
    return None


def _part(name: str, old: Path | None, new: Path | None) -> bytes:
    """One file's part of the diff, empty if nothing changed."""
    was, is_ = _content(old), _content(new)
    old_mode, new_mode = _mode(old), _mode(new)
    same = was == is_ and (was is not None or _same_files(old, new))
    if same and old_mode == new_mode:
        return b""
    if old is None:
        head = _head(name, f"new file mode {new_mode}")
    elif new is None:
        head = _head(name, f"deleted file mode {old_mode}")
    elif old_mode != new_mode:
        head = _head(name, f"old mode {old_mode}\nnew mode {new_mode}")
    else:
        head = _head(name, "")
    if same:
        return head
    a = b"/dev/null" if old is None else _quoted("a/" + name)
    b = b"/dev/null" if new is None else _quoted("b/" + name)
    if was is None or is_ is None or b"\0" in was or b"\0" in is_:
        return head + b"Binary files " + a + b" and " + b + b" differ\n"
    return head + b"--- " + a + b"\n+++ " + b + b"\n" + _hunks(was, is_)


def _head(name: str, more: str) -> bytes:
    line = b"diff --git " + _quoted("a/" + name) + b" " + _quoted("b/" + name) + b"\n"
    return line + (more.encode() + b"\n" if more else b"")


def _hunks(was: bytes, is_: bytes) -> bytes:
    old, new = _lines(was), _lines(is_)
    if len(old) > MAX_LINES or len(new) > MAX_LINES:
        return f"# not compared: {len(old)} lines before, {len(new)} now\n".encode()
    left = [line.decode("latin-1") for line in old]
    right = [line.decode("latin-1") for line in new]
    lines = list(unified_diff(left, right, lineterm="\n"))[2:]
    marked = [
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    ]
    return "".join(marked).encode("latin-1")


def _lines(content: bytes) -> list[bytes]:
    """Lines as git has them: a lone carriage return ends none."""
    lines = [line + b"\n" for line in content.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _quoted(name: str) -> bytes:
    """A path as git writes it: quoted if a character in it could pass for part of the diff."""
    path = os.fsencode(name)
    if not any(byte < 0x20 or byte in b'"\\\x7f' for byte in path):
        return path
    safe = (
        b"%c" % byte if 0x20 <= byte < 0x7F and byte not in b'"\\' else b"\\%03o" % byte
        for byte in path
    )
    return b'"' + b"".join(safe) + b'"'


def _same_files(one: Path | None, other: Path | None) -> bool:
    """Whether two files too large to hold have the same bytes."""
    if one is None or other is None:
        return False
    return filecmp.cmp(one, other, shallow=False)


def _content(path: Path | None) -> bytes | None:
    """A file's bytes or a link's goal; None for a file too large to compare."""
    if path is None:
        return b""
    if path.is_symlink():
        return os.fsencode(path.readlink())
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        content = stream.read(MAX_FILE + 1)
    return content if len(content) <= MAX_FILE else None


def _mode(path: Path | None) -> str:
    if path is None:
        return ""
    if path.is_symlink():
        return "120000"
    return "100755" if path.stat().st_mode & stat.S_IXUSR else "100644"
