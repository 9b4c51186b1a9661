"""A final diff as it is shown: files, and lines with their kind, within bounds."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from agentbench_analysis.site.stream import Bounded, read
from agentbench_analysis.site.text import clean, line

MAX_BYTES = 400_000
MAX_LINES = 4_000
MAX_COLUMNS = 1_000

_KINDS = {"+": "add", "-": "del", "@": "hunk", "\\": "note"}


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One file's changes: (kind, text) lines, kinds add, del, hunk, note, same."""

    name: str
    lines: tuple[tuple[str, str], ...]

    @property
    def added(self) -> int:
        """Lines added, of those shown."""
        return sum(kind == "add" for kind, _ in self.lines)

    @property
    def removed(self) -> int:
        """Lines removed, of those shown."""
        return sum(kind == "del" for kind, _ in self.lines)


@dataclass(frozen=True, slots=True)
class Diff:
    """The files of a unified diff; `cut` where the diff is longer than what is shown."""

    files: tuple[FileDiff, ...]
    cut: bool


def read_diff(chunks: Iterable[bytes]) -> Diff:
    """Read a unified diff within bounds; never raises for its content."""
    source = read(chunks, MAX_BYTES)
    lines = source.text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    cut = source.cut or len(lines) > MAX_LINES
    return Diff(tuple(_files(lines[:MAX_LINES], source)), cut)


def _files(lines: list[str], source: Bounded) -> Iterator[FileDiff]:
    name, kept, in_hunk = "", list[tuple[str, str]](), False
    for text in lines:
        if text.startswith("diff --git ") or (not in_hunk and not name and text.startswith("--- ")):
            if kept or name:
                yield FileDiff(name, tuple(kept))
            name, kept, in_hunk = _name(text), [], False
            continue
        in_hunk = in_hunk or text.startswith("@@")
        if not in_hunk:
            if text.startswith("+++ ") and text != "+++ /dev/null":
                name = line(text[4:].removeprefix("b/"), 300)
            elif not text.startswith(("--- ", "index ")):
                kept.append(("note", clean(text[:MAX_COLUMNS])))
            continue
        shown = text if len(text) <= MAX_COLUMNS else text[:MAX_COLUMNS] + " …"
        kept.append((_KINDS.get(text[:1], "same"), clean(shown)))
    if kept or name:
        yield FileDiff(name or "changes", tuple(kept))


def _name(text: str) -> str:
    if text.startswith("diff --git "):
        return line(text.removeprefix("diff --git ").rpartition(" b/")[2], 300)
    return line(text[4:].removeprefix("a/"), 300)
