"""A table as plain data, which the terminal, Markdown, CSV and the site all show alike."""

from dataclasses import dataclass
from enum import StrEnum

Value = str | int | float | bool | None

DASH = "\N{EN DASH}"
"""Shown where there is no value."""


class Kind(StrEnum):
    """What a column holds, and so how people read it."""

    TEXT = "text"
    COUNT = "count"
    SHARE = "share"  # 0 to 1, shown in percent
    POINTS = "points"  # difference of shares, shown in percentage points
    RATIO = "ratio"
    USD = "usd"
    SECONDS = "seconds"
    NUMBER = "number"
    FLAG = "flag"
    ID = "id"  # the id of a published number

    @property
    def numeric(self) -> bool:
        """Whether the column is aligned to the right."""
        return self not in (Kind.TEXT, Kind.FLAG, Kind.ID)


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name in files, and its kind."""

    name: str
    kind: Kind = Kind.TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table: an id that is also its file's name, a title, and rows of raw values."""

    id: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"a row of {self.id} does not have {len(self.columns)} values")


def readable(value: Value, kind: Kind) -> str:
    """A value as people read it: rounded, with its unit; a dash where there is none."""
    if value is None or value == "":
        return DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    match kind:
        case Kind.SHARE:
            return f"{value * 100:.1f} %"
        case Kind.POINTS:
            return f"{value * 100:+.1f} pp"
        case Kind.RATIO:
            return f"{value:.3f}"
        case Kind.USD:
            return f"${value:.2f}"
        case Kind.SECONDS:
            return f"{value:.0f} s"
        case Kind.COUNT:
            return f"{value:.0f}" if value == int(value) else f"{value:.1f}"
        case _:
            if isinstance(value, float) and abs(value) < 1000:
                return f"{value:.4g}"
            return f"{value:.0f}"


def columns(**kinds: Kind) -> tuple[Column, ...]:
    """Columns from names and kinds, in order; underscores become spaces."""
    return tuple(Column(name.replace("_", " "), kind) for name, kind in kinds.items())
