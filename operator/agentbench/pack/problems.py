"""What is wrong with a pack: each problem names file, line, field, value and cure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

Loc = tuple[str | int, ...]
"""A place in a document: keys and list indexes from the root."""

_SHOWN = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that a person must mend.

    An `open` problem is one that the protocol itself lists as an open item: it does not stop
    the work on a draft, only a freeze.
    """

    file: str
    message: str
    cure: str
    line: int | None = None
    field: str = ""
    value: str = ""
    open: bool = False

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        field = f" {self.field}:" if self.field else ""
        value = f" (found {self.value})" if self.value else ""
        return f"{place}:{field} {self.message.rstrip('.')}{value}. {self.cure}"


class PackInvalid(ValueError):
    """A pack that cannot be used; every problem is listed, not the first alone."""

    def __init__(self, problems: Sequence[Problem]):
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in problems))


def field_name(loc: Loc) -> str:
    """A place as people read it: `spec.tasks[0].prompt.path`."""
    text = ""
    for step in loc:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def shown(value: object) -> str:
    """A value as an error shows it: quoted, and cut where it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that was probably meant, or the empty string."""
    by_folded = {name.lower().replace("_", ""): name for name in known}
    found = get_close_matches(word.lower().replace("_", ""), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else ""
