"""Rows of a campaign, read one by one, and found by a run's id."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agentbench.cli.place import Place
from agentbench.core.keys import rows_prefix
from agentbench.core.record import decode_row
from agentbench.pack.problems import PackInvalid, Problem, nearest
from agentbench_analysis.errors import AnalysisError
from agentbench_analysis.rows.model import Row


@dataclass(frozen=True, slots=True)
class Line:
    """A row in short: what a list shows. Cost in US dollars, time in seconds."""

    run: str
    attempt: int
    order: int
    phase: str
    task: str
    stack: str
    agent: str
    plugins: tuple[str, ...]
    outcome: str
    cause: str | None
    reasons: tuple[str, ...]
    cost_usd: str | None
    agent_seconds: float | None
    ended_at: str
    draft: bool

    def document(self) -> dict[str, Any]:
        """The line as JSON values."""
        return {
            "run": self.run,
            "attempt": self.attempt,
            "phase": self.phase,
            "task": self.task,
            "stack": self.stack,
            "agent": self.agent,
            "plugins": list(self.plugins),
            "outcome": self.outcome,
            "cause": self.cause,
            "reasons": list(self.reasons),
            "costUSD": self.cost_usd,
            "agentSeconds": self.agent_seconds,
            "endedAt": self.ended_at,
            "draft": self.draft,
        }


def lines_of(place: Place) -> Iterator[Line]:
    """Every row of a campaign in short.

    A list reads the few fields that it shows; whole rows are checked when they are analysed.

    Raises:
        AnalysisError: something under a row's key is no row.
    """
    for key, content in place.rows():
        try:
            yield _line(json.loads(content))
        except (ValueError, KeyError, TypeError, AttributeError):
            row = decode_row(content, key)  # says what is wrong with it
            raise AnalysisError(
                "is no row that can be listed", file=key, value=row.run, cure="Look at the file."
            ) from None


def _line(row: dict[str, Any]) -> Line:
    cell, metrics = row["cell"], row["metrics"]
    cost, seconds = metrics.get("cost_usd", {}), metrics.get("agent_seconds", {})
    return Line(
        run=row["run"],
        attempt=row["attempt"],
        order=row["order"],
        phase=row["phase"],
        task=cell["task"],
        stack=cell["stack"],
        agent=cell["agent"],
        plugins=tuple(cell.get("plugins") or ()),
        outcome=row["outcome"],
        cause=row.get("cause"),
        reasons=tuple(row.get("reasons") or ()),
        cost_usd=cost.get("value"),
        agent_seconds=seconds.get("value"),
        ended_at=row["endedAt"],
        draft=row["draft"],
    )


def attempts_of(place: Place, run: str) -> list[Row]:
    """The rows of one run, first attempt first.

    Raises:
        PackInvalid: the campaign has no row of it.
    """
    store = place.open()
    keys = list(store.list(f"{rows_prefix(place.campaign)}{run}/")) if plain_id(run) else []
    if not keys:
        known = run_ids(place)
        meant = nearest(run, known)
        hint = f"Did you mean {meant}?" if meant else "agent-bench list shows those that there are."
        raise PackInvalid(
            [Problem(file=str(place.store), message=f"there is no row of run {run}", cure=hint)]
        )
    return sorted((decode_row(store.get(key), key) for key in keys), key=lambda row: row.attempt)


def run_ids(place: Place) -> list[str]:
    """Ids of the runs that have a row."""
    prefix = rows_prefix(place.campaign)
    keys = place.open().list(prefix)
    return list(dict.fromkeys(key.removeprefix(prefix).split("/")[0] for key in keys))


def plain_id(run: str) -> bool:
    """Whether a text can be a run's id at all."""
    return bool(run) and all(letter.isalnum() or letter in "._-" for letter in run)
