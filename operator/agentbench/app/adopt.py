"""Rows that are in the store and not in a run's status: ours are taken up, others are named."""

from collections.abc import Callable, Iterator

from agentbench.api.run import AttemptStatus
from agentbench.app.campaign import Campaign
from agentbench.app.ledger import RECORDED, Ledger, fact_of
from agentbench.app.rows import RUN_UID
from agentbench.core.digest import sha256_of
from agentbench.core.keys import row_key, rows_prefix
from agentbench.core.record import decode_row
from agentbench.store.port import Store
from agentbench_analysis.errors import AnalysisError
from agentbench_analysis.rows.model import Row


def attempt_of(campaign: str, row: Row, content: bytes) -> AttemptStatus:
    """What a run's status says of an attempt that has this row."""
    calls, cost = row.metrics["tool_calls"].value, row.metrics["cost_usd"].value
    return AttemptStatus(
        number=row.attempt,
        phase=RECORDED,
        pod_uid=row.environment.get("podUid"),
        node=row.environment.get("node") or None,
        started_at=row.started_at,
        ended_at=row.ended_at,
        cost_usd=str(cost) if cost is not None else None,
        tool_calls=int(calls) if calls is not None else None,
        outcome=row.outcome,
        cause=row.cause,
        reason=row.reasons[0] if row.reasons else None,
        row_key=row_key(campaign, row.run, row.attempt),
        row_sha256=sha256_of(content),
    )


def adopt_rows(
    ledger: Ledger, campaign: Campaign, store: Store, note: Callable[[Row], None]
) -> list[str]:
    """Take up rows that no status names; gives the runs whose status must say so. Blocks.

    `note` is told each row that counts.

    A row whose run object is gone counts, and nothing is run again. A row that was stored just
    before we were killed is the row. Another's row is left alone, and its run is not started.

    Raises:
        StoreError: the store does not answer.
    """
    known = {attempt.row_key for entry in ledger.runs.values() for attempt in entry.attempts}
    planned = {run.id for run in campaign.runs}
    changed = []
    for key, run in _keys(store, campaign.name):
        if key in known or run not in planned:
            continue
        try:
            row, attempt = _read(campaign, key, store.get(key))
        except (AnalysisError, ValueError) as error:
            ledger.foreign[run] = str(error)
            continue
        entry, owner = ledger.runs.get(run), row.environment.get(RUN_UID, "")
        if entry is None:
            ledger.orphan(run, attempt)
            note(row)
        elif owner == entry.uid and entry.attempts[-1].number == attempt.number:
            attempts = (*entry.attempts[:-1], attempt)
            ledger.record(entry, attempts, fact_of(run, attempt))
            changed.append(run)
            note(row)
        else:
            ledger.foreign[run] = f"{key} was written for another run object ({owner or 'unknown'})"
    return changed


def _keys(store: Store, campaign: str) -> Iterator[tuple[str, str]]:
    prefix = rows_prefix(campaign)
    for key in store.list(prefix):
        yield key, key.removeprefix(prefix).split("/")[0]


def _read(campaign: Campaign, key: str, content: bytes) -> tuple[Row, AttemptStatus]:
    """A row, and as an attempt; ValueError if it is not ours."""
    row = decode_row(content, key)
    if row.digest != campaign.digest:
        raise ValueError(f"{key} holds a row of digest {row.digest}, not of {campaign.digest}")
    if row_key(campaign.name, row.run, row.attempt) != key:
        raise ValueError(f"{key} holds the row of {row.run} attempt {row.attempt}")
    return row, attempt_of(campaign.name, row, content)
