"""Tables as files: CSV with raw values, and Markdown for people."""

import csv
import io
from collections.abc import Sequence

from agentbench_analysis.tables.model import DASH, Kind, Table, Value, readable

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def table_files(tables: Sequence[Table]) -> dict[str, bytes]:
    """One CSV and one Markdown file per table, by file name."""
    files = {}
    for table in tables:
        files[f"{table.id}.csv"] = csv_bytes(table)
        files[f"{table.id}.md"] = markdown(table).encode()
    return files


def csv_bytes(table: Table) -> bytes:
    """A table as CSV (RFC 4180, UTF-8): raw values, empty where there is none.

    Text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    for row in table.rows:
        writer.writerow([_raw(value) for value in row])
    return out.getvalue().encode()


def _raw(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


def markdown(table: Table) -> str:
    """A table as GitHub-flavoured Markdown, values rounded for reading."""
    lines = [f"## {table.title}", ""]
    if table.rows:
        lines.append(_line([column.name for column in table.columns]))
        lines.append(_line(["---:" if c.kind.numeric else "---" for c in table.columns]))
        for row in table.rows:
            lines.append(
                _line(
                    [
                        _escaped(readable(value, column.kind), column.kind)
                        for value, column in zip(row, table.columns, strict=True)
                    ]
                )
            )
    else:
        lines.append("Nothing to show.")
    for note in table.notes:
        lines += ["", f"*{_escaped(note, Kind.TEXT)}*"]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _escaped(text: str, kind: Kind) -> str:
    if kind is Kind.ID and text != DASH:
        return f"`{text}`"
    for old, new in (("\\", "\\\\"), ("|", "\\|"), ("<", "&lt;"), ("*", "\\*"), ("`", "\\`")):
        text = text.replace(old, new)
    return " ".join(text.split())
