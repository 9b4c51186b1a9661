"""Rows into the store, each once: whatever is there already is not changed."""

from agentbench.app.line import Line
from agentbench.app.rows import RUN_UID
from agentbench.app.trouble import RowConflict
from agentbench.core.keys import row_key
from agentbench.core.record import decode_row, encode_row
from agentbench.store.port import Conflict
from agentbench_analysis.rows.model import Row


async def keep_row(line: Line, row: Row) -> tuple[bytes, Row]:
    """Store a row; if this attempt's row is there already, that one is the truth."""
    key = row_key(row.campaign, row.run, row.attempt)
    content = encode_row(row)
    try:
        await line.ask(line.store.create_only, key, content)
    except Conflict as error:
        there = await line.ask(line.store.get, key)
        cure = "it was not changed, and this one not stored: move that row away"
        try:
            other = decode_row(there, key)
        except ValueError as unreadable:
            raise RowConflict(f"{key} holds something else: {unreadable}; {cure}") from error
        owner = other.environment.get(RUN_UID)
        if other.digest != row.digest or owner != row.environment[RUN_UID]:
            raise RowConflict(
                f"{key} holds a row of another run object ({owner or 'unknown'}, digest "
                f"{other.digest}); {cure}"
            ) from error
        return there, other
    return content, row
