"""What a command prints: rich on a terminal, plain when piped, JSON when asked for."""

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

_STYLES = {
    "pass": "green",
    "ok": "green",
    "holds": "green",
    "fail": "red",
    "missing": "red",
    "warn": "yellow",
    "infra": "yellow",
    "aborted": "yellow",
    "not shown": "yellow",
    "not computable": "yellow",
    "open": "yellow",
}


def plain(text: str) -> str:
    """Text without control characters: what an agent printed must not steer a terminal."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter in "\n\t" or letter.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for letter in text
    )


def count(number: int, noun: str) -> str:
    """A number with its noun: `1 run`, `2 runs`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


class Screen:
    """Where a command's answer goes. Only the answer is on stdout; remarks are on stderr."""

    def __init__(self, *, as_json: bool = False):
        self.as_json = as_json
        self.rich = not as_json and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"

    def data(self, value: Any) -> None:
        """The answer as JSON."""
        click.echo(json.dumps(value, indent=2, ensure_ascii=False, default=str))

    def say(self, text: str = "") -> None:
        """A line of the answer; nothing with --json."""
        if not self.as_json:
            click.echo(plain(text))

    def note(self, text: str) -> None:
        """A remark beside the answer."""
        click.echo(plain(text), err=True)

    def heading(self, text: str) -> None:
        """A line above a part of the answer."""
        if not self.as_json:
            click.secho(plain(text), bold=True) if self.rich else click.echo(plain(text))

    def table(
        self, headers: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[str] = ()
    ) -> None:
        """Rows under headers; columns named in `right` are aligned to the right."""
        cells = [[plain("" if cell is None else str(cell)) for cell in row] for row in rows]
        if self.as_json:
            return
        if self.rich:
            self._rich_table(headers, cells, right)
        else:
            _plain_table(headers, cells, right)

    def _rich_table(
        self, headers: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[str]
    ) -> None:
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for header in headers:
            table.add_column(header, justify="right" if header in right else "left")
        for row in cells:
            table.add_row(*(Text(cell, style=_STYLES.get(cell, "")) for cell in row))
        Console(highlight=False).print(table)


def _plain_table(
    headers: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[str]
) -> None:
    columns = [[header, *(row[n] for row in cells)] for n, header in enumerate(headers)]
    widths = [max(len(cell) for cell in column) for column in columns]
    for row in (headers, *cells):
        padded = [
            cell.rjust(width) if header in right else cell.ljust(width)
            for cell, width, header in zip(row, widths, headers, strict=True)
        ]
        click.echo("  ".join(padded).rstrip())
